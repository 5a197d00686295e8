//! Tells a reviewer's comment on code from a person's own words to an agent.
//!
//! Programs that review code, and people who do, write of the code alone: what it does, what is wrong, what should be
//! considered. A person who pastes such a comment states nothing of it.

use std::sync::LazyLock;

use regex::Regex;

use crate::lazy_pattern::constant_regex;

/// Bytes from which on a message can be a reviewer's.
const REVIEW_BYTES: usize = 120;

/// A person speaks of themselves, to the agent, or of both.
static SPEAKS: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)\b(i|i['’](d|m|ve|ll)|we|we['’](d|re|ve|ll)|you|you['’](d|re|ve|ll)|your|my|mine|our|ours|us|me|let['’]?s|please|pls|(can|could|would) (you|we|i)|ich|wir|mir|mich|uns|du|dein\w*|mein\w*|unser\w*|bitte|je|j['’]|nous|moi|mon|notre|tu|ton|yo|nosotros|mi|mis|nuestr\w+|por favor)\b",
    )
});

/// Names in code: calls, identifiers of several words, files with lines.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"\b\w+\(\)|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b\w+_\w+|\b\w+\.(rs|go|ts|tsx|js|py|java|rb|c|h|cpp|cs|kt|swift|php|sh|json|ya?ml|toml|md)\b|`[^`]+`",
    )
});

/// The words of a reviewer: what is wrong, and what should be considered.
static REVIEWS: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)\b(should|consider(ing)?|however|lacks?|missing|potential(ly)?|misleading|inconsisten\w+|unnecessar\w+|duplicat\w+|redundant|silently|incorrect\w*|this (means|could|can|may|might|makes|would|allows|test|change|function|method|approach|creates|causes)|ensures?|rather than|instead of|brittle|unclear|confusing|suggest\w*|recommend\w*|could (be|allow|lead|cause|break|result))\b",
    )
});

/// Weaker signs of the same, of which it takes two: what is not so, and what follows from it.
static DOUBTS: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)\b(omits?|overlooks?|ignores?|fails? to|(does|do|is|are|was|were)(n['’]t| not)|actually|appears? to|already exists?|identical|repeated|leaks?|unfiltered|uncovered|untested|no (tests?|context|validation|checks?|errors?)|without (any|context|validation|tests?|errors?|being)|critical|to (verify|ensure)|would (save|make|be|keep)|hard to follow|simpler|edge cases?|however|but (it|the|this)|because|if the)\b",
    )
});

/// Parts of a program, which a comment may be about without a name.
static PARTS: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)\b(functions?|methods?|packages?|modules?|class(es)?|structs?|parameters?|arguments?|variables?|conditionals?|branching|helpers?|(unit )?tests?|test coverage|assertions?|comments?|lines? \d+|code ?(base|paths?)?|error messages?|doc ?strings?)\b",
    )
});

/// A message that begins with an order to the agent.
static ORDERS: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)^\W*(fix|add|use|make|write|remove|reduce|update|implement|change|check|create|evaluate|handle|rename|move|delete|build|run|simplify|test|refactor|replace|extract|split|drop|keep|always|never|don['’]t|do not|note|remember|ensure|make sure)\b",
    )
});

/// Whether a paragraph reads like a reviewer's comment on code, and in no word like a person's own.
pub(crate) fn is_review(paragraph: &str) -> bool {
    let paragraph = paragraph.trim();
    paragraph.len() >= REVIEW_BYTES
        && !paragraph.contains('?')
        && !ORDERS.is_match(paragraph)
        && is_foreign_review(paragraph)
}

/// Whether a text is about code, judges it, and speaks neither of its writer nor to its reader.
pub(crate) fn is_foreign_review(text: &str) -> bool {
    if SPEAKS.is_match(text) {
        return false;
    }
    let names_code = CODE.is_match(text);
    names_code && REVIEWS.is_match(text)
        || is_prose(text) && (names_code || PARTS.is_match(text)) && doubts(text) >= 2
}

/// How often a text judges, with strong signs and weak ones.
fn doubts(text: &str) -> usize {
    REVIEWS.find_iter(text).count() + DOUBTS.find_iter(text).count()
}

/// Whether a text is written as for print: whole sentences, from a capital to a full stop. Few type so to an agent.
fn is_prose(text: &str) -> bool {
    let text = text.trim();
    let begins = text.trim_start_matches(|c: char| !c.is_alphabetic());
    text.ends_with('.') && begins.starts_with(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::is_review;

    #[test]
    fn comments_of_reviewers_are_heard_in_many_words() {
        for review in [
            "The total_of_month function decides which rows are summed, but it omits the rows of closed accounts. Sums of \
             closed accounts pass through unchecked.",
            "The ledger package is critical for billing and is used throughout the codebase, but it lacks unit tests. \
             Consider adding unit tests for edge cases like empty months.",
            "Lines 12 and 13 contain an identical comment: \"Round before summing\". One of these duplicate lines appears \
             to be accidentally repeated.",
            "2. Extract a setup helper — The ten lines that build a month are repeated in each test. A newMonth(t) helper \
             would save 80 lines and make the tests scannable.",
            "When the export is empty the writer returns nil. However, the caller in export.go does not check for that, \
             so the program panics on the first entry.",
        ] {
            assert!(is_review(review), "{review}");
        }
    }

    #[test]
    fn what_a_person_writes_of_code_is_theirs() {
        for own in [
            "The ledger package is used by the shop and the till. The till calls it twice a night, the shop once a minute, \
             from the cron job of the server in Lyon.",
            "reduce duplicated code around ledgerTotal and monthTotal, they seem to do nearly the same with totally \
             different implementations",
            "the export doesn't run on staging because the bucket isn't there, ops creates it on monday, until then only \
             production has exports",
            "Handle months that are longer than MAX_ROWS in ledger.go - a single month that exceeds it passes through \
             without validation or error.",
            "We don't sum closed accounts in the ledger package because their rows are not converted, which is critical \
             for the audit.",
            "Nadia owns the ledger package. The tests of the till are not hers but Tom's, because he wrote the till in \
             2019.",
        ] {
            assert!(!is_review(own), "{own}");
        }
    }
}
