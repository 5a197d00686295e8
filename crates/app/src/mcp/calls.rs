//! What each tool takes and does: arguments checked, the desk asked, the answer worded.
//!
//! Bad arguments are answered with what is wrong and what would be right; the client's agent reads
//! it and tries again.

use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use daybook_domain::Origin;
use daybook_engine::files::reading;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::{self, BUDGET, Told};
use super::arguments::{AROUND, count, taken, within};
use super::entities;
use super::memory::Memory;
use super::tools::Which;
use crate::desk::{self, Ask, Standing, Whose};
use crate::wiring::block_on;

/// Answers to a question unless more or fewer are asked for.
const ANSWERS: u64 = 8;
/// Most answers to a question.
const MOST_ANSWERS: u64 = 50;

/// Calls a tool.
pub(super) fn answer(memory: &Memory, which: Which, arguments: Map<String, Value>) -> Result<Told> {
    match which {
        Which::Recall => recall(memory, &taken(arguments)?),
        Which::Remember => remember(memory, taken(arguments)?),
        Which::Context => context(memory, taken(arguments)?),
        Which::Read => read(memory, &taken(arguments)?),
        Which::CreateEntity => entities::create(memory, &taken(arguments)?),
        Which::UpsertRecord => entities::upsert(memory, &taken(arguments)?),
        Which::ListEntities => entities::list(memory, &taken(arguments)?),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recall {
    question: String,
    #[serde(default, deserialize_with = "count")]
    limit: Option<u64>,
    scope: Option<String>,
    layer: Option<String>,
    #[serde(default)]
    tools: bool,
}

fn recall(memory: &Memory, asked: &Recall) -> Result<Told> {
    if asked.question.trim().is_empty() {
        bail!("the question is empty; say what you want to know");
    }
    let limit = within("limit", asked.limit.unwrap_or(ANSWERS), 1, MOST_ANSWERS)?;
    let layer = asked.layer.as_deref().map(desk::layer).transpose();
    let ask = Ask {
        text: asked.question.clone(),
        limit,
        layers: layer.map_err(|why| anyhow!(why))?.into_iter().collect(),
        scopes: asked.scope.iter().cloned().collect(),
        tools: asked.tools,
    };
    let Some(daybook) = memory.existing()? else {
        return Ok(answer::nothing_yet(json!({ "results": [] })));
    };
    let answers = block_on(desk::ask(&daybook, &ask))?;
    Ok(answer::recalled(&daybook, &answers))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Remember {
    words: String,
    scope: Option<String>,
    #[serde(default)]
    everywhere: bool,
}

fn remember(memory: &Memory, given: Remember) -> Result<Told> {
    if given.words.trim().is_empty() {
        bail!("the words are empty; say what to remember");
    }
    let whose = match (given.scope, given.everywhere) {
        (Some(_), true) => bail!("give either a scope or everywhere, not both"),
        (Some(name), false) => Whose::Named(name),
        (None, true) => Whose::Person,
        (None, false) => Whose::Here,
    };
    if let Whose::Named(name) = &whose {
        desk::check_scope(name)?;
    }
    let folder = own_folder()?;
    let _turn = memory.writing();
    let daybook = memory.existing_or_new()?;
    let kept = block_on(desk::keep(
        &daybook,
        &given.words,
        &whose,
        &folder,
        Origin::Assistant,
    ))?;
    Ok(answer::kept(&kept))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Context {
    folder: Option<PathBuf>,
    branch: Option<String>,
    project: Option<String>,
    #[serde(default, deserialize_with = "count")]
    budget: Option<u64>,
}

fn context(memory: &Memory, asked: Context) -> Result<Told> {
    let budget = asked
        .budget
        .map(|budget| within("budget", budget, 1, BUDGET as u64));
    let budget = budget.transpose()?;
    let folder = match asked.folder {
        Some(folder) => std::path::absolute(&folder)
            .with_context(|| format!("{} is not a folder", folder.display()))?,
        None => own_folder()?,
    };
    let Some(daybook) = memory.existing()? else {
        return Ok(answer::nothing_yet(json!({ "text": "" })));
    };
    let usual = daybook.settings.context_tokens.min(BUDGET);
    let standing = Standing {
        project: asked.project,
        branch: asked.branch,
        budget: Some(budget.unwrap_or(usual)),
    };
    let briefing = block_on(desk::brief(&daybook, &folder, &standing))?;
    Ok(answer::briefing(&briefing))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    target: String,
    #[serde(default, deserialize_with = "count")]
    around: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    offset: Option<u64>,
}

fn read(memory: &Memory, asked: &Read) -> Result<Told> {
    let target = asked.target.trim();
    let target = target.strip_prefix('[').unwrap_or(target);
    let target = target.strip_suffix(']').unwrap_or(target);
    let around = within("around", asked.around.unwrap_or(0), 0, AROUND.into())?;
    let offset = within("offset", asked.offset.unwrap_or(0), 0, u32::MAX.into())?;
    if target.is_empty() {
        bail!("the target is empty; give a citation such as 7f78:L636, or a memory file");
    }
    let Some(daybook) = memory.existing()? else {
        bail!("nothing is remembered yet, so there is no {target}");
    };
    if target.contains(['/', '\\']) || target.ends_with(".md") {
        block_on(daybook.look_around())?;
        let text = reading::read(&daybook.root, target)
            .context("give a path such as projects/tidepool/memory/MEMORY.md, as `recall` does")?;
        return answer::page(target, &text, offset);
    }
    let around = u32::try_from(around)?;
    let (session, events) = block_on(desk::words(&daybook, target, around))?;
    let text = answer::words(&daybook, &events);
    let mut told = answer::page(target, &text, offset)?;
    told.data["session"] = json!(session.id.to_string());
    Ok(told)
}

fn own_folder() -> Result<PathBuf> {
    std::env::current_dir().context("the folder that this server was started in cannot be read")
}
