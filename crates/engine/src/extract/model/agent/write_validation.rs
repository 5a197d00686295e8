//! Validates an agent's write to an entity against the same evidence as drafts.
//!
//! Lines that the entity already holds were validated when they were written, or are a person's. Every other
//! line names only what the transcript or the entity names, shares some of their words, and gives no
//! instruction unless a person gave it. One rejected line drops the whole write: half a record may say
//! the opposite of the whole.

use std::collections::{BTreeSet, HashSet};

use daybook_domain::EntityChange;

use crate::extract::entity_tools::ProposedWrite;
use crate::extract::extractive::text_analysis::significant_words;
use crate::extract::model::answer::Suggestion;
use crate::extract::model::evidence::{EvidenceIndex, EvidenceText};
use crate::extract::model::extraction_output::ProseChecker;
use crate::extract::model::guidance::Guidance;
use crate::extract::{DropReason, Window};

/// Why a write must not be staged; `None` if it may be. `shown` are the places of the events that the agent
/// was shown.
pub(super) fn rejection_reason(
    proposed: &ProposedWrite,
    window: Window<'_>,
    shown: &[usize],
    guidance: &Guidance,
) -> Option<DropReason> {
    let (title, text) = match &proposed.write.change {
        EntityChange::Card { name, description } => (name, description),
        EntityChange::Record { record, content } => (record, content),
    };
    let suggestion = Suggestion {
        context: Some(title.clone()),
        subject: Some(proposed.write.entity.clone()),
        ..Suggestion::fact(text)
    };
    if guidance.forbids(&suggestion) {
        return Some(DropReason::Unwanted);
    }
    let known: BTreeSet<&str> = proposed.before.lines().map(without_markup).collect();
    let index = EvidenceIndex::of(window);
    let entity = EvidenceText::of_text(&proposed.before);
    let checker = ProseChecker::of(window, &index, shown).with_text(&entity);
    let new =
        |line: &&str| !without_markup(line).is_empty() && !known.contains(without_markup(line));
    // A title may be the agent's own words for its content, but it must invent nothing either.
    let titles = [title.as_str()].into_iter().filter(new);
    let mut in_titles = titles.filter_map(|line| checker.rejection_reason(line));
    let mut in_lines = text.lines().filter(new).filter_map(|line| {
        let significant_words: HashSet<String> = significant_words(line);
        let is_unsupported = !checker.overlaps(&significant_words);
        checker
            .rejection_reason(line)
            .or_else(|| is_unsupported.then_some(DropReason::NoEvidence))
    });
    in_titles.next().or_else(|| in_lines.next())
}

/// A line without the marks of list items, headings and escapes.
fn without_markup(line: &str) -> &str {
    line.trim()
        .trim_start_matches(['-', '*', '#', '\\', ' '])
        .trim_end()
}
