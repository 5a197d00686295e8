//! Redacts what was stored of a session before the present rules: its events in windows, then what is stored beside
//! them. Moves a session to its own folders on the way, where a person moved it to another project.
//!
//! Events come first. An extraction that read them before loses its lease, so that what is stored beside the events
//! cannot get a secret back once it was rescanned.
//!
//! Not here: what is a secret (`daybook_text::redact`), memory files and their history (`files`).

use std::collections::BTreeSet;

use daybook_domain::quarantine::QuarantinedObservation;
use daybook_domain::rescan::{
    EventRewrite, EvidenceRewrite, SessionRewrite, SessionTexts, StoredEvent, StoredEvidence,
    TextField, TextRewrite,
};
use daybook_domain::{
    ClaimedJob, Digest, EventSeq, Failure, FailureClass, FinishOutcome, JobKey, ObservationId,
    ObservationKind, RetryWait, Scope, Session, SessionId, StoreError,
};
use daybook_text::indexed::indexed_tokens;
use daybook_text::names::{redact_key, redact_name};
use daybook_text::redact::Redactor;
use daybook_text::rescan::{
    rescan_event, rescan_id, rescan_json, rescan_key, rescan_name, rescan_text,
};
use daybook_text::tokens::outlined_text;
use tracing::field::Empty;
use tracing::{Span, debug_span};

use super::WorkerContext;
use super::filing::{FolderProjects, observation_id};
use crate::guard::{ItemFailure, run_isolated};
use crate::projects::moved_sessions::MovedSession;
use crate::stage::within;

/// Most events of one window.
const EVENTS: usize = 1_000;
/// Most bytes of their texts. More holds the redactor, and a database's write lock, for longer.
const BYTES: usize = 1024 * 1024;

/// Result of the rescan of one window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RescanOutcome {
    /// It was read; this many stored values held a secret.
    Done(usize),
    /// It failed; the job stores when to retry.
    Failed(Failure),
    /// The lease was lost; another worker may have the job now.
    LeaseLost,
}

/// Rescans the claimed job's next window.
pub(super) async fn rescan(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
) -> Result<RescanOutcome, StoreError> {
    let JobKey::Redact(session) = claimed.token.job() else {
        return Ok(RescanOutcome::LeaseLost);
    };
    let span = debug_span!(
        "rescan",
        %session,
        after = claimed.after,
        upto = claimed.upto,
        rewritten = Empty,
        class = Empty,
        outcome = Empty,
    );
    let work = async {
        match run_isolated(read_and_finish(worker, claimed, session)).await {
            Ok(outcome) => Ok(outcome),
            Err(ItemFailure::Store(error)) => Err(error),
            Err(ItemFailure::Item(message)) => {
                let class = FailureClass::Content;
                fail(worker, claimed, Failure { class, message }).await
            }
        }
    };
    within(span, work, record_outcome).await
}

fn record_outcome(span: &Span, outcome: &RescanOutcome) {
    let word = match outcome {
        RescanOutcome::Done(0) => "nothing",
        RescanOutcome::Done(rewritten) => {
            span.record("rewritten", rewritten);
            "rewritten"
        }
        RescanOutcome::Failed(failure) => {
            span.record("class", failure.class.as_str());
            "failed"
        }
        RescanOutcome::LeaseLost => "lost",
    };
    span.record("outcome", word);
}

async fn fail(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    failure: Failure,
) -> Result<RescanOutcome, StoreError> {
    let _ = worker
        .fail(claimed, failure.clone(), RetryWait::Unspecified)
        .await?;
    Ok(RescanOutcome::Failed(failure))
}

async fn read_and_finish(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    id: &SessionId,
) -> Result<RescanOutcome, StoreError> {
    if claimed.deadly {
        let message = "reading it has ended one worker after another".to_owned();
        let class = FailureClass::Vanished;
        return fail(worker, claimed, Failure { class, message }).await;
    }
    let Some(job) = worker.store.job(claimed.token.job()).await? else {
        return Ok(RescanOutcome::LeaseLost);
    };
    // The position behind the events stands for what is stored beside them.
    let last = job.input.saturating_sub(1);
    let (finished, rewritten) = match claimed.after < last {
        true => rescan_events(worker, claimed, id, last).await?,
        false => rescan_session(worker, claimed, id).await?,
    };
    Ok(match finished {
        FinishOutcome::LeaseLost => RescanOutcome::LeaseLost,
        FinishOutcome::Complete | FinishOutcome::StillDue => RescanOutcome::Done(rewritten),
    })
}

async fn rescan_events(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    id: &SessionId,
    last: u64,
) -> Result<(FinishOutcome, usize), StoreError> {
    let (store, upto) = (&worker.store, claimed.upto.min(last));
    let range = (EventSeq(claimed.after), EventSeq(upto));
    let read = store
        .log_entries(id, range.0, range.1, EVENTS, BYTES)
        .await?;
    let moved = MovedSession::load(&**store, id).await?;
    let rewrites = read.iter().filter_map(|entry| {
        let hidden = rescan_event(&worker.redactor, entry);
        relocate_event(moved.as_ref(), entry, hidden)
    });
    let rewrites: Vec<_> = rewrites.collect();
    // Where an undone import left a hole, nothing is read up to the end.
    let read_upto = read.last().map_or(range.1, |entry| entry.event.seq);
    let now = worker.clock.now();
    let finished = store
        .rewrite_events(&claimed.token, read_upto, &rewrites, now)
        .await?;
    Ok((finished, rewrites.len()))
}

async fn rescan_session(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    id: &SessionId,
) -> Result<(FinishOutcome, usize), StoreError> {
    let (store, redactor) = (&worker.store, &worker.redactor);
    let stored = store.session_texts(id).await?;
    let moved = MovedSession::load(&**store, id).await?;
    let moved = moved.as_ref();
    let evidence = stored.evidence.iter();
    let evidence: Vec<EvidenceRewrite> = evidence
        .filter_map(|before| rescan_evidence(redactor, moved, before))
        .collect();
    let texts: Vec<TextRewrite> = stored
        .texts
        .iter()
        .filter_map(|(field, before)| rescan_field(redactor, moved, *field, before))
        .collect();
    let rewritten = evidence.len() + texts.len();
    let concerns = match (rewritten, store.session(id).await?) {
        (1.., Some(session)) => concerned_scopes(worker, &session, &stored).await?,
        (_, _) => Vec::new(),
    };
    let rewrite = SessionRewrite {
        rules: redactor.revision(),
        evidence,
        texts,
        concerns,
    };
    let now = worker.clock.now();
    let finished = store.rewrite_session(&claimed.token, &rewrite, now).await?;
    Ok((finished, rewritten))
}

/// The scopes whose pages show something of the session: those of its folders' projects, and the person's.
async fn concerned_scopes(
    worker: &WorkerContext,
    session: &Session,
    stored: &SessionTexts,
) -> Result<Vec<Scope>, StoreError> {
    let tenant = &session.id.tenant;
    let projects = FolderProjects::of(&*worker.store, tenant).await?;
    let mut scopes = BTreeSet::from([session.account_scope(&worker.person)]);
    scopes.extend(session.filing_scope());
    let digests = stored.texts.iter();
    for (_, json) in digests.filter(|(field, _)| *field == TextField::Digest) {
        let digest = serde_json::from_str::<Digest>(json).ok();
        let root = digest.and_then(|digest| digest.root);
        scopes.extend(root.and_then(|root| projects.scope(tenant, &root)));
    }
    Ok(scopes.into_iter().collect())
}

/// The event in its session's own folder, if the session was moved; else the rewrite that there is anyway.
fn relocate_event(
    moved: Option<&MovedSession>,
    before: &StoredEvent,
    hidden: Option<EventRewrite>,
) -> Option<EventRewrite> {
    let after = hidden.as_ref().map_or(before, |rewrite| &rewrite.after);
    let own = moved.zip(after.event.place.clone());
    let Some(own) = own.map(|(moved, place)| moved.place(place)) else {
        return hidden;
    };
    let mut after = after.clone();
    after.event.place = Some(own);
    (after != *before).then(|| EventRewrite {
        tokens: indexed_tokens(after.event.origin, &after.event.text),
        before: before.clone(),
        after,
    })
}

fn rescan_evidence(
    redactor: &Redactor,
    moved: Option<&MovedSession>,
    before: &StoredEvidence,
) -> Option<EvidenceRewrite> {
    let text = |text: &str| redactor.redact(text).text.into_owned();
    let name = |name: &String| redact_name(redactor, name).into_owned();
    let mut after = StoredEvidence {
        text: text(&before.text),
        context: before.context.as_deref().map(text),
        subject: before.subject.as_deref().map(text),
        branch: before.branch.as_ref().map(name),
        root: before
            .root
            .as_ref()
            .map(|root| redact_key(redactor, root).into_owned())
            .map(|root| moved.map_or_else(|| root.clone(), |moved| moved.root(&root))),
        ..before.clone()
    };
    if after == *before {
        return None;
    }
    after.id = new_identity(before, &after);
    Some(EvidenceRewrite {
        tokens: tokens_of(after.kind, &after.text, [&after.context, &after.subject]),
        before: before.clone(),
        after,
    })
}

/// The identity of an observation with other words. Where evidence was moved to another scope, the subject is no part
/// of the identity.
fn new_identity(before: &StoredEvidence, after: &StoredEvidence) -> ObservationId {
    let (scope, kind) = (&before.scope, before.kind);
    if before.id == ObservationId::of(scope, kind, &before.text) {
        return ObservationId::of(scope, kind, &after.text);
    }
    observation_id(scope, kind, (&after.text, after.subject.as_deref()))
}

/// What the index keeps of an observation. The context of a note only says who noted it.
fn tokens_of(kind: ObservationKind, text: &str, beside: [&Option<String>; 2]) -> String {
    if kind == ObservationKind::Note {
        return outlined_text(text);
    }
    let beside = beside.into_iter().flatten().map(String::as_str);
    let words: Vec<&str> = [text].into_iter().chain(beside).collect();
    outlined_text(&words.join(" "))
}

fn rescan_field(
    redactor: &Redactor,
    moved: Option<&MovedSession>,
    field: TextField,
    before: &str,
) -> Option<TextRewrite> {
    let hidden = redact_field(redactor, field, before);
    let kept = hidden.as_deref().unwrap_or(before);
    let own = moved.and_then(|moved| relocate_field(moved, field, kept));
    own.or(hidden).map(|after| TextRewrite {
        field,
        before: before.to_owned(),
        after,
    })
}

/// A text that names the session's folder, with the session's own folder; `None` for any other.
fn relocate_field(moved: &MovedSession, field: TextField, text: &str) -> Option<String> {
    match field {
        TextField::RetractionRoot => Some(moved.root(text)),
        TextField::Digest => {
            let mut digest: Digest = serde_json::from_str(text).ok()?;
            digest.root = digest.root.map(|root| moved.root(&root));
            serde_json::to_string(&digest).ok()
        }
        TextField::Quarantined => {
            let mut waiting: Vec<QuarantinedObservation> = serde_json::from_str(text).ok()?;
            let pieces = waiting.iter_mut().map(|one| &mut one.observation.evidence);
            for piece in pieces.flatten() {
                piece.root = piece.root.take().map(|root| moved.root(&root));
            }
            serde_json::to_string(&waiting).ok()
        }
        _ => None,
    }
    .filter(|after| after != text)
}

fn redact_field(redactor: &Redactor, field: TextField, before: &str) -> Option<String> {
    match field {
        TextField::ForkedFrom
        | TextField::RoomId
        | TextField::ThreadId
        | TextField::SourceClaimedId
        | TextField::ImportedClaimedId => rescan_id(redactor, before),
        TextField::User
        | TextField::Team
        | TextField::FiledIn
        | TextField::FirstSource
        | TextField::SourcePath
        | TextField::ImportedPath
        | TextField::RemoteRoot
        | TextField::RetractionRoot => rescan_key(redactor, before),
        TextField::Surface | TextField::RemoteName => rescan_name(redactor, before),
        TextField::ThreadCustom | TextField::Digest | TextField::StagedWrites => {
            rescan_json(redactor, before)
        }
        // A reader's state without its secret is of no use: its file is read from the beginning.
        TextField::SourceState | TextField::ImportedState => {
            rescan_text(redactor, before).map(|_| String::new())
        }
        TextField::SourceBadLine
        | TextField::SourceFailure
        | TextField::ImportedBadLine
        | TextField::ImportedFailure
        | TextField::ImportWhat
        | TextField::Retraction
        | TextField::JobFailure
        | TextField::GapFailure => rescan_text(redactor, before),
        TextField::Quarantined => rescan_quarantined(redactor, before),
    }
}

/// Quarantined observations keep what a person decided about them.
fn rescan_quarantined(redactor: &Redactor, json: &str) -> Option<String> {
    let hidden = rescan_json(redactor, json)?;
    let read = |json| serde_json::from_str::<Vec<QuarantinedObservation>>(json).ok();
    let (Some(before), Some(mut after)) = (read(json), read(&hidden)) else {
        return Some(hidden);
    };
    for (before, after) in before.iter().zip(&mut after) {
        let (before, after) = (&before.observation, &mut after.observation);
        let subject = after.subject.as_deref();
        after.id = observation_id(&after.scope, after.kind, (&after.text, subject));
        after.scope.clone_from(&before.scope);
        after.tokens = tokens_of(after.kind, &after.text, [&after.context, &after.subject]);
    }
    serde_json::to_string(&after).ok().or(Some(hidden))
}
