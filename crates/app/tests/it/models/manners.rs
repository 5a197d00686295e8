//! Every request mode, and the behaviour at a cap, as the person at the command line sees it.

use std::sync::{Arc, Mutex};

use daybook_domain::model::ToolCall;
use daybook_testkit::llm_server::{Behaviour, LlmServer, RecordedRequest, RequestedForm, Script};
use serde_json::json;

use super::{KEY, place, provider, repeat_first_words, stdout_of};
use crate::fixture::{TestPlace, teaching_session};

/// The first words of the person, however they are shown.
fn first_words(asked: &RecordedRequest) -> Option<String> {
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

/// A model that answers in the requested form; with tools, it lists entities first.
fn answer_in_requested_form(asked: &RecordedRequest) -> Behaviour {
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
        RequestedForm::Schema(schema) if schema["properties"]["observations"].is_null() => {
            let words = words.unwrap_or_default();
            Behaviour::AnswerJson(json!({
                "rollout_summary": words, "rollout_slug": "what_was_said_first", "raw_memory": words,
            }))
        }
        RequestedForm::Schema(_) => repeat_first_words(asked),
        RequestedForm::Json | RequestedForm::Free if asked.text().contains("NO_REPLY") => {
            Behaviour::answer(words.map_or("NO_REPLY".to_owned(), |words| format!("- {words}")))
        }
        RequestedForm::Json | RequestedForm::Free => Behaviour::answer(match words {
            None => "<observations/>".to_owned(),
            Some(words) => format!(
                "<observations><observation><text>{words}</text><context>At the beginning.\
                 </context></observation></observations>"
            ),
        }),
    }
}

fn import_sample(place: &TestPlace) {
    let root = place.root().display().to_string();
    stdout_of(
        place,
        &["import", "--sample", "--no-process", "--root", &root],
    );
}

#[track_caller]
fn check_profile(profile: &str, folder: &str) {
    let server = LlmServer::start(Script::answering(answer_in_requested_form));
    let place = place(&format!(
        "profile = \"{profile}\"\n{}",
        provider("openai", &server)
    ));
    import_sample(&place);
    stdout_of(&place, &["update", "--all"]);
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
        .find(|file| file.0.ends_with(&format!("{folder}/memory/MEMORY.md")));
    let curated = curated.map_or("", |file| file.1.as_str());
    assert!(
        curated.contains("extracted by home/small-1 ·"),
        "{profile}: {curated}"
    );
}

#[test]
fn a_memory_agent_reads_the_sample() {
    // Daycare has one memory for each user.
    check_profile("daycare", "users/ada");
}

#[test]
fn the_sample_is_read_in_the_manner_of_codex() {
    check_profile("codex", "ada-tidepool");
}

#[test]
fn the_sample_is_read_in_the_manner_of_mindroom() {
    check_profile("mindroom", "ada-tidepool");
}

/// MindRoom's own settings of a silent turn, in its own words.
#[test]
fn what_mindrooms_settings_say_of_a_silent_turn_is_what_the_model_gets() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&asked);
    let server = LlmServer::start(Script::answering(move |request| {
        record.lock().expect("no panic").push(request.text());
        Behaviour::answer("Leer.")
    }));
    let place = place(&format!(
        "profile = \"mindroom\"\nledger = \"database\"\n{}[memory.auto_flush.extractor]\nno_reply_token = \"LEER\"\n\
         include_memory_context = {{ daily_tail_lines = 2, memory_snippets = 0, snippet_max_chars = 30 }}\n",
        provider("openai", &server)
    ));
    let import = |name: &str, n: u32, flags: &[&str]| {
        let path = place
            .write(name, &teaching_session(n).text())
            .display()
            .to_string();
        stdout_of(&place, &[&["import", &path][..], flags].concat());
        stdout_of(&place, &[&["update", "--all"][..], flags].concat());
    };
    import("a.jsonl", 1, &["--set", "extract_model=none"]);
    import("b.jsonl", 2, &[]);
    let asked = asked.lock().expect("no panic");
    assert!(!asked.is_empty());
    for request in asked.iter() {
        assert!(request.contains("answer exactly LEER"), "{request}");
        let (_, known) = request.split_once("<known>\n").expect("memory is shown");
        let (known, _) = known.split_once("\n</known>").expect("its end");
        let lines: Vec<&str> = known.lines().collect();
        assert_eq!(lines.len(), 2, "{known}");
        assert!(
            lines
                .iter()
                .all(|line| line.chars().count() <= 30 + " - ".len()),
            "{known}"
        );
    }
    let status = place.json(&["status"]);
    assert_eq!(
        (&status["sessions"]["covered"], &status["gaps"]),
        (&json!(2), &json!([])),
        "{status}"
    );
}

/// A model that answers too late spends its tries, and the session goes on in shorter stretches.
#[test]
fn an_extraction_that_takes_too_long_is_a_failure_that_is_shown() {
    let server = LlmServer::start(Script::answering(|_| {
        Behaviour::Slow(Box::new(Behaviour::answer("too late")))
    }));
    let place = place(&format!(
        "{}[memory.auto_flush.extractor]\nmax_extraction_seconds = 1\n",
        provider("openai", &server)
    ));
    let path = place
        .write("a.jsonl", &teaching_session(1).text())
        .display()
        .to_string();
    place.stdout(&["import", "--no-process", &path]);
    let updated = place
        .daybook(&["update", "--all"])
        .env("HOME_KEY", KEY)
        .output();
    assert!(!updated.expect("daybook starts").status.success());
    let jobs = place.stdout(&["jobs"]);
    assert!(jobs.contains("home/small-1 took longer than 1s"), "{jobs}");
}

#[test]
fn an_agents_own_model_reads_its_sessions_and_no_others() {
    let server = LlmServer::start(Script::answering(repeat_first_words));
    for (agent, is_asked) in [("claude-code", true), ("codex", false)] {
        let own = format!("[agents.{agent}]\nextract_model = \"home/small-1\"\n");
        let settings =
            provider("openai", &server).replace("extract_model = \"home/small-1\"\n", "");
        let place = place(&format!("{settings}{own}"));
        let path = place
            .write("a.jsonl", &teaching_session(1).text())
            .display()
            .to_string();
        let before = server.requests();
        stdout_of(&place, &["import", &path]);
        stdout_of(&place, &["update", "--all"]);
        assert_eq!(server.requests() > before, is_asked, "{agent}");
        // What was read is not read again, because each result names its own extractor.
        let redone = stdout_of(&place, &["update", "--redo"]);
        assert!(
            redone.contains("0 sessions begin again"),
            "{agent}: {redone}"
        );
        assert_eq!(place.json(&["status"])["sessions"]["covered"], 1);
    }
}

/// Answers without usage, so that the worst case stays spent.
fn answer_without_usage(asked: &RecordedRequest) -> Behaviour {
    repeat_first_words(asked).without_usage()
}

/// A place whose cap has room for some of its sessions today.
fn place_with_cap(server: &LlmServer, at_cap: &str) -> TestPlace {
    let caps = "[caps]\nday = { tokens = 40_000 }\n";
    let settings = format!("at_cap = \"{at_cap}\"\nanswer_tokens = 1_024\nparallel = 1\n");
    place(&format!("{settings}{}{caps}", provider("openai", server)))
}

/// Settings of a day on which there is room for all.
const ROOM: [&str; 2] = ["--set", "caps={ day = { tokens = 100_000_000 } }"];

#[test]
fn at_a_cap_work_waits_and_goes_on_when_there_is_room() {
    let server = LlmServer::start(Script::answering(answer_without_usage));
    let place = place_with_cap(&server, "wait");
    import_sample(&place);
    let said = stdout_of(&place, &["update", "--all"]);
    assert!(
        said.contains("at the cap of 40000 tokens for a tenant per day"),
        "{said}"
    );
    let asked = server.requests();
    let covered = |place: &TestPlace| place.json(&["status"])["sessions"]["covered"].clone();
    assert!(asked > 0 && asked < 5, "{asked}");
    assert_eq!(covered(&place), asked);
    // Another run sends no more than there is room for.
    stdout_of(&place, &["update", "--all"]);
    assert_eq!(server.requests(), asked);
    assert_eq!(place.json(&["status"])["gaps"], json!([]));

    stdout_of(&place, &[&["update", "--all"], &ROOM[..]].concat());
    assert_eq!((server.requests(), covered(&place)), (5, json!(5)));
}

#[test]
fn at_a_cap_sessions_are_quoted_and_read_by_the_model_later() {
    let server = LlmServer::start(Script::answering(answer_without_usage));
    let place = place_with_cap(&server, "stand_in");
    import_sample(&place);
    stdout_of(&place, &["update", "--all"]);
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

    let said = stdout_of(&place, &[&["update", "--redo"], &ROOM[..]].concat());
    assert!(server.requests() >= 5, "{said}");
    assert!(!headings().contains("without a model"), "{}", headings());
    // Once: nothing is left that another extractor made.
    let asked = server.requests();
    stdout_of(&place, &[&["update", "--redo"], &ROOM[..]].concat());
    assert_eq!(server.requests(), asked);
}

/// Due sessions are read by background work, not by a command that answers a question.
#[test]
fn a_question_that_is_asked_meanwhile_waits_for_no_model() {
    let server = LlmServer::start(Script::answering(repeat_first_words));
    let place = place(&provider("openai", &server));
    import_sample(&place);
    let transcript = place.write("told.jsonl", "");
    let notice = json!({
        "session_id": "told",
        "transcript_path": transcript.display().to_string(),
        "hook_event_name": "SessionEnd",
    });
    place.hook("claude-code", &notice.to_string());
    stdout_of(&place, &["recall", "cache"]);
    assert_eq!(server.requests(), 0);
    stdout_of(&place, &["update"]);
    assert!(server.requests() > 0, "it was due all the time");
}
