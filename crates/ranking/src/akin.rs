//! Words that mean nearly what a question's words do, as numbers.
//!
//! Not here: which words are near (the model), what they count for (`lexical`).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use daybook_domain::index::Terms;
use daybook_domain::seams::Embedder;
use daybook_text::tokens::index_text;
use foldhash::fast::RandomState;

use crate::query::Query;

/// Least cosine between the vectors of akin words.
const AKIN_FLOOR: f32 = 0.3;
/// Words whose akin words are kept, about half a kilobyte each: questions use the same few thousand.
const KEPT: usize = 4096;

/// Terms, each with the cosine of the angle between its vector and another's.
type AkinTerms = Arc<[(u32, f32)]>;

/// Akin terms, by the model and the word.
type KnownTerms = HashMap<(String, String), AkinTerms, RandomState>;

/// What was asked for before. What a model finds near never changes.
static KNOWN: LazyLock<Mutex<KnownTerms>> = LazyLock::new(Mutex::default);

/// Words whose vectors lie near those of a question's words.
#[derive(Default)]
pub struct AkinWords {
    /// For each term, the concepts that it is akin to, with the cosine between their vectors.
    of: HashMap<u32, Vec<(usize, f32)>, RandomState>,
    prefilter: TermSet,
}

impl AkinWords {
    /// Looks up the akin words of each concept in a model. Numbers and names have none.
    #[inline(never)]
    pub fn of(query: &Query, embedder: &dyn Embedder) -> Self {
        let mut of: HashMap<u32, Vec<(usize, f32)>, RandomState> = HashMap::default();
        for (at, concept) in query.concepts().iter().enumerate() {
            let Some(word) = concept.word.as_deref().filter(|word| is_ordinary(word)) else {
                continue;
            };
            let own: Vec<u32> = concept
                .terms()
                .map(|t| Terms::of_token(query.term(t)))
                .collect();
            for (term, angle) in &*akin_terms(word, embedder) {
                if !own.contains(term) {
                    of.entry(*term).or_default().push((at, *angle));
                }
            }
        }
        let prefilter = TermSet::of(of.keys().copied());
        Self { of, prefilter }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The concepts that some of these terms are akin to, each as often as it is, with the cosine.
    pub(crate) fn in_terms<'t>(
        &'t self,
        terms: &'t [u32],
    ) -> impl Iterator<Item = (usize, f32)> + 't {
        let possible = terms.iter().filter(|term| self.prefilter.has(**term));
        let akin = possible.filter_map(|term| self.of.get(term));
        akin.flatten().copied()
    }
}

/// The terms of the words that are near a word; those of several terms name something else.
fn akin_terms(word: &str, embedder: &dyn Embedder) -> AkinTerms {
    let asked = (embedder.id().to_owned(), word.to_owned());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(terms) = known().get(&asked) {
        return Arc::clone(terms);
    }
    let near = embedder.near(word, AKIN_FLOOR).into_iter();
    let terms = near.filter_map(|(near, angle)| match &*Terms::of(&index_text(&near)).0 {
        [term] => Some((*term, angle)),
        _ => None,
    });
    let terms: AkinTerms = terms.collect();
    let mut known = known();
    if known.len() == KEPT {
        known.clear();
    }
    known.insert(asked, Arc::clone(&terms));
    terms
}

fn is_ordinary(word: &str) -> bool {
    word.chars().count() >= 3 && word.chars().all(char::is_alphabetic)
}

/// A set of terms with a bit map in front, for lookups that nearly always miss.
#[derive(Default)]
pub(crate) struct TermSet {
    bits: Vec<u64>,
    terms: HashSet<u32, RandomState>,
}

impl TermSet {
    pub(crate) fn of(terms: impl Iterator<Item = u32>) -> Self {
        let terms: HashSet<u32, RandomState> = terms.collect();
        let mut bits = vec![0; 1 << 10];
        for term in &terms {
            bits[(term >> 6 & 0x3ff) as usize] |= 1_u64 << (term & 63);
        }
        Self { bits, terms }
    }

    pub(crate) fn has(&self, term: u32) -> bool {
        let word = self.bits.get((term >> 6 & 0x3ff) as usize);
        word.is_some_and(|word| word >> (term & 63) & 1 == 1) && self.terms.contains(&term)
    }
}

#[cfg(test)]
mod tests {
    use daybook_testkit::FakeEmbedder;

    use super::*;

    #[test]
    fn a_sieve_has_what_was_put_in() {
        let terms: HashSet<u32> = (0..5000_u32).map(|n| n.wrapping_mul(0x9e37_79b9)).collect();
        let prefilter = TermSet::of(terms.iter().copied());
        assert!(terms.iter().all(|term| prefilter.has(*term)));
        assert!((1..5000).all(|n| prefilter.has(n) == terms.contains(&n)));
        assert!(!TermSet::default().has(7));
    }

    #[test]
    fn each_model_has_akin_words_of_its_own_however_often_it_is_asked() {
        let query = Query::parse("boat");
        let terms = |text: &str| Terms::of(&index_text(text)).0;
        for _ in 0..2 {
            let boats = AkinWords::of(&query, &FakeEmbedder::new("ada/boats@1", &["boat ship"]));
            let carts = AkinWords::of(&query, &FakeEmbedder::new("ada/carts@1", &["boat cart"]));
            assert_eq!(boats.in_terms(&terms("ship cart")).count(), 1);
            assert_eq!(boats.in_terms(&terms("cart")).count(), 0);
            assert_eq!(carts.in_terms(&terms("cart")).count(), 1);
        }
    }
}
