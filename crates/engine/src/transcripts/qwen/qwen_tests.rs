use crate::transcripts::detect::{TranscriptFormat, detect};
use crate::transcripts::reader_test_support::{self as checks, events, told};

const LINES: TranscriptFormat = TranscriptFormat::Qwen;

/// A record of the session `q1`.
fn record(id: &str, rest: &str) -> String {
    format!(
        r#"{{"uuid":"{id}","sessionId":"q1","cwd":"/home/ada/tidepool","gitBranch":"main",{rest}}}"#
    )
}

fn check(records: &[String], expected: &str) {
    let lines: Vec<&str> = records.iter().map(String::as_str).collect();
    checks::check(&LINES, &lines, expected);
}

#[test]
fn a_session_is_known_by_its_records() {
    let line = record(
        "u1",
        r#""type":"user","message":{"role":"user","parts":[{"text":"hello"}]}"#,
    );
    assert_eq!(detect(line.as_bytes()), LINES);
    assert_eq!(
        told(&LINES, &[&line]),
        ["session q1 root in /home/ada/tidepool on main"]
    );
}

#[test]
fn only_what_a_person_typed_is_human() {
    check(
        &[
            record("u1", r#""type":"user","systemPayload":{"displayText":"dry the nets"},"message":{"parts":[{"text":"dry the nets"},{"text":"<qwen:user-prompt-submit-context>\nwind is east\n</qwen:user-prompt-submit-context>"}]}"#),
            record("u2", r#""type":"user","subtype":"notification","message":{"parts":[{"text":"a task ended"}]}"#),
            record("u3", r#""type":"user","provenance":"goal_runtime","message":{"parts":[{"text":"reach the goal"}]}"#),
            record("u4", r#""type":"user","subtype":"mid_turn_user_message","message":{"parts":[{"text":"and the ropes"}]}"#),
            record("u5", r#""type":"system","subtype":"slash_command","systemPayload":{"phase":"invocation","rawCommand":"/review the nets"}"#),
            record("u6", r#""type":"system","subtype":"slash_command","systemPayload":{"phase":"invocation","rawCommand":"/about"}"#),
        ],
        "harness | <qwen:user-prompt-submit-context>⏎wind is east⏎</qwen:user-prompt-submit-context>
         human | dry the nets
         harness | a task ended
         harness | reach the goal
         human | and the ropes
         human | /review the nets
         harness | /about",
    );
}

#[test]
fn calls_find_their_results_and_answers_their_person() {
    check(
        &[
            record(
                "u1",
                r#""type":"assistant","message":{"parts":[{"text":"hm","thought":true},{"text":"Looking."},{"functionCall":{"id":"c1","name":"read_file","args":{"path":"a"}}}]}"#,
            ),
            record(
                "u2",
                r#""type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c1","name":"read_file","response":{"error":"no such file"}}}]},"toolCallResult":{"status":"error"}"#,
            ),
            record(
                "u3",
                r#""type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c2","name":"run_shell_command","response":{"error":"[Operation Cancelled] Reason: declined"}}}]},"toolCallResult":{"status":"cancelled"}"#,
            ),
            record(
                "u4",
                r#""type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c3","name":"ask_user_question","response":{"output":"User has provided the following answers:\n\n**Pier**: the north one"}}}]},"toolCallResult":{"status":"success"}"#,
            ),
        ],
        r#"assistant | Looking.
        tool_call | {"path":"a"}
        tool_result | failed | no such file
        tool_result | refused | [Operation Cancelled] Reason: declined
        tool_result | succeeded |
        human | Q: Pier⏎A: the north one"#,
    );
}

#[test]
fn a_rewind_takes_back_what_came_behind_its_parent() {
    let records = [
        record(
            "u1",
            r#""type":"user","message":{"parts":[{"text":"one"}]}"#,
        ),
        record(
            "u2",
            r#""type":"assistant","message":{"parts":[{"text":"1"}]}"#,
        ),
        record(
            "u3",
            r#""type":"system","subtype":"rewind","parentUuid":"u1""#,
        ),
        record(
            "u4",
            r#""type":"user","message":{"parts":[{"text":"two"}]}"#,
        ),
    ];
    let lines: Vec<&str> = records.iter().map(String::as_str).collect();
    let read = events(&LINES, &lines);
    assert_eq!(read[2].retracts, [read[1].id]);
    assert_eq!(read[3].text, "two");
}

#[test]
fn a_branch_of_a_session_shares_its_events() {
    let one = record(
        "u1",
        r#""type":"user","message":{"parts":[{"text":"one"}]}"#,
    );
    let copy =
        one.replace("\"q1\"", "\"q2\"")
            .replacen('{', r#"{"forkedFrom":{"sessionId":"q1"},"#, 1);
    assert_eq!(
        events(&LINES, &[&one])[0].id,
        events(&LINES, &[&copy])[0].id
    );
    let session = "session q2 root forked from q1 in /home/ada/tidepool on main";
    assert_eq!(told(&LINES, &[&copy]), [session]);
}

#[test]
fn a_sub_agents_records_belong_to_its_parent() {
    let line = record(
        "u1",
        r#""type":"user","isSidechain":true,"message":{"parts":[{"text":"count the nets"}]}"#,
    );
    check(
        std::slice::from_ref(&line),
        "side assistant | count the nets",
    );
    let session = "session q1 sub_agent in /home/ada/tidepool on main";
    assert_eq!(told(&LINES, &[&line]), [session]);
}

#[test]
fn two_records_on_one_line_are_both_read() {
    let one = record(
        "u1",
        r#""type":"user","message":{"parts":[{"text":"one"}]}"#,
    );
    let two = record(
        "u2",
        r#""type":"assistant","message":{"parts":[{"text":"1"}]}"#,
    );
    check(&[format!("{one}{two}")], "human | one\n assistant | 1");
}
