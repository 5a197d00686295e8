//! What was stored before the present rules for secrets.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{EventSeq, LeaseToken, SessionId};
use crate::job::FinishOutcome;
use crate::rescan::{EventRewrite, SessionRewrite, SessionTexts, StoredEvent};
use crate::rules::RulesRevision;
use crate::time::Timestamp;

/// Finds sessions that other rules redacted, and replaces their texts.
///
/// A session records the rules that redacted all that is stored of it: those of its first append, and
/// [`RulesRevision::UNKNOWN`] once an append by other rules came.
#[async_trait]
pub trait RescanStore: Send + Sync {
    /// Raises the rescan of each session, of all tenants, that other rules than `rules` redacted, unless it is raised
    /// for these already. A rescan that was raised for other rules starts over. Returns how many were raised. May take
    /// several transactions; one read where nothing is to be raised.
    async fn raise_rescans(
        &self,
        rules: RulesRevision,
        now: Timestamp,
    ) -> Result<usize, StoreError>;

    /// Raises the rescan of one session, whichever rules redacted it: something else that is stored of it has changed.
    /// False when there is no such session.
    async fn raise_rescan(
        &self,
        session: &SessionId,
        rules: RulesRevision,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Events after `after` and up to `upto`, in order, with what the session's thread keeps beside them: at most
    /// `limit`, and at most `bytes` of both but always one.
    async fn log_entries(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError>;

    /// Ends the claim of a rescan that read events up to `upto`, in one transaction: replaces events, in the log and in
    /// the index, deletes the thread's snapshot, and takes the lease away from an extraction of the session, which may
    /// have read them before. Without rewrites only the job changes. Changes nothing if the lease is lost.
    async fn rewrite_events(
        &self,
        lease: &LeaseToken,
        upto: EventSeq,
        rewrites: &[EventRewrite],
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError>;

    /// All texts that are stored beside a session's events, in no particular order.
    async fn session_texts(&self, session: &SessionId) -> Result<SessionTexts, StoreError>;

    /// Ends a rescan, in one transaction: replaces texts, raises the scopes concerned, and records the rules for the
    /// session, unless an append by other rules came since the rescan was raised. Changes nothing if the lease is lost.
    async fn rewrite_session(
        &self,
        lease: &LeaseToken,
        rewrite: &SessionRewrite,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError>;

    /// Overwrites what the store's files still hold of replaced texts, if anything was replaced since the last time.
    /// False when it has to be repeated, because other readers are in the way. A server overwrites them by itself.
    async fn erase_replaced(&self) -> Result<bool, StoreError>;
}
