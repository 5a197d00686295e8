//! `MEMORY.md` and `memory_summary.md`, and the sections of observations.
//!
//! Not here: the sections about work (`left_off`, `done`).

use std::collections::BTreeSet;

use daybook_domain::ObservationKind;

use super::done::done_section;
use super::entries::{context_suffix, observation_entry, time_and_branch_suffix};
use super::habits::habits_section;
use super::left_off::{LEFT_OFF, left_off_section};
use super::merge::MergedObservation;
use super::phrase::{count, span};
use super::rank::{is_of_chat, top_ranked};
use super::session_account::SessionAccount;
use super::value_lines::value_entries;
use super::{
    MemoryEntry, MemoryInput, MemoryPage, MemorySection, SECTION_ENTRIES, SUMMARY_HABITS,
    SUMMARY_RULES,
};

/// Most facts beside the entries of a section, and most facts of chats beside these.
const MORE_FACTS: usize = 8;
const FACTS_OF_CHATS: usize = 20;
/// Most rules beside the entries of a section: an agent that breaks one costs most.
const MORE_RULES: usize = 4;

/// The heading of traps.
pub const FAILED: &str = "What failed, and what then worked";
/// Heading of the values, each with what it was before.
pub const VALUES: &str = "What changed";
const DECISIONS: &str = "Decisions";
const INSISTED: &str = "insisted on";
const ASKED_TO_REMEMBER: &str = "asked to remember";

/// Whether the lines below a heading are a person's rules and decisions.
#[must_use]
pub fn holds_rules(heading: &str) -> bool {
    let ends = [INSISTED, ASKED_TO_REMEMBER];
    heading == DECISIONS || ends.iter().any(|end| heading.ends_with(end))
}

/// `MEMORY.md`.
pub(super) fn curated_page(
    input: &MemoryInput,
    accounts: &[SessionAccount],
    observations: &[MergedObservation],
) -> MemoryPage {
    let of = |kinds: &[ObservationKind]| -> Vec<&MergedObservation> {
        observations
            .iter()
            .filter(|merged| kinds.contains(&merged.kind) && merged.validity.holds())
            .collect()
    };
    use ObservationKind as Kind;
    let section =
        |title: String,
         kinds: &[Kind],
         phrase: fn(&MemoryInput, &MergedObservation) -> MemoryEntry| MemorySection {
            title,
            entries: top_ranked(&of(kinds), most_entries(kinds, &of(kinds)))
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
            format!("What {person} {ASKED_TO_REMEMBER}"),
            &[Kind::Note],
            statement_entry,
        ),
        section(
            format!("What {person} {INSISTED}"),
            &[Kind::Correction, Kind::Preference],
            statement_entry,
        ),
        habits_section(input, accounts),
        section(DECISIONS.to_owned(), &[Kind::Decision], decision_entry),
        MemorySection {
            title: VALUES.to_owned(),
            entries: value_entries(observations),
        },
        section(FAILED.to_owned(), &[Kind::Fix], fix_entry),
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

/// Most entries of a section: more of rules and facts, and most of facts that people stated of themselves in chats. A person's
/// life has more sides than a project.
fn most_entries(kinds: &[ObservationKind], observations: &[&MergedObservation]) -> usize {
    let of_chats = observations.iter().filter(|merged| is_of_chat(merged));
    let more = match kinds {
        [ObservationKind::Fact] => MORE_FACTS + of_chats.count().min(FACTS_OF_CHATS),
        [ObservationKind::Correction, ..] => MORE_RULES,
        _ => 0,
    };
    SECTION_ENTRIES + more
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

fn statement_entry(input: &MemoryInput, merged: &MergedObservation) -> MemoryEntry {
    let times = match (merged.times(), merged.sessions()) {
        (0 | 1, _) => String::new(),
        (times, 1) => format!(" · {times} times in one session"),
        (times, sessions) => format!(" · {times} times in {sessions} sessions"),
    };
    observation_entry(
        merged,
        format!(
            "{}{}{times}{}",
            merged.words(),
            context_suffix(merged),
            merged.validity.suffix(&input.zone)
        ),
    )
}

pub(super) fn decision_entry(input: &MemoryInput, merged: &MergedObservation) -> MemoryEntry {
    let line = format!(
        "{}{}{}{}",
        merged.words(),
        context_suffix(merged),
        time_and_branch_suffix(input, merged),
        merged.validity.suffix(&input.zone)
    );
    observation_entry(merged, line)
}

fn fix_entry(_: &MemoryInput, merged: &MergedObservation) -> MemoryEntry {
    observation_entry(merged, format!("{}{}", merged.text, context_suffix(merged)))
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
    let insisted = format!("What {} {INSISTED}", input.person);
    let habits = format!("What {} asked for again and again", input.person);
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
            title: habits.clone(),
            entries: lines(&habits, SUMMARY_HABITS),
        },
        MemorySection {
            title: DECISIONS.to_owned(),
            entries: lines(DECISIONS, SUMMARY_RULES),
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
    let taught = match accounts.len() {
        // An agent has rules, and no conversations of its own.
        0 => format!("is known of {}", input.title),
        sessions => format!("{} of {} taught", count(sessions, "session"), input.title),
    };
    MemoryEntry {
        key: "pointer".to_owned(),
        lines: vec![format!(
            "MEMORY.md holds what {taught}; `daybook recall` finds the rest.{open}"
        )],
        observations: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::extraction::CitedText;
    use daybook_domain::{Digest, EventSeq, ExtractionRecord, Outcome, Provenance, Timestamp};
    use daybook_testkit::fixtures::{session, user_scope};
    use jiff::tz::TimeZone;

    use super::*;
    use crate::consolidate::{PersonsWords, accounts};

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
            persons: PersonsWords::default(),
            proposals: Vec::new(),
            zone: TimeZone::UTC,
            layout: crate::consolidate::FileLayout::Daybook,
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
