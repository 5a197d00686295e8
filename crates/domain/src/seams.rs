//! Seams: where two real implementations stand behind one promise.
//!
//! The suites in `daybook-testkit` pin what is promised here; every store runs them. All calls may
//! be repeated after [`StoreError::Busy`]. Each call is one transaction unless it says otherwise.
//!
//! A tenant is a wall: whatever a call names it by, in a session, in a scope or by itself, the answer is
//! that of a store that nobody else uses, and what would join two tenants is refused. Only the calls of
//! [`JobStore`] that name no job see all tenants, for workers serve them all.

use std::time::Duration;

use async_trait::async_trait;

use crate::claim::Claim;
use crate::eligibility::Switches;
use crate::entity::Staged;
use crate::error::StoreError;
use crate::event::{Event, EventId, NewEvent};
use crate::extraction::{Digest, Extraction, ExtractionRecord};
use crate::failure::{FailedTry, Gap};
use crate::ids::{EventSeq, JobKey, JobKind, LeaseToken, Scope, SessionId, Tenant};
use crate::index::{
    Document, DocumentNo, Embedded, FileEntry, Filter, Outline, Step, TermStats, Unembedded,
};
use crate::job::{Claimed, FailOutcome, FinishOutcome, Job};
use crate::model::Usage;
use crate::observation::Observation;
use crate::place::{Place, Project, RemoteEvidence, RootRecord};
use crate::price::Money;
use crate::session::{Session, SessionMeta};
use crate::source::{Import, ImportNo, Source, Undone};
use crate::spend::{
    Amount, Cap, Charge, Purse, ReservationId, ReserveOutcome, SettleOutcome, SpendBy, SpendSum,
};
use crate::tally::Tally;
use crate::time::Timestamp;
use crate::tree::{ObjectName, TreeHead, TreeObject};
use crate::trigger::{Mark, Patience, Priority};

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
    pub source: Option<Source>,
    /// The import that this is part of, for undoing it.
    pub import: Option<ImportNo>,
    /// How long the session may rest before it is extracted.
    pub patience: Patience,
    /// Due at once with this priority, however long it might rest: it is over, or about to be replaced.
    pub urgent: Option<Priority>,
    /// Where memory is switched off: what is said there is logged, and never learned.
    pub switches: Switches,
    /// The present time: marks of events without a time of their own count from it.
    pub now: Timestamp,
}

/// What an append did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Events added.
    pub added: u64,
    /// Events that were known already.
    pub known: u64,
    /// The session's last event.
    pub last: EventSeq,
}

/// Where sessions and their events live.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Appends, interns places, stores what shows whose checkouts they are, moves the source on, and
    /// marks the extraction of an eligible session, in one transaction. An acknowledged append survives a killed process.
    async fn append(&self, append: &Append) -> Result<Appended, StoreError>;

    /// The place and the identity of each of the session's events, in order.
    async fn event_ids(&self, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, StoreError>;

    /// The session, if it exists.
    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError>;

    /// Sessions of a tenant, newest activity first, then by id.
    async fn sessions(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Session>, StoreError>;

    /// Sessions of a tenant whose last activity lies between two times, both included; newest
    /// first, then by id.
    async fn sessions_active(
        &self,
        tenant: &Tenant,
        between: (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<Session>, StoreError>;

    /// Switches memory off for a session, or on again, whatever its host says; false when there is
    /// no such session. What waits when it is switched off, and what is said until it is switched
    /// on, is passed over.
    async fn switch_memory(&self, session: &SessionId, on: bool) -> Result<bool, StoreError>;

    /// Sessions whose label is `name` or, when none is, whose host id begins with it; at most ten.
    async fn find_sessions(&self, tenant: &Tenant, name: &str) -> Result<Vec<Session>, StoreError>;

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

    /// All files that a tenant's events came from, by path.
    async fn sources(&self, tenant: &Tenant) -> Result<Vec<Source>, StoreError>;

    /// Records a look at a file that yielded no event.
    async fn put_source(
        &self,
        tenant: &Tenant,
        source: &Source,
        import: Option<ImportNo>,
    ) -> Result<(), StoreError>;

    /// Places that a tenant's events happened in, with the key of the project that each belongs to.
    async fn places(&self, tenant: &Tenant) -> Result<Vec<(Place, Option<String>)>, StoreError>;

    /// Known identities of a tenant's projects, by key, then by identity. Several may share a key.
    async fn projects(&self, tenant: &Tenant) -> Result<Vec<Project>, StoreError>;

    /// Folders that a tenant's events happened in, by path, each with the evidence of its identity.
    async fn roots(&self, tenant: &Tenant) -> Result<Vec<RootRecord>, StoreError>;

    /// [`SessionStore::assign_root`], where the project follows from stored evidence or is a guess:
    /// the root is [`RootRecord::derived`] from now on.
    async fn derive_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Forgets an identity of a project; its places and scope stay. False when there is none.
    async fn forget_identity(&self, tenant: &Tenant, identity: &str) -> Result<bool, StoreError>;

    /// Says which project a tenant's places under `root` belong to, and that its identity stands for
    /// it from now on, whatever it stood for before. What was observed there moves with them, and the
    /// scopes concerned are raised. May take several transactions; the root belongs to the project
    /// from the last one on, so repeating it after an interruption goes on.
    async fn assign_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Begins an import. No two have the same number, whoever's they are; a number of another tenant's
    /// is as unknown as one that was never given.
    async fn begin_import(
        &self,
        tenant: &Tenant,
        what: &str,
        now: Timestamp,
    ) -> Result<ImportNo, StoreError>;

    /// Ends an import.
    async fn end_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// A tenant's imports, newest first.
    async fn imports(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Import>, StoreError>;

    /// Removes exactly what one import added: its events, what they show of folders' remotes, what was
    /// observed from them, its progress on files. Sessions that keep older events are extracted anew; scopes concerned are
    /// raised. May take several transactions; repeating it after an interruption goes on.
    async fn undo_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<Undone, StoreError>;
}

/// Where background work is kept. Rows change only by the transitions of [`Job`].
#[async_trait]
pub trait JobStore: Send + Sync {
    /// Raises a job's input, creating the job when it is new.
    async fn mark(&self, key: &JobKey, mark: Mark) -> Result<(), StoreError>;

    /// Makes a job's waiting work due now, if it has any.
    async fn hasten(
        &self,
        key: &JobKey,
        now: Timestamp,
        priority: Priority,
    ) -> Result<(), StoreError>;

    /// Raises the priority of sessions that wait: up to `most` others of the agent and the user of
    /// `session`, those waiting longest first. Leaves when they are due. Says how many wait raised.
    async fn reprioritize(
        &self,
        session: &SessionId,
        user: Option<&str>,
        most: usize,
    ) -> Result<usize, StoreError>;

    /// Grants due jobs of a kind in turn, see [`crate::claim`]. No job is granted twice.
    async fn claim(&self, claim: Claim<'_>) -> Result<Vec<Claimed>, StoreError>;

    /// Extends a lease; false when it is lost.
    async fn heartbeat(
        &self,
        token: &LeaseToken,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool, StoreError>;

    /// Gives a job back unfinished.
    async fn release(&self, token: &LeaseToken, now: Timestamp) -> Result<bool, StoreError>;

    /// Gives a job back until it is marked again.
    async fn set_aside(&self, token: &LeaseToken, now: Timestamp) -> Result<bool, StoreError>;

    /// Frees the jobs of a holder that is known to be gone, and says how many.
    async fn abandon(&self, holder: &str) -> Result<usize, StoreError>;

    /// Holders of unended leases.
    async fn holders(&self) -> Result<Vec<String>, StoreError>;

    /// Ends a job that has no results to store.
    async fn finish(
        &self,
        token: &LeaseToken,
        upto: u64,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError>;

    /// Ends a failed claim; records a gap when the job gave one up.
    async fn fail(
        &self,
        token: &LeaseToken,
        failed: &FailedTry,
        now: Timestamp,
    ) -> Result<FailOutcome, StoreError>;

    /// Gives up all that waits of a job; records it as a gap. `None` when nothing waits.
    async fn cancel(
        &self,
        key: &JobKey,
        now: Timestamp,
        engine: &str,
    ) -> Result<Option<Gap>, StoreError>;

    /// Makes a job's waiting work due now whatever failed before, with all its tries; false when
    /// nothing waits.
    async fn retry(&self, key: &JobKey, now: Timestamp) -> Result<bool, StoreError>;

    /// The job, if it exists.
    async fn job(&self, key: &JobKey) -> Result<Option<Job>, StoreError>;

    /// Jobs of a kind, by key.
    async fn jobs(&self, kind: JobKind) -> Result<Vec<Job>, StoreError>;

    /// When the next job of a kind falls due.
    async fn next_due(&self, kind: JobKind) -> Result<Option<Timestamp>, StoreError>;

    /// Begins a new generation of a job. Its gaps are forgotten: what still fails is found again.
    async fn redo(&self, key: &JobKey, now: Timestamp) -> Result<(), StoreError>;

    /// Gaps, by job and position.
    async fn gaps(&self) -> Result<Vec<Gap>, StoreError>;

    /// Takes gaps out and has their jobs redone: all of `job`, or all of each job with a gap that
    /// an engine other than `engine` gave up, unless by hand. Says how many.
    async fn revive_gaps(
        &self,
        job: Option<&JobKey>,
        engine: &str,
        now: Timestamp,
    ) -> Result<usize, StoreError>;

    /// What has become of jobs since the store was made, by kind and word. Counts of 0 are left out.
    async fn tallies(&self) -> Result<Vec<Tally>, StoreError>;

    /// A number that differs whenever something may have changed in between, by whatever process.
    async fn version(&self) -> Result<u64, StoreError>;

    /// Returns when the version is no longer `seen`, at the latest after `longest`. May return early.
    async fn until_changed(&self, seen: u64, longest: Duration) -> Result<(), StoreError>;
}

/// A scope and how often what matters to it has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeState {
    /// The scope.
    pub scope: Scope,
    /// Raised with every change that its files must show.
    pub revision: u64,
    /// Observations that hold.
    pub observations: u64,
}

/// Where results of extraction live.
#[async_trait]
pub trait ExtractionStore: Send + Sync {
    /// Ends the extraction that `lease` holds, in one transaction: stores what was yielded and staged,
    /// advances done to the window's end, withdraws what retracted events carried, swaps
    /// generations when a redo has caught up, and raises the revision of every scope concerned
    /// together with its consolidation's input. Changes nothing if the lease is lost.
    async fn finish_extraction(
        &self,
        lease: &LeaseToken,
        extraction: &Extraction,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError>;

    /// Stores observations that come from no extraction (what a person asked to remember), and
    /// raises their scopes.
    async fn observe(&self, observations: &[Observation], now: Timestamp)
    -> Result<(), StoreError>;

    /// Withdraws an observation from its scope: a person took it back. It does not return with
    /// evidence from the same events; an event that was not among them brings it back. False when
    /// there is none.
    async fn retract(
        &self,
        scope: &Scope,
        id: crate::observation::ObservationId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Raises a scope's revision: something outside the database changed that its files must show.
    async fn touch_scope(&self, scope: &Scope, now: Timestamp) -> Result<u64, StoreError>;

    /// Scopes of a tenant that were ever raised, in the order of [`Scope`]. Whatever was observed
    /// raised its scope.
    async fn scopes(&self, tenant: &Tenant) -> Result<Vec<ScopeState>, StoreError>;

    /// Observations that hold in a scope, ordered by first time, then id.
    async fn observations(&self, scope: &Scope) -> Result<Vec<Observation>, StoreError>;

    /// Live extractions of sessions, by session and window: of the sessions that worked in
    /// project `project`, or of all.
    async fn extractions(
        &self,
        tenant: &Tenant,
        project: Option<&str>,
    ) -> Result<Vec<ExtractionRecord>, StoreError>;

    /// Which extractors made the live extractions of which sessions: each pair once, in order.
    async fn extractors(&self, tenant: &Tenant) -> Result<Vec<(SessionId, String)>, StoreError>;

    /// The account of the last window before event `before` that taught something, of those that
    /// generation `redo` of a session has read, live or not.
    async fn digest_before(
        &self,
        session: &SessionId,
        redo: u32,
        before: EventSeq,
    ) -> Result<Option<Digest>, StoreError>;

    /// Staged writes of a tenant's extractions, by the time at which they were stored, then session and
    /// window; those of a redo at once, since each says what it replaces. Those of a window are withdrawn
    /// when a later window retracts one of its events.
    async fn staged(&self, tenant: &Tenant) -> Result<Vec<Staged>, StoreError>;

    /// Takes staged writes out: they stand in the files now, or never will. What was staged anew for
    /// the same window stays. Raises nothing; repeating it changes nothing.
    async fn unstage(&self, staged: &[Staged]) -> Result<(), StoreError>;
}

/// Turns texts into vectors of one space.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The model's identity: vectors of two identities are never compared.
    fn id(&self) -> &str;

    /// Whether it answers within a millisecond, so that a question may wait for it.
    fn is_instant(&self) -> bool;

    /// Words whose vectors lie near a word's, each with the cosine of the angle between them, where that is at
    /// least `floor`. None from a model that would have to be asked.
    fn near(&self, word: &str, floor: f32) -> Vec<(String, f32)> {
        let _ = (word, floor);
        Vec::new()
    }

    /// The vector of each text; the zero vector, or an empty one, where it makes nothing of it.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String>;
}

/// What can be found by words. Disposable: [`Index::clear`] and feeding it again gives the same answers.
#[async_trait]
pub trait Index: Send + Sync {
    /// How often tokens occur.
    async fn term_stats(&self, tenant: &Tenant, tokens: &[String])
    -> Result<TermStats, StoreError>;

    /// Documents that all steps lead to, each once, at most the sum of the limits. Steps are taken in
    /// turn; within one, newest first ([`DocumentNo::age`]).
    async fn matches(
        &self,
        tenant: &Tenant,
        steps: &[Step],
        filter: &Filter,
    ) -> Result<Vec<DocumentNo>, StoreError>;

    /// The documents whose vector's signs differ least from `signs`, the newest of equals first, at most
    /// `limit`; none when the index has vectors of another model than `model`.
    async fn nearest(
        &self,
        tenant: &Tenant,
        (model, signs): (&str, &[u64]),
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<DocumentNo>, StoreError>;

    /// What ranking needs of documents, in the order asked for; those that are gone are left out. Vectors
    /// come with it when they are of `model`.
    async fn outlines(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        model: Option<&str>,
    ) -> Result<Vec<Outline>, StoreError>;

    /// Of each event that was said, those said before and after it in its session, at most `reach` on each
    /// side, itself among them: all of them once, in the order of their numbers.
    async fn surroundings(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        reach: usize,
    ) -> Result<Vec<DocumentNo>, StoreError>;

    /// Documents whole, in the order asked for; those that are gone are left out.
    async fn documents(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
    ) -> Result<Vec<Document>, StoreError>;

    /// Makes `model` the one whose vectors the index holds. Vectors of another are forgotten, and every
    /// document is unembedded again. True when that was so.
    async fn choose_model(&self, tenant: &Tenant, model: &str) -> Result<bool, StoreError>;

    /// Documents without vectors that should have them, at most `limit`, the newest first.
    async fn unembedded(
        &self,
        tenant: &Tenant,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError>;

    /// Keeps vectors of `model`; of documents that are gone, or changed meanwhile, and of another model,
    /// none.
    async fn put_vectors(
        &self,
        tenant: &Tenant,
        model: &str,
        embedded: &[Embedded],
    ) -> Result<(), StoreError>;

    /// Replaces what is known of one memory file; an empty list forgets it. `stamp` is the
    /// caller's note of the file's state.
    async fn put_file(
        &self,
        scope: &Scope,
        file: &str,
        stamp: &str,
        entries: &[FileEntry],
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// The stamps of the files that are indexed.
    async fn file_stamps(&self, scope: &Scope) -> Result<Vec<(String, String)>, StoreError>;

    /// Forgets everything that is indexed of a tenant. May take several transactions; repeating it
    /// after an interruption goes on.
    async fn clear(&self, tenant: &Tenant) -> Result<(), StoreError>;

    /// Indexes events again, in place of what is indexed of them: `(event, tokens)`, at most
    /// [`crate::limits::APPEND_EVENTS`] at once.
    async fn index_events(
        &self,
        session: &SessionId,
        events: &[(EventSeq, String)],
    ) -> Result<(), StoreError>;

    /// Indexes a scope's observations again, in place of what is indexed of them.
    async fn index_observations(&self, scope: &Scope) -> Result<(), StoreError>;
}

/// Where machines share the history of memory files. On one machine the folder itself is the
/// repository, and there is no such store.
#[async_trait]
pub trait TreeStore: Send + Sync {
    /// Where the histories of a tenant stand, in the order of [`Scope`].
    async fn tree_heads(&self, tenant: &Tenant) -> Result<Vec<(Scope, TreeHead)>, StoreError>;

    /// Where a scope's history stands; `None` before the first advance.
    async fn tree_head(&self, scope: &Scope) -> Result<Option<TreeHead>, StoreError>;

    /// Objects of a scope after number `after`, in the order in which they came: at most `bytes` of
    /// them, but always one while there is one.
    async fn tree_objects(
        &self,
        scope: &Scope,
        after: u64,
        bytes: usize,
    ) -> Result<Vec<TreeObject>, StoreError>;

    /// Numbers and names of a scope's objects after number `after`, in the order in which they came: at
    /// most `most` and [`crate::limits::TREE_NAMES`].
    async fn tree_object_names(
        &self,
        scope: &Scope,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, ObjectName)>, StoreError>;

    /// Stores objects; those that are known by name are passed over. At most
    /// [`crate::limits::TREE_OBJECTS`] at once. Nobody refers to them before [`TreeStore::advance_tree`].
    async fn put_tree_objects(
        &self,
        scope: &Scope,
        objects: &[TreeObject],
    ) -> Result<(), StoreError>;

    /// Moves a scope's history on to `commit`, whose objects are there, if its version still is
    /// `seen` (0: there is none yet). `None` when somebody else was faster, and nothing changed.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the commit's own object was never stored.
    async fn advance_tree(
        &self,
        scope: &Scope,
        seen: u64,
        commit: ObjectName,
        beside: &str,
    ) -> Result<Option<TreeHead>, StoreError>;
}

/// Where what calls of models cost is kept. Every write survives a power cut: a cap that forgot would be
/// none.
///
/// A reservation that nobody settles or releases counts with its worst case for ever: whoever made it
/// may have crashed, and what was sent by then is billed.
#[async_trait]
pub trait SpendStore: Send + Sync {
    /// Counts a charge with its worst case in all its purses, unless a cap would be passed
    /// ([`crate::spend::at_cap`]). However many reserve at once, no cap is passed. Repeating it
    /// reserves once more.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a charge without money under a cap on money, and for a session or
    /// scope of another tenant.
    async fn reserve(
        &self,
        charge: &Charge,
        caps: &[Cap],
        now: Timestamp,
    ) -> Result<ReserveOutcome, StoreError>;

    /// Puts what the provider reported in the place of what was reserved, in the periods that the
    /// reservation was made in. More than was reserved is counted as it is. Repeating it changes
    /// nothing.
    async fn settle(
        &self,
        reservation: &ReservationId,
        usage: Usage,
        cost: Option<Money>,
        now: Timestamp,
    ) -> Result<SettleOutcome, StoreError>;

    /// Forgets a reservation, as nothing was sent; false when it was settled or released before.
    async fn release(&self, reservation: &ReservationId) -> Result<bool, StoreError>;

    /// What counts in purses of a tenant, each, reservations included.
    async fn used(&self, tenant: &Tenant, purses: &[Purse]) -> Result<Vec<Amount>, StoreError>;

    /// What a tenant's calls came to that were reserved from the first time on and before the second.
    /// Days and months newest first; all else by money, then tokens, the greatest first, then by name.
    /// At most `most` and [`crate::limits::SPEND_SUMS`].
    async fn spent(
        &self,
        tenant: &Tenant,
        between: (Timestamp, Timestamp),
        by: SpendBy,
        most: usize,
    ) -> Result<Vec<SpendSum>, StoreError>;
}

/// All seams of one store.
pub trait Store: SessionStore + JobStore + ExtractionStore + Index {}

impl<T: SessionStore + JobStore + ExtractionStore + Index> Store for T {}
