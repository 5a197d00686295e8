//! What is kept from one consolidation to the next: texts of observations, parsed once, and what their comparison found.
//!
//! A scope's texts hardly change from one consolidation to the next, and taking them apart is most of the work. The
//! parsed texts are kept between the consolidations of a process, and encoded for the next one. Words are numbers in
//! them, so the encoding holds no text.
//!
//! Not here: where the encoding is stored (`files`).

mod encoding;

use std::sync::Arc;

use daybook_domain::EventId;

use super::content::{Content, WordMap};
use super::kept_searches::KeptSearch;
use super::statement::Statement;
use encoding::{TextsDecoder, TextsEncoder};

/// The parsed texts of a scope's observations.
#[derive(Debug, Default)]
pub struct ParsedTexts {
    contents: Known<Content>,
    statements: Known<Statement>,
    searches: Vec<KeptSearch>,
    has_new_searches: bool,
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
    /// The form of the text with this number.
    fn get(&mut self, text: EventId, parse: impl FnOnce() -> T) -> Arc<T> {
        let has_new = &mut self.has_new;
        let known = self.parsed.entry(text.0);
        let known = known.or_insert_with(|| {
            *has_new = true;
            Parsed {
                value: Arc::new(parse()),
                is_used: true,
            }
        });
        known.is_used = true;
        Arc::clone(&known.value)
    }

    /// Adds what an earlier process parsed.
    fn put(&mut self, text: u128, value: T) {
        let value = Arc::new(value);
        let is_used = false;
        self.parsed.insert(text, Parsed { value, is_used });
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
        self.contents
            .get(EventId::of(&[text.as_bytes()]), || Content::of(text))
    }

    pub(super) fn statement(&mut self, text: &str) -> Arc<Statement> {
        self.statements
            .get(EventId::of(&[text.as_bytes()]), || Statement::parse(text))
    }

    /// The statement of a value: `text` is a number, and `subject` says what it is about.
    pub(super) fn value_statement(&mut self, subject: &str, text: &str) -> Arc<Statement> {
        let parts = [subject.as_bytes(), text.as_bytes()];
        let parse = || Statement::of_value(subject, text);
        self.statements.get(EventId::of(&parts), parse)
    }

    /// What the last consolidation's searches for ended statements found.
    pub(super) fn take_searches(&mut self) -> Vec<KeptSearch> {
        std::mem::take(&mut self.searches)
    }

    /// Keeps them for the next consolidation.
    pub(super) fn keep_searches(&mut self, searches: Vec<KeptSearch>, are_new: bool) {
        self.searches = searches;
        self.has_new_searches |= are_new;
    }

    /// Drops the texts that the consolidation just made did not use.
    pub(super) fn drop_unused(&mut self) {
        self.contents.drop_unused();
        self.statements.drop_unused();
    }

    /// The encoding of the texts; `None` if they are as when they were decoded or encoded last.
    pub fn encode_changed(&mut self) -> Option<Vec<u8>> {
        let has_new_texts = self.contents.has_new || self.statements.has_new;
        (has_new_texts || self.has_new_searches).then(|| {
            self.has_new_searches = false;
            self.contents.has_new = false;
            self.statements.has_new = false;
            self.encode()
        })
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = TextsEncoder::default();
        out.number(self.contents.parsed.len());
        for (text, parsed) in &self.contents.parsed {
            out.text(*text);
            out.content(&parsed.value);
        }
        out.number(self.statements.parsed.len());
        for (text, parsed) in &self.statements.parsed {
            out.text(*text);
            out.statement(&parsed.value);
        }
        out.number(self.searches.len());
        for search in &self.searches {
            out.search(search);
        }
        out.finish()
    }

    /// The texts of an encoding; none if it is damaged, or made by other rules.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        TextsDecoder::open(bytes)
            .and_then(Self::decode_all)
            .unwrap_or_default()
    }

    fn decode_all(mut bytes: TextsDecoder<'_>) -> Option<Self> {
        let mut texts = Self::default();
        for _ in 0..bytes.number()? {
            let (text, content) = (bytes.text()?, bytes.content()?);
            texts.contents.put(text, content);
        }
        for _ in 0..bytes.number()? {
            let (text, statement) = (bytes.text()?, bytes.statement()?);
            texts.statements.put(text, statement);
        }
        texts.searches = bytes.list(TextsDecoder::search)?;
        Some(texts)
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
