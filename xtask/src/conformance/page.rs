//! Reads the tables of docs/conformance.md: numbers, and the tests that their rows name.
//!
//! A section begins with `## D: Daycare`; its rows are numbered D1, D2, … over all its tables. A row has three
//! cells: its number, what the system does, and a status. A status is `` shown by `test` ``, `otherwise: reason`
//! or `not built`, each with an optional remark; `shown by` may also stand in a reason.

use std::collections::BTreeMap;
use std::fmt;

/// The number of a behaviour, such as `D12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number {
    /// Letter of the section.
    pub(super) system: char,
    pub(super) place: u32,
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.system, self.place)
    }
}

/// What Daybook does about a behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StatusKind {
    Shown,
    Otherwise,
    NotBuilt,
}

/// A numbered behaviour.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Line of the page.
    pub(super) line: usize,
    pub(super) kind: StatusKind,
    /// The status without its first words: the reason of an `otherwise` or a `not built`.
    pub(super) reason: String,
    /// Tests that the status names.
    pub(super) tests: Vec<String>,
}

/// The page, parsed.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) rows: BTreeMap<Number, Row>,
    /// Lines that break the page's form, and how.
    pub(super) broken: Vec<(usize, String)>,
}

impl Page {
    pub(super) fn has_system(&self, system: char) -> bool {
        self.rows.keys().any(|number| number.system == system)
    }
}

/// Parses the page.
pub(super) fn parse(text: &str) -> Page {
    let mut page = Page::default();
    let mut last = None;
    for (line, text) in (1..).zip(text.lines()) {
        if let Some(heading) = text.strip_prefix("## ") {
            last = section_letter(heading).map(|system| Number { system, place: 0 });
        } else if let (Some(before), Some(cells)) = (last, cells(text)) {
            match parse_row(before, line, &cells) {
                Ok(Some((number, row))) => {
                    page.rows.insert(number, row);
                    last = Some(number);
                }
                Ok(None) => {}
                Err(why) => {
                    page.broken.push((line, why));
                    // So that one gap is reported once.
                    last = parse_number(cells[0])
                        .filter(|it| it.system == before.system)
                        .or(last);
                }
            }
        }
    }
    if page.rows.is_empty() {
        page.broken
            .push((1, "the page has no numbered row".to_owned()));
    }
    page
}

/// The letter of a section that has numbers.
fn section_letter(heading: &str) -> Option<char> {
    let (letter, name) = heading.split_once(": ")?;
    let mut chars = letter.chars();
    let system = chars.next().filter(char::is_ascii_uppercase)?;
    (chars.next().is_none() && !name.is_empty()).then_some(system)
}

/// The cells of a line of a table; `None` for other lines, heads and rules.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let cells: Vec<&str> = inner.split(" | ").map(str::trim).collect();
    let is_rule = inner.chars().all(|c| matches!(c, '-' | '|' | ':' | ' '));
    (!is_rule && cells[0] != "no.").then_some(cells)
}

fn parse_row(before: Number, line: usize, cells: &[&str]) -> Result<Option<(Number, Row)>, String> {
    let Some(number) = parse_number(cells[0]) else {
        return Err(format!("{} is no number", cells[0]));
    };
    let expected = Number {
        place: before.place + 1,
        ..before
    };
    if number != expected {
        return Err(
            match number.system == expected.system && number > expected {
                true => format!("{expected} is missing before {number}"),
                false => format!("{number} stands where {expected} is expected"),
            },
        );
    }
    let [_, behaviour, status] = cells else {
        return Err(format!("{number} has {} cells and not three", cells.len()));
    };
    if behaviour.is_empty() {
        return Err(format!("{number} names no behaviour"));
    }
    let tests = status_tests(status).map_err(|why| format!("{number}: {why}"))?;
    let (kind, reason) = kind_of(status);
    let row = Row {
        line,
        kind,
        reason: reason.trim_start_matches(": ").to_owned(),
        tests,
    };
    Ok(Some((number, row)))
}

/// The kind of a status, and the rest of it.
fn kind_of(status: &str) -> (StatusKind, &str) {
    if let Some(reason) = status.strip_prefix("otherwise") {
        (StatusKind::Otherwise, reason)
    } else if let Some(reason) = status.strip_prefix("not built") {
        (StatusKind::NotBuilt, reason)
    } else {
        (StatusKind::Shown, status)
    }
}

/// Reads `D12`.
pub(super) fn parse_number(text: &str) -> Option<Number> {
    let system = text.chars().next().filter(char::is_ascii_uppercase)?;
    let digits = &text[1..];
    let is_plain = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    let place = digits.parse().ok().filter(|_| is_plain)?;
    Some(Number { system, place })
}

const SHOWN: &str = "shown by ";

/// The tests that a status names, if it has one of the three forms.
fn status_tests(status: &str) -> Result<Vec<String>, String> {
    let reason = status
        .strip_prefix("otherwise: ")
        .or(status.strip_prefix("not built: "));
    let is_known = status.starts_with(SHOWN)
        || status == "not built"
        || reason.is_some_and(|it| !it.is_empty());
    if !is_known {
        let forms = "`shown by` a test, `otherwise:` with a reason, or `not built`";
        return Err(format!("the status `{status}` is none of {forms}"));
    }
    let mut tests = Vec::new();
    for (at, _) in status.match_indices(SHOWN) {
        let named = leading_names(&status[at + SHOWN.len()..]);
        if named.is_empty() {
            return Err("`shown by` names no test".to_owned());
        }
        tests.extend(named);
    }
    Ok(tests)
}

/// The names at the beginning of a text: `` `a`, `b::c` and `d` ``.
fn leading_names(mut rest: &str) -> Vec<String> {
    let mut names = Vec::new();
    while let Some((name, after)) = rest.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        names.push(name.to_owned());
        rest = after
            .strip_prefix(", ")
            .or(after.strip_prefix(" and "))
            .unwrap_or("");
    }
    names
}
