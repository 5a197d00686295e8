//! What each tool takes and does: arguments checked, the desk asked, the answer worded.
//!
//! Bad arguments are answered with what is wrong and what would be right; the client's agent reads
//! it and tries again.

use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use daybook_domain::Origin;
use daybook_engine::files::reading;
use daybook_engine::recall::search::Recalled;
use daybook_engine::stop::Stop;
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
/// Why a cancelled call has no answer; its client is not shown it.
const CANCELLED: &str = "the call was cancelled";
/// Most answers to a question.
const MOST_ANSWERS: u64 = 50;

/// One call of a tool.
pub(super) struct Call<'a> {
    pub(super) memory: &'a Memory,
    /// Asked once the call is cancelled.
    pub(super) stop: &'a Stop,
}

impl Call<'_> {
    /// Runs `reading` to its end, or until the call is cancelled. It must change nothing.
    fn read<T>(&self, reading: impl Future<Output = Result<T>>) -> Result<T> {
        block_on(async {
            tokio::select! {
                biased;
                () = self.stop.wait() => bail!(CANCELLED),
                done = reading => done,
            }
        })
    }

    /// Fails when the call is cancelled: what has not begun need not.
    pub(super) fn go_on(&self) -> Result<()> {
        match self.stop.asked() {
            true => bail!(CANCELLED),
            false => Ok(()),
        }
    }
}

/// Calls a tool.
pub(super) fn answer(call: &Call<'_>, which: Which, arguments: Map<String, Value>) -> Result<Told> {
    call.go_on()?;
    match which {
        Which::Recall => recall(call, &taken(arguments)?),
        Which::Remember => remember(call, taken(arguments)?),
        Which::Context => context(call, taken(arguments)?),
        Which::Read => read(call, &taken(arguments)?),
        Which::CreateEntity => entities::create(call, &taken(arguments)?),
        Which::UpsertRecord => entities::upsert(call, &taken(arguments)?),
        Which::ListEntities => entities::list(call, &taken(arguments)?),
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
    #[serde(default)]
    strict: bool,
}

fn recall(call: &Call<'_>, asked: &Recall) -> Result<Told> {
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
        strict: asked.strict,
    };
    let Some(daybook) = call.memory.existing()? else {
        return Ok(answer::nothing_yet(
            desk::answers_json(&Recalled::default()),
        ));
    };
    let recalled = call.read(desk::ask(&daybook, &ask))?;
    Ok(answer::recalled(&daybook, &recalled))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Remember {
    words: String,
    scope: Option<String>,
    #[serde(default)]
    everywhere: bool,
}

fn remember(call: &Call<'_>, given: Remember) -> Result<Told> {
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
    let _turn = call.memory.writing();
    call.go_on()?;
    let daybook = call.memory.existing_or_new()?;
    let kept = block_on(desk::keep(
        &daybook,
        &given.words,
        &whose,
        &folder,
        Origin::Assistant,
        call.stop,
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

fn context(call: &Call<'_>, asked: Context) -> Result<Told> {
    let budget = asked
        .budget
        .map(|budget| within("budget", budget, 1, BUDGET as u64));
    let budget = budget.transpose()?;
    let folder = match asked.folder {
        Some(folder) => std::path::absolute(&folder)
            .with_context(|| format!("{} is not a folder", folder.display()))?,
        None => own_folder()?,
    };
    let Some(daybook) = call.memory.existing()? else {
        return Ok(answer::nothing_yet(json!({ "text": "" })));
    };
    let usual = daybook.settings.context_tokens.min(BUDGET);
    let standing = Standing {
        project: asked.project,
        branch: asked.branch,
        budget: Some(budget.unwrap_or(usual)),
    };
    let briefing = call.read(desk::brief(&daybook, &folder, &standing))?;
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

fn read(call: &Call<'_>, asked: &Read) -> Result<Told> {
    let target = asked.target.trim();
    let target = target.strip_prefix('[').unwrap_or(target);
    let target = target.strip_suffix(']').unwrap_or(target);
    let around = within("around", asked.around.unwrap_or(0), 0, AROUND.into())?;
    let offset = within("offset", asked.offset.unwrap_or(0), 0, u32::MAX.into())?;
    if target.is_empty() {
        bail!("the target is empty; give a citation such as 7f78:L636, or a memory file");
    }
    let Some(daybook) = call.memory.existing()? else {
        bail!("nothing is remembered yet, so there is no {target}");
    };
    if target.contains(['/', '\\']) || target.ends_with(".md") {
        call.read(daybook.look_around())?;
        let text = reading::read(&daybook.root, target)
            .context("give a path such as projects/tidepool/memory/MEMORY.md, as `recall` does")?;
        return answer::page(target, &text, offset);
    }
    let around = u32::try_from(around)?;
    let (session, events) = call.read(desk::words(&daybook, target, around))?;
    let text = answer::words(&daybook, &events);
    let mut told = answer::page(target, &text, offset)?;
    told.data["session"] = json!(session.id.to_string());
    Ok(told)
}

fn own_folder() -> Result<PathBuf> {
    std::env::current_dir().context("the folder that this server was started in cannot be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_call_waits_no_longer_and_begins_nothing() {
        let memory = Memory::at(PathBuf::from("/nowhere"), Vec::new());
        let stop = Stop::default();
        let call = Call {
            memory: &memory,
            stop: &stop,
        };
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| call.read(std::future::pending::<Result<()>>()));
            stop.ask();
            let ended = waiting.join().expect("no panic");
            assert_eq!(ended.expect_err("it was cancelled").to_string(), CANCELLED);
        });
        let begun = answer(&call, Which::Recall, Map::new());
        assert_eq!(begun.expect_err("it was cancelled").to_string(), CANCELLED);
    }
}
