//! What happened to a session decides when it, or another, is extracted.
//!
//! Asks no model and waits for no worker. Safe to repeat.
//!
//! Not here: the table of what is due when, that is `domain::trigger`; doing what is due, that is `jobs`.

mod sweep;

pub use sweep::Swept;

use std::sync::Arc;

use daybook_domain::eligibility::{Ineligible, Switches, eligible};
use daybook_domain::seams::{Append, Store};
use daybook_domain::time::Clock;
use daybook_domain::trigger::{Rules, Sweep};
use daybook_domain::{
    JobKey, Priority, Session, SessionId, SessionKind, SessionMeta, StoreError, Timestamp, Trigger,
};
use tracing::field::Empty;
use tracing::{Span, debug_span};

use crate::stage::within;

/// What triggers act on, and by which rules.
#[derive(Clone)]
pub struct Triggers {
    /// Where sessions and jobs live.
    pub store: Arc<dyn Store>,
    /// The present time.
    pub clock: Arc<dyn Clock>,
    /// What each trigger does.
    pub rules: Rules,
    /// What a starting session looks over; `None` for nothing.
    pub sweep: Option<Sweep>,
    /// Where memory is switched off.
    pub switches: Switches,
}

/// What a trigger did.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Triggered {
    /// The session is extracted then at the earliest, with this priority.
    DueAt(Timestamp, Priority),
    /// All that was said has been extracted already.
    NothingNew,
    /// Memory is never made from this session.
    Never(Ineligible),
    /// So many other sessions of the agent go before the rest.
    Raised(usize),
    /// What waited was looked over.
    Swept(Swept),
}

impl Triggers {
    /// Takes note of what happened to `session`. `user` is whose words it holds, where that is not
    /// the person of the data folder.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a session that nothing was appended to, unless it has only begun;
    /// otherwise the store's.
    pub async fn happened(
        &self,
        session: &SessionId,
        user: Option<&str>,
        what: Trigger,
    ) -> Result<Triggered, StoreError> {
        let span = debug_span!("trigger", %session, trigger = what.word(), outcome = Empty);
        within(span, self.act(session, user, what), note).await
    }

    async fn act(
        &self,
        session: &SessionId,
        user: Option<&str>,
        what: Trigger,
    ) -> Result<Triggered, StoreError> {
        let known = self.store.session(session).await?;
        match what {
            Trigger::Prompt => {
                let user = known.as_ref().map_or(user, |known| known.user.as_deref());
                let most = self.rules.reprioritize;
                let raised = self.store.reprioritize(session, user, most).await?;
                Ok(Triggered::Raised(raised))
            }
            Trigger::Start => self.started(session, known.as_ref()).await,
            _ => match known {
                Some(known) => self.concerns(&known, what).await,
                None => Err(StoreError::NotFound(format!("session {session}"))),
            },
        }
    }

    /// Marks `old`, then creates its successor. Whoever dies between the two leaves a marked session
    /// behind, never an unmarked one (seed 000, trigger 3).
    ///
    /// # Errors
    /// As [`Triggers::happened`]; without a mark there is no successor.
    pub async fn succeed(
        &self,
        old: &SessionId,
        successor: SessionId,
        what: Trigger,
    ) -> Result<Triggered, StoreError> {
        let triggered = self.happened(old, None, what).await?;
        let before = self.store.session(old).await?;
        let created = Append {
            session: SessionMeta {
                id: successor,
                kind: before
                    .as_ref()
                    .map_or(SessionKind::Root, |before| before.kind),
                memory_off: before.as_ref().is_some_and(|before| before.memory_off),
                forked_from: None,
                user: before.and_then(|before| before.user),
                surface: None,
            },
            events: Vec::new(),
            remotes: Vec::new(),
            source: None,
            import: None,
            patience: self.rules.patience,
            urgent: None,
            switches: self.switches.clone(),
            now: self.clock.now(),
        };
        self.store.append(&created).await?;
        Ok(triggered)
    }

    async fn concerns(&self, session: &Session, what: Trigger) -> Result<Triggered, StoreError> {
        if let Err(why) = eligible(session, &self.switches) {
            return Ok(Triggered::Never(why));
        }
        let key = JobKey::Extract(session.id.clone());
        let now = self.clock.now();
        if let Some(mark) = what.mark(session.events.0, now, &self.rules) {
            self.store.mark(&key, mark).await?;
        }
        let job = self.store.job(&key).await?;
        let due = job.and_then(|job| Some((job.due_at()?, job.priority)));
        Ok(due.map_or(Triggered::NothingNew, |(due, priority)| {
            Triggered::DueAt(due, priority)
        }))
    }

    /// Only a person's own session has others looked over: a sub-agent's or a memory agent's would make
    /// memory from its own making.
    async fn started(
        &self,
        session: &SessionId,
        known: Option<&Session>,
    ) -> Result<Triggered, StoreError> {
        if let Some(Err(why)) = known.map(|known| eligible(known, &self.switches)) {
            return Ok(Triggered::Never(why));
        }
        let swept = match &self.sweep {
            Some(sweep) => self.sweep(session, sweep).await?,
            None => Swept::default(),
        };
        Ok(Triggered::Swept(swept))
    }
}

fn note(span: &Span, triggered: &Triggered) {
    let outcome = match triggered {
        Triggered::DueAt(..) => "due",
        Triggered::NothingNew => "nothing_new",
        Triggered::Never(_) => "never",
        Triggered::Raised(_) => "raised",
        Triggered::Swept(_) => "swept",
    };
    span.record("outcome", outcome);
}
