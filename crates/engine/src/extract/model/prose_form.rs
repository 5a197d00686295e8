//! Tells what a line of a summary or a raw memory claims from the frame that the prompt demands around it.
//!
//! Headings such as `### Task 2: …` and fields such as `task_outcome: success` are the form's. No evidence names them, so
//! they are left out of what is compared with the evidence.
//!
//! Not here: the comparison (`evidence`).

use std::sync::LazyLock;

use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

/// The marks of a heading or of a list item, with the number of an ordered one.
static MARKS: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(r"^\s*(?:#+\s+|[-*+]\s+|\d{1,3}[.)]\s+)*"));
/// The heading of a task.
static TASK: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(r"(?i)^task\s+\d{1,3}\s*(?:[:.–-]\s*|$)"));

/// The names of the form's fields, in lower case.
const FIELDS: [&str; 15] = [
    "description",
    "task",
    "task_group",
    "task_outcome",
    "cwd",
    "keywords",
    "outcome",
    "rollout context",
    "preference signals",
    "key steps",
    "failures",
    "failures and how to do differently",
    "reusable knowledge",
    "references",
    "user preferences",
];
/// What a field of an outcome says.
const OUTCOMES: [&str; 4] = ["success", "partial", "uncertain", "fail"];

/// What the line claims.
pub(super) fn claim_of(line: &str) -> &str {
    let marks = MARKS.find(line).map_or(0, |marks| marks.end());
    let line = line[marks..].trim();
    let line = TASK
        .find(line)
        .map_or(line, |task| line[task.end()..].trim());
    let plain = |field: &str| field.trim().trim_matches('*').to_lowercase();
    match line.split_once(':') {
        Some((field, claim)) if FIELDS.contains(&plain(field).as_str()) => {
            let claim = claim.trim_start_matches('*').trim();
            match OUTCOMES.contains(&plain(claim).as_str()) {
                true => "",
                false => claim,
            }
        }
        Some(_) | None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_of_a_form_claims_nothing() {
        for (line, claim) in [
            ("---", "---"),
            ("task_outcome: success", ""),
            ("task_group: tidepool", "tidepool"),
            ("### Task 2: cap the cache", "cap the cache"),
            ("## Task 1", ""),
            ("- **Outcome:** partial", ""),
            ("Key steps:", ""),
            ("1. run `make`", "run `make`"),
            ("- the port is 8123", "the port is 8123"),
            ("- see http://localhost:1", "see http://localhost:1"),
        ] {
            assert_eq!(claim_of(line), claim, "{line}");
        }
    }
}
