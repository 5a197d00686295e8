//! How threads are created, listed and deleted, and how their snapshots are kept.

use std::sync::Arc;

use daybook_domain::Tenant;
use daybook_domain::working::BlockOutcome;
use serde_json::json;

use super::*;
use crate::fixtures::imported;

async fn listed_threads(store: &dyn ThreadStore, limit: usize) -> Vec<String> {
    let threads = store.threads(&Tenant::local(), limit).await.unwrap();
    threads
        .into_iter()
        .map(|thread| thread.id.host_id)
        .collect()
}

/// Checks that no call of the store shows anything of a thread.
async fn is_not_there(store: &dyn ThreadStore, id: &SessionId) {
    let missing = |error: Option<StoreError>| matches!(error, Some(StoreError::NotFound(_)));
    let (until, now, token) = (at(900), at(99), BlockToken(1));
    assert_eq!(store.thread(id).await.unwrap(), None);
    let threads = store.threads(&id.tenant, 99).await.unwrap();
    assert!(threads.iter().all(|thread| thread.id != *id));
    let append = entries(id, events("nobody", 1), now);
    assert!(missing(store.append_entries(&append).await.err()));
    assert!(missing(
        store
            .append_entries(&with_block_end(append, token))
            .await
            .err()
    ));
    assert!(missing(store.entries(id, EventSeq(0), 9, 99).await.err()));
    let reason = BlockingReason::Paused;
    assert!(missing(store.block(id, reason, until, now).await.err()));
    assert!(!store.extend_block(id, token, until).await.unwrap());
    assert!(!store.unblock(id, token).await.unwrap());
    assert!(missing(
        store.put_snapshot(id, EventSeq(0), b"").await.err()
    ));
    assert_eq!(store.snapshot(id).await.unwrap(), None);
    assert!(!store.delete_thread(id, now).await.unwrap());
}

pub async fn a_thread_is_created_with_its_session_once(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    let mut new = thread_of(&id);
    new.session.user = Some("ada".to_owned());
    new.session.forked_from = Some("4dedaa01".to_owned());
    new.session.venue.room_id = Some("!pier".to_owned());
    new.custom
        .insert("colour".to_owned(), json!({"name": "blue", "nul": "\0"}));
    let created = store.create_thread(&new).await.unwrap();
    let expected = Thread {
        id: id.clone(),
        label: "7f78".to_owned(),
        created_at: at(1),
        updated_at: at(1),
        forked_from: Some("4dedaa01".to_owned()),
        user: Some("ada".to_owned()),
        venue: new.session.venue.clone(),
        last: EventSeq(0),
        block: None,
        custom: new.custom.clone(),
    };
    assert_eq!(created, expected);
    let session = store.session(&id).await.unwrap().unwrap();
    assert_eq!(
        (session.events, session.user.as_deref()),
        (EventSeq(0), Some("ada"))
    );
    let mut elsewhere = new.clone();
    elsewhere.session.venue.room_id = Some("!quay".to_owned());
    let refused = store.create_thread(&elsewhere).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    let again = NewThread {
        custom: serde_json::Map::new(),
        now: at(5),
        ..new
    };
    assert_eq!(store.create_thread(&again).await.unwrap(), expected);
    assert_eq!(store.thread(&id).await.unwrap(), Some(expected));
}

pub async fn a_thread_adopts_a_session_that_is_there(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    store.append(&append(&id, events("word", 3))).await.unwrap();
    let before = store.session(&id).await.unwrap();
    let thread = create(store, &id).await;
    assert_eq!((thread.last, thread.label.as_str()), (EventSeq(3), "7f78"));
    assert_eq!(store.session(&id).await.unwrap(), before);
    assert_eq!(
        add(store, &id, events("more", 1)).await,
        stored_outcome(&[4], 3)
    );
    let page = page(store, &id).await;
    let beside: Vec<bool> = page
        .entries
        .iter()
        .map(|entry| entry.entry.is_some())
        .collect();
    assert_eq!(beside, [false, false, false, true]);
}

pub async fn whoever_is_no_thread_does_not_exist(store: &dyn ThreadStore) {
    is_not_there(store, &session("nobody")).await;
    let id = session("7f78aa01");
    store.append(&append(&id, events("word", 3))).await.unwrap();
    is_not_there(store, &id).await;
    let log = store.event_ids(&id).await.unwrap();
    assert_eq!(log.len(), 3);
}

pub async fn a_deleted_thread_is_gone_and_its_log_is_not(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    add(store, &id, events("word", 3)).await;
    store
        .put_snapshot(&id, EventSeq(3), b"three")
        .await
        .unwrap();
    let reason = BlockingReason::Paused;
    let paused = store
        .block(&id, reason, Timestamp::MAX, at(2))
        .await
        .unwrap();
    assert!(matches!(paused, BlockOutcome::Blocked(_)));
    assert!(store.delete_thread(&id, at(3)).await.unwrap());
    is_not_there(store, &id).await;
    let refused = store.create_thread(&thread_of(&id)).await;
    assert!(
        matches!(refused, Err(StoreError::Refused(_))),
        "{refused:?}"
    );
    is_not_there(store, &id).await;
    let log = store.events(&id, EventSeq(0), EventSeq(9), 9, 999).await;
    assert_eq!(log.unwrap().len(), 3);
    // The session continues without it.
    let appended = store.append(&append(&id, events("more", 1))).await.unwrap();
    assert_eq!(appended.last, EventSeq(4));
    is_not_there(store, &id).await;
}

pub async fn the_thread_with_the_newest_entry_comes_first(store: &dyn ThreadStore) {
    for host_id in ["c", "a", "b", "d", "gone"] {
        create(store, &session(host_id)).await;
    }
    assert!(store.delete_thread(&session("gone"), at(2)).await.unwrap());
    assert_eq!(listed_threads(store, 10).await, ["a", "b", "c", "d"]);
    let first = entries(&session("c"), events("word", 1), at(5));
    store.append_entries(&first).await.unwrap();
    let elsewhere = Append {
        now: at(6),
        ..append(&session("d"), events("word", 1))
    };
    store.append(&elsewhere).await.unwrap();
    assert_eq!(listed_threads(store, 10).await, ["d", "c", "a", "b"]);
    assert_eq!(listed_threads(store, 2).await, ["d", "c"]);
    // An event that is known already adds no entry.
    let again = ThreadAppend {
        append: Arc::new(Append {
            now: at(9),
            ..Append::clone(&first.append)
        }),
        ..first
    };
    store.append_entries(&again).await.unwrap();
    assert_eq!(listed_threads(store, 1).await, ["d"]);
    let c = store.thread(&session("c")).await.unwrap().unwrap();
    assert_eq!((c.created_at, c.updated_at), (at(1), at(5)));
}

pub async fn snapshots_only_move_forward(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    add(store, &id, events("word", 5)).await;
    let put = async |seq, snapshot: &[u8]| {
        let put = store.put_snapshot(&id, EventSeq(seq), snapshot).await;
        put.unwrap();
        let kept = store.snapshot(&id).await.unwrap();
        kept.map(|(seq, bytes)| (seq.0, bytes))
    };
    assert_eq!(put(9, b"of entries that are not there").await, None);
    let large = vec![7; 300_000];
    assert_eq!(put(0, &large).await, Some((0, large)));
    assert_eq!(put(3, b"").await, Some((3, Vec::new())));
    assert_eq!(put(2, b"two").await, Some((3, Vec::new())));
    assert_eq!(put(3, b"again").await, Some((3, b"again".to_vec())));
    assert_eq!(put(5, b"five").await, Some((5, b"five".to_vec())));
    assert_eq!(put(6, b"six").await, Some((5, b"five".to_vec())));
}

pub async fn nobody_reaches_a_thread_behind_another_wall(store: &dyn ThreadStore) {
    let own = session("7f78aa01");
    let other = SessionId {
        tenant: Tenant("other".to_owned()),
        ..own.clone()
    };
    create(store, &own).await;
    add(store, &own, events("mine", 2)).await;
    store
        .put_snapshot(&own, EventSeq(2), b"mine")
        .await
        .unwrap();
    is_not_there(store, &other).await;
    create(store, &other).await;
    assert_eq!(
        add(store, &other, events("mine", 1)).await,
        stored_outcome(&[1], 0)
    );
    assert_eq!(store.snapshot(&other).await.unwrap(), None);
    let reason = BlockingReason::Paused;
    let paused = store
        .block(&other, reason, Timestamp::MAX, at(2))
        .await
        .unwrap();
    assert!(matches!(paused, BlockOutcome::Blocked(_)));
    assert!(store.delete_thread(&other, at(3)).await.unwrap());
    let page = page(store, &own).await;
    assert_eq!((page.last, page.block), (EventSeq(2), None));
    assert_eq!(listed_threads(store, 10).await, ["7f78aa01"]);
    let mut joined = entries(&own, events("word", 1), at(4));
    Arc::make_mut(&mut joined.append).source = Some(crate::fixtures::source("/logs/1", &other, 3));
    let refused = store.append_entries(&joined).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
}

/// A store with a thread of five entries, the last two of them from an import.
async fn with_import(
    store: &dyn ThreadSuiteStore,
    id: &SessionId,
) -> daybook_domain::source::ImportNo {
    create(store, id).await;
    add(store, id, events("word", 3)).await;
    let import = store.begin_import(&id.tenant, "all", at(2)).await.unwrap();
    let more = ThreadAppend {
        append: imported(id, events("more", 2), "/logs/1", import).into(),
        entries: ["<more 1>".to_owned(), "<more 2>".to_owned()].into(),
        ends: None,
    };
    assert_eq!(
        store.append_entries(&more).await.unwrap(),
        stored_outcome(&[4, 5], 3)
    );
    import
}

pub async fn an_undone_import_takes_entries_and_snapshots_along(store: &dyn ThreadSuiteStore) {
    for (host_id, seq, kept) in [("a", 5, false), ("b", 4, false), ("c", 3, true)] {
        let id = session(host_id);
        let import = with_import(store, &id).await;
        store
            .put_snapshot(&id, EventSeq(seq), b"seen")
            .await
            .unwrap();
        store.undo_import(&id.tenant, import, at(3)).await.unwrap();
        assert_eq!(
            store.snapshot(&id).await.unwrap().is_some(),
            kept,
            "{host_id}"
        );
        assert_eq!(page(store, &id).await.last, EventSeq(3));
        let others = vec![event("other")];
        assert_eq!(add(store, &id, others).await, stored_outcome(&[4], 3));
        let page = page(store, &id).await;
        assert_eq!(
            stored_entries(&page.entries)[3],
            (4, "other", Some("<other>"))
        );
    }
}

pub async fn an_undone_import_ends_a_compaction_that_saw_it(store: &dyn ThreadSuiteStore) {
    let reasons = [BlockingReason::Compacting, BlockingReason::Paused];
    for (host_id, reason) in ["a", "b"].into_iter().zip(reasons) {
        let id = session(host_id);
        let import = with_import(store, &id).await;
        let blocked = store.block(&id, reason, at(60), at(3)).await.unwrap();
        let BlockOutcome::Blocked(block) = blocked else {
            panic!("nobody else blocks it");
        };
        assert_eq!(block.at, EventSeq(5));
        store.undo_import(&id.tenant, import, at(3)).await.unwrap();
        let standing = page(store, &id).await.block;
        let finish = with_block_end(entries(&id, events("compacted", 1), at(4)), block.token);
        let finished = store.append_entries(&finish).await.unwrap();
        if reason == BlockingReason::Paused {
            assert_eq!(standing.map(|block| block.at), Some(EventSeq(3)));
            assert_eq!(finished, stored_outcome(&[4], 3));
        } else {
            assert_eq!(standing, None);
            assert_eq!(finished, ThreadAppendOutcome::BlockLost);
        }
    }
}

pub async fn a_thread_goes_with_its_session_and_no_token_comes_twice(store: &dyn ThreadSuiteStore) {
    let id = session("7f78aa01");
    let import = store.begin_import(&id.tenant, "all", at(1)).await.unwrap();
    let whole = imported(&id, events("word", 2), "/logs/1", import);
    store.append(&whole).await.unwrap();
    create(store, &id).await;
    let reason = BlockingReason::Compacting;
    let block = async || match store.block(&id, reason, at(60), at(3)).await.unwrap() {
        BlockOutcome::Blocked(block) => block,
        BlockOutcome::Already(block) => panic!("blocked already: {block:?}"),
    };
    let first = block().await;
    store.undo_import(&id.tenant, import, at(3)).await.unwrap();
    is_not_there(store, &id).await;
    let again = create(store, &id).await;
    assert_eq!((again.last, again.block), (EventSeq(0), None));
    assert!(block().await.token > first.token);
}
