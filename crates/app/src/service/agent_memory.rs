//! Memory of agents that a mem0 server keeps, for every interface: asked with Daybook's own, and changed there alone.
//!
//! Nothing is answered in the server's place. Where it does not answer, a search names it beside what else was found, and
//! a change fails.
//!
//! Not here: whose memory is there (`Settings::is_in_mem0`), the server's calls (`models::mem0_server`), conversations
//! that it learns from (`models::mem0_server::conversations`).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use daybook_domain::index::MemoryLayer;
use daybook_domain::{Reach, Scope, Timestamp};
use daybook_engine::recall::confidence::Likelihood;
use daybook_engine::recall::search::{RankedAnswer, RecallResult};
use futures_util::future::join_all;

use super::RequestError;
use super::caller::parse_named;
use super::scope_choice::ScopeChoice;
use crate::models::mem0_server::{Mem0Error, Mem0Server, ServerMemory, is_id};
use crate::wiring::Daybook;

/// Longest wait for the answers to one question: an agent waits for them, and an answer over HTTP has 10 seconds in all.
const SEARCH: Duration = Duration::from_secs(5);
/// The similarity below which a memory is no answer to a strict question.
const STRICT: f64 = 0.5;

/// The server that keeps the memory of `scope`; `None` where Daybook does.
pub(crate) fn server_of(daybook: &Daybook, scope: &Scope) -> Result<Option<Mem0Server>> {
    match daybook.settings.is_in_mem0(scope) {
        true => daybook.models().mem0_server(),
        false => Ok(None),
    }
}

/// Splits what a caller reaches into what Daybook keeps, and the scopes that the server keeps.
pub(super) fn split(daybook: &Daybook, reach: Reach) -> (Reach, Vec<Scope>) {
    match reach {
        Reach::Scopes(scopes) => {
            let is_there = |scope: &Scope| daybook.settings.is_in_mem0(scope);
            let (there, here) = scopes.into_iter().partition(is_there);
            (Reach::Scopes(here), there)
        }
        Reach::Everything | Reach::Unnamed { .. } => (reach, Vec::new()),
    }
}

/// A question to the server.
pub(super) struct ServerQuestion<'a> {
    pub(super) text: &'a str,
    /// Most answers.
    pub(super) limit: usize,
    /// Whether it is about the past, of which the server keeps none.
    pub(super) is_about_past: bool,
    /// Only answers that are near.
    pub(super) strict: bool,
}

/// Adds what the server answers for `scopes` to what was recalled, or that it does not answer.
pub(super) async fn add_answers(
    daybook: &Daybook,
    query: &ServerQuestion<'_>,
    scopes: &[Scope],
    recalled: &mut RecallResult,
) -> Result<()> {
    let Some(server) = daybook.models().mem0_server()? else {
        return Ok(());
    };
    if query.is_about_past {
        let unanswered = scopes.iter();
        let unanswered = unanswered.map(|scope| format!("{scope}: a mem0 server keeps no past"));
        recalled.unanswered.extend(unanswered);
        return Ok(());
    }
    let least = query.strict.then_some(STRICT);
    let asked = scopes.iter().map(async |scope| {
        let search = server.search(scope, query.text, query.limit, least);
        let found = tokio::time::timeout(SEARCH, search).await;
        (
            scope,
            found.unwrap_or_else(|_| Err(Mem0Error::slow(SEARCH))),
        )
    });
    let mut lists = vec![std::mem::take(&mut recalled.answers)];
    for (scope, found) in join_all(asked).await {
        match found {
            Ok(found) => lists.push(found.into_iter().map(|it| answer(scope, it)).collect()),
            Err(error) => recalled.unanswered.push(format!("{scope}: {error}")),
        }
    }
    if lists[1..].iter().any(|list| !list.is_empty()) {
        let label = &mut recalled.confidence.label;
        *label = (*label).max(Likelihood::Weak);
    }
    recalled.answers = merge(lists, query.limit);
    Ok(())
}

/// Takes the best of each list in turn, since scores of two systems cannot be compared. Of equal texts the first stays.
fn merge(lists: Vec<Vec<RankedAnswer>>, limit: usize) -> Vec<RankedAnswer> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut known = BTreeSet::new();
    let mut merged = Vec::new();
    for _ in 0..longest {
        let round = lists.iter_mut().filter_map(Iterator::next);
        merged.extend(round.filter(|answer| known.insert(answer.text.clone())));
    }
    merged.truncate(limit);
    merged
}

fn answer(scope: &Scope, memory: ServerMemory) -> RankedAnswer {
    let time = memory.created_at.as_deref().and_then(|at| at.parse().ok());
    let time = time.map_or(Timestamp::ZERO, |at: jiff::Timestamp| {
        Timestamp(at.as_millisecond())
    });
    RankedAnswer {
        score: memory.score.unwrap_or_default().clamp(0.0, 1.0),
        scope: Some(scope.clone()),
        time,
        ..RankedAnswer::of_text(memory.text, MemoryLayer::Observation)
    }
}

/// A memory that the server keeps, and whose it is.
pub(crate) struct KeptThere {
    pub(crate) scope: Scope,
    pub(crate) memory: ServerMemory,
    server: Mem0Server,
}

/// The memory with this id, or exactly this text, that the server keeps in the chosen scopes.
///
/// The server is asked where nothing but it can know the name: by the form of its ids, or in a chosen scope that it
/// keeps. So one that is down costs no other memory.
pub(super) async fn find(
    daybook: &Daybook,
    choice: &ScopeChoice,
    here: Option<&Path>,
    name: &str,
) -> Result<Option<KeptThere>> {
    let chosen = choice.scope.as_deref();
    let chosen = chosen.and_then(|it| parse_named(&daybook.settings, &daybook.tenant, it).ok());
    if !is_server_id(name) && !chosen.is_some_and(|it| daybook.settings.is_in_mem0(&it)) {
        return Ok(None);
    }
    for scope in &choice.all(daybook, here).await? {
        let Some(server) = server_of(daybook, scope)? else {
            continue;
        };
        let with_id = server.get(scope, name).await.map_err(failed)?;
        let found = match with_id {
            Some(memory) => Some(memory),
            None => {
                let mut all = server.list(scope).await.map_err(failed)?.into_iter();
                all.find(|memory| memory.text == name.trim())
            }
        };
        if let Some(memory) = found {
            return Ok(Some(KeptThere {
                scope: scope.clone(),
                memory,
                server,
            }));
        }
    }
    Ok(None)
}

/// Whether a name has the form of the server's ids, which none of Daybook's has.
fn is_server_id(name: &str) -> bool {
    let dashes = name.bytes().filter(|&c| c == b'-').count();
    is_id(name) && name.len() == 36 && dashes == 4
}

impl KeptThere {
    /// Gives it other words.
    pub(super) async fn update(&self, words: &str) -> Result<()> {
        let updated = self.server.update(&self.memory.id, words).await;
        updated.map_err(failed)
    }

    /// Removes it.
    pub(super) async fn delete(&self) -> Result<()> {
        self.server.delete(&self.memory.id).await.map_err(failed)
    }
}

/// A failure of the server, as an interface reports it.
pub(super) fn failed(error: Mem0Error) -> anyhow::Error {
    let message = format!("{error}; nothing was changed");
    match error {
        Mem0Error::Unavailable { .. } | Mem0Error::KeyRefused(_) | Mem0Error::Unreadable => {
            RequestError::Unavailable(message).into()
        }
        Mem0Error::Refused(_) => RequestError::Invalid(message).into(),
        Mem0Error::NotFound => RequestError::NotFound(message).into(),
    }
}
