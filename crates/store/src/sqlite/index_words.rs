//! The words that the full-text index holds for a document: its tokens, each kept whole, and its marks.

use daybook_domain::Origin;
use daybook_domain::index::BETWEEN_TOKENS;
use strum::VariantArray;

/// A property that a search can be narrowed to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mark {
    Tenant(i64),
    Scope(i64),
    Root(i64),
    Origin(Origin),
}

impl Mark {
    /// The word that represents the mark. It begins with a character for private use, which no token of a text
    /// contains.
    pub(super) fn word(self) -> String {
        match self {
            Self::Tenant(no) => format!("\u{e000}t{no}"),
            Self::Scope(no) => format!("\u{e000}s{no}"),
            Self::Root(no) => format!("\u{e000}r{no}"),
            Self::Origin(origin) => {
                let place = Origin::VARIANTS.iter().position(|&o| o == origin);
                format!("\u{e000}o{}", place.unwrap_or_default())
            }
        }
    }
}

/// The first private-use character that replaces ASCII punctuation.
const PUNCTUATION: u32 = 0xe100;

/// Appends tokens, joined by blanks, so that SQLite keeps each whole: it would split them at ASCII punctuation.
fn push_whole(tokens: &str, words: &mut String) {
    let is_whole = |b: u8| b == b' ' || b.is_ascii_alphanumeric() || !b.is_ascii();
    if tokens.bytes().all(is_whole) {
        words.push_str(tokens);
    } else {
        words.extend(tokens.chars().map(|c| match c {
            c if BETWEEN_TOKENS.contains(&c) => ' ',
            c => replace_punctuation(c),
        }));
    }
}

/// One token in the form that SQLite keeps whole.
pub(super) fn whole_word(token: &str) -> String {
    token.chars().map(replace_punctuation).collect()
}

fn replace_punctuation(c: char) -> char {
    if c.is_ascii() && !c.is_ascii_alphanumeric() {
        char::from_u32(PUNCTUATION + u32::from(c)).unwrap_or(c)
    } else {
        c
    }
}

/// The indexed words of a document: a blank, and a blank behind each word.
pub(super) fn words(tokens: &str, marks: &[Mark]) -> String {
    let mut words = String::with_capacity(tokens.len() + 32);
    words.push(' ');
    push_whole(tokens, &mut words);
    for mark in marks {
        words.push(' ');
        words.push_str(&mark.word());
    }
    words.push(' ');
    words
}
