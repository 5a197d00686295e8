//! A set of patterns of which a text matches few.
//!
//! One automaton for a hundred patterns has so many states that it is given up within a sentence, and then every pattern is
//! tried at every position: this took a twentieth of a millisecond for a sentence. Each match of nearly every pattern
//! contains one of a few literals. All literals are looked for at once, and then the few patterns one by one that may match.

use aho_corasick::AhoCorasick;
use regex::Regex;

use crate::lazy_pattern::LazyPattern;

/// Constant patterns, by number.
#[derive(Debug)]
pub(crate) struct PatternSet {
    patterns: Vec<LazyPattern>,
    literals: AhoCorasick,
    /// For each literal the patterns of which a match may contain it.
    with_literal: Vec<Vec<usize>>,
    /// Patterns whose matches have no literal in common.
    without: Vec<usize>,
}

impl PatternSet {
    /// Parses constant patterns, without compiling them.
    pub(crate) fn new(sources: impl IntoIterator<Item = String>) -> Self {
        let patterns: Vec<LazyPattern> = sources
            .into_iter()
            .map(|it| LazyPattern::new(&it))
            .collect();
        let mut literals: Vec<(&[u8], Vec<usize>)> = Vec::new();
        let mut without = Vec::new();
        for (number, pattern) in patterns.iter().enumerate() {
            if pattern.literals().len() == 0 {
                without.push(number);
            }
            for literal in pattern.literals() {
                match literals.iter_mut().find(|(known, _)| *known == literal) {
                    Some((_, of)) => of.push(number),
                    None => literals.push((literal, vec![number])),
                }
            }
        }
        let automaton = AhoCorasick::new(literals.iter().map(|(literal, _)| literal));
        let automaton = automaton.expect("the literals are few and short");
        let with_literal = literals.into_iter().map(|(_, of)| of).collect();
        Self {
            literals: automaton,
            with_literal,
            without,
            patterns,
        }
    }

    /// The numbers of the patterns that match a part of the text, in their order.
    pub(crate) fn hits(&self, text: &str) -> impl Iterator<Item = usize> {
        let mut may_match = vec![false; self.patterns.len()];
        for number in &self.without {
            may_match[*number] = true;
        }
        for found in self.literals.find_overlapping_iter(text) {
            for number in &self.with_literal[found.pattern()] {
                may_match[*number] = true;
            }
        }
        let numbers = (0..self.patterns.len()).filter(move |number| may_match[*number]);
        numbers.filter(|number| self.pattern(*number).is_match(text))
    }

    /// The pattern with this number.
    pub(crate) fn pattern(&self, number: usize) -> &Regex {
        self.patterns[number].compiled()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use regex::RegexSet;

    use super::*;

    const SOURCES: [&str; 7] = [
        r"\b(?:now|instead)\b",
        r"^the \w+ (?:is|are) (?:now )?gone",
        r"\bnow\b.{2,9}\btide\b",
        r"\w+ \d+",
        "现在|改成",
        r"(?:tide|pier)s?$",
        r"^$",
    ];

    proptest! {
        #[test]
        fn what_matches_is_what_a_set_of_all_finds(
            words in vec("the|tides?|now|is|are|gone|instead|pier|no|wind|4|现在|改|成|-", 0..9),
        ) {
            let text = words.join(" ");
            let patterns = PatternSet::new(SOURCES.map(str::to_owned));
            let all = RegexSet::new(SOURCES).unwrap();
            let hits: Vec<usize> = patterns.hits(&text).collect();
            let expected: Vec<usize> = all.matches(&text).into_iter().collect();
            prop_assert_eq!(hits, expected, "{}", text);
        }
    }
}
