//! What of an agent's write is believed: the grounds are those of drafts.
//!
//! Lines that the entity holds already were judged when they were written, or are a person's. Every other
//! line names only what the transcript or the entity names and says some of their words, and it tells
//! nobody what to do unless a person did. One line in doubt drops the write: half a record may say
//! the opposite of the whole.

use std::collections::{BTreeSet, HashSet};

use daybook_domain::EntityChange;

use crate::extract::entity_tools::Proposed;
use crate::extract::extractive::bearing::telling_words;
use crate::extract::model::answer::Suggestion;
use crate::extract::model::grounds::{Saying, Sayings};
use crate::extract::model::guidance::Guidance;
use crate::extract::model::outcome::Story;
use crate::extract::{DropReason, Window};

/// Why a write is not staged; nothing if it may be. `shown` are the places of the events that the agent
/// was shown.
pub(super) fn doubt(
    proposed: &Proposed,
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
    let known: BTreeSet<&str> = proposed.before.lines().map(bare).collect();
    let sayings = Sayings::of(window);
    let entity = Saying::besides(&proposed.before);
    let story = Story::of(window, &sayings, shown).knowing(&entity);
    let new = |line: &&str| !bare(line).is_empty() && !known.contains(bare(line));
    // A title is the agent's own word for what stands below it; but it invents nothing either.
    let titles = [title.as_str()].into_iter().filter(new);
    let mut in_titles = titles.filter_map(|line| story.doubt(line));
    let mut in_lines = text.lines().filter(new).filter_map(|line| {
        let telling: HashSet<String> = telling_words(line);
        let unsaid = !story.says(&telling);
        story
            .doubt(line)
            .or_else(|| unsaid.then_some(DropReason::NoEvidence))
    });
    in_titles.next().or_else(|| in_lines.next())
}

/// A line without what marks it as an item, a heading, or escaped.
fn bare(line: &str) -> &str {
    line.trim()
        .trim_start_matches(['-', '*', '#', '\\', ' '])
        .trim_end()
}
