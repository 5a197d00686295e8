//! Collects what memory already holds on a window's topics, so that an extractor does not repeat it.
//!
//! The diary is read from its files rather than from the store: its newest days are a few small files,
//! where the store would return everything that a scope ever observed; and a person's changes and deletions
//! there are respected. While a session is read again only its own summary is shown: the rest may be what
//! this very session taught, and would be lost with the previous generation.
//!
//! Not here: how it is shown, and its limits (`extract::model`).

use std::collections::BTreeSet;

use daybook_domain::index::MemoryLayer;
use daybook_domain::{ClaimedJob, Event, EventSeq, Origin, Scope, Session, StoreError, Timestamp};
use tracing::warn;

use super::WorkerContext;
use super::filing::{FolderProjects, agent_scope, person_scope};
use crate::extract::KnownMemory;
use crate::files::diary;
use crate::files::layout::folder;
use crate::recall::search::{RecallQuestion, recall};
use daybook_text::redact::Redactor;

/// Number of a person's newest messages that are searched for, and bytes of each: the beginning states the
/// topic, and each word is one more search.
const MESSAGES: usize = 4;
const BEGINNING: usize = 64;

/// Existing knowledge on a window's topics.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    recent: Vec<String>,
    relevant: Vec<String>,
    summary: Option<String>,
}

/// Position of a window in its session.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowStart {
    /// The last event before it.
    pub(super) after: u64,
    /// The generation that reads it.
    pub(super) redo: u32,
    /// Whether that generation has yet to catch up with the one before.
    pub(super) is_redone: bool,
}

impl From<&ClaimedJob> for WindowStart {
    fn from(claimed: &ClaimedJob) -> Self {
        Self {
            after: claimed.after,
            redo: claimed.redo,
            is_redone: claimed.is_redone,
        }
    }
}

impl Knowledge {
    pub(super) fn known(&self) -> KnownMemory<'_> {
        KnownMemory {
            recent: &self.recent,
            relevant: &self.relevant,
            summary: self.summary.as_deref(),
        }
    }

    /// Collects knowledge on the topics of a window's `events`.
    pub(super) async fn gather(
        worker: &WorkerContext,
        at: WindowStart,
        session: &Session,
        events: &[Event],
        projects: &FolderProjects,
    ) -> Result<Self, StoreError> {
        let redactor = Redactor::current();
        let hide = |text: String| redactor.redact(&text).text.into_owned();
        let next = EventSeq(at.after + 1);
        let digest = worker.store.digest_before(&session.id, at.redo, next);
        let summary = digest.await?.and_then(|digest| digest.summary);
        let mut knowledge = Self {
            summary: summary.map(hide),
            ..Self::default()
        };
        if !at.is_redone {
            let scopes = scopes(worker, session, events, projects);
            let relevant = relevant_memories(worker, session, events, &scopes).await?;
            knowledge.relevant = relevant.into_iter().map(hide).collect();
            knowledge.recent = recent_lines(worker, &scopes)
                .into_iter()
                .map(hide)
                .collect();
        }
        Ok(knowledge)
    }
}

/// The scopes in which drafts from the events can be filed.
fn scopes(
    worker: &WorkerContext,
    session: &Session,
    events: &[Event],
    projects: &FolderProjects,
) -> BTreeSet<Scope> {
    let tenant = &session.id.tenant;
    if let Some(filed) = session.filing_scope() {
        return BTreeSet::from([filed]);
    }
    let person = session.user.as_deref().unwrap_or(&worker.person);
    let places = events.iter().filter_map(|event| event.place.as_ref());
    places
        .filter_map(|place| projects.scope(tenant, &place.root))
        .chain([person_scope(tenant, person)])
        .chain(agent_scope(session))
        .collect()
}

/// The newest lines of the scopes' diaries, oldest first.
fn recent_lines(worker: &WorkerContext, scopes: &BTreeSet<Scope>) -> Vec<String> {
    let limits = worker.limits.known;
    let mut lines = Vec::new();
    for scope in scopes {
        match diary::tail(&folder(&worker.root, scope), limits.diary_lines) {
            Ok(tail) => lines.extend(tail),
            // Without the diary a fact may be extracted twice; consolidation merges the two.
            Err(error) => warn!(%scope, %error, outcome = "diary_unread"),
        }
    }
    lines.sort_by(|(one, _), (other, _)| one.cmp(other));
    let last = lines.split_off(lines.len().saturating_sub(limits.diary_lines));
    let dated = |(day, line): (String, String)| format!("{day} {line}");
    let cut = |line: String| line.chars().take(limits.snippet_chars).collect();
    last.into_iter().map(dated).map(cut).collect()
}

/// Memories on the topics of the person's messages, best first. Raw events do not count as memory.
async fn relevant_memories(
    worker: &WorkerContext,
    session: &Session,
    events: &[Event],
    scopes: &BTreeSet<Scope>,
) -> Result<Vec<String>, StoreError> {
    let limits = worker.limits.known;
    if limits.snippets == 0 {
        return Ok(Vec::new());
    }
    let human = events
        .iter()
        .rev()
        .filter(|event| event.origin == Origin::Human);
    let beginning =
        |event: &Event| event.text[..event.text.floor_char_boundary(BEGINNING)].to_owned();
    let words: Vec<String> = human.take(MESSAGES).map(beginning).collect();
    let words = words.join("\n");
    let question = RecallQuestion {
        text: &words,
        reach: daybook_domain::Reach::Scopes(scopes.iter().cloned().collect()),
        layers: vec![MemoryLayer::Entry, MemoryLayer::Observation],
        tools: false,
        limit: limits.snippets,
        rare: true,
        embedder: None,
        until: None,
        now: Timestamp::ZERO,
    };
    let recalled = recall(&*worker.store, &session.id.tenant, &question).await?;
    let snippet = |text: String| text.chars().take(limits.snippet_chars).collect();
    let texts = recalled.answers.into_iter().map(|answer| answer.text);
    Ok(texts.map(snippet).collect())
}
