//! Guidance: what operators and users want kept, and never kept.
//!
//! The model reads it as part of its material. What can be enforced without the model is also enforced here:
//! excluded kinds, and short phrases that occur in a suggestion.

use daybook_domain::ObservationKind;

use super::answer::Suggestion;
use crate::extract::extractive::text_analysis::significant_words;

/// Most wishes of either sort that count.
const WISHES: usize = 20;
/// Most characters of one wish that count.
const WISH: usize = 200;
/// Phrases of at most this many significant words are enforced here.
const PHRASE_WORDS: usize = 3;

/// What to keep, and what never to keep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guidance {
    /// Wishes to keep, in plain words. The first 20 count, 200 characters each.
    pub keep: Vec<String>,
    /// Things never to keep, in plain words, bounded likewise. A phrase of up to three
    /// significant words drops every suggestion that contains them all.
    pub never: Vec<String>,
    /// Kinds that are never kept.
    pub never_kinds: Vec<ObservationKind>,
}

impl Guidance {
    /// Whether the guidance excludes this suggestion.
    pub(super) fn forbids(&self, suggestion: &Suggestion) -> bool {
        if self.never_kinds.contains(&suggestion.kind) {
            return true;
        }
        let context = suggestion.context.as_deref().unwrap_or("");
        let subject = suggestion.subject.as_deref().unwrap_or("");
        let words = significant_words(&format!("{} {context} {subject}", suggestion.text));
        self.never.iter().take(WISHES).any(|never| {
            let phrase = significant_words(never);
            (1..=PHRASE_WORDS).contains(&phrase.len()) && phrase.is_subset(&words)
        })
    }

    /// The guidance for the model, one wish per line.
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
        let kinds = kinds.map(|kind| format!("never: anything of kind {}", kind.as_str()));
        keep.chain(never).chain(kinds).collect()
    }
}
