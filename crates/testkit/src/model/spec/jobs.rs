//! Jobs and gaps. The transitions are those of the domain.

use std::collections::BTreeSet;

use daybook_domain::{
    Claim, ClaimedJob, DueMark, FailureClass, Gap, Job, JobKey, JobKind, Priority, SessionId,
    Tally, TallyKind, Timestamp,
};

use super::Spec;

impl Spec {
    /// Raises a job's input.
    pub fn mark(&mut self, key: &JobKey, mark: DueMark) {
        if self.job(key).is_none() {
            self.jobs.push(Job::new(key.clone()));
        }
        self.job_mut(key, |job| job.mark(mark));
    }

    /// Passes over a job's input up to `upto`.
    pub fn pass(&mut self, key: &JobKey, upto: u64) {
        if self.job(key).is_none() {
            self.jobs.push(Job::new(key.clone()));
        }
        let passed = self.job_mut(key, |job| job.pass(upto)).flatten();
        if let (Some(range), JobKey::Extract(id)) = (passed, key)
            && let Some(known) = self.sessions.iter_mut().find(|k| &k.session.id == id)
        {
            known.session.pass(range);
        }
    }

    /// Grants due jobs, and returns them.
    pub fn grant(&mut self, claim: &Claim<'_>) -> Vec<ClaimedJob> {
        let rounds = self.rounds.entry(claim.kind).or_default();
        let keys = rounds.grant(claim, self.jobs.iter());
        let mut granted = Vec::new();
        for key in keys {
            let take = |job: &mut Job| job.claim(claim.holder, claim.now, claim.lease);
            granted.extend(self.job_mut(&key, take).flatten());
            self.tally(claim.kind, TallyKind::Claimed);
        }
        granted
    }

    /// Counts one outcome of a job.
    pub fn tally(&mut self, kind: JobKind, what: TallyKind) {
        match self
            .tallies
            .iter_mut()
            .find(|t| (t.kind, t.what) == (kind, what))
        {
            Some(tally) => tally.count += 1,
            None => self.tallies.push(Tally {
                kind,
                what,
                count: 1,
            }),
        }
    }

    /// Raises the jobs of other sessions of the agent of `id`, and returns how many. No session here has a user.
    pub fn reprioritize(&mut self, id: &SessionId, most: usize) -> usize {
        let mut waiting: Vec<&mut Job> = self
            .jobs
            .iter_mut()
            .filter(|job| job.due_at().is_some())
            .collect();
        waiting.retain(|job| match &job.key {
            JobKey::Extract(other) => other.agent == id.agent && other != id,
            JobKey::Consolidate(_) | JobKey::Redact(_) => false,
        });
        waiting.sort_by_key(|job| (job.deadline, job.key.parts().2.to_owned()));
        waiting.truncate(most);
        for job in &mut waiting {
            job.raise(Priority::Raised);
        }
        waiting.len()
    }

    /// The job with this key.
    #[must_use]
    pub fn job(&self, key: &JobKey) -> Option<&Job> {
        self.jobs.iter().find(|job| &job.key == key)
    }

    /// Changes the job with this key, if there is one.
    pub fn job_mut<T>(&mut self, key: &JobKey, change: impl FnOnce(&mut Job) -> T) -> Option<T> {
        self.jobs.iter_mut().find(|job| &job.key == key).map(change)
    }

    /// When the next job of a kind falls due.
    #[must_use]
    pub fn next_due(&self, kind: JobKind) -> Option<Timestamp> {
        self.jobs
            .iter()
            .filter(|job| job.key.kind() == kind)
            .filter_map(Job::due_at)
            .min()
    }

    /// Frees the jobs of a holder, and returns how many.
    pub fn abandon(&mut self, holder: &str) -> usize {
        self.jobs
            .iter_mut()
            .filter_map(|job| job.abandon(holder).then_some(()))
            .count()
    }

    /// Keeps a gap, in place of one that begins at the same position.
    pub fn keep_gap(&mut self, gap: Gap) {
        self.gaps
            .retain(|old| old.job != gap.job || old.from != gap.from);
        self.gaps.push(gap);
    }

    /// Begins a new generation of a job.
    pub fn redo(&mut self, key: &JobKey, now: Timestamp) {
        self.gaps.retain(|gap| &gap.job != key);
        self.job_mut(key, |job| job.begin_redo(now));
        if let Some(job) = self.job(key).cloned() {
            self.forget_overtaken(&job);
        }
    }

    /// Redoes the jobs of the selected gaps, and returns how many gaps were removed.
    pub fn revive(&mut self, key: Option<&JobKey>, engine: &str, now: Timestamp) -> usize {
        let is_wanted = |job: &JobKey| {
            let mut gaps = self.gaps.iter().filter(|gap| &gap.job == job);
            match key {
                Some(key) => key == job,
                // Names of engines in tests sort by their age.
                None => {
                    gaps.clone().any(|gap| gap.engine.as_str() < engine)
                        && gaps.all(|gap| gap.failure.class != FailureClass::Cancelled)
                }
            }
        };
        let keys: BTreeSet<JobKey> = self
            .gaps
            .iter()
            .map(|gap| gap.job.clone())
            .filter(is_wanted)
            .collect();
        let before = self.gaps.len();
        for key in keys {
            self.redo(&key, now);
        }
        before - self.gaps.len()
    }

    pub(super) fn forget_overtaken(&mut self, job: &Job) {
        let JobKey::Extract(id) = &job.key else {
            return;
        };
        self.passes
            .retain(|p| &p.record.session != id || p.live || p.generation >= job.redo);
        self.pieces.retain(|piece| {
            &piece.evidence.session != id
                || piece.live
                || piece
                    .generation
                    .is_none_or(|generation| generation >= job.redo)
        });
    }
}
