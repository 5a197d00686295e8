use crate::transcripts::detect::{TranscriptFormat, detect};
use crate::transcripts::reader_test_support::{check, events, told};

const LINES: TranscriptFormat = TranscriptFormat::Pi;
const SESSION: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-05-12T01:00:00Z","cwd":"/home/ada/tidepool"}"#;

/// A message of a person, behind another entry.
fn user(id: &str, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-05-12T01:00:01Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

#[test]
fn a_conversation_is_read_with_its_calls_and_summaries() {
    assert_eq!(detect(SESSION.as_bytes()), LINES);
    check(
        &LINES,
        &[
            SESSION,
            &user("a1", "", "feed the ducks"),
            r#"{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Looking."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}]}}"#,
            r#"{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"duck.txt"}],"isError":false}}"#,
            r#"{"type":"message","id":"a4","parentId":"a3","message":{"role":"bashExecution","command":"git log","output":"one"}}"#,
            r#"{"type":"custom_message","id":"a5","parentId":"a4","customType":"hint","content":"be brief"}"#,
            r#"{"type":"compaction","id":"a6","parentId":"a5","summary":"ducks were fed"}"#,
        ],
        "human | feed the ducks
         assistant | Looking.
         tool_call | ls
         tool_result | succeeded | duck.txt
         tool_call | git log
         tool_result | one
         harness | be brief
         synthetic | ducks were fed",
    );
}

#[test]
fn going_back_to_an_earlier_entry_takes_back_what_came_behind() {
    let lines = [
        SESSION.to_owned(),
        user("a1", "", "one"),
        user("a2", "a1", "two"),
        user("a3", "a1", "three"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let read = events(&LINES, &lines);
    assert_eq!(read[2].retracts, [read[1].id]);
    assert_eq!(read[3].text, "three");
}

#[test]
fn a_fork_shares_the_entries_that_it_copied() {
    let fork = SESSION.replacen("\"s1\"", "\"s2\",\"parentSession\":\"/x/2026_s1.jsonl\"", 1);
    let one = user("a1", "", "one");
    assert_eq!(
        events(&LINES, &[SESSION, &one])[0].id,
        events(&LINES, &[&fork, &one])[0].id
    );
    let session = "session s2 root forked from s1 in /home/ada/tidepool";
    assert_eq!(told(&LINES, &[&fork, &one]), [session]);
}
