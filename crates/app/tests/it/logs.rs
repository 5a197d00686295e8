//! What the log holds, and that it holds nothing of any conversation.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::fixture::{TestPlace, TestSession, teaching_session};
use crate::serve::DaybookServer;

/// A word that is in every text of these sessions, and nowhere else.
const WORD: &str = "quillwort";

/// The manual. Its second table of logs lists every field that a line may have.
const MANUAL: &str = include_str!("../../../../docs/operating.md");

/// The lines of a log, each checked as it is added.
#[derive(Default)]
struct LogLines {
    lines: Vec<Value>,
}

impl LogLines {
    fn add(&mut self, text: &str) {
        for line in text.lines() {
            let holds_content = line.to_lowercase().contains(WORD);
            assert!(!holds_content, "the log tells what was said: {line}");
            let parsed: Value = serde_json::from_str(line).unwrap_or_else(|why| {
                panic!("a line of the log is no JSON ({why}): {line}");
            });
            check_fields(&parsed);
            self.lines.push(parsed);
        }
    }

    /// Runs a command that must succeed, and reads what it logs.
    fn run(&mut self, command: &mut Command, input: &str) -> String {
        let mut child = with_logging(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("daybook starts");
        // One that does not read its input has ended already.
        let _ = child
            .stdin
            .take()
            .expect("its input")
            .write_all(input.as_bytes());
        let output = child.wait_with_output().expect("daybook ends");
        let error = String::from_utf8(output.stderr).expect("a log is UTF-8");
        assert!(output.status.success(), "{command:?}: {error}");
        self.add(&error);
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }

    fn stages(&self) -> BTreeSet<&str> {
        let stages = self.lines.iter().filter_map(|line| line["stage"].as_str());
        stages.collect()
    }

    /// The first line of a stage with this outcome.
    #[track_caller]
    fn line(&self, stage: &str, outcome: &str) -> &Value {
        let mut lines = self.lines.iter();
        let found = lines.find(|line| line["stage"] == stage && line["outcome"] == outcome);
        found.unwrap_or_else(|| panic!("no {stage} ended {outcome} in {:#?}", self.lines))
    }
}

fn with_logging(command: &mut Command) -> &mut Command {
    command
        .env("DAYBOOK_LOG", "trace")
        .env("DAYBOOK_LOG_FORMAT", "json")
}

fn check_fields(line: &Value) {
    let fields = line.as_object().expect("an object");
    let (_, manual) = MANUAL.split_once("| field |").expect("a table of fields");
    let (manual, _) = manual.split_once("\n\n").expect("its end");
    for name in fields.keys() {
        let named = format!("`{name}`");
        let mut rows = manual.lines().filter_map(|row| row.split('|').nth(1));
        assert!(
            rows.any(|row| row.contains(&named)),
            "{name} is new: {line}"
        );
    }
    for (name, value) in fields {
        let plain = value.is_string() || value.is_number() || value.is_null();
        assert!(plain, "{name} is no plain value: {line}");
    }
    let time = line["time"].as_str().expect("a time");
    assert!(time.len() == 24 && time.ends_with('Z'), "{line}");
    let levels = ["error", "warn", "info", "debug", "trace"];
    assert!(levels.iter().any(|level| line["level"] == *level), "{line}");
    // An event has no duration; only the line of a span has milliseconds.
    assert!(line["ms"].is_number() || line["ms"].is_null(), "{line}");
    let on_debug = line["level"] == "debug" || line["level"] == "trace";
    assert!(line["path"].is_null() || on_debug, "a path: {line}");
}

/// A session that teaches something, with the word in every event.
fn session_with_word(n: u32) -> TestSession {
    teaching_session(n)
        .human(&format!(
            "please always run the {WORD} linter before pushing"
        ))
        .agent(&format!("I will run the {WORD} linter."))
        .command(&format!("make {WORD}"), &format!("{WORD}: done"), false)
        .edit(&format!("/nowhere/ada/tidepool/src/{WORD}.rs"))
        .human(&format!("thanks, {WORD} it is"))
}

fn commands(log: &mut LogLines, place: &TestPlace) {
    let session = session_with_word(1);
    let file = place.write("a.jsonl", &session.text());
    let folder = place.transcripts().display().to_string();
    log.run(&mut place.daybook(&["import", &folder]), "");
    let more = session_with_word(1).human(&format!("and {WORD} once more"));
    place.write("a.jsonl", &more.text());
    for (host, event) in [
        ("claude-code", "SessionStart"),
        ("claude-code", "UserPromptSubmit"),
        ("codex", "SessionEnd"),
    ] {
        let payload = json!({
            "hook_event_name": event,
            "session_id": session.id(),
            "transcript_path": file,
            "cwd": "/nowhere/ada/tidepool",
            "prompt": format!("what is {WORD}?"),
        });
        log.run(&mut place.daybook(&["hook", host]), &payload.to_string());
    }
    // A text that is no payload is not quoted either.
    log.run(&mut place.daybook(&["hook", "codex"]), &format!("{WORD:?}"));
    log.run(&mut place.daybook(&["update", "--all"]), "");
    let found = log.run(&mut place.daybook(&["recall", WORD]), "");
    assert!(found.contains(WORD), "nothing was found: {found}");
    log.run(
        &mut place.daybook(&["remember", &format!("{WORD} is a fern")]),
        "",
    );
    log.run(&mut place.daybook(&["context"]), "");
}

fn requests(log: &mut LogLines, place: TestPlace) -> TestPlace {
    let told = place.home().join("serve.log");
    let file = File::create(&told).expect("a file");
    let options = ["--log", "trace", "--log-format", "json", "--no-follow"];
    let server = DaybookServer::start_in(place, &options, file.into());
    let names = json!({"agent": "harbour-bot", "session": "tides-1"});
    let with = |more: Value| {
        let mut all = names.clone();
        let fields = more.as_object().expect("fields").clone();
        all.as_object_mut().expect("an object").extend(fields);
        all
    };
    let event = json!({"role": "user", "text": format!("always say {WORD}")});
    server.post("/v1/append", &with(json!({"events": [event]})));
    server.post("/v1/trigger", &with(json!({"what": "turn"})));
    let found = server.post("/v1/recall", &json!({"question": WORD}));
    assert!(found.to_string().contains(WORD), "{found}");
    server.post(
        "/v1/remember",
        &json!({"text": format!("{WORD} grows in tide pools")}),
    );
    server.get("/v1/status");
    server.text("/metrics");
    server.text(&format!("/v1/show?citation={WORD}"));
    server.text(&format!("/{WORD}"));
    let place = server.end();
    log.add(&fs::read_to_string(told).expect("a log"));
    place
}

fn tools(log: &mut LogLines, place: &TestPlace) {
    let initialize = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let call = json!({"name": "recall", "arguments": {"question": WORD}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ];
    let mut server = place.daybook(&["mcp"]);
    let mut child = with_logging(&mut server)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("daybook starts");
    let mut input = child.stdin.take().expect("its input");
    let mut output = std::io::BufReader::new(child.stdout.take().expect("its output"));
    let mut answered = String::new();
    for line in lines {
        writeln!(input, "{line}").expect("it reads");
        if line["id"].is_number() {
            answered.clear();
            std::io::BufRead::read_line(&mut output, &mut answered).expect("it answers");
            let answer: Value = serde_json::from_str(&answered).expect("only JSON");
            assert_eq!(answer["id"], line["id"], "{answer}");
        }
    }
    assert!(answered.contains(WORD), "nothing was found: {answered}");
    drop(input);
    let ended = child.wait_with_output().expect("it ends");
    log.add(&String::from_utf8(ended.stderr).expect("a log is UTF-8"));
}

#[test]
fn no_line_of_any_log_holds_what_was_said() {
    let mut log = LogLines::default();
    let place = TestPlace::new();
    commands(&mut log, &place);
    let place = requests(&mut log, place);
    tools(&mut log, &place);

    let stages = [
        "append",
        "call",
        "claim",
        "consolidate",
        "extract",
        "file",
        "hook",
        "import",
        "notices",
        "post",
        "recall",
        "remember",
        "request",
        "trigger",
    ];
    let seen = log.stages();
    for stage in stages {
        assert!(seen.contains(stage), "{stage} tells nothing: {seen:?}");
    }
}

#[test]
fn a_stage_tells_what_it_did_in_the_documented_fields() {
    let mut log = LogLines::default();
    let place = TestPlace::new();
    commands(&mut log, &place);
    let session = format!("claude-code:{}", session_with_word(1).id());

    let import = log.line("import", "added");
    assert_eq!(
        (&import["files"], &import["level"]),
        (&json!(1), &json!("info"))
    );
    let file = log.line("file", "new");
    assert_eq!(
        (&file["session"], &file["level"]),
        (&json!(session), &json!("debug"))
    );
    assert_eq!(file["events"], import["events"]);
    let extract = log.line("extract", "taught");
    assert_eq!(
        (&extract["session"], &extract["after"]),
        (&json!(session), &json!(0))
    );
    assert_eq!(extract["upto"], import["events"]);
    assert!(extract["observations"].as_u64() > Some(0), "{extract}");
    let consolidate = log.line("consolidate", "written");
    assert!(consolidate["revision"].as_u64() > Some(0), "{consolidate}");
    let post = log.line("post", "written");
    // It is within the consolidation's span, and so names the scope that was written.
    assert_eq!(post["scope"], consolidate["scope"]);
    assert_eq!(post["commit"].as_str().map(str::len), Some(40));
    let notices = log.line("notices", "taken");
    assert_eq!(
        (&notices["notices"], &notices["events"]),
        (&json!(3), &json!(1))
    );
    let recall = log.line("recall", "found");
    assert!(recall["candidates"].as_u64() >= recall["answers"].as_u64());
    assert_eq!(log.line("remember", "kept")["scope"], "user/ada");
    for stage in [
        "import",
        "file",
        "extract",
        "consolidate",
        "post",
        "notices",
        "recall",
    ] {
        let mut lines = log.lines.iter();
        assert!(
            lines.all(|line| line["stage"] != stage || line["ms"].is_number()),
            "{stage} does not say how long it took"
        );
    }
}

#[test]
fn nothing_is_logged_unless_somebody_asks() {
    let place = TestPlace::new();
    place.write("a.jsonl", &session_with_word(1).text());
    let folder = place.transcripts().display().to_string();
    for arguments in [
        &["import", &folder][..],
        &["update", "--all"],
        &["recall", WORD],
    ] {
        let output = place.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(error, "", "daybook {arguments:?}");
    }
    let output = place.run(&["status", "--log", "info"]);
    assert!(output.stderr.is_empty() && output.status.success());
}

#[test]
fn only_daybooks_own_modules_can_be_asked_for() {
    let place = TestPlace::new();
    for level in ["rmcp=trace", "verbose", ""] {
        let output = place.run(&["mcp", "--log", level]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{level}: {error}");
    }
}

#[test]
fn a_setting_that_makes_no_sense_holds_nobody_up() {
    let place = TestPlace::new();
    let payload = json!({"hook_event_name": "Stop", "session_id": "a"}).to_string();
    let mut command = place.daybook(&["hook", "codex", &payload]);
    let output = command.env("DAYBOOK_LOG", "loud").output();
    let output = output.expect("daybook starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && error.contains("DAYBOOK_LOG is ignored"),
        "{error}"
    );
    assert_eq!(place.json(&["status"])["notices"], 1);
}

#[test]
fn a_failure_is_a_line_of_the_log_too() {
    let place = TestPlace::new();
    let mut command = place.daybook(&["status"]);
    let output = with_logging(&mut command).output().expect("daybook starts");
    assert!(!output.status.success());
    let mut log = LogLines::default();
    log.add(&String::from_utf8_lossy(&output.stderr));
    let message = log.lines[0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("daybook import"), "{message}");
    assert_eq!(log.lines[0]["level"], "error");
}
