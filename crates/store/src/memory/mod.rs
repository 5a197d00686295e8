//! A store in memory: the seams' promises without a disk, for tests and for what must leave no trace.
//!
//! One lock guards everything and each call holds it once, so every call is one transaction. What
//! can be refused is refused before anything changes.
//!
//! Not here: rules. They are in `domain` and in the pure modules beside this one.

mod evidence_rows;
mod extractions;
mod index;
mod jobs;
mod places;
mod sessions;
mod sources;
mod spend;
mod threads;
mod trees;
mod undo;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use daybook_domain::claim::Rounds;
use daybook_domain::index::FileEntry;
use daybook_domain::source::{Import, Source};
use daybook_domain::{
    EntityWrite, Event, EventId, EventSeq, ExtractionRecord, Gap, Job, JobKey, JobKind,
    ObservationId, ObservationKind, Project, RemoteSource, Scope, Session, SessionId, Tallied,
    Tenant, Timestamp,
};

use tokio::sync::watch;

use crate::evidence::Piece;

/// A store in memory.
#[doc(alias = "InMemoryStorageProvider")]
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
    version: watch::Sender<u64>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whoever asks for it may change it: a needless look is cheaper than a missed change.
    fn changing(&self) -> MutexGuard<'_, State> {
        let state = self.state();
        self.version.send_modify(|version| *version += 1);
        state
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everything that is remembered. Numbers grow with age and are never given twice.
#[derive(Debug, Default)]
struct State {
    numbers: BTreeMap<SessionId, i64>,
    sessions: BTreeMap<SessionId, SessionRow>,
    sources: BTreeMap<(Tenant, String), Source>,
    imports: BTreeMap<i64, ImportRow>,
    last_import: i64,
    roots: BTreeMap<(Tenant, String), RootRow>,
    /// What sessions show of folders' remotes.
    remotes: BTreeSet<RemoteRow>,
    /// By identity.
    projects: BTreeMap<(Tenant, String), Project>,
    jobs: BTreeMap<JobKey, Job>,
    gaps: BTreeMap<(JobKey, u64), Gap>,
    rounds: BTreeMap<JobKind, Rounds>,
    tallies: BTreeMap<(JobKind, Tallied), u64>,
    /// The revision of each scope.
    scopes: BTreeMap<Scope, u64>,
    extractions: Vec<ExtractionRow>,
    observations: BTreeMap<i64, ObservationRow>,
    last_observation: i64,
    evidence: BTreeMap<i64, EvidenceRow>,
    last_evidence: i64,
    retractions: BTreeMap<RetractionKey, Retracted>,
    /// The tokens of each document.
    documents: BTreeMap<i64, index::Indexed>,
    /// The model of each tenant's vectors.
    models: BTreeMap<Tenant, String>,
    vectors: BTreeMap<i64, index::Vectors>,
    unembedded: BTreeSet<i64>,
    files: BTreeMap<(Scope, String), FileRow>,
    entries: BTreeMap<i64, EntryRow>,
    last_entry: i64,
    trees: BTreeMap<Scope, trees::TreeRow>,
    spend: spend::Book,
    threads: BTreeMap<SessionId, threads::Kept>,
}

/// Which project a root belongs to.
#[derive(Debug, Clone, Default)]
struct RootRow {
    project: Option<String>,
    derived: bool,
}

/// What one event shows of a folder's remote.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RemoteRow {
    session: SessionId,
    seq: EventSeq,
    root: String,
    remote: String,
    source: RemoteSource,
}

#[derive(Debug)]
struct SessionRow {
    no: i64,
    session: Session,
    last_line: u32,
    first_source: Option<String>,
    events: BTreeMap<EventSeq, Event>,
    /// What threads keep beside them.
    entries: BTreeMap<EventSeq, String>,
    ids: HashMap<EventId, EventSeq>,
}

#[derive(Debug)]
struct ImportRow {
    tenant: Tenant,
    import: Import,
    /// What it added: session, first and last event; last before first when only the session.
    ranges: Vec<(SessionId, u64, u64)>,
    /// The files it read, as they were known before.
    before: BTreeMap<String, Option<Source>>,
}

#[derive(Debug)]
struct ExtractionRow {
    record: ExtractionRecord,
    writes: Vec<EntityWrite>,
    generation: u32,
    live: bool,
}

#[derive(Debug)]
struct ObservationRow {
    scope: Scope,
    id: ObservationId,
    kind: ObservationKind,
    /// The tokens by which it is found, while it holds.
    held: Option<String>,
}

#[derive(Debug, Clone)]
struct EvidenceRow {
    observation: i64,
    live: bool,
    piece: Piece,
}

type RetractionKey = (Scope, ObservationId, SessionId, EventSeq);

/// What a retraction needs when its project gets another key.
#[derive(Debug, Clone)]
struct Retracted {
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

impl State {
    /// The number of a session, given when it is first named.
    fn number(&mut self, id: &SessionId) -> i64 {
        let next = self.numbers.len() as i64 + 1;
        *self.numbers.entry(id.clone()).or_insert(next)
    }
}
