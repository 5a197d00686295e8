//! The sections of `MEMORY.md` and `memory_summary.md`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{ObservationKind, Outcome};
use daybook_text::fence::without_citations;

use super::merge::MergedObservation;
use super::phrase::{citations, cite_statement, commits, count, day, quoted, shorten, span};
use super::rank::top_ranked;
use super::session_account::SessionAccount;
use super::{
    LEFT_OFF_ENTRIES, MemoryEntry, MemoryInput, MemoryPage, MemorySection, SECTION_ENTRIES,
    SUMMARY_RULES,
};

/// Heading of the first section.
pub(super) const LEFT_OFF: &str = "Where we left off";
/// Most characters of quoted last words.
const LAST_WORDS: usize = 200;

/// `MEMORY.md`.
pub(super) fn curated_page(
    input: &MemoryInput,
    accounts: &[SessionAccount],
    observations: &[MergedObservation],
) -> MemoryPage {
    let of = |kinds: &[ObservationKind]| -> Vec<&MergedObservation> {
        observations
            .iter()
            .filter(|merged| kinds.contains(&merged.kind))
            .collect()
    };
    use ObservationKind as Kind;
    let section =
        |title: String,
         kinds: &[Kind],
         phrase: fn(&MemoryInput, &MergedObservation) -> MemoryEntry| MemorySection {
            title,
            entries: top_ranked(&of(kinds), SECTION_ENTRIES)
                .iter()
                .map(|b| phrase(input, b))
                .collect(),
        };
    let person = &input.person;
    let sections = vec![
        left_off_section(input, accounts, &of(&[Kind::OpenEnd])),
        section(
            format!("What {person} asked to remember"),
            &[Kind::Note],
            statement_entry,
        ),
        section(
            format!("What {person} insisted on"),
            &[Kind::Correction, Kind::Preference],
            statement_entry,
        ),
        section("Decisions".to_owned(), &[Kind::Decision], decision_entry),
        MemorySection {
            title: "What changed".to_owned(),
            entries: value_entries(&of(&[Kind::Value])),
        },
        section(
            "What failed, and what then worked".to_owned(),
            &[Kind::Fix],
            fix_entry,
        ),
        section(
            format!("Facts that {person} stated"),
            &[Kind::Fact],
            statement_entry,
        ),
    ];
    MemoryPage {
        heading: page_heading(input, accounts),
        sections,
    }
}

fn page_heading(input: &MemoryInput, accounts: &[SessionAccount]) -> String {
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
            span(from, to, &input.zone)
        ),
    };
    let (title, by) = (&input.title, extracted_by(input));
    format!("{title} — what we know · {covered}extracted {by} · Edit freely: your words win.")
}

/// `without a model`, `by home/qwen3`: the models that extracted the observations.
fn extracted_by(input: &MemoryInput) -> String {
    let models = input.extractions.iter();
    let models: BTreeSet<Option<&str>> = models.map(|it| it.provenance.model()).collect();
    let named: Vec<&str> = models.iter().copied().flatten().collect();
    match (named.as_slice(), models.contains(&None)) {
        ([], _) => "without a model".to_owned(),
        (named, false) => format!("by {}", named.join(", ")),
        (named, true) => format!("by {}, in part without a model", named.join(", ")),
    }
}

fn left_off_section(
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
        // Finished work is no open end, but the newest session is always shown.
        .filter(|(last, _)| !is_finished(last) || Some(last.to_at) == newest)
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
        .filter(|open| !shown.contains(&open.text.as_str()))
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

fn is_finished(account: &SessionAccount) -> bool {
    account.outcome == Outcome::Success && account.answered
}

fn is_open(account: &SessionAccount) -> bool {
    !account.answered || matches!(account.outcome, Outcome::Partial | Outcome::Fail)
}

pub(super) fn branch_entry(
    input: &MemoryInput,
    last: &SessionAccount,
    sessions: usize,
) -> MemoryEntry {
    let mut parts = vec![match (&last.branch, &last.task) {
        (Some(branch), _) => branch.clone(),
        (None, Some(task)) => quoted(&shorten(&task.text, 80)),
        (None, None) => format!("session {}", last.label),
    }];
    parts.push(day(last.to_at, &input.zone));
    parts.push(last.outcome.as_str().to_owned());
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
            if let Some(open_question) = &last.open_question {
                let open_question = quoted(&shorten(&open_question.text, LAST_WORDS));
                parts.push(format!("the agent asked {open_question}"));
            }
            cite_statement(&last.label, words)
        }
        None => format!("[{}]", last.label),
    };
    parts.retain(|part| !part.is_empty());
    let branch = last.branch.as_deref().unwrap_or(&last.label);
    MemoryEntry {
        key: format!("left-off/{branch}"),
        lines: vec![format!("{} {cited}", parts.join(" · "))],
        observations: Vec::new(),
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

fn statement_entry(_: &MemoryInput, merged: &MergedObservation) -> MemoryEntry {
    let times = match (merged.times(), merged.sessions()) {
        (0 | 1, _) => String::new(),
        (times, 1) => format!(" · {times} times in one session"),
        (times, sessions) => format!(" · {times} times in {sessions} sessions"),
    };
    observation_entry(
        merged,
        format!("{}{}{times}", merged.words(), context_suffix(merged)),
    )
}

pub(super) fn decision_entry(input: &MemoryInput, merged: &MergedObservation) -> MemoryEntry {
    let line = format!(
        "{}{}{}",
        merged.words(),
        context_suffix(merged),
        time_and_branch_suffix(input, merged)
    );
    observation_entry(merged, line)
}

fn fix_entry(_: &MemoryInput, merged: &MergedObservation) -> MemoryEntry {
    observation_entry(merged, format!("{}{}", merged.text, context_suffix(merged)))
}

/// One entry for each subject with all its values, the last in bold.
fn value_entries(observations: &[&MergedObservation]) -> Vec<MemoryEntry> {
    let mut by_subject: BTreeMap<&str, Vec<&MergedObservation>> = BTreeMap::new();
    for merged in observations {
        by_subject
            .entry(merged.subject.as_deref().unwrap_or_default())
            .or_default()
            .push(merged);
    }
    let mut subjects: Vec<(&str, Vec<&MergedObservation>)> = by_subject.into_iter().collect();
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
        .map(|(subject, values)| value_entry(subject, values))
        .collect()
}

fn value_entry(subject: &str, mut values: Vec<&MergedObservation>) -> MemoryEntry {
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
    MemoryEntry {
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

fn context_suffix(merged: &MergedObservation) -> String {
    merged
        .context
        .as_ref()
        .map(|context| format!(" ({context})"))
        .unwrap_or_default()
}

fn time_and_branch_suffix(input: &MemoryInput, merged: &MergedObservation) -> String {
    let day = day(merged.last_at(), &input.zone);
    match merged.branches().as_slice() {
        [] => format!(" · {day}"),
        [branch] => format!(" · {}, {day}", without_citations(branch)),
        branches => format!(" · {} branches, {day}", branches.len()),
    }
}

fn observation_entry(merged: &MergedObservation, line: String) -> MemoryEntry {
    MemoryEntry {
        key: merged
            .observations
            .first()
            .map(ToString::to_string)
            .unwrap_or_default(),
        lines: vec![format!("{line} {}", citations(&merged.evidence))],
        observations: merged.observations.clone(),
    }
}

/// `memory_summary.md`: the newest open work, the rules, and where to find the rest.
pub(super) fn summary_page(
    input: &MemoryInput,
    curated: &MemoryPage,
    accounts: &[SessionAccount],
) -> MemoryPage {
    let titled = |title: &str| {
        curated
            .sections
            .iter()
            .find(|section| section.title == title)
    };
    let lines = |title: &str, most: usize| -> Vec<MemoryEntry> {
        titled(title)
            .map(|s| s.entries.iter().take(most).cloned().collect())
            .unwrap_or_default()
    };
    let insisted = format!("What {} insisted on", input.person);
    let notes = format!("What {} asked to remember", input.person);
    let mut sections = vec![
        MemorySection {
            title: LEFT_OFF.to_owned(),
            entries: lines(LEFT_OFF, 2),
        },
        MemorySection {
            title: notes.clone(),
            entries: lines(&notes, SUMMARY_RULES),
        },
        MemorySection {
            title: insisted.clone(),
            entries: lines(&insisted, SUMMARY_RULES),
        },
        MemorySection {
            title: "Decisions".to_owned(),
            entries: lines("Decisions", SUMMARY_RULES),
        },
    ];
    if sections.iter().any(|section| !section.entries.is_empty()) {
        let more = titled(LEFT_OFF).map_or(0, |section| section.entries.len().saturating_sub(2));
        sections.push(MemorySection {
            title: "More".to_owned(),
            entries: vec![pointer_entry(input, accounts, more)],
        });
    }
    for entry in sections.iter_mut().flat_map(|section| &mut section.entries) {
        // Deleting a line here changes what agents are shown, and withdraws no observation.
        entry.observations.clear();
    }
    MemoryPage {
        heading: input.title.clone(),
        sections,
    }
}

fn pointer_entry(input: &MemoryInput, accounts: &[SessionAccount], more: usize) -> MemoryEntry {
    let open = match more {
        0 => String::new(),
        1 => " 1 more open end is listed there.".to_owned(),
        n => format!(" {n} more open ends are listed there."),
    };
    let sessions = count(accounts.len(), "session");
    MemoryEntry {
        key: "pointer".to_owned(),
        lines: vec![format!(
            "MEMORY.md holds what {sessions} of {} taught; `daybook recall` finds the rest.{open}",
            input.title
        )],
        observations: Vec::new(),
    }
}
