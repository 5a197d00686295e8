//! Blocks: what makes a thread's events wait, and for how long.

use std::sync::Arc;

use daybook_domain::working::{BlockOutcome, ThreadBlock};

use super::*;

async fn block(store: &dyn ThreadStore, id: &SessionId, until: u64, now: u64) -> ThreadBlock {
    let reason = BlockingReason::Compacting;
    match store.block(id, reason, at(until), at(now)).await.unwrap() {
        BlockOutcome::Blocked(block) => block,
        BlockOutcome::Already(block) => panic!("blocked already: {block:?}"),
    }
}

/// The block of a thread, which every way of reading it must agree on.
async fn visible_block(store: &dyn ThreadStore, id: &SessionId, now: u64) -> Option<ThreadBlock> {
    let block = page(store, id).await.block;
    let thread = store.thread(id).await.unwrap().unwrap();
    let threads = store.threads(&id.tenant, 10).await.unwrap();
    let listed = threads.into_iter().find(|listed| listed.id == *id);
    assert_eq!((thread.block, listed.unwrap().block), (block, block));
    block.filter(|block| block.stands(at(now)))
}

pub async fn a_thread_is_blocked_once(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    assert_eq!(visible_block(store, &id, 1).await, None);
    add(store, &id, events("word", 3)).await;
    let first = block(store, &id, 60, 10).await;
    assert_eq!(first.reason, BlockingReason::Compacting);
    assert_eq!((first.at, first.until), (EventSeq(3), at(60)));
    let paused = BlockingReason::Paused;
    let second = store.block(&id, paused, Timestamp::MAX, at(59)).await;
    assert_eq!(second.unwrap(), BlockOutcome::Already(first));
    assert_eq!(visible_block(store, &id, 59).await, Some(first));
    assert!(store.unblock(&id, first.token).await.unwrap());
    assert!(!store.unblock(&id, first.token).await.unwrap());
    assert_eq!(visible_block(store, &id, 59).await, None);
    let second = store.block(&id, paused, Timestamp::MAX, at(59)).await;
    let BlockOutcome::Blocked(second) = second.unwrap() else {
        panic!("the first block has ended");
    };
    assert_eq!((second.reason, second.until), (paused, Timestamp::MAX));
    assert!(second.token > first.token);
    assert!(!store.unblock(&id, first.token).await.unwrap());
    assert_eq!(visible_block(store, &id, 1_000_000).await, Some(second));
}

pub async fn a_block_whose_time_has_come_is_taken_over(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    let first = block(store, &id, 60, 10).await;
    assert_eq!(visible_block(store, &id, 60).await, None);
    add(store, &id, events("word", 2)).await;
    let second = block(store, &id, 120, 60).await;
    assert!(second.token > first.token);
    assert_eq!(second.at, EventSeq(2));
    let extended = store.extend_block(&id, first.token, at(900)).await;
    assert!(!extended.unwrap());
    assert!(!store.unblock(&id, first.token).await.unwrap());
    assert_eq!(visible_block(store, &id, 61).await, Some(second));
}

pub async fn a_block_whose_time_has_come_is_its_owners_until_somebody_goes_past_it(
    store: &dyn ThreadStore,
) {
    let id = session("7f78aa01");
    create(store, &id).await;
    let first = block(store, &id, 60, 10).await;
    // Reading the thread does not take the block over.
    assert_eq!(page(store, &id).await.block, Some(first));
    assert!(store.extend_block(&id, first.token, at(90)).await.unwrap());
    let until = at(90);
    assert_eq!(
        visible_block(store, &id, 61).await,
        Some(ThreadBlock { until, ..first })
    );
    let late = with_block_end(entries(&id, events("compacted", 1), at(91)), first.token);
    assert_eq!(
        store.append_entries(&late).await.unwrap(),
        stored_outcome(&[1], 0)
    );

    let second = block(store, &id, 160, 110).await;
    let past = entries(&id, events("word", 1), at(160));
    assert_eq!(
        store.append_entries(&past).await.unwrap(),
        stored_outcome(&[2], 1)
    );
    assert_eq!(page(store, &id).await.block, None);
    // It is too late though the caller's own clock is still within the block's time.
    let late = with_block_end(entries(&id, events("late", 1), at(159)), second.token);
    let lost = store.append_entries(&late).await.unwrap();
    assert_eq!(lost, ThreadAppendOutcome::BlockLost);
    assert!(
        !store
            .extend_block(&id, second.token, at(200))
            .await
            .unwrap()
    );
    assert!(!store.unblock(&id, second.token).await.unwrap());
}

pub async fn a_block_lasts_as_long_as_it_is_extended(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    let first = block(store, &id, 60, 10).await;
    let extend = |until| store.extend_block(&id, first.token, at(until));
    assert!(extend(90).await.unwrap());
    // A block never ends sooner than a caller was promised.
    assert!(extend(70).await.unwrap());
    let until = at(90);
    assert_eq!(
        visible_block(store, &id, 89).await,
        Some(ThreadBlock { until, ..first })
    );
    assert_eq!(visible_block(store, &id, 90).await, None);
    let stranger = BlockToken(first.token.0 + 1);
    assert!(!store.extend_block(&id, stranger, at(99)).await.unwrap());
    assert!(!store.unblock(&id, stranger).await.unwrap());
}

pub async fn an_append_is_stored_during_a_block_and_told_of_it(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    add(store, &id, events("word", 2)).await;
    let held = block(store, &id, 60, 10).await;
    let during = entries(&id, events("more", 1), at(59));
    let expected = ThreadAppendOutcome::Stored {
        seqs: vec![EventSeq(3)],
        before: EventSeq(2),
        block: Some(held),
    };
    assert_eq!(store.append_entries(&during).await.unwrap(), expected);
    // The position in the block does not move with the log.
    assert_eq!(visible_block(store, &id, 59).await, Some(held));
    let after = entries(&id, events("late", 1), at(60));
    assert_eq!(
        store.append_entries(&after).await.unwrap(),
        stored_outcome(&[4], 3)
    );
}

pub async fn a_finish_ends_its_block(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    add(store, &id, events("word", 2)).await;
    let held = block(store, &id, 60, 10).await;
    add(store, &id, events("more", 1)).await;
    let finish = with_block_end(entries(&id, events("compacted", 1), at(59)), held.token);
    assert_eq!(
        store.append_entries(&finish).await.unwrap(),
        stored_outcome(&[4], 3)
    );
    assert_eq!(visible_block(store, &id, 59).await, None);
    let again = store.append_entries(&finish).await.unwrap();
    assert_eq!(again, ThreadAppendOutcome::BlockLost);
    assert!(block(store, &id, 90, 59).await.token > held.token);
}

pub async fn a_finish_without_its_block_stores_nothing(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    let held = block(store, &id, 60, 10).await;
    let finish = |now, token| with_block_end(entries(&id, events("compacted", 2), at(now)), token);
    let lost = async |now, token| {
        let outcome = store.append_entries(&finish(now, token)).await.unwrap();
        assert_eq!(outcome, ThreadAppendOutcome::BlockLost);
        let page = page(store, &id).await;
        assert_eq!((page.last, page.entries), (EventSeq(0), Vec::new()));
    };
    let stranger = BlockToken(held.token.0 + 1);
    lost(59, stranger).await;
    assert_eq!(visible_block(store, &id, 59).await, Some(held));
    let second = block(store, &id, 120, 60).await;
    lost(61, held.token).await;
    assert_eq!(visible_block(store, &id, 61).await, Some(second));
    let outcome = store.append_entries(&finish(61, second.token)).await;
    assert_eq!(outcome.unwrap(), stored_outcome(&[1, 2], 0));
}

pub async fn a_finish_that_is_refused_ends_nothing(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(store, &id).await;
    let held = block(store, &id, 60, 10).await;
    let mut uneven = with_block_end(entries(&id, events("compacted", 2), at(11)), held.token);
    uneven.entries = uneven.entries[..1].into();
    let mut unknown = with_block_end(entries(&id, events("compacted", 2), at(11)), held.token);
    Arc::make_mut(&mut unknown.append).import = Some(daybook_domain::source::ImportNo(99));
    assert!(store.append_entries(&uneven).await.is_err());
    assert!(store.append_entries(&unknown).await.is_err());
    assert_eq!(visible_block(store, &id, 11).await, Some(held));
}

/// Of several concurrent attempts to block, one succeeds; so does one of several attempts to finish.
pub async fn of_those_who_block_at_once_one_does(store: &dyn ThreadStore) {
    let id = session("7f78aa01");
    let id = &id;
    create(store, id).await;
    let reason = BlockingReason::Compacting;
    let work = |n: u64| async move {
        match store.block(id, reason, at(60), at(10)).await.unwrap() {
            BlockOutcome::Blocked(_) => None,
            BlockOutcome::Already(held) => {
                let finish = entries(id, vec![event(&format!("{n}"))], at(11));
                let outcome = store
                    .append_entries(&with_block_end(finish, held.token))
                    .await;
                Some(outcome.unwrap())
            }
        }
    };
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let workers = (0..APPENDERS).map(|n| scope.spawn(move || crate::run(work(n))));
        let workers: Vec<_> = workers.collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    // An attempt that comes after a finish may block anew; then that block is finished, too.
    let blocked = outcomes.iter().filter(|outcome| outcome.is_none()).count();
    let finished = |outcome: &&Option<ThreadAppendOutcome>| {
        matches!(outcome, Some(ThreadAppendOutcome::Stored { .. }))
    };
    let finished = outcomes.iter().filter(finished).count();
    let standing = usize::from(visible_block(store, id, 11).await.is_some());
    assert_eq!(blocked, finished + standing, "{outcomes:?}");
    assert_eq!(page(store, id).await.last, EventSeq(finished as u64));
}

/// Checks that one handle of a database sees the changes of the other.
///
/// # Panics
/// When one does not.
pub async fn check_two_handles(one: &dyn ThreadStore, other: &dyn ThreadStore) {
    let id = session("7f78aa01");
    create(one, &id).await;
    add(other, &id, events("word", 2)).await;
    let held = block(one, &id, 60, 10).await;
    assert_eq!(held.at, EventSeq(2));
    assert_eq!(visible_block(other, &id, 11).await, Some(held));
    let reason = BlockingReason::Paused;
    let already = other.block(&id, reason, at(90), at(11)).await.unwrap();
    assert_eq!(already, BlockOutcome::Already(held));
    let during = entries(&id, events("more", 1), at(12));
    match other.append_entries(&during).await.unwrap() {
        ThreadAppendOutcome::Stored { block, .. } => assert_eq!(block, Some(held)),
        ThreadAppendOutcome::BlockLost => panic!("no block was to end"),
    }
    let taken = block(other, &id, 120, 60).await;
    let finish = with_block_end(entries(&id, events("compacted", 1), at(61)), held.token);
    let outcome = one.append_entries(&finish).await.unwrap();
    assert_eq!(outcome, ThreadAppendOutcome::BlockLost);
    assert!(one.unblock(&id, taken.token).await.unwrap());
    assert_eq!(visible_block(other, &id, 61).await, None);
    one.put_snapshot(&id, EventSeq(3), b"three").await.unwrap();
    let kept = other.snapshot(&id).await.unwrap();
    assert_eq!(kept, Some((EventSeq(3), b"three".to_vec())));
    assert!(other.delete_thread(&id, at(62)).await.unwrap());
    assert_eq!(one.thread(&id).await.unwrap(), None);
}
