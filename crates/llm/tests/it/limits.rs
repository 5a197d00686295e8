//! How many requests there are at once, and what becomes of requests whose future was dropped.

use std::num::NonZeroU32;
use std::sync::Arc;

use daybook_domain::model::{FailureCost, Model, ModelError};
use daybook_llm::{ModelConfig, Wire};
use daybook_testkit::llm_server::{Behaviour, Script};

use crate::llm_test_support::{ScriptedProvider, WIRES, demand, question};

fn two_at_once(wire: Wire) -> ScriptedProvider {
    let script = Script::answering(|_| Behaviour::answer("50").slowly());
    let two = NonZeroU32::new(2).expect("it is not zero");
    ScriptedProvider::with(wire, script, |config| config.concurrency = two)
}

#[tokio::test]
async fn models_of_one_provider_share_its_bound() {
    for wire in WIRES {
        let scripted = two_at_once(wire);
        let names = ["engine-1", "engine-2"];
        let models =
            names.map(|name| Arc::new(scripted.provider.model(ModelConfig::new(name, 4096))));
        let asks: Vec<_> = (0..8)
            .map(|number| {
                let model = Arc::clone(&models[number % 2]);
                tokio::spawn(async move { model.ask(&question()).await })
            })
            .collect();
        for answered in 0..8 {
            scripted.server.wait_for((answered + 2).min(8)).await;
            scripted.server.release(1);
        }
        for ask in asks {
            ask.await.expect("no panic").expect("an answer");
        }
        assert_eq!(
            (
                scripted.server.requests(),
                scripted.server.most_concurrent_requests()
            ),
            (8, 2),
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn a_question_that_is_dropped_makes_room() {
    let scripted = two_at_once(Wire::OpenAi);
    let model = Arc::new(scripted.provider.model(crate::llm_test_support::model()));
    let asks = [(); 2].map(|()| {
        let model = Arc::clone(&model);
        tokio::spawn(async move { model.ask(&question()).await })
    });
    scripted.server.wait_for(2).await;
    asks.into_iter().for_each(|ask| ask.abort());
    scripted.server.release(3);
    scripted.model.ask(&question()).await.expect("an answer");
    assert_eq!(scripted.server.requests(), 3);
}

/// Work that can wait leaves the rest of an account's rate limit to others.
#[tokio::test]
async fn c68_what_is_left_of_a_rate_limit_stays_with_others() {
    let used_up = |remaining: u32| Behaviour::Raw {
        status: 200,
        headers: vec![
            ("content-type", "application/json".to_owned()),
            ("x-ratelimit-limit-requests", "1000".to_owned()),
            ("x-ratelimit-remaining-requests", remaining.to_string()),
            ("x-ratelimit-reset-requests", "6m0s".to_owned()),
        ],
        body: r#"{"choices":[{"message":{"content":"{\"limit\":50}"},"finish_reason":"stop"}]}"#
            .to_owned(),
    };
    let script = [used_up(101), used_up(99), used_up(99)];
    let scripted = ScriptedProvider::with(Wire::OpenAi, script, |config| {
        config.least_remaining_percent = 10
    });
    for _ in 0..2 {
        scripted
            .model
            .ask(&demand())
            .await
            .expect("enough was left");
    }
    let failure = scripted
        .model
        .ask(&demand())
        .await
        .expect_err("too little is left");
    assert_eq!(
        (scripted.server.requests(), failure.spent),
        (2, FailureCost::Nothing)
    );
    let ModelError::Unavailable {
        retry_after: Some(wait),
        message,
        ..
    } = failure.error
    else {
        panic!("{failure}");
    };
    assert!(wait.as_secs() > 350 && wait.as_secs() <= 360, "{wait:?}");
    assert_eq!(message, "less than 10 % of its rate limit is left");
}
