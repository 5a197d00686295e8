//! The words of all statements: how often each occurs, and which statements hold it.
//!
//! Words are numbered here in the order in which they are met, so that counts and lists are found by place.
//!
//! Not here: what statements say of each other (`supersede`).

use super::compare::Stated;
use crate::consolidate::content::{ContentWord, ContentWords, WordMap};

/// Words by which an observation finds earlier ones: its rarest.
const RARE_WORDS: usize = 6;
/// Most earlier observations, the latest, that share one word and are compared.
const OF_ONE_WORD: usize = 64;
/// Most statements in which a name of something occurs: a word of more is no name.
const NAME_STATEMENTS: usize = 8;

/// The number of a word.
pub(super) type WordNumber = u32;

/// All words of statements, with the words of each.
pub(super) struct StatementWords {
    numbers: WordMap<ContentWord, WordNumber>,
    words: Vec<ContentWord>,
    /// How many statements hold each word.
    frequencies: Vec<u32>,
    /// The words of all statements, one statement after another.
    of_statements: Vec<WordNumber>,
    /// Where the words of each statement end.
    ends: Vec<usize>,
}

impl StatementWords {
    pub(super) fn of(stated: &[Stated<'_>]) -> Self {
        let mut all = Self {
            numbers: WordMap::default(),
            words: Vec::new(),
            frequencies: Vec::new(),
            of_statements: Vec::new(),
            ends: Vec::with_capacity(stated.len()),
        };
        for one in stated {
            for word in one.statement.words.iter().chain(one.subject.iter()) {
                all.add(word);
            }
            all.ends.push(all.of_statements.len());
        }
        all
    }

    fn add(&mut self, word: ContentWord) {
        let next = self.words.len() as WordNumber;
        let number = *self.numbers.entry(word).or_insert(next);
        if number == next {
            self.words.push(word);
            self.frequencies.push(0);
        }
        self.frequencies[number as usize] += 1;
        self.of_statements.push(number);
    }

    /// The words of the statement at a place.
    fn of_statement(&self, at: usize) -> &[WordNumber] {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.of_statements[begin..self.ends[at]]
    }

    /// The rarest words of a statement that another one has, too.
    pub(super) fn rarest_of(&self, at: usize) -> Vec<WordNumber> {
        let words = self.of_statement(at).iter();
        let words = words.map(|number| {
            let place = *number as usize;
            (self.frequencies[place], self.words[place], *number)
        });
        let mut words: Vec<_> = words.filter(|(statements, ..)| *statements > 1).collect();
        words.sort_unstable();
        words.dedup();
        words.truncate(RARE_WORDS);
        words.into_iter().map(|(.., number)| number).collect()
    }

    /// The words of numbers.
    pub(super) fn words_of(&self, numbers: &[WordNumber]) -> impl Iterator<Item = ContentWord> {
        numbers.iter().map(|number| self.words[*number as usize])
    }

    /// The numbers of words that statements hold.
    pub(super) fn numbers_of(&self, words: &ContentWords) -> Vec<WordNumber> {
        let numbers = words.iter().filter_map(|word| self.numbers.get(&word));
        numbers.copied().collect()
    }

    /// Whether words are rare enough to name one thing.
    pub(super) fn are_names(&self, words: &ContentWords) -> bool {
        let mut numbers = words.iter().map(|word| self.numbers.get(&word));
        numbers.all(|number| {
            let frequency = number.map(|number| self.frequencies[*number as usize]);
            frequency.is_some_and(|frequency| frequency as usize <= NAME_STATEMENTS)
        })
    }
}

/// Statements that were already compared, by word. Each word has as much room as statements hold it.
pub(super) struct StatementsByWord {
    begins: Vec<usize>,
    counts: Vec<usize>,
    statements: Vec<u32>,
}

impl StatementsByWord {
    pub(super) fn new(words: &StatementWords) -> Self {
        let mut end = 0;
        let begins = words.frequencies.iter().map(|frequency| {
            let begin = end;
            end += *frequency as usize;
            begin
        });
        Self {
            begins: begins.collect(),
            counts: vec![0; words.frequencies.len()],
            statements: vec![0; words.of_statements.len()],
        }
    }

    pub(super) fn add(&mut self, at: usize, words: &StatementWords) {
        let statement = u32::try_from(at).expect("a scope has fewer observations");
        for number in words.of_statement(at) {
            let number = *number as usize;
            self.statements[self.begins[number] + self.counts[number]] = statement;
            self.counts[number] += 1;
        }
    }

    /// The latest statements that share one of the words, each once.
    pub(super) fn sharing<'k>(
        &'k self,
        words: &'k [WordNumber],
        seen: &'k mut SeenStatements,
    ) -> impl Iterator<Item = usize> + 'k {
        seen.begin();
        let latest = words.iter().flat_map(|number| {
            let number = *number as usize;
            let begin = self.begins[number];
            let statements = &self.statements[begin..begin + self.counts[number]];
            statements.iter().rev().take(OF_ONE_WORD)
        });
        let latest = latest.map(|at| *at as usize);
        latest.filter(|at| seen.is_new(*at))
    }
}

/// Which statements a search has returned. Searches are counted, so that a new one need not clear the list.
pub(super) struct SeenStatements {
    in_search: Vec<u32>,
    search: u32,
}

impl SeenStatements {
    pub(super) fn of(statements: usize) -> Self {
        Self {
            in_search: vec![0; statements],
            search: 0,
        }
    }

    fn begin(&mut self) {
        self.search += 1;
    }

    fn is_new(&mut self, at: usize) -> bool {
        std::mem::replace(&mut self.in_search[at], self.search) != self.search
    }
}
