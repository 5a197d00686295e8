//! "What ada asked for again and again": what was asked for in many sessions, counted over all of them.
//!
//! "Can we add tests for this?" is about one change, and the twentieth time it is how a person works. What counts is
//! sessions and days, never how often one session repeats it.
//!
//! Not here: what a sentence asks for (`extract::extractive`), insistence within one session.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use daybook_domain::extraction::CitedText;

use super::phrase::{cite_statement, date, quoted, span};
use super::session_account::SessionAccount;
use super::{MemoryEntry, MemoryInput, MemorySection};

/// Fewest sessions, and fewest days, of a habit.
const TIMES: usize = 3;
/// Of so many sessions at least one asks for what is a habit.
const ONE_IN: usize = 25;
/// Most habits of a page.
const HABITS: usize = 6;
/// Most sessions that one entry cites.
const CITED: usize = 3;

/// A request with the session that it was made in.
type Request<'a> = (&'a SessionAccount, &'a CitedText);

/// What was asked for in at least [`TIMES`] sessions on as many days, and in no small part of all; the most frequent first.
pub(super) fn habits_section(input: &MemoryInput, accounts: &[SessionAccount]) -> MemorySection {
    let mut by_habit: BTreeMap<&str, Vec<Request<'_>>> = BTreeMap::new();
    for account in accounts {
        let mut known = BTreeSet::new();
        for request in &account.habits {
            if known.insert(request.habit.as_str()) {
                let of_habit = by_habit.entry(&request.habit).or_default();
                of_habit.push((account, &request.said));
            }
        }
    }
    by_habit.retain(|_, requests| {
        let days = requests.iter().map(|(it, _)| date(it.from_at, &input.zone));
        days.collect::<BTreeSet<_>>().len() >= TIMES && requests.len() * ONE_IN >= accounts.len()
    });
    let mut habits: Vec<(&str, Vec<Request<'_>>)> = by_habit.into_iter().collect();
    habits.sort_by_key(|(name, requests)| (Reverse(requests.len()), *name));
    habits.truncate(HABITS);
    let entries = habits.iter();
    MemorySection {
        title: format!("What {} asked for again and again", input.person),
        entries: entries
            .filter_map(|(name, requests)| habit_entry(input, name, requests))
            .collect(),
    }
}

fn habit_entry(input: &MemoryInput, name: &str, requests: &[Request<'_>]) -> Option<MemoryEntry> {
    let typical = most_typical(requests)?;
    let (first, last) = (requests.first()?.0, requests.last()?.0);
    // The words that are quoted come first, and then the latest.
    let others = requests.iter().rev();
    let others = others.filter(|(account, _)| account.session != typical.0.session);
    let cited = [&typical].into_iter().chain(others).take(CITED);
    let mut cited: Vec<String> = cited
        .map(|(account, said)| cite_statement(&account.label, said))
        .collect();
    if let Some(more) = requests.len().checked_sub(CITED).filter(|more| *more > 0) {
        cited.push(format!("+{more}"));
    }
    Some(MemoryEntry {
        key: format!("habit/{name}"),
        lines: vec![format!(
            "{name} · {} · in {} sessions, {} {}",
            quoted(&typical.1.text),
            requests.len(),
            span(first.from_at, last.to_at, &input.zone),
            cited.join(" ")
        )],
        observations: Vec::new(),
    })
}

/// The request whose words the others share the most, the latest of equals: it is about the habit, and least about its
/// moment.
fn most_typical<'a>(requests: &[Request<'a>]) -> Option<Request<'a>> {
    let mut times: HashMap<String, usize> = HashMap::new();
    for (_, said) in requests {
        for word in words(&said.text) {
            *times.entry(word).or_default() += 1;
        }
    }
    // Per word, and a little less for the shortest ones: "tests?" alone says too little.
    let share = |(_, said): &&Request<'_>| {
        let words = words(&said.text);
        let shared: usize = words.iter().map(|word| times[word] - 1).sum();
        1000 * shared / (words.len() + 2)
    };
    requests.iter().max_by_key(share).copied()
}

fn words(text: &str) -> BTreeSet<String> {
    let low = text.to_lowercase();
    let words = low.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use daybook_domain::extraction::HabitualRequest;
    use daybook_domain::{Digest, EventSeq, ExtractionRecord, Provenance, Timestamp};
    use daybook_testkit::fixtures::{session, user_scope};
    use jiff::tz::TimeZone;

    use super::*;
    use crate::consolidate::{FileLayout, PersonsWords, accounts};

    /// A session on this day of 1970 in which these things were asked for.
    fn session_of(label: &str, day: i64, asked: &[(&str, &str)]) -> ExtractionRecord {
        let habits = asked.iter().map(|(habit, text)| HabitualRequest {
            habit: (*habit).to_owned(),
            said: CitedText {
                text: (*text).to_owned(),
                events: vec![EventSeq(3)],
                lines: vec![3],
            },
        });
        let said = |text: &str| CitedText {
            text: text.to_owned(),
            events: vec![EventSeq(1)],
            lines: vec![1],
        };
        ExtractionRecord {
            session: session(label),
            label: label.to_owned(),
            from: EventSeq(1),
            to: EventSeq(9),
            digest: Some(Digest {
                task: Some(said("round the totals")),
                habits: habits.collect(),
                from_at: Timestamp(day * 86_400_000),
                to_at: Timestamp(day * 86_400_000 + 1),
                ..Digest::default()
            }),
            provenance: Provenance::of("extractive/1"),
            at: Timestamp::ZERO,
        }
    }

    fn check(extractions: Vec<ExtractionRecord>, expected: &[&str]) {
        let input = MemoryInput {
            scope: user_scope("ada"),
            title: "ledger".to_owned(),
            person: "ada".to_owned(),
            observations: Vec::new(),
            extractions,
            uses: Vec::new(),
            persons: PersonsWords::default(),
            proposals: Vec::new(),
            zone: TimeZone::UTC,
            layout: FileLayout::Daybook,
        };
        let section = habits_section(&input, &accounts(&input.extractions));
        let entries = section.entries.iter();
        let lines: Vec<&str> = entries
            .flat_map(|entry| entry.lines.iter().map(String::as_str))
            .collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn what_is_asked_for_in_many_sessions_is_quoted_in_its_most_typical_words() {
        check(
            vec![
                session_of(
                    "a1",
                    10,
                    &[("tests", "add a test that the parser skips blank lines")],
                ),
                session_of("b2", 11, &[("tests", "can we add tests for this?")]),
                session_of("c3", 12, &[("draft", "draft PR please")]),
                session_of(
                    "d4",
                    13,
                    &[("tests", "can you add some tests?"), ("tests", "tests!")],
                ),
                session_of("e5", 14, &[("tests", "can we add tests for the reader?")]),
            ],
            &[
                "tests · \"can we add tests for this?\" · in 4 sessions, 11–15 Jan 1970 [b2:L3] [e5:L3] [d4:L3] +1",
            ],
        );
    }

    #[test]
    fn one_long_session_and_one_busy_day_are_no_habit() {
        let often = [
            ("tests", "tests?"),
            ("tests", "add tests"),
            ("tests", "more tests"),
        ];
        check(
            vec![session_of("a1", 10, &often), session_of("b2", 11, &often)],
            &[],
        );
        let review = [("review", "review the branch")];
        check(
            vec![
                session_of("a1", 10, &review),
                session_of("b2", 10, &review),
                session_of("c3", 11, &review),
            ],
            &[],
        );
    }
}
