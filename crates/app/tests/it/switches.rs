//! Memory that is switched off for one agent, or that is not put before agents.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::{TestPlace, teaching_session};
use crate::mcp::McpClient;

const PREFERENCE: &str = "the harbour tests run before every release";

/// A place whose memory holds one statement of ada's that applies everywhere.
fn place_with_memory() -> TestPlace {
    let place = TestPlace::new();
    place.stdout(&["remember", "--everywhere", PREFERENCE]);
    place
}

fn write_settings(place: &TestPlace, text: &str) {
    fs::write(place.root().join("daybook.toml"), text).expect("a file");
}

/// What the hook of a starting session puts before its agent.
fn context_of_hook(place: &TestPlace, host: &str) -> String {
    let payload = json!({
        "session_id": "0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b",
        "cwd": "/nowhere/ada/tidepool",
        "hook_event_name": "SessionStart",
        "source": "startup",
    });
    place.stdout(&["hook", host, &payload.to_string()])
}

/// How many observations of transcripts are found.
fn learned_from_sessions(place: &TestPlace) -> usize {
    let answers = place.json(&[
        "recall",
        "--layer",
        "observation",
        "always write the test first",
    ]);
    let results = answers["results"].as_array().into_iter().flatten();
    let of_transcript = |it: &&Value| {
        it["session"]
            .as_str()
            .is_some_and(|it| it.starts_with("claude-code"))
    };
    results.filter(of_transcript).count()
}

#[test]
fn an_agent_without_memory_is_given_none_and_teaches_nothing_and_all_others_go_on() {
    let place = place_with_memory();
    for host in ["claude-code", "codex"] {
        assert!(context_of_hook(&place, host).contains(PREFERENCE), "{host}");
    }
    write_settings(
        &place,
        "[agents.claude-code]\nmemory = \"off\"\n[agents.test]\nmemory_backend = \"none\"\n",
    );
    assert_eq!(context_of_hook(&place, "claude-code"), "");
    assert!(context_of_hook(&place, "codex").contains(PREFERENCE));

    let path = place.write("a.jsonl", &teaching_session(1).text());
    place.stdout(&["import", &path.display().to_string()]);
    assert_eq!(learned_from_sessions(&place), 0);

    // The client of the tests calls itself `test`.
    let mut client = McpClient::connect(&place, &[]);
    for (tool, arguments) in [
        (
            "recall",
            json!({"question": "when do the harbour tests run"}),
        ),
        ("context", json!({})),
    ] {
        let refused = client.call_error(tool, arguments);
        assert!(
            refused.contains("memory is switched off for test"),
            "{refused}"
        );
    }
    client.close();
    // A person finds it.
    assert!(
        place
            .stdout(&["recall", "harbour tests"])
            .contains(PREFERENCE)
    );
}

#[test]
fn an_agent_of_its_own_has_memory_though_it_is_off_for_everything() {
    let place = place_with_memory();
    let path = place.write("a.jsonl", &teaching_session(1).text());
    write_settings(
        &place,
        "memory = \"off\"\n[agents.claude-code]\nmemory = \"on\"\n",
    );
    place.stdout(&["import", &path.display().to_string()]);
    place.stdout(&["update", "--all"]);
    assert!(
        learned_from_sessions(&place) > 0,
        "{}",
        place.stdout(&["status"])
    );
}

#[test]
fn c101_memory_that_is_not_to_be_injected_is_made_and_found_and_put_before_nobody() {
    let place = place_with_memory();
    write_settings(&place, "[memories]\nuse_memories = false\n");
    for host in ["claude-code", "codex"] {
        assert_eq!(context_of_hook(&place, host), "");
    }
    let shown = place.stdout(&["context"]);
    assert!(
        shown.contains("inject = \"off\"") && !shown.contains(PREFERENCE),
        "{shown}"
    );
    for profile in ["daybook", "codex", "mindroom"] {
        let profile = format!("profile={profile}");
        let shown = place.json(&["context", "--set", &profile]);
        assert_eq!(shown["text"], Value::from(""), "{profile}");
    }
    let path = place.write("a.jsonl", &teaching_session(1).text());
    place.stdout(&["import", &path.display().to_string()]);
    place.stdout(&["update", "--all"]);
    let found = place.stdout(&["recall", "write the test first"]);
    assert!(found.contains("always write the test first"), "{found}");
}
