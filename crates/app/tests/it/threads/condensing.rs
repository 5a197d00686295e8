//! Compaction of threads, with a model and without one.

use daybook_testkit::llm_server::{Behaviour, LlmServer, Script};
use serde_json::{Value, json};

use super::{answers, dispatching, lines, parts, wish};
use crate::fixture::TestPlace;

const SUMMARY: &str = "## Progress Summary\n\n### Key Information\n\n- Ada has many wishes.";

/// A place whose threads `server` compacts, with these settings, too.
fn place(server: &LlmServer, more: &str) -> TestPlace {
    let place = TestPlace::new();
    std::fs::create_dir_all(place.root()).expect("a folder");
    let settings = format!(
        "compact_model = \"home/small-1\"\ncompact_temperature = 0.5\n{more}\n\
         [providers.home]\nbase_url = \"{}/v1\"\ntries = 1\n",
        server.url()
    );
    std::fs::write(place.root().join("daybook.toml"), settings).expect("a file");
    place
}

/// The state of a thread after this many wishes.
fn after_wishes(place: &TestPlace, wishes: usize) -> Value {
    place.stdout(&["threads", "create", "tides"]);
    let text = lines((1..=wishes).map(wish));
    let (_, complained, fine) = answers(dispatching(place, &["tides"]), &text);
    assert!(fine, "{complained}");
    place.json(&["threads", "state", "tides"])
}

fn summary(state: &Value) -> &str {
    let first = state["chunkIds"][0].as_str().expect("a chunk");
    let text = &state["chunks"][first]["content"]["text"];
    text.as_str().expect("a text")
}

#[test]
fn a_model_that_is_named_condenses_and_its_call_is_charged_to_the_thread() {
    let server = LlmServer::start(Script::answering(|_| Behaviour::Answer(SUMMARY.to_owned())));
    let place = place(&server, "");
    let state = after_wishes(&place, 20);
    assert_eq!(parts(&state)[0], "COMPACTED");
    assert_eq!(summary(&state), SUMMARY);
    let asked = server.recorded_requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].model, "small-1");
    assert!(asked[0].text().contains("Wish number 1:"));
    let spend = place.json(&["spend", "--by", "stage"]);
    assert!(spend.to_string().contains("\"compact\""), "{spend}");
    assert_eq!(spend["all"]["calls"], 1, "{spend}");
}

#[test]
fn where_the_model_fails_what_plainly_happened_is_written_down() {
    let server = LlmServer::start(Script::answering(|_| Behaviour::ServerError(500)));
    let place = place(&server, "");
    let state = after_wishes(&place, 20);
    assert!(server.requests() > 0);
    assert!(summary(&state).contains("Wish number 14"), "{state}");
}

#[track_caller]
fn check_unasked(settings: &str) {
    let server = LlmServer::start(Script::answering(|_| Behaviour::Answer(SUMMARY.to_owned())));
    let place = place(&server, settings);
    let state = after_wishes(&place, 20);
    assert_eq!(server.requests(), 0);
    assert!(summary(&state).contains("Wish number 14"), "{state}");
}

#[test]
fn at_a_cap_no_model_is_asked() {
    check_unasked("caps = { day = { tokens = 10 } }");
}

#[test]
fn a_provider_that_is_forbidden_to_the_tenant_is_not_asked() {
    check_unasked("forbid_providers = [\"local/home\"]");
}

#[test]
fn settings_say_when_threads_are_compacted() {
    let server = LlmServer::start(Script::answering(|_| Behaviour::Answer(SUMMARY.to_owned())));
    let off = place(&server, "auto_compact = \"off\"");
    assert_eq!(parts(&after_wishes(&off, 30)).len(), 30);
    let soon = place(&server, "autoCompactThreshold = 8");
    assert_eq!(parts(&after_wishes(&soon, 8))[0], "COMPACTED");
    let config = soon.json(&["config", "auto_compact_threshold"]);
    assert!(
        config.to_string().contains("autoCompactThreshold"),
        "{}",
        json!(config)
    );
}
