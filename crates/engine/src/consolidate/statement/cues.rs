//! The phrases by which statements replace each other, as data.
//!
//! Not here: what follows from them (`statement`, `supersede`).

use std::sync::LazyLock;

use regex::Regex;

/// All patterns.
pub(in crate::consolidate) const SOURCE: &str = include_str!("cues.txt");

/// Negations.
pub(super) static NEGATION: LazyLock<Vec<Regex>> = LazyLock::new(|| patterns("negation"));
/// What no longer holds, in group `old`.
pub(super) static REPLACED: LazyLock<Vec<Regex>> = LazyLock::new(|| patterns("replaced"));
/// What is named as replaced, in group `old`.
pub(super) static RENAMED: LazyLock<Vec<Regex>> = LazyLock::new(|| patterns("renamed"));
/// What is taken back, in group `old`.
pub(super) static WITHDRAWN: LazyLock<Vec<Regex>> = LazyLock::new(|| patterns("withdrawn"));
/// Choices: groups `value` and, in most, `key`.
pub(super) static CHOICE: LazyLock<Vec<Regex>> = LazyLock::new(|| patterns("choice"));
/// States: groups `key` and `value`.
pub(super) static STATE: LazyLock<Vec<Regex>> = LazyLock::new(|| patterns("state"));
/// Phrases that say that something changes.
pub(super) static CHANGE: LazyLock<Vec<Regex>> = LazyLock::new(|| patterns("change"));
/// Phrases that say that something is added to what holds.
pub(super) static ADDITION: LazyLock<Vec<Regex>> = LazyLock::new(|| patterns("addition"));
/// Phrases that make a denial a condition.
pub(super) static CONDITION: LazyLock<Vec<Regex>> = LazyLock::new(|| patterns("condition"));

/// Whether one of the patterns matches.
pub(super) fn has(patterns: &[Regex], text: &str) -> bool {
    patterns.iter().any(|pattern| pattern.is_match(text))
}

fn patterns(section: &str) -> Vec<Regex> {
    let patterns = lines(section).map(|line| Regex::new(line).expect("the patterns are constant"));
    patterns.collect()
}

fn lines(section: &str) -> impl Iterator<Item = &'static str> {
    let heading = format!("[{section}]");
    let mut inside = false;
    SOURCE.lines().filter(move |line| {
        if line.starts_with('[') && line.ends_with(']') && !line.contains(' ') {
            inside = *line == heading;
            return false;
        }
        inside && !line.is_empty() && !line.starts_with("# ")
    })
}
