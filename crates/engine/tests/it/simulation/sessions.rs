//! The sessions of a simulation, and their events.

use daybook_domain::seams::Append;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{NewEvent, Origin, SessionId, SessionKind, SessionMeta, Timestamp};
use daybook_testkit::fixtures::{EventFixture, append, event, session};
use daybook_testkit::simulation::SeededRandom;
use daybook_text::redact::Redactor;

/// Folders that belong to projects, and their keys.
pub(super) const ROOTS: [(&str, &str); 2] = [("/home/ada/a", "left"), ("/home/ada/b", "right")];
/// How many sessions there are.
pub(super) const SESSIONS: usize = 6;
/// Sessions that a reset may start.
pub(super) const SUCCESSORS: usize = 3;

/// Marks the text of an event at which extraction always fails.
pub(super) const POISON: &str = "poison";
/// Marks the text of an event at which the first tries fail.
pub(super) const FLAKY: &str = "flaky";

/// Session number `n`: of two agents and two people, one of them ephemeral.
pub(super) fn meta(n: usize) -> SessionMeta {
    let (agent, host_id, user, kind) = match n % (SESSIONS + SUCCESSORS) {
        0 => ("claude-code", "aaaa-one", None, SessionKind::Root),
        1 => ("claude-code", "bbbb-two", None, SessionKind::Root),
        2 => ("codex", "cccc-three", None, SessionKind::Root),
        3 => ("codex", "dddd-four", Some("grace"), SessionKind::Root),
        4 => ("codex", "eeee-five", None, SessionKind::Ephemeral),
        5 => ("claude-code", "ffff-six", Some("grace"), SessionKind::Root),
        6 => ("claude-code", "gggg-seven", None, SessionKind::Root),
        7 => ("codex", "hhhh-eight", None, SessionKind::Root),
        _ => ("claude-code", "iiii-nine", None, SessionKind::Root),
    };
    SessionMeta {
        id: SessionId {
            agent: agent.to_owned(),
            ..session(host_id)
        },
        kind,
        memory_off: false,
        forked_from: None,
        user: user.map(str::to_owned),
        surface: None,
        venue: daybook_domain::Venue::default(),
    }
}

/// Event number `n` of a session. Its text depends on nothing else, so that a repeated event is recognized.
pub(super) fn session_event(session: usize, n: u64, at: Timestamp) -> NewEvent {
    let mut random = SeededRandom::of(((session as u64) << 32) | n);
    let outcome = match random.below(30) {
        0 => POISON,
        1 | 2 => FLAKY,
        _ => "plain",
    };
    // One word that no other event has, so that nothing is merged.
    let word = format!("x{:012x}", random.draw() >> 16);
    let origin = match random.below(3) {
        0 => Origin::Assistant,
        _ => Origin::Human,
    };
    let said = event(&format!("{word} {outcome}"))
        .with_origin(origin)
        .with_time(at);
    match session % 3 {
        0 => said,
        n => said.with_place(ROOTS[n - 1].0),
    }
}

/// Events `from` up to `to` of a session, as one append.
pub(super) fn append_of(session: usize, (from, to): (u64, u64), now: Timestamp) -> Append {
    let events = (from..=to)
        .map(|n| session_event(session, n, now))
        .collect();
    let meta = meta(session);
    Append {
        session: meta.clone(),
        patience: DueLimits::default(),
        urgent: None,
        rules: Redactor::standard().revision(),
        now,
        ..append(&meta.id, events)
    }
}
