//! Builds the diary, the pages of sessions, and the pages of notes.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::extraction::CitedText;
use daybook_domain::{EventId, EventSeq, ObservationKind, SessionId};
use daybook_text::fence::{one_line, without_citations};

use super::by_session::ObservationsBySession;
use super::merge::MergedObservation;
use super::phrase::{
    citations, cite, cite_statement, commits, date, date_and_hour, quoted, shorten,
};
use super::session_account::SessionAccount;
use super::{MemoryEntry, MemoryInput, MemoryPage, MemorySection};

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
/// Most characters of a session's slug.
const SLUG: usize = 48;

/// What the diary and a session's own page both show of a session.
pub(super) struct DatedSession<'a> {
    account: &'a SessionAccount,
    observations: &'a [&'a MergedObservation],
    /// The day on which it began.
    date: String,
    /// The hours at which it began and ended.
    hours: String,
    /// What it taught.
    learned: Vec<String>,
}

impl<'a> DatedSession<'a> {
    pub(super) fn of(
        input: &MemoryInput,
        account: &'a SessionAccount,
        observations: &'a [&'a MergedObservation],
    ) -> Self {
        let (from, to) = (account.from_at, account.to_at);
        let (date, from) = date_and_hour(from, &input.zone);
        let (_, to) = date_and_hour(to, &input.zone);
        Self {
            account,
            observations,
            date,
            hours: format!("{from}–{to}"),
            learned: learned_lines(account, observations),
        }
    }
}

/// All sessions as dated pages show them.
pub(super) fn dated_sessions<'a>(
    input: &MemoryInput,
    accounts: &'a [SessionAccount],
    observations: &'a ObservationsBySession<'a>,
) -> Vec<DatedSession<'a>> {
    let accounts = accounts.iter();
    accounts
        .map(|account| DatedSession::of(input, account, observations.of(&account.session)))
        .collect()
}

/// `daily/<date>.md`: one entry per session, on the day it began.
pub(super) fn daily_pages(
    input: &MemoryInput,
    sessions: &[DatedSession<'_>],
) -> BTreeMap<String, MemoryPage> {
    let mut days: BTreeMap<String, Vec<MemoryEntry>> = BTreeMap::new();
    for session in sessions {
        let entry = diary_entry(session);
        match days.get_mut(&session.date) {
            Some(entries) => entries.push(entry),
            None => drop(days.insert(session.date.clone(), vec![entry])),
        }
    }
    days.into_iter()
        .map(|(day, entries)| {
            (
                day.clone(),
                page_without_titles(format!("{} · {day}", input.title), entries),
            )
        })
        .collect()
}

fn diary_entry(session: &DatedSession<'_>) -> MemoryEntry {
    let DatedSession { account, hours, .. } = session;
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
    lines.extend(session.learned.iter().take(DIARY_LINES).cloned());
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

/// The highlights that no observation of the session says better.
fn untaught_highlights<'a>(
    input: &MemoryInput,
    account: &'a SessionAccount,
    observations: &[&MergedObservation],
) -> Vec<&'a CitedText> {
    let taught: BTreeSet<EventSeq> = observations
        .iter()
        .flat_map(|merged| &*merged.evidence)
        .filter(|evidence| evidence.session == account.session)
        .flat_map(|evidence| evidence.events.iter().copied())
        .collect();
    let forgotten = &input.persons.forgotten;
    let is_forgotten = |event: &EventSeq| {
        !forgotten.is_empty() && forgotten.contains(&(account.session.clone(), *event))
    };
    let is_new = |said: &&CitedText| {
        let mut events = said.events.iter();
        events.any(|event| !taught.contains(event) && !is_forgotten(event))
    };
    account.highlights.iter().filter(is_new).collect()
}

/// A line for each observation with evidence in the session, in the order of the evidence.
fn learned_lines(account: &SessionAccount, observations: &[&MergedObservation]) -> Vec<String> {
    let mut lines: Vec<(u32, String)> = observations
        .iter()
        .filter_map(|merged| {
            let here: Vec<u32> = merged
                .evidence
                .iter()
                .filter(|e| e.session == account.session)
                .flat_map(|e| e.lines.iter().copied())
                .collect();
            let first = here.iter().min().copied()?;
            let said = merged_text(merged);
            Some((
                first,
                format!(
                    "{}: {said} {}",
                    verb(merged.kind),
                    cite(&account.label, here)
                ),
            ))
        })
        .collect();
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

fn merged_text(merged: &MergedObservation) -> String {
    match (merged.kind, &merged.subject) {
        (ObservationKind::Fix, _) => merged.text.clone(),
        (ObservationKind::Value, Some(subject)) => format!("{subject} {}", merged.text),
        _ => merged.words(),
    }
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

/// `sessions/<date>-<slug>.md`: one page per session.
pub(super) fn session_pages(
    input: &MemoryInput,
    sessions: Vec<DatedSession<'_>>,
) -> BTreeMap<String, MemoryPage> {
    let mut pages = BTreeMap::new();
    for session in sessions {
        let account = session.account;
        let mut name = file_name(&session);
        if pages.contains_key(&name) {
            // Another task and label can give the same words.
            let SessionId { agent, host_id, .. } = &account.session;
            let print = EventId::of(&[agent.as_bytes(), host_id.as_bytes()]).0;
            name = format!("{name}~{print:032x}");
        }
        pages.insert(name, session_page(input, session));
    }
    pages
}

fn file_name(session: &DatedSession<'_>) -> String {
    let DatedSession { account, date, .. } = session;
    let words = account.slug.as_deref();
    let words = words.or(account.task.as_ref().map(|task| task.text.as_str()));
    let slug = words.map(slug).unwrap_or_default();
    // The label keeps two sessions of one day and one task apart.
    format!(
        "{date}-{}",
        [slug.as_str(), &account.label]
            .join("-")
            .trim_start_matches('-')
    )
}

fn slug(text: &str) -> String {
    let mut slug = String::new();
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        if slug.len() + word.len() + 1 > SLUG {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_lowercase());
    }
    slug
}

/// The page of one session.
pub(super) fn session_page(input: &MemoryInput, session: DatedSession<'_>) -> MemoryPage {
    let (account, observations) = (session.account, session.observations);
    let of_session = account.session.to_string();
    let mut facts = Vec::new();
    let mut fact = |key: &str, line: String| {
        facts.push(MemoryEntry {
            key: [&of_session, "/", key].concat(),
            lines: vec![line],
            observations: Vec::new(),
        });
    };
    fact("when", format!("{} {}", session.date, session.hours));
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
    let highlights = untaught_highlights(input, account, observations);
    let most = highlights.len().saturating_sub(HIGHLIGHTS);
    let highlights = highlights[most..].iter().map(|said| {
        let cited = cite_statement(&account.label, said);
        format!("{} {cited}", said.text)
    });
    let committed = account.committed.iter();
    let committed = committed.map(|subject| committed_line(account, subject));
    let happened = committed
        .chain(highlights)
        .enumerate()
        .map(|(n, line)| MemoryEntry {
            key: format!("{of_session}/highlight/{n}"),
            lines: vec![line],
            observations: Vec::new(),
        });
    let taught = session
        .learned
        .into_iter()
        .enumerate()
        .map(|(n, line)| MemoryEntry {
            key: format!("{of_session}/taught/{n}"),
            lines: vec![line],
            observations: Vec::new(),
        });
    let task = account
        .task
        .as_ref()
        .map_or("A session without a task", |task| &task.text);
    let sections = vec![
        MemorySection {
            title: String::new(),
            entries: facts,
        },
        MemorySection {
            title: "What happened".to_owned(),
            entries: happened.collect(),
        },
        MemorySection {
            title: "What it taught".to_owned(),
            entries: taught.collect(),
        },
    ];
    MemoryPage {
        heading: format!("{task} [{}]", account.label),
        sections,
    }
}

/// `notes/<date>.md`: a person's notes, by day.
pub(super) fn note_pages(
    input: &MemoryInput,
    observations: &[MergedObservation],
) -> BTreeMap<String, MemoryPage> {
    let mut days: BTreeMap<String, Vec<MemoryEntry>> = BTreeMap::new();
    for note in observations
        .iter()
        .filter(|merged| merged.kind == ObservationKind::Note)
    {
        let entry = MemoryEntry {
            key: note
                .observations
                .first()
                .map(ToString::to_string)
                .unwrap_or_default(),
            lines: vec![format!("{} {}", note.text, citations(&*note.evidence))],
            observations: note.observations.clone(),
        };
        days.entry(date(note.first_at(), &input.zone))
            .or_default()
            .push(entry);
    }
    days.into_iter()
        .map(|(day, entries)| {
            (
                day.clone(),
                page_without_titles(format!("Notes · {day}"), entries),
            )
        })
        .collect()
}

fn page_without_titles(heading: String, entries: Vec<MemoryEntry>) -> MemoryPage {
    MemoryPage {
        heading,
        sections: vec![MemorySection {
            title: String::new(),
            entries,
        }],
    }
}
