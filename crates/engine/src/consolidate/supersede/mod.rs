//! Which observations no longer hold, because a later one updates, replaces, reverses, takes back or closes them.
//!
//! Both stay. The later one is shown, with the earlier one in brackets; recall places it first. The rules read what
//! people stated, and need no model. The result depends on the observations alone, not on the order in which they came.

mod compare;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use daybook_domain::{Evidence, ObservationKind, SessionId, SupersessionReason, Timestamp};

use super::content::{ContentWord, ContentWords, WordMap, subject_words};
use super::merge::MergedObservation;
use super::parsed_texts::ParsedTexts;
use super::statement::Statement;
pub(super) use compare::may_end;
use compare::{Stated, supersedes};

/// Words by which an observation finds earlier ones: its rarest.
const RARE_WORDS: usize = 6;
/// Most earlier observations, the latest, that share one word and are compared.
const OF_ONE_WORD: usize = 64;
/// Most statements in which a name of something occurs: a word of more is no name.
const NAME_STATEMENTS: usize = 8;

/// One observation that no longer holds, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    /// What no longer holds.
    pub earlier: usize,
    /// What ended its validity.
    pub later: usize,
    /// Why.
    pub reason: SupersessionReason,
    /// When the later one was stated.
    pub until: Timestamp,
}

/// What statements say of each other, by position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StatementChanges {
    /// For each statement that no longer holds, the first later one that ended its validity; by time.
    pub changes: Vec<Change>,
    /// Statements that rest on one that no longer holds, with its change.
    pub reviews: Vec<(usize, Change)>,
    /// Pairs that exclude each other and were stated at one time.
    pub contradictions: Vec<(usize, usize)>,
}

/// What the statements of `observations` say of each other.
pub(super) fn statement_changes(
    observations: &[MergedObservation],
    texts: &mut ParsedTexts,
) -> StatementChanges {
    let stated: Vec<Stated<'_>> = observations.iter().map(|one| stated(one, texts)).collect();
    let words = RareWords::of(&stated);
    let mut known = KnownStatements::default();
    let mut seen = SeenStatements::of(stated.len());
    let mut ended: Vec<Option<Change>> = vec![None; stated.len()];
    let mut found = StatementChanges::default();
    for later in by_time(&stated) {
        let one = &stated[later];
        let rare = words.rarest_of(one);
        let mut contradictions: Vec<(usize, usize)> = Vec::new();
        let mut superseded: Vec<(usize, SupersessionReason)> = Vec::new();
        for at in known.sharing(&rare, &mut seen) {
            let reason = match ended[at].is_some() {
                true => None,
                false => supersedes(one, &stated[at]),
            };
            match reason {
                Some(reason) if is_before(&stated[at], one) => superseded.push((at, reason)),
                // What was stated at one time cannot be put in order.
                Some(SupersessionReason::Replaced | SupersessionReason::Reversed) => {
                    contradictions.push((at, later));
                }
                _ => {}
            }
        }
        superseded.sort_by_key(|(at, _)| *at);
        contradictions.sort_unstable();
        found.contradictions.extend(contradictions);
        if superseded.is_empty() {
            let before = known.choice_before(one, &stated);
            let before = before.filter(|at| ended[*at].is_none());
            superseded.extend(before.map(|at| (at, SupersessionReason::Replaced)));
        }
        for (earlier, reason) in superseded {
            let change = Change {
                earlier,
                later,
                reason,
                until: one.merged.last_at(),
            };
            ended[earlier] = Some(change);
        }
        known.add(later, one);
    }
    found.changes = ended.into_iter().flatten().collect();
    found
        .changes
        .sort_by_key(|change| (change.until, change.earlier));
    found.reviews = reviews(&stated, (&words, &known), &found.changes);
    found
}

/// Why the later of two statements of people ends the validity of the earlier one; `None` if both hold. For words that no
/// observation was made of.
#[must_use]
pub fn ends(later: &str, earlier: &str) -> Option<SupersessionReason> {
    compare::ends(&Statement::parse(later), &Statement::parse(earlier))
}

/// Whether a person's words say themselves that something changes: "now", "instead", "no longer".
#[must_use]
pub fn says_change(text: &str) -> bool {
    Statement::parse(text).changes
}

/// Positions in the order in which they were last stated.
fn by_time(stated: &[Stated<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..stated.len()).collect();
    order.sort_by_key(|at| last_evidence(&stated[*at]).map(|last| (last.at, last.events.last())));
    order
}

/// How many statements hold each word.
struct RareWords(WordMap<ContentWord, usize>);

impl RareWords {
    fn of(stated: &[Stated<'_>]) -> Self {
        let mut frequencies = WordMap::default();
        for word in stated.iter().flat_map(search_words) {
            *frequencies.entry(word).or_default() += 1;
        }
        Self(frequencies)
    }

    /// The rarest words of a statement that another one has, too.
    fn rarest_of(&self, one: &Stated<'_>) -> Vec<ContentWord> {
        let words = search_words(one).map(|word| (self.0[&word], word));
        let mut words: Vec<_> = words.filter(|(statements, _)| *statements > 1).collect();
        words.sort_unstable();
        words.dedup();
        words.truncate(RARE_WORDS);
        words.into_iter().map(|(_, word)| word).collect()
    }

    /// Whether words are rare enough to name one thing.
    fn are_names(&self, words: &ContentWords) -> bool {
        let mut counts = words.iter().map(|word| self.0.get(&word));
        counts.all(|count| count.is_some_and(|count| *count <= NAME_STATEMENTS))
    }
}

/// Which statements a search has returned. Searches are counted, so that a new one need not clear the list.
struct SeenStatements {
    in_search: Vec<u32>,
    search: u32,
}

impl SeenStatements {
    fn of(statements: usize) -> Self {
        Self {
            in_search: vec![0; statements],
            search: 0,
        }
    }

    fn begin(&mut self) {
        self.search += 1;
    }

    fn is_new(&mut self, at: usize) -> bool {
        std::mem::replace(&mut self.in_search[at], self.search) != self.search
    }
}

/// Statements that were already compared, by word and by session.
#[derive(Default)]
struct KnownStatements<'s> {
    by_word: WordMap<ContentWord, Vec<usize>>,
    last_setting: HashMap<&'s SessionId, usize>,
}

impl<'s> KnownStatements<'s> {
    fn add(&mut self, at: usize, one: &'s Stated<'s>) {
        for word in search_words(one) {
            self.by_word.entry(word).or_default().push(at);
        }
        if one.statement.settings().next().is_some() {
            for session in one.merged.sessions_of_evidence() {
                self.last_setting.insert(session, at);
            }
        }
    }

    /// The latest statements that share one of the words, each once.
    fn sharing<'k>(
        &'k self,
        words: &'k [ContentWord],
        seen: &'k mut SeenStatements,
    ) -> impl Iterator<Item = usize> + 'k {
        seen.begin();
        let known = words.iter().filter_map(|word| self.by_word.get(word));
        let latest = known.flat_map(|known| known.iter().rev().take(OF_ONE_WORD).copied());
        latest.filter(|at| seen.is_new(*at))
    }

    /// The choice that "let's use B instead" replaces: the one before it in the same session.
    fn choice_before(&self, one: &Stated<'_>, stated: &[Stated<'_>]) -> Option<usize> {
        let new = &one.statement;
        let is_bare = new.changes
            && new.replaced.is_empty()
            && new.renamed.is_empty()
            && new.choices.iter().all(|choice| choice.key.is_empty());
        let ours = &new.choices.first().filter(|_| is_bare)?.value;
        let mut sessions = one.merged.sessions_of_evidence().into_iter();
        let (Some(session), None) = (sessions.next(), sessions.next()) else {
            return None;
        };
        let before = *self.last_setting.get(session)?;
        let earlier = &stated[before];
        let mut choices = earlier.statement.choices.iter();
        let is_other = choices.any(|choice| choice.value.is_disjoint(ours));
        let may = may_end(one.merged, earlier.merged);
        (is_before(earlier, one) && is_other && may).then_some(before)
    }
}

/// The statements that name what a replaced one had set: they were made while it held, and rest on it.
fn reviews(
    stated: &[Stated<'_>],
    (words, known): (&RareWords, &KnownStatements<'_>),
    changes: &[Change],
) -> Vec<(usize, Change)> {
    let ended: BTreeSet<usize> = changes.iter().map(|change| change.earlier).collect();
    let mut reviews = BTreeMap::new();
    let mut seen = SeenStatements::of(stated.len());
    for change in changes {
        let earlier = &stated[change.earlier].statement;
        for set in earlier.settings().filter(|set| words.are_names(&set.value)) {
            for at in known.sharing(set.value.as_slice(), &mut seen) {
                let (one, of) = (&stated[at].statement, stated[at].merged);
                let rests_on = set.value.is_subset(&one.words)
                    && !one.denies(&set.value)
                    && of.last_at() < change.until;
                if rests_on && !ended.contains(&at) && at != change.later {
                    reviews.entry(at).or_insert(*change);
                }
            }
        }
    }
    reviews.into_iter().collect()
}

pub(super) fn stated<'m>(merged: &'m MergedObservation, texts: &mut ParsedTexts) -> Stated<'m> {
    let statement = match merged.kind {
        // The text is a number; what it is about stands in its subject.
        ObservationKind::Value => {
            let subject = merged.subject.as_deref().unwrap_or_default();
            Arc::new(Statement::of_value(subject, &merged.text))
        }
        _ => texts.statement(&merged.text),
    };
    let subject = merged.subject.as_deref().map(subject_words);
    Stated {
        merged,
        statement,
        subject: subject.unwrap_or_default(),
    }
}

fn search_words<'a>(stated: &'a Stated<'_>) -> impl Iterator<Item = ContentWord> + 'a {
    stated.statement.words.iter().chain(stated.subject.iter())
}

/// Whether it was last stated before the other. What was stated at one time can be put in order within one session only.
pub(super) fn is_before(one: &Stated<'_>, other: &Stated<'_>) -> bool {
    let (last, of_other) = (last_evidence(one), last_evidence(other));
    match (last, of_other) {
        (Some(last), Some(of_other)) if last.at == of_other.at => {
            last.session == of_other.session && last.events.last() < of_other.events.last()
        }
        _ => one.merged.last_at() < other.merged.last_at(),
    }
}

fn last_evidence<'a>(one: &Stated<'a>) -> Option<&'a Evidence> {
    let evidence = one.merged.evidence.iter();
    evidence.max_by_key(|one| (one.at, one.events.last()))
}

#[cfg(test)]
mod tests;
