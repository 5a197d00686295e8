//! Numbers that comments, pages and names of tests cite, and sources that readers do not have.

use super::page::{Number, Page, parse_number};
use super::test_index::TestIndex;
use super::{PAGE, SourceFile};

/// Phrases of sources that lie outside the repository; a digit stands for any digit.
const ABSENT: &[&str] = &[
    "seed 00",
    "seeds 00",
    "seed_00",
    "two-phase 0",
    "spec/w",
    "spec/t",
    "spec/i",
    "spec/c",
    "spec 0",
    "spec D.0",
    "spec M.0",
    "spec two-phase",
    "working-memory.md",
    "interop.md",
    "DC0",
    "MR0",
    "fn dc0",
    "fn mr0",
];
/// Sections of such a source, which only comments and pages can mean.
const SECTIONS: &[&str] = &["D.0", "M.0"];

/// What a file cites that cannot be looked up.
pub(super) fn unresolved(file: &SourceFile, page: &Page) -> Vec<String> {
    let mut broken = Vec::new();
    for (line, text) in (1..).zip(file.text.lines()) {
        let place = format!("{}:{line}", file.place);
        let prose = match file.is_rust() {
            true => comment(text),
            false => text,
        };
        let absent = ABSENT.iter().find(|it| has_phrase(text, it));
        let absent = absent.or(SECTIONS.iter().find(|it| has_phrase(prose, it)));
        if let Some(absent) = absent {
            let phrase = absent.trim_end_matches('0');
            broken.push(format!(
                "{place}: cites a source that readers do not have (`{phrase}…`); cite a number of {PAGE}, or give the reason"
            ));
        }
        let cited = cited_numbers(prose)
            .into_iter()
            .chain(test_line_numbers(text));
        let unknown = cited.filter(|it| page.has_system(it.system) && !page.rows.contains_key(it));
        broken.extend(unknown.map(|it| format!("{place}: {PAGE} has no {it}")));
    }
    broken
}

/// Tests whose names bear a number, and that the row of that number does not name.
pub(super) fn missing_in_rows(page: &Page, tests: &TestIndex) -> Vec<String> {
    let mut broken = Vec::new();
    for test in &tests.tests {
        for cited in test_name_numbers(&test.name) {
            let Some(row) = page.rows.get(&cited) else {
                continue;
            };
            let is_named = row
                .tests
                .iter()
                .any(|it| it.rsplit("::").next() == Some(&test.name));
            if !is_named {
                let (place, name) = (&test.place, &test.name);
                broken.push(format!("{place}: {PAGE} does not name `{name}` at {cited}"));
            }
        }
    }
    broken
}

/// The comment on a line of Rust, or nothing.
fn comment(line: &str) -> &str {
    let begins = line
        .match_indices("//")
        .find(|(at, _)| !line[..*at].ends_with(':'));
    begins.map_or("", |(at, _)| &line[at..])
}

/// Whether a phrase stands in a text as words of its own.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let (fixed, digits) = match phrase.strip_suffix('0') {
        Some(fixed) => (fixed, true),
        None => (phrase, false),
    };
    let is_whole = |at: usize| {
        let before = text[..at].chars().next_back();
        let after = text[at + fixed.len()..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            && (!digits || after.is_some_and(|c| c.is_ascii_digit()))
    };
    let lower = phrase.starts_with("seed");
    let found = |text: &str| text.match_indices(fixed).any(|(at, _)| is_whole(at));
    found(text) || (lower && found(&text.to_ascii_lowercase()))
}

/// The numbers that a text cites.
fn cited_numbers(text: &str) -> Vec<Number> {
    let is_part = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '\\' | '{' | ':' | '#' | '-' | '/')
    };
    let words = text.split(|c: char| !is_part(c));
    let words = words.map(|word| word.trim_end_matches([':', '/', '-']));
    words
        .filter(|word| word.len() <= 4)
        .filter_map(parse_number)
        .collect()
}

/// The numbers that the name of the function on this line bears.
fn test_line_numbers(line: &str) -> Vec<Number> {
    let line = line.trim_start().trim_start_matches("async ");
    line.strip_prefix("fn ")
        .map(test_name_numbers)
        .unwrap_or_default()
}

/// The numbers at the beginning of a test's name: of `d3_to_d5_…` three, of `c27_and_c28_…` two.
fn test_name_numbers(name: &str) -> Vec<Number> {
    let mut numbers: Vec<Number> = Vec::new();
    let mut parts = name.split('_');
    while let Some(next) = parts.next().and_then(name_part_number) {
        numbers.push(next);
        match parts.next() {
            Some("and") => {}
            Some("to") => match parts.next().and_then(name_part_number) {
                Some(last) => {
                    let places = next.place + 1..=last.place;
                    numbers.extend(places.map(|place| Number { place, ..next }));
                    if parts.next() != Some("and") {
                        break;
                    }
                }
                None => break,
            },
            _ => break,
        }
    }
    numbers
}

fn name_part_number(part: &str) -> Option<Number> {
    let is_lower = part.starts_with(|c: char| c.is_ascii_lowercase());
    parse_number(&part.to_ascii_uppercase()).filter(|_| is_lower)
}
