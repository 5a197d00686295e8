//! The sections of `MEMORY.md` and `memory_summary.md`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{ObservationKind, Outcome};

use super::fold::Account;
use super::merge::Belief;
use super::phrase::{citations, cite_said, commits, count, day, quoted, shorten, span};
use super::rank::best;
use super::{Brief, Entry, LEFT_OFF_ENTRIES, Page, SECTION_ENTRIES, SUMMARY_RULES, Section};
use crate::extract::stand_in::asked_model;

/// Heading of the section that every memory opens with.
pub(super) const LEFT_OFF: &str = "Where we left off";
/// Most characters of quoted last words.
const LAST_WORDS: usize = 200;

/// `MEMORY.md`.
pub(super) fn curated(brief: &Brief, accounts: &[Account], beliefs: &[Belief]) -> Page {
    let of = |kinds: &[ObservationKind]| -> Vec<&Belief> {
        beliefs
            .iter()
            .filter(|belief| kinds.contains(&belief.kind))
            .collect()
    };
    use ObservationKind as Kind;
    let section = |title: String, kinds: &[Kind], phrase: fn(&Brief, &Belief) -> Entry| Section {
        title,
        entries: best(&of(kinds), SECTION_ENTRIES)
            .iter()
            .map(|b| phrase(brief, b))
            .collect(),
    };
    let person = &brief.person;
    let sections = vec![
        left_off(brief, accounts, &of(&[Kind::OpenEnd])),
        section(
            format!("What {person} asked to remember"),
            &[Kind::Note],
            stated,
        ),
        section(
            format!("What {person} insisted on"),
            &[Kind::Correction, Kind::Preference],
            stated,
        ),
        section("Decisions".to_owned(), &[Kind::Decision], decided),
        Section {
            title: "What changed".to_owned(),
            entries: values(&of(&[Kind::Value])),
        },
        section(
            "What failed, and what then worked".to_owned(),
            &[Kind::Fix],
            fixed,
        ),
        section(format!("Facts that {person} stated"), &[Kind::Fact], stated),
    ];
    Page {
        heading: heading(brief, accounts),
        sections,
    }
}

fn heading(brief: &Brief, accounts: &[Account]) -> String {
    let from = accounts
        .iter()
        .map(|account| account.from_at)
        .min()
        .unwrap_or_default();
    let to = accounts
        .iter()
        .map(|account| account.to_at)
        .max()
        .unwrap_or_default();
    let covered = match accounts.len() {
        0 => String::new(),
        n => format!(
            "{}, {} · ",
            count(n, "session"),
            span(from, to, &brief.zone)
        ),
    };
    let (title, by) = (&brief.title, made_by(brief));
    format!("{title} — what we know · {covered}extracted {by} · Edit freely: your words win.")
}

/// `without a model`, `by home/qwen3`: who told what was worth keeping.
fn made_by(brief: &Brief) -> String {
    let models = brief.extractions.iter();
    let models: BTreeSet<Option<&str>> = models.map(|it| asked_model(&it.extractor)).collect();
    let named: Vec<&str> = models.iter().copied().flatten().collect();
    match (named.as_slice(), models.contains(&None)) {
        ([], _) => "without a model".to_owned(),
        (named, false) => format!("by {}", named.join(", ")),
        (named, true) => format!("by {}, in part without a model", named.join(", ")),
    }
}

fn left_off(brief: &Brief, accounts: &[Account], open_ends: &[&Belief]) -> Section {
    let mut by_branch: BTreeMap<Option<&str>, Vec<&Account>> = BTreeMap::new();
    for account in accounts {
        by_branch
            .entry(account.branch.as_deref())
            .or_default()
            .push(account);
    }
    let newest = accounts.iter().map(|account| account.to_at).max();
    let mut lasts: Vec<(&Account, usize)> = by_branch
        .into_values()
        .filter_map(|mut on_branch| {
            on_branch.sort_by_key(|account| (account.to_at, account.label.clone()));
            on_branch.last().map(|last| (*last, on_branch.len()))
        })
        // Finished work is no open end; the newest session is shown all the same.
        .filter(|(last, _)| !is_finished(last) || Some(last.to_at) == newest)
        .collect();
    // What waits for an answer, or is half done, comes before what merely ended some way.
    lasts.sort_by_key(|(last, _)| (!is_open(last), Reverse(last.to_at), last.label.clone()));
    lasts.truncate(LEFT_OFF_ENTRIES);
    let shown: Vec<&str> = lasts
        .iter()
        .filter_map(|(last, _)| Some(last.last_words.as_ref()?.text.as_str()))
        .collect();
    let open: Vec<&Belief> = open_ends
        .iter()
        .copied()
        .filter(|open| !shown.contains(&open.text.as_str()))
        .collect();
    let mut entries: Vec<Entry> = lasts
        .iter()
        .map(|(last, n)| last_on(brief, last, *n))
        .collect();
    entries.extend(
        best(&open, LEFT_OFF_ENTRIES)
            .iter()
            .map(|open| left_open(brief, open)),
    );
    Section {
        title: LEFT_OFF.to_owned(),
        entries,
    }
}

fn is_finished(account: &Account) -> bool {
    account.outcome == Outcome::Success && account.answered
}

fn is_open(account: &Account) -> bool {
    !account.answered || matches!(account.outcome, Outcome::Partial | Outcome::Fail)
}

pub(super) fn last_on(brief: &Brief, last: &Account, sessions: usize) -> Entry {
    let mut parts = vec![match (&last.branch, &last.task) {
        (Some(branch), _) => branch.clone(),
        (None, Some(task)) => quoted(&shorten(&task.text, 80)),
        (None, None) => format!("session {}", last.label),
    }];
    parts.push(day(last.to_at, &brief.zone));
    parts.push(last.outcome.word().to_owned());
    if sessions > 1 {
        parts.push(format!("last of {sessions} sessions"));
    }
    parts.push(commits(last.commits, last.pushed));
    let cited = match &last.last_words {
        Some(words) => {
            let answered = if last.answered {
                "answered"
            } else {
                "unanswered"
            };
            let said = quoted(&shorten(&words.text, LAST_WORDS));
            parts.push(format!("last words: {said} — {answered}"));
            if let Some(asked) = &last.asked {
                let asked = quoted(&shorten(&asked.text, LAST_WORDS));
                parts.push(format!("the agent asked {asked}"));
            }
            cite_said(&last.label, words)
        }
        None => format!("[{}]", last.label),
    };
    parts.retain(|part| !part.is_empty());
    let branch = last.branch.as_deref().unwrap_or(&last.label);
    Entry {
        key: format!("left-off/{branch}"),
        lines: vec![format!("{} {cited}", parts.join(" · "))],
        observations: Vec::new(),
    }
}

pub(super) fn left_open(brief: &Brief, open: &Belief) -> Entry {
    entry(
        open,
        format!("open: {}{}", open.words(), when_and_where(brief, open)),
    )
}

fn stated(_: &Brief, belief: &Belief) -> Entry {
    let times = match (belief.times(), belief.sessions()) {
        (0 | 1, _) => String::new(),
        (times, 1) => format!(" · {times} times in one session"),
        (times, sessions) => format!(" · {times} times in {sessions} sessions"),
    };
    entry(
        belief,
        format!("{}{}{times}", belief.words(), about(belief)),
    )
}

pub(super) fn decided(brief: &Brief, belief: &Belief) -> Entry {
    let line = format!(
        "{}{}{}",
        belief.words(),
        about(belief),
        when_and_where(brief, belief)
    );
    entry(belief, line)
}

fn fixed(_: &Brief, belief: &Belief) -> Entry {
    entry(belief, format!("{}{}", belief.text, about(belief)))
}

/// Values of one subject in one line, the last in bold. What was said on different days counts.
fn values(beliefs: &[&Belief]) -> Vec<Entry> {
    let mut by_subject: BTreeMap<&str, Vec<&Belief>> = BTreeMap::new();
    for belief in beliefs {
        by_subject
            .entry(belief.subject.as_deref().unwrap_or_default())
            .or_default()
            .push(belief);
    }
    let mut subjects: Vec<(&str, Vec<&Belief>)> = by_subject.into_iter().collect();
    subjects.sort_by_key(|(subject, values)| {
        let last = values.iter().map(|value| value.last_at()).max();
        (
            Reverse(values.len().min(3)),
            Reverse(last),
            (*subject).to_owned(),
        )
    });
    subjects.truncate(SECTION_ENTRIES);
    subjects
        .into_iter()
        .map(|(subject, values)| changed(subject, values))
        .collect()
}

fn changed(subject: &str, mut values: Vec<&Belief>) -> Entry {
    values.sort_by(|a, b| (a.last_at(), &a.text).cmp(&(b.last_at(), &b.text)));
    let evidence: Vec<_> = values
        .iter()
        .flat_map(|value| value.evidence.clone())
        .collect();
    let last = values.len() - 1;
    let steps: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(n, v)| {
            if n == last {
                format!("**{}**", v.text)
            } else {
                v.text.clone()
            }
        })
        .collect();
    Entry {
        key: format!("value/{subject}"),
        lines: vec![format!(
            "{subject}: {} {}",
            steps.join(" → "),
            citations(&evidence)
        )],
        observations: values
            .iter()
            .flat_map(|value| value.observations.clone())
            .collect(),
    }
}

fn about(belief: &Belief) -> String {
    belief
        .context
        .as_ref()
        .map(|context| format!(" ({context})"))
        .unwrap_or_default()
}

fn when_and_where(brief: &Brief, belief: &Belief) -> String {
    let day = day(belief.last_at(), &brief.zone);
    match belief.branches().as_slice() {
        [] => format!(" · {day}"),
        [branch] => format!(" · {branch}, {day}"),
        branches => format!(" · {} branches, {day}", branches.len()),
    }
}

fn entry(belief: &Belief, line: String) -> Entry {
    Entry {
        key: belief
            .observations
            .first()
            .map(ToString::to_string)
            .unwrap_or_default(),
        lines: vec![format!("{line} {}", citations(&belief.evidence))],
        observations: belief.observations.clone(),
    }
}

/// `memory_summary.md`: the newest open work, the rules, and where to find the rest.
pub(super) fn summary(brief: &Brief, curated: &Page, accounts: &[Account]) -> Page {
    let titled = |title: &str| {
        curated
            .sections
            .iter()
            .find(|section| section.title == title)
    };
    let lines = |title: &str, most: usize| -> Vec<Entry> {
        titled(title)
            .map(|s| s.entries.iter().take(most).cloned().collect())
            .unwrap_or_default()
    };
    let insisted = format!("What {} insisted on", brief.person);
    let notes = format!("What {} asked to remember", brief.person);
    let mut sections = vec![
        Section {
            title: LEFT_OFF.to_owned(),
            entries: lines(LEFT_OFF, 2),
        },
        Section {
            title: notes.clone(),
            entries: lines(&notes, SUMMARY_RULES),
        },
        Section {
            title: insisted.clone(),
            entries: lines(&insisted, SUMMARY_RULES),
        },
        Section {
            title: "Decisions".to_owned(),
            entries: lines("Decisions", SUMMARY_RULES),
        },
    ];
    if sections.iter().any(|section| !section.entries.is_empty()) {
        let more = titled(LEFT_OFF).map_or(0, |section| section.entries.len().saturating_sub(2));
        sections.push(Section {
            title: "More".to_owned(),
            entries: vec![pointer(brief, accounts, more)],
        });
    }
    for entry in sections.iter_mut().flat_map(|section| &mut section.entries) {
        // Deleting a line here changes what an agent is told, not what is believed.
        entry.observations.clear();
    }
    Page {
        heading: brief.title.clone(),
        sections,
    }
}

fn pointer(brief: &Brief, accounts: &[Account], more: usize) -> Entry {
    let open = match more {
        0 => String::new(),
        1 => " 1 more open end is listed there.".to_owned(),
        n => format!(" {n} more open ends are listed there."),
    };
    let sessions = count(accounts.len(), "session");
    Entry {
        key: "pointer".to_owned(),
        lines: vec![format!(
            "MEMORY.md holds what {sessions} of {} taught; `daybook recall` finds the rest.{open}",
            brief.title
        )],
        observations: Vec::new(),
    }
}
