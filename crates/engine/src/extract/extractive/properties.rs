//! Properties for arbitrary events: no panic, evidence inside the window, texts within bounds.

use daybook_domain::{
    Event, Origin, Session, SessionId, SessionKind, Tenant, Timestamp, ToolStatus,
};
use proptest::prelude::*;
use strum::VariantArray;

use super::*;
use crate::extract::model::message_chars;
use crate::extract::window::{WindowLimits, window_len};

const PHRASES: [&str; 24] = [
    "no, don't use mocks",
    "always run the tests first",
    "let's do 2 for now",
    "limit it to 20",
    "tests, tests, tests",
    "You're right - ",
    "Which one?",
    "1. first\n2. second\n",
    "```",
    "\n\n",
    "git commit -m 'x' && git push",
    "cargo test",
    "Exit code 1\nerror: expected `a`, got `b`",
    "…",
    "{\"command\":\"make test\"}",
    "{\"file_path\":\"a.rs\",\"new_string\":\"limit = 20\"}",
    "[REDACTED]",
    "<!-- x -->",
    "| a | b |",
    "[Request interrupted by user]",
    "Ünïcödé ß İ ﬀ 🎉",
    "The fix: ",
    "our API is `x`",
    "\u{0}",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(&PHRASES[..]).prop_map(str::to_owned),
        "\\PC{0,40}",
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.join(" "))
}

/// An arbitrary event.
pub(crate) fn event() -> impl Strategy<Value = Event> {
    let tool = prop::sample::select(vec!["Bash", "Edit", "create_issue", "Read"]);
    let status = prop::option::of(prop::sample::select(ToolStatus::VARIANTS.to_vec()));
    let call = prop::option::of("[ab]");
    let origin = prop::sample::select(Origin::VARIANTS.to_vec());
    (origin, text(), tool, status, call, any::<bool>(), 0_u32..4).prop_map(
        |(origin, text, tool, status, call, side, line)| Event {
            seq: EventSeq(0),
            line,
            origin,
            at: Timestamp::ZERO,
            text,
            tool: Some(tool.to_owned()),
            call,
            status,
            sidechain: side && line == 0,
            place: None,
        },
    )
}

/// The events with sequence numbers.
pub(crate) fn numbered(mut events: Vec<Event>) -> Vec<Event> {
    for (n, event) in events.iter_mut().enumerate() {
        event.seq = EventSeq(n as u64 + 1);
    }
    events
}

fn read(events: &[Event], from: usize) -> ExtractorOutput {
    let session = Session {
        id: SessionId {
            tenant: Tenant::local(),
            agent: "a".into(),
            host_id: "h".into(),
        },
        label: "h".into(),
        kind: SessionKind::Root,
        memory_off: false,
        switched_off: false,
        kept_on: false,
        pollution: None,
        passed: Vec::new(),
        forked_from: None,
        user: None,
        surface: None,
        venue: daybook_domain::Venue::default(),
        first_at: Timestamp::ZERO,
        last_at: Timestamp::ZERO,
        events: EventSeq(events.len() as u64),
    };
    Extractive.extract_window(Window {
        session: &session,
        before: &events[..from],
        events: &events[from..],
        known: crate::extract::KnownMemory::default(),
        is_redone: false,
    })
}

fn fits(text: &str, most: usize) -> bool {
    !text.is_empty() && text.chars().count() <= most && !text.chars().any(char::is_control)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_is_said_drafts_are_bounded_and_rest_on_the_window(
        events in prop::collection::vec(event(), 0..30).prop_map(numbered),
        from in 0_usize..5,
    ) {
        let from = from.min(events.len());
        let found = read(&events, from);
        for draft in &found.drafts {
            prop_assert!(!draft.events.is_empty());
            prop_assert!(draft.events.is_sorted());
            prop_assert_eq!(draft.events.len(), draft.lines.len());
            for seq in &draft.events {
                prop_assert!(events.iter().any(|e| e.seq == *seq));
            }
            let last = draft.events.last();
            prop_assert!(events[from..].iter().any(|e| Some(&e.seq) == last));
            let most = if draft.stated { sentences::MAX_QUOTE } else { scored_draft::MAX_COMPOSED };
            prop_assert!(fits(&draft.text, most), "{:?}", draft.text);
            prop_assert!(draft.context.as_ref().is_none_or(|c| fits(c, sentences::MAX_QUOTE)));
            prop_assert!(draft.subject.as_ref().is_none_or(|s| fits(s, sentences::MAX_QUOTE)));
        }
        prop_assert!(found.digest.is_some() || found.drafts.is_empty());
        prop_assert_eq!(read(&events, from), found);
    }

    #[test]
    fn a_window_read_before_or_after_another_yields_the_same(
        one in prop::collection::vec(event(), 0..12).prop_map(numbered),
        other in prop::collection::vec(event(), 0..12).prop_map(numbered),
    ) {
        let first = read(&one, 0);
        let _ = read(&other, 0);
        prop_assert_eq!(read(&one, 0), first);
    }

    #[test]
    fn every_event_is_in_exactly_one_window_however_small_windows_are(
        events in prop::collection::vec(event(), 1..40).prop_map(numbered),
        most in 1_usize..50, messages in 1_usize..6, chars in 1_usize..300,
    ) {
        let limits = WindowLimits { events: most, messages, chars, ..WindowLimits::default() };
        let (mut left, mut taken) = (events.as_slice(), 0);
        while !left.is_empty() {
            let len = window_len(left, limits);
            prop_assert!(len >= 1 && len <= left.len().min(most));
            let shown = left[..len].iter().filter_map(message_chars);
            let shown: Vec<usize> = shown.collect();
            prop_assert!(shown.len() <= messages);
            prop_assert!(shown.len() == 1 || shown.iter().sum::<usize>() <= chars);
            left = &left[len..];
            taken += len;
        }
        prop_assert_eq!(taken, events.len());
    }
}
