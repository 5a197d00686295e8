//! The promises of a session log.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

mod due;
mod imports;
mod names;
mod places;
mod pollution;

use daybook_domain::eligibility::Switches;
use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS, RETRACTED_AT_ONCE};
use daybook_domain::page::read_all;
use daybook_domain::seams::{Append, AppendOutcome, Store};
use daybook_domain::source::{TranscriptSource, UndoneImport};
use daybook_domain::{
    EventId, EventSeq, Evidence, JobKey, JobKind, Observation, Origin, PageRequest, Place,
    Priority, Project, RemoteEvidence, RemoteSource, RootRecord, ScopeKind, SessionId, SessionKind,
    StoreError, Tenant, Timestamp, ToolStatus,
};

pub use due::*;
pub use imports::*;
pub use names::*;
pub use places::*;
pub use pollution::*;

use crate::fixtures::*;

/// All events of a session.
pub(super) async fn log(store: &dyn Store, id: &SessionId) -> Vec<daybook_domain::Event> {
    let all = store
        .events(id, EventSeq(0), EventSeq(u64::MAX), 10_000, usize::MAX)
        .await;
    all.expect("a session can be read")
}

async fn add(store: &dyn Store, append: Append) -> AppendOutcome {
    store
        .append(&append)
        .await
        .expect("an append within bounds succeeds")
}

async fn numbers(store: &dyn Store, id: &SessionId) -> Vec<(u64, u32)> {
    let events = log(store, id).await;
    events
        .iter()
        .map(|event| (event.seq.0, event.line))
        .collect()
}

async fn texts(store: &dyn Store, id: &SessionId) -> Vec<String> {
    log(store, id)
        .await
        .into_iter()
        .map(|event| event.text)
        .collect()
}

/// Extracts a session to its end, with `observations` as the result.
///
/// # Panics
/// When the store refuses.
pub async fn extract(store: &dyn Store, id: &SessionId, observations: Vec<Observation>) {
    let claimed = store.claim(claim_of(JobKind::Extract, at(9_000), 10)).await;
    for claim in claimed.expect("jobs can be claimed") {
        if claim.token.job() != &JobKey::Extract(id.clone()) {
            continue;
        }
        let window = (claim.after + 1, claim.upto);
        let extraction = extraction(id, window, observations.clone());
        let _ = store
            .finish_extraction(&claim.token, &extraction, at(9_000))
            .await
            .expect("an extraction can be stored");
    }
}

pub async fn events_come_back_in_order_and_whole(store: &dyn Store) {
    let id = session("7f78aa01");
    let mut call = event("cargo test")
        .with_origin(Origin::ToolCall)
        .with_place("/home/ada/engine");
    call.tool = Some("Bash".to_owned());
    call.call = Some("call-1".to_owned());
    let mut result = event("failed")
        .with_origin(Origin::ToolResult)
        .with_time(Timestamp::ZERO);
    result.status = Some(ToolStatus::Failed);
    result.sidechain = true;
    result.place = Some(Place {
        root: "/home/ada/engine".to_owned(),
        branch: None,
    });
    let given = vec![event("run the tests"), call, result];
    add(store, append(&id, given.clone())).await;
    let events = log(store, &id).await;
    assert_eq!(events.len(), given.len());
    for (n, (event, given)) in events.iter().zip(given).enumerate() {
        assert_eq!(event.seq, EventSeq(n as u64 + 1));
        assert_eq!(event.origin, given.origin);
        assert_eq!(event.at, given.at);
        assert_eq!(event.text, given.text);
        assert_eq!(event.tool, given.tool);
        assert_eq!(event.call, given.call);
        assert_eq!(event.status, given.status);
        assert_eq!(event.sidechain, given.sidechain);
        assert_eq!(event.place, given.place);
    }
}

pub async fn an_event_seen_twice_is_one_event(store: &dyn Store) {
    let id = session("7f78aa01");
    let first = add(store, append(&id, events("word", 3))).await;
    assert_eq!((first.added, first.known, first.last), (3, 0, EventSeq(3)));
    let mut again = events("word", 5);
    again.push(again[4].clone());
    let second = add(store, append(&id, again)).await;
    assert_eq!(
        (second.added, second.known, second.last),
        (2, 4, EventSeq(5))
    );
    assert_eq!(
        texts(store, &id).await,
        ["word 1", "word 2", "word 3", "word 4", "word 5"]
    );
    let ids: Vec<EventId> = events("word", 7).iter().map(|event| event.id).collect();
    let known = store.event_ids(&id).await.unwrap();
    assert_eq!(
        known.iter().map(|(seq, _)| seq.0).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
    assert!(known.iter().zip(&ids).all(|((_, known), id)| known == id));
    // The same event in another session is another event.
    assert_eq!(store.event_ids(&session("other")).await.unwrap(), []);
    assert_eq!(
        add(store, append(&session("other"), events("word", 1)))
            .await
            .added,
        1
    );
}

pub async fn an_append_without_events_still_creates_its_session(store: &dyn Store) {
    let id = session("7f78aa01");
    let appended = add(store, append(&id, Vec::new())).await;
    assert_eq!(
        (appended.added, appended.known, appended.last),
        (0, 0, EventSeq(0))
    );
    let found = store
        .session(&id)
        .await
        .unwrap()
        .expect("the session exists");
    assert_eq!(
        (found.events, found.first_at),
        (EventSeq(0), Timestamp::ZERO)
    );
    assert!(store.session(&session("other")).await.unwrap().is_none());
    assert!(
        store
            .jobs_of_all_tenants(JobKind::Extract)
            .await
            .unwrap()
            .is_empty()
    );
}

pub async fn an_append_that_is_too_large_is_refused_whole(store: &dyn Store) {
    let id = session("7f78aa01");
    let many = append(&id, events("word", APPEND_EVENTS as u64 + 1));
    assert!(matches!(
        store.append(&many).await,
        Err(StoreError::Refused(_))
    ));
    let half = "x".repeat(APPEND_BYTES / 3);
    let heavy = ["a", "b", "c", "d"].map(|name| event(&format!("{name}{half}")));
    let heavy = append(&id, heavy.to_vec());
    assert!(matches!(
        store.append(&heavy).await,
        Err(StoreError::Refused(_))
    ));
    let all: Vec<u64> = (0..RETRACTED_AT_ONCE as u64).collect();
    let sweeping = [retraction("all", &all), retraction("one more", &[1])];
    assert!(matches!(
        store.append(&append(&id, sweeping.to_vec())).await,
        Err(StoreError::Refused(_))
    ));
    assert!(store.session(&id).await.unwrap().is_none());
    let whole = append(&id, events("word", APPEND_EVENTS as u64));
    assert_eq!(add(store, whole).await.added, APPEND_EVENTS as u64);
}

pub async fn what_events_retract_is_read_by_their_range(store: &dyn Store) {
    let (id, other) = (session("7f78aa01"), session("8000"));
    let mut said = events("word", 4);
    said.push(retraction("first", &[3, 1, 3]));
    said.push(retraction("nothing", &[]));
    said.push(retraction("second", &[4, 3]));
    add(store, append(&id, said.clone())).await;
    add(store, append(&other, vec![retraction("first", &[2])])).await;
    let retracted = async |id: &SessionId, after, upto| {
        let found = store.retracted_seqs(id, EventSeq(after), EventSeq(upto));
        let found = found.await.unwrap();
        found.into_iter().map(|seq| seq.0).collect::<Vec<u64>>()
    };
    assert_eq!(retracted(&id, 0, 7).await, [1, 3, 4]);
    assert_eq!(retracted(&id, 4, 5).await, [1, 3]);
    assert_eq!(retracted(&id, 5, 6).await, [0; 0]);
    assert_eq!(retracted(&id, 5, 99).await, [3, 4]);
    assert_eq!(retracted(&id, 0, 4).await, [0; 0]);
    assert_eq!(retracted(&other, 0, 7).await, [2]);
    assert_eq!(retracted(&session("unknown"), 0, 7).await, [0; 0]);
    // A known event is not added again, and retracts what it did.
    said[4].retracts = vec![EventSeq(2)];
    assert_eq!(add(store, append(&id, said)).await.added, 0);
    assert_eq!(retracted(&id, 0, 7).await, [1, 3, 4]);
}

pub async fn a_window_is_bounded_by_count_and_bytes_but_never_empty(store: &dyn Store) {
    let id = session("7f78aa01");
    add(store, append(&id, events("word", 9))).await;
    let window = async |after, upto, limit, bytes| {
        let read = store
            .events(&id, EventSeq(after), EventSeq(upto), limit, bytes)
            .await;
        let events = read.unwrap();
        events.iter().map(|event| event.seq.0).collect::<Vec<_>>()
    };
    assert_eq!(window(2, 5, 10, 1000).await, [3, 4, 5]);
    assert_eq!(window(2, 9, 2, 1000).await, [3, 4]);
    assert_eq!(window(2, 9, 10, 13).await, [3, 4]);
    assert_eq!(window(2, 9, 10, 0).await, [3]);
    assert_eq!(window(9, 20, 10, 1000).await, [0; 0]);
}

pub async fn several_events_of_one_line_share_its_number(store: &dyn Store) {
    let id = session("7f78aa01");
    let source = Some(source("/logs/a.jsonl", &id, 3));
    let lines = [
        event("a").with_line(1),
        event("b").with_line(4),
        event("c").with_line(4),
    ];
    let first = append(&id, lines.to_vec());
    add(
        store,
        Append {
            source: source.clone(),
            ..first
        },
    )
    .await;
    let rest = append(&id, vec![event("d").with_line(4), event("e").with_line(9)]);
    add(store, Append { source, ..rest }).await;
    assert_eq!(
        numbers(store, &id).await,
        [(1, 1), (2, 4), (3, 4), (4, 4), (5, 9)]
    );
}

pub async fn lines_of_a_second_file_are_moved_behind_the_first(store: &dyn Store) {
    let id = session("7f78aa01");
    let from = |path: &str, events| Append {
        source: Some(source(path, &id, 1)),
        ..append(&id, events)
    };
    add(
        store,
        from(
            "/logs/main",
            vec![event("a").with_line(1), event("b").with_line(10)],
        ),
    )
    .await;
    let side = vec![
        event("c").with_line(2),
        event("d").with_line(2),
        event("e").with_line(5),
    ];
    add(store, from("/logs/side", side)).await;
    assert_eq!(numbers(store, &id).await[2..], [(3, 11), (4, 11), (5, 14)]);
    // The same line number in another file is a coincidence; a greater one needs no move.
    add(store, from("/logs/other", vec![event("f").with_line(14)])).await;
    add(
        store,
        from(
            "/logs/other",
            vec![event("g").with_line(40), event("h").with_line(41)],
        ),
    )
    .await;
    assert_eq!(numbers(store, &id).await[5..], [(6, 15), (7, 40), (8, 41)]);
    add(
        store,
        from(
            "/logs/main",
            vec![event("i").with_line(11), event("j").with_line(12)],
        ),
    )
    .await;
    assert_eq!(numbers(store, &id).await[8..], [(9, 42), (10, 43)]);
}

pub async fn events_from_no_file_count_on(store: &dyn Store) {
    let id = session("7f78aa01");
    add(store, append(&id, events("word", 2))).await;
    let mixed = vec![event("a").with_line(7), event("b"), event("c").with_line(7)];
    add(store, append(&id, mixed)).await;
    let numbers = numbers(store, &id).await;
    assert_eq!(numbers, [(1, 1), (2, 2), (3, 7), (4, 8), (5, 9)]);
}

pub async fn lines_find_their_events(store: &dyn Store) {
    let id = session("7f78aa01");
    let lines = [1, 3, 3, 3, 8, 9, 20];
    let events = lines.iter().enumerate();
    let events = events.map(|(n, &line)| event(&format!("word {n}")).with_line(line));
    add(store, append(&id, events.collect())).await;
    add(
        store,
        append(&session("7f79"), vec![event("elsewhere").with_line(5)]),
    )
    .await;
    let cited = async |from, to, limit| {
        let read = store.events_at(&id, (from, to), limit).await;
        read.unwrap()
            .iter()
            .map(|event| event.seq.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(cited(3, 3, 10).await, [2, 3, 4]);
    assert_eq!(cited(2, 8, 10).await, [2, 3, 4, 5]);
    assert_eq!(cited(0, 100, 3).await, [1, 2, 3]);
    assert_eq!(cited(20, 20, 10).await, [7]);
    assert_eq!(cited(10, 19, 10).await, [0; 0]);
    assert_eq!(cited(21, u32::MAX, 10).await, [0; 0]);
}
