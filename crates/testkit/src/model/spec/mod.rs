//! The expected content of a store, as lists that are searched from the front.

mod expected_view;
mod jobs;
mod log;
mod observations;
mod vectors;

use std::collections::BTreeMap;

use daybook_domain::claim::Rounds;
use daybook_domain::index::{DocumentKind, FileEntry, IndexedDocument, SearchFilter};
use daybook_domain::source::{ImportRun, TranscriptSource};
use daybook_domain::{
    Event, EventSeq, Evidence, ExtractionRecord, Gap, Job, JobKind, NewEvent, Observation, Project,
    Scope, Session, SessionId, Tally, Tenant, Timestamp,
};

use super::view;
use crate::fixtures::project_scope;

/// A store as it should be.
#[derive(Debug, Default)]
pub struct Spec {
    sessions: Vec<KnownSession>,
    log: Vec<LoggedEvent>,
    /// Each file's records over time, the present one last, each with the import that wrote it.
    files: BTreeMap<String, Vec<FileState>>,
    imports: Vec<ImportRun>,
    begun: i64,
    /// Sessions that an import created.
    born: Vec<(i64, SessionId)>,
    roots: BTreeMap<String, Project>,
    projects: BTreeMap<String, Project>,
    jobs: Vec<Job>,
    gaps: Vec<Gap>,
    rounds: BTreeMap<JobKind, Rounds>,
    tallies: Vec<Tally>,
    revisions: BTreeMap<Scope, u64>,
    passes: Vec<ExtractionPass>,
    pieces: Vec<SupportingEvidence>,
    retractions: Vec<Retraction>,
    entries: Vec<(Scope, String, Timestamp, FileEntry)>,
    model: Option<String>,
    /// The documents with vectors, each with the text that they were made from.
    embedded: Vec<(String, String)>,
}

/// The import that wrote a file's record, and the record.
type FileState = (Option<i64>, Option<TranscriptSource>);

#[derive(Debug)]
struct KnownSession {
    session: Session,
    first_file: Option<String>,
}

#[derive(Debug)]
struct LoggedEvent {
    session: SessionId,
    event: Event,
    new: NewEvent,
    import: Option<i64>,
}

#[derive(Debug)]
struct ExtractionPass {
    record: ExtractionRecord,
    generation: u32,
    live: bool,
}

/// One piece of evidence, with the observation that it supports.
#[derive(Debug, Clone)]
struct SupportingEvidence {
    observation: Observation,
    evidence: Evidence,
    generation: Option<u32>,
    live: bool,
}

#[derive(Debug, Clone)]
struct Retraction {
    observation: Observation,
    session: SessionId,
    seq: EventSeq,
    root: Option<String>,
}

/// The events of a piece of evidence, or position 0 where it has none.
fn positions(evidence: &Evidence) -> Vec<EventSeq> {
    match evidence.events.as_slice() {
        [] => vec![EventSeq(0)],
        events => events.to_vec(),
    }
}

/// Merges pieces of evidence into one observation, with the text of the earliest piece.
fn merge_evidence(mut pieces: Vec<&SupportingEvidence>) -> Observation {
    pieces.sort_by_key(|piece| {
        let evidence = &piece.evidence;
        (
            evidence.at,
            &evidence.session,
            &evidence.events,
            piece.generation,
        )
    });
    let mut evidence: Vec<Evidence> = Vec::new();
    for piece in &pieces {
        let own = &piece.evidence;
        if !evidence
            .iter()
            .any(|e| e.session == own.session && e.events == own.events)
        {
            evidence.push(own.clone());
        }
    }
    Observation {
        stated: pieces.iter().any(|piece| piece.observation.stated),
        origin: pieces
            .iter()
            .map(|piece| piece.observation.origin)
            .max()
            .unwrap_or_default(),
        evidence,
        ..pieces[0].observation.clone()
    }
}

fn admits(filter: &SearchFilter, document: &IndexedDocument) -> bool {
    let scope = filter.scopes.as_ref().is_none_or(|scopes| {
        document
            .scope
            .as_ref()
            .is_some_and(|scope| scopes.contains(scope))
    });
    let origin = match &document.what {
        DocumentKind::Event { origin } => {
            filter.origins.is_empty() || filter.origins.contains(origin)
        }
        DocumentKind::Entry { .. } | DocumentKind::Observation { .. } => true,
    };
    scope
        && origin
        && document
            .scope
            .as_ref()
            .is_none_or(|s| s.tenant == Tenant::local())
}
