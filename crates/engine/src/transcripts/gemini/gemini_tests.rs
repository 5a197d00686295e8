use super::*;
use crate::transcripts::detect::{ChatShape, TranscriptFormat, detect};
use crate::transcripts::reader_test_support::{self as checks, events, told};

const LINES: TranscriptFormat = TranscriptFormat::Gemini(ChatShape::Lines);
const SESSION: &str =
    r#"{"sessionId":"g1","projectHash":"0f","startTime":"2026-04-29T21:39:22Z","kind":"main"}"#;

fn check(lines: &[&str], expected: &str) {
    checks::check(&LINES, lines, expected);
}

/// Checks one message in a person's place.
fn check_user(content: &str, expected: &str) {
    let message = format!(r#"{{"id":"m1","type":"user","content":{content}}}"#);
    check(&[SESSION, &message], expected);
}

#[test]
fn both_layouts_are_told_apart_by_their_beginning() {
    assert_eq!(detect(SESSION.as_bytes()), LINES);
    let document = r#"{"sessionId":"g1","projectHash":"0f","messages":[{"id":"m1"}]}"#;
    let document_format = TranscriptFormat::Gemini(ChatShape::Document);
    assert_eq!(detect(document.as_bytes()), document_format);
    let newer = r#"{"history":[{"role":"user","parts":[]}],"start_time":"2026-04-29T21:39:22Z"}"#;
    assert!(matches!(
        detect(newer.as_bytes()),
        TranscriptFormat::Unknown(_)
    ));
}

#[test]
fn a_conversation_is_read_with_its_calls() {
    check(
        &[
            SESSION,
            r#"{"id":"m1","timestamp":"2026-04-29T21:39:33Z","type":"user","content":[{"text":"list the boats"}]}"#,
            r#"{"id":"m2","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"result":[{"functionResponse":{"id":"c1","response":{"output":"tern.txt"}}}],"status":"success"}]}"#,
            r#"{"id":"m3","type":"info","content":"Update available"}"#,
            r#"{"id":"m4","type":"gemini","content":[{"text":"hm","thought":true},{"text":"One boat."}]}"#,
        ],
        "human | list the boats
         tool_call | ls
         tool_result | succeeded | tern.txt
         assistant | One boat.",
    );
}

#[test]
fn a_message_that_was_written_again_is_the_same_one() {
    let first = r#"{"id":"m2","type":"gemini","content":"Looking."}"#;
    let again = r#"{"id":"m2","type":"gemini","content":"Looking.","toolCalls":[{"id":"c1","name":"read_file","args":{},"status":"success"}]}"#;
    let ids: Vec<_> = events(&LINES, &[SESSION, first, again])
        .iter()
        .map(|event| event.id)
        .collect();
    assert_eq!(ids[0], ids[1]);
    assert_eq!(ids.len(), 4);
}

#[test]
fn what_the_host_adds_to_a_message_is_not_the_persons() {
    check_user(
        r#"[{"text":"why is @tide.md late?"},{"text":"\n--- Content from referenced files ---"},{"text":"\nContent from @tide.md:\n"},{"text":"high water"},{"text":"\n--- End of content ---"}]"#,
        "harness | --- Content from referenced files ---⏎Content from @tide.md:⏎high water⏎--- End of content ---
         human | why is @tide.md late?",
    );
    check_user(
        r#""fix @a\n--- Content from referenced files ---\nx\n--- End of content ---\nand test""#,
        "harness | --- Content from referenced files ---⏎x⏎--- End of content ---
         human | fix @a⏎and test",
    );
    check_user(
        r#"[{"text":"<hook_context>be brief</hook_context>"},{"text":"go on"}]"#,
        "harness | be brief
         human | go on",
    );
    for host in [
        "<session_context>\\nThis is the Gemini CLI.\\n</session_context>",
        "Here is the user's editor context as a JSON object.",
        "I ran the following shell command:\\n```sh\\nls\\n```",
        "System: Please continue.",
        "/compress",
    ] {
        let content = format!("\"{host}\"");
        let message = format!(r#"{{"id":"m1","type":"user","content":{content}}}"#);
        let read = events(&LINES, &[SESSION, &message]);
        let origins: Vec<Origin> = read.iter().map(|event| event.origin).collect();
        assert_eq!(origins, [Origin::Harness], "{host}");
    }
}

#[test]
fn what_was_typed_counts_where_the_host_sent_something_else() {
    check(
        &[
            SESSION,
            r#"{"id":"m1","type":"user","content":[{"text":"Review the change with care."}],"displayContent":[{"text":"/review the tide tables"}]}"#,
        ],
        "harness | Review the change with care.
         human | /review the tide tables",
    );
}

#[test]
fn words_typed_while_the_agent_worked_are_the_persons() {
    check_user(
        r#""User hints:\n<user_input>\n- use metres\n</user_input>\n\nInternal instruction: weigh it""#,
        "human | use metres",
    );
}

#[test]
fn a_summary_of_earlier_messages_is_nobodys_words() {
    check_user(
        r#""<state_snapshot>\n<goal>tides</goal>\n</state_snapshot>""#,
        "synthetic | <state_snapshot>⏎<goal>tides</goal>⏎</state_snapshot>",
    );
}

#[test]
fn answers_and_refusals_hold_a_persons_words() {
    let call = |name: &str, args: &str, output: &str, status: &str| {
        format!(
            r#"{{"id":"m2","type":"gemini","content":"","toolCalls":[{{"id":"c1","name":"{name}","args":{args},"result":[{{"functionResponse":{{"response":{{"output":{output}}}}}}}],"status":"{status}"}}]}}"#
        )
    };
    let asked = call(
        "ask_user",
        r#"{"questions":[{"question":"Which pier?"}]}"#,
        r#""{\"answers\":{\"0\":\"the north one\"}}""#,
        "success",
    );
    check(
        &[SESSION, &asked],
        r#"tool_call | {"questions":[{"question":"Which pier?"}]}
        tool_result | succeeded |
        human | Q: Which pier?⏎A: the north one"#,
    );
    let plan = call(
        "exit_plan_mode",
        r#"{"path":"plan.md"}"#,
        r#""Plan rejected. User feedback: no ferries\n\nThe plan is stored at: plan.md""#,
        "success",
    );
    check(
        &[SESSION, &plan],
        r#"tool_call | {"path":"plan.md"}
        tool_result | refused |
        human | no ferries"#,
    );
    let declined = call(
        "run_shell_command",
        r#"{"command":"rm x"}"#,
        r#""[Operation Cancelled] Reason: User cancelled operation""#,
        "cancelled",
    );
    check(
        &[SESSION, &declined],
        "tool_call | rm x
         tool_result | refused | [Operation Cancelled] Reason: User cancelled operation",
    );
}

#[test]
fn a_rewind_takes_back_what_it_removed() {
    let lines = [
        SESSION,
        r#"{"id":"m1","type":"user","content":"one"}"#,
        r#"{"id":"m2","type":"user","content":"two"}"#,
        r#"{"id":"m3","type":"gemini","content":"2"}"#,
        r#"{"$rewindTo":"m2"}"#,
        r#"{"id":"m4","type":"user","content":"three"}"#,
    ];
    let read = events(&LINES, &lines);
    let ids: Vec<_> = read.iter().map(|event| event.id).collect();
    assert_eq!(read[3].origin, Origin::Retraction);
    assert_eq!(read[3].retracts, [ids[1], ids[2]]);
    assert_eq!(read[4].text, "three");
}

#[test]
fn messages_that_are_set_anew_are_known_by_their_ids() {
    let lines = [
        SESSION,
        r#"{"id":"m1","type":"user","content":"one"}"#,
        r#"{"$set":{"summary":"Tides","messages":[{"id":"m1","type":"user","content":"one"},{"id":"m2","type":"user","content":"two"}]}}"#,
    ];
    let read = events(&LINES, &lines);
    assert_eq!(read[0].id, read[1].id);
    assert_eq!(read[2].text, "two");
    assert_eq!(
        told(&LINES, &lines),
        ["session g1 root", "title of g1: Tides"]
    );
}

#[test]
fn a_sub_agents_task_is_not_a_persons_words() {
    check(
        &[
            r#"{"sessionId":"g2","projectHash":"0f","kind":"subagent","directories":["/home/ada/tidepool"]}"#,
            r#"{"id":"m1","type":"user","content":"find the tide table"}"#,
        ],
        "side assistant | find the tide table",
    );
}
