//! The phrases by which statements replace each other, as data.
//!
//! Not here: what follows from them (`statement`, `supersede`).

use std::sync::LazyLock;

use daybook_text::lazy_pattern::{LazyPattern, constant_regex};
use regex::{Captures, Regex};

/// All patterns.
pub(in crate::consolidate) const SOURCE: &str = include_str!("cues.txt");

/// Negations.
pub(super) static NEGATION: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| patterns("negation"));
/// What no longer holds, in group `old`.
pub(super) static REPLACED: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| patterns("replaced"));
/// What is named as replaced, in group `old`.
pub(super) static RENAMED: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| patterns("renamed"));
/// What is taken back, in group `old`.
pub(super) static WITHDRAWN: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| patterns("withdrawn"));
/// Choices: groups `value` and, in most, `key`.
pub(super) static CHOICE: LazyLock<Vec<SettingPattern>> = LazyLock::new(|| settings("choice"));
/// States: groups `key` and `value`.
pub(super) static STATE: LazyLock<Vec<SettingPattern>> = LazyLock::new(|| settings("state"));
/// Phrases that say that something changes.
pub(super) static CHANGE: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| patterns("change"));
/// Phrases that say that something is added to what holds.
pub(super) static ADDITION: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| patterns("addition"));
/// Phrases that make a denial a condition.
pub(super) static CONDITION: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| patterns("condition"));

/// Phrases that forbid or limit without a negation.
pub(super) static RESTRAINT: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| patterns("restraint"));
/// Phrases that turn from what held.
pub(super) static TURN: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| patterns("turn"));

/// Compiles all patterns, which takes longer than to read most memories: for a thread that nothing waits for yet.
pub fn prepare() {
    for patterns in [
        &NEGATION, &REPLACED, &RENAMED, &WITHDRAWN, &CHANGE, &ADDITION, &CONDITION, &RESTRAINT,
        &TURN,
    ] {
        for one in patterns.iter() {
            one.compiled();
        }
    }
    for one in CHOICE.iter().chain(STATE.iter()) {
        one.pattern.compiled();
    }
    super::figures::prepare();
}

/// Whether one of the patterns matches.
pub(super) fn has(patterns: &[LazyPattern], text: &str) -> bool {
    patterns.iter().any(|pattern| pattern.is_match(text))
}

/// A pattern of a setting. The most letters of a counted class are checked after the match: in the pattern itself they
/// would be as many copies of the class, and compiling them would take longer than a consolidation.
#[derive(Debug)]
pub(super) struct SettingPattern {
    pattern: LazyPattern,
    most: usize,
}

/// The group of a counted class.
const COUNTED: &str = "counted";

impl SettingPattern {
    fn new(line: &str) -> Self {
        static CLASS: LazyLock<Regex> =
            LazyLock::new(|| constant_regex(r"(\[\\w[^\]]*\])\{([0-9]+),([0-9]+)\}\?"));
        let most = CLASS.captures(line).and_then(|class| class[3].parse().ok());
        let line = CLASS.replace(line, format!("(?P<{COUNTED}>$1{{$2,}}?)"));
        Self {
            pattern: LazyPattern::new(&line),
            most: most.unwrap_or(usize::MAX),
        }
    }

    /// The groups of its first match.
    pub(super) fn captures<'t>(&self, clause: &'t str) -> Option<Captures<'t>> {
        let captures = self.pattern.if_possible(clause)?.captures(clause)?;
        let counted = captures.name(COUNTED);
        let letters = counted.map_or(0, |counted| counted.as_str().chars().count());
        (letters <= self.most).then_some(captures)
    }
}

fn settings(section: &str) -> Vec<SettingPattern> {
    lines(section).map(SettingPattern::new).collect()
}

fn patterns(section: &str) -> Vec<LazyPattern> {
    lines(section).map(LazyPattern::new).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A counted class that is checked afterwards finds what the pattern as it stands in the list finds.
    #[test]
    fn the_most_letters_of_a_key_hold() {
        let long = |letters: usize| "a".repeat(letters);
        for section in ["choice", "state"] {
            for (line, pattern) in lines(section).zip(settings(section)) {
                let plain = Regex::new(line).expect("the patterns are constant");
                for letters in [1, 2, 30, 31, 40, 41, 50, 51, 60] {
                    let key = long(letters);
                    for clause in [
                        format!("the {key} is in oban"),
                        format!("{key}: 5"),
                        format!("name {key} tide"),
                        format!("{key} owns the pier"),
                        format!("our {key} version is now 5"),
                    ] {
                        let groups = |found: Option<Captures<'_>>| {
                            let named =
                                |name| Some(found.as_ref()?.name(name)?.as_str().to_owned());
                            (named("key"), named("value"))
                        };
                        assert_eq!(
                            groups(pattern.captures(&clause)),
                            groups(plain.captures(&clause)),
                            "{line}: {clause}"
                        );
                    }
                }
            }
        }
        assert!(STATE.iter().any(|pattern| pattern.most == 50));
    }
}
