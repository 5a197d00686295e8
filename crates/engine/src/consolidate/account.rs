//! The diary, the accounts of sessions, and what a person asked to remember.

use std::collections::BTreeMap;

use daybook_domain::{EventId, ObservationKind, SessionId};

use super::fold::Account;
use super::merge::Belief;
use super::phrase::{citations, cite, cite_said, commits, date, hour, quoted, shorten};
use super::{Brief, Entry, Page, Section};

/// Most characters of a task in the diary.
const TASK: usize = 120;
/// Most things that the diary says of one session.
const DIARY_LINES: usize = 4;
/// Most lines on what happened that a session's page has: the newest.
const HIGHLIGHTS: usize = 12;
/// Most characters of a model's summary of a session.
const SUMMARY: usize = 1_200;
/// Most characters of a session's slug.
const SLUG: usize = 48;

/// `daily/<date>.md`: one entry per session, on the day it began.
pub(super) fn daily(
    brief: &Brief,
    accounts: &[Account],
    beliefs: &[Belief],
) -> BTreeMap<String, Page> {
    let mut days: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for account in accounts {
        let entry = diary_entry(brief, account, beliefs);
        days.entry(date(account.from_at, &brief.zone))
            .or_default()
            .push(entry);
    }
    days.into_iter()
        .map(|(day, entries)| {
            (
                day.clone(),
                untitled(format!("{} · {day}", brief.title), entries),
            )
        })
        .collect()
}

fn diary_entry(brief: &Brief, account: &Account, beliefs: &[Belief]) -> Entry {
    let hours = format!(
        "{}–{}",
        hour(account.from_at, &brief.zone),
        hour(account.to_at, &brief.zone)
    );
    let task = account.task.as_ref().map(|task| shorten(&task.text, TASK));
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
        account.outcome.word().to_owned(),
        commits(account.commits, account.pushed),
    ];
    parts.retain(|part| !part.is_empty());
    let mut lines = vec![format!("{} [{}]", parts.join(" · "), account.label)];
    lines.extend(learned(account, beliefs).into_iter().take(DIARY_LINES));
    Entry {
        key: format!("session/{}", account.session),
        lines,
        observations: Vec::new(),
    }
}

/// What a session taught, one line each.
fn learned(account: &Account, beliefs: &[Belief]) -> Vec<String> {
    let taught = |belief: &&Belief| belief.evidence.iter().any(|e| e.session == account.session);
    let mut lines: Vec<(u32, String)> = beliefs
        .iter()
        .filter(taught)
        .filter_map(|belief| {
            let here: Vec<u32> = belief
                .evidence
                .iter()
                .filter(|e| e.session == account.session)
                .flat_map(|e| e.lines.iter().copied())
                .collect();
            let first = here.iter().min().copied()?;
            let said = said(belief);
            Some((
                first,
                format!(
                    "{}: {said} {}",
                    verb(belief.kind),
                    cite(&account.label, here)
                ),
            ))
        })
        .collect();
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

fn said(belief: &Belief) -> String {
    match (belief.kind, &belief.subject) {
        (ObservationKind::Fix, _) => belief.text.clone(),
        (ObservationKind::Value, Some(subject)) => format!("{subject} {}", belief.text),
        _ => belief.words(),
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
pub(super) fn sessions(
    brief: &Brief,
    accounts: &[Account],
    beliefs: &[Belief],
) -> BTreeMap<String, Page> {
    let mut pages = BTreeMap::new();
    for account in accounts {
        let mut name = file_name(brief, account);
        if pages.contains_key(&name) {
            // A task and a label can come to the words of another task and label.
            let SessionId { agent, host_id, .. } = &account.session;
            let print = EventId::of(&[agent.as_bytes(), host_id.as_bytes()]).0;
            name = format!("{name}~{print:032x}");
        }
        pages.insert(name, session_page(brief, account, beliefs));
    }
    pages
}

fn file_name(brief: &Brief, account: &Account) -> String {
    let words = account.slug.as_deref();
    let words = words.or(account.task.as_ref().map(|task| task.text.as_str()));
    let slug = words.map(slug).unwrap_or_default();
    let day = date(account.from_at, &brief.zone);
    // The label keeps two sessions of one day and one task apart.
    format!(
        "{day}-{}",
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

fn session_page(brief: &Brief, account: &Account, beliefs: &[Belief]) -> Page {
    let mut facts = Vec::new();
    let mut fact = |key: &str, line: String| {
        facts.push(Entry {
            key: format!("{}/{key}", account.session),
            lines: vec![line],
            observations: Vec::new(),
        });
    };
    let from = account.from_at;
    fact(
        "when",
        format!(
            "{} {}–{}",
            date(from, &brief.zone),
            hour(from, &brief.zone),
            hour(account.to_at, &brief.zone)
        ),
    );
    if let Some(branch) = &account.branch {
        fact("branch", format!("branch {branch}"));
    }
    let made = commits(account.commits, account.pushed);
    let outcome = account.outcome.word();
    let separator = if made.is_empty() { "" } else { " · " };
    fact("outcome", format!("outcome: {outcome}{separator}{made}"));
    if let Some(summary) = &account.summary {
        let line = summary.split_whitespace().collect::<Vec<_>>().join(" ");
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
                cite_said(&account.label, words)
            ),
        );
    }
    if let Some(asked) = &account.asked {
        let said = quoted(&asked.text);
        let cited = cite_said(&account.label, asked);
        fact(
            "asked",
            format!("the agent asked: {said} — unanswered {cited}"),
        );
    }
    let most = account.highlights.len().saturating_sub(HIGHLIGHTS);
    let happened = account.highlights[most..]
        .iter()
        .enumerate()
        .map(|(n, said)| Entry {
            key: format!("{}/highlight/{n}", account.session),
            lines: vec![format!("{} {}", said.text, cite_said(&account.label, said))],
            observations: Vec::new(),
        });
    let taught = learned(account, beliefs)
        .into_iter()
        .enumerate()
        .map(|(n, line)| Entry {
            key: format!("{}/taught/{n}", account.session),
            lines: vec![line],
            observations: Vec::new(),
        });
    let task = account
        .task
        .as_ref()
        .map_or("A session without a task", |task| &task.text);
    let sections = vec![
        Section {
            title: String::new(),
            entries: facts,
        },
        Section {
            title: "What happened".to_owned(),
            entries: happened.collect(),
        },
        Section {
            title: "What it taught".to_owned(),
            entries: taught.collect(),
        },
    ];
    Page {
        heading: format!("{task} [{}]", account.label),
        sections,
    }
}

/// `notes/<date>.md`: what a person asked to remember, by the day they asked.
pub(super) fn notes(brief: &Brief, beliefs: &[Belief]) -> BTreeMap<String, Page> {
    let mut days: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for note in beliefs
        .iter()
        .filter(|belief| belief.kind == ObservationKind::Note)
    {
        let entry = Entry {
            key: note
                .observations
                .first()
                .map(ToString::to_string)
                .unwrap_or_default(),
            lines: vec![format!("{} {}", note.text, citations(&note.evidence))],
            observations: note.observations.clone(),
        };
        days.entry(date(note.first_at(), &brief.zone))
            .or_default()
            .push(entry);
    }
    days.into_iter()
        .map(|(day, entries)| (day.clone(), untitled(format!("Notes · {day}"), entries)))
        .collect()
}

fn untitled(heading: String, entries: Vec<Entry>) -> Page {
    Page {
        heading,
        sections: vec![Section {
            title: String::new(),
            entries,
        }],
    }
}
