//! The context that an agent is given before it works: what memory holds for its folder, branch and task.

use std::path::{Path, PathBuf};

use anyhow::Result;
use daybook_domain::{Reach, Scope, ScopeKind};
use daybook_engine::files::reader::Refused;
use daybook_engine::recall::context::{CurrentWork, MemoryContext};
use daybook_engine::recall::host_text::HostText;
use daybook_engine::recall::prompt::{self, MemoryLine, PROMPT_ANSWERS, SessionKnowledge};
use daybook_engine::recall::worked_file::WorkedFile;
use serde_json::{Value, json};

use super::caller::NamedCaller;
use super::current_place::{CurrentPlace, locate};
use super::host_files::loaded_by_host;
use super::memory_files;
use super::recall::{RecallQuery, answer_query_in, reindex_edited_files};
use crate::wiring::Daybook;

/// A context, and the place that it was assembled for.
pub(crate) struct AgentContext {
    pub(crate) assembled: MemoryContext,
    pub(crate) at: CurrentPlace,
    pub(crate) branch: Option<String>,
    /// Memory files that exist and were not read.
    pub(crate) refused: Vec<Refused>,
}

/// The agent's task, and its place where that is not what the folder shows.
#[derive(Debug, Clone, Default)]
pub struct ContextQuery {
    /// The memory of this project, wherever the folder is.
    pub project: Option<String>,
    /// As if this branch were checked out.
    pub branch: Option<String>,
    /// Files that it works on, relative to the folder or absolute.
    pub files: Vec<PathBuf>,
    /// The prompt that it works on.
    pub prompt: Option<String>,
    /// Most tokens.
    pub budget: Option<usize>,
    /// Whose context it is; its project is that of the place.
    pub caller: NamedCaller,
}

/// Most files of a query that are considered.
pub(crate) const MAX_FILES: usize = 64;

/// Assembles the context for an agent in `folder`.
pub(crate) async fn context_in(
    daybook: &Daybook,
    folder: &Path,
    query: &ContextQuery,
) -> Result<AgentContext> {
    daybook.check_out_shared_files().await?;
    let at = locate(daybook, folder).await?;
    context_at(daybook, at, folder, query).await
}

/// Assembles the context for an agent in `folder`, whose place is known.
pub(crate) async fn context_at(
    daybook: &Daybook,
    mut at: CurrentPlace,
    folder: &Path,
    query: &ContextQuery,
) -> Result<AgentContext> {
    if let Some(name) = &query.project {
        at.project = Some(Scope {
            tenant: daybook.tenant.clone(),
            kind: ScopeKind::Project,
            name: name.clone(),
        });
    }
    let branch = query.branch.clone().or_else(|| at.place.branch.clone());
    if !daybook.settings.inject {
        return Ok(AgentContext {
            assembled: MemoryContext::default(),
            at,
            branch,
            refused: Vec::new(),
        });
    }
    let budget = query.budget.unwrap_or(daybook.settings.context_tokens);
    let named = NamedCaller {
        project: at.project.as_ref().map(|scope| scope.name.clone()),
        ..query.caller.clone()
    };
    let caller = named.resolve(&daybook.settings)?;
    let scopes = caller.scopes(daybook.settings.scope_policy());
    let files = memory_files::read(&daybook.root, &daybook.settings, &scopes);
    let top = Path::new(&at.place.root);
    let loaded = loaded_by_host(top, top, None);
    let at_hand = query.files.iter().take(MAX_FILES);
    let at_hand = at_hand.filter_map(|file| WorkedFile::new(file, folder, top));
    let assembled = files.context(
        &CurrentWork {
            branch: branch.as_deref(),
            files: &at_hand.collect::<Vec<_>>(),
            prompt: &lines_for_prompt(daybook, scopes, query, &loaded).await?,
        },
        &loaded,
        &daybook.settings,
        budget,
    );
    Ok(AgentContext {
        assembled,
        at,
        branch,
        refused: files.refused,
    })
}

/// Memory lines that likely answer the prompt, from the scopes that apply.
async fn lines_for_prompt(
    daybook: &Daybook,
    scopes: Vec<Scope>,
    query: &ContextQuery,
    loaded: &HostText,
) -> Result<Vec<MemoryLine>> {
    let (now, zone) = (daybook.clock.now(), &daybook.settings.zone);
    let prompt = query.prompt.as_deref();
    let Some(text) = prompt.and_then(|it| prompt::question_of_prompt(it, now, zone)) else {
        return Ok(Vec::new());
    };
    let question = RecallQuery {
        text,
        limit: PROMPT_ANSWERS,
        ..RecallQuery::default()
    };
    reindex_edited_files(daybook).await?;
    let recalled = answer_query_in(daybook, &question, Reach::Scopes(scopes)).await?;
    let known = SessionKnowledge {
        session: None,
        prompt: query.prompt.as_deref().unwrap_or_default(),
        loaded,
        is_shown: &|_| false,
    };
    Ok(prompt::select_lines(&recalled, &known, PROMPT_ANSWERS))
}

/// A context as JSON.
pub(crate) fn context_json(context: &AgentContext) -> Value {
    let AgentContext {
        assembled,
        at,
        branch,
        refused,
    } = context;
    json!({
        "text": assembled.text,
        "tokens": assembled.tokens,
        "entries": assembled.lines.len(),
        "left_out": assembled.left_out,
        "project": at.project.as_ref().map(|scope| &scope.name),
        "branch": branch,
        "refused": refused.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
