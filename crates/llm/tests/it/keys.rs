//! Where a key goes, and where it never does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use daybook_domain::model::{FailureCost, Model};
use daybook_llm::{Cassette, ConfigError, Key, KeySource, Provider, ProviderConfig, Wire};
use daybook_testkit::llm_server::Behaviour;

use crate::llm_test_support::{ScriptedProvider, WIRES, class, question};

const KEY: &str = "sk-ada-1815-1852";

fn keyed(wire: Wire, script: &[Behaviour]) -> ScriptedProvider {
    let key = KeySource::Given(Key::new(KEY));
    ScriptedProvider::with(wire, script, |config| config.key = key)
}

#[tokio::test]
async fn a_key_goes_where_the_wire_wants_it() {
    for wire in WIRES {
        let scripted = keyed(wire, &[Behaviour::answer("50")]);
        scripted.ask_line(&question()).await;
        let asked = scripted.server.recorded_requests().remove(0);
        let bearer = format!("Bearer {KEY}");
        let (name, value) = match wire {
            Wire::OpenAi | Wire::Ollama => ("authorization", bearer.as_str()),
            Wire::Anthropic => ("x-api-key", KEY),
        };
        assert_eq!(asked.header(name), Some(value), "{wire:?}");
        let carry = asked.headers.iter().filter(|header| header.1.contains(KEY));
        assert_eq!(carry.count(), 1, "{wire:?}");
        assert!(!asked.body.to_string().contains(KEY));
    }
}

#[tokio::test]
async fn a_key_is_never_shown() {
    for wire in WIRES {
        let scripted = keyed(wire, &[Behaviour::Denied]);
        let shown = format!("{:?} {:?}", scripted.model, scripted.provider);
        assert!(!shown.contains(KEY), "{shown}");
        let failure = scripted
            .model
            .ask(&question())
            .await
            .expect_err("it is denied");
        let shown = format!("{failure} {failure:?}");
        assert!(shown.contains("[key]") && !shown.contains(KEY), "{shown}");
    }
}

#[tokio::test]
async fn a_key_gets_onto_no_cassette() {
    for wire in WIRES {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tape.jsonl");
        let scripted = keyed(wire, &[Behaviour::answer("50"), Behaviour::Denied]);
        let model: Arc<dyn Model> =
            Arc::new(scripted.provider.model(crate::llm_test_support::model()));
        let cassette = Cassette::recording(model, &path).expect("a new file");
        cassette.ask(&question()).await.expect("an answer");
        cassette.ask(&question()).await.expect_err("it is denied");
        let tape = std::fs::read_to_string(&path).expect("a tape");
        assert_eq!(tape.lines().count(), 2);
        assert!(tape.contains("[key]") && !tape.contains(KEY), "{tape}");
    }
}

#[tokio::test]
async fn a_key_that_changes_is_used_from_then_on() {
    let asked = Arc::new(AtomicUsize::new(0));
    let source = KeySource::Asked(Arc::new(move || {
        let time = asked.fetch_add(1, Ordering::SeqCst);
        Ok(Key::new(&format!("key-{time}")))
    }));
    let script = [Behaviour::answer("50"), Behaviour::answer("50")];
    let scripted = ScriptedProvider::with(Wire::OpenAi, script, |config| config.key = source);
    for _ in 0..2 {
        scripted.model.ask(&question()).await.expect("an answer");
    }
    let asked = scripted.server.recorded_requests();
    let keys: Vec<_> = asked
        .iter()
        .filter_map(|it| it.header("authorization"))
        .collect();
    assert_eq!(keys, ["Bearer key-0", "Bearer key-1"]);
}

#[tokio::test]
async fn a_key_that_cannot_be_had_is_said_and_nothing_is_sent() {
    let lost = KeySource::Asked(Arc::new(|| Err("the file key.txt does not exist".into())));
    let broken = KeySource::Given(Key::new("two\nlines"));
    for (source, said) in [
        (lost, "key.txt does not exist"),
        (broken, "a header cannot carry"),
    ] {
        let scripted = ScriptedProvider::with(Wire::OpenAi, [], |config| config.key = source);
        let failure = scripted
            .model
            .ask(&question())
            .await
            .expect_err("there is no key");
        assert_eq!(
            (class(&failure.error), failure.spent),
            ("denied", FailureCost::Nothing)
        );
        assert!(failure.to_string().contains(said), "{failure}");
        assert!(!failure.to_string().contains("two"), "{failure}");
        assert_eq!(scripted.server.requests(), 0);
    }
}

#[test]
fn a_key_does_not_leave_this_machine_in_clear() {
    let config = ProviderConfig::new("ada", Wire::OpenAi, "http://llm.example/v1");
    let refused = Provider::new(config).err();
    let expected = ConfigError::PlainHttp {
        provider: "ada".to_owned(),
    };
    assert_eq!(refused, Some(expected));
}
