//! Gives answers the words that a person put in place of an observation's own.
//!
//! The store finds an observation by its own words, also where the memory files show a person's instead.
//!
//! Not here: which observations these are (`files::reworded`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use daybook_domain::{ObservationId, Scope};

use super::search::RecallResult;
use crate::files::layout::folder;
use crate::files::reworded::load_reworded;

/// Replaces the texts of observations by a person's words, and drops answers that then repeat an earlier one.
pub fn use_persons_words(root: &Path, recalled: &mut RecallResult) {
    let mut by_scope: BTreeMap<Scope, BTreeMap<ObservationId, String>> = BTreeMap::new();
    let mut is_changed = false;
    for answer in &mut recalled.answers {
        let (Some(scope), Some(id)) = (&answer.scope, answer.observation) else {
            continue;
        };
        let reworded = by_scope
            .entry(scope.clone())
            .or_insert_with(|| load_reworded(&folder(root, scope)));
        if let Some(words) = reworded.get(&id) {
            answer.text.clone_from(words);
            answer.context = None;
            is_changed = true;
        }
    }
    if is_changed {
        let mut seen = BTreeSet::new();
        recalled
            .answers
            .retain(|answer| seen.insert(answer.text.to_lowercase()));
    }
}
