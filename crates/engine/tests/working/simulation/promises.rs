//! What must hold after every step.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::working::{
    Block, BlockingReason, Entry, LogEntry, LogPage, State, ThreadStore, WorkingFlowSubType,
};
use daybook_domain::{EventSeq, SessionId, Timestamp};
use daybook_engine::working::manager::MemoryManager;
use daybook_testkit::simulation::Kept;

use crate::fixture::{covered, number_of};

macro_rules! must {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

/// What there was after the last step, and what was promised by then.
#[derive(Default)]
pub(super) struct Promises {
    /// What each entry of the log says, and what is kept beside it.
    log: Vec<(String, Option<String>)>,
    /// Where each wish is stored.
    places: BTreeMap<usize, EventSeq>,
    block: Option<Block>,
    /// The last wish that each process applied.
    applied: [EventSeq; 2],
}

impl Promises {
    /// A process begins anew.
    pub(super) fn restarted(&mut self, process: usize) {
        self.applied[process] = EventSeq(0);
    }

    /// Looks at what is stored, and at what each process applied since.
    pub(super) async fn check(
        &mut self,
        store: &dyn ThreadStore,
        thread: &SessionId,
        applied: [Vec<usize>; 2],
    ) -> Kept {
        let page = store.entries(thread, EventSeq(0), 1 << 20, 1 << 30);
        let page = page.await.map_err(|error| error.to_string())?;
        self.stored(&page)?;
        for (process, applied) in applied.into_iter().enumerate() {
            for number in applied {
                self.applied(process, number, page.block)?;
            }
        }
        self.block = page.block;
        Ok(())
    }

    /// The log only grows, no event is there twice, and a compaction ends the block that it worked under.
    fn stored(&mut self, page: &LogPage) -> Kept {
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
            if let Some(Ok(Entry::Compaction(compaction))) = read {
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

    /// Each process applies each event once, in the order of the log, and none while the thread stands still.
    fn applied(&mut self, process: usize, number: usize, block: Option<Block>) -> Kept {
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
    pub(super) fn acknowledged(&self, numbers: &[usize]) -> Kept {
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

    /// Whether the thread stands still.
    pub(super) fn stands_still(&self, now: Timestamp) -> bool {
        self.block.is_some_and(|block| block.stands(now))
    }

    /// When all is quiet: every wish that is stored stands, or something stands for it, once, in order; and
    /// the log folded again comes to the same.
    pub(super) async fn settled(
        &self,
        manager: &MemoryManager,
        thread: &SessionId,
        state: &State,
    ) -> Kept {
        let replayed = manager.replayed(thread).await;
        let replayed = replayed.map_err(|error| error.to_string())?;
        must!(
            &replayed == state,
            "the log folded again comes to another state"
        );
        let (mut found, mut standing) = (BTreeSet::new(), Vec::new());
        for chunk in state.chunks() {
            let origin = covered(manager, thread, &chunk.id).await;
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
