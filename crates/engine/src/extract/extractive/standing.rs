//! Finds statements of how things are: a subject, and how it is set up.
//!
//! "Payments go through the gateway", "maria owns the importer": such a statement has no word that announces it. It is
//! recognised by its verb, which tells where a thing is, what it runs on, who is responsible, what it requires; verbs that
//! tell what a thing does at the moment are left out.
//!
//! Not here: statements that are announced, and what makes other kinds (`classify`).

use super::lexicon::{Cue, Lexicon};

/// Most words of a subject.
const SUBJECT_WORDS: usize = 6;
/// Marks between statements of one sentence.
const BORDERS: [&str; 7] = [", ", "; ", " and ", " - ", " und ", " y ", ": "];

/// The weight of the strongest statement of how something is in `low`; 0 if there is none. A clause beside it may give a
/// reason in any words.
pub(super) fn weigh_standing(low: &str, lexicon: &Lexicon) -> i32 {
    let mut starts = vec![0];
    for border in BORDERS {
        starts.extend(low.match_indices(border).map(|(at, _)| at + border.len()));
    }
    let until_border = |clause: &str| -> usize {
        let ends = [", ", "; ", " - "]
            .iter()
            .filter_map(|border| clause.find(border));
        ends.min().unwrap_or(clause.len())
    };
    let clauses = starts.into_iter().map(|start| &low[start..]);
    let clauses = clauses.map(|clause| &clause[..until_border(clause)]);
    let plain = clauses.filter(|clause| !lexicon.has_cue(Cue::NotFact, clause));
    let weights = plain.filter_map(|clause| weigh_clause(clause, lexicon));
    weights.max().unwrap_or(0)
}

/// The weight of the first verb after a subject at the start of `clause`.
fn weigh_clause(clause: &str, lexicon: &Lexicon) -> Option<i32> {
    let borders = clause.match_indices(' ').take(SUBJECT_WORDS);
    let mut splits = borders.map(|(at, _)| (&clause[..at], &clause[at + 1..]));
    splits.find_map(|(subject, rest)| {
        let stops = BORDERS
            .iter()
            .any(|border| subject.contains(border.trim_end()));
        let stated = lexicon.strongest(Cue::States, rest)?.0;
        (!stops && !lexicon.has_cue(Cue::NoSubject, subject)).then_some(stated)
    })
}
