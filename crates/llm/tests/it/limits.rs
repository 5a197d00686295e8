//! How many requests there are at once, and what becomes of those that nobody waits for any more.

use std::num::NonZeroU32;
use std::sync::Arc;

use daybook_domain::model::Model;
use daybook_llm::{ModelConfig, Wire};
use daybook_testkit::llm_server::{Behaviour, Script};

use crate::rig::{Rig, WIRES, question};

fn two_at_once(wire: Wire) -> Rig {
    let script = Script::answering(|_| Behaviour::answer("50").slowly());
    let two = NonZeroU32::new(2).expect("it is not zero");
    Rig::with(wire, script, |config| config.concurrency = two)
}

#[tokio::test]
async fn models_of_one_provider_share_its_bound() {
    for wire in WIRES {
        let rig = two_at_once(wire);
        let names = ["engine-1", "engine-2"];
        let models = names.map(|name| Arc::new(rig.provider.model(ModelConfig::new(name, 4096))));
        let asks: Vec<_> = (0..8)
            .map(|number| {
                let model = Arc::clone(&models[number % 2]);
                tokio::spawn(async move { model.ask(&question()).await })
            })
            .collect();
        for answered in 0..8 {
            rig.server.wait_for((answered + 2).min(8)).await;
            rig.server.release(1);
        }
        for ask in asks {
            ask.await.expect("no panic").expect("an answer");
        }
        assert_eq!(
            (rig.server.requests(), rig.server.most_at_once()),
            (8, 2),
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn a_question_that_is_dropped_makes_room() {
    let rig = two_at_once(Wire::OpenAi);
    let model = Arc::new(rig.provider.model(crate::rig::model()));
    let asks = [(); 2].map(|()| {
        let model = Arc::clone(&model);
        tokio::spawn(async move { model.ask(&question()).await })
    });
    rig.server.wait_for(2).await;
    asks.into_iter().for_each(|ask| ask.abort());
    rig.server.release(3);
    rig.model.ask(&question()).await.expect("an answer");
    assert_eq!(rig.server.requests(), 3);
}
