//! Builds the page of names that recur in what was learned: people, projects, repositories and tools.
//!
//! A name is on the page when several statements of several sessions hold it: memories, requests, titles, commits. A few
//! sure ones are worth more than many doubtful ones. Each line cites where the name occurs. What agents and people keep
//! about a thing is in its entity, which this page never touches.
//!
//! Not here: which words are names (`name_mentions`), entities (`files`).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use daybook_domain::extraction::CitedText;
use daybook_domain::{Evidence, SessionId, Timestamp};
use daybook_text::fence::{one_line, without_citations};

use super::merge::MergedObservation;
use super::name_mentions::{NameKind, NameMention, branch_owner, mentions};
use super::phrase::{citations, day, quoted, shorten};
use super::session_account::SessionAccount;
use super::{MemoryEntry, MemoryInput, MemoryPage, MemorySection};

/// Least statements that hold a name.
const STATEMENTS: usize = 3;
/// Least sessions of these statements.
const SESSIONS: usize = 2;
/// Least branches that begin with a person's name, where nothing else shows that it is one.
const BRANCHES: usize = 3;
/// Most names of one kind: the most frequent.
const PER_KIND: usize = 5;
/// Most characters of the newest statement in a name's line.
const NEWEST: usize = 120;

const KINDS: [(NameKind, &str); 4] = [
    (NameKind::Person, "People"),
    (NameKind::Project, "Projects"),
    (NameKind::Repository, "Repositories"),
    (NameKind::Tool, "Tools"),
];

/// The page of recurring names; without sections when none recurs.
pub(super) fn names_page(
    input: &MemoryInput,
    accounts: &[SessionAccount],
    merged: &[MergedObservation],
) -> MemoryPage {
    let memories = merged.iter().map(Statement::of_memory);
    let statements: Vec<Statement<'_>> = memories
        .chain(accounts.iter().flat_map(Statement::of_account))
        .collect();
    let mut found: BTreeMap<(NameKind, String), NameUse<'_>> = BTreeMap::new();
    for statement in &statements {
        for mention in statement.mentions() {
            let own = mention.name.trim_start_matches('@');
            if own.eq_ignore_ascii_case(&input.person) {
                continue;
            }
            let known = found.entry((mention.kind, mention.name)).or_default();
            known.statements.push(statement);
            known.is_sure |= !mention.is_doubtful;
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

/// One text that may hold names.
struct Statement<'a> {
    words: &'a str,
    /// The words are a person's, word for word.
    is_quote: bool,
    /// What is searched beside the words.
    context: Option<&'a str>,
    /// The branch of a session, for its request.
    branch: Option<&'a str>,
    source: StatementSource<'a>,
    at: Timestamp,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
enum StatementSource<'a> {
    Memory(&'a [Evidence]),
    Account(&'a SessionAccount, &'a CitedText),
}

impl<'a> StatementSource<'a> {
    fn sessions(self) -> impl Iterator<Item = &'a SessionId> {
        let (evidence, account) = match self {
            Self::Memory(evidence) => (evidence, None),
            Self::Account(account, _) => (&[][..], Some(&account.session)),
        };
        evidence.iter().map(|piece| &piece.session).chain(account)
    }

    fn evidence(self) -> Cow<'a, [Evidence]> {
        match self {
            Self::Memory(evidence) => Cow::Borrowed(evidence),
            Self::Account(account, text) => Cow::Owned(vec![Evidence {
                session: account.session.clone(),
                label: account.label.clone(),
                events: text.events.clone(),
                lines: text.lines.clone(),
                at: account.to_at,
                branch: None,
                root: None,
            }]),
        }
    }
}

impl<'a> Statement<'a> {
    fn of_memory(memory: &'a MergedObservation) -> Self {
        Self {
            words: &memory.text,
            is_quote: memory.quoted,
            context: memory.context.as_deref(),
            branch: None,
            source: StatementSource::Memory(&memory.evidence),
            at: memory.last_at(),
        }
    }

    fn of_account(account: &'a SessionAccount) -> impl Iterator<Item = Self> {
        let cited = move |text: &'a CitedText, is_quote, branch: Option<&'a str>| Self {
            words: &text.text,
            is_quote,
            context: None,
            branch,
            source: StatementSource::Account(account, text),
            at: account.to_at,
        };
        let branch = account.branch.as_deref();
        let request = account
            .task
            .iter()
            .map(move |task| cited(task, true, branch));
        let others = account.title.iter().chain(&account.committed);
        request.chain(others.map(move |text| cited(text, false, None)))
    }

    /// Each name once, as sure as its surest mention.
    fn mentions(&self) -> Vec<NameMention> {
        let mut found = mentions(self.words);
        found.extend(self.context.iter().flat_map(|context| mentions(context)));
        let owner = self.branch.and_then(branch_owner);
        found.extend(owner.map(|name| NameMention {
            kind: NameKind::Person,
            name: name.to_owned(),
            is_doubtful: true,
        }));
        if found.is_empty() {
            return Vec::new();
        }
        let is_sure = |it: &NameMention| !it.is_doubtful;
        let sure: BTreeSet<NameMention> = found.iter().filter(|it| is_sure(it)).cloned().collect();
        found.retain(|it| is_sure(it) || !sure.iter().any(|sure| sure.name == it.name));
        found.into_iter().collect()
    }
}

/// The statements that hold a name.
#[derive(Default)]
struct NameUse<'s> {
    statements: Vec<&'s Statement<'s>>,
    is_sure: bool,
}

impl NameUse<'_> {
    fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        self.statements.iter().flat_map(|it| it.source.sessions())
    }

    fn is_of_several_sessions(&self) -> bool {
        let mut others = HashSet::new();
        self.sessions()
            .any(|session| others.insert(session) && others.len() >= SESSIONS)
    }

    fn recurs(&self) -> bool {
        let branches = self.statements.iter().filter_map(|it| it.branch);
        let is_sure = self.is_sure || branches.collect::<BTreeSet<_>>().len() >= BRANCHES;
        is_sure && self.statements.len() >= STATEMENTS && self.is_of_several_sessions()
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
    recurring.sort_by_key(|(name, uses)| (std::cmp::Reverse(uses.statements.len()), *name));
    recurring
        .into_iter()
        .take(PER_KIND)
        .map(|(name, uses)| entry(input, kind, name, uses))
        .collect()
}

fn entry(input: &MemoryInput, kind: NameKind, name: &str, uses: &NameUse<'_>) -> MemoryEntry {
    let mut statements = uses.statements.clone();
    statements.sort_by_key(|statement| statement.at);
    let last = statements.last().map(|newest| {
        let words = shorten(&one_line(newest.words), NEWEST);
        let words = match newest.is_quote {
            true => quoted(&words),
            false => without_citations(&words).into_owned(),
        };
        format!(" · {}: {words}", day(newest.at, &input.zone))
    });
    let newest_first = statements.iter().rev();
    let evidence: Vec<Cow<'_, [Evidence]>> = newest_first
        .map(|statement| statement.source.evidence())
        .collect();
    let line = format!(
        "{name} · {} times in {} sessions{} {}",
        statements.len(),
        uses.sessions().collect::<HashSet<_>>().len(),
        last.unwrap_or_default(),
        citations(evidence.iter().flat_map(|pieces| pieces.iter()))
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
    use crate::consolidate::{PersonsWords, consolidate};

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
            persons: PersonsWords::default(),
            proposals: Vec::new(),
            zone: TimeZone::UTC,
            layout: crate::consolidate::FileLayout::Daybook,
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
                "redis · 3 times in 2 sessions · 1 Jan: Bob wants the tide table in `redis`, and @ada agrees \
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
                "Carol · 4 times in 4 sessions · 1 Jan: the station pages wait because Carol prefers paper \
               [a318:L3] [4ded:L3] [ca:L3] +1",
            ],
        );
    }
}
