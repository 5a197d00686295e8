//! Whether a text has what was asked for word by word.

use std::collections::HashMap;

use daybook_domain::index::Document;

use super::query::{Phrase, Query, TermIx};
use super::tokens::for_each_indexed_token;

/// Distance between the fields of a text: never neighbours.
const FIELD_GAP: u32 = 1 << 20;

/// Whether a document has every phrase of a question.
pub(super) fn has_phrases(query: &Query, document: &Document) -> bool {
    if query.phrases().is_empty() {
        return true;
    }
    let places = places(query, document);
    query.phrases().iter().all(|phrase| has(&places, phrase))
}

/// Where each term of the question stands, ascending.
fn places(query: &Query, document: &Document) -> Vec<Vec<u32>> {
    let terms = query.terms().iter().enumerate();
    let terms: HashMap<&str, TermIx> = terms
        .map(|(at, term)| (term.as_str(), TermIx(at)))
        .collect();
    let mut places = vec![Vec::new(); terms.len()];
    let fields = [Some(document.text.as_str()), document.context.as_deref()];
    for (at, field) in (0_u32..).zip(fields) {
        for_each_indexed_token(field.unwrap_or_default(), |token| {
            if let Some(term) = terms.get(token.text) {
                places[term.0].push(at * FIELD_GAP + token.position);
            }
        });
    }
    places
}

fn has(places: &[Vec<u32>], phrase: &Phrase) -> bool {
    let Some(((first, _), rest)) = phrase.terms.split_first() else {
        return true;
    };
    places[first.0].iter().any(|start| {
        rest.iter()
            .all(|(term, offset)| places[term.0].binary_search(&(start + offset)).is_ok())
    })
}
