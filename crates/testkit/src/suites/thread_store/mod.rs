//! The promises of a store of threads.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

mod blocks;
mod life_cycle;

use std::sync::Arc;

use daybook_domain::limits::{APPEND_EVENTS, THREAD_ENTRY};
use daybook_domain::seams::{Append, ImportStore, PlaceStore};
use daybook_domain::working::{
    BlockToken, BlockingReason, LogEntry, LogPage, NewThread, Thread, ThreadAppend,
    ThreadAppendOutcome, ThreadStore,
};
use daybook_domain::{EventSeq, NewEvent, Place, SessionId, StoreError, Timestamp};

pub use blocks::*;
pub use life_cycle::*;

use crate::fixtures::{EventFixture, RULES, append, at, event, events, meta, session};

/// Number of writers that append at once.
const APPENDERS: u64 = 16;
/// Number of events that each of them appends, one by one.
const APPENDS: u64 = 12;

fn thread_of(id: &SessionId) -> NewThread {
    NewThread {
        session: meta(id),
        custom: serde_json::Map::new(),
        rules: RULES,
        now: at(1),
    }
}

/// A store of threads whose imports can be undone and whose places can be listed.
pub trait ThreadSuiteStore: ThreadStore + ImportStore + PlaceStore {}

impl<T: ThreadStore + ImportStore + PlaceStore> ThreadSuiteStore for T {}

async fn create(store: &dyn ThreadStore, id: &SessionId) -> Thread {
    let created = store.create_thread(&thread_of(id)).await;
    created.expect("a thread can be created")
}

/// Events with an entry beside each: `<text>` beside the event with that text.
fn entries(id: &SessionId, events: Vec<NewEvent>, now: Timestamp) -> ThreadAppend {
    let beside = events.iter().map(|event| format!("<{}>", event.text));
    ThreadAppend {
        entries: beside.collect(),
        append: Arc::new(Append {
            now,
            ..append(id, events)
        }),
        ends: None,
    }
}

fn with_block_end(append: ThreadAppend, token: BlockToken) -> ThreadAppend {
    ThreadAppend {
        ends: Some(token),
        ..append
    }
}

async fn add(
    store: &dyn ThreadStore,
    id: &SessionId,
    events: Vec<NewEvent>,
) -> ThreadAppendOutcome {
    let appended = store.append_entries(&entries(id, events, at(1))).await;
    appended.expect("entries within bounds are stored")
}

fn stored_outcome(seqs: &[u64], before: u64) -> ThreadAppendOutcome {
    ThreadAppendOutcome::Stored {
        seqs: seqs.iter().map(|&seq| EventSeq(seq)).collect(),
        before: EventSeq(before),
        block: None,
    }
}

async fn page(store: &dyn ThreadStore, id: &SessionId) -> LogPage {
    let page = store.entries(id, EventSeq(0), 10_000, usize::MAX).await;
    page.expect("a thread's log can be read")
}

fn stored_entries(entries: &[LogEntry]) -> Vec<(u64, &str, Option<&str>)> {
    let told = entries.iter().map(|entry| {
        let event = &entry.event;
        (event.seq.0, event.text.as_str(), entry.entry.as_deref())
    });
    told.collect()
}

pub async fn entries_come_back_in_order_beside_their_events(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    assert_eq!(
        add(store, &id, events("word", 2)).await,
        stored_outcome(&[1, 2], 0)
    );
    assert_eq!(
        add(store, &id, events("more", 1)).await,
        stored_outcome(&[3], 2)
    );
    let page = page(store, &id).await;
    let expected = [
        (1, "word 1", Some("<word 1>")),
        (2, "word 2", Some("<word 2>")),
        (3, "more 1", Some("<more 1>")),
    ];
    assert_eq!(stored_entries(&page.entries), expected);
    assert_eq!((page.last, page.block), (EventSeq(3), None));
    let log = store.events(&id, EventSeq(0), EventSeq(9), 9, 999).await;
    let beside: Vec<_> = page.entries.into_iter().map(|entry| entry.event).collect();
    assert_eq!(log.unwrap(), beside);
}

pub async fn an_event_known_already_keeps_its_place_and_its_entry(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    add(store, &id, events("word", 3)).await;
    let mut again = entries(&id, events("word", 4), at(2));
    let append = Arc::make_mut(&mut again.append);
    append.events.swap(0, 3);
    append.events.push(append.events[0].clone());
    again.entries = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
    let appended = store.append_entries(&again).await.unwrap();
    assert_eq!(appended, stored_outcome(&[4, 2, 3, 1, 4], 3));
    let page = page(store, &id).await;
    let expected = [
        (1, "word 1", Some("<word 1>")),
        (2, "word 2", Some("<word 2>")),
        (3, "word 3", Some("<word 3>")),
        (4, "word 4", Some("a")),
    ];
    assert_eq!(stored_entries(&page.entries), expected);
    assert_eq!(
        store.append_entries(&again).await.unwrap(),
        stored_outcome(&[4, 2, 3, 1, 4], 4)
    );
}

pub async fn what_came_in_another_way_has_no_entry(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    add(store, &id, vec![event("one")]).await;
    let imported = append(&id, vec![event("two")]);
    assert_eq!(store.append(&imported).await.unwrap().last, EventSeq(2));
    let both = vec![event("two"), event("three")];
    assert_eq!(add(store, &id, both).await, stored_outcome(&[2, 3], 2));
    let page = page(store, &id).await;
    let expected = [
        (1, "one", Some("<one>")),
        (2, "two", None),
        (3, "three", Some("<three>")),
    ];
    assert_eq!(stored_entries(&page.entries), expected);
}

pub async fn a_page_of_entries_is_bounded_but_never_empty(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    // Each has 6 bytes of text, and an entry of 8 bytes.
    add(store, &id, events("word", 6)).await;
    let read = async |after, limit, bytes| {
        let page = store.entries(&id, EventSeq(after), limit, bytes).await;
        let page = page.unwrap();
        assert_eq!(page.last, EventSeq(6));
        page.entries
            .iter()
            .map(|entry| entry.event.seq.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(read(0, 10, 1_000).await, [1, 2, 3, 4, 5, 6]);
    assert_eq!(read(2, 2, 1_000).await, [3, 4]);
    assert_eq!(read(2, 10, 28).await, [3, 4]);
    assert_eq!(read(2, 10, 41).await, [3, 4]);
    assert_eq!(read(2, 10, 42).await, [3, 4, 5]);
    assert_eq!(read(2, 10, 0).await, [3]);
    assert_eq!(read(6, 10, 1_000).await, [0; 0]);
    assert_eq!(read(99, 10, 1_000).await, [0; 0]);
}

pub async fn entries_that_break_a_bound_are_refused_whole(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    let refused = async |append: &ThreadAppend| {
        let outcome = store.append_entries(append).await;
        assert!(
            matches!(outcome, Err(StoreError::Refused(_))),
            "{outcome:?}"
        );
    };
    let mut uneven = entries(&id, events("word", 2), at(1));
    uneven.entries = uneven.entries[..1].into();
    refused(&uneven).await;
    let many = events("word", APPEND_EVENTS as u64 + 1);
    refused(&entries(&id, many, at(1))).await;
    let mut long = entries(&id, events("word", 2), at(1));
    Arc::make_mut(&mut long.entries)[1] = "x".repeat(THREAD_ENTRY + 1);
    refused(&long).await;
    assert_eq!(page(store, &id).await.entries, []);
    Arc::make_mut(&mut long.entries)[1].pop();
    assert_eq!(
        store.append_entries(&long).await.unwrap(),
        stored_outcome(&[1, 2], 0)
    );
    let page = page(store, &id).await;
    assert_eq!(page.entries[1].entry.as_ref(), Some(&long.entries[1]));
}

pub async fn entries_do_all_that_an_append_does(store: &dyn ThreadSuiteStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    let said = event("use tabs")
        .with_time(at(7))
        .with_place("/home/ada/engine");
    add(store, &id, vec![said]).await;
    let found = store.session(&id).await.unwrap().unwrap();
    assert_eq!((found.events, found.last_at), (EventSeq(1), at(7)));
    let places = store.places(&id.tenant).await.unwrap();
    let there = Place {
        root: "/home/ada/engine".to_owned(),
        branch: Some("main".to_owned()),
    };
    assert_eq!(places, [(there, None)]);
    let unknown = Append {
        import: Some(daybook_domain::source::ImportNo(99)),
        ..append(&id, events("word", 1))
    };
    let unknown = ThreadAppend {
        append: unknown.into(),
        entries: ["<word 1>".to_owned()].into(),
        ends: None,
    };
    let outcome = store.append_entries(&unknown).await;
    assert!(
        matches!(outcome, Err(StoreError::NotFound(_))),
        "{outcome:?}"
    );
    assert_eq!(page(store, &id).await.last, EventSeq(1));
}

pub async fn whoever_appends_at_once_gets_each_a_place_without_holes(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    let id = &id;
    create(store, id).await;
    let work = |appender: u64| async move {
        let mut seqs = Vec::new();
        for n in 0..APPENDS {
            let word = format!("{appender} {n}");
            // Every fifth is followed by an append that is refused.
            if n % 5 == 0 {
                let nobody = entries(&session("nobody"), vec![event(&word)], at(1));
                let outcome = store.append_entries(&nobody).await;
                assert!(matches!(outcome, Err(StoreError::NotFound(_))));
            }
            match add(store, id, vec![event(&word)]).await {
                ThreadAppendOutcome::Stored { seqs: one, .. } => seqs.push((one[0], word)),
                ThreadAppendOutcome::BlockLost => panic!("no block was to end"),
            }
        }
        assert!(seqs.is_sorted(), "{seqs:?}");
        seqs
    };
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let appenders = (0..APPENDERS).map(|n| scope.spawn(move || crate::run(work(n))));
        let appenders: Vec<_> = appenders.collect();
        let seqs = appenders
            .into_iter()
            .map(|appender| appender.join().unwrap());
        seqs.flatten().collect()
    });
    all.sort();
    let page = page(store, id).await;
    let stored = page.entries.into_iter();
    let stored: Vec<_> = stored
        .map(|entry| (entry.event.seq, entry.event.text))
        .collect();
    assert_eq!(all, stored);
    let last = APPENDERS * APPENDS;
    assert!(all.iter().map(|(seq, _)| seq.0).eq(1..=last));
}
