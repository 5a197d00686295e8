//! Separates the items of a list that someone typed on one line: "1) no emoji, 2) no exclamation marks".
//!
//! Not here: lists with an item on each line (`prose`).

use crate::german_months::begins_with_month;

/// What stands behind the numbers of a list. Numbers alone count only where each begins a sentence.
const MARKS: [&str; 4] = [")", ".", "、", ""];
/// Most items of such a list.
const ITEMS: usize = 9;

/// The parts of a line: what stands before its list, and each item without its number; the whole line where it has none.
pub(crate) fn parts(line: &str) -> Vec<&str> {
    let found = MARKS.iter().map(|mark| numbers(line, mark));
    let Some(numbers) = found.max_by_key(Vec::len).filter(|found| found.len() > 1) else {
        return vec![line];
    };
    let begins = numbers.iter().map(|(_, begin)| *begin);
    let ends = numbers.iter().skip(1).map(|(end, _)| *end);
    let items = begins.zip(ends.chain([line.len()]));
    let mut parts = vec![line[..numbers[0].0].trim()];
    parts.extend(items.map(|(begin, end)| line[begin..end].trim()));
    parts.retain(|part| !part.is_empty());
    parts
}

/// Where each number of a list begins, and where its item does: 1, 2 and so on, each behind the one before.
fn numbers(line: &str, mark: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for n in 1..=ITEMS {
        let number = format!("{n}{mark}");
        let from = found.last().map_or(0, |(_, begin)| *begin);
        let mut places = line[from..].match_indices(&number);
        let next = places.find_map(|(at, _)| item(line, (from + at, number.len()), mark));
        let Some(next) = next else {
            break;
        };
        found.push(next);
    }
    found
}

/// The item that the number at `at` begins; `None` where that number is none of a list.
fn item(line: &str, (at, length): (usize, usize), mark: &str) -> Option<(usize, usize)> {
    let before = line[..at].trim_end();
    let stands_apart = before.len() < at || !before.ends_with(char::is_alphanumeric);
    let borders: &[char] = match mark {
        "" => &['.', '!', '?', ':'],
        _ => &['.', '!', '?', ':', ',', ';', '，', '。', '；', '：', '('],
    };
    let is_border = before.is_empty() || before.ends_with(borders) || mark == ")";
    let rest = &line[at + length..];
    let text = rest.trim_start();
    let is_apart = mark == "、" || text.len() < rest.len();
    let is_bracketed = matches!(mark, ")" | "、");
    let begins_item = |c: char| {
        c.is_alphabetic() || (is_bracketed && c.is_ascii_digit()) || "\"'`“„«".contains(c)
    };
    let names_something = text.starts_with(begins_item);
    let may_begin = stands_apart && is_border && is_apart && names_something;
    let is_day = || mark == "." && begins_with_month(text);
    (may_begin && !is_day()).then(|| (at, line.len() - text.len()))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_list_on_one_line_is_separated() {
        for (line, expected) in [
            (
                "no no. 1) no emoji, 2) no exclamation marks, 3) never promise a date. keep it short",
                &[
                    "no no.",
                    "no emoji,",
                    "no exclamation marks,",
                    "never promise a date. keep it short",
                ][..],
            ),
            (
                "quick ones. 1 rate limit on POST, 10 a minute. 2 names have 16 characters",
                &[
                    "quick ones.",
                    "rate limit on POST, 10 a minute.",
                    "names have 16 characters",
                ],
            ),
            (
                "1. Seile aushängen. 2. Kühlschrank putzen",
                &["Seile aushängen.", "Kühlschrank putzen"],
            ),
            (
                "dos cosas: 1) sin cebolla 2) \"gracias\" al final",
                &["dos cosas:", "sin cebolla", "\"gracias\" al final"],
            ),
            ("1、不要葱，2、少放盐", &["不要葱，", "少放盐"]),
            (
                "so 1) 28 april is off. 2) price: twelve",
                &["so", "28 april is off.", "price: twelve"],
            ),
        ] {
            assert_eq!(parts(line), expected);
        }
    }

    #[test]
    fn other_numbers_begin_no_item() {
        for line in [
            "1 cup of cashews, 2 cups of mushrooms",
            "page 1: map, page 2: forecast",
            "at 9 we open, at 18 we close. 2 of us stay",
            "1. Oktober, 2. November und 3. Dezember",
            "use v1. 2 tests fail",
            "1) only one",
            "between 1.5 and 2.5, and 3",
            "",
        ] {
            assert_eq!(parts(line), [line]);
        }
    }
}
