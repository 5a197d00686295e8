//! What operators and users want kept, and never kept.
//!
//! Plain words go to the model, as material. What can be held without it is held here too: kinds, and
//! short phrases that stand in what would be kept.

use daybook_domain::ObservationKind;

use super::answer::Suggestion;
use crate::extract::extractive::bearing::telling_words;

/// Most wishes of either sort that count.
const WISHES: usize = 20;
/// Most characters of one wish that count.
const WISH: usize = 200;
/// A phrase of at most this many telling words is looked for in what would be kept.
const PHRASE_WORDS: usize = 3;

/// What to keep, and what never to keep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guidance {
    /// What is worth keeping, in plain words. The first 20 count, 200 characters each.
    pub keep: Vec<String>,
    /// What is never to be kept, in plain words, bounded likewise. A phrase of up to three telling words
    /// drops everything that holds them all, whatever the model thinks.
    pub never: Vec<String>,
    /// Kinds that are never kept.
    pub never_kinds: Vec<ObservationKind>,
}

impl Guidance {
    /// Whether something is not to be kept.
    pub(super) fn forbids(&self, suggestion: &Suggestion) -> bool {
        if self.never_kinds.contains(&suggestion.kind) {
            return true;
        }
        let context = suggestion.context.as_deref().unwrap_or("");
        let subject = suggestion.subject.as_deref().unwrap_or("");
        let said = telling_words(&format!("{} {context} {subject}", suggestion.text));
        self.never.iter().take(WISHES).any(|never| {
            let phrase = telling_words(never);
            (1..=PHRASE_WORDS).contains(&phrase.len()) && phrase.is_subset(&said)
        })
    }

    /// One wish per line, for the model.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |word: &str, wish: &String| {
            let wish: String = wish.chars().take(WISH).collect();
            format!("{word}: {wish}")
        };
        let keep = self.keep.iter().take(WISHES).map(|wish| line("keep", wish));
        let never = self
            .never
            .iter()
            .take(WISHES)
            .map(|wish| line("never", wish));
        let kinds = self.never_kinds.iter();
        let kinds = kinds.map(|kind| format!("never: anything of kind {}", kind.word()));
        keep.chain(never).chain(kinds).collect()
    }
}
