use super::super::{ChatShape, TranscriptFormat, detect};
use super::*;

const ROW: &str = r#"{"session_id":"room-one","session_type":"agent","agent_id":"helper","user_id":"bo","session_data":{},"metadata":{"room_id":"!pier"},"runs":[
{"run_id":"r1","status":"COMPLETED","created_at":1772366400,"messages":[
{"role":"system","content":"be brief"},
{"role":"user","content":"always write the test first"},
{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"search","arguments":"{\"query\":\"tides\"}"}}]},
{"role":"tool","tool_call_id":"c1","tool_name":"search","content":"never deploy on Fridays"},
{"role":"assistant","content":"I will.","created_at":1772366410}]},
{"run_id":"r2","parent_run_id":"r1","messages":[{"role":"user","content":"aside"}]},
{"run_id":"r3","status":"CANCELLED","messages":[{"role":"user","content":"stop"}]},
{"run_id":"r4","created_at":1772366500,"messages":[
{"role":"user","content":"always write the test first","from_history":true},
{"role":"user","content":[{"type":"text","text":"thanks"}]}]}],"created_at":1772366400,"updated_at":1772366500}"#;

/// The events of a row: origin, tool and text.
fn events(row: &str) -> Vec<(Origin, String, String, i64)> {
    let mut out = Vec::new();
    let mut reader = AgnoReader::new("file", None).expect("a reader");
    reader.line(0, row.as_bytes(), &mut out).expect("a row");
    let events = out.into_iter().filter_map(|item| match item {
        TranscriptItem::Event(event) => Some((
            event.origin,
            event.tool.unwrap_or_default(),
            event.text,
            event.at.0,
        )),
        TranscriptItem::Session(_) | TranscriptItem::Title(_) | TranscriptItem::PullRequest(_) => {
            None
        }
    });
    events.collect()
}

#[test]
fn a_row_is_the_history_of_its_session_with_who_wrote_what() {
    let events = events(ROW);
    let shown: Vec<(Origin, &str, i64)> = events
        .iter()
        .map(|(origin, tool, _, at)| (*origin, &**tool, *at / 1000))
        .collect();
    assert_eq!(
        shown,
        [
            (Origin::Human, "", 1_772_366_400),
            (Origin::ToolCall, "search", 1_772_366_400),
            (Origin::ToolResult, "search", 1_772_366_400),
            (Origin::Assistant, "", 1_772_366_410),
            (Origin::Human, "", 1_772_366_500),
        ]
    );
    let texts: Vec<&str> = events.iter().map(|(_, _, text, _)| &**text).collect();
    assert_eq!(texts[0], "always write the test first");
    assert_eq!(texts[2], "never deploy on Fridays");
    assert_eq!(texts[4], "thanks");
}

#[test]
fn a_session_has_the_agent_the_user_and_the_room_of_its_row() {
    let mut out = Vec::new();
    let mut reader = AgnoReader::new("file", None).expect("a reader");
    reader.line(1, ROW.as_bytes(), &mut out).expect("a row");
    let Some(TranscriptItem::Session(hint)) = out.first() else {
        panic!("a session comes first");
    };
    let shown = (&*hint.host_id, &*hint.agent, hint.user.as_deref());
    assert_eq!(shown, ("room-one", "helper", Some("bo")));
    assert_eq!(hint.venue.room_id.as_deref(), Some("!pier"));
}

#[test]
fn a_row_whose_runs_are_a_text_is_the_same_row() {
    let mut row: Value = serde_json::from_str(ROW).expect("JSON");
    row["runs"] = Value::String(row["runs"].to_string());
    assert_eq!(events(&row.to_string()), events(ROW));
    row["runs"] = Value::String("no list".to_owned());
    let mut reader = AgnoReader::new("file", None).expect("a reader");
    let bad = reader.line(0, row.to_string().as_bytes(), &mut Vec::new());
    assert!(bad.is_err_and(|bad| bad.0.contains("runs")));
}

#[test]
fn a_row_that_grew_keeps_the_identity_of_its_events() {
    let ids = |row: &str| -> Vec<EventId> {
        let mut out = Vec::new();
        let mut reader = AgnoReader::new("file", None).expect("a reader");
        reader.line(0, row.as_bytes(), &mut out).expect("a row");
        let ids = out.iter().filter_map(|item| match item {
            TranscriptItem::Event(event) => Some(event.id),
            TranscriptItem::Session(_)
            | TranscriptItem::Title(_)
            | TranscriptItem::PullRequest(_) => None,
        });
        ids.collect()
    };
    let mut row: Value = serde_json::from_str(ROW).expect("JSON");
    let whole = ids(ROW);
    row["runs"].as_array_mut().expect("runs").pop();
    assert_eq!(ids(&row.to_string()), whole[..4]);
    let mut apart = whole.clone();
    apart.sort();
    apart.dedup();
    assert_eq!(apart.len(), whole.len());
}

#[test]
fn rows_are_recognized_as_a_list_as_one_document_and_as_lines() {
    let document = TranscriptFormat::Agno(ChatShape::Document);
    assert_eq!(detect(format!("[{ROW}]").as_bytes()), document);
    assert_eq!(detect(ROW.as_bytes()), document);
    let line = ROW.replace('\n', "");
    let lines = TranscriptFormat::Agno(ChatShape::Lines);
    assert_eq!(detect(format!("{line}\n{line}\n").as_bytes()), lines);
}
