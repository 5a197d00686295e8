//! The account of sessions after an import or update: each session once, with one outcome.
//!
//! The numbers always add up to the number of sessions that they are about.
//!
//! Not here: which outcome a session had (`UpdateReport::outcomes`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::SessionId;
use daybook_engine::jobs::SessionOutcome;

/// How many sessions had which outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OutcomeCounts {
    taught: u64,
    nothing: u64,
    failed: u64,
    at_cap: u64,
    /// Not read yet: they rest, or another process reads them.
    later: u64,
    /// Never read, by reason.
    never: BTreeMap<&'static str, u64>,
}

impl OutcomeCounts {
    /// Counts each of `sessions`, of which `never` names those that memory is never made from.
    pub(crate) fn of<'a>(
        sessions: impl IntoIterator<Item = &'a SessionId>,
        outcomes: &BTreeMap<&SessionId, SessionOutcome>,
        never: &BTreeMap<SessionId, &'static str>,
    ) -> Self {
        let mut account = Self::default();
        let sessions: BTreeSet<&SessionId> = sessions.into_iter().collect();
        for session in sessions {
            let count = match (outcomes.get(session), never.get(session)) {
                (Some(SessionOutcome::Taught), _) => &mut account.taught,
                (Some(SessionOutcome::Nothing), _) => &mut account.nothing,
                (Some(SessionOutcome::Failed), _) => &mut account.failed,
                (Some(SessionOutcome::AtCap), _) => &mut account.at_cap,
                (None, Some(reason)) => account.never.entry(reason).or_default(),
                (None, None) => &mut account.later,
            };
            *count += 1;
        }
        account
    }

    /// All sessions.
    pub(crate) fn total(&self) -> u64 {
        let Self {
            taught,
            nothing,
            failed,
            at_cap,
            later,
            never,
        } = self;
        taught + nothing + failed + at_cap + later + never.values().sum::<u64>()
    }

    /// In one line, without the total: `3 taught something · 1 had nothing worth keeping · 0 failed`.
    pub(crate) fn line(&self) -> String {
        let mut parts = vec![
            format!("{} taught something", self.taught),
            format!("{} had nothing worth keeping", self.nothing),
            format!("{} failed", self.failed),
        ];
        if self.at_cap > 0 {
            parts.push(format!("{} at a cap", self.at_cap));
        }
        if self.later > 0 {
            parts.push(format!("{} not read yet", self.later));
        }
        let never = self.never.iter();
        parts.extend(never.map(|(reason, n)| format!("{n} never read ({reason})")));
        parts.join(" · ")
    }

    /// Sessions that are left for a later update.
    pub(crate) fn later(&self) -> u64 {
        self.later
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::{Failure, FailureClass, JobKey, Tenant};
    use daybook_engine::jobs::{FailedJob, UpdateReport};
    use proptest::prelude::*;

    use super::*;

    fn session(n: u8) -> SessionId {
        SessionId {
            tenant: Tenant::local(),
            agent: "codex".to_owned(),
            host_id: n.to_string(),
        }
    }

    /// Any report: sessions may have been read, have taught, and have failed at once.
    fn report() -> impl Strategy<Value = UpdateReport> {
        let sessions = || prop::collection::btree_set(0..9_u8, 0..9);
        let failures = prop::collection::vec((0..9_u8, any::<bool>()), 0..9);
        (sessions(), sessions(), failures).prop_map(|(read, taught, failed)| UpdateReport {
            read: read.into_iter().map(session).collect(),
            taught: taught.into_iter().map(session).collect(),
            failed: failed
                .into_iter()
                .map(|(n, at_cap)| FailedJob {
                    job: JobKey::Extract(session(n)),
                    failure: Failure {
                        class: match at_cap {
                            true => FailureClass::AtCap,
                            false => FailureClass::Outage,
                        },
                        message: String::new(),
                    },
                })
                .collect(),
            ..UpdateReport::default()
        })
    }

    proptest! {
        #[test]
        fn each_session_counts_once_and_the_numbers_add_up(
            report in report(),
            imported in prop::collection::btree_set(0..12_u8, 0..12),
            never in prop::collection::btree_set(0..12_u8, 0..12),
        ) {
            let imported: BTreeSet<SessionId> = imported.into_iter().map(session).collect();
            let never = never.into_iter().map(|n| (session(n), "a sub-agent")).collect();
            let outcomes = report.outcomes();
            let account = OutcomeCounts::of(&imported, &outcomes, &never);
            prop_assert_eq!(account.total(), imported.len() as u64);
            let looked_at = OutcomeCounts::of(outcomes.keys().copied(), &outcomes, &never);
            prop_assert_eq!(looked_at.total(), outcomes.len() as u64);
            prop_assert_eq!(looked_at.later(), 0);
            let failed: BTreeSet<_> = report.broken().map(|failed| &failed.job).collect();
            prop_assert!(looked_at.failed <= failed.len() as u64);
        }
    }

    #[test]
    fn what_failed_is_not_counted_as_nothing_as_well() {
        let failure = |class| Failure {
            class,
            message: String::new(),
        };
        let failed = |n, class| FailedJob {
            job: JobKey::Extract(session(n)),
            failure: failure(class),
        };
        let report = UpdateReport {
            read: [1, 2, 3].map(session).into(),
            taught: [3].map(session).into(),
            failed: vec![
                failed(1, FailureClass::Outage),
                failed(2, FailureClass::AtCap),
            ],
            ..UpdateReport::default()
        };
        let account = OutcomeCounts::of(&report.read, &report.outcomes(), &BTreeMap::new());
        assert_eq!(
            account.line(),
            "1 taught something · 0 had nothing worth keeping · 1 failed · 1 at a cap"
        );
    }
}
