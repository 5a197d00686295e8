//! The role of each character in a token, in every script.
//!
//! [`class_of`] decides whether a character builds a word, joins two words into one name, or ends
//! both; [`fold`] writes its searchable form. Both expect NFKC text. What is folded is alphanumeric
//! or a combining mark without which its script cannot be read, so no store's own tokenizer
//! cuts it again.
//!
//! Not here: which characters make one token; `compound` and `grams` decide that.

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// A character's effect on the word that it is in or beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A letter of a script that separates words; lower case or without case.
    Lower,
    /// An upper-case letter.
    Upper,
    /// A number sign.
    Digit,
    /// Joins words into one name when it is between them: `prune_old`, `go.mod`.
    Joint,
    /// Joins names into one path when it is between them: `cmd/entire`, `a@b`, `recall::rank`.
    Step,
    /// Joins, or opens an English ending: `O'Brien`, `Ann's`.
    Apostrophe,
    /// A character of a script that does not separate words.
    Unspaced(UnspacedScript),
    /// A Korean syllable: words are separated, but carry their particles.
    Hangul,
    /// A combining mark that belongs to the character before it.
    Mark,
    /// Invisible or ornamental: treated as absent.
    Ignored,
    /// Everything else ends the word.
    Break,
}

/// The scripts that do not separate words. A change of script ends a run, so that a Japanese noun
/// in Han is found whatever particle follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnspacedScript {
    Han,
    Hiragana,
    Katakana,
    Thai,
    Lao,
    Khmer,
    Myanmar,
}

impl Class {
    /// Whether the character builds words that spaces separate.
    pub(super) fn is_spaced(self) -> bool {
        matches!(self, Class::Lower | Class::Upper | Class::Digit)
    }
}

/// The class of every ASCII byte.
pub(super) const ASCII: [Class; 128] = ascii_classes();

const fn ascii_classes() -> [Class; 128] {
    let mut classes = [Class::Break; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' | b'-' | b'.' => Class::Joint,
            b'/' | b'\\' | b':' | b'@' => Class::Step,
            b'\'' => Class::Apostrophe,
            _ => Class::Break,
        };
        byte += 1;
    }
    classes
}

/// The class of one character of NFKC text.
pub(super) fn class_of(c: char) -> Class {
    if c.is_ascii() {
        return ASCII[c as usize];
    }
    match c {
        '\u{AD}' | '\u{200C}' | '\u{200D}' | '\u{2060}' | '\u{FEFF}' => Class::Ignored,
        '\u{640}' | '\u{FE00}'..='\u{FE0F}' => Class::Ignored,
        '\u{2019}' | '\u{2BC}' => Class::Apostrophe,
        '\u{2010}' => Class::Joint,
        // The prolonged sound mark follows either kana; it carries meaning mostly in loanwords.
        '\u{30FC}' => Class::Unspaced(UnspacedScript::Katakana),
        '\u{AC00}'..='\u{D7A3}' => Class::Hangul,
        _ if is_combining_mark(c) => mark_class(c),
        _ => letter_class(c),
    }
}

/// Accents, vowel points and stress marks that writers leave out as they like are ignored; what is
/// left of them after NFKC has composed the real letters carries no word of its own.
fn mark_class(c: char) -> Class {
    match c {
        '\u{300}'..='\u{36F}'
        | '\u{591}'..='\u{5C7}'
        | '\u{610}'..='\u{61A}'
        | '\u{64B}'..='\u{65F}'
        | '\u{670}'
        | '\u{6D6}'..='\u{6ED}'
        | '\u{1AB0}'..='\u{1AFF}'
        | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}'
        | '\u{FE20}'..='\u{FE2F}'
        | '\u{E0100}'..='\u{E01EF}' => Class::Ignored,
        _ => Class::Mark,
    }
}

fn letter_class(c: char) -> Class {
    if !c.is_alphanumeric() {
        return Class::Break;
    }
    if let Some(script) = unspaced_script(c) {
        Class::Unspaced(script)
    } else if c.is_numeric() {
        Class::Digit
    } else if c.is_uppercase() {
        Class::Upper
    } else {
        Class::Lower
    }
}

fn unspaced_script(c: char) -> Option<UnspacedScript> {
    match c {
        '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{3029}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}' => Some(UnspacedScript::Han),
        '\u{3041}'..='\u{309F}' => Some(UnspacedScript::Hiragana),
        '\u{30A0}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' => Some(UnspacedScript::Katakana),
        '\u{E01}'..='\u{E4F}' => Some(UnspacedScript::Thai),
        '\u{E81}'..='\u{ECF}' | '\u{EDC}'..='\u{EDF}' => Some(UnspacedScript::Lao),
        '\u{1780}'..='\u{17DD}' => Some(UnspacedScript::Khmer),
        '\u{1000}'..='\u{103F}'
        | '\u{1050}'..='\u{108F}'
        | '\u{A9E0}'..='\u{A9EF}'
        | '\u{A9FA}'..='\u{A9FE}'
        | '\u{AA60}'..='\u{AA7F}' => Some(UnspacedScript::Myanmar),
        _ => None,
    }
}

/// Writes the searchable form of a character: lower case, Latin and Greek without accents, letters
/// that are spelled in two ways brought to one.
pub(super) fn fold(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    for lower in c.to_lowercase() {
        match lower {
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'þ' => out.push_str("th"),
            'ø' => out.push('o'),
            'đ' | 'ð' => out.push('d'),
            'ł' => out.push('l'),
            'ħ' => out.push('h'),
            'ı' => out.push('i'),
            'ς' => out.push('σ'),
            'ё' => out.push('е'),
            'أ' | 'إ' | 'آ' | 'ٱ' => out.push('ا'),
            'ى' | 'ی' => out.push('ي'),
            'ک' => out.push('ك'),
            '\u{660}'..='\u{669}' => push_digit(lower, '\u{660}', out),
            '\u{6F0}'..='\u{6F9}' => push_digit(lower, '\u{6F0}', out),
            '\u{966}'..='\u{96F}' => push_digit(lower, '\u{966}', out),
            '\u{E50}'..='\u{E59}' => push_digit(lower, '\u{E50}', out),
            _ if drops_accents(lower) => decompose_canonical(lower, |part| push_base(part, out)),
            _ => push_base(lower, out),
        }
    }
}

fn push_digit(digit: char, zero: char, out: &mut String) {
    out.extend(char::from_digit(u32::from(digit) - u32::from(zero), 10));
}

fn drops_accents(c: char) -> bool {
    matches!(c, '\u{C0}'..='\u{24F}' | '\u{370}'..='\u{3FF}' | '\u{1E00}'..='\u{1FFF}')
}

fn push_base(c: char, out: &mut String) {
    if !matches!(c, '\u{300}'..='\u{36F}') {
        out.push(c);
    }
}
