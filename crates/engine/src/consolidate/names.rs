//! Builds the page of names that recur in what was learned: people, projects, repositories and tools.
//!
//! A name is on the page when several memories of several sessions hold it: a few sure ones are worth more than many
//! doubtful ones. Each line cites where the name occurs. What agents and people keep about a thing is in its entity,
//! which this page never touches.
//!
//! Not here: which words are names (`name_mentions`), entities (`files`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{Evidence, SessionId};
use daybook_text::fence::one_line;

use super::merge::MergedObservation;
use super::name_mentions::{NameKind, NameMention, mentions};
use super::phrase::{citations, day, shorten};
use super::{MemoryEntry, MemoryInput, MemoryPage, MemorySection};

/// Least memories that hold a name.
const MEMORIES: usize = 3;
/// Least sessions that these memories rest on.
const SESSIONS: usize = 2;
/// Most names of one kind: the most frequent.
const PER_KIND: usize = 5;
/// Most characters of the newest memory in a name's line.
const NEWEST: usize = 120;

const KINDS: [(NameKind, &str); 4] = [
    (NameKind::Person, "People"),
    (NameKind::Project, "Projects"),
    (NameKind::Repository, "Repositories"),
    (NameKind::Tool, "Tools"),
];

/// The page of recurring names; without sections when none recurs.
pub(super) fn names_page(input: &MemoryInput, merged: &[MergedObservation]) -> MemoryPage {
    let mut found: BTreeMap<(NameKind, String), NameUse<'_>> = BTreeMap::new();
    for memory in merged {
        for NameMention {
            kind,
            name,
            is_doubtful,
        } in mentions_of(memory)
        {
            if name
                .trim_start_matches('@')
                .eq_ignore_ascii_case(&input.person)
            {
                continue;
            }
            let known = found.entry((kind, name)).or_default();
            known.memories.push(memory);
            known.is_sure |= !is_doubtful;
        }
    }
    let sections = KINDS.into_iter().map(|(kind, title)| MemorySection {
        title: title.to_owned(),
        entries: entries(input, kind, &found),
    });
    MemoryPage {
        heading: format!("{} · names that recur", input.title),
        sections: sections
            .filter(|section| !section.entries.is_empty())
            .collect(),
    }
}

fn mentions_of(memory: &MergedObservation) -> BTreeSet<NameMention> {
    let mut found = mentions(&memory.text);
    found.extend(memory.context.iter().flat_map(|context| mentions(context)));
    // The same name, once sure and once not, is one.
    let sure: BTreeSet<(NameKind, String)> = found
        .iter()
        .filter(|mention| !mention.is_doubtful)
        .map(|mention| (mention.kind, mention.name.clone()))
        .collect();
    found.retain(|it| !it.is_doubtful || !sure.contains(&(it.kind, it.name.clone())));
    found
}

/// The memories that hold a name.
#[derive(Default)]
struct NameUse<'m> {
    memories: Vec<&'m MergedObservation>,
    is_sure: bool,
}

impl NameUse<'_> {
    fn sessions(&self) -> BTreeSet<&SessionId> {
        let memories = self.memories.iter();
        memories
            .flat_map(|memory| memory.sessions_of_evidence())
            .collect()
    }

    fn recurs(&self) -> bool {
        self.is_sure && self.memories.len() >= MEMORIES && self.sessions().len() >= SESSIONS
    }
}

fn entries(
    input: &MemoryInput,
    kind: NameKind,
    found: &BTreeMap<(NameKind, String), NameUse<'_>>,
) -> Vec<MemoryEntry> {
    let mut recurring: Vec<(&str, &NameUse<'_>)> = found
        .iter()
        .filter(|((of, _), uses)| *of == kind && uses.recurs())
        .map(|((_, name), uses)| (name.as_str(), uses))
        .collect();
    recurring.sort_by_key(|(name, uses)| (std::cmp::Reverse(uses.memories.len()), *name));
    let recurring = recurring.into_iter().take(PER_KIND);
    recurring
        .map(|(name, uses)| entry(input, kind, name, uses))
        .collect()
}

fn entry(input: &MemoryInput, kind: NameKind, name: &str, uses: &NameUse<'_>) -> MemoryEntry {
    let mut memories = uses.memories.clone();
    memories.sort_by_key(|memory| (memory.last_at(), memory.observations.first().copied()));
    let newest = memories.last();
    let last = newest.map(|memory| {
        let words = shorten(&one_line(&memory.words()), NEWEST);
        format!(" · {}: {words}", day(memory.last_at(), &input.zone))
    });
    let newest_first = memories.iter().rev();
    let evidence: Vec<Evidence> = newest_first
        .flat_map(|memory| memory.evidence.clone())
        .collect();
    let line = format!(
        "{name} · {} memories of {} sessions{} {}",
        uses.memories.len(),
        uses.sessions().len(),
        last.unwrap_or_default(),
        citations(&evidence)
    );
    MemoryEntry {
        key: format!("name/{kind:?}/{name}"),
        lines: vec![line],
        observations: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::{
        EventSeq, Observation, ObservationId, ObservationKind, ObservationOrigin, Timestamp,
    };
    use daybook_testkit::fixtures::{session, user_scope};
    use jiff::tz::TimeZone;

    use super::*;
    use crate::consolidate::consolidate;

    /// An observation of the session `label`, at hour `n`.
    fn observation(n: i64, label: &str, text: &str) -> Observation {
        let scope = user_scope("ada");
        Observation {
            id: ObservationId::of(&scope, ObservationKind::Fact, text),
            scope,
            kind: ObservationKind::Fact,
            text: text.to_owned(),
            context: None,
            subject: None,
            stated: true,
            origin: ObservationOrigin::default(),
            quoted: false,
            evidence: vec![Evidence {
                session: session(label),
                label: label.to_owned(),
                events: vec![EventSeq(3)],
                lines: vec![3],
                at: Timestamp(n * 3_600_000),
                branch: None,
                root: None,
            }],
            tokens: String::new(),
        }
    }

    /// Texts of memories, each with its session.
    #[track_caller]
    fn check(memories: &[(&str, &str)], expected: &[&str]) {
        let observations = memories
            .iter()
            .enumerate()
            .map(|(n, (label, text))| observation(n as i64 + 1, label, text));
        let input = MemoryInput {
            scope: user_scope("ada"),
            title: "tidepool".to_owned(),
            person: "ada".to_owned(),
            observations: observations.collect(),
            extractions: Vec::new(),
            uses: Vec::new(),
            zone: TimeZone::UTC,
        };
        let page = consolidate(&input).names;
        let sections = page.sections.iter();
        let lines: Vec<&str> = sections
            .flat_map(|section| &section.entries)
            .map(|entry| entry.lines[0].as_str())
            .collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_name_of_several_memories_and_sessions_is_listed_with_where_it_occurs() {
        check(
            &[
                ("7f78", "the harbour charts come from Redis since April"),
                ("7f78", "when Bob asked, the pilot boats moved to redis"),
                ("ca", "Bob wants the tide table in `redis`, and @ada agrees"),
            ],
            &[
                "redis · 3 memories of 2 sessions · 1 Jan: Bob wants the tide table in `redis`, and @ada agrees \
               [ca:L3] [7f78:L3]",
            ],
        );
    }

    #[test]
    fn a_name_of_one_session_or_of_few_memories_is_not() {
        check(
            &[
                ("7f78", "the harbour charts come from Redis since April"),
                ("7f78", "the pilot boats moved to redis"),
                ("7f78", "the tide table is read from redis"),
                ("ca", "docker builds the station pages"),
                ("4ded", "docker needs more room on the pier machine"),
            ],
            &[],
        );
    }

    #[test]
    fn what_may_be_an_ordinary_word_needs_one_sure_mention() {
        let begun = [
            ("7f78", "Carol asked for a second chart of the harbour"),
            ("ca", "Carol wants the pilot boats in green"),
            ("4ded", "Carol reviewed the tide tables of May"),
        ];
        check(&begun, &[]);
        let mut sure = begun.to_vec();
        sure.push(("a318", "the station pages wait because Carol prefers paper"));
        check(
            &sure,
            &[
                "Carol · 4 memories of 4 sessions · 1 Jan: the station pages wait because Carol prefers paper \
               [a318:L3] [4ded:L3] [ca:L3] +1",
            ],
        );
    }
}
