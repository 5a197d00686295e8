//! Undoing an import, in the same steps as the stores on disk.

use std::collections::BTreeSet;

use daybook_domain::index::DocumentNo;
use daybook_domain::source::{ImportNo, UndoneImport};
use daybook_domain::{EventSeq, JobKey, SessionId, Timestamp};

use super::MemoryState;
use crate::bounds::STEP_ROWS;
use crate::evidence::TouchedObservations;

impl MemoryState {
    pub(super) fn undo_import(&mut self, import: ImportNo, now: Timestamp) -> UndoneImport {
        let mut undone = UndoneImport::default();
        let mut shortened = BTreeSet::new();
        while let Some((id, from, to)) = self.next_range(import) {
            let removed = self.remove_events(&id, (from, to), now, &mut undone);
            if removed {
                undone.sessions += 1;
                shortened.remove(&id);
            } else {
                shortened.insert(id);
            }
        }
        undone.shortened = shortened.len() as u64;
        self.restore_sources(import);
        self.imports.remove(&import.0);
        undone
    }

    /// Takes the last step of events from the ranges that an import added.
    fn next_range(&mut self, import: ImportNo) -> Option<(SessionId, u64, u64)> {
        let row = self.imports.get_mut(&import.0)?;
        let numbers = &self.numbers;
        let order = |range: &(SessionId, u64, u64)| (numbers.get(&range.0), range.1);
        let at = (0..row.ranges.len()).max_by_key(|&n| order(&row.ranges[n]))?;
        let (id, begin, end) = row.ranges[at].clone();
        let from = begin.max((end + 1).saturating_sub(STEP_ROWS as u64));
        if from > begin {
            row.ranges[at].2 = from - 1;
        } else {
            row.ranges.remove(at);
        }
        Some((id, from, end))
    }

    /// Deletes events with everything that rests on them. True when the session is gone.
    fn remove_events(
        &mut self,
        id: &SessionId,
        (from, to): (u64, u64),
        now: Timestamp,
        undone: &mut UndoneImport,
    ) -> bool {
        let gone: BTreeSet<EventSeq> = (from..=to).map(EventSeq).collect();
        let mut concerned = self.forget_windows(id, (EventSeq(from), EventSeq(to)));
        concerned.extend(self.forget_uses(id, &gone));
        undone.events += self.delete_events(id, &gone);
        if let Some(thread) = self.threads.get_mut(id) {
            thread.truncate(EventSeq(from));
        }
        let mut touched = TouchedObservations::default();
        self.cut_evidence(id, &gone, &mut touched);
        let was_polluted = self.is_polluted(id);
        let removed = self.rederive_session(id);
        if was_polluted && (removed || !self.is_polluted(id)) {
            self.clear_pollution(id, now);
        }
        let key = JobKey::Extract(id.clone());
        if removed {
            self.sessions.remove(id);
            self.forget_user(id);
            self.jobs.remove(&key);
            self.delete_gaps(&key);
        } else if let Some(mut job) = self.jobs.get(&key).cloned() {
            self.delete_gaps(&key);
            job.shorten(self.sessions[id].session.events.0, now);
            self.drop_unfinished_redo(&job);
            self.jobs.insert(key, job);
        }
        let settled = self.settle(&touched);
        undone.observations += settled.withdrawn;
        concerned.extend(settled.scopes);
        self.raise(concerned, now);
        removed
    }

    fn delete_events(&mut self, id: &SessionId, gone: &BTreeSet<EventSeq>) -> u64 {
        let Some(row) = self.sessions.get_mut(id) else {
            return 0;
        };
        self.remotes
            .retain(|shown| &shown.session != id || !gone.contains(&shown.seq));
        let before = row.events.len();
        let messages = gone.iter().filter_map(|seq| {
            let origin = row.events.get(seq)?.origin;
            Some(DocumentNo::event(row.no, *seq, origin))
        });
        let documents: Vec<DocumentNo> = messages.collect();
        row.events.retain(|seq, _| !gone.contains(seq));
        row.entries.retain(|seq, _| !gone.contains(seq));
        row.retracts.retain(|seq, _| !gone.contains(seq));
        row.ids.retain(|_, seq| !gone.contains(seq));
        let left = row.events.len();
        for doc in documents {
            self.forget_document(doc.0);
        }
        (before - left) as u64
    }

    /// Derives a session's row from its remaining events. True when there are none.
    fn rederive_session(&mut self, id: &SessionId) -> bool {
        let Some(row) = self.sessions.get_mut(id) else {
            return true;
        };
        let Some(last) = row.events.values().last() else {
            return true;
        };
        row.last_line = last.line;
        let last = last.seq;
        row.session.shorten(last);
        let dated = || {
            row.events
                .values()
                .map(|e| e.at)
                .filter(|&at| at != Timestamp::ZERO)
        };
        row.session.first_at = dated().min().unwrap_or(Timestamp::ZERO);
        row.session.last_at = dated().max().unwrap_or(Timestamp::ZERO);
        false
    }
}
