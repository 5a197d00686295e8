//! Matches the quoted phrases of a question against a document, term by term.

use std::collections::HashMap;

use daybook_domain::index::IndexedDocument;

use crate::query::{Phrase, Query, TermIx};
use daybook_text::tokens::for_each_indexed_token;

/// Added to the positions of each further field, so that no phrase matches across two fields.
const FIELD_GAP: u32 = 1 << 20;

/// Whether a document contains every phrase of a question.
pub fn has_phrases(query: &Query, document: &IndexedDocument) -> bool {
    if query.phrases().is_empty() {
        return true;
    }
    let positions = positions(query, document);
    query
        .phrases()
        .iter()
        .all(|phrase| has_phrase(&positions, phrase))
}

/// The ascending token positions of each term of the question in a document.
fn positions(query: &Query, document: &IndexedDocument) -> Vec<Vec<u32>> {
    let terms = query.terms().iter().enumerate();
    let terms: HashMap<&str, TermIx> = terms
        .map(|(at, term)| (term.as_str(), TermIx(at)))
        .collect();
    let mut positions = vec![Vec::new(); terms.len()];
    let fields = [Some(document.text.as_str()), document.context.as_deref()];
    for (at, field) in (0_u32..).zip(fields) {
        for_each_indexed_token(field.unwrap_or_default(), |token| {
            if let Some(term) = terms.get(token.text) {
                positions[term.0].push(at * FIELD_GAP + token.position);
            }
        });
    }
    positions
}

fn has_phrase(positions: &[Vec<u32>], phrase: &Phrase) -> bool {
    let Some(((first, _), rest)) = phrase.terms.split_first() else {
        return true;
    };
    positions[first.0].iter().any(|start| {
        rest.iter()
            .all(|(term, offset)| positions[term.0].binary_search(&(start + offset)).is_ok())
    })
}
