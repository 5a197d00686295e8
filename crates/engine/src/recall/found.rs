//! Where a text has what a question asks for.
//!
//! A text is read once, all its fields one after the other, and what it has is kept as places: how
//! often a term occurs, whether terms stand together, whether a phrase stands word by word.
//!
//! Not here: what any of this is worth (`rank`, `relevance`).

use std::collections::HashMap;

use super::query::{Concept, Phrase, TermIx};
use super::rank::Candidate;
use super::relevance::Evidence;
use super::tokens::for_each_indexed_token;

/// What a word in the title counts, compared to one in the text.
const TITLE_WEIGHT: f64 = 1.5;
/// What a word in the context counts, compared to one in the text. With the neighbouring turns as
/// context a half finds more than a third or the whole does.
const CONTEXT_WEIGHT: f64 = 0.5;
/// Neighbouring concepts further apart than this do not stand together.
const PROXIMITY_SPAN: u32 = 8;
/// Distance between the fields of a text: never neighbours.
const FIELD_GAP: u32 = 1 << 20;

/// Where a text has the terms of the question.
pub(super) struct Found {
    places: Vec<Places>,
    length: u32,
}

#[derive(Clone, Default)]
struct Places {
    /// Occurrences, each weighed by its field.
    count: f64,
    /// Ascending.
    at: Vec<u32>,
}

impl Found {
    /// Reads a text, looking for `terms`.
    pub(super) fn in_text(candidate: &Candidate<'_>, terms: &HashMap<&str, TermIx>) -> Self {
        let mut found = Self {
            places: vec![Places::default(); terms.len()],
            length: 0,
        };
        let fields = [
            (Some(candidate.text), 1.0),
            (candidate.context, CONTEXT_WEIGHT),
            (candidate.title, TITLE_WEIGHT),
        ];
        for (at, (field, weight)) in (0u32..).zip(fields) {
            for_each_indexed_token(field.unwrap_or_default(), |token| {
                found.length += 1;
                if let Some(term) = terms.get(token.text) {
                    let places = &mut found.places[term.0];
                    places.count += weight;
                    places.at.push(at * FIELD_GAP + token.position);
                }
            });
        }
        found
    }

    /// How many tokens the text has.
    pub(super) fn length(&self) -> u32 {
        self.length
    }

    fn count(&self, term: TermIx) -> f64 {
        self.places[term.0].count
    }

    /// Occurrences of the concept: of its whole, else the mean of the parts that occur.
    pub(super) fn concept_count(&self, concept: &Concept) -> f64 {
        if let Some(whole) = concept.whole.filter(|whole| self.has(*whole)) {
            return self.count(whole);
        }
        let parts = concept.parts.iter().filter(|part| self.has(**part));
        let (sum, parts) = parts.fold((0.0, 0), |(sum, parts), part| {
            (sum + self.count(*part), parts + 1)
        });
        sum / f64::from(parts.max(1))
    }

    fn at(&self, term: TermIx) -> &[u32] {
        &self.places[term.0].at
    }

    pub(super) fn has_phrase(&self, phrase: &Phrase) -> bool {
        let Some(((first, _), rest)) = phrase.terms.split_first() else {
            return true;
        };
        self.at(*first).iter().any(|start| {
            rest.iter()
                .all(|(term, offset)| self.at(*term).binary_search(&(start + offset)).is_ok())
        })
    }

    /// The least distance between two concepts, if it is small.
    pub(super) fn gap(&self, one: &Concept, other: &Concept) -> Option<u32> {
        one.terms()
            .flat_map(|term| self.at(term))
            .flat_map(|place| {
                other
                    .terms()
                    .filter_map(|term| nearest(self.at(term), *place))
            })
            .map(|gap| gap.max(1))
            .filter(|gap| *gap <= PROXIMITY_SPAN)
            .min()
    }
}

/// Distance from `a` to the nearest of the ascending `places`.
fn nearest(places: &[u32], a: u32) -> Option<u32> {
    let at = places.partition_point(|place| *place < a);
    let after = places.get(at).copied();
    let before = at.checked_sub(1).map(|at| places[at]);
    after
        .into_iter()
        .chain(before)
        .map(|place| place.abs_diff(a))
        .min()
}

impl Evidence for Found {
    fn has(&self, term: TermIx) -> bool {
        !self.at(term).is_empty()
    }

    fn gathers(&self, terms: &[TermIx]) -> bool {
        let Some((first, rest)) = terms.split_first() else {
            return false;
        };
        let span = terms.len() as u32;
        self.at(*first).iter().any(|start| {
            rest.iter()
                .all(|term| nearest(self.at(*term), *start).is_some_and(|gap| gap <= span))
        })
    }
}
