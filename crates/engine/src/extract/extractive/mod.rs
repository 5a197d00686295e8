//! Extraction without a model: what a person plainly said, and what plainly happened.
//!
//! It cannot paraphrase and does not pretend to. Every line that it yields is the person's own
//! words, shortened at clause borders, or a dry account of events; and it leaves out whatever is
//! not sure. Only people's words and the course of events count: what the agent claims, what
//! tools print, what was pasted, injected or recalled never becomes a memory.
//!
//! The same events always yield the same, however they are cut into windows of whole turns: each find
//! belongs to one turn, and rests on nothing farther back than `LOOK_BACK`. There is no clock and no
//! model here.
//!
//! Not here: whose memory a draft belongs to, merging with what is known already.

mod acts;
pub(super) mod bearing;
mod choices;
mod clauses;
mod context;
mod deeds;
mod digest;
mod finds;
mod fixes;
mod insistence;
mod lexicon;
mod open_ends;
mod outcome;
#[cfg(test)]
pub(crate) mod properties;
mod prose;
mod sentences;
mod shell;
#[cfg(test)]
mod tests;
mod turns;
mod values;
mod verdict;
mod words;

use std::collections::HashSet;

use async_trait::async_trait;
use daybook_domain::{Digest, EventSeq, ObservationKind};

pub use lexicon::LANGUAGES;

use super::{Draft, ExtractError, Extracted, Extractor, LookBack, Window};
use finds::{Find, best};
use turns::{LOOK_BACK, Talk};

/// The extractor that asks no model. See the module's documentation for what it keeps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

impl Extractive {
    /// What the window yields.
    #[must_use]
    pub fn read(&self, window: Window<'_>) -> Extracted {
        let talk = Talk::of(window);
        let work = digest::work_from(&talk).unwrap_or(talk.events.len());
        let begins = talk.events.get(work).map(|event| event.seq);
        let mut found = found(&talk);
        found.retain(|find| find.draft.events.last().copied() >= begins && begins.is_some());
        let finds = best(found, |seq| talk.turn_at(seq));
        match digest::digest(&talk, &finds) {
            None => Extracted::default(),
            Some(digest) => Extracted {
                drafts: finds
                    .into_iter()
                    .map(|find| find.draft)
                    .collect::<Vec<Draft>>(),
                digest: Some(digest),
                ..Extracted::default()
            },
        }
    }
}

/// The window's own account, without anything learned: what a digest says of events alone.
pub(super) fn account(window: Window<'_>) -> Option<Digest> {
    digest::digest(&Talk::of(window), &[])
}

/// Everything that any rule finds. A message that insists or picks is not told a second time, and
/// one that sets a value is no other decision.
fn found(talk: &Talk<'_>) -> Vec<Find> {
    let mut finds = insistence::insistence(talk);
    finds.extend(choices::choices(talk));
    let told = last_events(&finds);
    let values = values::values(talk);
    let set = last_events(&values);
    // What a later turn makes of a message is not known yet when its own turn is read.
    let ends_in = |find: &Find, events: &HashSet<EventSeq>| {
        let last = find.draft.events.last();
        last.is_some_and(|last| events.contains(last))
    };
    finds.extend(acts::acts(talk).into_iter().filter(|find| {
        let only_sets = find.draft.kind == ObservationKind::Decision && ends_in(find, &set);
        !ends_in(find, &told) && !only_sets
    }));
    finds.extend(values);
    finds.extend(fixes::fixes(talk));
    finds.extend(open_ends::open_ends(talk));
    finds
}

fn last_events(finds: &[Find]) -> HashSet<EventSeq> {
    let last = |find: &Find| find.draft.events.last().copied();
    finds.iter().filter_map(last).collect()
}

#[async_trait]
impl Extractor for Extractive {
    fn name(&self) -> &str {
        "extractive/1"
    }

    fn look_back(&self) -> LookBack {
        LookBack {
            events: LOOK_BACK,
            bytes: usize::MAX,
        }
    }

    async fn extract(&self, window: Window<'_>) -> Result<Extracted, ExtractError> {
        Ok(self.read(window))
    }
}
