//! A fuzz target of `memory_flush_state.json`, which other programs and people may write, too.

use daybook_testkit::mutation::parse_mutated;

use super::json::{EntryTexts, parse, to_json};

#[test]
fn fuzz_flush_state() {
    let seeds: [&[u8]; 2] = [
        br#"{"version":1,"sessions":{"harbour:s1":{"agent_name":"harbour","session_id":"s1","dirty":true,"in_flight":false,"last_seen_at":1,"last_session_updated_at":2,"last_flushed_at":3,"last_flushed_session_updated_at":4,"room_id":null,"thread_id":null,"daybook":{"tenant":"local","job":{"input":7,"done":3}}},"other":{"mine":1}},"daybook":{"claimed":3,"rounds":[]},"kept":"as it is"}"#,
        b"",
    ];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated(&seeds, script, |text| {
            let Ok(state) = parse(text) else {
                return;
            };
            let written =
                to_json(&state, &mut EntryTexts::default()).expect("what was read can be written");
            let again = parse(written.as_bytes()).expect("what was written can be read");
            assert_eq!(again, state);
        });
    });
}

/// Two entries of one session are found in a damaged file alone. What is read must be what is written again.
#[test]
fn of_two_entries_of_a_session_the_one_under_its_name_counts() {
    let entry = |input: u8| {
        let job = format!(r#"{{"tenant":"local","job":{{"input":{input},"done":3}}}}"#);
        format!(
            r#"{{"agent_name":"harbour","session_id":"s1","dirty":true,"in_flight":false,"last_seen_at":1,"last_session_updated_at":2,"last_flushed_at":3,"last_flushed_session_updated_at":4,"room_id":null,"thread_id":null,"daybook":{job}}}"#
        )
    };
    let file = format!(
        r#"{{"version":1,"sessions":{{"":{},"harbour:s1":{}}}}}"#,
        entry(5),
        entry(7)
    );
    let state = parse(file.as_bytes()).expect("it can be read");
    let inputs: Vec<u64> = state.entries.values().map(|it| it.job.input).collect();
    assert_eq!((inputs, state.foreign_entries.len()), (vec![7], 1));
    let written = to_json(&state, &mut EntryTexts::default()).expect("it can be written");
    assert_eq!(parse(written.as_bytes()), Ok(state));
}

/// The texts of entries that did not change are those of the last time, and nothing else is.
#[test]
fn a_file_is_the_same_whatever_was_written_before() {
    let entry = |name: &str, input: u8| {
        format!(
            r#""härbour:{name}":{{"agent_name":"härbour","session_id":"{name}","last_seen_at":1,"daybook":{{"tenant":"local","job":{{"input":{input}}}}}}}"#
        )
    };
    let book = |entries: &[String]| {
        let file = format!(r#"{{"version":1,"sessions":{{{}}}}}"#, entries.join(","));
        parse(file.as_bytes()).expect("it can be read")
    };
    let mut texts = EntryTexts::default();
    for entries in [
        vec![entry("a", 1), entry("b", 2)],
        vec![entry("a", 1), entry("b", 3)],
        vec![
            entry("b", 3),
            entry("c", 1),
            r#""other":{"mine":["é",{}]}"#.to_owned(),
        ],
        vec![],
        vec![entry("a", 1)],
    ] {
        let state = book(&entries);
        let written = to_json(&state, &mut texts).expect("it can be written");
        let fresh = to_json(&state, &mut EntryTexts::default()).expect("it can be written");
        assert_eq!(written, fresh);
        // As one document it has the same form, apart from the order of keys.
        let document: serde_json::Value = serde_json::from_str(&written).expect("JSON");
        let lines = |text: &str| {
            let mut lines: Vec<String> = text
                .lines()
                .map(|line| line.trim_end_matches(',').to_owned())
                .collect();
            lines.sort();
            lines
        };
        let pretty = serde_json::to_string_pretty(&document)
            .expect("JSON")
            .replace('ä', "\\u00e4")
            .replace('é', "\\u00e9");
        assert_eq!(lines(&written), lines(&pretty));
        assert_eq!(parse(written.as_bytes()), Ok(state));
    }
}
