//! A store in memory, for tests and for use without files.
//!
//! One lock guards everything and each call holds it once, so every call is one transaction. Checks that can
//! refuse a call run before anything changes.
//!
//! Not here: rules. They are in `domain` and in the pure modules beside this one.

mod evidence_rows;
mod extractions;
mod index;
mod jobs;
mod places;
mod pollution;
mod rescans;
mod selections;
mod sessions;
mod sources;
mod spend;
mod supersessions;
mod threads;
mod trees;
mod undo;
mod uses;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use daybook_domain::claim::Rounds;
use daybook_domain::index::FileEntry;
use daybook_domain::quarantine::QuarantinedObservation;
use daybook_domain::source::{ImportRun, TranscriptSource};
use daybook_domain::{
    EntityWrite, Event, EventId, EventSeq, ExtractionRecord, Gap, Job, JobKey, JobKind,
    ObservationId, ObservationKind, Project, ProposalRecord, RemoteSource, Scope, SelectionRecord,
    Session, SessionId, Supersession, TallyKind, Tenant, Timestamp,
};

use tokio::sync::watch;

use crate::evidence::EvidencePiece;
use crate::log::ScanState;

/// A store in memory.
#[doc(alias = "InMemoryStorageProvider")]
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<MemoryState>,
    version: watch::Sender<u64>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks the state for a change and raises the version, even if the call then changes nothing: a needless
    /// wake-up is cheaper than a missed change.
    fn lock_for_change(&self) -> MutexGuard<'_, MemoryState> {
        let state = self.lock();
        self.version.send_modify(|version| *version += 1);
        state
    }

    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All rows. Numbers grow with age and are never issued twice.
#[derive(Debug, Default)]
struct MemoryState {
    numbers: BTreeMap<SessionId, i64>,
    sessions: BTreeMap<SessionId, MemorySessionRow>,
    sources: BTreeMap<(Tenant, String), TranscriptSource>,
    imports: BTreeMap<i64, ImportRow>,
    last_import: i64,
    roots: BTreeMap<(Tenant, String), RootRow>,
    /// Evidence of folders' remotes, from sessions.
    remotes: BTreeSet<RemoteRow>,
    /// By identity.
    projects: BTreeMap<(Tenant, String), Project>,
    jobs: BTreeMap<JobKey, Job>,
    gaps: BTreeMap<(JobKey, u64), Gap>,
    rounds: BTreeMap<JobKind, Rounds>,
    tallies: BTreeMap<(JobKind, TallyKind), u64>,
    /// The revision of each scope.
    scopes: BTreeMap<Scope, u64>,
    /// What each scope's last successful consolidation selected.
    selections: BTreeMap<Scope, SelectionRecord>,
    proposals: BTreeMap<Scope, ProposalRecord>,
    extractions: Vec<ExtractionRow>,
    observations: BTreeMap<i64, ObservationRow>,
    last_observation: i64,
    evidence: BTreeMap<i64, MemoryEvidenceRow>,
    last_evidence: i64,
    retractions: BTreeMap<RetractionKey, RetractionRow>,
    /// The tokens of each document.
    documents: BTreeMap<i64, index::IndexedTokens>,
    /// The model of each tenant's vectors.
    models: BTreeMap<Tenant, String>,
    vectors: BTreeMap<i64, index::VectorRow>,
    unembedded: BTreeSet<i64>,
    files: BTreeMap<(Scope, String), FileRow>,
    entries: BTreeMap<i64, EntryRow>,
    last_entry: i64,
    trees: BTreeMap<Scope, trees::TreeRow>,
    spend: spend::SpendRows,
    threads: BTreeMap<SessionId, threads::StoredThread>,
    uses: uses::UseRows,
}

/// Which project a root belongs to.
#[derive(Debug, Clone, Default)]
struct RootRow {
    project: Option<String>,
    derived: bool,
}

/// Evidence of a folder's remote, from one event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RemoteRow {
    session: SessionId,
    seq: EventSeq,
    root: String,
    remote: String,
    source: RemoteSource,
}

#[derive(Debug)]
struct MemorySessionRow {
    no: i64,
    session: Session,
    last_line: u32,
    first_source: Option<String>,
    scan: ScanState,
    events: BTreeMap<EventSeq, Event>,
    /// What threads keep beside their events.
    entries: BTreeMap<EventSeq, String>,
    /// What they retract.
    retracts: BTreeMap<EventSeq, Vec<EventSeq>>,
    ids: HashMap<EventId, EventSeq>,
}

#[derive(Debug)]
struct ImportRow {
    tenant: Tenant,
    import: ImportRun,
    /// The events it added: session, first and last event; last before first when it only created the session.
    ranges: Vec<(SessionId, u64, u64)>,
    /// The files it read, in their state before.
    before: BTreeMap<String, Option<TranscriptSource>>,
}

#[derive(Debug)]
struct ExtractionRow {
    record: ExtractionRecord,
    writes: Vec<EntityWrite>,
    quarantined: Vec<QuarantinedObservation>,
    generation: u32,
    live: bool,
}

#[derive(Debug)]
struct ObservationRow {
    scope: Scope,
    id: ObservationId,
    kind: ObservationKind,
    /// The tokens by which the observation is found, while it holds.
    tokens: Option<String>,
    /// What ended its validity.
    ended: Option<Supersession>,
}

#[derive(Debug, Clone)]
struct MemoryEvidenceRow {
    observation: i64,
    live: bool,
    piece: EvidencePiece,
}

type RetractionKey = (Scope, ObservationId, SessionId, EventSeq);

/// The fields that move a retraction when its project gets another key.
#[derive(Debug, Clone)]
struct RetractionRow {
    kind: ObservationKind,
    text: String,
    root: Option<String>,
}

#[derive(Debug)]
struct FileRow {
    stamp: String,
    at: Timestamp,
    entries: Vec<i64>,
}

#[derive(Debug)]
struct EntryRow {
    scope: Scope,
    file: String,
    entry: FileEntry,
}

impl MemoryState {
    /// The number of a session, issued at its first use.
    fn number(&mut self, id: &SessionId) -> i64 {
        let next = self.numbers.len() as i64 + 1;
        *self.numbers.entry(id.clone()).or_insert(next)
    }
}
