//! The interface of stores that keep threads.
//!
//! A thread's log is its session's log: each entry is an event there, with what the thread alone needs
//! beside it. The promises of [`crate::seams`] hold.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::error::StoreError;
use crate::event::Event;
use crate::ids::{EventSeq, SessionId, Tenant};
use crate::rules::RulesRevision;
use crate::seams::{Append, SessionCatalog, SessionLog};
use crate::session::SessionMeta;
use crate::time::Timestamp;
use crate::venue::Venue;

/// Why a thread's events wait (Team9's `BlockingReason`).
///
/// ```
/// use daybook_domain::working::BlockingReason;
/// assert_eq!(BlockingReason::Compacting.as_str(), "COMPACTING");
/// assert_eq!("PAUSED".parse(), Ok(BlockingReason::Paused));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum BlockingReason {
    /// Chunks are being compacted.
    Compacting,
    /// A caller paused the thread.
    Paused,
}

impl BlockingReason {
    /// Team9's word for it, and the one in columns.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Proof of having blocked a thread; each block of a thread has a greater one.
///
/// ```
/// use daybook_domain::working::BlockToken;
/// assert!(BlockToken(2) > BlockToken(1), "the newer block");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockToken(pub u64);

/// A thread is blocked: entries are stored, and not folded before the block is over. A block is over once its
/// owner ended it, or once another caller passed it or took it over after its time.
///
/// ```
/// use daybook_domain::working::{ThreadBlock, BlockToken, BlockingReason};
/// use daybook_domain::{EventSeq, Timestamp};
/// let paused = ThreadBlock {
///     reason: BlockingReason::Paused,
///     token: BlockToken(1),
///     at: EventSeq(12),
///     until: Timestamp::MAX,
/// };
/// assert_eq!(paused.reason.as_str(), "PAUSED");
/// assert!(paused.stands(Timestamp(0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadBlock {
    /// Why.
    pub reason: BlockingReason,
    /// Whose it is.
    pub token: BlockToken,
    /// The last entry that was stored before it: folded up to there.
    pub at: EventSeq,
    /// From then on it no longer binds others, should its owner be gone; [`Timestamp::MAX`] for never.
    pub until: Timestamp,
}

impl ThreadBlock {
    /// Whether it still binds others at `now`.
    #[must_use]
    pub fn stands(&self, now: Timestamp) -> bool {
        self.until > now
    }
}

/// A thread that is to be.
///
/// ```
/// use daybook_domain::working::NewThread;
/// use daybook_domain::{RulesRevision, SessionId, SessionKind, SessionMeta, Tenant, Timestamp};
/// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// let new = NewThread {
///     session: SessionMeta {
///         id: thread,
///         kind: SessionKind::Root,
///         memory_off: false,
///         forked_from: None,
///         surface: None,
///         venue: daybook_domain::Venue::default(),
///         user: None,
///     },
///     custom: serde_json::Map::new(),
///     rules: RulesRevision::UNKNOWN,
///     now: Timestamp(0),
/// };
/// assert_eq!(new.session.id.host_id, "thread_1");
/// ```
#[derive(Debug, Clone)]
pub struct NewThread {
    /// Its session; created with it when there is none.
    pub session: SessionMeta,
    /// Whatever its host wants to remember of it.
    pub custom: Map<String, Value>,
    /// The rules that redacted all texts of it.
    pub rules: RulesRevision,
    /// The present time.
    pub now: Timestamp,
}

/// A thread, as its store holds it.
///
/// ```
/// use daybook_domain::working::Thread;
/// let line = |thread: &Thread| match thread.block {
///     Some(block) => format!("{} is blocked: {}", thread.label, block.reason.as_str()),
///     None => format!("{} has {} entries", thread.label, thread.last.0),
/// };
/// # let _ = line;
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// Its session's identity, which is its own.
    pub id: SessionId,
    /// Its short name, the session's.
    pub label: String,
    /// When it was created, in milliseconds since 1970 UTC.
    pub created_at: Timestamp,
    /// When something was last stored, in milliseconds since 1970 UTC.
    pub updated_at: Timestamp,
    /// The thread it was forked from, by its host's id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub forked_from: Option<String>,
    /// Whose words its human events are, where that is not the person of the data folder.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
    /// Where it is held.
    #[serde(skip_serializing_if = "Venue::is_empty", default)]
    pub venue: Venue,
    /// Its last entry.
    pub last: EventSeq,
    /// What its events wait for. A store also reports a block whose time has come, until a caller has gone
    /// past it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub block: Option<ThreadBlock>,
    /// Whatever its host wants to remember of it.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub custom: Map<String, Value>,
}

/// Entries for a thread's log.
///
/// ```
/// use daybook_domain::seams::Append;
/// use daybook_domain::working::{ThreadEntry, ThreadAppend};
/// /// An append that waits for no block, with an entry for its one event.
/// fn of(append: Append, entry: &ThreadEntry) -> serde_json::Result<ThreadAppend> {
///     Ok(ThreadAppend { append: append.into(), entries: [serde_json::to_string(entry)?].into(), ends: None })
/// }
/// # let _ = of;
/// ```
#[derive(Debug, Clone)]
pub struct ThreadAppend {
    /// The events for the session's log.
    pub append: Arc<Append>,
    /// What the thread keeps beside each of them, in the same order: at most
    /// [`crate::limits::THREAD_ENTRY`] bytes each. What is known already keeps what it has.
    pub entries: Arc<[String]>,
    /// Stored only while this block lasts, which it ends. An append without one never waits.
    pub ends: Option<BlockToken>,
}

/// What became of an append.
///
/// ```
/// use daybook_domain::EventSeq;
/// use daybook_domain::working::ThreadAppendOutcome;
/// let appended = ThreadAppendOutcome::Stored { seqs: vec![EventSeq(4)], before: EventSeq(3), block: None };
/// assert_ne!(appended, ThreadAppendOutcome::BlockLost);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadAppendOutcome {
    /// It is stored.
    Stored {
        /// The place of each of its events; what was known already has a place up to `before`.
        seqs: Vec<EventSeq>,
        /// The last entry before.
        before: EventSeq,
        /// What the new ones wait for.
        block: Option<ThreadBlock>,
    },
    /// The block that it was to end is over; nothing was stored.
    BlockLost,
}

/// The result of blocking a thread.
///
/// ```
/// use daybook_domain::working::{BlockOutcome, BlockToken};
/// let token = |outcome| match outcome {
///     BlockOutcome::Blocked(block) => Some(block.token),
///     BlockOutcome::Already(_) => None::<BlockToken>,
/// };
/// # let _ = token;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOutcome {
    /// The thread is blocked now.
    Blocked(ThreadBlock),
    /// It was blocked already.
    Already(ThreadBlock),
}

/// An entry as it is stored.
///
/// ```
/// use daybook_domain::working::{ThreadEntry, LogEntry};
/// let entry_of = |logged: &LogEntry| logged.entry.as_deref().map(serde_json::from_str::<ThreadEntry>);
/// # let _ = entry_of;
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LogEntry {
    /// The event of the session's log.
    pub event: Event,
    /// What the thread keeps beside it; nothing for what came in by another way.
    pub entry: Option<String>,
}

/// Entries, and what those that are not among them wait for.
///
/// ```
/// use daybook_domain::EventSeq;
/// use daybook_domain::working::LogPage;
/// let page = LogPage { entries: Vec::new(), block: None, last: EventSeq(0) };
/// assert!(page.entries.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LogPage {
    /// In the order of the log.
    pub entries: Vec<LogEntry>,
    /// The block at the moment of reading, also when its time has come: a caller that goes past it ends it first.
    pub block: Option<ThreadBlock>,
    /// The last entry at the moment of reading.
    pub last: EventSeq,
}

/// Where threads are kept. A session that is no thread, and a deleted thread, do not exist here; nor does a
/// thread whose session is gone because an import was undone, until such a session exists again.
///
/// An undone import ends a compaction that saw what is gone, and forgets a snapshot of it.
///
/// ```
/// use daybook_domain::working::ThreadStore;
/// use daybook_domain::{SessionId, StoreError};
/// async fn is_empty(store: &dyn ThreadStore, id: &SessionId) -> Result<bool, StoreError> {
///     let thread = store.thread(id).await?;
///     Ok(thread.is_none_or(|thread| thread.last.0 == 0))
/// }
/// # let _ = is_empty;
/// ```
#[doc(alias = "StorageProvider")]
#[async_trait]
pub trait ThreadStore: SessionLog + SessionCatalog {
    /// Creates a thread, and its session if there is none; an existing thread is given back as it is.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when it was deleted.
    async fn create_thread(&self, new: &NewThread) -> Result<Thread, StoreError>;

    /// A thread, if there is one.
    async fn thread(&self, id: &SessionId) -> Result<Option<Thread>, StoreError>;

    /// Threads of a tenant, newest entry first, then by id.
    async fn threads(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Thread>, StoreError>;

    /// Appends entries in one transaction with all that [`SessionLog::append`] does. A block whose time has
    /// come is over with that.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] without such a thread, [`StoreError::Refused`] when there is not one entry
    /// for each event, or one is too long.
    async fn append_entries(
        &self,
        append: &ThreadAppend,
    ) -> Result<ThreadAppendOutcome, StoreError>;

    /// Entries after `after`, in order: at most `limit`, and at most `bytes` of text, but always one
    /// while there is one.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] without such a thread.
    async fn entries(
        &self,
        id: &SessionId,
        after: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<LogPage, StoreError>;

    /// Blocks a thread, unless it is blocked.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] without such a thread.
    async fn block(
        &self,
        id: &SessionId,
        reason: BlockingReason,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<BlockOutcome, StoreError>;

    /// Lets a block last longer, also one whose time has come; false when it is over.
    async fn extend_block(
        &self,
        id: &SessionId,
        token: BlockToken,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Ends a block, also one whose time has come; false when it is over.
    async fn unblock(&self, id: &SessionId, token: BlockToken) -> Result<bool, StoreError>;

    /// Keeps the state that folding the log up to and including `seq` gave, in the place of an older one.
    /// An older one than what is kept changes nothing, nor does one of entries that are not there.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] without such a thread.
    async fn put_snapshot(
        &self,
        id: &SessionId,
        seq: EventSeq,
        snapshot: &[u8],
    ) -> Result<(), StoreError>;

    /// The snapshot that was kept last.
    async fn snapshot(&self, id: &SessionId) -> Result<Option<(EventSeq, Vec<u8>)>, StoreError>;

    /// Deletes a thread; its session's log stays until it is purged. False when there is none.
    async fn delete_thread(&self, id: &SessionId, now: Timestamp) -> Result<bool, StoreError>;
}
