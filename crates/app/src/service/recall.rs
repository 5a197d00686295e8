//! Questions to memory.

use anyhow::{Result, bail};
use daybook_domain::index::MemoryLayer;
use daybook_domain::page::read_all;
use daybook_domain::{Reach, Scope, ScopeKind};
use daybook_engine::files::reindex::reindex_all;
use daybook_engine::recall::from_files::{PersonsFiles, use_files};
use daybook_engine::recall::search::{RankedAnswer, RecallQuestion, RecallResult, recall};
use serde_json::{Value, json};

use super::agent_memory::{self, ServerQuestion};
use super::caller::{NamedCaller, own_scope, parse_named, reach};
use super::moment::parse_moment;
use super::search_result::SearchResult;
use super::{RequestError, person_scope};
use crate::models::embedding::embed_before_answering;
use crate::wiring::Daybook;

/// Answers to a question that names no limit.
const ANSWERS_SHOWN: usize = 10;

/// A question to memory.
#[derive(Debug, Clone, Default)]
pub struct RecallQuery {
    /// The question, in plain words.
    pub text: String,
    /// Most answers.
    pub limit: usize,
    /// Only these layers; empty for all.
    pub layers: Vec<MemoryLayer>,
    /// Only these scopes, such as `project/tidepool`; empty for all.
    pub scopes: Vec<String>,
    /// Whether arguments and results of tools are searched, too.
    pub tools: bool,
    /// No answers, unless the question was likely discussed.
    pub strict: bool,
    /// As it held at this time, such as `2026-03-02`; the present if `None`.
    pub at: Option<String>,
    /// Who asks; `None` for the person, who looks through all of their data folder.
    pub caller: Option<NamedCaller>,
}

impl RecallQuery {
    /// A question of the person to all of their memory, for as many answers as an agent reads.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            limit: ANSWERS_SHOWN,
            ..Self::default()
        }
    }
}

impl<T: Into<String>> From<T> for RecallQuery {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// Answers a question, best answers first, with the confidence that it was discussed at all.
pub(crate) async fn answer_query(daybook: &Daybook, query: &RecallQuery) -> Result<RecallResult> {
    let reach = match &query.caller {
        Some(caller) => {
            let caller = caller.resolve(&daybook.settings)?;
            match query.scopes.as_slice() {
                [] => reach(daybook, &caller).await?,
                names => {
                    let own = names
                        .iter()
                        .map(|it| own_scope(&daybook.settings, &caller, it));
                    let own: Vec<Scope> = own.collect::<Result<_>>()?;
                    check_known(daybook, names).await?;
                    Reach::Scopes(own)
                }
            }
        }
        None => match resolve_scopes(daybook, &query.scopes).await? {
            Some(scopes) => Reach::Scopes(scopes),
            None => Reach::Everything,
        },
    };
    reindex_edited_files(daybook).await?;
    answer_query_in(daybook, query, reach).await
}

/// [`answer_query`] within `reach` instead of what the query names. Edits of memory files since
/// the last [`reindex_edited_files`] are not seen.
pub(crate) async fn answer_query_in(
    daybook: &Daybook,
    query: &RecallQuery,
    reach: Reach,
) -> Result<RecallResult> {
    let (reach, there) = agent_memory::split(daybook, reach);
    let until = query.at.as_deref();
    let until = until.map(|at| parse_moment(daybook, at)).transpose()?;
    let models = daybook.models();
    let (model, unusable) = match models.embedders() {
        Ok(embedders) => (embedders.map(|it| &*it.questions), None),
        Err(why) => (None, Some(why)),
    };
    if let Some(model) = model {
        embed_before_answering(&models, model).await?;
    }
    let question = RecallQuestion {
        text: &query.text,
        reach,
        layers: query.layers.clone(),
        tools: query.tools,
        limit: query.limit,
        rare: false,
        embedder: model,
        until,
        now: until.unwrap_or_else(|| daybook.clock.now()),
    };
    let mut recalled = recall(&*daybook.store, &daybook.tenant, &question).await?;
    let files = PersonsFiles {
        root: &daybook.root,
        person: &person_scope(daybook),
        zone: &daybook.settings.zone,
    };
    use_files(&*daybook.store, files, &question, &mut recalled).await?;
    recalled.without_vectors = recalled.without_vectors.or(unusable);
    if query.strict {
        recalled = recalled.strict();
    }
    let is_wanted = query.layers.is_empty() || query.layers.contains(&MemoryLayer::Observation);
    if is_wanted && !there.is_empty() {
        let question = ServerQuestion {
            text: &query.text,
            limit: query.limit,
            is_about_past: query.at.is_some(),
            strict: query.strict,
        };
        agent_memory::add_answers(daybook, &question, &there, &mut recalled).await?;
    }
    Ok(recalled)
}

/// Indexes edits of memory files, so that recall finds them. Where several machines share the files, only what was
/// checked in counts, and the machine that checked it in has indexed it.
pub(crate) async fn reindex_edited_files(daybook: &Daybook) -> Result<()> {
    if daybook.trees.is_none() {
        let (store, root, now) = (&*daybook.store, &daybook.root, daybook.clock.now());
        reindex_all(store, root, &daybook.tenant, now).await?;
    }
    Ok(())
}

/// Parses the name of a layer; its plural is accepted.
pub(crate) fn parse_layer(text: &str) -> Result<MemoryLayer, String> {
    let known = text.trim_end_matches('s').parse();
    known.map_err(|_| "a layer is one of: entry, observation, event".to_owned())
}

/// Checks that something was ever kept in the scopes of these names. What names a caller's own room, team or agent may be
/// empty still.
async fn check_known(daybook: &Daybook, names: &[String]) -> Result<()> {
    let is_shared = |name: &&String| {
        let scope = Scope::parse(&daybook.tenant, name);
        scope.is_some_and(|scope| !matches!(scope.kind, ScopeKind::Project | ScopeKind::User))
    };
    let others: Vec<String> = names
        .iter()
        .filter(|name| !is_shared(name))
        .cloned()
        .collect();
    resolve_scopes(daybook, &others).await.map(drop)
}

async fn resolve_scopes(daybook: &Daybook, names: &[String]) -> Result<Option<Vec<Scope>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    let mut scopes = Vec::new();
    for name in names {
        let named = parse_named(&daybook.settings, &daybook.tenant, name).ok();
        if let Some(there) = named.clone().filter(|it| daybook.settings.is_in_mem0(it)) {
            scopes.push(there);
            continue;
        }
        match known
            .iter()
            .find(|state| Some(&state.scope) == named.as_ref())
        {
            Some(state) => scopes.push(state.scope.clone()),
            None => {
                let names: Vec<String> =
                    known.iter().map(|state| state.scope.to_string()).collect();
                bail!(RequestError::NotFound(format!(
                    "there is no scope {name}; there are: {}",
                    names.join(", ")
                )));
            }
        }
    }
    Ok(Some(scopes))
}

/// The message for a question without answers. With `strict`, near ones may have been left out.
pub(crate) fn no_answer_message(recalled: &RecallResult) -> &'static str {
    match recalled.confidence.signals.score > 0.0 {
        true => "Nothing that is remembered clearly answers that.",
        false => "Nothing is remembered about that.",
    }
}

/// One answer as JSON.
pub(crate) fn answer_json(answer: &RankedAnswer) -> Value {
    json!(SearchResult::from(answer))
}

/// All answers to a question as JSON.
pub(crate) fn recall_json(recalled: &RecallResult) -> Value {
    let answers: Vec<Value> = recalled.answers.iter().map(answer_json).collect();
    let confidence = &recalled.confidence;
    let mut shown = json!({
        "confidence": confidence.label.as_str(),
        "confidence_score": confidence.score,
        "results": answers,
    });
    if let Some(why) = &recalled.without_vectors {
        shown["without_vectors"] = json!(why);
    }
    if !recalled.unanswered.is_empty() {
        shown["unanswered"] = json!(recalled.unanswered);
    }
    shown
}
