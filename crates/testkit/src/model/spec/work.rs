//! Jobs and gaps. The transitions are the domain's.

use std::collections::BTreeSet;

use daybook_domain::{Gap, Job, JobKey, JobKind, Mark, Timestamp};

use super::Spec;

impl Spec {
    /// Raises a job's input.
    pub fn mark(&mut self, key: &JobKey, mark: Mark) {
        if self.job(key).is_none() {
            self.jobs.push(Job::new(key.clone()));
        }
        self.job_mut(key, |job| job.mark(mark));
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

    /// The jobs of a kind that are due, in the order in which they are granted.
    #[must_use]
    pub fn due(&self, kind: JobKind, now: Timestamp) -> Vec<JobKey> {
        let due = |job: &&Job| job.key.kind() == kind && job.due_at().is_some_and(|at| at <= now);
        let mut jobs: Vec<&Job> = self.jobs.iter().filter(due).collect();
        jobs.sort_by_key(|job| {
            let (tenant, owner, name) = job.key.parts();
            (-job.priority.rank(), job.due_at(), tenant, owner, name)
        });
        jobs.into_iter().map(|job| job.key.clone()).collect()
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

    /// Frees the jobs of a holder, and says how many.
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

    /// Redoes the jobs with gaps that are meant, and says how many gaps went.
    pub fn revive(&mut self, key: Option<&JobKey>, engine: &str, now: Timestamp) -> usize {
        let meant = |gap: &&Gap| key.map_or(gap.engine != engine, |key| &gap.job == key);
        let keys: BTreeSet<JobKey> = self
            .gaps
            .iter()
            .filter(meant)
            .map(|gap| gap.job.clone())
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
