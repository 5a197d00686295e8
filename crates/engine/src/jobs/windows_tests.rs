//! Tests that a log yields the same drafts and the same account, however it is cut into windows of whole
//! turns.

use daybook_domain::{
    Event, EventSeq, ExtractionRecord, Origin, Provenance, Session, SessionId, SessionKind, Tenant,
    Timestamp, ToolStatus,
};

use proptest::prelude::*;

use crate::consolidate::{SessionAccount, accounts};
use crate::extract::extractive::Extractive;
use crate::extract::extractive::properties::{event, numbered};
use crate::extract::window::keep_refusal_with_call;
use crate::extract::{Extractor, KnownMemory, Window};
use crate::transcripts::samples_tests::logs;

/// The combined results of all windows of a log.
struct Taught {
    /// The drafts in words, sorted.
    drafts: Vec<String>,
    /// The session's account.
    account: Vec<SessionAccount>,
}

/// Positions before which a window may end.
fn places_to_cut(events: &[Event]) -> Vec<usize> {
    let begins = |i: &usize| events[*i].origin == Origin::Human && !events[*i].sidechain;
    let turns = (1..events.len()).filter(begins);
    let mut places: Vec<usize> = turns
        .map(|turn| keep_refusal_with_call(events, turn))
        .collect();
    places.dedup();
    places
}

/// Extracts events in windows that end before each of `cuts`.
fn taught(events: &[Event], cuts: &[usize]) -> Taught {
    let mut ends = cuts.to_vec();
    ends.push(events.len());
    let (mut from, mut drafts, mut records) = (0, Vec::new(), Vec::new());
    for to in ends {
        if from == to {
            continue;
        }
        let look_back = usize::try_from(Extractive.look_back().events).unwrap_or(usize::MAX);
        let session = session(to);
        let extracted = Extractive.extract_window(Window {
            session: &session,
            before: &events[from.saturating_sub(look_back)..from],
            events: &events[from..to],
            known: KnownMemory::default(),
            is_redone: false,
        });
        drafts.extend(extracted.drafts.iter().map(|draft| format!("{draft:?}")));
        records.push(ExtractionRecord {
            session: session.id.clone(),
            label: session.label.clone(),
            from: EventSeq(from as u64 + 1),
            to: EventSeq(to as u64),
            digest: extracted.digest,
            provenance: Provenance::of("extractive/1"),
            at: Timestamp::ZERO,
        });
        from = to;
    }
    drafts.sort();
    let account = accounts(&records);
    Taught { drafts, account }
}

fn session(events: usize) -> Session {
    Session {
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
        events: EventSeq(events as u64),
    }
}

/// Largest transcript that is tested: all of them take minutes in a debug build.
const TRANSCRIPT: u64 = 512 * 1024;

#[test]
fn real_sessions_teach_the_same_however_they_are_cut() {
    let folders = ["claude-code", "codex"].into_iter();
    let logs: Vec<Vec<Event>> = folders
        .flat_map(|folder| logs(folder, TRANSCRIPT))
        .collect();
    let mut drafts = 0;
    for events in &logs {
        let once = taught(events, &[]);
        let turns = places_to_cut(events);
        for apart in 1..=3 {
            let cuts: Vec<usize> = turns.iter().copied().step_by(apart).collect();
            let cut = taught(events, &cuts);
            assert_eq!(cut.drafts, once.drafts, "cut every {apart} turns");
            assert_eq!(cut.account, once.account, "cut every {apart} turns");
        }
        drafts += once.drafts.len();
    }
    #[expect(clippy::print_stderr, reason = "the counts are what is asked for")]
    {
        eprintln!(
            "{} sessions teach {drafts} things, however they are cut",
            logs.len()
        );
    }
}

/// The events on lines of their own, except words that refuse a call: those are on its result's line.
fn laid_out(events: Vec<Event>) -> Vec<Event> {
    let mut events = numbered(events);
    for n in 0..events.len() {
        let refuses = n > 0
            && events[n].origin == Origin::Human
            && events[n - 1].origin == Origin::ToolResult
            && events[n - 1].status == Some(ToolStatus::Refused);
        events[n].line = match refuses {
            true => events[n - 1].line,
            false => u32::try_from(n + 1).unwrap_or(u32::MAX),
        };
    }
    events
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_log_teaches_the_same_however_it_is_cut(
        events in prop::collection::vec(event(), 1..60).prop_map(laid_out),
        cuts in prop::collection::vec(any::<bool>(), 60),
    ) {
        let once = taught(&events, &[]);
        let chosen: Vec<usize> = places_to_cut(&events)
            .into_iter()
            .zip(cuts)
            .filter_map(|(place, cut)| cut.then_some(place))
            .collect();
        let cut = taught(&events, &chosen);
        prop_assert_eq!(cut.drafts, once.drafts);
        prop_assert_eq!(cut.account, once.account);
    }
}
