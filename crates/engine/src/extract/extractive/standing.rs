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

#[cfg(test)]
mod tests {
    use super::super::lexicon::lexicon_of;
    use super::*;

    fn is_standing(sentence: &str) -> bool {
        let low = sentence.to_lowercase();
        lexicon_of(&low).is_some_and(|lexicon| weigh_standing(&low, lexicon) > 0)
    }

    #[test]
    fn a_statement_of_how_something_is_set_up_is_recognised_by_its_verb() {
        for sentence in [
            "card payments go through the gateway",
            "Grace owns the importer",
            "logs are kept 14 days because of the works council",
            "payments go through the new gateway now, the old one was too expensive",
            "Rechnungen gehen über das Portal raus",
            "um den Importer kümmert sich Maria",
            "los precios se guardan sin IVA",
            "del módulo de stock se encarga Linus",
        ] {
            assert!(is_standing(sentence), "{sentence}");
        }
    }

    #[test]
    fn news_of_the_moment_complaints_and_what_only_the_conversation_explains_are_none() {
        for sentence in [
            "the API is broken again",
            "it goes through the wrong gateway",
            "the list shows every row twice",
            "this function runs on every request",
            "staging is down until noon",
            "let's go through the gateway",
            "der Export läuft gerade auf einen Fehler",
            "la tabla sale duplicada al filtrar por fecha",
        ] {
            assert!(!is_standing(sentence), "{sentence}");
        }
    }
}
