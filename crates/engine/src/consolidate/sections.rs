//! The sections of `MEMORY.md` and `memory_summary.md`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::extraction::CitedText;
use daybook_domain::{ObservationKind, Outcome};
use daybook_text::fence::without_citations;

use super::merge::MergedObservation;
use super::phrase::{citations, cite, commits, count, day, quoted, shorten, span};
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
/// Most characters of what the work is called.
const NAME: usize = 100;
/// Most subjects of commits in one line.
const SUBJECTS: usize = 2;

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
    let left_off = left_off_section(input, accounts, &of(&[Kind::OpenEnd]));
    let done = done_section(input, accounts, &left_off);
    let sections = vec![
        left_off,
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
        done,
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
    let named = named.filter(|name| name.text.contains(' '));
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

/// What was committed, by branch, or by session where there is none or it is the main one; the newest first. Work that
/// "Where we left off" shows is left out.
fn done_section(
    input: &MemoryInput,
    accounts: &[SessionAccount],
    left_off: &MemorySection,
) -> MemorySection {
    let mut groups: BTreeMap<(&str, &str), Vec<&SessionAccount>> = BTreeMap::new();
    for account in accounts.iter().filter(|a| !a.committed.is_empty()) {
        let branch = account.branch.as_deref().unwrap_or_default();
        let own = !matches!(branch, "" | "main" | "master" | "develop" | "trunk");
        let session = if own { "" } else { account.label.as_str() };
        groups.entry((branch, session)).or_default().push(account);
    }
    let shown: BTreeSet<&str> = left_off.entries.iter().map(|e| e.key.as_str()).collect();
    let mut groups: Vec<Vec<&SessionAccount>> = groups
        .into_iter()
        .filter(|((branch, _), _)| !shown.contains(format!("left-off/{branch}").as_str()))
        .map(|(_, group)| group)
        .collect();
    groups.sort_by_key(|group| {
        let last = group.iter().map(|account| account.to_at).max();
        (Reverse(last), group[0].label.clone())
    });
    groups.truncate(SECTION_ENTRIES);
    MemorySection {
        title: "What was done".to_owned(),
        entries: groups
            .iter()
            .map(|group| done_entry(input, group))
            .collect(),
    }
}

fn done_entry(input: &MemoryInput, group: &[&SessionAccount]) -> MemoryEntry {
    let last = group[group.len() - 1];
    let mut seen = BTreeSet::new();
    let mut subjects: Vec<(&SessionAccount, &CitedText)> = group
        .iter()
        .flat_map(|account| account.committed.iter().map(|subject| (*account, subject)))
        .filter(|(_, subject)| seen.insert(subject.text.as_str()))
        .collect();
    let more = subjects.len().saturating_sub(SUBJECTS);
    // The last ones hold what the earlier ones came to.
    subjects.drain(..more);
    let named: Vec<String> = subjects
        .iter()
        .map(|(_, subject)| quoted(&subject.text))
        .collect();
    let more = match more {
        0 => String::new(),
        more => format!(" · {more} more"),
    };
    let mut cited: Vec<(&str, Vec<u32>)> = Vec::new();
    for (account, subject) in &subjects {
        match cited.iter_mut().find(|(label, _)| *label == account.label) {
            Some((_, lines)) => lines.extend(&subject.lines),
            None => cited.push((&account.label, subject.lines.clone())),
        }
    }
    let cited: Vec<String> = cited
        .into_iter()
        .map(|(label, lines)| cite(label, lines))
        .collect();
    let branch = last.branch.as_deref();
    let on = branch.map_or(String::new(), |branch| format!("{branch} · "));
    MemoryEntry {
        key: format!("done/{}", last.label),
        lines: vec![format!(
            "{on}{} · {}{more} {}",
            day(last.to_at, &input.zone),
            named.join(", "),
            cited.join(" ")
        )],
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

#[cfg(test)]
mod tests {
    use daybook_domain::{Digest, EventSeq, ExtractionRecord, Provenance, Timestamp};
    use daybook_testkit::fixtures::{session, user_scope};
    use jiff::tz::TimeZone;

    use super::super::accounts;
    use super::*;

    fn cited(text: &str) -> CitedText {
        CitedText {
            text: text.to_owned(),
            events: vec![EventSeq(3)],
            lines: vec![3],
        }
    }

    fn record(label: &str, hour: i64, digest: Digest) -> ExtractionRecord {
        ExtractionRecord {
            session: session(label),
            label: label.to_owned(),
            from: EventSeq(1),
            to: EventSeq(9),
            digest: Some(Digest {
                task: Some(cited("round the totals")),
                from_at: Timestamp(hour * 3_600_000),
                to_at: Timestamp(hour * 3_600_000 + 1),
                ..digest
            }),
            provenance: Provenance::of("extractive/1"),
            at: Timestamp::ZERO,
        }
    }

    fn check(records: Vec<ExtractionRecord>, title: &str, expected: &[&str]) {
        let input = MemoryInput {
            scope: user_scope("ada"),
            title: "ledger".to_owned(),
            person: "ada".to_owned(),
            observations: Vec::new(),
            extractions: records,
            uses: Vec::new(),
            zone: TimeZone::UTC,
        };
        let page = curated_page(&input, &accounts(&input.extractions), &[]);
        let section = page.sections.iter().find(|section| section.title == title);
        let lines: Vec<&str> = section
            .iter()
            .flat_map(|section| &section.entries)
            .flat_map(|entry| entry.lines.iter().map(String::as_str))
            .collect();
        assert_eq!(lines, expected);
    }

    fn committed(branch: &str, subject: &str) -> Digest {
        Digest {
            branch: Some(branch.to_owned()),
            commits: 1,
            pushed: 1,
            committed: vec![cited(subject)],
            outcome: Some(Outcome::Success),
            answered: true,
            ..Digest::default()
        }
    }

    #[test]
    fn what_was_committed_is_listed_by_branch_and_on_the_main_one_by_session() {
        let records = vec![
            record("a1", 500_000, committed("cents", "Round the totals")),
            record("a2", 500_001, committed("cents", "Test the rounding")),
            record("b1", 500_002, committed("main", "Fix the header")),
            record("b2", 500_003, committed("main", "Drop the footer")),
            record("c1", 500_004, committed("newest", "Name the columns")),
        ];
        check(
            records,
            "What was done",
            &[
                "main · 15 Jan · \"Drop the footer\" [b2:L3]",
                "main · 15 Jan · \"Fix the header\" [b1:L3]",
                "cents · 15 Jan · \"Round the totals\", \"Test the rounding\" [a1:L3] [a2:L3]",
            ],
        );
    }

    #[test]
    fn open_work_is_named_by_its_plan_and_its_last_commit() {
        let open = Digest {
            title: Some(cited("Round the totals to cents")),
            open_question: Some(cited("Half up, or half even?")),
            outcome: Some(Outcome::Partial),
            ..committed("cents", "Round the totals")
        };
        let talk = Digest {
            branch: Some("talk".to_owned()),
            last_words: Some(cited("what is a cent?")),
            answered: true,
            ..Digest::default()
        };
        check(
            vec![record("b1", 500_000, talk), record("a1", 500_001, open)],
            LEFT_OFF,
            &[
                "cents · 15 Jan · \"Round the totals to cents\" · partial · 1 commit, pushed; last \"Round the totals\" · open: the agent asked \"Half up, or half even?\" [a1:L3]",
            ],
        );
    }
}
