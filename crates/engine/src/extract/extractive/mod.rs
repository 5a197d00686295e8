//! Extraction without a model: from people's plain statements and plain events.
//!
//! It does not paraphrase. Each text is either a person's own
//! words, shortened at clause borders, or a dry account of events; doubtful ones are left out.
//! Only people's messages and the course of events count: the agent's claims, tools'
//! output, pasted, injected and recalled text never become a memory. What the agent proposed does, in its words, once
//! a person accepted it.
//!
//! The same events always yield the same result, however they are cut into windows of whole turns: each draft
//! belongs to one turn, and rests on nothing farther back than `LOOK_BACK`. No clock and no
//! model is involved.
//!
//! Not here: the scope of a draft, merging with known observations.

mod actions;
mod answers;
#[cfg(test)]
mod chat_tests;
#[cfg(test)]
mod choice_tests;
mod choices;
mod classify;
mod clauses;
mod context;
mod digest;
#[cfg(test)]
mod digest_tests;
mod done;
mod fiction;
#[cfg(test)]
mod fix_tests;
mod fixes;
mod habits;
mod host_question;
mod insistence;
mod open_ends;
mod outcome;
mod outside;
#[cfg(test)]
pub(crate) mod properties;
mod scored_draft;
mod shell;
mod speech_acts;
mod standing;
#[cfg(test)]
mod tests;
pub(super) mod text_analysis;
mod turns;
mod values;
mod words;
pub mod worth;

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::thread::available_parallelism;

use async_trait::async_trait;
use daybook_domain::quarantine::QuarantineReason;
use daybook_domain::{Digest, EventSeq, ObservationKind};

pub(crate) use context::REFUSED_PLAN;
pub use daybook_text::lexicon::LANGUAGES;
use daybook_text::{han, lexicon, prose, sentences};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

#[cfg(test)]
use super::ObservationDraft;
use super::{ExtractError, Extractor, ExtractorOutput, KnownMemory, LookBack, Window};
use scored_draft::{ScoredDraft, best_of_each_turn};
use turns::{LOOK_BACK, WindowConversation};

/// Turns of threads that extract: more than there are cores would take turns of those who wait for an answer.
static TURNS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, usize::from)));

/// The extractor that asks no model. See the module's documentation for what it keeps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

impl Extractive {
    /// Extracts a window.
    #[must_use]
    pub fn extract_window(&self, window: Window<'_>) -> ExtractorOutput {
        let talk = WindowConversation::of(window);
        let work = digest::work_from(&talk).unwrap_or(talk.events.len());
        let begins = talk.events.get(work).map(|event| event.seq);
        let mut found = find_all(&talk);
        found.retain(|find| find.draft.events.last().copied() >= begins && begins.is_some());
        let finds = best_of_each_turn(found, |seq| talk.turn_at(seq));
        // What waits in quarantine is in no account of the session either.
        let shown: Vec<ScoredDraft> = finds.iter().filter(|f| !f.from_outside).cloned().collect();
        match digest::window_digest(&talk, &shown) {
            None => ExtractorOutput::default(),
            Some(digest) => {
                let (outside, own): (Vec<ScoredDraft>, Vec<ScoredDraft>) =
                    finds.into_iter().partition(|find| find.from_outside);
                let quarantined = outside.into_iter();
                ExtractorOutput {
                    drafts: own.into_iter().map(|find| find.draft).collect(),
                    quarantined: quarantined
                        .map(|find| (find.draft, QuarantineReason::FromOutside))
                        .collect(),
                    digest: Some(digest),
                    ..ExtractorOutput::default()
                }
            }
        }
    }
}

/// The digest of a window's events, without highlights of learned observations.
pub(super) fn digest_of_events(window: Window<'_>) -> Option<Digest> {
    digest::window_digest(&WindowConversation::of(window), &[])
}

/// The drafts of all rules. A message that insists yields no further speech act, one that picks an option none but wishes,
/// and one that sets a value no decision besides.
fn find_all(talk: &WindowConversation<'_>) -> Vec<ScoredDraft> {
    let mut finds = insistence::find_insistence(talk);
    let insisting = last_events(&finds);
    let choices = choices::find_choices(talk);
    let choosing = last_events(&choices);
    finds.extend(choices);
    let values = values::find_values(talk);
    let value_messages = last_events(&values);
    // Compared by last event: a later turn's use of a message is unknown while its own turn is read.
    let ends_in = |find: &ScoredDraft, events: &HashSet<EventSeq>| {
        let last = find.draft.events.last();
        last.is_some_and(|last| events.contains(last))
    };
    finds.extend(
        speech_acts::find_speech_acts(talk)
            .into_iter()
            .filter(|find| {
                let kind = find.draft.kind;
                let only_sets = kind == ObservationKind::Decision && ends_in(find, &value_messages);
                let only_picks = kind != ObservationKind::Preference && ends_in(find, &choosing);
                !ends_in(find, &insisting) && !only_sets && !only_picks
            }),
    );
    let spoken = last_events(&finds);
    let answers = answers::find_answers(talk).into_iter();
    finds.extend(answers.filter(|find| !ends_in(find, &spoken)));
    finds.extend(values);
    finds.extend(fixes::find_fixes(talk));
    finds.extend(open_ends::find_open_ends(talk));
    finds
}

fn last_events(finds: &[ScoredDraft]) -> HashSet<EventSeq> {
    let last = |find: &ScoredDraft| find.draft.events.last().copied();
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

    /// Runs on a thread of its own: a worker's sessions share one, which meanwhile reads and stores others.
    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let _turn = TURNS.acquire().await;
        let (session, is_redone) = (window.session.clone(), window.is_redone);
        let (before, events) = (window.before.to_vec(), window.events.to_vec());
        let extracting = spawn_blocking(move || {
            Extractive.extract_window(Window {
                session: &session,
                before: &before,
                events: &events,
                known: KnownMemory::default(),
                is_redone,
            })
        });
        match extracting.await {
            Ok(extracted) => Ok(extracted),
            // A defect is this session's, and reported by who isolates it.
            Err(ended) => resume_unwind(ended.into_panic()),
        }
    }
}
