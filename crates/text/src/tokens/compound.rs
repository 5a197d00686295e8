//! Splits names into their parts: `cmd/entire/explain.go`, `getRewindPoints`, `ENT-129`, `v1.2.3`.
//!
//! A name has four levels: the whole, the steps of a path, the words between joints, and the humps
//! of a word. All letters are folded into one buffer without the joints, so every piece of every
//! level is a slice of it, and `get_agent`, `getAgent` and `GetAgent` have the same whole.
//!
//! Not here: scripts without spaces (`grams`), stems (`stems`).

use super::chars::{Class, class_of, fold};

/// Words in one name; the next word opens another. Bounds what a long path may add to an index.
const WORDS_IN_A_NAME: usize = 16;
/// Pieces in one name; from here on humps stay together.
const PIECES_IN_A_NAME: usize = 32;
/// Changes between letters and digits in one word. A word with more of them is a fingerprint
/// (`3f2a9c1b`), whose pieces occur everywhere and mean nothing.
const DIGIT_CHANGES_IN_A_WORD: usize = 2;
/// Marks where two numbers were joined, so that `1.5` is not `15`.
const BETWEEN_NUMBERS: char = 'p';

/// A name under construction, letter by letter.
#[derive(Default)]
pub(super) struct Compound {
    folded: String,
    pieces: Vec<PieceStart>,
    /// First piece of the open word.
    word_from: usize,
    words: usize,
    digit_changes: usize,
    /// Class of the last letter; `None` between words.
    last: Option<Class>,
    last_from: usize,
    /// Upper-case letters in a row, the last letter included.
    uppers: usize,
    /// Whether the next word follows a path's step.
    after_step: bool,
}

#[derive(Clone, Copy)]
struct PieceStart {
    from: usize,
    to: usize,
    opens_word: bool,
    opens_step: bool,
}

/// One piece of a name, as [`Compound::for_each_piece`] passes it to its visitor.
pub(super) struct NamePiece<'a> {
    pub(super) text: &'a str,
    /// Place of its first smallest piece.
    pub(super) at: usize,
    pub(super) is_whole: bool,
    /// Whether no other piece lies within it.
    pub(super) is_smallest: bool,
}

impl Compound {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether a joint or an apostrophe would stand directly behind a letter.
    pub(super) fn in_word(&self) -> bool {
        self.last.is_some()
    }

    pub(super) fn is_full(&self) -> bool {
        self.words >= WORDS_IN_A_NAME
    }

    /// The number of smallest pieces.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    pub(super) fn clear(&mut self) {
        self.folded.clear();
        self.pieces.clear();
        self.words = 0;
        self.last = None;
        self.after_step = false;
    }

    /// Adds a letter or digit; `rest` is the text behind it.
    pub(super) fn letter(&mut self, c: char, class: Class, rest: &str) {
        match self.last {
            None => self.open_word(class),
            Some(last) => self.continue_word(last, c, class, rest),
        }
        self.uppers = if class == Class::Upper {
            self.uppers + 1
        } else {
            0
        };
        self.last = Some(class);
        self.last_from = self.folded.len();
        fold(c, &mut self.folded);
        self.stretch();
    }

    /// Adds more ASCII letters or digits of the last one's class.
    pub(super) fn more_letters(&mut self, letters: &str) {
        if letters.is_empty() {
            return;
        }
        let from = self.folded.len();
        self.folded.push_str(letters);
        if self.last == Some(Class::Upper) {
            self.folded[from..].make_ascii_lowercase();
            self.uppers += letters.len();
        }
        self.last_from = self.folded.len() - 1;
        self.stretch();
    }

    /// Adds a combining mark to the last letter.
    pub(super) fn mark(&mut self, c: char) {
        if self.in_word() {
            self.folded.push(c);
            self.stretch();
        }
    }

    /// Ends the open word; the next letter opens another one of the same name.
    pub(super) fn joint(&mut self, is_step: bool) {
        self.close_word();
        self.after_step = is_step;
    }

    /// Ends the open word, and joins its pieces again if it is a fingerprint.
    pub(super) fn close_word(&mut self) {
        if self.last.take().is_some() && self.digit_changes > DIGIT_CHANGES_IN_A_WORD {
            self.pieces.truncate(self.word_from + 1);
            self.stretch();
        }
    }

    /// Calls `see` with every piece, the larger before the smaller ones in it. A piece that is the same as a
    /// larger one is passed once.
    pub(super) fn for_each_piece(&self, mut see: impl FnMut(NamePiece<'_>)) {
        for (at, piece) in self.pieces.iter().enumerate() {
            let whole_to = if at == 0 { self.pieces.len() } else { at };
            let step_to = if piece.opens_step {
                self.end_of(at, |p| p.opens_step)
            } else {
                at
            };
            let word_to = if piece.opens_word {
                self.end_of(at, |p| p.opens_word)
            } else {
                at
            };
            let mut shown_to = usize::MAX;
            for to in [whole_to, step_to, word_to, at + 1] {
                if to > at && to < shown_to {
                    shown_to = to;
                    see(NamePiece {
                        text: &self.folded[piece.from..self.pieces[to - 1].to],
                        at,
                        is_whole: at == 0 && to == self.pieces.len(),
                        is_smallest: to == at + 1,
                    });
                }
            }
        }
    }

    fn end_of(&self, at: usize, opens: impl Fn(&PieceStart) -> bool) -> usize {
        let rest = &self.pieces[at + 1..];
        at + 1 + rest.iter().position(opens).unwrap_or(rest.len())
    }

    fn open_word(&mut self, class: Class) {
        let after_digit = self.folded.ends_with(|c: char| c.is_numeric());
        if after_digit && class == Class::Digit {
            self.folded.push(BETWEEN_NUMBERS);
        }
        self.words += 1;
        self.digit_changes = 0;
        self.uppers = 0;
        self.word_from = self.pieces.len();
        self.open_piece(self.folded.len(), true);
    }

    fn continue_word(&mut self, last: Class, c: char, class: Class, rest: &str) {
        match (last, class) {
            (Class::Digit, Class::Digit) => {}
            (Class::Digit, _) | (_, Class::Digit) => {
                self.digit_changes += 1;
                self.open_piece(self.folded.len(), false);
            }
            (Class::Lower, Class::Upper) => self.open_piece(self.folded.len(), false),
            (Class::Upper, Class::Lower) if self.uppers > 1 && !is_plural(c, rest) => {
                self.open_piece(self.last_from, false);
            }
            _ => {}
        }
    }

    fn open_piece(&mut self, from: usize, opens_word: bool) {
        if !opens_word && self.pieces.len() >= PIECES_IN_A_NAME {
            return;
        }
        if let Some(before) = self.pieces.last_mut().filter(|_| !opens_word) {
            before.to = from;
        }
        let opens_step = opens_word && (self.pieces.is_empty() || self.after_step);
        self.pieces.push(PieceStart {
            from,
            to: from,
            opens_word,
            opens_step,
        });
    }

    fn stretch(&mut self) {
        if let Some(piece) = self.pieces.last_mut() {
            piece.to = self.folded.len();
        }
    }
}

/// `APIs` and `PRs` are one hump: the plural does not begin a word.
fn is_plural(c: char, rest: &str) -> bool {
    c == 's' && !rest.starts_with(|next| class_of(next) == Class::Lower)
}
