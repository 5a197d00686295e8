//! "Where we left off": the state of each branch with open work, and what was left for later.
//!
//! Not here: what was finished (`done`), every branch there is (`branches`).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use daybook_domain::Outcome;
use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::done::is_shared_branch;
use super::entries::{observation_entry, time_and_branch_suffix};
use super::merge::MergedObservation;
use super::phrase::{cite, commits, day, quoted, shorten};
use super::rank::top_ranked;
use super::session_account::SessionAccount;
use super::{LEFT_OFF_ENTRIES, MemoryEntry, MemoryInput, MemorySection};

/// Heading of the first section.
pub const LEFT_OFF: &str = "Where we left off";
/// Begins what was left for later, and what an agent asked.
const OPEN: &str = "open: ";
/// Ends last words that nothing came after.
const UNANSWERED: &str = "unanswered";
/// Most characters of quoted last words.
const LAST_WORDS: usize = 200;
/// Length of a session up to which it may have been in passing, in milliseconds: ten minutes.
const IN_PASSING: i64 = 10 * 60 * 1000;
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
    let mut lasts: Vec<BranchState<'_>> = by_branch
        .into_values()
        .filter_map(|on_branch| {
            let has_newest = on_branch.iter().any(|one| Some(one.to_at) == newest);
            let state = BranchState::of(&on_branch)?;
            // Finished work is no open end, and a question that was answered is none, but where the newest session was is
            // always shown.
            (state.has_open_work() || has_newest).then_some(state)
        })
        .collect();
    // Unanswered and unfinished work comes before work with any other end.
    lasts.sort_by_key(|state| {
        let last = state.last;
        (!state.is_open(), Reverse(last.to_at), last.label.clone())
    });
    lasts.truncate(LEFT_OFF_ENTRIES);
    let shown: Vec<&str> = lasts
        .iter()
        .filter_map(|state| Some(state.last.last_words.as_ref()?.text.as_str()))
        .collect();
    let open: Vec<&MergedObservation> = open_ends
        .iter()
        .copied()
        .filter(|open| !shown.contains(&open.text.as_str()) && !is_taken_up(open, accounts))
        .collect();
    let mut entries: Vec<MemoryEntry> = lasts
        .iter()
        .map(|state| branch_entry(input, state))
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
static ISSUE: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(r"(?i)\b[a-z]{2,10}-\d{1,6}\b|#\d{1,6}\b"));

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

fn is_unanswered(account: &SessionAccount) -> bool {
    account.open_question.is_some() || (account.last_words.is_some() && !account.answered)
}

/// Where a branch stands.
pub(super) struct BranchState<'a> {
    /// The session that tells it: the last one that was not in passing, because a question that was asked and answered changes
    /// nothing. The last one of all where each was, where it left something open, and where sessions that have nothing to do
    /// with each other share a branch.
    pub(super) last: &'a SessionAccount,
    /// The branch's sessions.
    sessions: usize,
    /// Whether no session came after it.
    is_last: bool,
}

impl<'a> BranchState<'a> {
    /// The state of a branch after these sessions; `None` without one.
    pub(super) fn of(on_branch: &[&'a SessionAccount]) -> Option<Self> {
        let latest = |one: &&&SessionAccount| (one.to_at, one.label.clone());
        let newest = *on_branch.iter().max_by_key(latest)?;
        let told = on_branch.iter().filter(|one| !was_in_passing(one));
        let is_shared = is_shared_branch(newest.branch.as_deref().unwrap_or_default());
        let last = match is_shared || is_unanswered(newest) {
            true => newest,
            false => told.max_by_key(latest).copied().unwrap_or(newest),
        };
        Some(Self {
            last,
            sessions: on_branch.len(),
            is_last: last.session == newest.session,
        })
    }

    /// Whether something may be left to do: an open question, an unanswered request, or work without an end.
    fn has_open_work(&self) -> bool {
        let Self { last, .. } = self;
        let has_work = last.commits > 0
            || last.title.is_some()
            || matches!(last.outcome, Outcome::Partial | Outcome::Fail);
        self.is_unanswered() || (has_work && last.outcome != Outcome::Success)
    }

    fn is_open(&self) -> bool {
        self.is_unanswered() || matches!(self.last.outcome, Outcome::Partial | Outcome::Fail)
    }

    /// Whether the session ended with a question or a request. Where another one came after it, work went on.
    fn is_unanswered(&self) -> bool {
        self.is_last && is_unanswered(self.last)
    }
}

/// Whether a session was short and came to nothing.
fn was_in_passing(account: &SessionAccount) -> bool {
    let came_to_something =
        account.commits > 0 || account.title.is_some() || account.outcome != Outcome::Uncertain;
    let lasted = account.to_at.0.saturating_sub(account.from_at.0);
    !came_to_something && lasted < IN_PASSING
}

/// Where a branch stands after a session: what the work is called, its commits, and what is open.
pub(super) fn branch_entry(input: &MemoryInput, state: &BranchState<'_>) -> MemoryEntry {
    let (last, sessions) = (state.last, state.sessions);
    let named = last.title.as_ref().or(last.task.as_ref());
    let named = named.filter(|name| name.text.contains(' ') || last.branch.is_none());
    let named = named.map(|name| quoted(&shorten(&name.text, NAME)));
    let mut parts = match &last.branch {
        Some(branch) => vec![branch.clone(), day(last.to_at, &input.zone)],
        None => vec![day(last.to_at, &input.zone)],
    };
    match state.is_last {
        true if sessions > 1 => parts.push(format!("last of {sessions} sessions")),
        true => {}
        false => parts.push(format!("one of {sessions} sessions")),
    }
    parts.extend(named);
    if last.outcome != Outcome::Uncertain {
        parts.push(last.outcome.as_str().to_owned());
    }
    parts.push(commits_with_last_subject(last));
    let mut cited: Vec<u32> = Vec::new();
    if let Some(open) = last.open_question.as_ref().filter(|_| state.is_last) {
        let open_question = quoted(&shorten(&open.text, LAST_WORDS));
        parts.push(format!("{OPEN}the agent asked {open_question}"));
        cited.extend(&open.lines);
    } else if let Some(words) = last.last_words.as_ref().filter(|_| state.is_unanswered()) {
        let said = quoted(&shorten(&words.text, LAST_WORDS));
        parts.push(format!("last words: {said} — {UNANSWERED}"));
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
            "{OPEN}{}{}",
            open.words(),
            time_and_branch_suffix(input, open)
        ),
    )
}

/// Whether a line of this section, without its citations, names something that is not done.
pub fn names_open_end(line: &str) -> bool {
    let is_unfinished = |part: &str| {
        let unfinished = [Outcome::Partial, Outcome::Fail];
        part.starts_with(OPEN)
            || part.ends_with(UNANSWERED)
            || unfinished.iter().any(|outcome| outcome.as_str() == part)
    };
    line.split(" · ").map(str::trim).any(is_unfinished)
}

#[cfg(test)]
mod tests {
    use daybook_domain::extraction::CitedText;
    use daybook_domain::{EventSeq, Timestamp};
    use daybook_testkit::fixtures::session;

    use super::*;

    /// A short session of the branch `tides` with so many commits.
    fn account(at: i64, commits: u32) -> SessionAccount {
        let label = format!("{at:04}");
        SessionAccount {
            session: session(&label),
            label,
            task: None,
            title: None,
            outcome: Outcome::Uncertain,
            last_words: None,
            answered: true,
            open_question: None,
            course: None,
            commits,
            pushed: 0,
            committed: Vec::new(),
            highlights: Vec::new(),
            habits: Vec::new(),
            branch: Some("tides".to_owned()),
            from_at: Timestamp(at),
            to_at: Timestamp(at),
            summary: None,
            slug: None,
            raw_memory: Vec::new(),
        }
    }

    #[track_caller]
    fn check(sessions: &[SessionAccount], expected: (&str, bool)) {
        let all: Vec<&SessionAccount> = sessions.iter().collect();
        let state = BranchState::of(&all).unwrap();
        assert_eq!((state.last.label.as_str(), state.is_last), expected);
        assert_eq!(state.sessions, sessions.len());
    }

    #[test]
    fn a_question_that_was_answered_leaves_a_branch_where_it_stood() {
        check(&[account(1, 2), account(2, 0)], ("0001", false));
        check(&[account(2, 0), account(1, 2)], ("0001", false));
        check(
            &[account(1, 2), account(2, 1), account(3, 0)],
            ("0002", false),
        );
        check(&[account(1, 2), account(2, 1)], ("0002", true));
        // None came to anything.
        check(&[account(1, 0), account(2, 0)], ("0002", true));
        // What took its time was no question in passing.
        let mut long = account(2, 0);
        long.to_at = Timestamp(2 + IN_PASSING);
        check(&[account(1, 2), long], ("0002", true));
        assert!(BranchState::of(&[]).is_none());
    }

    #[test]
    fn a_line_names_what_is_open() {
        for open in [
            r#"tides · 9 Mar · open: the agent asked "Which port?""#,
            r#"tides · 9 Mar · "add a tide table" · last words: "why 5?" — unanswered"#,
            r#"tides · 9 Mar · partial · 1 commit"#,
            "open: round the totals · tides, 9 Mar",
        ] {
            assert!(names_open_end(open), "{open}");
        }
        for line in [
            r#"9 Mar · last of 4 sessions · "List the partial tides.""#,
            r#"tides · 9 Mar · success · 1 commit; last "open: the port""#,
        ] {
            assert!(!names_open_end(line), "{line}");
        }
    }

    #[test]
    fn the_last_session_tells_it_if_it_left_something_open_or_shares_the_branch_alone() {
        let mut open = account(2, 0);
        open.open_question = Some(CitedText {
            text: "Which port?".to_owned(),
            events: vec![EventSeq(1)],
            lines: vec![1],
        });
        check(&[account(1, 2), open], ("0002", true));
        let on_main = [account(1, 2), account(2, 0)].map(|mut one| {
            one.branch = Some("main".to_owned());
            one
        });
        check(&on_main, ("0002", true));
    }
}
