//! "Where we left off": the state of each branch with open work, and what was left for later.
//!
//! Not here: what was finished (`done`), every branch there is (`branches`).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use daybook_domain::Outcome;
use regex::Regex;

use super::entries::{observation_entry, time_and_branch_suffix};
use super::merge::MergedObservation;
use super::phrase::{cite, commits, day, quoted, shorten};
use super::rank::top_ranked;
use super::session_account::SessionAccount;
use super::{LEFT_OFF_ENTRIES, MemoryEntry, MemoryInput, MemorySection};

/// Heading of the first section.
pub const LEFT_OFF: &str = "Where we left off";
/// Most characters of quoted last words.
const LAST_WORDS: usize = 200;
/// Most characters of what the work is called.
const NAME: usize = 100;

pub(super) fn left_off_section(
    input: &MemoryInput,
    accounts: &[SessionAccount],
    open_ends: &[&MergedObservation],
) -> MemorySection {
    let mut by_branch: BTreeMap<Option<&str>, Vec<&SessionAccount>> = BTreeMap::new();
    for account in accounts {
        by_branch
            .entry(account.branch.as_deref())
            .or_default()
            .push(account);
    }
    let newest = accounts.iter().map(|account| account.to_at).max();
    let mut lasts: Vec<(&SessionAccount, usize)> = by_branch
        .into_values()
        .filter_map(|mut on_branch| {
            on_branch.sort_by_key(|account| (account.to_at, account.label.clone()));
            on_branch.last().map(|last| (*last, on_branch.len()))
        })
        // Finished work is no open end, and a question that was answered is none, but the newest session is always shown.
        .filter(|(last, _)| has_open_work(last) || Some(last.to_at) == newest)
        .collect();
    // Unanswered and unfinished work comes before work with any other end.
    lasts.sort_by_key(|(last, _)| (!is_open(last), Reverse(last.to_at), last.label.clone()));
    lasts.truncate(LEFT_OFF_ENTRIES);
    let shown: Vec<&str> = lasts
        .iter()
        .filter_map(|(last, _)| Some(last.last_words.as_ref()?.text.as_str()))
        .collect();
    let open: Vec<&MergedObservation> = open_ends
        .iter()
        .copied()
        .filter(|open| !shown.contains(&open.text.as_str()) && !is_taken_up(open, accounts))
        .collect();
    let mut entries: Vec<MemoryEntry> = lasts
        .iter()
        .map(|(last, n)| branch_entry(input, last, *n))
        .collect();
    entries.extend(
        top_ranked(&open, LEFT_OFF_ENTRIES)
            .iter()
            .map(|open| open_end_entry(input, open)),
    );
    MemorySection {
        title: LEFT_OFF.to_owned(),
        entries,
    }
}

/// An issue's identifier, as trackers write it: `ABC-12`, `#12`.
static ISSUE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b[a-z]{2,10}-\d{1,6}\b|#\d{1,6}\b").expect("the pattern is constant")
});

/// Whether later work is about the issue that an open end names: its branch, its plan or one of its commits has the
/// identifier. What is open then stands with that work.
fn is_taken_up(open: &MergedObservation, accounts: &[SessionAccount]) -> bool {
    let Some(issue) = ISSUE.find(&open.text) else {
        return false;
    };
    let issue = issue.as_str().to_lowercase();
    let names = |text: &str| {
        let low = text.to_lowercase();
        ISSUE.find_iter(&low).any(|found| found.as_str() == issue)
    };
    accounts
        .iter()
        .filter(|account| account.to_at > open.last_at())
        .any(|account| {
            let titles = account.title.iter().chain(&account.committed);
            account.branch.as_deref().is_some_and(names)
                || titles.into_iter().any(|cited| names(&cited.text))
        })
}

/// Whether something may be left to do: an open question, an unanswered request, or work without an end.
fn has_open_work(account: &SessionAccount) -> bool {
    let has_work = account.commits > 0
        || account.title.is_some()
        || matches!(account.outcome, Outcome::Partial | Outcome::Fail);
    let is_finished = account.outcome == Outcome::Success;
    is_unanswered(account) || (has_work && !is_finished)
}

fn is_unanswered(account: &SessionAccount) -> bool {
    account.open_question.is_some() || (account.last_words.is_some() && !account.answered)
}

fn is_open(account: &SessionAccount) -> bool {
    is_unanswered(account) || matches!(account.outcome, Outcome::Partial | Outcome::Fail)
}

/// Where a branch stands after its last session: what the work is called, its commits, and what is open.
pub(super) fn branch_entry(
    input: &MemoryInput,
    last: &SessionAccount,
    sessions: usize,
) -> MemoryEntry {
    let named = last.title.as_ref().or(last.task.as_ref());
    let named = named.filter(|name| name.text.contains(' ') || last.branch.is_none());
    let named = named.map(|name| quoted(&shorten(&name.text, NAME)));
    let mut parts = match &last.branch {
        Some(branch) => vec![branch.clone(), day(last.to_at, &input.zone)],
        None => vec![day(last.to_at, &input.zone)],
    };
    if sessions > 1 {
        parts.push(format!("last of {sessions} sessions"));
    }
    parts.extend(named);
    if last.outcome != Outcome::Uncertain {
        parts.push(last.outcome.as_str().to_owned());
    }
    parts.push(commits_with_last_subject(last));
    let mut cited: Vec<u32> = Vec::new();
    if let Some(open) = &last.open_question {
        let open_question = quoted(&shorten(&open.text, LAST_WORDS));
        parts.push(format!("open: the agent asked {open_question}"));
        cited.extend(&open.lines);
    } else if let Some(words) = last.last_words.as_ref().filter(|_| !last.answered) {
        let said = quoted(&shorten(&words.text, LAST_WORDS));
        parts.push(format!("last words: {said} — unanswered"));
    }
    if let Some(words) = last.last_words.as_ref().or(last.task.as_ref()) {
        cited.extend(&words.lines);
    }
    parts.retain(|part| !part.is_empty());
    let branch = last.branch.as_deref().unwrap_or(&last.label);
    MemoryEntry {
        key: format!("left-off/{branch}"),
        lines: vec![format!(
            "{} {}",
            parts.join(" · "),
            cite(&last.label, cited)
        )],
        observations: Vec::new(),
    }
}

/// `3 commits, 1 pushed; last "Round the totals"`
fn commits_with_last_subject(last: &SessionAccount) -> String {
    let made = commits(last.commits, last.pushed);
    match last.committed.last() {
        Some(subject) if !made.is_empty() => format!("{made}; last {}", quoted(&subject.text)),
        _ => made,
    }
}

pub(super) fn open_end_entry(input: &MemoryInput, open: &MergedObservation) -> MemoryEntry {
    observation_entry(
        open,
        format!(
            "open: {}{}",
            open.words(),
            time_and_branch_suffix(input, open)
        ),
    )
}
