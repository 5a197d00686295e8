//! Working memory through the interfaces for programs in other languages: the command, and the server.

mod condensing;
mod served;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use daybook_testkit::postgres;
use serde_json::{Value, json};

use crate::fixture::TestPlace;
use crate::serve::DaybookServer;

/// A person's words of some length, as a line.
fn wish(number: usize) -> Value {
    let please = "please see to it carefully. ".repeat(8);
    json!({"type": "USER_MESSAGE", "content": format!("Wish number {number}: {please}")})
}

fn lines(events: impl IntoIterator<Item = Value>) -> String {
    let lines = events.into_iter().map(|event| format!("{event}\n"));
    lines.collect()
}

/// `threads dispatch` with these options, with both ends of its pipe in hand.
fn dispatching(place: &TestPlace, options: &[&str]) -> Child {
    place
        .daybook(&[&["threads", "dispatch"], options].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("daybook starts")
}

/// Its answers to all of `text`, its standard error, and whether it succeeded.
fn answers(mut child: Child, text: &str) -> (Vec<Value>, String, bool) {
    let mut input = child.stdin.take().expect("its input");
    let text = text.to_owned();
    let writing = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writing.join().expect("it is written").expect("it is read");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    let answers = said
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    (answers.collect(), complained, output.status.success())
}

fn dispatch(
    place: &TestPlace,
    thread: &str,
    events: impl IntoIterator<Item = Value>,
) -> Vec<Value> {
    let (answers, complained, fine) = answers(dispatching(place, &[thread]), &lines(events));
    assert!(fine, "{complained}");
    answers
}

/// Parts of the conversation, and the tool of calls.
fn parts(state: &Value) -> Vec<&str> {
    let ids = state["chunkIds"].as_array().expect("chunks");
    let chunk = |id: &Value| &state["chunks"][id.as_str().expect("an id")];
    let part = |id| chunk(id)["subType"].as_str().unwrap_or("none");
    ids.iter().map(part).collect()
}

#[test]
fn a_thread_takes_events_stays_small_and_is_the_same_in_the_next_process() {
    let place = TestPlace::new();
    let created = place.json(&["threads", "create", "tides", "--agent", "harbour-bot"]);
    assert_eq!(created["thread"], "harbour-bot:tides");
    let call = json!({"type": "LLM_TOOL_CALL", "callId": "c1", "toolName": "grep",
        "arguments": {"pattern": "tide"}});
    let outcome = json!({"type": "TOOL_RESULT", "callId": "c1", "toolName": "grep",
        "result": "tide.rs:1", "success": true});
    let events: Vec<Value> = (1..=22).map(wish).chain([call, outcome]).collect();
    let answers = dispatch(&place, "tides", events.clone());
    assert_eq!(answers.len(), 24);
    assert_eq!(answers[0]["seq"], 1);
    assert_eq!(answers[0]["added"].as_array().map(Vec::len), Some(1));
    assert_eq!(answers[0]["removed"], json!([]));

    let state = place.json(&["threads", "state", "tides"]);
    assert_eq!(state["id"], answers[23]["state"]);
    let parts = parts(&state);
    assert_eq!(parts[0], "COMPACTED");
    assert!(parts.len() < 20, "{parts:?}");
    assert_eq!(
        parts[parts.len() - 2..],
        ["AGENT_ACTION", "ACTION_RESPONSE"]
    );
    assert_eq!(place.json(&["threads", "state", "tides"]), state);
    let history = place.json(&["threads", "state", "tides", "--history"]);
    let history = history["states"].as_array().expect("states");
    let made = |past: &Value| past["provenance"]["source"].clone();
    assert!(history.iter().any(|past| made(past) == "compaction"));
    assert_eq!(history.last().map(|past| &past["id"]), Some(&state["id"]));
    let first = answers[0]["state"].as_str().expect("a state");
    let earlier = place.json(&["threads", "state", "tides", "--state", first]);
    assert_eq!(earlier["chunkIds"].as_array().map(Vec::len), Some(1));

    let listed = place.json(&["threads", "list"]);
    assert_eq!(listed["threads"][0]["thread"], "harbour-bot:tides");
    assert_eq!(listed["threads"][0]["events"], 25, "24 and the compaction");
    for wire in ["openai", "anthropic"] {
        check_context(&place, wire);
    }
}

#[track_caller]
fn check_context(place: &TestPlace, wire: &str) {
    let asked = [
        "threads",
        "context",
        "tides",
        "--max-tokens",
        "1500",
        "--answer-tokens",
        "300",
        "--system",
        "Be brief.",
        "--wire",
        wire,
    ];
    let context = place.json(&asked);
    let tokens = context["tokens"].as_u64().expect("a count");
    assert!((1..=1_200).contains(&tokens), "{tokens}");
    assert!(!context["left_out"].as_array().expect("a list").is_empty());
    let text = context["messages"].to_string();
    assert!(
        text.contains("Wish number 22") && text.contains("tide.rs:1"),
        "{text}"
    );
    let (calls, system) = match wire {
        "openai" => ("tool_calls", &context["messages"][0]["content"]),
        _ => ("tool_use", &context["system"]),
    };
    assert!(text.contains(calls), "{text}");
    assert_eq!(system, "Be brief.");
}

#[test]
fn each_line_is_answered_before_the_next_and_a_bad_one_stores_nothing() {
    let place = TestPlace::new();
    place.stdout(&["threads", "create", "tides"]);
    let mut child = dispatching(&place, &["tides", "-"]);
    let mut input = child.stdin.take().expect("its input");
    let mut output = BufReader::new(child.stdout.take().expect("its output"));
    let mut ask = |line: &str| {
        input.write_all(line.as_bytes()).expect("it reads");
        let mut answer = String::new();
        output.read_line(&mut answer).expect("it answers");
        serde_json::from_str::<Value>(&answer).expect("JSON")
    };
    assert_eq!(ask(&lines([wish(1)]))["seq"], 1);
    let refused = ask("\n{\"type\":\"LLM_TOOL_CALL\",\"callId\":\"c1\"}\n");
    assert_eq!(
        refused,
        json!({"line": 3, "error": "LLM_TOOL_CALL: missing field `toolName`"})
    );
    assert_eq!(ask("no event\n")["line"], 4);
    assert_eq!(
        ask("[1]\n")["error"],
        "an event is a JSON object with a \"type\""
    );
    assert_eq!(
        ask("{\"type\":\"USER_MESSAGE\",\"content\":\"b\",\"timestamp\":\"now\"}\n")["line"],
        6
    );
    let misspelt = ask("{\"type\":\"USER_MESAGE\",\"content\":\"b\"}\n");
    assert_eq!(
        (&misspelt["seq"], &misspelt["added"]),
        (&json!(2), &json!([]))
    );
    assert_eq!(ask(&lines([wish(2)]))["seq"], 3);
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let complained = String::from_utf8_lossy(&output.stderr);
    for complaint in [
        "line 3: LLM_TOOL_CALL: missing field",
        "line 7: USER_MESAGE is not a type of Daybook",
    ] {
        assert!(complained.contains(complaint), "{complained}");
    }
    let state = place.json(&["threads", "state", "tides"]);
    assert_eq!(parts(&state), ["USER", "USER"]);
}

#[test]
fn two_processes_that_dispatch_to_one_thread_at_once_lose_nothing() {
    let place = TestPlace::new();
    check_at_once(&place, &place);
}

#[test]
fn two_machines_that_share_a_database_keep_one_thread() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let [here, there] = [(); 2].map(|()| TestPlace::sharing(&database.address()));
    check_at_once(&here, &there);
    let server = DaybookServer::start_in(there, &[], Stdio::inherit());
    let said = server.send_request("POST /v1/threads/agent:tides/events", &wish(61).to_string());
    assert_eq!(
        said.body["results"][0]["added"].as_array().map(Vec::len),
        Some(1)
    );
    server.post("/v1/threads/tides/compact", &json!({}));
    let state = here.json(&["threads", "state", "tides"]);
    assert_eq!(server.get("/v1/threads/tides/state"), state);
    assert_eq!(parts(&state), ["COMPACTED", "USER"]);
    server.post("/v1/threads/tides/pause", &json!({}));
    assert_eq!(dispatch(&here, "tides", [wish(62)])[0]["waits"], "PAUSED");
}

/// Two processes dispatch to one thread at once, each in its place.
fn check_at_once(here: &TestPlace, there: &TestPlace) {
    here.stdout(&["threads", "create", "tides"]);
    let (one, other) = (
        dispatching(here, &["tides"]),
        dispatching(there, &["tides"]),
    );
    let (these, those) = (lines((1..=30).map(wish)), lines((31..=60).map(wish)));
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| answers(one, &these));
        let second = answers(other, &those);
        (first.join().expect("it ends"), second)
    });
    assert!(first.2 && second.2, "{}{}", first.1, second.1);
    let all = first.0.iter().chain(&second.0);
    let seqs: BTreeSet<u64> = all.filter_map(|answer| answer["seq"].as_u64()).collect();
    assert_eq!(seqs.len(), 60);
    let told = there.json(&["show", "tides"]).to_string();
    assert!((1..=60).all(|number| told.contains(&format!("Wish number {number}:"))));
    let state = here.json(&["threads", "state", "tides"]);
    let newest = state["metadata"]["provenance"]["seq"].as_u64();
    assert!(newest >= seqs.last().copied(), "all is applied");
}

#[test]
fn a_paused_thread_stores_and_says_that_it_waits() {
    let place = TestPlace::new();
    place.stdout(&["threads", "create", "tides"]);
    place.stdout(&["threads", "pause", "tides"]);
    assert_eq!(
        dispatch(&place, "tides", [wish(1)]),
        [json!({"seq": 1, "waits": "PAUSED"})]
    );
    let (stored, _, _) = answers(
        dispatching(&place, &["tides", "--no-wait"]),
        &lines([wish(2)]),
    );
    assert_eq!(stored, [json!({"seq": 2})]);
    let refused = place.run(&["threads", "pause", "tides"]);
    let says = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(says.contains("Queue already blocked: PAUSED"), "{says}");
    let resumed = place.json(&["threads", "resume", "tides"]);
    assert_eq!(resumed["was_paused"], true);
    let state = place.json(&["threads", "state", "tides"]);
    assert_eq!(parts(&state), ["USER", "USER"]);
}

#[test]
fn threads_fork_end_and_are_deleted_and_sessions_go_on_as_threads() {
    let place = TestPlace::new();
    place.stdout(&["threads", "create", "tides"]);
    let answers = dispatch(&place, "tides", [wish(1), wish(2)]);
    let first = answers[0]["state"].as_str().expect("a state");
    let fork = place.json(&["threads", "create", "--from", "tides", "--state", first]);
    let fork = fork["thread"].as_str().expect("a thread");
    dispatch(&place, fork, [wish(3)]);
    assert_eq!(
        parts(&place.json(&["threads", "state", fork])),
        ["USER", "USER"]
    );
    let compacted = place.json(&["threads", "compact", "tides"]);
    assert_eq!(compacted["compaction"]["by"], "extractive");

    place.stdout(&["threads", "end", "tides"]);
    let explained = place.json(&["jobs", "show", "agent:tides"]);
    assert_eq!(explained["job"]["standing"], "due", "{explained}");
    place.stdout(&["threads", "delete", "tides"]);
    let gone = place.run(&["threads", "dispatch", "tides"]);
    let says = String::from_utf8_lossy(&gone.stderr).into_owned();
    assert!(says.contains("Thread not found: agent:tides"), "{says}");
    assert!(
        place
            .json(&["show", "tides"])
            .to_string()
            .contains("Wish number 1")
    );

    let root = place.root().display().to_string();
    place.stdout(&["import", "--sample", "--no-process", "--root", &root]);
    let sessions = place.json(&["sessions"]);
    let sessions = sessions["sessions"].as_array().expect("sessions");
    let taken_in = |session: &&Value| {
        !session["id"]
            .as_str()
            .unwrap_or_default()
            .starts_with("agent:")
    };
    let session = sessions.iter().find(taken_in).expect("one of the sample");
    let label = session["label"].as_str().expect("a label");
    let adopted = place.json(&["threads", "create", label]);
    assert_eq!(adopted["thread"], session["id"]);
    let state = place.json(&["threads", "state", label]);
    assert!(parts(&state).contains(&"USER"), "{state}");
}

#[test]
fn what_memory_knows_is_put_before_the_question() {
    let place = TestPlace::new();
    place.stdout(&["remember", "--everywhere", "Deploys happen on Tuesdays."]);
    place.stdout(&["threads", "create", "tides"]);
    let ask = json!({"type": "USER_MESSAGE", "content": "When do deploys happen?"});
    dispatch(&place, "tides", [ask]);
    let asked = [
        "threads",
        "context",
        "tides",
        "--max-tokens",
        "4000",
        "--recall",
        "when do deploys happen",
    ];
    let context = place.json(&asked);
    assert_eq!(context["recalled"], true, "{context}");
    let text = context["messages"].to_string();
    assert!(text.contains("Deploys happen on Tuesdays."), "{text}");
    let small = place.run(&[
        "threads",
        "context",
        "tides",
        "--max-tokens",
        "5",
        "--answer-tokens",
        "0",
    ]);
    let says = String::from_utf8_lossy(&small.stderr).into_owned();
    assert!(says.contains("there is room for 5"), "{says}");
}

#[test]
fn what_a_thread_condensed_is_recalled_from_its_own_session() {
    let place = TestPlace::new();
    place.stdout(&["threads", "create", "tides"]);
    let say = |text: &str| json!({"type": "USER_MESSAGE", "content": text});
    let call = json!({"type": "LLM_TOOL_CALL", "toolName": "read_table", "callId": "c1",
        "arguments": {"harbour": "Oban", "station": "lighthouse", "note": "the turquoise buoy drifted north"}});
    let outcome = json!({"type": "TOOL_RESULT", "toolName": "read_table", "callId": "c1", "success": true,
        "result": "a line of the table\n".repeat(40)});
    let told = format!(
        "Ben moved the winch behind the boathouse. {}",
        "It was late. ".repeat(500)
    );
    let first = [
        say("Please never deploy on Fridays"),
        call,
        outcome,
        say(&told),
    ];
    dispatch(&place, "tides", first.into_iter().chain((1..=24).map(wish)));
    let context = |recall: &str| {
        let asked = [
            "threads",
            "context",
            "tides",
            "--max-tokens",
            "8192",
            "--recall",
            recall,
        ];
        place.json(&asked)
    };
    let shown = context("where did Ben move the winch");
    assert_eq!(shown["recalled"], true, "{shown}");
    let text = shown["messages"].to_string();
    assert!(text.contains("behind the boathouse"), "{text}");
    assert!(text.contains("Please never deploy on Fridays"), "{text}");
    // What the thread still holds as it was is not shown twice.
    let newest = context("wish number 24");
    let text = newest["messages"].to_string();
    assert_eq!(text.matches("Wish number 24:").count(), 1, "{text}");
}

#[test]
fn a_ledger_in_a_file_knows_of_what_threads_say() {
    let place = TestPlace::new();
    std::fs::create_dir_all(place.root()).expect("a folder");
    std::fs::write(place.root().join("daybook.toml"), "ledger = \"json\"\n").expect("a file");
    place.stdout(&["threads", "create", "tides"]);
    dispatch(&place, "tides", [wish(1)]);
    place.stdout(&["threads", "end", "tides"]);
    let ledger = place.root().join("memory_flush_state.json");
    let ledger = std::fs::read_to_string(ledger).expect("a ledger");
    assert!(ledger.contains("tides"), "{ledger}");
}
