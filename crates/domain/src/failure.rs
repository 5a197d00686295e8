//! What happens when work does not work out.
//!
//! Not here: what a failure does to a job. That is [`crate::job::Job::fail`].

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ids::JobKey;
use crate::limits::{
    BACKOFF_FIRST, BACKOFF_MOST, FAILURE_TEXT, RETRY_AFTER_MOST, TRIES, WAIT_MOST,
};
use crate::time::Timestamp;

/// Why a try failed; decides what happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum FailureClass {
    /// A provider or a disk is out. Waiting helps, so no try is spent, and newer input does not
    /// shorten the wait.
    Outage,
    /// The work itself failed: an unusable answer, a range that cannot be processed.
    Content,
    /// The worker vanished while it held the lease.
    Vanished,
    /// Nothing failed: a person gave the work up. No newer engine takes it up again by itself.
    Cancelled,
    /// Nothing failed: a cap on spending has no room, or a price is unknown, so that its room is unknown. No
    /// model was called; no try is spent, no range narrowed, and newer input does not shorten the wait.
    AtCap,
}

impl FailureClass {
    /// The variant's name in columns and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One failure, as it is reported and kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind.
    pub class: FailureClass,
    /// Text for people, cut to [`FAILURE_TEXT`] characters. Holds no content of events.
    pub message: String,
}

/// A range that could not be processed: shown, and retryable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The job whose range it is.
    pub job: JobKey,
    /// First watermark position inside.
    pub from: u64,
    /// Last watermark position inside.
    pub to: u64,
    /// Why.
    pub failure: Failure,
    /// When it was given up.
    pub at: Timestamp,
    /// The engine that gave it up; a newer one tries again, once.
    pub engine: String,
}

impl Gap {
    /// Whether a person gave it up, and no failure did.
    #[must_use]
    pub fn is_by_person(&self) -> bool {
        self.failure.class == FailureClass::Cancelled
    }
}

/// The jobs of `gaps` that `engine` takes up again by itself: those with a gap that an older engine gave up, and
/// without one that a person gave up, because a job is redone from its beginning.
///
/// Only newer counts, and not merely different: two versions that share a memory would otherwise take up each
/// other's gaps for ever.
#[must_use]
pub fn jobs_to_revive(gaps: &[Gap], engine: &str) -> BTreeSet<JobKey> {
    let newer = engine_version(engine);
    let outdated = gaps
        .iter()
        .filter(|gap| engine_version(&gap.engine) < newer);
    let mut jobs: BTreeSet<JobKey> = outdated.map(|gap| gap.job.clone()).collect();
    for gap in gaps.iter().filter(|gap| gap.is_by_person()) {
        jobs.remove(&gap.job);
    }
    jobs
}

/// The numbers of an engine's version: 1, 2 and 10 of `daybook/1.2.10`. None in a text without a version, which is
/// older than any.
fn engine_version(engine: &str) -> Vec<u64> {
    let version = engine.rsplit('/').next().unwrap_or_default();
    let parts = version.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

impl Failure {
    /// The failure with its message cut to [`FAILURE_TEXT`] characters.
    #[must_use]
    pub fn bounded(&self) -> Self {
        Self {
            class: self.class,
            message: self.message.chars().take(FAILURE_TEXT).collect(),
        }
    }
}

/// How often a window is tried, and how long between two tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries that a window has before it is narrowed; at least one.
    pub tries: u32,
    /// Wait after the first failure; each further one in a row doubles it.
    pub first: Duration,
    /// Longest wait.
    pub most: Duration,
    /// Longest wait that a provider may ask for. A request for more is cut to this, so that no
    /// answer of a provider parks work for days.
    pub retry_after_most: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: TRIES,
            first: BACKOFF_FIRST,
            most: BACKOFF_MOST,
            retry_after_most: RETRY_AFTER_MOST,
        }
    }
}

impl RetryPolicy {
    /// Longest wait that a failure of `class` may ask for: only a cap, which a person has set,
    /// may hold work for longer than [`RetryPolicy::retry_after_most`].
    #[must_use]
    pub fn longest_wait(&self, class: FailureClass) -> Duration {
        match class {
            FailureClass::AtCap => WAIT_MOST,
            FailureClass::Outage
            | FailureClass::Content
            | FailureClass::Vanished
            | FailureClass::Cancelled => self.retry_after_most,
        }
    }

    /// How long to wait after the `failures`-th failure in a row. `jitter` is a random share in
    /// 0..=1 of the wait's last quarter, so that workers that failed together do not come back together.
    #[must_use]
    pub fn wait(&self, failures: u32, jitter: f64) -> Duration {
        let doublings = failures.saturating_sub(1).min(16);
        let whole = self.first.saturating_mul(1 << doublings).min(self.most);
        whole.mul_f64(0.75 + 0.25 * jitter.clamp(0.0, 1.0))
    }
}

/// When trying again makes sense, as far as the failure shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RetryWait {
    /// The failure gives no time.
    #[default]
    Unspecified,
    /// Not within so long: a provider asks to be left alone.
    For(Duration),
    /// Not before then: a cap's period ends.
    Until(Timestamp),
}

impl RetryWait {
    /// The first time at which trying again makes sense; at most `most` ahead.
    #[must_use]
    pub fn over(self, now: Timestamp, most: Duration) -> Timestamp {
        let over = match self {
            Self::Unspecified => now,
            Self::For(wait) => now.plus(wait.min(most)),
            Self::Until(then) => then,
        };
        over.clamp(now, now.plus(most))
    }
}

/// A claim that did not work out, as its holder reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedTry {
    /// What went wrong.
    pub failure: Failure,
    /// The job is not tried again before this is over.
    pub wait: RetryWait,
    /// How often to try, and how far apart.
    pub retry: RetryPolicy,
    /// A random share in 0..=1, see [`RetryPolicy::wait`].
    pub jitter: f64,
    /// The engine that failed; a gap names it.
    pub engine: String,
}

#[cfg(test)]
mod revival_tests {
    use super::*;
    use crate::ids::{SessionId, Tenant};

    fn gap(session: &str, class: FailureClass, engine: &str) -> Gap {
        Gap {
            job: JobKey::Extract(SessionId {
                tenant: Tenant::local(),
                agent: "chat".to_owned(),
                host_id: session.to_owned(),
            }),
            from: 1,
            to: 2,
            failure: Failure {
                class,
                message: String::new(),
            },
            at: Timestamp::ZERO,
            engine: engine.to_owned(),
        }
    }

    #[track_caller]
    fn check(gaps: &[Gap], engine: &str, expected: &[&str]) {
        let revived = jobs_to_revive(gaps, engine);
        let sessions = revived.iter().map(|job| match job {
            JobKey::Extract(session) => session.host_id.as_str(),
            JobKey::Consolidate(_) | JobKey::Redact(_) => "other",
        });
        assert_eq!(sessions.collect::<Vec<_>>(), expected, "{engine}");
    }

    #[test]
    fn a_newer_engine_revives_what_an_older_one_gave_up_and_never_the_other_way_round() {
        let gaps = [
            gap("a", FailureClass::Content, "daybook/1.2.10"),
            gap("b", FailureClass::Vanished, "daybook/1.10.0"),
            gap("c", FailureClass::Content, ""),
        ];
        check(&gaps, "daybook/1.2.9", &["c"]);
        check(&gaps, "daybook/1.2.10", &["c"]);
        check(&gaps, "daybook/1.3.0", &["a", "c"]);
        check(&gaps, "daybook/2.0", &["a", "b", "c"]);
    }

    #[test]
    fn a_session_of_which_a_person_gave_up_a_part_is_left_alone() {
        let gaps = [
            gap("a", FailureClass::Content, "daybook/1"),
            gap("a", FailureClass::Cancelled, "daybook/1"),
            gap("b", FailureClass::Cancelled, "daybook/1"),
        ];
        check(&gaps, "daybook/2", &[]);
    }
}
