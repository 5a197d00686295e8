//! Sweeps when a session starts: makes other sessions due that have rested, newest first, a bounded
//! number of them (Codex, C15 to C21).

use std::time::Duration;

use daybook_domain::eligibility::eligible;
use daybook_domain::trigger::SweepLimits;
use daybook_domain::{Job, JobKey, JobKind, Priority, Session, SessionId, StoreError, Timestamp};

use super::Triggers;

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Sessions that were examined.
    pub examined: usize,
    /// Sessions that are due now, newest first.
    pub due: Vec<SessionId>,
}

impl Triggers {
    pub(super) async fn sweep(
        &self,
        beside: &SessionId,
        sweep: &SweepLimits,
    ) -> Result<SweepReport, StoreError> {
        let now = self.clock.now();
        let mut left = sweep.claims.saturating_sub(self.count_running(now).await?);
        let mut swept = SweepReport::default();
        if left == 0 || sweep.scan == 0 {
            return Ok(swept);
        }
        let before = |age: Duration| Timestamp(now.0 - i64::try_from(age.as_millis()).unwrap_or(0));
        let between = (before(sweep.max_age), before(sweep.min_idle));
        // The session that starts is not examined, and takes no place in the scan.
        let scan = sweep.scan.saturating_add(1);
        let mut sessions = self
            .store
            .sessions_active(&beside.tenant, between, scan)
            .await?;
        sessions.retain(|session| &session.id != beside);
        sessions.truncate(sweep.scan);
        swept.examined = sessions.len();
        for session in sessions {
            if left == 0 {
                break;
            }
            let key = JobKey::Extract(session.id.clone());
            let Some(job) = self.store.job(&key).await? else {
                continue;
            };
            if !self.is_wanted(&session, sweep) || !waits(&job, now) {
                continue;
            }
            self.store.hasten(&key, now, Priority::Low).await?;
            swept.due.push(session.id);
            left -= 1;
        }
        Ok(swept)
    }

    fn is_wanted(&self, session: &Session, sweep: &SweepLimits) -> bool {
        let is_of_surface = sweep.surfaces.is_empty()
            || session
                .surface
                .as_ref()
                .is_some_and(|surface| sweep.surfaces.contains(surface));
        is_of_surface && eligible(session, &self.switches).is_ok()
    }

    async fn count_running(&self, now: Timestamp) -> Result<usize, StoreError> {
        let jobs = self.store.jobs_of_all_tenants(JobKind::Extract).await?;
        Ok(jobs.iter().filter(|job| job.is_leased(now)).count())
    }
}

/// Whether a session with a person's words waits, and no worker holds its job.
fn waits(job: &Job, now: Timestamp) -> bool {
    let has_turn = job.done > 0 || job.turns > 0;
    has_turn && job.is_ahead() && !job.is_leased(now) && job.retry_at.is_none_or(|at| at <= now)
}
