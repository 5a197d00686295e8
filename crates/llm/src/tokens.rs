//! How many tokens a text is, for some model.
//!
//! The count decides how much may be asked and what it may cost, so it errs to one side only: it is never
//! less than the model's own. For OpenAI's vocabularies it is exact (feature `exact-tokens`, which adds 2.3
//! MB of tokens to the binary; the first count of a vocabulary takes about 20 ms and 10 MB. Without it they
//! are estimated, too). For all others it is an estimate that was measured to be more than these
//! vocabularies take for prose in a dozen scripts, code, JSON, hex and base64; of English it makes about
//! half as many tokens again as there are.
//!
//! Not here: the tokens that a provider adds around messages, which its usage reports afterwards.

#[cfg(feature = "exact-tokens")]
mod ranks;
#[cfg(feature = "exact-tokens")]
mod words;

use std::fmt;

/// What cuts text into tokens, as far as counting goes.
pub trait Tokenizer: fmt::Debug + Send + Sync {
    /// How many tokens `text` is, or more; never less.
    fn count(&self, text: &str) -> u32;
}

/// The vocabularies that have counts of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenVocabulary {
    /// Of GPT-4o, the o series and what followed.
    O200k,
    /// Of GPT-4 and GPT-3.5.
    Cl100k,
    /// Any other: estimated.
    Other,
}

impl TokenVocabulary {
    /// The vocabulary of the model that is called `model`, with or without its vendor before a slash.
    #[must_use]
    pub fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let begins = |beginnings: &[&str]| beginnings.iter().any(|it| name.starts_with(it));
        if begins(&[
            "gpt-4o",
            "chatgpt-4o",
            "gpt-4.1",
            "gpt-4.5",
            "gpt-5",
            "o1",
            "o3",
            "o4-",
        ]) {
            Self::O200k
        } else if begins(&["gpt-4", "gpt-3.5"]) {
            Self::Cl100k
        } else {
            Self::Other
        }
    }
}

impl Tokenizer for TokenVocabulary {
    fn count(&self, text: &str) -> u32 {
        let count = match self {
            #[cfg(feature = "exact-tokens")]
            Self::O200k => words::count_o200k(text),
            #[cfg(feature = "exact-tokens")]
            Self::Cl100k => words::count_cl100k(text),
            #[cfg(not(feature = "exact-tokens"))]
            Self::O200k | Self::Cl100k => estimate(text),
            Self::Other => estimate(text),
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

/// Letters of a word that one token is taken to hold. The vocabularies hold four to five of English.
const LETTERS: usize = 3;

/// From here on a run of letters is no word of a vocabulary.
const LONG_WORD: usize = 16;

/// From here on a word may be made by chance, like base64.
const CHANCE: usize = 8;

/// Blanks that one token is taken to hold.
const BLANKS: usize = 4;

fn estimate(text: &str) -> usize {
    // A text may begin or end within a word.
    let mut tokens = usize::from(!text.is_empty());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            ' ' => run(rest, |byte| byte == b' '),
            _ if first.is_ascii_alphanumeric() => run(rest, |byte| byte.is_ascii_alphanumeric()),
            _ => first.len_utf8(),
        };
        tokens += match first {
            // The blank before a word belongs to it, if the vocabulary holds the word.
            ' ' if length == 1 && rest[1..].starts_with(|next: char| next.is_ascii()) => 0,
            ' ' => length.div_ceil(BLANKS),
            _ if first.is_ascii_alphanumeric() => word(&rest.as_bytes()[..length]),
            _ => alone(first),
        };
        rest = &rest[length..];
    }
    tokens
}

fn run(text: &str, belongs: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| belongs(*byte)).count()
}

/// A run of ASCII letters and digits.
fn word(word: &[u8]) -> usize {
    // Where digits and letters meet, and before capitals within: there are tokens' borders.
    let parts = || {
        word.chunk_by(|one, next| {
            let hump = one.is_ascii_lowercase() && next.is_ascii_uppercase();
            one.is_ascii_digit() == next.is_ascii_digit() && !hump
        })
    };
    if word.len() >= CHANCE && parts().count() * LETTERS > word.len() {
        return (word.len() * 9).div_ceil(10);
    }
    parts().map(part).sum()
}

fn part(part: &[u8]) -> usize {
    if part.iter().all(u8::is_ascii_digit) {
        return part.len();
    }
    let capitals = part
        .iter()
        .filter(|letter| letter.is_ascii_uppercase())
        .count();
    if part.len() >= LONG_WORD || capitals > 1 {
        return part.len().div_ceil(2);
    }
    part.len().div_ceil(LETTERS)
}

/// A byte-level vocabulary without a character takes a token for each of its bytes. All hold Latin with
/// accents and Cyrillic; of characters of three bytes, they hold the common ones.
fn alone(character: char) -> usize {
    match character {
        '\0'..='\u{24F}' | '\u{400}'..='\u{52F}' => 1,
        '\u{250}'..='\u{FFFF}' => 2,
        _ => character.len_utf8(),
    }
}

#[cfg(all(test, feature = "exact-tokens"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_tell_the_vocabulary() {
        assert_eq!(TokenVocabulary::of("gpt-4o-mini"), TokenVocabulary::O200k);
        assert_eq!(TokenVocabulary::of("openai/gpt-5"), TokenVocabulary::O200k);
        assert_eq!(TokenVocabulary::of("gpt-4-turbo"), TokenVocabulary::Cl100k);
        assert_eq!(
            TokenVocabulary::of("claude-sonnet-4-5"),
            TokenVocabulary::Other
        );
        assert_eq!(TokenVocabulary::of("openchat"), TokenVocabulary::Other);
    }

    #[test]
    fn openai_counts_are_exact() {
        assert_eq!(TokenVocabulary::O200k.count("Hello, world!"), 4);
        assert_eq!(TokenVocabulary::Cl100k.count("Hello, world!"), 4);
        assert_eq!(TokenVocabulary::O200k.count(""), 0);
    }

    /// The estimate is at least what both vocabularies take, and at most `times` as much.
    #[track_caller]
    fn check(text: &str, times: u32) {
        let found = TokenVocabulary::Other.count(text);
        let exact =
            [TokenVocabulary::O200k, TokenVocabulary::Cl100k].map(|known| known.count(text));
        let most = exact[0].max(exact[1]);
        assert!(found >= most, "{found} instead of {most}: {text}");
        assert!(found <= most * times + 2, "{found} for {most}: {text}");
    }

    #[test]
    fn an_estimate_is_never_less() {
        check(
            "Please set the cache limit to 50 entries, and tell me what else it changes.",
            2,
        );
        check(
            "Donaudampfschifffahrtsgesellschaftskapitän, Überweisungsträger und Weiteres",
            2,
        );
        check(
            "fn main() {\n    let x: Vec<u32> = (0..10).map(|n| n * n).collect();\n}\n",
            2,
        );
        check(
            r#"{"kind":"value","events":[12,13],"text":"cache limit: 50"}"#,
            2,
        );
        check("5e7a9c01f3b24d6e8a0b1c2d3e4f5061", 2);
        check(
            "dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZw==",
            2,
        );
        check("2026-11-20T09:41:07.123Z 192.168.17.254:8443 0xdeadbeef", 2);
        check("请把缓存上限设为五十条,并告诉我还会影响什么。", 3);
        check("キャッシュの上限を50件にしてください。", 3);
        check("캐시 한도를 50개로 설정해 주세요.", 3);
        check("Установи предел кэша в пятьдесят записей.", 4);
        check("Ρύθμισε το όριο της κρυφής μνήμης σε πενήντα.", 4);
        check("اضبط حد ذاكرة التخزين المؤقت على خمسين.", 4);
        check("הגדר את מגבלת המטמון לחמישים רשומות.", 4);
        check("कैश की सीमा पचास प्रविष्टियों पर सेट करें।", 6);
        check("ตั้งขีดจำกัดแคชเป็นห้าสิบรายการ", 6);
        check("քեշի սահմանը դարձրու հիսուն", 6);
        check("🦀🚀 done ✅ — naïve café “quoted” …", 3);
        check("\t\tif (a != b)\r\n\t\t\treturn;\r\n\r\n", 3);
        check("", 1);
    }

    proptest! {
        #[test]
        fn words_hex_and_numbers_are_never_underestimated(
            words in prop::collection::vec(
                prop_oneof![
                    prop::sample::select(vec![
                        "the", "Cache", "limit", "memory_summary.md", "extractor", "README",
                        "getElementById", "unwrap_or_default", "https://example.com/a?b=c", "don't",
                        "überall", "señor", "Größe", "память", "記憶", "{\"a\":[1,2]}", "--flag=x",
                    ]).prop_map(str::to_owned),
                    "[0-9a-f]{4,40}",
                    "[A-Za-z0-9+/]{40,80}",
                    "[0-9]{1,12}",
                    "[ -/]{1,5}",
                ],
                1..60,
            ),
        ) {
            let text = words.join(" ");
            let found = TokenVocabulary::Other.count(&text);
            prop_assert!(found >= TokenVocabulary::O200k.count(&text), "{text}");
            prop_assert!(found >= TokenVocabulary::Cl100k.count(&text), "{text}");
        }
    }
}
