//! The promises that must hold after every step.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::working::{
    BlockingReason, LogEntry, LogPage, ThreadBlock, ThreadEntry, ThreadState, ThreadStore,
    WorkingFlowSubType,
};
use daybook_domain::{EventSeq, SessionId, Timestamp};
use daybook_testkit::simulation::CheckResult;
use daybook_working::manager::MemoryManager;

use crate::working_test_support::{covered_wishes, number_of};

macro_rules! must {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

/// The state after the last step, with which the next one is compared.
#[derive(Default)]
pub(super) struct ThreadPromises {
    /// The text of each event of the log, and the entry beside it.
    log: Vec<(String, Option<String>)>,
    /// The place of each stored wish.
    places: BTreeMap<usize, EventSeq>,
    block: Option<ThreadBlock>,
    /// The last wish that each process applied.
    applied: [EventSeq; 2],
}

impl ThreadPromises {
    /// Records that a process was restarted.
    pub(super) fn record_restart(&mut self, process: usize) {
        self.applied[process] = EventSeq(0);
    }

    /// Checks the stored log, and the events that each process applied since the last check.
    pub(super) async fn check(
        &mut self,
        store: &dyn ThreadStore,
        thread: &SessionId,
        applied: [Vec<usize>; 2],
    ) -> CheckResult {
        let page = store.entries(thread, EventSeq(0), 1 << 20, 1 << 30);
        let page = page.await.map_err(|error| error.to_string())?;
        self.check_stored(&page)?;
        for (process, applied) in applied.into_iter().enumerate() {
            for number in applied {
                self.check_applied(process, number, page.block)?;
            }
        }
        self.block = page.block;
        Ok(())
    }

    /// The log only grows, no event is stored twice, and a compaction ends the block under which it was made.
    fn check_stored(&mut self, page: &LogPage) -> CheckResult {
        let kept = |(entry, old): (&LogEntry, &(String, _))| {
            entry.event.text == old.0 && entry.entry == old.1
        };
        let known = self.log.len();
        must!(page.entries.len() >= known, "the log became shorter");
        must!(
            page.entries.iter().zip(&self.log).all(kept),
            "the log was changed"
        );
        for entry in &page.entries[known..] {
            let (seq, text) = (entry.event.seq, entry.event.text.clone());
            must!(seq.0 == self.log.len() as u64 + 1, "the log has a hole");
            if let Some(number) = number_of(&text) {
                let before = self.places.insert(number, seq);
                must!(before.is_none(), "wish {number} is stored twice");
            }
            self.log.push((text, entry.entry.clone()));
            let read = entry.entry.as_deref().map(serde_json::from_str);
            if let Some(Ok(ThreadEntry::Compaction(compaction))) = read {
                let ended = self.block.filter(|block| {
                    block.reason == BlockingReason::Compacting && block.at == compaction.at
                });
                must!(
                    ended.is_some(),
                    "the compaction at {} ended no block",
                    seq.0
                );
            }
        }
        Ok(())
    }

    /// Each process applies each event once, in the order of the log, and none while the thread is blocked.
    fn check_applied(
        &mut self,
        process: usize,
        number: usize,
        block: Option<ThreadBlock>,
    ) -> CheckResult {
        let place = self.places.get(&number);
        let place = *place.ok_or_else(|| format!("wish {number} is applied and not stored"))?;
        let last = self.applied[process];
        must!(
            place > last,
            "wish {number}, at {}, is applied behind {}",
            place.0,
            last.0
        );
        let stands = block.filter(|block| {
            let before = self.block.map(|before| before.token);
            before == Some(block.token) && place > block.at
        });
        must!(
            stands.is_none(),
            "wish {number} is applied while the thread stands still"
        );
        self.applied[process] = place;
        Ok(())
    }

    /// Wishes that were acknowledged together are stored, in that order.
    pub(super) fn check_acknowledged(&self, numbers: &[usize]) -> CheckResult {
        let places: Vec<_> = numbers.iter().map(|it| self.places.get(it)).collect();
        must!(
            places.iter().all(Option::is_some),
            "of {numbers:?}, acknowledged, some are not stored"
        );
        must!(
            places.is_sorted(),
            "{numbers:?} are stored in another order"
        );
        Ok(())
    }

    /// Whether the thread is blocked.
    pub(super) fn stands_still(&self, now: Timestamp) -> bool {
        self.block.is_some_and(|block| block.stands(now))
    }

    /// When no work is left: every stored wish is in the state, or a summary stands for it, once, in order; and
    /// folding the log again gives the same state.
    pub(super) async fn check_settled(
        &self,
        manager: &MemoryManager,
        thread: &SessionId,
        state: &ThreadState,
    ) -> CheckResult {
        let replayed = manager.replayed(thread).await;
        let replayed = replayed.map_err(|error| error.to_string())?;
        must!(
            &replayed == state,
            "the log folded again comes to another state"
        );
        let (mut found, mut standing) = (BTreeSet::new(), Vec::new());
        for chunk in state.chunks() {
            let origin = covered_wishes(manager, thread, &chunk.id).await;
            let origin = origin.ok_or_else(|| format!("{} has no origin", chunk.id.0))?;
            for number in origin {
                let place = self.places.get(&number);
                must!(found.insert(number), "wish {number} is there twice");
                if !chunk.is(WorkingFlowSubType::Compacted) {
                    standing.extend(place.copied());
                }
            }
        }
        must!(
            standing.is_sorted(),
            "chunks stand in another order than they came"
        );
        let lost: Vec<_> = self
            .places
            .keys()
            .filter(|number| !found.contains(number))
            .collect();
        must!(lost.is_empty(), "lost: {lost:?}");
        Ok(())
    }
}
