//! Fills a fresh memory with a benchmark's conversation or with transcripts, through the functions that take in users'
//! sessions.

use std::path::Path;

use daybook_domain::seams::SessionCatalog;
use daybook_domain::{Scope, SessionId, SessionKind, StoreError};
use daybook_engine::append::IngestContext;
use daybook_engine::append::batch::{AppendBatch, ReportedEvent, SpeakerRole, append_batch};
use daybook_engine::import::{FileReport, ImportProgress, import, scan};
use daybook_engine::jobs::{WorkError, WorkProgress, WorkerContext, work};
use daybook_engine::stop::Stop;

use crate::dataset::{BenchmarkConversation, BenchmarkSession, BenchmarkSpeaker, BenchmarkTurn};
use crate::error::EvalError;

/// Appends each turn as one event with its time; the turn at index n becomes event n + 1.
pub(crate) async fn append(
    intake: &IngestContext,
    conversation: &BenchmarkConversation,
) -> Result<(), EvalError> {
    for session in &conversation.sessions {
        append_session(intake, session).await?;
        check(&*intake.store, session).await?;
    }
    Ok(())
}

async fn append_session(
    intake: &IngestContext,
    session: &BenchmarkSession,
) -> Result<(), StoreError> {
    let events = session.turns.iter().enumerate().map(event).collect();
    let telling = AppendBatch {
        session: session.id.clone(),
        kind: Some(SessionKind::Root),
        user: None,
        place: None,
        venue: daybook_domain::Venue::default(),
        events,
    };
    append_batch(intake, telling).await?;
    Ok(())
}

fn event((index, turn): (usize, &BenchmarkTurn)) -> ReportedEvent {
    ReportedEvent {
        // Every turn has its own id, so that repeated words are separate events.
        id: Some(index.to_string()),
        role: match turn.speaker {
            BenchmarkSpeaker::Person => SpeakerRole::User,
            BenchmarkSpeaker::Assistant => SpeakerRole::Assistant,
        },
        text: turn.text.clone(),
        at: Some(turn.at),
        tool: None,
        external: false,
    }
}

/// Checks that every turn became one event: evidence counts turns, so a missing event would shift all that follow.
async fn check(store: &dyn SessionCatalog, session: &BenchmarkSession) -> Result<(), EvalError> {
    let stored = store.session(&session.id).await?;
    let events = stored.map_or(0, |stored| stored.events.0);
    if events == session.turns.len() as u64 {
        return Ok(());
    }
    let turns = session.turns.len();
    let problem = format!(
        "session {} has {turns} turns and {events} events",
        session.id
    );
    Err(StoreError::Corrupt(problem).into())
}

/// Imports the transcripts in `folder`.
///
/// # Errors
/// When no file is a transcript, when one cannot be imported, or when the store fails.
pub async fn import_transcripts(intake: &IngestContext, folder: &Path) -> Result<(), EvalError> {
    let candidates = scan(&[folder.to_owned()]);
    let report = import(
        intake,
        "eval",
        candidates,
        &Stop::default(),
        &EvalImportProgress,
    )
    .await?;
    if let Some(failed) = report.failed().next() {
        let why = failed.status.failure().unwrap_or_default();
        let path = Path::new(&failed.path);
        return Err(EvalError::malformed(path, TRANSCRIPT, "import", why));
    }
    if report.added() == 0 {
        return Err(EvalError::NoTranscript(folder.to_owned()));
    }
    Ok(())
}

const TRANSCRIPT: &str = "transcript";

/// Discards the progress of an import.
struct EvalImportProgress;

impl ImportProgress for EvalImportProgress {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}

/// Extracts and consolidates all that was appended or imported.
///
/// # Errors
/// When the store or the files fail.
pub async fn extract_and_consolidate(worker: &WorkerContext) -> Result<(), EvalError> {
    let worked = work(worker, &Stop::default(), &EvalWorkProgress).await;
    worked.map(drop).map_err(|error| match error {
        WorkError::Store(error) => EvalError::Store(error),
        WorkError::Files(error) => EvalError::NoMemory(Box::new(error)),
    })
}

/// Discards the progress of extraction and consolidation.
struct EvalWorkProgress;

impl WorkProgress for EvalWorkProgress {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}
