//! Handles triggers: what happened to a session decides when it, or another, is extracted.
//!
//! Handling one asks no model, waits for no worker and is safe to repeat.
//!
//! Not here: the table of what is due when, that is `domain::trigger`; doing what is due, that is `jobs`.

mod sweep;

pub use sweep::SweepReport;

use std::sync::Arc;

use daybook_domain::eligibility::{Ineligible, Switches, eligible};
use daybook_domain::seams::{Append, Store};
use daybook_domain::time::Clock;
use daybook_domain::trigger::{SweepLimits, TriggerRules};
use daybook_domain::{
    JobKey, Priority, Session, SessionId, SessionKind, SessionMeta, StoreError, Timestamp, Trigger,
};
use daybook_text::redact::Redactor;
use tracing::field::Empty;
use tracing::{Span, debug_span};

use crate::stage::within;

/// Handles triggers by the rules of a profile.
#[derive(Clone)]
pub struct Triggers {
    /// The store of sessions and jobs.
    pub store: Arc<dyn Store>,
    /// The present time.
    pub clock: Arc<dyn Clock>,
    /// What each kind of trigger does.
    pub rules: TriggerRules,
    /// How a starting session makes others due; `None` if it does not.
    pub sweep: Option<SweepLimits>,
    /// Where memory is switched off.
    pub switches: Switches,
}

/// What handling a trigger did.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerOutcome {
    /// The session is due at this time, with this priority.
    DueAt(Timestamp, Priority),
    /// Every event of the session is extracted already.
    NothingNew,
    /// Memory is never made from this session.
    Never(Ineligible),
    /// So many other sessions of the agent were given priority.
    Raised(usize),
    /// Sessions that wait were examined.
    Swept(SweepReport),
}

impl Triggers {
    /// Handles a trigger of `session`. `user` is the user who wrote its human events, unless that is the
    /// person of the data folder.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a session without events, unless the trigger is [`Trigger::Start`] or
    /// [`Trigger::Prompt`]; otherwise the store's.
    pub async fn handle(
        &self,
        session: &SessionId,
        user: Option<&str>,
        what: Trigger,
    ) -> Result<TriggerOutcome, StoreError> {
        let span = debug_span!("trigger", %session, trigger = what.as_str(), outcome = Empty);
        within(span, self.act(session, user, what), record_outcome).await
    }

    async fn act(
        &self,
        session: &SessionId,
        user: Option<&str>,
        what: Trigger,
    ) -> Result<TriggerOutcome, StoreError> {
        let known = self.store.session(session).await?;
        match what {
            Trigger::Prompt => {
                let user = known.as_ref().map_or(user, |known| known.user.as_deref());
                let most = self.rules.reprioritize;
                let raised = self.store.reprioritize(session, user, most).await?;
                Ok(TriggerOutcome::Raised(raised))
            }
            Trigger::Start => self.handle_start(session, known.as_ref()).await,
            Trigger::Turn
            | Trigger::Sleep
            | Trigger::End
            | Trigger::Compaction
            | Trigger::Reset => match known {
                Some(known) => self.mark(&known, what).await,
                None => Err(StoreError::NotFound(format!("session {session}"))),
            },
        }
    }

    /// Marks `old`, then creates its successor. A process that dies between the two leaves a marked session
    /// behind, never an unmarked one (D91).
    ///
    /// # Errors
    /// As [`Triggers::handle`]; without a mark there is no successor.
    pub async fn start_successor(
        &self,
        old: &SessionId,
        successor: SessionId,
        what: Trigger,
    ) -> Result<TriggerOutcome, StoreError> {
        let triggered = self.handle(old, None, what).await?;
        let before = self.store.session(old).await?;
        let created = Append {
            session: SessionMeta {
                id: successor,
                kind: before
                    .as_ref()
                    .map_or(SessionKind::Root, |before| before.kind),
                memory_off: before.as_ref().is_some_and(|before| before.memory_off),
                forked_from: None,
                user: before.as_ref().and_then(|before| before.user.clone()),
                surface: None,
                venue: before.map(|before| before.venue).unwrap_or_default(),
            },
            events: Vec::new(),
            remotes: Vec::new(),
            source: None,
            import: None,
            patience: self.rules.patience,
            urgent: None,
            switches: self.switches.clone(),
            rules: Redactor::current().revision(),
            now: self.clock.now(),
        };
        self.store.append(&created).await?;
        Ok(triggered)
    }

    async fn mark(&self, session: &Session, what: Trigger) -> Result<TriggerOutcome, StoreError> {
        if let Err(why) = eligible(session, &self.switches) {
            return Ok(TriggerOutcome::Never(why));
        }
        let key = JobKey::Extract(session.id.clone());
        let now = self.clock.now();
        if let Some(mark) = what.mark(session.events.0, now, &self.rules) {
            self.store.mark(&key, mark).await?;
        }
        let job = self.store.job(&key).await?;
        let due = job.and_then(|job| Some((job.due_at()?, job.priority)));
        Ok(due.map_or(TriggerOutcome::NothingNew, |(due, priority)| {
            TriggerOutcome::DueAt(due, priority)
        }))
    }

    /// Sweeps when a person's own session starts. A sub-agent's or a memory agent's session sweeps
    /// nothing: it would cause memory to be made from its own making.
    async fn handle_start(
        &self,
        session: &SessionId,
        known: Option<&Session>,
    ) -> Result<TriggerOutcome, StoreError> {
        if let Some(Err(why)) = known.map(|known| eligible(known, &self.switches)) {
            return Ok(TriggerOutcome::Never(why));
        }
        let swept = match &self.sweep {
            Some(sweep) => self.sweep(session, sweep).await?,
            None => SweepReport::default(),
        };
        Ok(TriggerOutcome::Swept(swept))
    }
}

fn record_outcome(span: &Span, triggered: &TriggerOutcome) {
    let outcome = match triggered {
        TriggerOutcome::DueAt(..) => "due",
        TriggerOutcome::NothingNew => "nothing_new",
        TriggerOutcome::Never(_) => "never",
        TriggerOutcome::Raised(_) => "raised",
        TriggerOutcome::Swept(_) => "swept",
    };
    span.record("outcome", outcome);
}
