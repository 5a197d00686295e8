//! Texts of observations, parsed once: what a text says depends on the text alone.
//!
//! A scope's texts hardly change from one consolidation to the next, and taking them apart is most of the work. The
//! parsed texts are kept between the consolidations of a process, and encoded for the next one. Words are numbers in
//! them, so the encoding holds no text.
//!
//! Not here: where the encoding is stored (`files`).

use std::sync::{Arc, LazyLock};

use daybook_domain::EventId;

use super::content::{Content, ContentWord, ContentWords, WORD_LISTS, WordMap};
use super::statement::{Denial, PATTERNS, Setting, Statement};

/// Raised when texts are parsed in another way by the same lists of words and patterns.
const PARSER: u64 = 1;

/// The rules by which texts are parsed, as a number: what other rules made is parsed again.
static RULES: LazyLock<u128> = LazyLock::new(|| {
    let parts = [
        &PARSER.to_le_bytes(),
        WORD_LISTS.as_bytes(),
        PATTERNS.as_bytes(),
    ];
    EventId::of(&parts).0
});

/// The parsed texts of a scope's observations.
#[derive(Debug, Default)]
pub struct ParsedTexts {
    contents: Known<Content>,
    statements: Known<Statement>,
}

/// Parsed texts of one form, by the number of the text.
#[derive(Debug)]
struct Known<T> {
    parsed: WordMap<u128, Parsed<T>>,
    has_new: bool,
}

#[derive(Debug)]
struct Parsed<T> {
    value: Arc<T>,
    is_used: bool,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self {
            parsed: WordMap::default(),
            has_new: false,
        }
    }
}

impl<T> Known<T> {
    fn get(&mut self, text: &str, parse: impl FnOnce(&str) -> T) -> Arc<T> {
        let has_new = &mut self.has_new;
        let known = self.parsed.entry(EventId::of(&[text.as_bytes()]).0);
        let known = known.or_insert_with(|| {
            *has_new = true;
            Parsed {
                value: Arc::new(parse(text)),
                is_used: true,
            }
        });
        known.is_used = true;
        Arc::clone(&known.value)
    }

    /// Drops what was not used since the last call.
    fn drop_unused(&mut self) {
        let before = self.parsed.len();
        self.parsed
            .retain(|_, parsed| std::mem::take(&mut parsed.is_used));
        self.has_new |= self.parsed.len() < before;
    }
}

impl ParsedTexts {
    pub(super) fn content(&mut self, text: &str) -> Arc<Content> {
        self.contents.get(text, Content::of)
    }

    pub(super) fn statement(&mut self, text: &str) -> Arc<Statement> {
        self.statements.get(text, Statement::parse)
    }

    /// Drops the texts that the consolidation just made did not use.
    pub(super) fn drop_unused(&mut self) {
        self.contents.drop_unused();
        self.statements.drop_unused();
    }

    /// The encoding of the texts; `None` if they are as when they were decoded or encoded last.
    pub fn encode_changed(&mut self) -> Option<Vec<u8>> {
        let is_changed = self.contents.has_new || self.statements.has_new;
        is_changed.then(|| {
            self.contents.has_new = false;
            self.statements.has_new = false;
            self.encode()
        })
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = TextsEncoder::default();
        out.number(self.contents.parsed.len());
        for (text, parsed) in &self.contents.parsed {
            out.body.extend_from_slice(&text.to_le_bytes());
            out.content(&parsed.value);
        }
        out.number(self.statements.parsed.len());
        for (text, parsed) in &self.statements.parsed {
            out.body.extend_from_slice(&text.to_le_bytes());
            out.statement(&parsed.value);
        }
        out.finish()
    }

    /// The texts of an encoding; none if it is damaged, or made by other rules.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        TextsDecoder::open(bytes)
            .and_then(TextsDecoder::texts)
            .unwrap_or_default()
    }
}

/// Writes texts: a head of rules and checksum, the list of all words, then texts that name words by their place in it.
#[derive(Default)]
struct TextsEncoder {
    body: Vec<u8>,
    words: Vec<ContentWord>,
    places: WordMap<ContentWord, usize>,
}

impl TextsEncoder {
    /// A number in groups of seven bits, the lowest first.
    fn number(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.body.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.body.push(number as u8);
    }

    fn words(&mut self, words: impl ExactSizeIterator<Item = ContentWord>) {
        self.number(words.len());
        for word in words {
            let next = self.words.len();
            let place = *self.places.entry(word).or_insert(next);
            if place == next {
                self.words.push(word);
            }
            self.number(place);
        }
    }

    fn set(&mut self, words: &ContentWords) {
        self.words(words.as_slice().iter().copied());
    }

    fn sets(&mut self, sets: &[ContentWords]) {
        self.number(sets.len());
        for words in sets {
            self.set(words);
        }
    }

    fn settings(&mut self, settings: &[Setting]) {
        self.number(settings.len());
        for setting in settings {
            self.set(&setting.key);
            self.set(&setting.value);
        }
    }

    fn content(&mut self, content: &Content) {
        self.set(&content.words);
        self.words(content.order.iter().copied());
        self.number(usize::from(content.denies));
        self.set(&content.denied);
    }

    fn statement(&mut self, statement: &Statement) {
        self.set(&statement.words);
        self.number(statement.denials.len());
        for denial in &statement.denials {
            self.set(&denial.head);
            self.set(&denial.words);
        }
        self.sets(&statement.renamed);
        self.sets(&statement.replaced);
        self.sets(&statement.withdrawn);
        self.settings(&statement.choices);
        self.settings(&statement.states);
        self.number(usize::from(statement.changes));
    }

    fn finish(self) -> Vec<u8> {
        let mut rest = (self.words.len() as u64).to_le_bytes().to_vec();
        for word in &self.words {
            rest.extend_from_slice(&word.number().to_le_bytes());
        }
        rest.extend_from_slice(&self.body);
        let checksum = EventId::of(&[&RULES.to_le_bytes(), &rest]).0;
        [&RULES.to_le_bytes()[..], &checksum.to_le_bytes(), &rest].concat()
    }
}

/// Reads what a [`TextsEncoder`] wrote. Each method returns `None` where the bytes end early.
struct TextsDecoder<'b> {
    rest: &'b [u8],
    words: Vec<ContentWord>,
}

impl<'b> TextsDecoder<'b> {
    fn open(bytes: &'b [u8]) -> Option<Self> {
        let mut opened = Self {
            rest: bytes,
            words: Vec::new(),
        };
        let (rules, checksum) = (opened.long()?, opened.long()?);
        let is_intact = EventId::of(&[&rules.to_le_bytes(), opened.rest]).0 == checksum;
        if rules != *RULES || !is_intact {
            return None;
        }
        let (count, rest) = opened.rest.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*count)).ok()?;
        let (words, rest) = rest.split_at_checked(length.checked_mul(8)?)?;
        let (words, _) = words.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        opened.words = words.map(ContentWord::from_number).collect();
        opened.rest = rest;
        Some(opened)
    }

    fn texts(mut self) -> Option<ParsedTexts> {
        let mut texts = ParsedTexts::default();
        for _ in 0..self.number()? {
            let text = self.long()?;
            let value = Arc::new(self.content()?);
            let is_used = false;
            texts
                .contents
                .parsed
                .insert(text, Parsed { value, is_used });
        }
        for _ in 0..self.number()? {
            let text = self.long()?;
            let value = Arc::new(self.statement()?);
            let is_used = false;
            texts
                .statements
                .parsed
                .insert(text, Parsed { value, is_used });
        }
        Some(texts)
    }

    fn long(&mut self) -> Option<u128> {
        let (long, rest) = self.rest.split_first_chunk::<16>()?;
        self.rest = rest;
        Some(u128::from_le_bytes(*long))
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn word(&mut self) -> Option<ContentWord> {
        let place = self.number()?;
        self.words.get(place).copied()
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| one(self)).collect()
    }

    fn set(&mut self) -> Option<ContentWords> {
        // In their order: they were written from a set.
        Some(ContentWords::from_sorted(self.list(Self::word)?))
    }

    fn setting(&mut self) -> Option<Setting> {
        Some(Setting {
            key: self.set()?,
            value: self.set()?,
        })
    }

    fn content(&mut self) -> Option<Content> {
        Some(Content {
            words: self.set()?,
            order: self.list(Self::word)?,
            denies: self.number()? == 1,
            denied: self.set()?,
        })
    }

    fn statement(&mut self) -> Option<Statement> {
        let denial = |it: &mut Self| {
            Some(Denial {
                head: it.set()?,
                words: it.set()?,
            })
        };
        Some(Statement {
            words: self.set()?,
            denials: self.list(denial)?,
            renamed: self.list(Self::set)?,
            replaced: self.list(Self::set)?,
            withdrawn: self.list(Self::set)?,
            choices: self.list(Self::setting)?,
            states: self.list(Self::setting)?,
            changes: self.number()? == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 5] = [
        "Let's use Postgres for the ledger instead of SQLite",
        "never rebase before the 3 tests, merge",
        "the nightly job is gone",
        "we're changing the language from summarise to summarize",
        "",
    ];

    fn parsed() -> ParsedTexts {
        let mut texts = ParsedTexts::default();
        for text in TEXTS {
            texts.content(text);
            texts.statement(text);
        }
        texts
    }

    #[test]
    fn an_encoding_gives_back_what_was_parsed() {
        let bytes = parsed().encode_changed().expect("all texts are new");
        let mut texts = ParsedTexts::decode(&bytes);
        for text in TEXTS {
            assert_eq!(*texts.content(text), Content::of(text), "{text}");
            assert_eq!(*texts.statement(text), Statement::parse(text), "{text}");
        }
        assert_eq!(texts.encode_changed(), None, "nothing was parsed again");
    }

    #[test]
    fn a_damaged_encoding_gives_nothing() {
        let bytes = parsed().encode_changed().expect("all texts are new");
        for at in 0..bytes.len() {
            let mut torn = bytes.clone();
            torn[at] ^= 1;
            for damaged in [&torn[..], &bytes[..at]] {
                let texts = ParsedTexts::decode(damaged);
                assert!(texts.contents.parsed.is_empty(), "byte {at}");
            }
        }
    }

    #[test]
    fn a_text_that_a_consolidation_did_not_use_is_dropped() {
        let mut texts = parsed();
        texts.drop_unused();
        texts.encode_changed();
        for text in &TEXTS[1..] {
            texts.content(text);
            texts.statement(text);
        }
        texts.drop_unused();
        assert_eq!(texts.contents.parsed.len(), TEXTS.len() - 1);
        let bytes = texts.encode_changed().expect("a text is gone");
        let kept = ParsedTexts::decode(&bytes);
        assert_eq!(kept.statements.parsed.len(), TEXTS.len() - 1);
    }
}
