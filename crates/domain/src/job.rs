//! Who may work on a job, when, and how far it has been done.
//!
//! A job is a row `(kind, key)` with an input watermark and a done watermark. It is due when its
//! input is ahead of its done, no live lease is held, and its time has come; nothing else decides.
//! Every change of a row is one of the transitions below: pure functions of the row and a given
//! `now`. Stores load a row, apply one, and save it in one transaction, so they cannot differ.
//!
//! Not here: what a job does. That is `engine`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::{FailedTry, Failure, FailureClass, Gap, RetryPolicy};
use crate::ids::{JobKey, LeaseToken};
use crate::limits::VANISHED;
use crate::time::Timestamp;
use crate::trigger::{DueMark, Priority};

/// A live or lapsed claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Which claim of the job this is.
    pub generation: u64,
    /// The holder may work until then; a heartbeat moves it on.
    pub until: Timestamp,
    /// Who holds it, for people and for the search for vanished workers.
    pub holder: String,
    /// The input watermark that was granted: the holder reads no further.
    pub upto: u64,
    /// The deadline of what arrived after the claim.
    pub arrived: Option<Timestamp>,
    /// Turns that began after the claim.
    pub turns: u32,
}

/// One row of background work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Which job.
    pub key: JobKey,
    /// Whose words it works on, where that is known; decides whose turn its claim takes.
    pub user: Option<String>,
    /// How far there is something to do. Falls only when an undone import cuts the log back.
    pub input: u64,
    /// How far it has been done. Falls only when a redo begins.
    pub done: u64,
    /// Raised by each redo; what a generation yields replaces the one before when it has caught up.
    pub redo: u32,
    /// Where a running redo has caught up.
    pub redo_until: Option<u64>,
    /// Turns that began since everything known was done.
    pub turns: u32,
    /// Due then at the earliest.
    pub idle_due: Timestamp,
    /// Due then at the latest, while input is ahead.
    pub deadline: Timestamp,
    /// Which due job is taken first.
    pub priority: Priority,
    /// Not before then.
    pub retry_at: Option<Timestamp>,
    /// The wait comes from an outage, or from a cap: newer input does not shorten it.
    pub outage: bool,
    /// Tries that the present window has spent.
    pub tries: u32,
    /// Failures in a row; each doubles the wait.
    pub failures: u32,
    /// Claims in a row whose worker vanished.
    pub vanished: u32,
    /// Most positions that the next claim grants, while a failing range is searched.
    pub span: Option<u64>,
    /// The search ends when done has passed this.
    pub suspect_to: u64,
    /// The newest claim that has not ended.
    pub lease: Option<Lease>,
    /// Claims so far.
    pub claims: u64,
    /// The last failure, until progress.
    pub last_failure: Option<Failure>,
}

/// A granted claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedJob {
    /// Proof of it.
    pub token: LeaseToken,
    /// Work starts after this position.
    pub after: u64,
    /// And reads no further than this one.
    pub upto: u64,
    /// The generation that results belong to.
    pub redo: u32,
    /// A redo has not caught up yet: what the generation before taught holds meanwhile.
    pub is_redone: bool,
    /// This one position has ended so many workers that it is not read again: the holder of the claim
    /// reports a failure, and the position becomes a gap.
    pub deadly: bool,
}

/// How a finish ended.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishOutcome {
    /// Everything known is done.
    Complete,
    /// Done moved on; input is still ahead.
    StillDue,
    /// The lease had lapsed or passed to another: nothing was changed.
    LeaseLost,
}

/// How a failure ended.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailOutcome {
    /// The same window again, then.
    RetryAt(Timestamp),
    /// Tries are spent: smaller windows from now on, until the failing range is found.
    Narrowed {
        /// Most positions that the next claim grants.
        span: u64,
        /// Not before then.
        retry_at: Timestamp,
    },
    /// The smallest failing range became a gap, and the job continues behind it.
    GaveUp(Gap),
    /// The lease had lapsed or passed to another: nothing was changed.
    LeaseLost,
}

impl Job {
    /// A job that nothing has been marked for yet.
    #[must_use]
    pub fn new(key: JobKey) -> Self {
        Self {
            key,
            user: None,
            input: 0,
            done: 0,
            redo: 0,
            redo_until: None,
            turns: 0,
            idle_due: Timestamp::MAX,
            deadline: Timestamp::MAX,
            priority: Priority::Low,
            retry_at: None,
            outage: false,
            tries: 0,
            failures: 0,
            vanished: 0,
            span: None,
            suspect_to: 0,
            lease: None,
            claims: 0,
            last_failure: None,
        }
    }

    /// Whether input is ahead of done, regardless of leases and times.
    #[must_use]
    pub fn is_ahead(&self) -> bool {
        self.input > self.done
    }

    /// When the job may next be claimed; `None` while there is nothing to do, or it is set aside. A lease delays it to
    /// the lease's end, so a vanished worker's job comes back by itself.
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        let due = self.idle_due.min(self.deadline);
        let due = due.max(self.retry_at.unwrap_or(due));
        let due = due.max(self.lease.as_ref().map_or(due, |lease| lease.until));
        (self.is_ahead() && due < Timestamp::MAX).then_some(due)
    }

    /// Whether it waits for room under a cap.
    #[must_use]
    pub fn is_at_cap(&self) -> bool {
        let is = |failure: &Failure| failure.class == FailureClass::AtCap;
        self.is_ahead() && self.last_failure.as_ref().is_some_and(is)
    }

    /// Whether it waits at `now` after a failure for longer than `retry` allows: it was parked under
    /// a longer bound. A cap's period may be that long, and is not meant.
    #[must_use]
    pub fn is_overlong_wait(&self, now: Timestamp, retry: &RetryPolicy) -> bool {
        let longest = retry.retry_after_most.max(retry.most);
        let is_overlong = |at: Timestamp| at > now.plus(longest);
        self.is_ahead() && !self.is_at_cap() && self.retry_at.is_some_and(is_overlong)
    }

    /// Whether a live lease holds the job at `now`.
    #[must_use]
    pub fn is_leased(&self, now: Timestamp) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.until > now)
    }

    /// Raises the input and sets when it is due. Safe to repeat.
    pub fn mark(&mut self, mark: DueMark) {
        if mark.input > self.input {
            self.tries = 0;
            self.turns = self.turns.saturating_add(mark.turns);
            if !self.outage {
                self.retry_at = None;
            }
        }
        let mut waiting = self.turns;
        if let Some(lease) = self.lease.as_mut().filter(|lease| mark.input > lease.upto) {
            if mark.input > self.input {
                lease.turns = lease.turns.saturating_add(mark.turns);
            }
            let arrived = lease.arrived.unwrap_or(mark.deadline);
            lease.arrived = Some(arrived.min(mark.deadline));
            waiting = lease.turns;
        }
        self.input = self.input.max(mark.input);
        if self.is_ahead() {
            let enough = waiting > mark.turn_limit;
            self.idle_due = if enough { mark.active } else { mark.idle_due };
            self.deadline = self.deadline.min(mark.deadline);
            self.priority = self.priority.max(mark.priority);
        }
    }

    /// Makes waiting work due at `now` with at least this priority; nothing when there is none.
    pub fn hasten(&mut self, now: Timestamp, priority: Priority) {
        if self.is_ahead() {
            self.deadline = self.deadline.min(now);
            self.priority = self.priority.max(priority);
        }
    }

    /// Makes waiting work at least so urgent; leaves when it is due.
    pub fn raise(&mut self, priority: Priority) {
        if self.is_ahead() {
            self.priority = self.priority.max(priority);
        }
    }

    /// Grants the job to `holder` when it is due, and `None` when it is not.
    pub fn claim(&mut self, holder: &str, now: Timestamp, lease: Duration) -> Option<ClaimedJob> {
        if self.due_at().is_none_or(|due| due > now) {
            return None;
        }
        if self.lease.take().is_some() {
            self.note_vanished();
        }
        self.claims += 1;
        let most = self
            .span
            .map_or(self.input, |span| self.done.saturating_add(span));
        let upto = self.input.min(most);
        self.lease = Some(Lease {
            generation: self.claims,
            until: now.plus(lease),
            holder: holder.to_owned(),
            upto,
            arrived: None,
            turns: 0,
        });
        let token = LeaseToken::issue(self.key.clone(), self.claims);
        Some(ClaimedJob {
            token,
            after: self.done,
            upto,
            redo: self.redo,
            is_redone: self.redo_until.is_some(),
            deadly: self.is_deadly(),
        })
    }

    /// Whether `token` still owns the job at `now`.
    #[must_use]
    pub fn is_held_by(&self, token: &LeaseToken, now: Timestamp) -> bool {
        let newest = |lease: &Lease| lease.generation == token.generation() && lease.until > now;
        token.job() == &self.key && self.lease.as_ref().is_some_and(newest)
    }

    /// Moves the lease's end to `now + lease`; false when the token no longer owns the job.
    pub fn heartbeat(&mut self, token: &LeaseToken, now: Timestamp, lease: Duration) -> bool {
        let held = self.is_held_by(token, now);
        if let Some(live) = self.lease.as_mut().filter(|_| held) {
            live.until = live.until.max(now.plus(lease));
        }
        held
    }

    /// Gives the job back unfinished, at no cost.
    pub fn release(&mut self, token: &LeaseToken, now: Timestamp) -> bool {
        let held = self.is_held_by(token, now);
        if held {
            self.lease = None;
        }
        held
    }

    /// Takes the lease from a holder that is known to be gone. Counts, but spends no try until it
    /// has happened [`VANISHED`] times in a row.
    pub fn abandon(&mut self, holder: &str) -> bool {
        let gone = self
            .lease
            .as_ref()
            .is_some_and(|lease| lease.holder == holder);
        if gone {
            self.lease = None;
            self.note_vanished();
        }
        gone
    }

    /// Advances done to `read_upto`, the last position actually read; never back, never past what
    /// was granted.
    pub fn finish(&mut self, token: &LeaseToken, read_upto: u64, now: Timestamp) -> FinishOutcome {
        if !self.is_held_by(token, now) {
            return FinishOutcome::LeaseLost;
        }
        let Some(lease) = self.lease.take() else {
            return FinishOutcome::LeaseLost;
        };
        let read_upto = read_upto.min(lease.upto);
        if read_upto > self.done {
            self.progress(read_upto);
        }
        if !self.is_ahead() {
            self.rest();
            return FinishOutcome::Complete;
        }
        let all_granted_is_done = self.done >= lease.upto && self.span.is_none();
        if all_granted_is_done {
            self.turns = lease.turns;
        }
        // What was granted and not read is as old as before: it is due at once. What came after
        // the claim has a deadline and turns of its own.
        self.deadline = match lease.arrived {
            Some(arrived) if all_granted_is_done => arrived,
            _ => now,
        };
        FinishOutcome::StillDue
    }

    /// Ends a claim that did not work out. It is tried again when [`FailedTry::wait`] is over, and not
    /// before its back-off.
    pub fn fail(&mut self, token: &LeaseToken, failed: &FailedTry, now: Timestamp) -> FailOutcome {
        if !self.is_held_by(token, now) {
            return FailOutcome::LeaseLost;
        }
        let hopeless = self.is_deadly();
        let Some(lease) = self.lease.take() else {
            return FailOutcome::LeaseLost;
        };
        let failure = failed.failure.bounded();
        let at_cap = failure.class == FailureClass::AtCap;
        self.outage = at_cap || failure.class == FailureClass::Outage;
        // Being at a cap shows nothing about the provider, so it neither counts in a row of failures nor ends one.
        self.failures = self.failures.saturating_add(u32::from(!at_cap));
        let backoff = failed.retry.wait(self.failures.max(1), failed.jitter);
        let longest = failed.retry.longest_wait(failure.class);
        let retry_at = now.plus(backoff).max(failed.wait.over(now, longest));
        self.retry_at = Some(retry_at);
        self.last_failure = Some(failure.clone());
        if self.outage {
            return FailOutcome::RetryAt(retry_at);
        }
        self.tries = self.tries.saturating_add(1);
        if self.tries < failed.retry.tries && !hopeless {
            return FailOutcome::RetryAt(retry_at);
        }
        self.tries = 0;
        let granted = lease.upto.saturating_sub(self.done);
        if granted > 1 {
            let span = granted.div_ceil(2);
            self.span = Some(span);
            self.suspect_to = self.suspect_to.max(lease.upto);
            return FailOutcome::Narrowed { span, retry_at };
        }
        let gap = self.give_up(lease.upto, failure, now, &failed.engine);
        self.span = None;
        self.deadline = if self.is_ahead() { now } else { Timestamp::MAX };
        FailOutcome::GaveUp(gap)
    }

    /// Gives up all that waits: it becomes a gap, and a holder of the job loses its lease. `None` when
    /// nothing waits.
    pub fn cancel(&mut self, now: Timestamp, engine: &str) -> Option<Gap> {
        if !self.is_ahead() {
            return None;
        }
        let failure = Failure {
            class: FailureClass::Cancelled,
            message: "given up by hand".to_owned(),
        };
        let gap = self.give_up(self.input, failure, now, engine);
        self.lease = None;
        self.span = None;
        self.suspect_to = 0;
        self.rest();
        Some(gap)
    }

    /// Makes what waits due now, whatever failed before, with all its tries. A live lease stays.
    pub fn retry(&mut self, now: Timestamp) {
        self.retry_at = None;
        self.outage = false;
        self.failures = 0;
        self.tries = 0;
        self.hasten(now, self.priority);
    }

    /// Moves past everything up to `upto` without doing it: memory is off, and events that arrive
    /// meanwhile are never learned. A holder of the job loses its lease, and a redo under way is given up:
    /// what it was to replace stays, since nothing new was learned in its place.
    ///
    /// Returns the first and the last position that it moved past for the first time, if any.
    pub fn pass(&mut self, upto: u64) -> Option<(u64, u64)> {
        let from = self.done.max(self.redo_until.unwrap_or(0)) + 1;
        self.redo_until = None;
        self.input = self.input.max(upto);
        self.progress(self.input);
        self.lease = None;
        self.span = None;
        self.suspect_to = 0;
        self.rest();
        (from <= self.input).then_some((from, self.input))
    }

    /// Gives the job back until `until`, or until it is marked again: its session or scope may not be worked on now,
    /// and nothing of it is skipped. With [`Timestamp::MAX`] only a mark makes it due.
    pub fn set_aside(&mut self, token: &LeaseToken, until: Timestamp, now: Timestamp) -> bool {
        let held = self.release(token, now);
        if held {
            self.idle_due = until;
            self.deadline = until;
        }
        held
    }

    fn give_up(&mut self, to: u64, failure: Failure, now: Timestamp, engine: &str) -> Gap {
        let gap = Gap {
            job: self.key.clone(),
            from: self.done + 1,
            to,
            failure,
            at: now,
            engine: engine.to_owned(),
        };
        self.progress(to);
        gap
    }

    /// Nothing waits any more.
    fn rest(&mut self) {
        self.turns = 0;
        self.deadline = Timestamp::MAX;
        self.priority = Priority::Low;
    }

    /// Begins again from the first position; what the new generation yields replaces the old when
    /// it has caught up. Nothing when nothing was ever done.
    pub fn begin_redo(&mut self, now: Timestamp) {
        if self.done == 0 {
            return;
        }
        self.redo += 1;
        self.redo_until = Some(self.redo_until.unwrap_or(0).max(self.done));
        self.done = 0;
        self.lease = None;
        self.span = None;
        self.suspect_to = 0;
        self.retry_at = None;
        self.outage = false;
        self.tries = 0;
        self.idle_due = now;
        self.deadline = now;
    }

    /// The log now ends at `last`, because an import was undone: what remains is done anew. A holder of
    /// the job loses its lease, because the positions it reads may hold other events by now.
    pub fn shorten(&mut self, last: u64, now: Timestamp) {
        self.begin_redo(now);
        self.lease = None;
        self.span = None;
        self.suspect_to = 0;
        self.input = self.input.min(last);
        self.redo_until = self.redo_until.map(|until| until.min(last));
    }

    /// Begins again from the first position up to `input`, due at `now`: what was done so far was done by other
    /// rules. A holder of the job loses its lease.
    pub fn start_over(&mut self, input: u64, now: Timestamp) {
        self.begin_redo(now);
        self.redo_until = None;
        self.lease = None;
        self.span = None;
        self.suspect_to = 0;
        self.input = input;
        self.mark(DueMark::at_once(input, now, Priority::Low));
    }

    /// What was done left no results, because a person removed them all: it counts as done all the same, and a redo that
    /// was running ends. A holder of the job loses its lease.
    pub fn keep_as_done(&mut self) {
        self.done = self.done.max(self.redo_until.take().unwrap_or(0));
        self.input = self.input.max(self.done);
        self.lease = None;
        self.span = None;
        self.suspect_to = 0;
    }

    /// Takes the lease away from a holder that reads what has changed meanwhile. The job is as due as before, and no
    /// try is spent.
    pub fn interrupt(&mut self) {
        self.lease = None;
    }

    /// Whether a redo has caught up with the generation that it replaces; answers true once.
    pub fn take_caught_up(&mut self) -> bool {
        let caught_up = self.redo_until.is_some_and(|until| self.done >= until);
        if caught_up {
            self.redo_until = None;
        }
        caught_up
    }

    fn progress(&mut self, upto: u64) {
        self.done = upto;
        self.tries = 0;
        self.failures = 0;
        self.vanished = 0;
        self.retry_at = None;
        self.outage = false;
        self.last_failure = None;
        if self.done >= self.suspect_to {
            self.span = None;
        }
    }

    /// Counts a worker that vanished. After [`VANISHED`] of them in a row the window is halved, as
    /// after spent tries; a single position that keeps ending its workers is left to the next
    /// claim's holder to fail, which gives it up at once.
    fn note_vanished(&mut self) {
        self.vanished += 1;
        if self.vanished <= VANISHED {
            return;
        }
        self.last_failure = Some(Failure {
            class: FailureClass::Vanished,
            message: format!(
                "{} workers in a row ended while they held this job",
                self.vanished
            ),
        });
        let ahead = self.input - self.done;
        let granted = self.span.map_or(ahead, |span| span.min(ahead));
        if granted > 1 {
            self.vanished = 0;
            self.span = Some(granted.div_ceil(2));
            self.suspect_to = self.suspect_to.max(self.done + granted);
        }
    }

    fn is_deadly(&self) -> bool {
        self.vanished > VANISHED && self.span.is_none_or(|span| span == 1)
    }
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
