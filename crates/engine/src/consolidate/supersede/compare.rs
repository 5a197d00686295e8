//! Whether a later statement ends the validity of an earlier one.
//!
//! A rule needs the same subject and an incompatible content, named in the statements' own words. Statements that only
//! resemble each other both hold: a memory that wrongly drops a rule is worse than one that holds it too long.

use std::sync::Arc;

use daybook_domain::{ObservationKind as Kind, ObservationOrigin, SupersessionReason as Reason};

use crate::consolidate::content::ContentWords;
use crate::consolidate::merge::MergedObservation;
use crate::consolidate::statement::{Setting, Statement};

/// Least share of a denial's words that are the claim's, too.
const OPPOSITE_SHARE: f64 = 0.65;
/// Fewest words that both have, unless they have no others.
const OPPOSITE_WORDS: usize = 2;

/// An observation with its statement's parts.
#[derive(Debug)]
pub(crate) struct Stated<'a> {
    pub(super) merged: &'a MergedObservation,
    pub(super) statement: Arc<Statement>,
    /// The words of the thing whose value it is, of a value.
    pub(super) subject: ContentWords,
}

/// Why `later` ends the validity of `earlier`; `None` if both hold.
pub(super) fn supersedes(later: &Stated<'_>, earlier: &Stated<'_>) -> Option<Reason> {
    let (new, old) = (&*later.statement, &*earlier.statement);
    if !may_end(later.merged, earlier.merged) {
        return None;
    }
    match (later.merged.kind, earlier.merged.kind) {
        (Kind::OpenEnd | Kind::Fix, _) | (_, Kind::Fix) => return None,
        (_, Kind::OpenEnd) => {
            let ended = new
                .withdrawn
                .iter()
                .chain(&new.replaced)
                .chain(&new.renamed);
            let is_meant = |named: &ContentWords| names(named, &old.words);
            return ended.into_iter().any(is_meant).then_some(Reason::Closed);
        }
        (Kind::Value, Kind::Value) => {
            let is_update = later.subject == earlier.subject
                && !later.subject.is_empty()
                && later.merged.text != earlier.merged.text;
            return is_update.then_some(Reason::Updated);
        }
        _ => {}
    }
    ends(new, old)
}

/// Why a rule, a choice or a fact no longer holds after a later one.
pub(super) fn ends(new: &Statement, old: &Statement) -> Option<Reason> {
    let holds = |named: &ContentWords| names(named, &old.words) && !old.denies(named);
    if new.renamed.iter().any(holds) {
        return Some(Reason::Replaced);
    }
    if new
        .replaced
        .iter()
        .any(|named| holds(named) && (is_its_subject(named, old) || shares_topic(named, new, old)))
    {
        return Some(Reason::Replaced);
    }
    if new.settings().any(|set| excludes(set, new, old)) {
        return Some(Reason::Replaced);
    }
    if is_opposite(new, old) || is_opposite(old, new) {
        return Some(Reason::Reversed);
    }
    let is_withdrawn = |named: &ContentWords| holds(named) && is_its_subject(named, old);
    let takes_back = new.withdrawn.iter().any(is_withdrawn);
    takes_back.then_some(Reason::Withdrawn)
}

/// Whether the later observation is trusted enough: no less than the earlier one, or a decision in the agent's words
/// that a person accepted.
pub(crate) fn may_end(later: &MergedObservation, earlier: &MergedObservation) -> bool {
    let is_accepted = later.kind == Kind::Decision && later.origin >= ObservationOrigin::Concluded;
    is_accepted || later.origin.trust() >= earlier.origin.trust()
}

/// Whether a phrase names something in a statement of these words.
fn names(phrase: &ContentWords, words: &ContentWords) -> bool {
    !phrase.is_empty() && phrase.is_subset(words)
}

/// Whether a phrase is what the statement is about: what it sets, or at least half of its words.
fn is_its_subject(phrase: &ContentWords, statement: &Statement) -> bool {
    let in_value = |set: &Setting| names(phrase, &set.value);
    phrase.len() * 2 >= statement.words.len() || statement.settings().any(in_value)
}

/// Whether the statements have a word in common besides the phrase.
fn shares_topic(phrase: &ContentWords, one: &Statement, other: &Statement) -> bool {
    let mut common = one.words.shared(&other.words);
    common.any(|word| !phrase.contains(word))
}

/// Whether a setting of the new statement and one of the old set one key differently. A key of more words is a case of
/// its own, unless the new statement says that something changes.
fn excludes(set: &Setting, new: &Statement, old: &Statement) -> bool {
    old.settings().any(|before| {
        let is_same_key = set.key == before.key
            || (new.changes && (names(&set.key, &before.key) || names(&before.key, &set.key)));
        let is_other = !set.value.is_subset(&before.value) && !before.value.is_subset(&set.value);
        let is_denied = new.denies(&set.value) || old.denies(&before.value);
        !set.key.is_empty() && is_same_key && is_other && !is_denied
    })
}

/// Whether one statement denies what the other claims. The denial may not be narrower: "never write docstrings that
/// repeat a name" leaves other docstrings.
fn is_opposite(denying: &Statement, claim: &Statement) -> bool {
    denying.denials.iter().any(|denial| {
        let is_named = names(&denial.head, &claim.words) && !claim.denies(&denial.head);
        if !is_named {
            return false;
        }
        let common = denial.words.common(&claim.words);
        let covers = common as f64 >= OPPOSITE_SHARE * denial.words.len() as f64;
        let is_whole = denial.words == claim.words;
        (common >= OPPOSITE_WORDS && covers) || is_whole
    })
}
