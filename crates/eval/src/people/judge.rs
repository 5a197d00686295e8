//! Judges answers and lines of memory by a key.

use std::sync::LazyLock;

use regex::Regex;

use super::cases::{Expression, KeyLine, KeyQuestion};

/// What a line shows as its past: in brackets, or before an arrow.
static PAST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\((?:before|until|was)[^()]*(?:\([^()]*\)[^()]*)*\)|\S+ → ")
        .expect("it is a pattern")
});

/// What a line says that holds, without its citations.
pub(super) fn now(line: &str) -> String {
    let line = line.rsplit_once(" [").map_or(line, |(said, _)| said);
    PAST.replace_all(line, "").into_owned()
}

impl Expression {
    fn fits(&self, text: &str) -> bool {
        self.pattern.is_match(text) == self.occurs
    }
}

fn all_fit(expressions: &[Expression], text: &str) -> bool {
    expressions.iter().all(|expression| expression.fits(text))
}

impl KeyQuestion {
    pub(super) fn was_never_discussed(&self) -> bool {
        self.answer.is_empty()
    }

    pub(super) fn is_answered_by(&self, text: &str) -> bool {
        all_fit(&self.answer, text)
    }

    pub(super) fn is_outdated(&self, text: &str) -> bool {
        !self.is_answered_by(text) && self.outdated.iter().any(|it| it.fits(text))
    }
}

impl KeyLine {
    pub(super) fn is_said_by(&self, line: &str) -> bool {
        all_fit(&self.matches, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_of_a_line_is_not_what_it_says() {
        let value = "- PAGE_SIZE in base.py: 24 → 36 → **30** [s1:L3]";
        assert_eq!(now(value), "- PAGE_SIZE in base.py: **30**");
        let decision = r#"- "use SQLite" (before 1 Feb: "use Postgres (14)") [a:L1]"#;
        assert_eq!(now(decision), r#"- "use SQLite" "#);
        assert_eq!(now("- \"never push\""), "- \"never push\"");
    }
}
