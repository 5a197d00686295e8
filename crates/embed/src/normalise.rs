//! From text to words: the normalisation that the vocabulary was made with.
//!
//! Control characters go, accents are stripped, letters become lower case; each punctuation mark
//! and each Han character is a word of its own. This is what `tokenizer.json` of the teacher
//! prescribes (`BertNormalizer`, then `BertPreTokenizer`), and `wordpiece_tests` compares it.

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Shows the words of `text` in order. `word` is the buffer in which they are built.
pub(crate) fn for_each_word(text: &str, word: &mut String, mut see: impl FnMut(&str)) {
    word.clear();
    for c in text.chars() {
        if c.is_ascii() {
            ascii(c, word, &mut see);
        } else {
            other(c, word, &mut see);
        }
    }
    flush(word, &mut see);
}

fn ascii(c: char, word: &mut String, see: &mut impl FnMut(&str)) {
    if c.is_ascii_alphanumeric() {
        word.push(c.to_ascii_lowercase());
    } else if c.is_ascii_punctuation() {
        alone(c, word, see);
    } else if c.is_whitespace() {
        flush(word, see);
    }
    // What remains are control characters, which do not even separate words.
}

fn other(c: char, word: &mut String, see: &mut impl FnMut(&str)) {
    if c.is_whitespace() {
        return flush(word, see);
    }
    if is_dropped(c) {
        return;
    }
    let is_han = is_han(c);
    if is_han {
        flush(word, see);
    }
    decompose_canonical(c, |part| {
        if part.general_category() == GeneralCategory::NonspacingMark {
            return;
        }
        for lower in part.to_lowercase() {
            if is_punctuation(lower) {
                alone(lower, word, see);
            } else {
                word.push(lower);
            }
        }
    });
    if is_han {
        flush(word, see);
    }
}

/// Ends the word before `c`, which is a word of its own.
fn alone(c: char, word: &mut String, see: &mut impl FnMut(&str)) {
    flush(word, see);
    word.push(c);
    flush(word, see);
}

fn flush(word: &mut String, see: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        see(word);
        word.clear();
    }
}

fn is_dropped(c: char) -> bool {
    let is_control = || {
        matches!(
            c.general_category(),
            GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
        )
    };
    c == char::REPLACEMENT_CHARACTER || is_control()
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// The blocks of Han characters that the tokenizer sets apart.
fn is_han(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2B73F}'
        | '\u{2B740}'..='\u{2B81F}'
        | '\u{2B920}'..='\u{2CEAF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{2F800}'..='\u{2FA1F}')
}
