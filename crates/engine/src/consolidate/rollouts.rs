//! Builds what is kept of each selected session: its raw memory and its summary.
//!
//! A model's words are used where an extraction has them. Otherwise the raw memory lists the session's observations,
//! and the summary is its account, as on the page of a session. Either names a source of the session, so that what
//! is found in it can be cited.
//!
//! Not here: which sessions are selected (`domain::selection`), the names and headers of files (`files`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{
    ExtractionRecord, Observation, ObservationKind, SelectedSession, SessionId, Timestamp,
};
use daybook_text::fence::{is_line_break, visible, without_citations};

use super::phrase::{cite, commits, quoted};
use super::session_account::{SessionAccount, accounts};
use super::session_page::{
    ForgottenEvents, SessionSource, date_and_hours, forgotten_events, session_page,
};
use super::{MemoryInput, MemoryPage};

/// Most bytes of one raw memory or summary, 32 KiB; longer ones are cut at a line.
const TEXT_BYTES: usize = 32 * 1024;
/// Replaces what is cut off.
const CUT: &str = "[cut here; the session has more]";

/// What is kept of one selected session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollout {
    /// The session.
    pub session: SessionId,
    /// Time of its first dated event.
    pub started_at: Timestamp,
    /// Time of its last dated event.
    pub updated_at: Timestamp,
    /// The main folder of the checkout that it worked in last.
    pub cwd: Option<String>,
    /// The branch at its end.
    pub branch: Option<String>,
    /// The transcript.
    pub rollout_path: Option<String>,
    /// A few words for a file's name.
    pub slug: Option<String>,
    /// A citation of the session: `[7f78:L3]`.
    pub source: Option<String>,
    /// Notes for consolidation, as Markdown.
    pub raw_memory: String,
    /// The session's summary, as Markdown.
    pub summary: String,
}

/// The selected sessions, the latest first. `paths` are their transcripts.
#[must_use]
pub fn rollouts(
    input: &MemoryInput,
    selected: &[SelectedSession],
    paths: &BTreeMap<SessionId, String>,
) -> Vec<Rollout> {
    let chosen: BTreeSet<&SessionId> = selected.iter().map(|one| &one.session).collect();
    let folders = folders(&input.extractions);
    let mut observations: BTreeMap<&SessionId, Vec<&Observation>> = BTreeMap::new();
    for observation in &input.observations {
        let sessions: BTreeSet<&SessionId> =
            observation.evidence.iter().map(|it| &it.session).collect();
        for session in sessions {
            observations.entry(session).or_default().push(observation);
        }
    }
    let forgotten = forgotten_events(&input.persons);
    let accounts = accounts(&input.extractions).into_iter();
    let mut rollouts: Vec<Rollout> = accounts
        .filter(|account| chosen.contains(&account.session))
        .map(|account| {
            let known = observations
                .get(&account.session)
                .map_or(&[][..], Vec::as_slice);
            Rollout {
                cwd: folders.get(&account.session).map(|root| line(root)),
                rollout_path: paths.get(&account.session).map(|path| line(path)),
                ..rollout((input, &forgotten), &account, known)
            }
        })
        .collect();
    rollouts.sort_by(|a, b| (b.updated_at, &a.session).cmp(&(a.updated_at, &b.session)));
    rollouts
}

/// The folder that each session worked in last.
fn folders(extractions: &[ExtractionRecord]) -> BTreeMap<&SessionId, &str> {
    let mut last: BTreeMap<&SessionId, (&ExtractionRecord, &str)> = BTreeMap::new();
    for record in extractions {
        let root = record
            .digest
            .as_ref()
            .and_then(|digest| digest.root.as_deref());
        let Some(root) = root else { continue };
        let place = last.entry(&record.session).or_insert((record, root));
        if place.0.from <= record.from {
            *place = (record, root);
        }
    }
    let folders = last.into_iter();
    folders
        .map(|(session, (_, root))| (session, root))
        .collect()
}

fn rollout(
    (input, forgotten): (&MemoryInput, &ForgottenEvents),
    account: &SessionAccount,
    observations: &[&Observation],
) -> Rollout {
    let raw_memory = match account.raw_memory.as_slice() {
        [] => listed(input, account, observations),
        windows => model_text(&windows.join("\n\n")),
    };
    let summary = match &account.summary {
        Some(summary) => model_text(summary),
        None => {
            let (date, hours) = date_and_hours(account, &input.zone);
            let when = (&*date, &*hours);
            let none = std::iter::empty();
            page_text(&session_page(&SessionSource::new(
                account, when, none, forgotten,
            )))
        }
    };
    let task = account.task.as_ref().map(|task| task.text.clone());
    Rollout {
        session: account.session.clone(),
        started_at: account.from_at,
        updated_at: account.to_at,
        cwd: None,
        branch: account.branch.as_deref().map(line),
        rollout_path: None,
        slug: account.slug.clone().or(task),
        source: source(account, observations),
        raw_memory: cut(&raw_memory),
        summary: cut(&summary),
    }
}

/// The first lines of the session that its account or an observation cites.
fn source(account: &SessionAccount, observations: &[&Observation]) -> Option<String> {
    let stated = [&account.task, &account.last_words, &account.title];
    let stated = stated.into_iter().flatten().map(|said| said.lines.clone());
    let evidence = observations
        .iter()
        .flat_map(|observation| &observation.evidence);
    let evidence = evidence.filter(|it| it.session == account.session);
    let mut lines = stated.chain(evidence.map(|it| it.lines.clone()));
    let lines = lines.find(|lines| !lines.is_empty())?;
    Some(cite(&account.label, lines))
}

/// The observations of a session, below their kinds.
fn listed(input: &MemoryInput, account: &SessionAccount, observations: &[&Observation]) -> String {
    let mut text = String::new();
    if let Some(task) = &account.task {
        let cited = cite(&account.label, task.lines.clone());
        text.push_str(&format!("task: {} {cited}\n", line(&quoted(&task.text))));
    }
    let made = commits(account.commits, account.pushed);
    let outcome = [account.outcome.as_str(), &made];
    let outcome: Vec<&str> = outcome
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    text.push_str(&format!("task_outcome: {}\n", outcome.join(", ")));
    for kind in ObservationKind::ALL {
        let of_kind = observations.iter().filter(|it| it.kind == kind);
        let mut lines: Vec<(u32, String)> = of_kind
            .map(|observation| observation_line(input, account, observation))
            .collect();
        lines.sort();
        if !lines.is_empty() {
            text.push_str(&format!("\n### {}\n", heading(kind)));
        }
        for (_, line) in lines {
            text.push_str(&format!("- {line}\n"));
        }
    }
    text
}

/// The first line of the session that an observation rests on, and the observation in a line: in a person's words where
/// they changed it.
fn observation_line(
    input: &MemoryInput,
    account: &SessionAccount,
    observation: &Observation,
) -> (u32, String) {
    let evidence = observation.evidence.iter();
    let here: Vec<u32> = evidence
        .filter(|it| it.session == account.session)
        .flat_map(|it| it.lines.iter().copied())
        .collect();
    let persons = input.persons.reworded.get(&observation.id);
    let text = persons.unwrap_or(&observation.text);
    let words = match (
        observation.quoted && persons.is_none(),
        &observation.subject,
    ) {
        (true, _) => quoted(text),
        (false, Some(subject)) if observation.kind == ObservationKind::Value => {
            without_citations(&format!("{subject} {text}")).into_owned()
        }
        (false, _) => without_citations(text).into_owned(),
    };
    let first = here.iter().min().copied().unwrap_or_default();
    (
        first,
        format!("{} {}", line(&words), cite(&account.label, here)),
    )
}

fn heading(kind: ObservationKind) -> &'static str {
    match kind {
        ObservationKind::Correction => "Corrections",
        ObservationKind::Preference => "Preference signals",
        ObservationKind::Fact => "Facts",
        ObservationKind::Decision => "Decisions",
        ObservationKind::Value => "Values",
        ObservationKind::Fix => "Failures and how to do differently",
        ObservationKind::OpenEnd => "Left open",
        ObservationKind::Note => "To remember",
    }
}

/// A model's Markdown: what looks like a citation in it was not checked, and is none.
fn model_text(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(is_line_break, "\n");
    without_citations(&visible(&text)).trim().to_owned()
}

/// A page's lines as Markdown.
fn page_text(page: &MemoryPage) -> String {
    let mut text = format!("# {}\n", line(&without_citations(&page.heading)));
    for section in page.sections.iter().filter(|it| !it.entries.is_empty()) {
        text.push('\n');
        if !section.title.is_empty() {
            text.push_str(&format!("### {}\n", line(&section.title)));
        }
        for entry in &section.entries {
            for (nth, words) in entry.lines.iter().enumerate() {
                let margin = if nth == 0 { "- " } else { "  - " };
                text.push_str(&format!("{margin}{}\n", line(words)));
            }
        }
    }
    text
}

/// The text in one line of visible characters.
fn line(text: &str) -> String {
    visible(&text.replace(is_line_break, " ")).into_owned()
}

/// The text, cut at the end of a line where it is too long.
fn cut(text: &str) -> String {
    let text = text.trim();
    if text.len() <= TEXT_BYTES {
        return text.to_owned();
    }
    let mut end = TEXT_BYTES - CUT.len() - 1;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    let head = head.rfind('\n').map_or(head, |at| &head[..at]);
    format!("{head}\n{CUT}")
}
