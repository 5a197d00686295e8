//! Runs of characters without spaces between words.
//!
//! A run is indexed as pairs of neighbouring characters: any word of two or more is then found, at
//! the price of pairs that straddle two words. A character keeps its combining marks.
//!
//! Not here: which characters form a run; `chars` decides that.

use super::chars::{Class, UnspacedScript, fold};

/// A run under construction, character by character.
#[derive(Default)]
pub(super) struct Run {
    folded: String,
    /// Where each character begins.
    starts: Vec<usize>,
    class: Option<Class>,
}

impl Run {
    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Whether a character of this class continues the run.
    pub(super) fn takes(&self, class: Class) -> bool {
        self.class == Some(class)
    }

    /// The number of characters.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn is_hangul(&self) -> bool {
        self.class == Some(Class::Hangul)
    }

    pub(super) fn is_han(&self) -> bool {
        self.class == Some(Class::Unspaced(UnspacedScript::Han))
    }

    pub(super) fn clear(&mut self) {
        self.folded.clear();
        self.starts.clear();
        self.class = None;
    }

    pub(super) fn push(&mut self, c: char, class: Class) {
        self.class = Some(class);
        self.starts.push(self.folded.len());
        fold(c, &mut self.folded);
    }

    /// Adds a combining mark to the last character.
    pub(super) fn mark(&mut self, c: char) {
        if !self.is_empty() {
            self.folded.push(c);
        }
    }

    pub(super) fn whole(&self) -> &str {
        &self.folded
    }

    /// The `count` characters from the one at place `at` on.
    pub(super) fn slice(&self, at: usize, count: usize) -> &str {
        let to = self
            .starts
            .get(at + count)
            .copied()
            .unwrap_or(self.folded.len());
        &self.folded[self.starts[at]..to]
    }
}
