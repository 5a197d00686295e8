use super::*;

fn check(text: &str, expected: TranscriptFormat) {
    assert_eq!(detect(text.as_bytes()), expected, "{text}");
}

fn check_unknown(text: &str, says: &str) {
    match detect(text.as_bytes()) {
        TranscriptFormat::Unknown(reason) => assert!(reason.contains(says), "{text}: {reason}"),
        format => panic!("{text}: {format:?}"),
    }
}

const LINES: TranscriptFormat = TranscriptFormat::Chat(ChatShape::Lines);
const DOCUMENT: TranscriptFormat = TranscriptFormat::Chat(ChatShape::Document);

#[test]
fn rollouts_are_known_by_their_envelopes() {
    check(
        r#"{"timestamp":"t","type":"session_meta","payload":{"id":"r1"}}"#,
        TranscriptFormat::Codex,
    );
    check(
        "\n{\"timestamp\":\"t\",\"ordinal\":3,\"type\":\"response_item\",\"payload\":{}}\n",
        TranscriptFormat::Codex,
    );
}

#[test]
fn rollouts_from_before_envelopes_are_known_by_their_first_line() {
    check(
        r#"{"id":"r1","timestamp":"t","instructions":null,"git":{}}
           {"type":"message","role":"user","content":[]}"#,
        TranscriptFormat::Codex,
    );
    check(r#"{"record_type":"state"}"#, TranscriptFormat::Codex);
}

#[test]
fn sessions_of_claude_code_are_known_by_their_lines() {
    check(
        r#"{"parentUuid":null,"sessionId":"s1","type":"user","message":{"role":"user","content":"hello"}}"#,
        TranscriptFormat::ClaudeCode,
    );
    check(
        r#"{"type":"summary","summary":"Speed","leafUuid":"u1"}"#,
        TranscriptFormat::ClaudeCode,
    );
    check(
        r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#,
        TranscriptFormat::ClaudeCode,
    );
    check(
        r#"{"type":"queue-operation","operation":"dequeue","sessionId":"s1"}"#,
        TranscriptFormat::ClaudeCode,
    );
    check(
        "{\"type\":\"new-kind\"}\n\n{\"type\":\"system\",\"sessionId\":\"s1\",\"uuid\":\"u\"}",
        TranscriptFormat::ClaudeCode,
    );
}

#[test]
fn chats_are_known_by_role_and_content() {
    check(r#"{"role":"user","content":"hello"}"#, LINES);
    check(
        r#"{"role":"assistant","content":null,"tool_calls":[]}"#,
        LINES,
    );
    check(r#"[{"role":"user","content":"hello"}]"#, DOCUMENT);
    check(
        "{\n \"session_id\": \"m1\",\n \"messages\": [\n  {\"role\":\"user\",\"content\":[]}\n ]\n}",
        DOCUMENT,
    );
}

#[test]
fn a_line_that_is_cut_off_is_understood_as_far_as_it_goes() {
    let long = "x".repeat(2 * HEAD);
    check(
        &format!(
            r#"{{"timestamp":"t","type":"session_meta","payload":{{"id":"r1","base_instructions":{{"text":"{long}"}}}}}}"#
        ),
        TranscriptFormat::Codex,
    );
    check(
        &format!(
            r#"{{"sessionId":"s1","type":"user","message":{{"role":"user","content":"{long}"}}}}"#
        ),
        TranscriptFormat::ClaudeCode,
    );
    check(
        &format!(r#"[{{"role":"user","content":"{long}"}}]"#),
        DOCUMENT,
    );
    check(
        &format!(
            "{{\n\"system_prompt\":\"x\",\n\"messages\":[{{\"role\":\"user\",\"content\":\"{long}\"}}]}}"
        ),
        DOCUMENT,
    );
}

#[test]
fn a_bad_first_line_hides_nothing() {
    check(
        "{\"type\":\"us\n{\"sessionId\":\"s1\",\"type\":\"user\",\"message\":{\"content\":\"a\"}}",
        TranscriptFormat::ClaudeCode,
    );
}

#[test]
fn other_agents_are_named() {
    check_unknown(
        r#"{"history":[{"role":"user","parts":[]}],"start_time":"2026-04-29T21:39:22Z"}"#,
        "Gemini CLI",
    );
    check_unknown(
        r#"{"id":"m","sessionID":"s","role":"user","time":{}}"#,
        "OpenCode",
    );
}

#[test]
fn what_is_not_known_is_described() {
    check_unknown("", "empty");
    check_unknown("# Notes\n", "not JSON");
    check_unknown("[1,2]", "no JSON objects");
    check_unknown(
        r#"{"name":"engine","version":"1"}"#,
        "JSON objects with name, version",
    );
    check_unknown(
        r#"{"type":"thing","a":1}"#,
        "JSON objects of type `thing` with type, a",
    );
    check_unknown(r#"{"agentType":"x","spawnDepth":1}"#, "agentType");
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = detect(&bytes);
    }

    #[test]
    fn a_rollout_is_known_wherever_it_is_cut_behind_its_kind(at in 60_usize..120) {
        let line = r#"{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"r1","cwd":"/home/ada/engine","git":{"branch":"main"}}}"#;
        proptest::prop_assert_eq!(detect(&line.as_bytes()[..at.max(75)]), TranscriptFormat::Codex);
    }
}
