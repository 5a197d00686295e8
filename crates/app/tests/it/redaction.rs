//! What is hidden beside the standard rules: rules of the user's own, personal data, and equal secrets marked as equal.

use std::fs;

use serde_json::Value;

use crate::fixture::TestPlace;

const DOOR_CODE: &str = "[[rules]]\nid = \"door-code\"\nregex = 'DC-([0-9]{6})'\n";

/// The markers in everything that memory finds.
fn markers(place: &TestPlace, question: &str) -> Vec<String> {
    let answer = place.json(&["recall", question]);
    let text = answer.to_string();
    let starts = text.match_indices("[REDACTED:").map(|(at, _)| at);
    starts
        .map(|at| {
            text[at..]
                .split_inclusive(']')
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

#[test]
fn rules_of_ones_own_and_personal_data_are_hidden_before_anything_is_stored() {
    let place = TestPlace::new();
    place.stdout(&["remember", "the harbour opens at nine"]);
    fs::write(place.root().join("redaction.toml"), DOOR_CODE).unwrap();
    fs::write(
        place.root().join("daybook.toml"),
        "personal_data = [\"email\"]\n",
    )
    .unwrap();
    place.stdout(&[
        "remember",
        "the harbour's gate has the code DC-481516, ask ada@example.com",
    ]);
    let database = fs::read(place.root().join("daybook.db")).unwrap();
    let stored = String::from_utf8_lossy(&database);
    assert!(!stored.contains("481516") && !stored.contains("ada@example.com"));
    let found = markers(&place, "harbour gate code");
    assert!(
        found
            .iter()
            .any(|it| it.starts_with("[REDACTED:door-code:")),
        "{found:?}"
    );
    assert!(
        found.iter().any(|it| it.starts_with("[REDACTED:email:")),
        "{found:?}"
    );
}

#[test]
fn equal_secrets_have_one_marker_and_others_another_also_in_a_restored_memory() {
    let place = TestPlace::new();
    for note in [
        "the harbour's lamp has the password hunter2secret!",
        "the harbour's crane too: password=hunter2secret!",
        "the harbour's boat has the password tidepool7secret!",
    ] {
        place.stdout(&["remember", note]);
    }
    let mut found = markers(&place, "harbour password");
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 2, "{found:?}");
    let key = fs::read(place.root().join("redaction.key")).unwrap();
    let backup = place.home().join("backup.tar");
    place.stdout(&["backup", &backup.display().to_string()]);
    fs::remove_dir_all(place.root()).unwrap();
    place.stdout(&["restore", &backup.display().to_string()]);
    assert_eq!(fs::read(place.root().join("redaction.key")).unwrap(), key);
}

#[test]
fn nothing_is_stored_while_a_rule_cannot_be_used_and_nothing_is_lost() {
    let place = TestPlace::new();
    place.stdout(&["remember", "the harbour opens at nine"]);
    let rules = place.root().join("redaction.toml");
    fs::write(&rules, DOOR_CODE.replace(')', "")).unwrap();
    let refused = place.run(&["remember", "the gate has the code DC-481516"]);
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success());
    assert!(
        message.contains("redaction.toml") && message.contains("rule door-code"),
        "{message}"
    );
    fs::write(&rules, DOOR_CODE).unwrap();
    place.stdout(&["remember", "the gate has the code DC-481516"]);
    // It is found as a note, and in a file once that is written.
    let found = markers(&place, "gate code");
    assert!(!found.is_empty() && found.iter().all(|marker| *marker == found[0]));
}

#[test]
fn redact_prints_explains_and_tries_rules() {
    let place = TestPlace::new();
    let file = place.home().join("notes.env");
    fs::write(&file, "# lamp\nDB_PASSWORD=Tr0ub4dor&3\ngate DC-481516\n").unwrap();
    let rules = place.home().join("rules.toml");
    fs::write(&rules, DOOR_CODE).unwrap();
    let [file, rules] = [file, rules].map(|path| path.display().to_string());
    let printed = place.stdout(&["redact", &file]);
    assert_eq!(
        printed,
        "# lamp\nDB_PASSWORD=[REDACTED:password]\ngate DC-481516\n"
    );
    let explained = place.stdout(&["redact", "--explain", &file]);
    assert!(
        explained.contains("notes.env:2  password: the name"),
        "{explained}"
    );
    let tried: Value = place.json(&["redact", "--test", &rules, &file]);
    assert_eq!(tried["rules"], serde_json::json!({"door-code": 1}));
    assert_eq!(tried["findings"][0]["line"], 3);
    assert_eq!(
        tried["findings"][0]["shown"],
        "gate DC-[REDACTED:door-code]"
    );
    assert!(!place.root().exists(), "trying rules makes no memory");
}

#[test]
fn a_file_that_cannot_be_read_does_not_cost_the_others() {
    let place = TestPlace::new();
    let folder = place.home().join("texts");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("a.jsonl"),
        "{\"said\": [\"PGPASSWORD=Tr0ub4dor&3\\npsql\"]}\nnot json\n",
    )
    .unwrap();
    fs::write(folder.join("b.bin"), b"PGPASSWORD=Tr0ub4dor&3\0").unwrap();
    let [folder, missing] =
        [folder.clone(), folder.join("missing")].map(|path| path.display().to_string());
    let output = place.run(&["redact", "--explain", &missing, &folder]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success());
    assert!(
        shown.contains("a.jsonl:1") && shown.contains("1 secret in 1 text"),
        "{shown}"
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("missing"));
}

#[test]
fn status_counts_what_was_hidden_by_rule_and_place() {
    let place = TestPlace::new();
    let chat = serde_json::json!([
        {"role": "user", "content": "use DB_PASSWORD=Tr0ub4dor&3, and again PGPASSWORD=Tr0ub4dor&3 psql"},
        {"role": "assistant", "content": "I ran it with DB_PASSWORD=c0rrectH0rse!"},
    ]);
    let file = place.write("chat.json", &chat.to_string());
    place.stdout(&["import", &file.display().to_string()]);
    let shown = place.stdout(&["status", "--secrets"]);
    assert!(
        shown.contains(
            "password                 3, 2 different: messages of agents 1 · messages of people 2"
        ),
        "{shown}"
    );
    let status = place.json(&["status", "--secrets"]);
    assert_eq!(
        status["hidden_secrets"]["password"]["places"]["messages of people"],
        2
    );
    assert!(place.json(&["status"])["hidden_secrets"].is_null());
}
