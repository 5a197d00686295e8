use super::*;
use crate::transcripts::detect::{ChatShape, TranscriptFormat};
use crate::transcripts::reader_test_support::{self as checks, events, told};

const LINES: TranscriptFormat = TranscriptFormat::Chat(ChatShape::Lines);

fn check(lines: &[&str], expected: &str) {
    checks::check(&LINES, lines, expected);
}

#[test]
fn roles_say_who_spoke() {
    check(
        &[
            r#"{"role":"system","content":"be brief"}"#,
            r#"{"role":"user","content":"why?"}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"It reads"},{"type":"text","text":"twice."}]}"#,
        ],
        "harness | be brief
         human | why?
         assistant | It reads⏎twice.",
    );
}

#[test]
fn calls_and_their_answers_are_joined() {
    let lines = [
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"shell","arguments":"{\"command\":\"ls\"}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"a.txt"}"#,
        r#"{"role":"assistant","content":null,"function_call":{"name":"add","arguments":"{\"a\":1}"}}"#,
        r#"{"role":"function","name":"add","content":"2"}"#,
    ];
    check(
        &lines,
        r#"tool_call | ls
        tool_result | a.txt
        tool_call | {"a":1}
        tool_result | 2"#,
    );
    let tools: Vec<Option<String>> = events(&LINES, &lines)
        .into_iter()
        .map(|event| event.tool)
        .collect();
    assert_eq!(
        tools,
        ["shell", "shell", "add", "add"].map(|tool| Some(tool.to_owned()))
    );
}

#[test]
fn calls_and_answers_within_content_are_read() {
    check(
        &[
            r#"{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"tool_use","id":"c1","name":"Read","input":{"file_path":"a.rs"}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"no such file","is_error":true}]}"#,
        ],
        "tool_call | a.rs
         assistant | Looking.
         tool_result | failed | no such file",
    );
}

#[test]
fn calls_and_answers_on_lines_of_their_own_are_read() {
    check(
        &[
            r#"{"type":"tool_call","function":{"name":"git"},"arguments":"status"}"#,
            r#"{"type":"tool_result","name":"git","result":"clean"}"#,
            r#"{"type":"error","text":"x"}"#,
        ],
        "tool_call | status\n tool_result | clean",
    );
}

#[test]
fn a_text_under_another_name_is_read() {
    check(&[r#"{"role":"user","message":"why?"}"#], "human | why?");
}

#[test]
fn images_are_kept_as_what_tells_them_apart() {
    check(
        &[
            r#"{"role":"user","content":[{"type":"text","text":"like this"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}]}"#,
        ],
        "human | like this⏎[image: image/png, 5 bytes, 324ea05bea4d7f75]",
    );
}

#[test]
fn times_are_texts_or_numbers_and_inherited() {
    let at: Vec<i64> = events(
        &LINES,
        &[
            r#"{"role":"user","content":"a","timestamp":"2026-01-01T00:00:00Z"}"#,
            r#"{"role":"user","content":"b"}"#,
            r#"{"role":"user","content":"c","created_at":1767225601}"#,
        ],
    )
    .iter()
    .map(|event| event.at.0)
    .collect();
    assert_eq!(
        at,
        [1_767_225_600_000, 1_767_225_600_000, 1_767_225_601_000]
    );
}

#[test]
fn what_is_said_again_is_said_again_and_a_copy_is_the_same() {
    let yes = r#"{"role":"user","content":"yes"}"#;
    let done = r#"{"role":"assistant","content":"done"}"#;
    let ids = |lines: &[&str]| {
        events(&LINES, lines)
            .iter()
            .map(|event| event.id)
            .collect::<Vec<_>>()
    };
    let all = ids(&[yes, done, done, yes, done]);
    let mut different = all.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 5);
    assert_eq!(ids(&[yes, done, done]), all[..3]);
}

#[test]
fn what_a_document_says_of_itself_names_its_session() {
    let opening = r#"{"id":"m0","session_id":"m1","cwd":"/home/ada/engine","messages":[]}"#;
    let mut reader = ChatReader::new("file", &checks::no_git, None).unwrap();
    let mut out = Vec::new();
    reader.line(0, opening.as_bytes(), &mut out).unwrap();
    reader
        .line(1, br#"{"role":"user","content":"hello"}"#, &mut out)
        .unwrap();
    let TranscriptItem::Session(hint) = &out[0] else {
        panic!("no session first")
    };
    assert_eq!(
        (&*hint.host_id, hint.cwd.as_deref()),
        ("m1", Some("/home/ada/engine"))
    );
    let event = checks::event(out.remove(1)).unwrap();
    assert_eq!(
        (event.line, event.place.unwrap().root),
        (1, "/home/ada/engine".to_owned())
    );
}

#[test]
fn a_chat_that_names_no_session_is_named_after_its_file() {
    let line = r#"{"role":"user","content":"hello"}"#;
    assert_eq!(told(&LINES, &[line]), ["session unnamed root"]);
}

#[test]
fn reminders_are_stripped_from_what_a_person_said() {
    check(
        &[
            r#"{"role":"user","content":"<system-reminder>be kind</system-reminder>\nfix it"}"#,
            r#"{"role":"user","content":"<system-reminder>be kind</system-reminder>"}"#,
            r#"{"role":"user","content":"<daybook-memory>tabs</daybook-memory> go on"}"#,
        ],
        "human | fix it
         harness | <system-reminder>be kind</system-reminder>
         human | go on",
    );
}
