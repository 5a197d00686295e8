//! Fills a fresh memory: with a benchmark's conversation, or with transcripts. Both come in through the
//! functions that users' sessions come in by.

use std::path::Path;

use daybook_domain::seams::Store;
use daybook_domain::{SessionKind, StoreError};
use daybook_engine::ingest::import::{FileReport, ImportProgress, Intake, import, scan};
use daybook_engine::ingest::told::{Role, Telling, Told, append_told};
use daybook_engine::stop::Stop;

use crate::dataset::{BenchmarkSession, BenchmarkTurn, Conversation, Speaker};
use crate::error::EvalError;

/// Appends each turn as one event at its time; the turn at index n becomes the event n + 1.
pub(crate) async fn append(intake: &Intake, conversation: &Conversation) -> Result<(), EvalError> {
    for session in &conversation.sessions {
        append_session(intake, session).await?;
        check(&*intake.store, session).await?;
    }
    Ok(())
}

async fn append_session(intake: &Intake, session: &BenchmarkSession) -> Result<(), StoreError> {
    let events = session.turns.iter().enumerate().map(event).collect();
    let telling = Telling {
        session: session.id.clone(),
        kind: Some(SessionKind::Root),
        user: None,
        place: None,
        events,
    };
    append_told(intake, telling).await?;
    Ok(())
}

fn event((index, turn): (usize, &BenchmarkTurn)) -> Told {
    Told {
        // Every turn has its own id: the same words said twice are two events.
        id: Some(index.to_string()),
        role: match turn.speaker {
            Speaker::Person => Role::User,
            Speaker::Assistant => Role::Assistant,
        },
        text: turn.text.clone(),
        at: Some(turn.at),
        tool: None,
    }
}

/// Evidence counts turns, so a turn that became no event of its own would shift all that follow.
async fn check(store: &dyn Store, session: &BenchmarkSession) -> Result<(), EvalError> {
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
/// When none of its files is a transcript, one fails, or the store does.
pub async fn import_transcripts(intake: &Intake, folder: &Path) -> Result<(), EvalError> {
    let candidates = scan(&[folder.to_owned()]);
    let report = import(intake, "eval", candidates, &Stop::default(), &Unseen).await?;
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

/// Import without a report of its progress.
struct Unseen;

impl ImportProgress for Unseen {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}
