//! Applies what a model proposed to merged observations: an input of the build like any other.
//!
//! A stored proposal is checked again each time, with the rules that it was accepted by. It is left out as soon as an
//! observation that it rests on is gone or has other content, or a person changed or pinned its entry. The model's
//! words come after what the rules decided, and before a person's, which replace them.
//!
//! Not here: asking the model (`jobs`).

mod answer;
mod checks;
mod drop_reason;
mod question;
mod rewording;
mod window;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use daybook_domain::{
    AgentLine, Observation, ObservationId, Proposal, StatementRef, SupersessionReason, Use,
};
use daybook_text::fence::without_citations;

use super::MemoryInput;
use super::merge::MergedObservation;
use super::persons_words::PersonsWords;
use super::supersede::{Change, StatementChanges};
use super::usage::UsesByEvent;
use checks::{may_merge, may_supersede};
use rewording::may_reword;

pub use answer::ValidatedProposals;
pub use drop_reason::ProposalDropReason;
pub use question::AnswerBounds;
pub use window::{ProposalWindow, WindowLimits};

/// The proposals of a memory that rest on what its observations say now.
pub(super) struct CurrentProposals<'a> {
    proposals: Vec<&'a Proposal>,
    observations: HashMap<ObservationId, &'a Observation>,
    persons: &'a PersonsWords,
    uses: &'a [Use],
}

impl<'a> CurrentProposals<'a> {
    pub(super) fn of(input: &'a MemoryInput) -> Self {
        let mut observations = HashMap::new();
        if !input.proposals.is_empty() {
            observations.extend(input.observations.iter().map(|one| (one.id, one)));
        }
        let is_current = |statement: &StatementRef| {
            let observation = observations.get(&statement.id);
            observation.is_some_and(|one| StatementRef::of(one) == *statement)
        };
        let proposals = input.proposals.iter();
        let proposals = proposals.filter(|one| one.statements().iter().all(is_current));
        Self {
            proposals: proposals.collect(),
            persons: &input.persons,
            uses: &input.uses,
            observations,
        }
    }

    /// The consolidation agent's lines.
    pub(super) fn agent_lines(&self) -> impl Iterator<Item = &AgentLine> {
        self.proposals.iter().filter_map(|proposal| match proposal {
            Proposal::Line(line) => Some(line),
            Proposal::Merge(_) | Proposal::Reword { .. } | Proposal::Supersede { .. } => None,
        })
    }

    /// Unites observations that say the same.
    pub(super) fn merge(&self, merged: &mut Vec<MergedObservation>) {
        if self.proposals.is_empty() {
            return;
        }
        let merges = self.proposals.iter().filter_map(|proposal| match proposal {
            Proposal::Merge(statements) => Some(statements),
            Proposal::Reword { .. } | Proposal::Supersede { .. } | Proposal::Line(_) => None,
        });
        let (mut places, mut absorbed) = (places(merged), BTreeSet::new());
        for statements in merges {
            let members = statements.iter().map(|one| places.get(&one.id).copied());
            let Some(members) = members.collect::<Option<Vec<usize>>>() else {
                continue;
            };
            let distinct: BTreeSet<usize> = members.iter().copied().collect();
            let are_persons = distinct
                .iter()
                .any(|at| is_persons(self.persons, &merged[*at]));
            if distinct.len() < 2 || are_persons || !are_mergeable(merged, &distinct) {
                continue;
            }
            absorbed.extend(distinct.iter().skip(1).copied());
            self.unite(merged, &distinct, members[0]);
            // Observations are in the order of first evidence, so the first of them stays the first.
            if let Some(first) = distinct.first() {
                places.extend(merged[*first].observations.iter().map(|id| (*id, *first)));
            }
        }
        let mut at = 0..;
        merged.retain(|_| at.next().is_none_or(|at: usize| !absorbed.contains(&at)));
    }

    /// Adds all `members` to the first of them, which gets the words of `shown`.
    fn unite(&self, merged: &mut [MergedObservation], members: &BTreeSet<usize>, shown: usize) {
        let words = merged[shown].clone();
        let others: Vec<MergedObservation> = members
            .iter()
            .skip(1)
            .map(|at| merged[*at].clone())
            .collect();
        let Some(first) = members.first().map(|at| &mut merged[*at]) else {
            return;
        };
        (first.kind, first.text, first.quoted) = (words.kind, words.text, words.quoted);
        first.context = words.context;
        for other in others {
            first.origin = first.origin.max(other.origin);
            first.observations.extend(other.observations);
            Arc::make_mut(&mut first.evidence).extend(Arc::unwrap_or_clone(other.evidence));
        }
        let key = |one: &daybook_domain::Evidence| (one.at, one.label.clone(), one.events.clone());
        let evidence = Arc::make_mut(&mut first.evidence);
        evidence.sort_by_cached_key(key);
        evidence.dedup();
        first.usage = UsesByEvent::new(self.uses).of(&first.evidence);
    }

    /// Adds what a later statement ended to what the rules found.
    pub(super) fn supersede(&self, merged: &[MergedObservation], found: &mut StatementChanges) {
        if self.proposals.is_empty() {
            return;
        }
        let places = places(merged);
        let mut ended: BTreeSet<usize> = found.changes.iter().map(|it| it.earlier).collect();
        for (earlier, later, reason) in self.supersessions() {
            let (Some(&at), Some(&by)) = (places.get(&earlier), places.get(&later)) else {
                continue;
            };
            let (one, other) = (&merged[at], &merged[by]);
            let are_persons = is_persons(self.persons, one) || is_persons(self.persons, other);
            let may = at != by && !are_persons && may_supersede(one, other, reason).is_ok();
            if may && ended.insert(at) {
                found.changes.push(Change {
                    earlier: at,
                    later: by,
                    reason,
                    until: other.last_at(),
                });
            }
        }
        found
            .changes
            .sort_by_key(|change| (change.until, change.earlier));
    }

    fn supersessions(
        &self,
    ) -> impl Iterator<Item = (ObservationId, ObservationId, SupersessionReason)> {
        self.proposals.iter().filter_map(|proposal| match proposal {
            Proposal::Supersede {
                earlier,
                later,
                reason,
            } => Some((earlier.id, later.id, *reason)),
            Proposal::Merge(_) | Proposal::Reword { .. } | Proposal::Line(_) => None,
        })
    }

    /// Gives observations clearer words, where theirs are still those that were replaced.
    pub(super) fn reword(&self, merged: &mut [MergedObservation]) {
        if self.proposals.is_empty() {
            return;
        }
        let places = places(merged);
        for proposal in &self.proposals {
            let Proposal::Reword { statement, text } = proposal else {
                continue;
            };
            let observation = self.observations.get(&statement.id);
            let place = places.get(&statement.id);
            let (Some(observation), Some(one)) = (observation, place.map(|at| &mut merged[*at]))
            else {
                continue;
            };
            let is_shown = has_words_of(one, observation) && !is_persons(self.persons, one);
            if is_shown && may_reword(&one.text, text).is_ok() {
                one.text.clone_from(text);
                one.quoted = false;
            }
        }
    }
}

/// The place of each observation among merged ones.
fn places(merged: &[MergedObservation]) -> HashMap<ObservationId, usize> {
    let observations = merged.iter().enumerate();
    let places =
        observations.flat_map(|(at, one)| one.observations.iter().map(move |id| (*id, at)));
    places.collect()
}

fn are_mergeable(merged: &[MergedObservation], members: &BTreeSet<usize>) -> bool {
    let pairs = members.iter().flat_map(|one| {
        let others = members.range(one + 1..);
        others.map(move |other| (&merged[*one], &merged[*other]))
    });
    let mut pairs = pairs.map(|(one, other)| may_merge(one, other));
    pairs.all(|checked| checked.is_ok())
}

/// Whether a person changed the words of its entry, or pinned it.
fn is_persons(persons: &PersonsWords, one: &MergedObservation) -> bool {
    let mut ids = one.observations.iter();
    ids.any(|id| persons.reworded.contains_key(id) || persons.pinned.contains(id))
}

/// Whether a merged observation is shown in the words of this one.
fn has_words_of(merged: &MergedObservation, observation: &Observation) -> bool {
    merged.text == without_citations(&observation.text)
}

#[cfg(test)]
mod tests;
