//! Which observations no longer hold, because a later one updates, replaces, reverses, takes back or closes them.
//!
//! Both stay. The later one is shown, with the earlier one in brackets; recall places it first. The rules read what
//! people stated, and need no model. The result depends on the observations alone, not on the order in which they came.

mod compare;
mod numbers;
mod outline;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{
    EventSeq, Evidence, ObservationKind, SessionId, SupersessionReason, Timestamp,
};

use super::content::{WordMap, subject_words};
use super::kept_searches::{EndedStatement, KeptSearch, common_places};
use super::merge::MergedObservation;
use super::parsed_texts::ParsedTexts;
use super::statement::Statement;
use crate::extract::ACCEPTED;
pub(super) use compare::may_end;
use compare::{Stated, supersedes};
use numbers::{statement_number, words_number};
use outline::{LaterOutline, StatementOutline};
use words::{SeenStatements, StatementWords, StatementsByWord, WordNumber};

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
    let words = StatementWords::of(&stated);
    let order = by_time(&stated);
    let (searches, are_new, by_word) = searches(&stated, &words, &order, texts);
    let mut last_settings = LastSettings::default();
    let mut last_picks = LastPicks::default();
    let mut ended: Vec<Option<Change>> = vec![None; stated.len()];
    let mut found = StatementChanges::default();
    for (later, search) in order.iter().copied().zip(&searches) {
        let one = &stated[later];
        let mut contradictions: Vec<(usize, usize)> = Vec::new();
        let mut superseded: Vec<(usize, SupersessionReason)> = Vec::new();
        for result in &search.found {
            let Some(at) = order.get(result.place as usize).copied() else {
                continue;
            };
            match result.reason {
                _ if ended[at].is_some() => {}
                reason if result.is_before => superseded.push((at, reason)),
                // What was stated at one time cannot be put in order.
                SupersessionReason::Replaced | SupersessionReason::Reversed => {
                    contradictions.push((at, later));
                }
                _ => {}
            }
        }
        superseded.sort_by_key(|(at, _)| *at);
        contradictions.sort_unstable();
        found.contradictions.extend(contradictions);
        if superseded.is_empty() {
            let before = last_settings.choice_before(one, &stated);
            let before = before.filter(|at| ended[*at].is_none());
            superseded.extend(before.map(|at| (at, SupersessionReason::Replaced)));
        }
        let other_pick = last_picks.replaced_by(later, one);
        if let Some(at) = other_pick.filter(|at| ended[*at].is_none())
            && superseded.iter().all(|(known, _)| *known != at)
            && may_end(one.merged, stated[at].merged)
        {
            superseded.push((at, SupersessionReason::Replaced));
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
        last_settings.add(later, one);
    }
    found.changes = ended.into_iter().flatten().collect();
    found
        .changes
        .sort_by_key(|change| (change.until, change.earlier));
    found.reviews = reviews(&stated, (&words, &by_word), &found.changes);
    texts.keep_searches(searches, are_new);
    found
}

/// What each statement ends, in the order of time, whether any of it is new, and all statements by word. What was found
/// last time is not searched for again.
fn searches(
    stated: &[Stated<'_>],
    words: &StatementWords,
    order: &[usize],
    texts: &mut ParsedTexts,
) -> (Vec<KeptSearch>, bool, StatementsByWord) {
    let mut kept = texts.take_searches();
    let before = kept.len();
    let numbers: Vec<u64> = order
        .iter()
        .map(|at| statement_number(&stated[*at]))
        .collect();
    kept.truncate(common_places(&kept, &numbers));
    let mut known = kept.into_iter();
    let mut search = StatementSearch::new(stated, words);
    let mut searches = Vec::with_capacity(order.len());
    let mut are_new = before != order.len();
    for (later, statement) in order.iter().copied().zip(numbers) {
        let by = words.rarest_of(later);
        let rare = words_number(words.words_of(&by));
        let known = known.next().filter(|known| known.rare == rare);
        are_new |= known.is_none();
        let found = known.map_or_else(|| search.ended_by(later, &by), |known| known.found);
        search.add(later);
        searches.push(KeptSearch {
            statement,
            rare,
            found,
        });
    }
    (searches, are_new, search.by_word)
}

/// Searches the statements before each one.
struct StatementSearch<'s> {
    stated: &'s [Stated<'s>],
    words: &'s StatementWords,
    by_word: StatementsByWord,
    seen: SeenStatements,
    outlines: Vec<Option<StatementOutline>>,
    /// The place of each statement in the order of time.
    places: Vec<u32>,
    added: u32,
}

impl<'s> StatementSearch<'s> {
    fn new(stated: &'s [Stated<'s>], words: &'s StatementWords) -> Self {
        Self {
            stated,
            words,
            by_word: StatementsByWord::new(words),
            seen: SeenStatements::of(stated.len()),
            outlines: vec![None; stated.len()],
            places: vec![0; stated.len()],
            added: 0,
        }
    }

    fn add(&mut self, at: usize) {
        self.by_word.add(at, self.words);
        self.places[at] = self.added;
        self.added += 1;
    }

    /// What the statement `later` ends of those that were added.
    fn ended_by(&mut self, later: usize, words: &[WordNumber]) -> Vec<EndedStatement> {
        let one = &self.stated[later];
        let outline = LaterOutline::of(one);
        if !outline.may_end_any() {
            return Vec::new();
        }
        let (stated, outlines) = (self.stated, &mut self.outlines);
        let found = self.by_word.sharing(words, &mut self.seen);
        let found = found.filter(|at| {
            let earlier = &mut outlines[*at];
            outline.may_end(earlier.get_or_insert_with(|| StatementOutline::of(&stated[*at])))
        });
        let ended = found.filter_map(|at| {
            Some(EndedStatement {
                place: self.places[at],
                reason: supersedes(one, &stated[at])?,
                is_before: is_before(&stated[at], one),
            })
        });
        ended.collect()
    }
}

/// Why the later of two statements of people ends the validity of the earlier one; `None` if both hold. For words that no
/// observation was made of.
#[must_use]
pub fn ends(later: &str, earlier: &str) -> Option<SupersessionReason> {
    PersonsStatement::parse(later).ends(&PersonsStatement::parse(earlier))
}

/// A person's statement that is compared with several others: taking it apart is the costly part.
#[derive(Debug)]
pub(crate) struct PersonsStatement(Statement);

impl PersonsStatement {
    pub(crate) fn parse(text: &str) -> Self {
        Self(Statement::parse(text))
    }

    /// As [`ends`].
    pub(crate) fn ends(&self, earlier: &Self) -> Option<SupersessionReason> {
        compare::ends(&self.0, &earlier.0)
    }
}

/// Whether a person's words say themselves that something changes: "now", "instead", "no longer".
#[must_use]
pub fn says_change(text: &str) -> bool {
    Statement::says_change(text)
}

/// Positions in the order in which they were last stated.
fn by_time(stated: &[Stated<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..stated.len()).collect();
    order.sort_by_cached_key(|at| {
        last_evidence(&stated[*at]).map(|last| (last.at, last.events.last().copied()))
    });
    order
}

/// The last option that was picked from each of the agent's lists: "b", then "no wait, a". "Also a" takes none back.
#[derive(Default)]
struct LastPicks<'s>(BTreeMap<(&'s SessionId, EventSeq), usize>);

impl<'s> LastPicks<'s> {
    /// Remembers a pick, and returns the one before it from the same list.
    fn replaced_by(&mut self, at: usize, one: &Stated<'s>) -> Option<usize> {
        let context = one.merged.context.as_deref()?;
        let mut lists = one.merged.evidence.iter().filter(|of| of.events.len() > 1);
        let list = |of: &'s Evidence| Some((&of.session, *of.events.first()?));
        let first = lists.next().and_then(list)?;
        if !lists.all(|of| list(of) == Some(first)) {
            return None;
        }
        let words = context.strip_prefix(ACCEPTED)?;
        let is_pick =
            one.merged.kind == ObservationKind::Decision && !Statement::says_addition(words);
        is_pick.then(|| self.0.insert(first, at)).flatten()
    }
}

/// Most words of a choice that says of nothing what it is about: "let's use the other one instead".
const BARE_WORDS: usize = 4;

/// The last statement of each session that set something.
#[derive(Default)]
struct LastSettings<'s>(WordMap<&'s SessionId, usize>);

impl<'s> LastSettings<'s> {
    fn add(&mut self, at: usize, one: &'s Stated<'s>) {
        if one.statement.settings().next().is_some() {
            let evidence = one.merged.evidence.iter();
            let settings = evidence.map(|evidence| (&evidence.session, at));
            self.0.extend(settings);
        }
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
        let before = *self.0.get(session)?;
        let earlier = &stated[before];
        let mut choices = earlier.statement.choices.iter();
        let is_other = choices.any(|choice| choice.value.is_disjoint(ours));
        let is_short = new.topic.len() <= BARE_WORDS;
        let is_meant = is_short || new.topic.common(&earlier.statement.topic) > 0;
        let may = is_meant && may_end(one.merged, earlier.merged);
        (is_before(earlier, one) && is_other && may).then_some(before)
    }
}

/// The statements that name what a replaced one had set: they were made while it held, and rest on it.
fn reviews(
    stated: &[Stated<'_>],
    (words, by_word): (&StatementWords, &StatementsByWord),
    changes: &[Change],
) -> Vec<(usize, Change)> {
    let ended: BTreeSet<usize> = changes.iter().map(|change| change.earlier).collect();
    let mut reviews = BTreeMap::new();
    let mut seen = SeenStatements::of(stated.len());
    for change in changes {
        let earlier = &stated[change.earlier].statement;
        let names = earlier.settings();
        for set in names.filter(|set| words.are_names(&set.value)) {
            let value = words.numbers_of(&set.value);
            for at in by_word.sharing(&value, &mut seen) {
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
            texts.value_statement(subject, &merged.text)
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
