use crate::transcripts::detect::{TranscriptFormat, detect};
use crate::transcripts::reader_test_support::{self as checks, events, told};

const LINES: TranscriptFormat = TranscriptFormat::Copilot;

/// An event of a kind.
fn event(id: &str, kind: &str, data: &str) -> String {
    format!(r#"{{"type":"{kind}","id":"{id}","timestamp":"2026-03-02T08:00:00Z","data":{data}}}"#)
}

fn check(events: &[String], expected: &str) {
    let lines: Vec<&str> = events.iter().map(String::as_str).collect();
    checks::check(&LINES, &lines, expected);
}

#[test]
fn a_session_is_described_by_its_start() {
    let start = event(
        "e1",
        "session.start",
        r#"{"sessionId":"k1","context":{"cwd":"/home/ada/tidepool","branch":"main","repository":"ada/tidepool"}}"#,
    );
    let hello = event("e2", "user.message", r#"{"content":"hello"}"#);
    assert_eq!(detect(start.as_bytes()), LINES);
    let session = "session k1 root in /home/ada/tidepool on main of github.com/ada/tidepool";
    assert_eq!(told(&LINES, &[&start, &hello]), [session]);
}

#[test]
fn only_what_a_person_typed_is_human() {
    check(
        &[
            event(
                "e1",
                "user.message",
                r#"{"content":"<reminder>be brief</reminder>\nmend the net"}"#,
            ),
            event(
                "e2",
                "user.message",
                r#"{"content":"a skill's text","source":"skill-nets"}"#,
            ),
            event(
                "e3",
                "user.message",
                r#"{"content":"go on","isAutopilotContinuation":true}"#,
            ),
            event(
                "e4",
                "user.message",
                r#"{"content":"use green twine","delivery":"steering"}"#,
            ),
            event("e5", "system.message", r#"{"content":"You are an agent."}"#),
        ],
        "harness | be brief
         human | mend the net
         harness | a skill's text
         harness | go on
         human | use green twine
         harness | You are an agent.",
    );
}

#[test]
fn a_call_counts_once_and_finds_its_result() {
    let request = event(
        "e1",
        "assistant.message",
        r#"{"content":"Looking.","toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"command":"ls"}}]}"#,
    );
    let start = event(
        "e2",
        "tool.execution_start",
        r#"{"toolCallId":"c1","toolName":"bash","arguments":{"command":"ls"}}"#,
    );
    let done = event(
        "e3",
        "tool.execution_complete",
        r#"{"toolCallId":"c1","success":true,"result":{"content":"net.txt"}}"#,
    );
    let read = events(&LINES, &[&request, &start, &done]);
    assert_eq!(read[1].id, read[2].id);
    let shown: Vec<String> = read.iter().map(checks::shown).collect();
    let expected = [
        "assistant | Looking.",
        "tool_call | ls",
        "tool_call | ls",
        "tool_result | succeeded | net.txt",
    ];
    assert_eq!(shown, expected);
    assert_eq!(read[3].tool.as_deref(), Some("bash"));
}

#[test]
fn answers_and_refusals_hold_a_persons_words() {
    check(
        &[
            event(
                "e1",
                "tool.execution_start",
                r#"{"toolCallId":"c1","toolName":"ask_user","arguments":{"question":"Which twine?"}}"#,
            ),
            event(
                "e2",
                "tool.execution_complete",
                r#"{"toolCallId":"c1","success":true,"result":{"content":"User responded: the green one"}}"#,
            ),
            event(
                "e3",
                "tool.execution_complete",
                r#"{"toolCallId":"c2","success":false,"error":{"code":"rejected","message":"The user rejected this tool call. User feedback: not on Sundays"}}"#,
            ),
            event(
                "e4",
                "tool.execution_complete",
                r#"{"toolCallId":"c3","success":false,"error":{"message":"no such file"}}"#,
            ),
        ],
        r#"tool_call | {"question":"Which twine?"}
        tool_result | succeeded |
        human | the green one
        tool_result | refused |
        human | not on Sundays
        tool_result | failed | no such file"#,
    );
}

#[test]
fn a_rewind_takes_back_what_it_removed() {
    let lines = [
        event("e1", "user.message", r#"{"content":"one"}"#),
        event("e2", "user.message", r#"{"content":"two"}"#),
        event("e3", "session.snapshot_rewind", r#"{"upToEventId":"e2"}"#),
        event("e4", "session.snapshot_rewind", r#"{"upToEventId":"e0"}"#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let read = events(&LINES, &lines);
    assert_eq!(read[2].retracts, [read[1].id]);
    assert_eq!(
        read.len(),
        3,
        "an event that is not known takes nothing back"
    );
}

#[test]
fn a_sub_agents_prompt_is_not_a_persons_words() {
    let line = r#"{"type":"user.message","id":"e1","timestamp":"2026-03-02T08:00:00Z","agentId":"a1","data":{"content":"count the nets"}}"#;
    check(&[line.to_owned()], "side assistant | count the nets");
}
