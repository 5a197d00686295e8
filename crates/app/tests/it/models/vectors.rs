//! Models that turn texts into vectors: a provider's, and one from a folder.

use daybook_testkit::llm_server::{Behaviour, LlmServer, RecordedRequest, Script};
use serde_json::{Value, json};

use super::place;
use crate::fixture::{TestPlace, teaching_session};
use crate::mcp::McpClient;

const PILOTS: &str = "harbour pilots board foreign vessels";
const INVOICE: &str = "the invoice of march was paid";
/// A question that shares no word with what it asks about.
const CLIMBING: &str = "who climbs up to ships?";

/// Vectors by meaning: of the sea, or of something else. Each model has a space of its own.
fn by_meaning(asked: &RecordedRequest) -> Behaviour {
    let vector = |text: &str| {
        let is_of_the_sea = text.contains("harbour") || text.contains("ships");
        match (asked.model.as_str(), is_of_the_sea) {
            ("small", true) => vec![1.0, 0.0],
            ("small", false) => vec![0.0, 1.0],
            (_, true) => vec![0.0, 0.0, 1.0],
            (_, false) => vec![1.0, 0.0, 0.0],
        }
    };
    let texts = asked.messages.iter().map(|it| vector(&it.text));
    Behaviour::Vectors(texts.collect())
}

fn settings(model: &str, url: &str, more: &str) -> String {
    format!(
        "vectors = \"{model}\"\n{more}\n\
         [providers.home]\nbase_url = \"{url}/v1\"\ntries = 1\n"
    )
}

/// A place where two things are remembered.
fn place_with_notes(settings: &str) -> TestPlace {
    let place = place(settings);
    place.stdout(&["remember", PILOTS]);
    place.stdout(&["remember", INVOICE]);
    place
}

fn change(place: &TestPlace, settings: &str) {
    std::fs::write(place.root().join("daybook.toml"), settings).expect("a file");
}

fn recall_answer(place: &TestPlace, question: &str) -> Value {
    place.json(&["recall", "--explain", question])
}

/// How near the nearest vector lies to the question's.
fn angle(answer: &Value) -> f64 {
    let angle = answer["confidence_signs"]["angle"].as_f64();
    angle.expect("the question has a vector")
}

fn best(answer: &Value) -> &str {
    let text = answer["results"][0]["text"].as_str();
    text.unwrap_or_default().trim_matches('"')
}

/// Standard error of a command that must not fail.
fn stderr_of(place: &TestPlace, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    let stderr_of = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {stderr_of}");
    stderr_of
}

#[test]
fn another_model_makes_all_vectors_anew_and_none_are_mixed() {
    let server = LlmServer::start(Script::answering(by_meaning));
    let place = place_with_notes(&settings("home/small", &server.url(), ""));
    place.stdout(&["update"]);
    let answer = recall_answer(&place, CLIMBING);
    assert_eq!(best(&answer), PILOTS, "{answer}");
    assert!(angle(&answer) > 0.99, "{answer}");
    assert_eq!(answer["without_vectors"], Value::Null);
    let asked = server.recorded_requests();
    assert!(asked.iter().all(|asked| asked.model == "small"));

    change(&place, &settings("home/large", &server.url(), ""));
    let answer = recall_answer(&place, CLIMBING);
    assert!(angle(&answer) < 0.01, "vectors are mixed: {answer}");
    place.stdout(&["update"]);
    let answer = recall_answer(&place, CLIMBING);
    assert_eq!(best(&answer), PILOTS, "{answer}");
    assert!(angle(&answer) > 0.99, "{answer}");
    let anew = server.recorded_requests().split_off(asked.len());
    assert!(anew.iter().all(|asked| asked.model == "large"));
    let texts: String = anew.iter().map(RecordedRequest::text).collect();
    assert!(texts.contains(PILOTS) && texts.contains(INVOICE), "{texts}");
    // Nothing is left to do.
    let requests = server.requests();
    place.stdout(&["update"]);
    assert_eq!(server.requests(), requests);
    let spend = place.json(&["spend", "--by", "stage"]);
    assert_eq!(spend["all"]["calls"], requests, "{spend}");
    assert!(spend.to_string().contains("\"embed\""), "{spend}");
}

#[test]
fn while_the_provider_is_down_words_find_everything() {
    let server = LlmServer::start(Script::answering(by_meaning));
    let url = server.url();
    drop(server);
    let place = place(&settings("home/small", &url, ""));
    let path = place.write("chat.jsonl", &teaching_session(1).text());
    let path = path.display().to_string();
    let complained = stderr_of(&place, &["import", &path]);
    assert_eq!(
        complained.matches("home/small gave no vectors").count(),
        1,
        "{complained}"
    );
    place.stdout(&["remember", PILOTS]);
    let complained = stderr_of(&place, &["recall", "harbour pilots"]);
    assert!(
        complained.contains("home/small gave no vector for the question")
            && complained.contains("answered by words alone"),
        "{complained}"
    );
    let answer = recall_answer(&place, "harbour pilots");
    assert_eq!(best(&answer), PILOTS);
    let why = answer["without_vectors"].as_str().unwrap_or_default();
    assert!(why.contains("could not be reached"), "{answer}");
    let mut agent = McpClient::connect(&place, &[]);
    let (text, data) = agent.call_ok("recall", json!({"question": "harbour pilots"}));
    assert!(text.contains("(Found by words alone: "), "{text}");
    assert_eq!(data["without_vectors"], why);
}

#[test]
fn at_a_cap_nothing_is_sent() {
    let server = LlmServer::start(Script::answering(by_meaning));
    let caps = "caps = { day = { tokens = 10 } }";
    let place = place_with_notes(&settings("home/small", &server.url(), caps));
    let complained = stderr_of(&place, &["update"]);
    assert!(complained.contains("cap"), "{complained}");
    let answer = recall_answer(&place, "harbour pilots");
    assert_eq!(best(&answer), PILOTS);
    assert_ne!(answer["without_vectors"], Value::Null);
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_tenant_that_may_not_ask_the_provider_has_the_vectors_of_the_built_in_model() {
    let server = LlmServer::start(Script::answering(by_meaning));
    let forbidden = "forbid_providers = [\"local/home\"]";
    let place = place_with_notes(&settings("home/small", &server.url(), forbidden));
    place.stdout(&["update"]);
    let answer = recall_answer(&place, PILOTS);
    assert!(angle(&answer) > 0.9, "{answer}");
    assert_eq!(server.requests(), 0);
}

#[test]
fn what_an_import_sends_for_vectors_is_said_before_it_is_sent() {
    let server = LlmServer::start(Script::answering(by_meaning));
    let place = place(&settings("home/small", &server.url(), ""));
    let path = place.write("chat.jsonl", &teaching_session(1).text());
    let path = path.display().to_string();
    let told = place.stdout(&["import", "--dry-run", &path]);
    assert!(
        told.contains("is sent to home/small at") && !told.contains("Nothing leaves"),
        "{told}"
    );
    let asks = &place.json(&["import", "--dry-run", &path])["vectors"];
    assert_eq!(asks["model"], "home/small");
    assert_eq!(server.requests(), 0);
}

#[cfg(feature = "folder-model")]
mod folder {
    use super::*;

    const TINY: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../embed/tests/fixtures/tiny-bert"
    );

    #[test]
    fn a_model_in_a_folder_makes_the_vectors() {
        let place = place_with_notes(&format!("vectors = \"folder:{TINY}\""));
        place.stdout(&["update"]);
        let answer = recall_answer(&place, PILOTS);
        assert_eq!(best(&answer), PILOTS);
        assert!(angle(&answer) > 0.9, "{answer}");
    }

    #[test]
    fn a_folder_without_a_model_is_named_and_words_find_everything() {
        let place = place_with_notes("vectors = \"folder:nowhere\"");
        let complained = stderr_of(&place, &["update"]);
        let missing = place.root().join("nowhere").display().to_string();
        assert!(complained.contains(&missing), "{complained}");
        let answer = recall_answer(&place, "harbour pilots");
        assert_eq!(best(&answer), PILOTS);
        let why = answer["without_vectors"].as_str().unwrap_or_default();
        assert!(why.contains(&missing), "{answer}");
    }
}
