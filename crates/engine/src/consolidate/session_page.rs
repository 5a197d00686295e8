//! Renders what the diary and a session's own page show of a session.
//!
//! Both show what is in its [`SessionSource`] and nothing else, so that a page whose source has not changed need not be
//! rendered again.
//!
//! Not here: the names of pages, and which are rendered (`dated_pages`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::extraction::CitedText;
use daybook_domain::{EventSeq, ObservationKind, SessionId};
use daybook_text::fence::{one_line, without_citations};
use jiff::tz::TimeZone;

use super::merge::MergedObservation;
use super::persons_words::PersonsWords;
use super::phrase::{cite, cite_statement, commits, date_and_hour, quoted, shorten};
use super::session_account::SessionAccount;
use super::{MemoryEntry, MemoryPage, MemorySection};

/// Most characters of a task in the diary.
const TASK: usize = 120;
/// Most commits of one session in the diary: the last ones.
const DIARY_COMMITS: usize = 2;
/// Most learned lines of one session in the diary.
const DIARY_LINES: usize = 4;
/// Most highlights on a session's page: the newest.
const HIGHLIGHTS: usize = 12;
/// Most characters of a model's summary of a session.
const SUMMARY: usize = 1_200;

/// The events of each session whose observations a person withdrew.
pub(super) type ForgottenEvents = BTreeMap<SessionId, Vec<EventSeq>>;

/// All that the pages of one session are rendered from.
#[derive(Debug, Hash)]
pub(super) struct SessionSource<'a> {
    account: &'a SessionAccount,
    /// `2026-01-27`
    date: &'a str,
    /// `13:56–14:20`
    hours: &'a str,
    taught: Vec<TaughtStatement<'a>>,
    forgotten: &'a [EventSeq],
}

/// What the pages of a session are rendered from of an observation.
#[derive(Debug, Hash)]
struct TaughtStatement<'a> {
    kind: ObservationKind,
    subject: Option<&'a str>,
    text: &'a str,
    quoted: bool,
    /// The events of its evidence in the session, with their numbers in citations.
    evidence: Vec<(&'a [EventSeq], &'a [u32])>,
}

impl<'a> SessionSource<'a> {
    pub(super) fn new(
        account: &'a SessionAccount,
        (date, hours): (&'a str, &'a str),
        observations: impl Iterator<Item = &'a MergedObservation>,
        forgotten: &'a ForgottenEvents,
    ) -> Self {
        let forgotten = forgotten.get(&account.session);
        Self {
            account,
            date,
            hours,
            taught: observations
                .map(|merged| TaughtStatement::new(merged, &account.session))
                .collect(),
            forgotten: forgotten.map_or(&[], Vec::as_slice),
        }
    }

    /// A line for each observation with evidence in the session, in the order of the evidence.
    fn learned_lines(&self) -> Vec<String> {
        let label = &self.account.label;
        let line = |taught: &TaughtStatement<'_>| {
            let lines = taught.lines();
            let first = lines.iter().min().copied()?;
            let (verb, words) = (verb(taught.kind), taught.words());
            Some((first, format!("{verb}: {words} {}", cite(label, lines))))
        };
        let mut lines: Vec<(u32, String)> = self.taught.iter().filter_map(line).collect();
        lines.sort();
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// The highlights that no observation of the session says better.
    fn untaught_highlights(&self) -> Vec<&'a CitedText> {
        let evidence = self.taught.iter().flat_map(|taught| &taught.evidence);
        let taught: BTreeSet<EventSeq> = evidence
            .flat_map(|(events, _)| events.iter().copied())
            .collect();
        let is_new = |said: &&CitedText| {
            let mut events = said.events.iter();
            events.any(|event| !taught.contains(event) && !self.forgotten.contains(event))
        };
        self.account.highlights.iter().filter(is_new).collect()
    }
}

impl<'a> TaughtStatement<'a> {
    fn new(merged: &'a MergedObservation, session: &SessionId) -> Self {
        let evidence = merged.evidence.iter();
        let here = evidence.filter(|evidence| evidence.session == *session);
        Self {
            kind: merged.kind,
            subject: merged.subject.as_deref(),
            text: &merged.text,
            quoted: merged.quoted,
            evidence: here
                .map(|evidence| (&*evidence.events, &*evidence.lines))
                .collect(),
        }
    }

    fn lines(&self) -> Vec<u32> {
        let evidence = self.evidence.iter();
        evidence
            .flat_map(|(_, lines)| lines.iter().copied())
            .collect()
    }

    fn words(&self) -> String {
        match (self.kind, self.subject) {
            (ObservationKind::Value, Some(subject)) => format!("{subject} {}", self.text),
            (ObservationKind::Fix, _) => self.text.to_owned(),
            _ if self.quoted => quoted(self.text),
            _ => self.text.to_owned(),
        }
    }
}

/// The day on which a session began, and the hours at which it began and ended.
pub(super) fn date_and_hours(account: &SessionAccount, zone: &TimeZone) -> (String, String) {
    let (date, from) = date_and_hour(account.from_at, zone);
    let (_, to) = date_and_hour(account.to_at, zone);
    (date, format!("{from}–{to}"))
}

/// The events of a person's words by session.
pub(super) fn forgotten_events(persons: &PersonsWords) -> ForgottenEvents {
    let mut forgotten = ForgottenEvents::new();
    for (session, event) in &persons.forgotten {
        match forgotten.get_mut(session) {
            Some(events) => events.push(*event),
            None => drop(forgotten.insert(session.clone(), vec![*event])),
        }
    }
    forgotten
}

/// The entry of a session in the diary.
pub(super) fn diary_entry(source: &SessionSource<'_>) -> MemoryEntry {
    let SessionSource { account, hours, .. } = source;
    let named = account.title.as_ref().or(account.task.as_ref());
    let task = named.map(|named| shorten(&named.text, TASK));
    let on = account
        .branch
        .as_ref()
        .map(|branch| format!(" on {branch}"))
        .unwrap_or_default();
    let mut parts = vec![
        format!(
            "{hours} {}{on}",
            task.unwrap_or_else(|| "session".to_owned())
        ),
        account.outcome.as_str().to_owned(),
        commits(account.commits, account.pushed),
    ];
    parts.retain(|part| !part.is_empty());
    let mut lines = vec![format!("{} [{}]", parts.join(" · "), account.label)];
    let earlier = account.committed.len().saturating_sub(DIARY_COMMITS);
    lines.extend(
        account.committed[earlier..]
            .iter()
            .map(|subject| committed_line(account, subject)),
    );
    lines.extend(source.learned_lines().into_iter().take(DIARY_LINES));
    MemoryEntry {
        key: format!("session/{}", account.session),
        lines,
        observations: Vec::new(),
    }
}

fn committed_line(account: &SessionAccount, subject: &CitedText) -> String {
    let cited = cite_statement(&account.label, subject);
    format!("committed: {} {cited}", quoted(&subject.text))
}

/// The page of one session.
pub(super) fn session_page(source: &SessionSource<'_>) -> MemoryPage {
    let account = source.account;
    let task = account.task.as_ref().map(|task| &*task.text);
    let task = task.unwrap_or("A session without a task");
    let section = |title: &str, kind: &str, lines: Vec<String>| MemorySection {
        title: title.to_owned(),
        entries: numbered_entries(account, kind, lines),
    };
    MemoryPage {
        heading: format!("{task} [{}]", account.label),
        sections: vec![
            MemorySection {
                title: String::new(),
                entries: facts(source),
            },
            section("What happened", "highlight", happened_lines(source)),
            section("What it taught", "taught", source.learned_lines()),
        ],
    }
}

fn numbered_entries(account: &SessionAccount, kind: &str, lines: Vec<String>) -> Vec<MemoryEntry> {
    let lines = lines.into_iter().enumerate();
    lines
        .map(|(n, line)| session_entry(account, &format!("{kind}/{n}"), line))
        .collect()
}

fn session_entry(account: &SessionAccount, key: &str, line: String) -> MemoryEntry {
    MemoryEntry {
        key: format!("{}/{key}", account.session),
        lines: vec![line],
        observations: Vec::new(),
    }
}

/// Commits, then highlights.
fn happened_lines(source: &SessionSource<'_>) -> Vec<String> {
    let account = source.account;
    let highlights = source.untaught_highlights();
    let earlier = highlights.len().saturating_sub(HIGHLIGHTS);
    let highlights = highlights[earlier..].iter().map(|said| {
        let cited = cite_statement(&account.label, said);
        format!("{} {cited}", said.text)
    });
    let committed = account.committed.iter();
    let committed = committed.map(|subject| committed_line(account, subject));
    committed.chain(highlights).collect()
}

/// What stands below the heading.
fn facts(source: &SessionSource<'_>) -> Vec<MemoryEntry> {
    let account = source.account;
    let mut facts = Vec::new();
    let mut fact = |key: &str, line: String| facts.push(session_entry(account, key, line));
    fact("when", format!("{} {}", source.date, source.hours));
    if let Some(branch) = &account.branch {
        fact("branch", format!("branch {branch}"));
    }
    let made = commits(account.commits, account.pushed);
    let outcome = account.outcome.as_str();
    let separator = if made.is_empty() { "" } else { " · " };
    fact("outcome", format!("outcome: {outcome}{separator}{made}"));
    if let Some(title) = &account.title {
        let cited = cite_statement(&account.label, title);
        fact("title", format!("title: {} {cited}", quoted(&title.text)));
    }
    if let Some(summary) = &account.summary {
        let line = one_line(&without_citations(summary));
        fact("summary", format!("summary: {}", shorten(&line, SUMMARY)));
    }
    if let Some(words) = &account.last_words {
        let answered = if account.answered {
            "answered"
        } else {
            "unanswered"
        };
        let said = quoted(&words.text);
        fact(
            "last",
            format!(
                "last words: {said} — {answered} {}",
                cite_statement(&account.label, words)
            ),
        );
    }
    if let Some(open_question) = &account.open_question {
        let said = quoted(&open_question.text);
        let cited = cite_statement(&account.label, open_question);
        fact(
            "asked",
            format!("the agent asked: {said} — unanswered {cited}"),
        );
    }
    facts
}

fn verb(kind: ObservationKind) -> &'static str {
    match kind {
        ObservationKind::Correction => "corrected",
        ObservationKind::Preference => "preferred",
        ObservationKind::Fact => "stated",
        ObservationKind::Decision => "decided",
        ObservationKind::Value => "set",
        ObservationKind::Fix => "fixed",
        ObservationKind::OpenEnd => "left open",
        ObservationKind::Note => "to remember",
    }
}
