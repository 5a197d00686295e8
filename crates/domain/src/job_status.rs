//! The status of a job: whether it runs, waits or rests, and until when.

use serde::Serialize;

use crate::job::Job;
use crate::time::Timestamp;

/// The status of a job. Codex's reasons for not claiming are these: `SkippedUpToDate` is
/// [`JobStatus::Done`], `SkippedRunning` is [`JobStatus::Running`], `SkippedRetryBackoff` is
/// [`JobStatus::Waiting`]; `SkippedRetryExhausted` does not occur, since a window out of tries is
/// narrowed and given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum JobStatus {
    /// Nothing waits.
    Done,
    /// What waits may not be worked on until something is marked.
    SetAside,
    /// A live lease holds it.
    Running {
        /// The holder of the lease.
        holder: String,
        /// The lease ends then, unless a heartbeat extends it.
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
    /// The job's status at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> JobStatus {
        let Some(due) = self.due_at() else {
            return match self.is_ahead() {
                true => JobStatus::SetAside,
                false => JobStatus::Done,
            };
        };
        if due <= now {
            return JobStatus::Due { since: due };
        }
        if let Some(lease) = self.lease.as_ref().filter(|lease| lease.until > now) {
            return JobStatus::Running {
                holder: lease.holder.clone(),
                until: lease.until,
            };
        }
        match self.retry_at {
            Some(until) if until == due => JobStatus::Waiting {
                until,
                outage: self.outage && !self.is_at_cap(),
            },
            _ => JobStatus::Resting { until: due },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::failure::{FailedTry, Failure, FailureClass, RetryPolicy, RetryWait};
    use crate::ids::{JobKey, SessionId, Tenant};
    use crate::trigger::{DueLimits, DueMark, Priority};

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
        assert_eq!(job.status(now), JobStatus::Done);
        job.mark(DueMark::activity(1, now, DueLimits::default()));
        let until = now.plus(Duration::from_secs(120));
        assert_eq!(job.status(now), JobStatus::Resting { until });
        assert_eq!(job.status(until), JobStatus::Due { since: until });
        job.mark(DueMark::at_once(1, now, Priority::Normal));
        let lease = Duration::from_secs(60);
        let claimed = job.claim("worker", now, lease).expect("it is due");
        let running = JobStatus::Running {
            holder: "worker".to_owned(),
            until: now.plus(lease),
        };
        assert_eq!(job.status(now), running);
        let failed = FailedTry {
            failure: Failure {
                class: FailureClass::Outage,
                message: "the disk is full".to_owned(),
            },
            wait: RetryWait::default(),
            retry: RetryPolicy::default(),
            jitter: 1.0,
            engine: "daybook/1".to_owned(),
        };
        let _ = job.fail(&claimed.token, &failed, now);
        let waiting = JobStatus::Waiting {
            until: now.plus(Duration::from_secs(30)),
            outage: true,
        };
        assert_eq!(job.status(now), waiting);
        job.retry(now);
        assert_eq!(job.status(now), JobStatus::Due { since: now });
    }
}
