//! Requests to models, as the person at the command line sees them.

mod consolidation_agent;
mod faults;
mod manners;
mod proposals;
mod quarantine;
mod vectors;
mod waiting;

use daybook_testkit::llm_server::{Behaviour, LlmServer, RecordedRequest, Script};
use serde_json::json;

use crate::fixture::TestPlace;

/// The key that the provider requires.
pub(crate) const KEY: &str = "sk-ada-1815";

/// How the three providers of the tests are written in daybook.toml.
pub(crate) fn provider(wire: &str, server: &LlmServer) -> String {
    let version = if wire == "openai" { "/v1" } else { "" };
    let url = server.url() + version;
    format!(
        "extract_model = \"home/small-1\"\nretry_first = \"1h\"\nretry_most = \"1h\"\n\
         [providers.home]\nwire = \"{wire}\"\nbase_url = \"{url}\"\nkey = {{ env = \"HOME_KEY\" }}\ntries = 1\n\
         [prices]\n\"home/*\" = {{ input = 1, output = 4 }}\n"
    )
}

fn place(settings: &str) -> TestPlace {
    let place = TestPlace::new();
    std::fs::create_dir_all(place.root()).expect("a folder");
    std::fs::write(place.root().join("daybook.toml"), settings).expect("a file");
    place
}

/// An answer that repeats the first words of the person.
pub(crate) fn repeat_first_words(asked: &RecordedRequest) -> Behaviour {
    let text = asked.text();
    let said = text.lines().find_map(|line| {
        let (number, words) = line.strip_prefix('[')?.split_once(" human] ")?;
        Some((number.parse::<u64>().ok()?, words.to_owned()))
    });
    let observations = said.iter().map(|(number, words)| {
        json!({
            "kind": "note", "text": words, "context": null, "subject": null,
            "events": [number], "stated": true, "general": false,
        })
    });
    Behaviour::AnswerJson(json!({
        "observations": observations.collect::<Vec<_>>(),
        "summary": said.as_ref().map_or("", |said| said.1.as_str()),
        "slug": "what was said first",
        "raw_memory": "",
    }))
}

fn stdout_of(place: &TestPlace, arguments: &[&str]) -> String {
    let output = place
        .daybook(arguments)
        .env("HOME_KEY", KEY)
        .output()
        .expect("daybook starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}{complained}");
    assert!(!complained.contains(KEY) && !said.contains(KEY));
    said
}

#[track_caller]
fn check_wire(wire: &str) {
    let server = LlmServer::start(Script::answering(repeat_first_words));
    let place = place(&provider(wire, &server));
    let root = place.root().display().to_string();
    stdout_of(
        &place,
        &["import", "--sample", "--no-process", "--root", &root],
    );
    stdout_of(&place, &["update", "--all"]);

    let asked = server.recorded_requests();
    assert!(!asked.is_empty());
    assert!(asked.iter().all(|asked| asked.model == "small-1"));
    let held = asked
        .iter()
        .all(|asked| asked.headers.iter().any(|(_, value)| value.contains(KEY)));
    assert!(held, "each request carries the key");
    let status = place.json(&["status"]);
    assert_eq!(
        status["sessions"]["covered"], status["sessions"]["all"],
        "{status}"
    );
    let spend = place.json(&["spend"]);
    assert_eq!(spend["all"]["calls"], asked.len(), "{spend}");
    let memory = place.memory();
    let curated = |name: &str| {
        memory
            .iter()
            .find(|file| file.0.contains(name))
            .map(|file| file.1.as_str())
    };
    let told = curated("ada-tidepool/memory/MEMORY.md").unwrap_or_default();
    assert!(told.contains("extracted by home/small-1 ·"), "{told}");
    assert!(
        curated("what-was-said-first").is_some_and(|page| page.contains("- summary: ")),
        "{memory:?}"
    );
    // Nothing is left to ask about.
    stdout_of(&place, &["update", "--all"]);
    assert_eq!(server.requests(), asked.len());
    let folder = place.root();
    let database = std::fs::read(folder.join("daybook.db")).expect("a database");
    assert!(
        !database
            .windows(KEY.len())
            .any(|bytes| bytes == KEY.as_bytes())
    );
}

#[test]
fn the_sample_is_read_by_a_model_over_openai_s_wire() {
    check_wire("openai");
}

#[test]
fn the_sample_is_read_by_a_model_over_anthropic_s_wire() {
    check_wire("anthropic");
}

#[test]
fn the_sample_is_read_by_a_model_over_ollama_s_wire() {
    check_wire("ollama");
}
