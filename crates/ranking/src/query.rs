//! Parses a question into terms, groups the terms into concepts, and collects quoted phrases.
//!
//! A name and its parts are one concept, as are the pairs of a run without spaces: a text with the whole matches the
//! concept fully, a text with some parts matches a share of it. Every list is bounded, so a pasted page costs no more
//! than a sentence.
//!
//! Not here: how rare a term is and how much a match counts (`relevance`); words for points in time (`dates`).

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

use crate::stopwords::{QuestionLanguage, blank_unspaced_stop_words, is_light_word, is_stop_word};
use daybook_text::tokens::{TextToken, TokenKind, for_each_token, indexed_parts};

/// Most terms of one question. Each further term finds more texts and costs a look-up.
pub const QUERY_TERMS: usize = 24;
/// Most parts of one concept: a longer path keeps its end, a longer run its beginning.
const PARTS_IN_A_CONCEPT: usize = 8;
/// Most quoted phrases that are required; further quotations are ordinary words.
const PHRASES: usize = 2;
/// Most terms of a required phrase. A longer quotation is rarely repeated verbatim, so its words are ordinary words.
const PHRASE_TERMS: usize = 8;
/// Length in characters up to which longer words are preferred when a question has too many terms.
const INFORMATIVE_LENGTH: usize = 12;
/// Opening and closing quotation marks.
const QUOTES: [(char, char); 5] = [
    ('"', '"'),
    ('“', '”'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
];

/// Index of a term in [`Query::terms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermIx(pub usize);

/// A parsed question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    terms: Vec<String>,
    concepts: Vec<Concept>,
    phrases: Vec<Phrase>,
}

/// One thing that the question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concept {
    /// The word, or the whole name; `None` for runs of scripts without spaces.
    pub whole: Option<TermIx>,
    /// The parts of a name, or the pairs of a run.
    pub parts: Vec<TermIx>,
    /// Whether the parts are the pairs of a run: each matching pair then counts as a share of the concept.
    pub is_run: bool,
    /// Whether it is a light word, which weighs little (`use`, `find`).
    pub is_light: bool,
    /// The word as it was written, lower case, unless it is a name of several parts or a run.
    pub word: Option<String>,
}

/// Terms that a text must contain in the order and at the distances of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// Each term, and its distance from the phrase's first one.
    pub terms: Vec<(TermIx, u32)>,
}

impl Query {
    /// Parses a question. Stop words are left out unless nothing else remains. Of a pasted page only the head and the
    /// tail are read, as indexing would.
    #[inline(never)]
    pub fn parse(question: &str) -> Self {
        let (head, tail) = indexed_parts(question);
        let question: String = head
            .chars()
            .chain([' '])
            .chain(tail.chars())
            .nfkc()
            .collect();
        let pieces = split_at_quotes(&question);
        let mut draft = QueryDraft::read(&pieces, StopWords::LeftOut);
        if draft.concepts.is_empty() {
            draft = QueryDraft::read(&pieces, StopWords::Kept);
        }
        draft.into_query()
    }

    /// The terms to look up, each once: those of the concepts and those of the phrases.
    pub fn terms(&self) -> &[String] {
        &self.terms
    }

    /// The text of one term.
    pub fn term(&self, at: TermIx) -> &str {
        &self.terms[at.0]
    }

    /// The concepts, in the question's order.
    pub fn concepts(&self) -> &[Concept] {
        &self.concepts
    }

    /// The quoted phrases that a text must contain.
    pub fn phrases(&self) -> &[Phrase] {
        &self.phrases
    }

    /// The same question without its required phrases; their words remain as concepts.
    pub fn without_phrases(mut self) -> Self {
        self.phrases.clear();
        self
    }

    /// Whether the question has no concept.
    pub fn is_empty(&self) -> bool {
        self.concepts.is_empty()
    }

    /// Counts the words that are neither stop words nor light words. Every two characters of a run without spaces
    /// count as one word.
    pub fn content_words(&self) -> usize {
        let words = |concept: &Concept| match &concept.word {
            _ if concept.is_run => concept.parts.len().div_ceil(2),
            Some(word) if concept.is_light || is_stop_word(word) => 0,
            Some(_) | None => 1,
        };
        self.concepts.iter().map(words).sum()
    }

    fn intern(&mut self, term: &str) -> TermIx {
        let known = self.terms.iter().position(|other| other == term);
        TermIx(known.unwrap_or_else(|| {
            self.terms.push(term.to_owned());
            self.terms.len() - 1
        }))
    }
}

impl Concept {
    /// Whether an answer may leave it out: a light word, or one of these.
    pub fn is_light_or(&self, unsaid: &[&str]) -> bool {
        let word = self.word.as_deref();
        self.is_light || word.is_some_and(|word| unsaid.contains(&word))
    }

    /// The term of the whole, then those of the parts.
    pub fn terms(&self) -> impl Iterator<Item = TermIx> {
        self.whole.into_iter().chain(self.parts.iter().copied())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StopWords {
    LeftOut,
    Kept,
}

struct QuestionPart<'a> {
    text: &'a str,
    is_quoted: bool,
}

fn split_at_quotes(question: &str) -> Vec<QuestionPart<'_>> {
    let mut pieces = Vec::new();
    let mut rest = question;
    while let Some((open, inner, after)) = next_quote(rest) {
        pieces.push(QuestionPart {
            text: &rest[..open],
            is_quoted: false,
        });
        pieces.push(QuestionPart {
            text: inner,
            is_quoted: true,
        });
        rest = after;
    }
    pieces.push(QuestionPart {
        text: rest,
        is_quoted: false,
    });
    pieces
}

/// Where the next closed quotation opens, what it holds, and what follows it.
fn next_quote(text: &str) -> Option<(usize, &str, &str)> {
    text.char_indices().find_map(|(at, c)| {
        let (open, close) = QUOTES.iter().find(|(open, _)| *open == c)?;
        let inner = &text[at + open.len_utf8()..];
        let len = inner.find(*close)?;
        Some((at, &inner[..len], &inner[len + close.len_utf8()..]))
    })
}

/// A question whose terms are not selected yet.
#[derive(Default)]
struct QueryDraft {
    concepts: Vec<ConceptDraft>,
    /// The index of each concept, by its key.
    known: HashMap<String, usize>,
    phrases: Vec<Vec<(String, u32)>>,
}

#[derive(Default)]
struct ConceptDraft {
    group: u32,
    surface: String,
    whole: Option<String>,
    /// Each part's stem, with the word as written.
    parts: Vec<(String, String)>,
    is_run: bool,
    is_quoted: bool,
    is_light: bool,
}

impl QueryDraft {
    fn read(pieces: &[QuestionPart<'_>], stop_words: StopWords) -> Self {
        let mut draft = Self::default();
        let whole: Vec<&str> = pieces.iter().map(|piece| piece.text).collect();
        let language = QuestionLanguage::of(&whole.join(" "));
        for piece in pieces {
            if piece.is_quoted {
                draft.read_phrase(piece.text);
            }
            let blanked = match stop_words {
                StopWords::LeftOut => Some(blank_unspaced_stop_words(piece.text)),
                StopWords::Kept => None,
            };
            let mut read = read_concepts(blanked.as_deref().unwrap_or(piece.text));
            if stop_words == StopWords::LeftOut {
                read.retain(|concept| !language.is_stop_word(&concept.surface));
            }
            let names = everyday_names(piece.text);
            for concept in read {
                let is_light = concept.is_light || language.is_light_word(&concept.surface);
                draft.add(ConceptDraft {
                    is_quoted: piece.is_quoted,
                    is_light: is_light && !names.contains(&concept.surface),
                    ..concept
                });
            }
        }
        draft
    }

    fn read_phrase(&mut self, text: &str) {
        let mut terms = Vec::new();
        let mut first = None;
        for_each_token(text, |token| {
            if is_smallest(&token) && terms.len() <= PHRASE_TERMS {
                let first = *first.get_or_insert(token.position);
                terms.push((token.text.to_owned(), token.position - first));
            }
        });
        if (1..=PHRASE_TERMS).contains(&terms.len()) && self.phrases.len() < PHRASES {
            self.phrases.push(terms);
        }
    }

    fn add(&mut self, concept: ConceptDraft) {
        let next = self.concepts.len();
        let at = *self.known.entry(concept.key()).or_insert(next);
        if at == next {
            self.concepts.push(concept);
        } else {
            self.concepts[at].is_quoted |= concept.is_quoted;
        }
    }

    /// Selects the most informative concepts that fit, and restores their order.
    fn into_query(self) -> Query {
        let mut query = Query::default();
        for phrase in &self.phrases {
            let terms = phrase
                .iter()
                .map(|(term, at)| (query.intern(term), *at))
                .collect();
            query.phrases.push(Phrase { terms });
        }
        let mut by_informativeness: Vec<usize> = (0..self.concepts.len()).collect();
        by_informativeness
            .sort_by_key(|at| std::cmp::Reverse(self.concepts[*at].informativeness()));
        let mut chosen = HashMap::new();
        for at in by_informativeness {
            let concept = &self.concepts[at];
            if query.terms.len() + concept.new_terms(&query) > QUERY_TERMS {
                continue;
            }
            chosen.insert(at, concept.intern(&mut query));
        }
        query.concepts = (0..self.concepts.len())
            .filter_map(|at| chosen.remove(&at))
            .collect();
        query
    }
}

impl ConceptDraft {
    /// Equal for two spellings of one name.
    fn key(&self) -> String {
        let pairs = || self.parts.iter().map(|(term, _)| term.as_str()).collect();
        self.whole.clone().unwrap_or_else(pairs)
    }

    fn terms(&self) -> impl Iterator<Item = &str> {
        self.whole
            .as_deref()
            .into_iter()
            .chain(self.parts.iter().map(|(term, _)| term.as_str()))
    }

    fn new_terms(&self, query: &Query) -> usize {
        self.terms()
            .filter(|term| !query.terms.iter().any(|known| known == term))
            .count()
    }

    fn intern(&self, query: &mut Query) -> Concept {
        let whole = self.whole.as_deref().map(|term| query.intern(term));
        let mut parts: Vec<TermIx> = Vec::new();
        for (term, _) in &self.parts {
            let part = query.intern(term);
            if Some(part) != whole && !parts.contains(&part) {
                parts.push(part);
            }
        }
        Concept {
            whole,
            parts,
            is_run: self.is_run,
            is_light: self.is_light,
            word: self.parts.is_empty().then(|| self.surface.clone()),
        }
    }

    fn informativeness(&self) -> (bool, bool, bool, usize) {
        let is_name = !self.parts.is_empty() || self.surface.contains(|c: char| c.is_numeric());
        let length = self.surface.chars().count().min(INFORMATIVE_LENGTH);
        (self.is_quoted, is_name, !self.is_light, length)
    }
}

/// The words within a sentence that begin with a capital: `Go` and `Next` are names there, however light as verbs. None
/// where most words begin with one.
fn everyday_names(text: &str) -> HashSet<String> {
    let mut is_first = true;
    let (mut names, mut all) = (HashSet::new(), 0);
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        all += usize::from(!bare.is_empty());
        if !is_first && bare.starts_with(char::is_uppercase) {
            names.insert(bare.to_lowercase());
        }
        is_first = word.ends_with(['.', '?', '!', ':', ';']);
    }
    if names.len() * 2 > all {
        names.clear();
    }
    names
}

fn read_concepts(text: &str) -> Vec<ConceptDraft> {
    let mut concepts: Vec<ConceptDraft> = Vec::new();
    for_each_token(text, |token| {
        if concepts.last().is_none_or(|last| last.group != token.group) {
            concepts.push(ConceptDraft {
                group: token.group,
                ..ConceptDraft::default()
            });
        }
        let Some(concept) = concepts.last_mut() else {
            return;
        };
        match token.kind {
            TokenKind::Whole { .. } => {
                concept.surface = token.surface.to_owned();
                concept.whole = Some(token.text.to_owned());
            }
            TokenKind::Part | TokenKind::Pair => {
                concept.is_run = token.kind == TokenKind::Pair;
                concept
                    .parts
                    .push((token.text.to_owned(), token.surface.to_owned()));
            }
            TokenKind::Section | TokenKind::Inner => {}
        }
    });
    concepts.iter_mut().for_each(trim);
    concepts
}

/// Removes surplus parts and stop words among them, and marks light concepts.
fn trim(concept: &mut ConceptDraft) {
    let is_word = concept.parts.is_empty();
    let stem = concept.whole.as_deref();
    concept.is_light = is_word && stem.is_some_and(|stem| is_light_word(&concept.surface, stem));
    if concept.is_run {
        concept.parts.truncate(PARTS_IN_A_CONCEPT);
        return;
    }
    if concept
        .parts
        .iter()
        .any(|(_, surface)| !is_stop_word(surface))
    {
        concept.parts.retain(|(_, surface)| !is_stop_word(surface));
    }
    let surplus = concept.parts.len().saturating_sub(PARTS_IN_A_CONCEPT);
    concept.parts.drain(..surplus);
}

fn is_smallest(token: &TextToken<'_>) -> bool {
    match token.kind {
        TokenKind::Whole { divided } => !divided,
        TokenKind::Part | TokenKind::Pair => true,
        TokenKind::Section | TokenKind::Inner => false,
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
