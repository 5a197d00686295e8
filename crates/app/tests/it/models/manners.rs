//! Every manner of asking, and what happens at a cap, as whoever runs the command sees it.

use daybook_domain::model::ToolCall;
use daybook_testkit::llm_server::{Asked, AskedForm, Behaviour, LlmServer, Script};
use serde_json::json;

use super::{parrot, place, provider, say};
use crate::fixture::Place;

/// The first words of the person, however they are shown.
fn first_words(asked: &Asked) -> Option<String> {
    let text = asked.text();
    let (_, shown) = text.split_once("<transcript>\n")?;
    let mut lines = shown.lines();
    while let Some(line) = lines.next() {
        let words = match line {
            "## User" => lines.nth(1).map(|words| words.trim().to_owned()),
            "[human user]" => lines.next().and_then(|line| {
                let message: serde_json::Value = serde_json::from_str(line).ok()?;
                Some(message["content"].as_str()?.to_owned())
            }),
            line => line.strip_prefix("user: ").map(str::to_owned),
        };
        if words.is_some() {
            return words;
        }
    }
    None
}

/// A model that answers in whatever form it is asked for; with tools, it looks around first.
fn polyglot(asked: &Asked) -> Behaviour {
    let words = first_words(asked);
    let called = asked
        .messages
        .iter()
        .any(|message| !message.calls.is_empty());
    match &asked.form {
        _ if !asked.tools.is_empty() && !called => Behaviour::Calls(vec![ToolCall {
            id: "1".to_owned(),
            name: "memory_list_entities".to_owned(),
            arguments: "{}".to_owned(),
        }]),
        AskedForm::Schema(schema) if schema["properties"]["observations"].is_null() => {
            let words = words.unwrap_or_default();
            Behaviour::AnswerJson(json!({
                "rollout_summary": words, "rollout_slug": "what_was_said_first", "raw_memory": words,
            }))
        }
        AskedForm::Schema(_) => parrot(asked),
        AskedForm::Json | AskedForm::Free if asked.text().contains("NO_REPLY") => {
            Behaviour::answer(words.map_or("NO_REPLY".to_owned(), |words| format!("- {words}")))
        }
        AskedForm::Json | AskedForm::Free => Behaviour::answer(match words {
            None => "<observations/>".to_owned(),
            Some(words) => format!(
                "<observations><observation><text>{words}</text><context>At the beginning.\
                 </context></observation></observations>"
            ),
        }),
    }
}

fn take_in(place: &Place) {
    let root = place.root().display().to_string();
    say(
        place,
        &["import", "--sample", "--no-process", "--root", &root],
    );
}

#[track_caller]
fn check_profile(profile: &str) {
    let server = LlmServer::start(Script::answering(polyglot));
    let place = place(&format!(
        "profile = \"{profile}\"\n{}",
        provider("openai", &server)
    ));
    take_in(&place);
    say(&place, &["update", "--all"]);
    let status = place.json(&["status"]);
    assert_eq!(
        status["sessions"]["covered"], status["sessions"]["all"],
        "{status}"
    );
    assert_eq!(status["gaps"], json!([]), "{profile}");
    assert_eq!(place.json(&["spend"])["all"]["calls"], server.requests());
    let memory = place.memory();
    let curated = memory
        .iter()
        .find(|file| file.0.contains("ada-tidepool/memory/MEMORY.md"));
    let curated = curated.map_or("", |file| file.1.as_str());
    assert!(
        curated.contains("extracted by home/small-1 ·"),
        "{profile}: {curated}"
    );
}

#[test]
fn a_memory_agent_reads_the_sample() {
    check_profile("daycare");
}

#[test]
fn the_sample_is_read_in_the_manner_of_codex() {
    check_profile("codex");
}

#[test]
fn the_sample_is_read_in_the_manner_of_mindroom() {
    check_profile("mindroom");
}

/// Says nothing of what it cost, so that the worst case stays spent.
fn unbilled(asked: &Asked) -> Behaviour {
    parrot(asked).without_usage()
}

/// A place whose model may be asked about some of its sessions today.
fn capped(server: &LlmServer, at_cap: &str) -> Place {
    let caps = "[caps]\nday = { tokens = 40_000 }\n";
    let settings = format!("at_cap = \"{at_cap}\"\nanswer_tokens = 1_024\nparallel = 1\n");
    place(&format!("{settings}{}{caps}", provider("openai", server)))
}

/// Settings of a day on which there is room for all.
const ROOM: [&str; 2] = ["--set", "caps={ day = { tokens = 100_000_000 } }"];

#[test]
fn at_a_cap_work_waits_and_goes_on_when_there_is_room() {
    let server = LlmServer::start(Script::answering(unbilled));
    let place = capped(&server, "wait");
    take_in(&place);
    let said = say(&place, &["update", "--all"]);
    assert!(
        said.contains("at the cap of 40000 tokens for a tenant per day"),
        "{said}"
    );
    let asked = server.requests();
    let covered = |place: &Place| place.json(&["status"])["sessions"]["covered"].clone();
    assert!(asked > 0 && asked < 5, "{asked}");
    assert_eq!(covered(&place), asked);
    // Another run asks no more than there is room for.
    say(&place, &["update", "--all"]);
    assert_eq!(server.requests(), asked);
    assert_eq!(place.json(&["status"])["gaps"], json!([]));

    say(&place, &[&["update", "--all"], &ROOM[..]].concat());
    assert_eq!((server.requests(), covered(&place)), (5, json!(5)));
}

#[test]
fn at_a_cap_sessions_are_quoted_and_read_by_the_model_later() {
    let server = LlmServer::start(Script::answering(unbilled));
    let place = capped(&server, "stand_in");
    take_in(&place);
    say(&place, &["update", "--all"]);
    let asked = server.requests();
    assert!(asked > 0 && asked < 5, "{asked}");
    let status = place.json(&["status"]);
    assert_eq!(status["sessions"]["covered"], 5, "{status}");
    let headings = || {
        let memory = place.memory().into_iter();
        let curated = memory.filter(|file| file.0.ends_with("/MEMORY.md"));
        curated
            .map(|file| file.1.lines().next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(headings().contains("without a model"), "{}", headings());

    let said = say(&place, &[&["update", "--redo"], &ROOM[..]].concat());
    assert!(server.requests() >= 5, "{said}");
    assert!(!headings().contains("without a model"), "{}", headings());
    // Once: nothing is left that another extractor made.
    let asked = server.requests();
    say(&place, &[&["update", "--redo"], &ROOM[..]].concat());
    assert_eq!(server.requests(), asked);
}

/// What is due is read by whoever works in the background, not by whoever waits for an answer.
#[test]
fn a_question_that_is_asked_meanwhile_waits_for_no_model() {
    let server = LlmServer::start(Script::answering(parrot));
    let place = place(&provider("openai", &server));
    take_in(&place);
    let transcript = place.write("told.jsonl", "");
    let notice = json!({
        "session_id": "told",
        "transcript_path": transcript.display().to_string(),
        "hook_event_name": "SessionEnd",
    });
    place.hook("claude-code", &notice.to_string());
    say(&place, &["recall", "cache"]);
    assert_eq!(server.requests(), 0);
    say(&place, &["update"]);
    assert!(server.requests() > 0, "it was due all the time");
}
