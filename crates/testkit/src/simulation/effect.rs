//! The effects of calls of a store, in the order in which they happened.

use std::sync::{Arc, Mutex, PoisonError};

use daybook_domain::seams::{Append, AppendOutcome};
use daybook_domain::{
    ClaimedJob, Extraction, FailOutcome, FailedTry, FinishOutcome, Gap, JobKey, JobKind,
    LeaseToken, ObservationId, Scope, SessionId, Timestamp,
};

/// The effect of one call of a store, as far as a promise concerns it.
#[derive(Debug, Clone)]
#[allow(
    missing_docs,
    reason = "the fields are arguments and answers of the seam that each effect is named for"
)]
pub enum Effect {
    /// No effect on any promise: a query, or a change of the index.
    NoEffect,
    /// A change that may make work due and is no step of a job.
    Changed,
    /// The store refused the call, with this error.
    Refused(String),
    Appended {
        append: Box<Append>,
        appended: AppendOutcome,
    },
    Switched {
        session: SessionId,
        on: bool,
    },
    Claimed {
        kind: JobKind,
        now: Timestamp,
        claimed: Vec<ClaimedJob>,
    },
    Heartbeat {
        token: LeaseToken,
        now: Timestamp,
        held: bool,
    },
    Released {
        token: LeaseToken,
        now: Timestamp,
        held: bool,
    },
    Finished {
        token: LeaseToken,
        now: Timestamp,
        outcome: FinishOutcome,
    },
    Extracted {
        token: LeaseToken,
        extraction: Box<Extraction>,
        now: Timestamp,
        outcome: FinishOutcome,
    },
    Failed {
        token: LeaseToken,
        failed: Box<FailedTry>,
        now: Timestamp,
        outcome: FailOutcome,
    },
    Cancelled {
        key: JobKey,
        gap: Option<Gap>,
    },
    /// A job's waiting work was marked, hastened, raised or freed.
    JobsChanged,
    /// One job begins anew, or all jobs whose gaps were removed.
    Redone(Option<JobKey>),
    Retracted {
        scope: Scope,
        id: ObservationId,
        held: bool,
    },
}

/// One call of a store: its actor, its method and its effect.
#[derive(Debug, Clone)]
pub struct RecordedCall {
    /// The number of the actor that made it.
    pub actor: usize,
    /// The method of the seam.
    pub name: &'static str,
    /// Its effect, whether or not the answer reached the actor.
    pub effect: Effect,
}

/// Calls that have not been checked yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Journal(Arc<Mutex<Vec<RecordedCall>>>);

impl Journal {
    pub(super) fn write(&self, call: RecordedCall) {
        self.calls().push(call);
    }

    pub(super) fn take(&self) -> Vec<RecordedCall> {
        std::mem::take(&mut *self.calls())
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, Vec<RecordedCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordedCall {
    /// Renders the call in one line, the same for all stores.
    #[must_use]
    pub fn line(&self) -> String {
        let said = match &self.effect {
            Effect::NoEffect | Effect::Changed | Effect::JobsChanged => String::new(),
            Effect::Refused(why) => format!("refused: {why}"),
            Effect::Appended { append, appended } => {
                let session = &append.session.id;
                format!(
                    "{session}: {} new, {} known, last {}",
                    appended.added, appended.known, appended.last.0
                )
            }
            Effect::Switched { session, on } => format!("{session}: {on}"),
            Effect::Claimed { claimed, .. } => claimed
                .iter()
                .map(|one| {
                    format!(
                        "{} after {} upto {}",
                        token_text(&one.token),
                        one.after,
                        one.upto
                    )
                })
                .collect::<Vec<_>>()
                .join(", "),
            Effect::Heartbeat { token, held, .. } | Effect::Released { token, held, .. } => {
                format!("{}: {held}", token_text(token))
            }
            Effect::Finished { token, outcome, .. } => {
                format!("{}: {outcome:?}", token_text(token))
            }
            Effect::Extracted {
                token,
                extraction,
                outcome,
                ..
            } => {
                let (from, to) = (extraction.from.0, extraction.to.0);
                format!("{} {from}..={to}: {outcome:?}", token_text(token))
            }
            Effect::Failed {
                token,
                failed,
                outcome,
                ..
            } => {
                let class = failed.failure.class.as_str();
                format!(
                    "{} {class}: {}",
                    token_text(token),
                    fail_outcome_text(outcome)
                )
            }
            Effect::Cancelled { key, gap } => match gap {
                Some(gap) => format!("{key} {}..={}", gap.from, gap.to),
                None => format!("{key}: nothing waits"),
            },
            Effect::Redone(Some(key)) => key.to_string(),
            Effect::Redone(None) => "all with gaps".to_owned(),
            Effect::Retracted { scope, id, held } => format!("{scope} {id}: {held}"),
        };
        format!("{} {said}", self.name).trim_end().to_owned()
    }

    /// Whether the call may have changed anything.
    pub(super) fn is_write(&self) -> bool {
        !matches!(self.effect, Effect::NoEffect)
    }
}

fn token_text(token: &LeaseToken) -> String {
    format!("{}#{}", token.job(), token.generation())
}

fn fail_outcome_text(outcome: &FailOutcome) -> String {
    match outcome {
        FailOutcome::GaveUp(gap) => format!("gave up {}..={}", gap.from, gap.to),
        FailOutcome::Narrowed { span, .. } => format!("narrowed to {span}"),
        FailOutcome::RetryAt(_) => "again later".to_owned(),
        FailOutcome::LeaseLost => "LeaseLost".to_owned(),
    }
}
