//! Gives answers the words that a person put in place of an observation's own.
//!
//! The store finds an observation by its own words, and the message behind it by the message's words, also where the
//! memory files show a person's words instead. Recall answers with what the person corrected it to.
//!
//! Not here: which observations these are (`files::reworded`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use daybook_domain::index::MemoryLayer;
use daybook_domain::seams::SupersessionStore;
use daybook_domain::{Observation, ObservationId, Reach, Scope, StoreError};

use super::search::{RankedAnswer, RecallQuestion, RecallResult, rests_on};
use crate::files::layout::folder;
use crate::files::reworded::load_reworded;

/// An observation that a person gave other words.
struct Reworded {
    observation: Observation,
    words: String,
}

/// Replaces the texts of observations by a person's words, also where an answer is the message that an observation repeats,
/// and drops answers that then repeat an earlier one. Looked for are the observations of `person` and of all scopes that the
/// question names, or that have an answer.
///
/// # Errors
/// When the store fails.
pub(super) async fn use_persons_words(
    store: &(impl SupersessionStore + ?Sized),
    root: &Path,
    person: &Scope,
    question: &RecallQuestion<'_>,
    recalled: &mut RecallResult,
) -> Result<(), StoreError> {
    let answers = &mut recalled.answers;
    let mut scopes: BTreeSet<Scope> = answers.iter().filter_map(|one| one.scope.clone()).collect();
    match &question.reach {
        Reach::Scopes(named) => scopes.extend(named.iter().cloned()),
        reach if reach.admits(Some(person)) => drop(scopes.insert(person.clone())),
        _ => {}
    }
    let mut reworded: BTreeMap<(Scope, ObservationId), Reworded> = BTreeMap::new();
    for scope in scopes {
        for (id, words) in load_reworded(&folder(root, &scope)) {
            if let Some(known) = store.known_observation(&scope, id).await? {
                let observation = known.0.clone();
                reworded.insert((scope.clone(), id), Reworded { observation, words });
            }
        }
    }
    if reworded.is_empty() {
        return Ok(());
    }
    // A question for messages alone, or for what held once, is answered with the words of then.
    let asks_for_memory = question.until.is_none() && question.layers != [MemoryLayer::Event];
    for answer in &mut *answers {
        let place = answer.scope.clone().zip(answer.observation);
        let known = place.and_then(|place| reworded.get(&place));
        let repeated = || {
            let mut all = reworded.values().filter(|_| asks_for_memory);
            all.find(|one| one.is_repeated_by(answer))
        };
        if let Some(reworded) = known.or_else(repeated) {
            reworded.take_place_of(answer);
        }
    }
    let mut seen = BTreeSet::new();
    answers.retain(|answer| seen.insert(answer.text.to_lowercase()));
    Ok(())
}

impl Reworded {
    /// Whether an answer is the message that the observation repeats word for word.
    fn is_repeated_by(&self, answer: &RankedAnswer) -> bool {
        let said = |text: &str| text.trim().trim_matches('"').to_lowercase();
        answer.layer == MemoryLayer::Event
            && rests_on(answer, &self.observation)
            && said(&answer.text) == said(&self.observation.text)
    }

    fn take_place_of(&self, answer: &mut RankedAnswer) {
        answer.text.clone_from(&self.words);
        answer.context = None;
        if answer.layer == MemoryLayer::Event {
            answer.layer = MemoryLayer::Observation;
            answer.origin = None;
            answer.kind = Some(self.observation.kind);
            answer.learned_from = Some(self.observation.origin);
            answer.observation = Some(self.observation.id);
            answer.scope = Some(self.observation.scope.clone());
        }
    }
}
