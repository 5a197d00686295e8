//! What calls of a store have done, in the order in which they did it.

use std::sync::{Arc, Mutex, PoisonError};

use daybook_domain::seams::{Append, Appended};
use daybook_domain::{
    Claimed, Extraction, FailOutcome, FailedTry, FinishOutcome, Gap, JobKey, JobKind, LeaseToken,
    ObservationId, Scope, SessionId, Timestamp,
};

/// What one call did, as far as a promise concerns it.
#[derive(Debug, Clone)]
#[allow(
    missing_docs,
    reason = "the fields are arguments and answers of the seam that each deed is named for"
)]
pub enum Deed {
    /// Nothing that a promise is about: a question, or something for the index.
    Looked,
    /// Something that may make work due and is no step of a job.
    Kept,
    /// The store refused, and said why.
    Refused(String),
    Appended {
        append: Box<Append>,
        appended: Appended,
    },
    Switched {
        session: SessionId,
        on: bool,
    },
    Claimed {
        kind: JobKind,
        now: Timestamp,
        claimed: Vec<Claimed>,
    },
    Beat {
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
    Steered,
    /// A job begins anew, or all whose gaps were taken out.
    Redone(Option<JobKey>),
    Retracted {
        scope: Scope,
        id: ObservationId,
        held: bool,
    },
}

/// One call: who made it, which it was, what it did.
#[derive(Debug, Clone)]
pub struct Call {
    /// The actor.
    pub actor: usize,
    /// The method of the seam.
    pub name: &'static str,
    /// What it did, whether or not the actor has heard of it.
    pub deed: Deed,
}

/// Calls that nobody has looked at yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Journal(Arc<Mutex<Vec<Call>>>);

impl Journal {
    pub(super) fn write(&self, call: Call) {
        self.calls().push(call);
    }

    pub(super) fn take(&self) -> Vec<Call> {
        std::mem::take(&mut *self.calls())
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, Vec<Call>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// The call in one line, the same for all stores.
    #[must_use]
    pub fn line(&self) -> String {
        let said = match &self.deed {
            Deed::Looked | Deed::Kept | Deed::Steered => String::new(),
            Deed::Refused(why) => format!("refused: {why}"),
            Deed::Appended { append, appended } => {
                let session = &append.session.id;
                format!(
                    "{session}: {} new, {} known, last {}",
                    appended.added, appended.known, appended.last.0
                )
            }
            Deed::Switched { session, on } => format!("{session}: {on}"),
            Deed::Claimed { claimed, .. } => claimed
                .iter()
                .map(|one| format!("{} after {} upto {}", of(&one.token), one.after, one.upto))
                .collect::<Vec<_>>()
                .join(", "),
            Deed::Beat { token, held, .. } | Deed::Released { token, held, .. } => {
                format!("{}: {held}", of(token))
            }
            Deed::Finished { token, outcome, .. } => format!("{}: {outcome:?}", of(token)),
            Deed::Extracted {
                token,
                extraction,
                outcome,
                ..
            } => {
                let (from, to) = (extraction.from.0, extraction.to.0);
                format!("{} {from}..={to}: {outcome:?}", of(token))
            }
            Deed::Failed {
                token,
                failed,
                outcome,
                ..
            } => {
                let class = failed.failure.class.word();
                format!("{} {class}: {}", of(token), ended(outcome))
            }
            Deed::Cancelled { key, gap } => match gap {
                Some(gap) => format!("{key} {}..={}", gap.from, gap.to),
                None => format!("{key}: nothing waits"),
            },
            Deed::Redone(Some(key)) => key.to_string(),
            Deed::Redone(None) => "all with gaps".to_owned(),
            Deed::Retracted { scope, id, held } => format!("{scope} {id}: {held}"),
        };
        format!("{} {said}", self.name).trim_end().to_owned()
    }

    /// Whether it may have changed anything.
    pub(super) fn is_write(&self) -> bool {
        !matches!(self.deed, Deed::Looked)
    }
}

fn of(token: &LeaseToken) -> String {
    format!("{}#{}", token.job(), token.generation())
}

fn ended(outcome: &FailOutcome) -> String {
    match outcome {
        FailOutcome::GaveUp(gap) => format!("gave up {}..={}", gap.from, gap.to),
        FailOutcome::Narrowed { span, .. } => format!("narrowed to {span}"),
        FailOutcome::RetryAt(_) => "again later".to_owned(),
        FailOutcome::LeaseLost => "LeaseLost".to_owned(),
    }
}
