//! What a store should have become: lists that are searched from the front.

mod beliefs;
mod embedded;
mod log;
mod seen;
mod work;

use std::collections::BTreeMap;

use daybook_domain::claim::Rounds;
use daybook_domain::index::{Document, FileEntry, Filter, Found};
use daybook_domain::source::{Import, Source};
use daybook_domain::{
    Event, EventSeq, Evidence, ExtractionRecord, Gap, Job, JobKind, NewEvent, Observation, Project,
    Scope, Session, SessionId, Tally, Tenant, Timestamp,
};

use super::view;
use crate::fixtures::project_scope;

/// A store as it should be.
#[derive(Debug, Default)]
pub struct Spec {
    sessions: Vec<Known>,
    log: Vec<Logged>,
    /// What each file was known as over time, the present last, each with the import that said so.
    files: BTreeMap<String, Vec<FileState>>,
    imports: Vec<Import>,
    begun: i64,
    /// Sessions that an import brought in.
    born: Vec<(i64, SessionId)>,
    roots: BTreeMap<String, Project>,
    projects: BTreeMap<String, Project>,
    jobs: Vec<Job>,
    gaps: Vec<Gap>,
    rounds: BTreeMap<JobKind, Rounds>,
    tallies: Vec<Tally>,
    revisions: BTreeMap<Scope, u64>,
    passes: Vec<Pass>,
    pieces: Vec<Piece>,
    taken_back: Vec<TakenBack>,
    entries: Vec<(Scope, String, Timestamp, FileEntry)>,
    model: Option<String>,
    /// What has vectors, each with the words that they are of.
    embedded: Vec<(String, String)>,
}

/// What a file was known as, and the import that said so.
type FileState = (Option<i64>, Option<Source>);

#[derive(Debug)]
struct Known {
    session: Session,
    first_file: Option<String>,
}

#[derive(Debug)]
struct Logged {
    session: SessionId,
    event: Event,
    new: NewEvent,
    import: Option<i64>,
}

#[derive(Debug)]
struct Pass {
    record: ExtractionRecord,
    generation: u32,
    live: bool,
}

/// One piece of evidence, with the observation that it was brought for.
#[derive(Debug, Clone)]
struct Piece {
    observation: Observation,
    evidence: Evidence,
    generation: Option<u32>,
    live: bool,
}

#[derive(Debug, Clone)]
struct TakenBack {
    observation: Observation,
    session: SessionId,
    seq: EventSeq,
    root: Option<String>,
}

/// Events of a piece of evidence; position 0 stands for none.
fn positions(evidence: &Evidence) -> Vec<EventSeq> {
    match evidence.events.as_slice() {
        [] => vec![EventSeq(0)],
        events => events.to_vec(),
    }
}

/// The observation that pieces of evidence make: the earliest lends its words.
fn merged(mut pieces: Vec<&Piece>) -> Observation {
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
        evidence,
        ..pieces[0].observation.clone()
    }
}

fn admits(filter: &Filter, document: &Document) -> bool {
    let scope = filter.scopes.as_ref().is_none_or(|scopes| {
        document
            .scope
            .as_ref()
            .is_some_and(|scope| scopes.contains(scope))
    });
    let origin = match &document.what {
        Found::Event { origin } => filter.origins.is_empty() || filter.origins.contains(origin),
        Found::Entry { .. } | Found::Observation { .. } => true,
    };
    scope
        && origin
        && document
            .scope
            .as_ref()
            .is_none_or(|s| s.tenant == Tenant::local())
}
