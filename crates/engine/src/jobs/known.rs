//! What is known already about a window's matters, for an extractor that shall not tell it again.
//!
//! The diary is read from its files rather than from the store: its newest days are a few small files, where
//! the store would hand over all that a scope ever observed; and what a person changed or deleted there is as
//! they left it. While a session is read anew nothing of it is shown but its own summary: what is known may
//! be what this very session taught, and would be lost with the generation before.
//!
//! Not here: how it is shown, and bounds of that (`extract::model`).

use std::collections::BTreeSet;

use daybook_domain::index::Layer;
use daybook_domain::{Claimed, Event, EventSeq, Origin, Scope, Session, StoreError, Timestamp};
use tracing::warn;

use super::Workshop;
use super::filing::{Projects, person_scope};
use crate::extract::Known;
use crate::files::diary;
use crate::files::layout::folder;
use crate::ingest::redact::Redactor;
use crate::recall::search::{Question, recall};

/// Lines of the diary (seed 004: `daily_tail_lines`).
const DIARY_LINES: usize = 80;
/// Memories on the window's matters (seed 004: `memory_snippets`).
const SNIPPETS: usize = 5;
/// Most characters of one of them (seed 004: `snippet_max_chars`).
const SNIPPET_CHARS: usize = 400;
/// How many of a person's newest messages memories are looked for by, and how many bytes of each: beginnings
/// say what it is about, and each word is one more search.
const MESSAGES: usize = 4;
const BEGINNING: usize = 64;

/// What is known already.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    recent: Vec<String>,
    relevant: Vec<String>,
    summary: Option<String>,
}

/// Where in a session a window begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning {
    /// The last event before it.
    pub(super) after: u64,
    /// Which generation reads it.
    pub(super) redo: u32,
    /// Whether that generation has yet to catch up with the one before.
    pub(super) is_redone: bool,
}

impl From<&Claimed> for Beginning {
    fn from(claimed: &Claimed) -> Self {
        Self {
            after: claimed.after,
            redo: claimed.redo,
            is_redone: claimed.is_redone,
        }
    }
}

impl Knowledge {
    pub(super) fn known(&self) -> Known<'_> {
        Known {
            recent: &self.recent,
            relevant: &self.relevant,
            summary: self.summary.as_deref(),
        }
    }

    /// What is known of what a window's `events` are about.
    pub(super) async fn gather(
        shop: &Workshop,
        at: Beginning,
        session: &Session,
        events: &[Event],
        projects: &Projects,
    ) -> Result<Self, StoreError> {
        let redactor = Redactor::standard();
        let hide = |text: String| redactor.redact(&text).text.into_owned();
        let next = EventSeq(at.after + 1);
        let digest = shop.store.digest_before(&session.id, at.redo, next);
        let summary = digest.await?.and_then(|digest| digest.summary);
        let mut knowledge = Self {
            summary: summary.map(hide),
            ..Self::default()
        };
        if !at.is_redone {
            let scopes = scopes(shop, session, events, projects);
            let relevant = relevant(shop, session, events, &scopes).await?;
            knowledge.relevant = relevant.into_iter().map(hide).collect();
            knowledge.recent = recent(shop, &scopes).into_iter().map(hide).collect();
        }
        Ok(knowledge)
    }
}

/// Whose memories what the events teach can be filed in.
fn scopes(
    shop: &Workshop,
    session: &Session,
    events: &[Event],
    projects: &Projects,
) -> BTreeSet<Scope> {
    let tenant = &session.id.tenant;
    let person = session.user.as_deref().unwrap_or(&shop.person);
    let places = events.iter().filter_map(|event| event.place.as_ref());
    places
        .filter_map(|place| projects.scope(tenant, &place.root))
        .chain([person_scope(tenant, person)])
        .collect()
}

/// The newest lines of the scopes' diaries, oldest first.
fn recent(shop: &Workshop, scopes: &BTreeSet<Scope>) -> Vec<String> {
    let mut lines = Vec::new();
    for scope in scopes {
        match diary::tail(&folder(&shop.root, scope), DIARY_LINES) {
            Ok(told) => lines.extend(told),
            // Without it something may be told twice, which consolidation brings together.
            Err(error) => warn!(%scope, %error, outcome = "diary_unread"),
        }
    }
    lines.sort_by(|(one, _), (other, _)| one.cmp(other));
    let last = lines.split_off(lines.len().saturating_sub(DIARY_LINES));
    let dated = |(day, line): (String, String)| format!("{day} {line}");
    last.into_iter().map(dated).collect()
}

/// What memory holds on what the person talks about, best first. Raw events are no memory.
async fn relevant(
    shop: &Workshop,
    session: &Session,
    events: &[Event],
    scopes: &BTreeSet<Scope>,
) -> Result<Vec<String>, StoreError> {
    let human = events
        .iter()
        .rev()
        .filter(|event| event.origin == Origin::Human);
    let beginning =
        |event: &Event| event.text[..event.text.floor_char_boundary(BEGINNING)].to_owned();
    let words: Vec<String> = human.take(MESSAGES).map(beginning).collect();
    let words = words.join("\n");
    let question = Question {
        text: &words,
        scopes: Some(scopes.iter().cloned().collect()),
        layers: vec![Layer::Entry, Layer::Observation],
        tools: false,
        limit: SNIPPETS,
        rare: true,
        embedder: None,
        now: Timestamp::ZERO,
    };
    let recalled = recall(&*shop.store, &session.id.tenant, &question).await?;
    let snippet = |text: String| text.chars().take(SNIPPET_CHARS).collect();
    let texts = recalled.answers.into_iter().map(|answer| answer.text);
    Ok(texts.map(snippet).collect())
}
