//! Patterns that are compiled for the first text that they may match.
//!
//! Compiling a pattern takes up to a millisecond and some kilobytes, and a process that answers one question needs few of
//! some two hundred. Each match of most patterns contains one of a few literals: for a text without any of them the answer
//! is known without the pattern.

use std::sync::OnceLock;

use memchr::memmem::Finder;
use regex::Regex;
use regex_syntax::hir::{Hir, HirKind};

/// Letters of the languages that [`crate::lexicon`] has cues of.
pub(crate) const LATIN: &str = "a-zÀ-ɏ";
/// Letters of all living scripts, roughly: between them lie marks that no sentence has.
const LETTERS: &str = "A-Za-zÀ-ÖØ-öø-\u{1fff}\u{3041}-\u{d7ff}";

/// Most literals that are looked for before a pattern is used.
const MOST_LITERALS: usize = 128;

/// A constant pattern.
#[derive(Debug)]
pub struct LazyPattern {
    source: String,
    /// Each match contains one of these; empty where none are known.
    literals: Vec<Finder<'static>>,
    regex: OnceLock<Regex>,
}

impl LazyPattern {
    /// Parses a constant pattern, without compiling it. Its word characters are those of [`constant_regex`].
    pub fn new(source: &str) -> Self {
        let source = with_word_letters(source, LETTERS);
        let parsed = regex_syntax::parse(&source).expect("the patterns are constant");
        let literals = required_literals(&parsed);
        Self {
            literals: literals
                .filter(|all| all.len() <= MOST_LITERALS)
                .unwrap_or_default()
                .iter()
                .map(|literal| Finder::new(literal).into_owned())
                .collect(),
            source,
            regex: OnceLock::new(),
        }
    }

    /// Each match contains one of these; empty where none are known.
    pub(crate) fn literals(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.literals.iter().map(Finder::needle)
    }

    /// The compiled pattern; `None` for a text that it does not match.
    pub fn if_possible(&self, text: &str) -> Option<&Regex> {
        let holds = |literal: &Finder<'_>| literal.find(text.as_bytes()).is_some();
        let may_match = self.literals.is_empty() || self.literals.iter().any(holds);
        may_match.then(|| self.compiled())
    }

    /// The compiled pattern.
    pub fn compiled(&self) -> &Regex {
        let compile = || Regex::new(&self.source).expect("the patterns are constant");
        self.regex.get_or_init(compile)
    }

    /// Whether it matches a part of the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.if_possible(text)
            .is_some_and(|regex| regex.is_match(text))
    }
}

/// Compiles a constant pattern whose word characters, letters and digits are ranges of a few scripts. Those of all that
/// Unicode knows take ten times longer to compile, up to a millisecond for each `\w`, and are slower to search with.
pub fn constant_regex(source: &str) -> Regex {
    Regex::new(&with_word_letters(source, LETTERS)).expect("the patterns are constant")
}

/// A pattern with the ranges of these letters in place of `\w`, `\d` and `\p{L}`.
pub(crate) fn with_word_letters(pattern: &str, letters: &str) -> String {
    let mut found = String::with_capacity(2 * pattern.len());
    let mut in_class = false;
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let classes = [
            ("\\w", "0-9_", letters),
            ("\\d", "0-9", ""),
            ("\\p{L}", "", letters),
        ];
        let class = classes.iter().find(|(class, ..)| rest.starts_with(class));
        if let Some((class, first, more)) = class {
            let (begin, end) = if in_class { ("", "") } else { ("[", "]") };
            found.extend([begin, first, more, end]);
            rest = &rest[class.len()..];
            continue;
        }
        in_class = (in_class || c == '[') && c != ']';
        let escaped = rest.chars().nth(1).filter(|_| c == '\\');
        found.push(c);
        found.extend(escaped);
        rest = &rest[c.len_utf8() + escaped.map_or(0, char::len_utf8)..];
    }
    found
}

/// Literals of which each match contains one; of several such lists the one whose shortest literal is longest.
fn required_literals(hir: &Hir) -> Option<Vec<Box<[u8]>>> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(vec![literal.0.clone()]),
        HirKind::Capture(group) => required_literals(&group.sub),
        HirKind::Repetition(repeated) if repeated.min > 0 => required_literals(&repeated.sub),
        HirKind::Concat(parts) => {
            let lists = parts.iter().filter_map(required_literals);
            lists.max_by_key(|list| list.iter().map(|literal| literal.len()).min())
        }
        HirKind::Alternation(choices) => {
            let lists: Option<Vec<_>> = choices.iter().map(required_literals).collect();
            Some(lists?.concat())
        }
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) | HirKind::Repetition(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, literals: &[&str]) {
        let pattern = LazyPattern::new(source);
        let found: Vec<&str> = pattern
            .literals
            .iter()
            .map(|it| str::from_utf8(it.needle()).expect("patterns are text"))
            .collect();
        assert_eq!(found, literals, "{source}");
    }

    #[test]
    fn each_match_contains_one_of_the_literals() {
        check(r"\b(?:now|instead)\b", &["now", "instead"]);
        check(
            r"^(?:the )?(?P<key>\w+) (?:is|are) (?:now )?gone",
            &["gone"],
        );
        check(r"(?:tide)+ table", &[" table"]);
        check(r"现在|改成", &["现在", "改成"]);
        // Nothing is known of these: what may be absent is in no match for certain.
        check(r"(?:the )?\w+", &[]);
        check(r"\bnow\b|\d+", &[]);
        check(r"(?i)now", &[]);
    }

    #[test]
    fn word_characters_are_letters_of_a_few_scripts() {
        assert_eq!(
            with_word_letters(r"^\w+ [\w-]\d", LATIN),
            "^[0-9_a-zÀ-ɏ]+ [0-9_a-zÀ-ɏ-][0-9]"
        );
        assert_eq!(
            with_word_letters(r"[\]\p{L}]\\w\b", LATIN),
            r"[\]a-zÀ-ɏ]\\w\b"
        );
        let (ours, all) = (
            constant_regex(r"^[\w]\w+$"),
            Regex::new(r"^\w+$").expect("a pattern"),
        );
        for word in [
            "tide",
            "Größe2",
            "ñandú",
            "прилив",
            "παλίρροια",
            "潮汐",
            "しお",
            "조수",
            "المد",
            "snake_case",
        ] {
            assert!(ours.is_match(word) && all.is_match(word), "{word}");
        }
        for other in ["tide, table", "“tide”", "a—b", "1 × 2", "潮汐。", "ebb…"] {
            assert!(!ours.is_match(other) && !all.is_match(other), "{other}");
        }
    }

    #[test]
    fn a_pattern_is_compiled_for_a_text_that_it_may_match() {
        let pattern = LazyPattern::new(r"\b(?:now|instead)\b");
        assert!(!pattern.is_match("the tide table"));
        assert_eq!(pattern.regex.get().map(Regex::as_str), None);
        assert!(!pattern.is_match("the knowledge base"));
        assert!(pattern.is_match("the tide table is now on the pier"));
        assert!(pattern.regex.get().is_some());
    }
}
