//! Finds memory lines that likely answer a prompt, while its host waits.
//!
//! The embedded store is opened for a short time, and only for reading: without migrations, without creating anything
//! and without waiting for a lock. The hook answers nothing when the time is up, and where memory is on a server,
//! missing, damaged, or of another schema. Only words are compared: reading the vectors of a large memory takes longer
//! than a host should wait.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use daybook_domain::time::Clock;
use daybook_domain::{Reach, Scope, SessionId};
use daybook_engine::files::layout::run_folder;
use daybook_engine::files::reindex::is_indexed_as_it_is;
use daybook_engine::hook_events::shown_lines::ShownLines;
use daybook_engine::recall::from_files::{PersonsFiles, use_files};
use daybook_engine::recall::prompt::{
    self, MemoryLine, PROMPT_ANSWERS, PROMPT_LINES, SessionKnowledge, select_lines,
};
use daybook_engine::recall::search::{
    RankedAnswer, RecallQuestion, RecallResult, recall_conversation,
};
use daybook_store::SqliteStore;

use super::HookSession;
use crate::clock::SystemClock;
use crate::process::{block_on, start_time};
use crate::service::current_place::CurrentPlace;
use crate::settings::MemoryPlace;
use crate::terminal::suggest;
use crate::wiring::DATABASE;

/// The text with the lines that answer `prompt`; `None` when there are none.
pub(super) fn prompt_text(session: &HookSession<'_>, prompt: &str) -> Option<String> {
    let settings = session.settings;
    let until = start_time() + settings.prompt_recall;
    if settings.store != MemoryPlace::Folder || Instant::now() >= until {
        return None;
    }
    let question = prompt::question_of_prompt(prompt, SystemClock.now(), &settings.zone)?;
    let lines = match find_lines(session, &question, until) {
        Ok(lines) => lines,
        Err(error) => {
            tracing::debug!(%error, outcome = "not_recalled");
            return None;
        }
    };
    prompt::render_lines(&lines, &suggest::program())
}

/// Finds the lines that fit, and records them as given.
fn find_lines(
    session: &HookSession<'_>,
    question: &str,
    until: Instant,
) -> Result<Vec<MemoryLine>> {
    let root = session.root;
    let Some(store) = SqliteStore::open_to_peek(&root.join(DATABASE), until)? else {
        return Ok(Vec::new());
    };
    let at = session.current_place()?;
    let recalled = block_on(search(session, &store, &at, question))?;
    let id = SessionId {
        tenant: session.settings.tenant.clone(),
        agent: session.host.agent().to_owned(),
        host_id: session.id.to_owned(),
    };
    let run = run_folder(root, &session.settings.tenant);
    let mut given = ShownLines::read(&run, &id.agent, &id.host_id);
    let known = SessionKnowledge {
        session: Some(&id),
        prompt: question,
        loaded: &session.loaded_by_host(&at)?,
        is_shown: &|print| given.contains(print),
    };
    let lines = select_lines(&recalled, &known, PROMPT_LINES);
    if lines.is_empty() || !store.is_undisturbed() || Instant::now() >= until {
        return Ok(Vec::new());
    }
    given.add(lines.iter().flat_map(|line| line.fingerprints.all()));
    // Lines that cannot be recorded would be repeated with every prompt.
    given.write(SystemClock.now())?;
    Ok(lines)
}

/// Recalls from the scopes that apply to the session's place. Entries of a file that changed since it was indexed are
/// left out: a person may have deleted them.
async fn search(
    session: &HookSession<'_>,
    store: &SqliteStore,
    at: &CurrentPlace,
    question: &str,
) -> Result<RecallResult> {
    let settings = session.settings;
    let question = RecallQuestion {
        text: question,
        reach: Reach::Scopes(own_scopes(session, at)),
        layers: Vec::new(),
        tools: false,
        limit: PROMPT_ANSWERS,
        rare: false,
        embedder: None,
        until: None,
        now: SystemClock.now(),
    };
    let mut recalled = recall_conversation(store, &settings.tenant, &question).await?;
    let mut current = Vec::with_capacity(recalled.answers.len());
    for answer in recalled.answers {
        if is_current(session.root, store, &answer).await? {
            current.push(answer);
        }
    }
    recalled.answers = current;
    let files = PersonsFiles {
        root: session.root,
        person: &settings.person_scope(),
        zone: &settings.zone,
    };
    use_files(store, files, &question, &mut recalled).await?;
    Ok(recalled)
}

/// The scopes that apply, without those that a mem0 server keeps: it may be too slow for a prompt.
fn own_scopes(session: &HookSession<'_>, at: &CurrentPlace) -> Vec<Scope> {
    let mut scopes = session.scopes(at);
    scopes.retain(|scope| !session.settings.is_in_mem0(scope));
    scopes
}

async fn is_current(root: &Path, store: &SqliteStore, answer: &RankedAnswer) -> Result<bool> {
    match (&answer.scope, &answer.file) {
        (Some(scope), Some(file)) => Ok(is_indexed_as_it_is(store, root, scope, file).await?),
        (None, _) | (_, None) => Ok(true),
    }
}
