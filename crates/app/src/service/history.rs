//! The history of a scope's memory files: commits, states at a time, and what changed in between.

use std::path::Path;

use anyhow::{Result, bail};
use daybook_domain::{Scope, Timestamp};
use daybook_engine::files::Folder;
use daybook_engine::files::diff::FileDiff;
use daybook_engine::files::history::{Commit, CommitHash};
use daybook_engine::files::layout::folder;
use daybook_engine::files::own_secrets::masked;
use daybook_engine::files::path::FilePath;
use daybook_engine::files::states::{FoundState, SEARCHED_COMMITS, StateName};
use daybook_text::redact::Redactor;
use serde::Serialize;
use utoipa::ToSchema;

use super::RequestError;
use super::moment::parse_moment;
use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// Digits of a commit's id that are shown to people.
pub(crate) const SHORT_ID: usize = 8;
/// The engine's name as an author.
const ENGINE: &str = "Daybook";
/// Examples of names of states, for errors.
const STATES: &str =
    "a commit's id, or a time such as 2026-02-04, yesterday or 2026-02-04T15:00:00Z";

/// One change of memory files.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct HistoryCommit {
    /// Its id, forty digits; the first ones are enough to name it.
    #[schema(example = "9f31ac2e5d1b4a7788990a1b2c3d4e5f60718293")]
    pub(crate) id: String,
    /// When it was made, RFC 3339.
    #[schema(format = DateTime)]
    pub(crate) time: Option<String>,
    /// Who made it: `Daybook`, or a person's name.
    pub(crate) author: String,
    /// Whether a person made it.
    pub(crate) by_person: bool,
    /// What was done.
    pub(crate) subject: String,
    #[serde(skip)]
    pub(crate) at: Timestamp,
}

impl From<&Commit> for HistoryCommit {
    fn from(commit: &Commit) -> Self {
        let at = Timestamp(commit.time_ms);
        Self {
            id: commit.id.to_string(),
            time: rfc3339(at),
            author: commit.author.clone(),
            by_person: commit.author != ENGINE,
            subject: hidden(&commit.subject),
            at,
        }
    }
}

/// What changed between two states of memory files.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StateDiff {
    /// Whose memory it is, such as `project/tidepool`.
    pub(crate) scope: String,
    /// The earlier state; `null` when there was none.
    pub(crate) from: Option<HistoryCommit>,
    /// The later state.
    pub(crate) to: HistoryCommit,
    /// The files that differ, by name.
    pub(crate) files: Vec<ChangedFile>,
}

/// A file that differs between two states.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangedFile {
    /// Its name in the memory folder.
    #[schema(example = "MEMORY.md")]
    pub(crate) file: String,
    /// `added`, `deleted` or `changed`.
    pub(crate) change: &'static str,
    /// The removed and added lines, in the order of the file.
    pub(crate) lines: Vec<ChangedLine>,
}

/// A line that only one of two states has.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangedLine {
    /// `removed` or `added`.
    pub(crate) change: &'static str,
    /// The heading above it; empty above the first.
    pub(crate) section: String,
    /// The line.
    pub(crate) text: String,
}

/// The newest `limit` commits of a folder, newest first; with a file those that changed it.
pub(crate) fn commits(
    folder: &Folder,
    file: Option<&FilePath>,
    limit: usize,
) -> Result<Vec<HistoryCommit>> {
    let commits = match file {
        Some(file) => folder.log_of(file, limit)?,
        None => folder.log(limit)?,
    };
    Ok(commits.iter().map(HistoryCommit::from).collect())
}

/// Some commits, and the id after which the list goes on; `None` on the last page.
pub(crate) type CommitPage = (Vec<HistoryCommit>, Option<String>);

/// The next `limit` commits of a folder after the one with the id `after`, newest first; with a file those that changed it.
pub(crate) fn commits_after(
    folder: &Folder,
    file: Option<&FilePath>,
    after: Option<&str>,
    limit: usize,
) -> Result<CommitPage> {
    let Some(after) = after else {
        return Ok(cut(commits(folder, file, limit + 1)?, limit));
    };
    let mut all = commits(folder, file, SEARCHED_COMMITS)?.into_iter();
    match all.find(|commit| commit.id == after) {
        Some(_) => Ok(cut(all.take(limit + 1).collect(), limit)),
        None => bail!(RequestError::NotFound(format!(
            "no change has the id {after} any more; list from the beginning"
        ))),
    }
}

/// The first `limit` of up to one commit more, which shows that another page follows.
fn cut(mut commits: Vec<HistoryCommit>, limit: usize) -> CommitPage {
    let has_more = commits.len() > limit;
    commits.truncate(limit);
    let next = commits.last().filter(|_| has_more);
    let next = next.map(|commit| commit.id.clone());
    (commits, next)
}

/// The states that a diff compares.
#[derive(Debug, Clone, Default)]
pub(crate) struct DiffStates {
    /// The earlier state.
    pub(crate) from: Option<String>,
    /// The later state; the newest when left out.
    pub(crate) to: Option<String>,
    /// Instead of both: the change that was made at this state.
    pub(crate) at: Option<String>,
}

/// Compares two states of a scope's files; without any, the last commit with the one before.
pub(crate) fn diff(
    daybook: &Daybook,
    (scope, folder): (&Scope, &Folder),
    states: &DiffStates,
    file: Option<&FilePath>,
) -> Result<StateDiff> {
    let find = |name: &str| find_state(daybook, (scope, folder), name);
    let (from, to) = match (&states.from, &states.at) {
        (Some(from), None) => {
            let to = match &states.to {
                Some(to) => find(to)?,
                None => newest(scope, folder)?,
            };
            (Some(find(from)?), to)
        }
        (None, at) => {
            let to = match at.as_ref().or(states.to.as_ref()) {
                Some(at) => find(at)?,
                None => newest(scope, folder)?,
            };
            (parent(folder, &to)?, to)
        }
        (Some(_), Some(_)) => bail!(RequestError::Invalid(
            "give either two states, or --at with one".to_owned()
        )),
    };
    let diffs = folder.diff(from.as_ref().map(|commit| commit.id), Some(to.id))?;
    let wanted = diffs
        .iter()
        .filter(|diff| file.is_none_or(|file| *file == diff.path));
    Ok(StateDiff {
        scope: scope.to_string(),
        from: from.as_ref().map(HistoryCommit::from),
        to: HistoryCommit::from(&to),
        files: wanted.map(changed_file).collect(),
    })
}

fn changed_file(diff: &FileDiff) -> ChangedFile {
    let lines = diff.lines.iter().map(|line| ChangedLine {
        change: if line.is_added { "added" } else { "removed" },
        section: hidden(&line.section),
        text: hidden(&line.text),
    });
    ChangedFile {
        file: diff.path.to_string(),
        change: match diff.exists {
            (false, _) => "added",
            (true, false) => "deleted",
            (true, true) => "changed",
        },
        lines: lines.collect(),
    }
}

/// A file as it was in a state, without secrets.
pub(crate) fn file_at(
    daybook: &Daybook,
    (scope, folder): (&Scope, &Folder),
    state: &str,
    file: &FilePath,
) -> Result<(HistoryCommit, String)> {
    let commit = find_state(daybook, (scope, folder), state)?;
    let Some(bytes) = folder.read_at(commit.id, file)? else {
        bail!(RequestError::NotFound(format!(
            "{scope} had no file {file} then"
        )));
    };
    let text = hidden(&String::from_utf8_lossy(&bytes));
    Ok((HistoryCommit::from(&commit), text))
}

/// The commit that `name` leads to.
pub(crate) fn find_state(
    daybook: &Daybook,
    (scope, folder): (&Scope, &Folder),
    name: &str,
) -> Result<Commit> {
    let Some(state) = parse_state(daybook, name) else {
        bail!(RequestError::Invalid(format!(
            "\"{name}\" names no state; write {STATES}"
        )));
    };
    match folder.find_state(&state)? {
        FoundState::One(commit) => Ok(commit),
        FoundState::Several => bail!(RequestError::Invalid(format!(
            "more than one commit begins with {name}; write more of its digits"
        ))),
        FoundState::None => bail!(RequestError::NotFound(match state {
            StateName::Commit(_) =>
                format!("{scope} has no commit {name}; `daybook history` lists them"),
            StateName::At(_) => format!("the memory of {scope} is younger than {name}"),
        })),
    }
}

fn newest(scope: &Scope, folder: &Folder) -> Result<Commit> {
    match folder.log(1)?.pop() {
        Some(commit) => Ok(commit),
        None => bail!(RequestError::NotFound(format!(
            "{scope} has no history yet"
        ))),
    }
}

fn parent(folder: &Folder, commit: &Commit) -> Result<Option<Commit>> {
    let parent: Option<CommitHash> = commit.parents.first().copied();
    Ok(match parent {
        Some(parent) => Some(folder.commit(parent)?),
        None => None,
    })
}

/// Parses the name of a state: the first digits of a commit, or a time in the person's zone.
pub(crate) fn parse_state(daybook: &Daybook, text: &str) -> Option<StateName> {
    let at = parse_moment(daybook, text).ok().map(StateName::At);
    at.or_else(|| StateName::of_commit(text.trim()))
}

/// The file that `name` means: by its name in the scope's folder, or by its whole path.
pub(crate) fn parse_file(daybook: &Daybook, scope: &Scope, name: &str) -> Result<FilePath> {
    let folder = folder(&daybook.root, scope);
    let below_root = folder.strip_prefix(&daybook.root).unwrap_or(&folder);
    let path = Path::new(name);
    let below = path.strip_prefix(&folder).ok();
    let below = below.or_else(|| path.strip_prefix(below_root).ok());
    let name = below.map_or(name.to_owned(), |below| below.display().to_string());
    FilePath::new(name.as_str()).map_err(|error| RequestError::Invalid(error.to_string()).into())
}

/// A text of memory files without the secrets in it.
pub(crate) fn hidden(text: &str) -> String {
    masked(&Redactor::current(), text).into_owned()
}
