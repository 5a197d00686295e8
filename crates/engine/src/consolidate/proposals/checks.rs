//! Which proposals may change a memory: the rules that statements of people are compared by, for a model's proposals.
//!
//! A model may find what the rules cannot see, as two sentences without a common word that say the same. It may not do
//! what the rules forbid: join what differs in a number, name or negation, or let a less trusted statement end a
//! person's.
//!
//! Not here: words that a statement is given (`rewording`).

use daybook_domain::{ObservationKind as Kind, SupersessionReason};

use super::drop_reason::ProposalDropReason;
use super::rewording::conditions;
use crate::consolidate::content::{Content, ContentWords};
use crate::consolidate::merge::MergedObservation;
use crate::consolidate::parsed_texts::ParsedTexts;
use crate::consolidate::supersede::{ends, is_before, may_end, stated};
use crate::extract::model::names_all;

/// Fewest words with content of a statement that can be merged: of one word it is not known what it is about.
const LEAST_WORDS: usize = 2;
/// Words with content that one of two merged statements may have more than the other; of long ones a third.
const FURTHER_WORDS: usize = 2;

/// Whether two statements may be shown as one.
pub(super) fn may_merge(
    one: &MergedObservation,
    other: &MergedObservation,
) -> Result<(), ProposalDropReason> {
    let is_wish = |kind: Kind| matches!(kind, Kind::Preference | Kind::Correction);
    let is_same_kind = one.kind == other.kind || (is_wish(one.kind) && is_wish(other.kind));
    if !is_same_kind || one.subject != other.subject {
        return Err(ProposalDropReason::OtherKind);
    }
    // The line would be trusted as the more trusted of them.
    if one.origin.trust() != other.origin.trust() {
        return Err(ProposalDropReason::Untrusted);
    }
    match say_different_things(&one.text, &other.text) {
        true => Err(ProposalDropReason::Different),
        false => Ok(()),
    }
}

fn say_different_things(one: &str, other: &str) -> bool {
    let (ours, theirs) = (Content::of(one), Content::of(other));
    if ours.words.len().min(theirs.words.len()) < LEAST_WORDS || ours.denies != theirs.denies {
        return true;
    }
    has_one_frame(&ours.words, &theirs.words)
        || is_fuller(&ours.words, &theirs.words)
        || conditions(one) != conditions(other)
        || !names_all(one, other)
        || !names_all(other, one)
        || ends(one, other).is_some()
        || ends(other, one).is_some()
}

/// Whether two statements are one sentence with a word in place of another: most words are the same, and each has one of
/// its own.
fn has_one_frame(ours: &ContentWords, theirs: &ContentWords) -> bool {
    let shared = ours.common(theirs);
    let (our_own, their_own) = (ours.len() - shared, theirs.len() - shared);
    our_own > 0 && their_own > 0 && shared >= 2 * our_own.max(their_own)
}

/// Whether one of two statements says so much more than the other that the other cannot stand for it.
fn is_fuller(ours: &ContentWords, theirs: &ContentWords) -> bool {
    let longer = ours.len().max(theirs.len());
    ours.len().abs_diff(theirs.len()) > FURTHER_WORDS.max(longer / 3)
}

/// Whether `later` may end the validity of `earlier` for this reason.
pub(super) fn may_supersede(
    earlier: &MergedObservation,
    later: &MergedObservation,
    reason: SupersessionReason,
) -> Result<(), ProposalDropReason> {
    let is_closed = reason == SupersessionReason::Closed;
    if later.kind == Kind::OpenEnd || (earlier.kind == Kind::OpenEnd) != is_closed {
        return Err(ProposalDropReason::OtherKind);
    }
    if !may_end(later, earlier) {
        return Err(ProposalDropReason::Untrusted);
    }
    let mut texts = ParsedTexts::default();
    if !is_before(&stated(earlier, &mut texts), &stated(later, &mut texts)) {
        return Err(ProposalDropReason::OutOfOrder);
    }
    let words = Content::of(&earlier.text).words;
    match words.is_disjoint(&Content::of(&later.text).words) {
        true => Err(ProposalDropReason::Unrelated),
        false => Ok(()),
    }
}
