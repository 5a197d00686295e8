use crate::transcripts::detect::{ChatShape, TranscriptFormat, detect};
use crate::transcripts::reader_test_support::{check, told};

const DOCUMENT: TranscriptFormat = TranscriptFormat::CopilotChat(ChatShape::Document);
const LOG: TranscriptFormat = TranscriptFormat::CopilotChat(ChatShape::Lines);
const BESIDE: &str = r#"{"session":"s1","folder":"file:///home/ada/tidepool"}"#;
const REQUEST: &str = r#"{"requestId":"r1","timestamp":1775030400000,"message":{"text":"count the gulls","parts":[]},"response":[{"value":"Looking at "},{"kind":"inlineReference","name":"gull.txt","inlineReference":{}},{"value":"."}]}"#;

fn begun(requests: &str) -> String {
    format!(
        r#"{{"kind":0,"v":{{"version":3,"responderUsername":"GitHub Copilot","sessionId":"s1","requests":[{requests}]}}}}"#
    )
}

#[test]
fn a_document_is_read_request_by_request() {
    let document = r#"{"version":3,"responderUsername":"GitHub Copilot","initialLocation":"panel","requests":[]}"#;
    assert_eq!(detect(document.as_bytes()), DOCUMENT);
    let lines = [
        BESIDE,
        REQUEST,
        r#"{"requestId":"r2","message":"and the terns","response":[
            {"kind":"thinking","value":"hm"},
            {"kind":"toolInvocationSerialized","toolId":"run_in_terminal","toolCallId":"c1","isComplete":true,"isConfirmed":{"type":4},"toolSpecificData":{"kind":"terminal","commandLine":{"original":"ls"}},"resultDetails":{"output":[{"value":"tern.txt"}]}},
            {"kind":"toolInvocationSerialized","toolId":"run_in_terminal","toolCallId":"c2","isComplete":true,"isConfirmed":{"type":0},"invocationMessage":{"value":"rm x"}},
            {"kind":"toolInvocationSerialized","toolId":"fetch","toolCallId":"c3","isComplete":true,"resultDetails":{"input":"{}","output":"gone","isError":true}},
            {"kind":"questionCarousel","questions":[{"id":"q1","title":"Which terns?"}],"data":{"q1":{"selectedValue":"arctic","freeformValue":"if any"}}},
            {"kind":"markdownContent","content":{"value":"One tern."}}]}"#,
        r#"{"requestId":"r3","message":{"text":"Continue"},"confirmation":"Continue","response":[]}"#,
        r#"{"requestId":"r4","message":{"text":"no"},"shouldBeRemovedOnSend":{"requestId":"r4"},"response":[]}"#,
    ];
    check(
        &DOCUMENT,
        &lines,
        "human | count the gulls
         assistant | Looking at gull.txt.
         human | and the terns
         tool_call | ls
         tool_result | succeeded | tern.txt
         tool_call | rm x
         tool_result | refused |
         tool_call | {}
         tool_result | failed | gone
         human | Q: Which terns?⏎A: arctic, if any
         assistant | One tern.
         harness | Continue",
    );
    assert_eq!(
        told(&DOCUMENT, &lines),
        ["session s1 root in /home/ada/tidepool"]
    );
}

#[test]
fn a_log_gives_what_its_document_would() {
    let log = begun(REQUEST);
    assert_eq!(detect(log.as_bytes()), LOG);
    let lines = [
        BESIDE,
        &log,
        r#"{"kind":2,"k":["requests"],"v":[{"requestId":"r2","message":{"text":"and the terns"},"response":[{"value":"One"}]}]}"#,
        r#"{"kind":1,"k":["requests",1,"modelState"],"v":{"value":1}}"#,
        r#"{"kind":1,"k":["customTitle"],"v":"Gulls"}"#,
    ];
    check(
        &LOG,
        &lines,
        "human | count the gulls
         assistant | Looking at gull.txt.
         human | and the terns
         assistant | One",
    );
    let expected = [
        "session s1 root in /home/ada/tidepool",
        "title of s1: Gulls",
    ];
    assert_eq!(told(&LOG, &lines), expected);
}

#[test]
fn a_response_that_grows_is_replaced_where_it_changed() {
    let lines = [
        &begun(r#"{"requestId":"r1","message":{"text":"count"},"response":[]}"#),
        r#"{"kind":2,"k":["requests",0,"response"],"v":[{"value":"Looking."},{"kind":"toolInvocationSerialized","toolId":"ls","toolCallId":"c1","invocationMessage":"ls"},{"value":"On"}]}"#,
        r#"{"kind":2,"k":["requests",0,"response"],"i":1,"v":[{"kind":"toolInvocationSerialized","toolId":"ls","toolCallId":"c1","invocationMessage":"ls","isComplete":true,"pastTenseMessage":"listed"},{"value":"One gull."}]}"#,
        r#"{"kind":2,"k":["requests",0,"response"],"i":2,"v":[{"value":"One gull."}]}"#,
    ];
    check(
        &LOG,
        &lines.map(|line: &str| line),
        "human | count
         assistant | Looking.
         tool_call | ls
         assistant | On
         retraction |
         tool_call | ls
         tool_result | succeeded | listed
         retraction |
         assistant | One gull.",
    );
}

#[test]
fn requests_that_were_cut_off_are_taken_back() {
    let lines = [
        &begun(REQUEST),
        r#"{"kind":2,"k":["requests"],"i":0,"v":[{"requestId":"r2","message":{"text":"count the terns"},"response":[]}]}"#,
    ];
    check(
        &LOG,
        &lines.map(|line: &str| line),
        "human | count the gulls
         assistant | Looking at gull.txt.
         retraction |
         human | count the terns",
    );
}
