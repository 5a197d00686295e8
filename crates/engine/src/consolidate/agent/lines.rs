//! Splits a page of the copy into the agent's lines and all others, and a line into its words and citations.

use std::sync::LazyLock;

use daybook_domain::Citation;
use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::HANDBOOK;

static CITATION: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(r"\s*\[([^\[\]\s]+:L[0-9][0-9,L-]*)\]\.?$"));

/// The lines of a page that are not the agent's, without blank ones.
pub(super) fn foreign_lines(text: &str) -> Vec<&str> {
    let lines = with_owner(text).into_iter();
    lines
        .filter(|(is_own, line)| !is_own && !line.trim().is_empty())
        .map(|(_, line)| line)
        .collect()
}

/// The lines of the agent's section, without its heading and blank lines.
pub(super) fn own_lines(text: &str) -> Vec<&str> {
    let lines = with_owner(text).into_iter();
    let own = lines.filter(|(is_own, line)| *is_own && !line.trim().is_empty());
    own.map(|(_, line)| line)
        .filter(|line| line.trim() != heading())
        .collect()
}

/// The heading of the agent's section.
pub(super) fn heading() -> String {
    format!("## {HANDBOOK}")
}

/// Each line, with whether it is in the agent's section: from its heading to the next one of the first or second level.
fn with_owner(text: &str) -> Vec<(bool, &str)> {
    let mut is_own = false;
    let lines = text.lines().map(|line| {
        if line.starts_with("# ") || line.starts_with("## ") {
            is_own = line.trim() == heading();
        }
        (is_own, line)
    });
    lines.collect()
}

/// The words of a line and what it cites, in order; `None` for a line that is no item with a citation.
pub(super) fn parse_item(line: &str) -> Option<(String, Vec<Citation>)> {
    let mut words = line.strip_prefix("- ")?.trim();
    let mut cited = Vec::new();
    while let Some(found) = CITATION.captures(words) {
        cited.insert(0, Citation::parse(&found[1])?);
        words = words[..found.get(0)?.start()].trim_end();
    }
    let is_item = !words.is_empty() && !cited.is_empty();
    is_item.then(|| (words.to_owned(), cited))
}
