//! Why a job runs, waits or rests: the answer to "what is it waiting for?".

use serde::Serialize;

use crate::job::Job;
use crate::time::Timestamp;

/// Where a job stands. Seed 002's reasons for not claiming are these: `SkippedUpToDate` is
/// [`Standing::Done`], `SkippedRunning` is [`Standing::Running`], `SkippedRetryBackoff` is
/// [`Standing::Waiting`]; `SkippedRetryExhausted` does not occur, since a window out of tries is
/// narrowed and given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// Nothing waits.
    Done,
    /// What waits may not be worked on until something is marked.
    SetAside,
    /// Somebody works on it.
    Running {
        /// Who.
        holder: String,
        /// Their lease ends then, unless they extend it.
        until: Timestamp,
    },
    /// It failed, and is tried again then.
    Waiting {
        /// Then.
        until: Timestamp,
        /// An outage's wait is not shortened by newer input.
        outage: bool,
    },
    /// Its session rests until then.
    Resting {
        /// Then.
        until: Timestamp,
    },
    /// The next claim may take it.
    Due {
        /// Since then.
        since: Timestamp,
    },
}

impl Job {
    /// Where the job stands at `now`.
    #[must_use]
    pub fn standing(&self, now: Timestamp) -> Standing {
        let Some(due) = self.due_at() else {
            return match self.is_ahead() {
                true => Standing::SetAside,
                false => Standing::Done,
            };
        };
        if due <= now {
            return Standing::Due { since: due };
        }
        if let Some(lease) = self.lease.as_ref().filter(|lease| lease.until > now) {
            return Standing::Running {
                holder: lease.holder.clone(),
                until: lease.until,
            };
        }
        match self.retry_at {
            Some(until) if until == due => Standing::Waiting {
                until,
                outage: self.outage && !self.is_at_cap(),
            },
            _ => Standing::Resting { until: due },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::failure::{FailedTry, Failure, FailureClass, Retry, Wait};
    use crate::ids::{JobKey, SessionId, Tenant};
    use crate::trigger::{Mark, Patience, Priority};

    fn job() -> Job {
        Job::new(JobKey::Extract(SessionId {
            tenant: Tenant::local(),
            agent: "codex".to_owned(),
            host_id: "a".to_owned(),
        }))
    }

    #[test]
    fn a_job_says_what_it_waits_for() {
        let mut job = job();
        let now = Timestamp(1_000_000);
        assert_eq!(job.standing(now), Standing::Done);
        job.mark(Mark::activity(1, now, Patience::default()));
        let until = now.plus(Duration::from_secs(120));
        assert_eq!(job.standing(now), Standing::Resting { until });
        assert_eq!(job.standing(until), Standing::Due { since: until });
        job.mark(Mark::at_once(1, now, Priority::Normal));
        let lease = Duration::from_secs(60);
        let claimed = job.claim("worker", now, lease).expect("it is due");
        let running = Standing::Running {
            holder: "worker".to_owned(),
            until: now.plus(lease),
        };
        assert_eq!(job.standing(now), running);
        let failed = FailedTry {
            failure: Failure {
                class: FailureClass::Outage,
                message: "the disk is full".to_owned(),
            },
            wait: Wait::default(),
            retry: Retry::default(),
            jitter: 1.0,
            engine: "daybook/1".to_owned(),
        };
        let _ = job.fail(&claimed.token, &failed, now);
        let waiting = Standing::Waiting {
            until: now.plus(Duration::from_secs(30)),
            outage: true,
        };
        assert_eq!(job.standing(now), waiting);
        job.retry(now);
        assert_eq!(job.standing(now), Standing::Due { since: now });
    }
}
