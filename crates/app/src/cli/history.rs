//! `daybook history` and `daybook diff`: how memory files came to be what they are.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use daybook_domain::Scope;
use daybook_engine::files::Folder;
use daybook_engine::files::layout::CURATED;
use daybook_engine::files::path::FilePath;
use serde_json::json;

use super::CommonArgs;
use super::scope_args::{CallerArgs, ScopeArgs, current_folder};
use crate::process::block_on;
use crate::service::RequestError;
use crate::service::format_time;
use crate::service::history::{
    self, ChangedFile, DiffStates, HistoryCommit, SHORT_ID, StateDiff, parse_file, parse_state,
};
use crate::service::scope_choice::open_folder;
use crate::terminal::common_args::at_least_one;
use crate::terminal::output::{bold, dim, json as print_json, print_line};
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Show the changes of memory files, newest first; with --at a file as it was.
#[derive(Args)]
pub(crate) struct HistoryCommand {
    /// Only the changes of this file, such as MEMORY.md
    #[arg(value_name = "FILE")]
    file: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    caller: CallerArgs,
    /// Print the file (MEMORY.md unless one is named) as it was: at a commit, or at a time such as 2026-02-04 or
    /// yesterday
    #[arg(long, value_name = "STATE", conflicts_with = "limit")]
    at: Option<String>,
    /// Most changes
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N", value_parser = at_least_one)]
    limit: usize,
}

impl HistoryCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let (scope, folder) = block_on(opened(&daybook, &self.scope, &self.caller))?;
        let file = self.file.as_deref();
        let file = file.map(|file| parse_file(&daybook, &scope, file));
        let file = file.transpose()?;
        match &self.at {
            Some(state) => print_state(common, &daybook, (&scope, &folder), state, file),
            None => {
                let commits = history::commits(&folder, file.as_ref(), self.limit)?;
                print_commits(common, &daybook, &scope, file.as_ref(), &commits)
            }
        }
    }
}

async fn opened(
    daybook: &Daybook,
    scope: &ScopeArgs,
    caller: &CallerArgs,
) -> Result<(Scope, Folder)> {
    let (choice, here) = (scope.choice_of(caller), current_folder()?);
    let scope = choice.one(daybook, Some(&here)).await?;
    let folder = open_folder(daybook, &scope).await?;
    Ok((scope, folder))
}

fn print_state(
    common: &CommonArgs,
    daybook: &Daybook,
    (scope, folder): (&Scope, &Folder),
    state: &str,
    file: Option<FilePath>,
) -> Result<ExitCode> {
    let file = file.unwrap_or_else(|| FilePath::engine_file(CURATED));
    let (commit, text) = history::file_at(daybook, (scope, folder), state, &file)?;
    if common.json {
        print_json(&json!({
            "scope": scope.to_string(), "file": file.as_str(), "commit": commit, "text": text,
        }))?;
    } else {
        print_line!("{}", text.trim_end_matches('\n'));
    }
    Ok(ExitCode::SUCCESS)
}

fn print_commits(
    common: &CommonArgs,
    daybook: &Daybook,
    scope: &Scope,
    file: Option<&FilePath>,
    commits: &[HistoryCommit],
) -> Result<ExitCode> {
    if common.json {
        let file = file.map(FilePath::as_str);
        print_json(&json!({ "scope": scope.to_string(), "file": file, "commits": commits }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(file), []) = (file, commits) {
        bail!(RequestError::NotFound(format!(
            "{scope} never had a file {file}"
        )));
    }
    print_line!("{}", bold(&scope.to_string()));
    for commit in commits {
        print_line!("{}", described(daybook, commit));
    }
    if let Some(newest) = commits.first() {
        let diff = suggest::command_of(&["diff", "--at", &newest.id[..SHORT_ID]]);
        print_line!("{}", dim(&format!("`{diff}` shows what one changed.")));
    }
    Ok(ExitCode::SUCCESS)
}

/// `9f31ac2e  27 Jan 2026 18:05  Daybook  Post 14 entries`
pub(super) fn described(daybook: &Daybook, commit: &HistoryCommit) -> String {
    let id = &commit.id[..SHORT_ID];
    let time = format_time(daybook, commit.at, "%-d %b %Y %H:%M").unwrap_or_default();
    format!("{id}  {time}  {}  {}", commit.author, commit.subject)
}

/// Show what changed in memory files: at the last commit, or between two states.
#[derive(Args)]
pub(crate) struct DiffCommand {
    /// The states to compare, and a file: a commit, or a time such as 2026-02-04 or yesterday. With one state,
    /// what changed since; without, what the last commit changed
    #[arg(value_name = "FROM [TO]] [FILE", num_args = 0..=3)]
    words: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    caller: CallerArgs,
    /// Show what this commit changed, or the last one at this time
    #[arg(long, value_name = "STATE")]
    at: Option<String>,
}

impl DiffCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let (states, file) = self.states(&daybook)?;
        let (scope, folder) = block_on(opened(&daybook, &self.scope, &self.caller))?;
        let file = file.map(|file| parse_file(&daybook, &scope, &file));
        let file = file.transpose()?;
        let diff = history::diff(&daybook, (&scope, &folder), &states, file.as_ref())?;
        match common.json {
            true => print_json(&diff)?,
            false => print_diff(&daybook, &diff),
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Splits the words into states and a file: the file comes last, and its name is no state.
    fn states(&self, daybook: &Daybook) -> Result<(DiffStates, Option<String>)> {
        let mut words = self.words.clone();
        let is_file = |word: &String| parse_state(daybook, word).is_none();
        let file = words.pop_if(|word| is_file(word));
        if let Some(word) = words.iter().find(|word| is_file(word)) {
            bail!(RequestError::Invalid(format!(
                "\"{word}\" names no state; write a commit's id, or a time such as 2026-02-04"
            )));
        }
        let mut words = words.into_iter();
        let states = DiffStates {
            from: words.next(),
            to: words.next(),
            at: self.at.clone(),
        };
        match words.next() {
            Some(more) => bail!(RequestError::Invalid(format!(
                "{more} is a third state; a diff compares two"
            ))),
            None => Ok((states, file)),
        }
    }
}

/// Prints a diff for people.
pub(super) fn print_diff(daybook: &Daybook, diff: &StateDiff) {
    if let Some(from) = &diff.from {
        print_line!("{}", dim(&format!("from  {}", described(daybook, from))));
    }
    print_line!(
        "{}",
        dim(&format!("to    {}", described(daybook, &diff.to)))
    );
    if diff.files.is_empty() {
        print_line!("Nothing differs.");
    }
    for file in &diff.files {
        print_changed_file(file);
    }
}

fn print_changed_file(file: &ChangedFile) {
    let change = match file.change {
        "changed" => String::new(),
        change => format!(" · {change}"),
    };
    print_line!("\n{}{change}", bold(&file.file));
    let mut section = "";
    for line in &file.lines {
        if line.section != section {
            section = &line.section;
            print_line!("  {}", dim(&format!("## {section}")));
        }
        let sign = if line.change == "added" { '+' } else { '-' };
        if line.text.strip_prefix("## ") != Some(section) {
            print_line!("{sign} {}", line.text);
        }
    }
}
