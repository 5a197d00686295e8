//! A fuzz target of what hosts send to their hooks.

use daybook_testkit::mutation::parse_mutated_text;

use super::payload::HookPayload;

#[test]
fn fuzz_hook_payload() {
    let seeds = [
        include_str!("../../tests/it/hooks/claude-code/user-prompt-submit.json"),
        include_str!("../../tests/it/hooks/codex/stop.json"),
        include_str!("../../tests/it/hooks/cursor/session-start-new.json"),
    ];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated_text(&seeds, script, |text| {
            if let Ok(payload) = HookPayload::parse(text) {
                assert!(!payload.session.is_empty());
                let _ = payload.event_kind();
            }
        });
    });
}
