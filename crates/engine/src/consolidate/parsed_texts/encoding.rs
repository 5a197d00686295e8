//! The encoding of parsed texts: numbers in a list of bytes, with a checksum.
//!
//! Not here: which texts are kept.

use std::sync::LazyLock;

use daybook_domain::{EventId, SupersessionReason};
use strum::VariantArray;

use crate::consolidate::content::{Content, ContentWord, ContentWords, WordMap};
use crate::consolidate::kept_searches::{EndedStatement, KeptSearch};
use crate::consolidate::statement::{Denial, PATTERNS, Qualifier, Setting, Statement};
use crate::consolidate::word_lists::WORD_LISTS;

/// Raised when texts are parsed in another way by the same lists of words and patterns, and when statements are compared
/// by other rules.
const PARSER: u64 = 9;

/// The rules by which texts are parsed, as a number: what other rules made is parsed again.
static RULES: LazyLock<u128> = LazyLock::new(|| {
    let parts = [
        &PARSER.to_le_bytes(),
        WORD_LISTS.as_bytes(),
        PATTERNS.as_bytes(),
    ];
    EventId::of(&parts).0
});

/// Writes texts: a head of rules and checksum, the list of all words, then texts that name words by their place in it.
#[derive(Default)]
pub(super) struct TextsEncoder {
    body: Vec<u8>,
    words: Vec<ContentWord>,
    places: WordMap<ContentWord, usize>,
}

impl TextsEncoder {
    /// A number in groups of seven bits, the lowest first.
    pub(super) fn number(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.body.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.body.push(number as u8);
    }

    /// The number of a text.
    pub(super) fn text(&mut self, text: u128) {
        self.body.extend_from_slice(&text.to_le_bytes());
    }

    fn words(&mut self, words: impl ExactSizeIterator<Item = ContentWord>) {
        self.number(words.len());
        words.for_each(|word| self.word(word));
    }

    fn word(&mut self, word: ContentWord) {
        let next = self.words.len();
        let place = *self.places.entry(word).or_insert(next);
        if place == next {
            self.words.push(word);
        }
        self.number(place);
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

    pub(super) fn content(&mut self, content: &Content) {
        self.set(&content.words);
        self.words(content.order.iter().copied());
        self.words(content.contrasts.iter().copied());
        self.number(usize::from(content.denies));
        self.set(&content.denied);
    }

    pub(super) fn statement(&mut self, statement: &Statement) {
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
        self.settings(&statement.figures);
        self.set(&statement.topic);
        self.set(&statement.opening);
        self.number(statement.qualifiers.len());
        for qualifier in &statement.qualifiers {
            self.word(qualifier.word);
            self.word(qualifier.of);
        }
        self.number(usize::from(statement.changes));
        self.number(usize::from(statement.adds));
        self.number(usize::from(statement.restrains));
        self.number(usize::from(statement.turns));
    }

    fn long(&mut self, number: u64) {
        self.body.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn search(&mut self, search: &KeptSearch) {
        self.long(search.statement);
        self.long(search.rare);
        self.number(search.found.len());
        for found in &search.found {
            self.number(found.place as usize);
            let mut reasons = SupersessionReason::VARIANTS.iter();
            let reason = reasons.position(|reason| *reason == found.reason);
            self.number(reason.unwrap_or_default() * 2 + usize::from(found.is_before));
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
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
pub(super) struct TextsDecoder<'b> {
    rest: &'b [u8],
    words: Vec<ContentWord>,
}

impl<'b> TextsDecoder<'b> {
    pub(super) fn open(bytes: &'b [u8]) -> Option<Self> {
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

    /// The number of a text.
    pub(super) fn text(&mut self) -> Option<u128> {
        self.long()
    }

    pub(super) fn search(&mut self) -> Option<KeptSearch> {
        Some(KeptSearch {
            statement: self.half()?,
            rare: self.half()?,
            found: self.list(|it| {
                let place = u32::try_from(it.number()?).ok()?;
                let reason = it.number()?;
                Some(EndedStatement {
                    place,
                    reason: *SupersessionReason::VARIANTS.get(reason / 2)?,
                    is_before: reason % 2 == 1,
                })
            })?,
        })
    }

    fn half(&mut self) -> Option<u64> {
        let (half, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*half))
    }

    fn long(&mut self) -> Option<u128> {
        let (long, rest) = self.rest.split_first_chunk::<16>()?;
        self.rest = rest;
        Some(u128::from_le_bytes(*long))
    }

    pub(super) fn number(&mut self) -> Option<usize> {
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

    pub(super) fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = self.number()?;
        // Each takes a byte at least, so that a torn number asks for no room that is not there.
        if count > self.rest.len() {
            return None;
        }
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(one(self)?);
        }
        Some(list)
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

    pub(super) fn content(&mut self) -> Option<Content> {
        Some(Content {
            words: self.set()?,
            order: self.list(Self::word)?,
            contrasts: self.list(Self::word)?,
            denies: self.number()? == 1,
            denied: self.set()?,
        })
    }

    pub(super) fn statement(&mut self) -> Option<Statement> {
        let denial = |it: &mut Self| {
            Some(Denial {
                head: it.set()?,
                words: it.set()?,
            })
        };
        let qualifier = |it: &mut Self| {
            Some(Qualifier {
                word: it.word()?,
                of: it.word()?,
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
            figures: self.list(Self::setting)?,
            topic: self.set()?,
            opening: self.set()?,
            qualifiers: self.list(qualifier)?,
            changes: self.number()? == 1,
            adds: self.number()? == 1,
            restrains: self.number()? == 1,
            turns: self.number()? == 1,
        })
    }
}
