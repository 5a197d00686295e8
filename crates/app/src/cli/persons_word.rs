//! `daybook forget`, `edit`, `pin`, `unpin` and `undo`: a person's word about what is remembered.

use std::io::BufRead;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use daybook_engine::jobs::memories::Memory;
use daybook_engine::jobs::persons_word::PersonsChange;
use serde_json::json;

use super::scope_args::{ScopeArgs, current_folder};
use super::{CommonArgs, can_ask};
use crate::process::block_on;
use crate::service::RequestError;
use crate::service::history::{SHORT_ID, find_state};
use crate::service::memories::{described, find_memories, find_one, none_found};
use crate::service::memory_changes::{
    MemoryChange, RequestedBy, edit, edit_there, forget, forget_there, make_change,
};
use crate::service::scope_choice::open_folder;
use crate::terminal::output::{count, dim, eprint_line, json as print_json, print_line, warn};
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Most other matches that are listed.
const LISTED: usize = 20;

/// Forget something: it is gone from every file and from recall, and not learned again from the same words.
///
/// What has the id or exactly the text is forgotten at once; other matches are listed first. `daybook undo` brings it
/// back. The message with those words stays in the log of its session, where `daybook show` prints it; `daybook purge`
/// removes it for good.
#[derive(Args)]
pub(crate) struct ForgetCommand {
    /// An id of `daybook list`, a line such as MEMORY.md:12, or the text
    #[arg(required = true, num_args = 1.., value_name = "ID|TEXT")]
    words: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Forget other matches, too, without a question
    #[arg(short, long)]
    yes: bool,
}

impl ForgetCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let name = self.words.join(" ");
        let there = block_on(async {
            let (choice, here) = (self.scope.choice(), current_folder()?);
            forget_there(&daybook, &choice, Some(&here), &name).await
        })?;
        if let Some((id, change)) = there {
            if common.json {
                print_json(&json!({ "forgotten": [id], "changes": [change] }))?;
            } else {
                print_line!("Forgotten in {}, on the mem0 server.", change.scope);
            }
            return Ok(ExitCode::SUCCESS);
        }
        let found = block_on(async {
            let (choice, here) = (self.scope.choice(), current_folder()?);
            find_memories(&daybook, &choice, Some(&here), &name).await
        })?;
        let chosen = match (found.exact.is_empty(), found.near.is_empty()) {
            (true, true) => bail!(none_found(&name)),
            (true, false) => self.confirmed(common, &name, found.near)?,
            (false, _) => found.exact,
        };
        if chosen.is_empty() {
            print_line!("Nothing was forgotten.");
            return Ok(ExitCode::SUCCESS);
        }
        let changes = block_on(forget(&daybook, &chosen, RequestedBy::Person))?;
        print_forgotten(common, &chosen, &changes)?;
        Ok(ExitCode::SUCCESS)
    }

    /// The matches that the person agrees to forget, though none is exactly what was named.
    fn confirmed(&self, common: &CommonArgs, name: &str, near: Vec<Memory>) -> Result<Vec<Memory>> {
        let matches = count(near.len() as u64, "memory");
        if self.yes {
            return Ok(near);
        }
        let list: String = near.iter().take(LISTED).map(described).collect();
        if !can_ask(common) {
            bail!(RequestError::Conflict(format!(
                "{matches} contain \"{name}\"; forget one by its id, or all with --yes:\n{list}"
            )));
        }
        eprint_line!("{matches} contain \"{name}\":\n{list}Forget all of them?  [y]es / [N]o");
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        Ok(match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => near,
            _ => Vec::new(),
        })
    }
}

fn print_forgotten(
    common: &CommonArgs,
    forgotten: &[Memory],
    changes: &[MemoryChange],
) -> Result<()> {
    if common.json {
        let ids: Vec<String> = forgotten
            .iter()
            .flat_map(|memory| memory.observations.iter().map(|one| one.id.to_string()))
            .collect();
        return print_json(&json!({ "forgotten": ids, "changes": changes }));
    }
    for memory in forgotten {
        print_line!("Forgotten in {}: {}", memory.scope, memory.words);
    }
    for change in changes {
        suggest_undo(change);
    }
    Ok(())
}

fn suggest_undo(change: &MemoryChange) {
    if let Some(commit) = &change.commit {
        let undo = suggest::command_of(&["undo", &commit[..SHORT_ID], "--scope", &change.scope]);
        print_line!("{}", dim(&format!("`{undo}` takes it back.")));
    }
}

/// Give a line of memory other words, in every file that shows it.
#[derive(Args)]
pub(crate) struct EditCommand {
    /// The line: an id of `daybook list`, the id behind its `^`, MEMORY.md:12, or its words
    #[arg(value_name = "ID|LINE")]
    line: String,
    /// The new words
    #[arg(required = true, num_args = 1.., value_name = "NEW WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
}

impl EditCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let words = self.words.join(" ");
        let (changed, secrets) = block_on(async {
            let (choice, here) = (self.scope.choice(), current_folder()?);
            let named = (self.line.as_str(), words.as_str());
            if let Some(edited) = edit_there(&daybook, &choice, Some(&here), named).await? {
                return Ok(edited);
            }
            let memory = find_one(&daybook, &choice, Some(&here), &self.line).await?;
            edit(&daybook, &memory, &words, RequestedBy::Person).await
        })?;
        if common.json {
            print_json(&json!({ "change": changed, "secrets_hidden": secrets }))?;
        } else {
            print_line!("Changed in {}.", changed.scope);
            suggest_undo(&changed);
            if secrets > 0 {
                print_line!("{}", warn("A secret in it was hidden before it was kept."));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Keep a memory in MEMORY.md, whatever ranks higher: first in its section, and in the summary for agents.
#[derive(Args)]
pub(crate) struct PinCommand {
    /// An id of `daybook list`, the id behind a line's `^`, MEMORY.md:12, or its words
    #[arg(required = true, num_args = 1.., value_name = "LINE")]
    words: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
}

impl PinCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        set_pin(
            common,
            &self.words,
            &self.scope,
            PersonsChange::Pin,
            "Pinned",
        )
    }
}

/// Let a pinned memory take its place by rank again.
#[derive(Args)]
pub(crate) struct UnpinCommand {
    /// An id of `daybook list`, the id behind a line's `^`, MEMORY.md:12, or its words
    #[arg(required = true, num_args = 1.., value_name = "LINE")]
    words: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
}

impl UnpinCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        set_pin(
            common,
            &self.words,
            &self.scope,
            PersonsChange::Unpin,
            "No longer pinned",
        )
    }
}

fn set_pin(
    common: &CommonArgs,
    words: &[String],
    scope: &ScopeArgs,
    change: fn(Memory) -> PersonsChange,
    done: &str,
) -> Result<ExitCode> {
    let daybook = Daybook::open_existing(common)?;
    let (memory, changed) = block_on(async {
        let (choice, here) = (scope.choice(), current_folder()?);
        let memory = find_one(&daybook, &choice, Some(&here), &words.join(" ")).await?;
        if memory.entry.is_none() {
            bail!(RequestError::Conflict(format!(
                "\"{}\" is a line of your own: it stays where you put it",
                memory.words
            )));
        }
        let wanted = change(memory.clone());
        let by = RequestedBy::Person;
        let changed = make_change(&daybook, &memory.scope, &wanted, by).await?;
        Ok((memory, changed))
    })?;
    if common.json {
        print_json(&changed)?;
    } else {
        print_line!("{done} in {}: {}", changed.scope, memory.words);
    }
    Ok(ExitCode::SUCCESS)
}

/// Take back a change of memory files: the last one, or the one that is named. What you wrote since stays.
///
/// What was forgotten is remembered again, and what was learned by the change is forgotten. To take back an undo, undo
/// it.
#[derive(Args)]
pub(crate) struct UndoCommand {
    /// The change, as `daybook history` lists it [default: the last one]
    #[arg(value_name = "COMMIT")]
    commit: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
}

impl UndoCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let (target, changed) = block_on(async {
            let here = current_folder()?;
            let scope = self.scope.choice().one(&daybook, Some(&here)).await?;
            let folder = open_folder(&daybook, &scope).await?;
            let target = match &self.commit {
                Some(commit) => find_state(&daybook, (&scope, &folder), commit)?,
                None => match folder.log(1)?.pop() {
                    Some(last) => last,
                    None => bail!(RequestError::NotFound(format!(
                        "{scope} has no history yet"
                    ))),
                },
            };
            if target.parents.len() > 1 {
                bail!(RequestError::Conflict(format!(
                    "{} joined the changes of two machines; undo the changes themselves",
                    &target.id.to_string()[..SHORT_ID]
                )));
            }
            let wanted = PersonsChange::Undo(target.clone());
            let by = RequestedBy::Person;
            Ok((target, make_change(&daybook, &scope, &wanted, by).await?))
        })?;
        let id = target.id.to_string();
        if common.json {
            print_json(&json!({ "undone": id, "change": changed }))?;
        } else if changed.commit.is_some() {
            print_line!("Undone: {} {}", &id[..SHORT_ID], target.subject);
            suggest_undo(&changed);
        } else {
            print_line!(
                "Nothing to undo: what {} changed was changed again since, and stays.",
                &id[..SHORT_ID]
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}
