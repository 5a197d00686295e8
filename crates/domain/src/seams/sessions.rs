//! Sessions and their logs of events.

use std::collections::BTreeSet;

use async_trait::async_trait;

use crate::eligibility::Switches;
use crate::error::StoreError;
use crate::event::{Event, NewEvent};
use crate::ids::{EventId, EventSeq, SessionId, Tenant};
use crate::page::{Page, PageRequest};
use crate::place::RemoteEvidence;
use crate::rules::RulesRevision;
use crate::session::{Session, SessionMeta};
use crate::source::{ImportNo, TranscriptSource};
use crate::time::Timestamp;
use crate::trigger::{DueLimits, Priority};

/// The place of a session in a listing: its last activity, and its id.
pub type SessionKey = (Timestamp, SessionId);

/// One append: events, the progress of the file that they came from, and the mark that makes the
/// session due, all or nothing.
#[derive(Debug, Clone)]
pub struct Append {
    /// The session; created when it is new.
    pub session: SessionMeta,
    /// At most [`crate::limits::APPEND_EVENTS`]; those already known by id are passed over.
    pub events: Vec<NewEvent>,
    /// Which repositories folders are checkouts of, as these events or known ones show: at most
    /// [`crate::limits::APPEND_EVENTS`]. Evidence of an event that the session does not have is
    /// passed over.
    pub remotes: Vec<RemoteEvidence>,
    /// Replaces what is known of the file.
    pub source: Option<TranscriptSource>,
    /// The import that this is part of, for undoing it.
    pub import: Option<ImportNo>,
    /// How long the session may rest before it is extracted.
    pub patience: DueLimits,
    /// Due at once with this priority, however long it might rest: it is over, or about to be replaced.
    pub urgent: Option<Priority>,
    /// Where memory is switched off: events there are logged, and never learned. It also says which calls pollute
    /// the session.
    pub switches: Switches,
    /// The rules that redacted all texts of this append.
    pub rules: RulesRevision,
    /// The present time: marks of events without a time of their own count from it.
    pub now: Timestamp,
}

/// What an append did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendOutcome {
    /// Events added.
    pub added: u64,
    /// Events that were known already.
    pub known: u64,
    /// Whether an added event polluted the session, which was clean before.
    pub polluted: bool,
    /// The session's last event.
    pub last: EventSeq,
}

/// The logs of sessions: appends and reads events.
#[async_trait]
pub trait SessionLog: Send + Sync {
    /// Appends, interns places, stores what shows whose checkouts they are, moves the source on, and
    /// marks the extraction of an eligible session, in one transaction. An acknowledged append survives a
    /// killed process.
    ///
    /// An added event that pollutes the session hides what was learned from it, and raises the scopes that show it,
    /// also if the session was polluted before. What a person asked to remember stays visible.
    async fn append(&self, append: &Append) -> Result<AppendOutcome, StoreError>;

    /// The place and the identity of each of the session's events, in order.
    async fn event_ids(&self, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, StoreError>;

    /// Events after `after` and up to `upto`, in order: at most `limit`, and at most `bytes` of
    /// text but always one.
    async fn events(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Event>, StoreError>;

    /// Events whose citation number lies in `lines`, in order, at most `limit`.
    async fn events_at(
        &self,
        session: &SessionId,
        lines: (u32, u32),
        limit: usize,
    ) -> Result<Vec<Event>, StoreError>;

    /// The events, anywhere in the session, that its events after `after` and up to `upto` retract.
    async fn retracted_seqs(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
    ) -> Result<BTreeSet<EventSeq>, StoreError>;
}

/// Finds and lists sessions, and switches memory off for one.
#[async_trait]
pub trait SessionCatalog: Send + Sync {
    /// The session, if it exists.
    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError>;

    /// Sessions of a tenant, newest activity first, then by id. One that is active between two pages may be
    /// missing from both.
    async fn sessions(
        &self,
        tenant: &Tenant,
        page: PageRequest<SessionKey>,
    ) -> Result<Page<Session, SessionKey>, StoreError>;

    /// Sessions of a tenant whose last activity lies between two times, both included; newest
    /// first, then by id.
    async fn sessions_active(
        &self,
        tenant: &Tenant,
        between: (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<Session>, StoreError>;

    /// Sessions whose label is `name` or, when none is, whose host id begins with it; at most ten.
    async fn find_sessions(&self, tenant: &Tenant, name: &str) -> Result<Vec<Session>, StoreError>;

    /// Switches memory off for a session, or on again, whatever its host says; false when there is
    /// no such session. What waits when it is switched off, and events that arrive until it is switched
    /// on, are passed over.
    ///
    /// Switching it on ends a pollution, also of a session for which memory was not off: what was learned from it
    /// shows again, what arrived since is due, and no later call pollutes it.
    async fn switch_memory(
        &self,
        session: &SessionId,
        on: bool,
        switches: &Switches,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}
