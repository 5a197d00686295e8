//! Feeds sessions into threads, and looks for what was insisted on when they end.

use std::path::Path;
use std::sync::Arc;

use daybook_domain::page::read_all;
use daybook_domain::seams::{SessionCatalog, SessionLog};
use daybook_domain::working::{ThreadEvent, ThreadStore};
use daybook_domain::{BoxError, Event, EventSeq, SessionId, Timestamp};
use daybook_engine::append::IngestContext;
use daybook_text::redact::Redactor;
use daybook_working::compact::estimate;
use daybook_working::context::{ContextOptions, build};
use daybook_working::manager::{MemoryManager, MemoryManagerConfig, WorkingError};
use daybook_working::reduce::ReducerRegistry;
use daybook_working::thread_event;
use serde::Serialize;

use super::cases::{Insisted, InsistedCases, InsistedSession};
use crate::ask::{RecallOptions, ask, prepare};
use crate::dataset::Split;
use crate::error::EvalError;
use crate::ingest::import_transcripts;

/// Tokens of the window of the agent's model, and those that are kept free for its answer.
const WINDOW: (u32, u32) = (8_192, 1_024);
/// Results of recall that count.
const FIRST: usize = 3;
/// Most events that are read at once, and most bytes of their texts.
const PAGE: (usize, usize) = (1_024, 16 << 20);
const TRANSCRIPT: &str = "transcript";

/// A fresh memory that also keeps threads.
pub struct ThreadMemory {
    /// Takes transcripts in.
    pub intake: IngestContext,
    /// The same store, for threads.
    pub threads: Arc<dyn ThreadStore>,
}

/// Makes a fresh memory.
pub type FreshThreads<'a> = dyn Fn() -> Result<ThreadMemory, BoxError> + 'a;

/// How many insisted things were where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct InsistedCount {
    /// All of them.
    pub all: usize,
    /// In the context.
    pub in_context: usize,
    /// In the first three results of recall.
    pub in_recall: usize,
    /// In either.
    pub kept: usize,
}

impl InsistedCount {
    fn note(&mut self, record: &InsistedRecord) {
        self.all += 1;
        self.in_context += usize::from(record.in_context);
        self.in_recall += usize::from(record.in_recall);
        self.kept += usize::from(record.in_context || record.in_recall);
    }
}

/// What became of one insisted thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InsistedRecord {
    /// The line of the transcript.
    pub line: u32,
    /// What it is.
    pub about: String,
    /// Whether its words are in the context.
    pub in_context: bool,
    /// Whether they are in the first three results of recall.
    pub in_recall: bool,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionRecord {
    /// Its transcript.
    pub file: String,
    /// What it is used for.
    pub split: Split,
    /// Events that were fed into the thread.
    pub events: usize,
    /// Compactions.
    pub compactions: usize,
    /// Tokens of the context at the end.
    pub context_tokens: u32,
    /// What was insisted on.
    pub insisted: Vec<InsistedRecord>,
}

/// All sessions, with the counts of both splits.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ThreadsReport {
    /// Things on which parameters were chosen.
    pub tune: InsistedCount,
    /// Things for reporting alone.
    pub report: InsistedCount,
    /// Each session.
    pub sessions: Vec<SessionRecord>,
}

/// Runs the sessions of `split`, or all, whose transcripts are below `folder`.
///
/// # Errors
/// When a transcript cannot be read or does not hold the words of a label in its line, or a memory fails.
pub async fn run_threads(
    cases: &InsistedCases,
    split: Option<Split>,
    folder: &Path,
    fresh: &FreshThreads<'_>,
    options: &RecallOptions,
) -> Result<ThreadsReport, EvalError> {
    let mut report = ThreadsReport::default();
    let wanted = cases
        .sessions
        .iter()
        .filter(|case| split.is_none_or(|split| split == case.split));
    for case in wanted {
        let session = run_session(case, folder, fresh, options).await?;
        let count = match case.split {
            Split::Tune => &mut report.tune,
            Split::Report => &mut report.report,
        };
        session
            .insisted
            .iter()
            .for_each(|record| count.note(record));
        report.sessions.push(session);
    }
    Ok(report)
}

async fn run_session(
    case: &InsistedSession,
    folder: &Path,
    fresh: &FreshThreads<'_>,
    options: &RecallOptions,
) -> Result<SessionRecord, EvalError> {
    let path = folder.join(&case.file);
    let events = {
        let memory = fresh().map_err(EvalError::NoMemory)?;
        import_transcripts(&memory.intake, &path).await?;
        longest_session(&memory.intake).await?
    };
    for insisted in &case.insisted {
        check_label(&path, insisted, &events)?;
    }
    let memory = fresh().map_err(EvalError::NoMemory)?;
    let manager = manager(&memory);
    let (thread, events, compactions) = feed(&manager, &events).await?;
    let state = manager.current_state(&thread).await.map_err(failed)?;
    let window = ContextOptions::new(WINDOW.0, WINDOW.1);
    let context = build(&state, &window, &estimate);
    let context = context.map_err(|error| EvalError::NoMemory(error.into()))?;
    let shown: Vec<_> = context.messages.iter().map(|it| it.text.as_str()).collect();
    let shown = plain(&shown.join("\n"));
    let (store, tenant) = (&*memory.intake.store, &memory.intake.tenant);
    prepare(store, tenant, options).await?;
    let mut records = Vec::new();
    for insisted in &case.insisted {
        let words = plain(&insisted.words);
        let found = ask(
            store,
            tenant,
            (&insisted.question, Timestamp::ZERO),
            options,
        )
        .await?;
        let mut first = found.results.iter().take(FIRST);
        records.push(InsistedRecord {
            line: insisted.line,
            about: insisted.about.clone(),
            in_context: shown.contains(&words),
            in_recall: first.any(|result| plain(&result.text).contains(&words)),
        });
    }
    Ok(SessionRecord {
        file: case.file.clone(),
        split: case.split,
        events,
        compactions,
        context_tokens: context.tokens,
        insisted: records,
    })
}

/// The events of the session with the most of them.
async fn longest_session(intake: &IngestContext) -> Result<Vec<Event>, EvalError> {
    let (store, tenant) = (&*intake.store, &intake.tenant);
    let sessions = read_all(|page| SessionCatalog::sessions(store, tenant, page)).await?;
    let Some(longest) = sessions.iter().max_by_key(|session| session.events) else {
        return Ok(Vec::new());
    };
    let (mut events, mut after) = (Vec::new(), EventSeq(0));
    loop {
        let (most, bytes) = PAGE;
        let page =
            SessionLog::events(store, &longest.id, after, longest.events, most, bytes).await?;
        let Some(last) = page.last().map(|event| event.seq) else {
            return Ok(events);
        };
        after = last;
        events.extend(page);
    }
}

/// A label must be true: its line holds its words.
fn check_label(path: &Path, insisted: &Insisted, events: &[Event]) -> Result<(), EvalError> {
    let words = plain(&insisted.words);
    let mut of_line = events.iter().filter(|event| event.line == insisted.line);
    if of_line.any(|event| plain(&event.text).contains(&words)) {
        return Ok(());
    }
    let problem = format!("the line does not hold the words of \"{}\"", insisted.about);
    let place = format!("line {}", insisted.line);
    Err(EvalError::malformed(path, TRANSCRIPT, place, &problem))
}

fn manager(memory: &ThreadMemory) -> MemoryManager {
    let config = MemoryManagerConfig {
        window_tokens: u64::from(WINDOW.0),
        tenant: memory.intake.tenant.clone(),
        redactor: Redactor::clone(&memory.intake.redactor),
        ..MemoryManagerConfig::default()
    };
    let clock = Arc::clone(&memory.intake.clock);
    let store = Arc::clone(&memory.threads);
    MemoryManager::new(store, ReducerRegistry::default(), None, clock, config)
}

/// Feeds events into a new thread, one after the other. Returns how many, and how often it was compacted.
async fn feed(
    manager: &MemoryManager,
    events: &[Event],
) -> Result<(SessionId, usize, usize), EvalError> {
    let (thread, _) = manager.create_thread().await.map_err(failed)?;
    let (mut fed, mut compactions) = (0, 0);
    for event in events {
        let Some(kind) = thread_event(event) else {
            continue;
        };
        let event = ThreadEvent::new(kind, event.at);
        manager.dispatch(&thread.id, &event).await.map_err(failed)?;
        compactions += usize::from(manager.is_blocked(&thread.id));
        manager
            .wait_while_compacting(&thread.id)
            .await
            .map_err(failed)?;
        fed += 1;
    }
    Ok((thread.id.clone(), fed, compactions))
}

fn failed(error: WorkingError) -> EvalError {
    match error {
        WorkingError::Store(error) => error.into(),
        error => EvalError::NoMemory(error.into()),
    }
}

/// A text in lower case with single blanks, and without the escapes of a context's elements.
fn plain(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&amp;", "&");
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}
