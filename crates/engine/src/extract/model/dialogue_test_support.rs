//! Test dialogues: one event per line, `who: text`; indented lines continue the event above.

use daybook_domain::{
    Event, EventSeq, Origin, Place, Session, SessionId, SessionKind, Tenant, Timestamp, ToolStatus,
};

/// 27 January 2026, 10:00 UTC.
const MORNING: i64 = 1_769_508_000_000;

/// An event. `who` is one of `human`, `side human`, `assistant`, `call <tool>`, `ok`, `failed`,
/// `refused`, `harness`, `synthetic`, `recalled`.
pub(super) fn event(seq: u64, who: &str, text: &str) -> Event {
    let (origin, status) = match who {
        "human" | "side human" => (Origin::Human, None),
        "assistant" => (Origin::Assistant, None),
        "ok" => (Origin::ToolResult, Some(ToolStatus::Succeeded)),
        "failed" => (Origin::ToolResult, Some(ToolStatus::Failed)),
        "refused" => (Origin::ToolResult, Some(ToolStatus::Refused)),
        "harness" => (Origin::Harness, None),
        "synthetic" => (Origin::Synthetic, None),
        "recalled" => (Origin::Recalled, None),
        _ => (Origin::ToolCall, None),
    };
    Event {
        seq: EventSeq(seq),
        line: u32::try_from(seq).expect("a small number"),
        origin,
        at: Timestamp(MORNING + i64::try_from(seq).expect("a small number") * 1_000),
        text: text.to_owned(),
        tool: who.strip_prefix("call ").map(str::to_owned),
        call: None,
        status,
        sidechain: who.starts_with("side "),
        place: Some(Place {
            root: "/home/ada/ledger".to_owned(),
            branch: Some("main".to_owned()),
        }),
    }
}

/// Parses a dialogue into events.
pub(super) fn dialogue_events(dialogue: &str) -> Vec<Event> {
    let mut messages: Vec<(String, String)> = Vec::new();
    for line in dialogue.lines().filter(|line| !line.trim().is_empty()) {
        match (line.strip_prefix("  "), messages.last_mut()) {
            (Some(more), Some((_, text))) => {
                text.push('\n');
                text.push_str(more);
            }
            _ => {
                let (who, text) = line.split_once(": ").expect("a line is `who: words`");
                messages.push((who.to_owned(), text.to_owned()));
            }
        }
    }
    let numbered = messages.iter().zip(1..);
    numbered
        .map(|((who, text), seq)| event(seq, who, text))
        .collect()
}

/// A session with these events.
pub(super) fn session(events: &[Event]) -> Session {
    Session {
        id: SessionId {
            tenant: Tenant::local(),
            agent: "assistant".to_owned(),
            host_id: "s".to_owned(),
        },
        label: "5e7a".to_owned(),
        kind: SessionKind::Root,
        memory_off: false,
        switched_off: false,
        kept_on: false,
        pollution: None,
        passed: Vec::new(),
        forked_from: None,
        user: Some("ada".to_owned()),
        surface: None,
        venue: daybook_domain::Venue::default(),
        first_at: Timestamp::ZERO,
        last_at: Timestamp::ZERO,
        events: events.last().map_or(EventSeq(0), |event| event.seq),
    }
}
