//! Who speaks, and the passages of a text: its sentences and lines, joined up to a length that can be
//! compared. In a long text one passage answers; scored whole, it would drown.

use super::indexed_parts;

/// Words that a passage is filled up to; one sentence may have more.
const WORDS: usize = 45;
/// Bytes that count as so many words where none are separated.
const BYTES: usize = WORDS * 8;
/// Bytes after which a sentence is cut.
const SENTENCE_BYTES: usize = 2 * BYTES;
/// Longest name of a speaker, in bytes.
const NAME_BYTES: usize = 40;
/// Most words of such a name.
const NAME_WORDS: usize = 3;

/// The name that a text begins with, as conversations are written down (`Ada: …`), perhaps behind a date in
/// brackets; and what was said. Whether it is one of a speaker, only the other texts tell.
pub(super) fn speaker(text: &str) -> Option<(&str, &str)> {
    let rest = without_bracket(text.trim_start());
    let (name, said) = rest.split_once(':')?;
    let name = name.split(['(', '[']).next().unwrap_or_default().trim_end();
    let is_name = name.len() <= NAME_BYTES
        && (1..=NAME_WORDS).contains(&name.split(' ').count())
        && name.split(' ').all(is_capitalised);
    (is_name && said.starts_with([' ', '\n'])).then_some((name, said))
}

/// What is said in a text, without the name of its speaker.
pub fn said(text: &str) -> &str {
    speaker(text).map_or(text, |(_, said)| said.trim_start())
}

fn without_bracket(text: &str) -> &str {
    let close = match text.chars().next() {
        Some('[') => ']',
        Some('(') => ')',
        _ => return text,
    };
    match text.find(close) {
        Some(end) if end <= NAME_BYTES => text[end + 1..].trim_start(),
        _ => text,
    }
}

fn is_capitalised(word: &str) -> bool {
    let mut chars = word.chars();
    let first = chars
        .next()
        .is_some_and(|c| c.is_alphabetic() && !c.is_lowercase());
    first && chars.all(|c| c.is_alphanumeric() || matches!(c, '\'' | '-' | '.'))
}

/// The passages of what is indexed of a text, in order; together they are all of it.
pub fn passages(text: &str) -> Vec<&str> {
    let (head, tail) = indexed_parts(text);
    let mut passages = Vec::new();
    for part in [head, tail] {
        fill(part, &mut passages);
    }
    passages
}

fn fill<'a>(part: &'a str, passages: &mut Vec<&'a str>) {
    let (mut from, mut to, mut words) = (0, 0, 0);
    let mut keep = |from: usize, to: usize| {
        if part[from..to].chars().any(char::is_alphanumeric) {
            passages.push(&part[from..to]);
        }
    };
    for end in sentence_ends(part) {
        let sentence = words_of(&part[to..end]);
        if words > 0 && words + sentence > WORDS {
            keep(from, to);
            (from, words) = (to, 0);
        }
        words += sentence;
        to = end;
    }
    keep(from, part.len());
}

/// Words, or what counts as so many.
fn words_of(text: &str) -> usize {
    text.split_whitespace()
        .count()
        .max(text.len() * WORDS / BYTES)
}

/// Where sentences and lines end.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = &text[from..];
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .find_map(|(at, c)| ends_at(rest, at, c))
            .unwrap_or(rest.len());
        let end = if end > SENTENCE_BYTES { cut(rest) } else { end };
        from += end;
        Some(from)
    })
}

fn ends_at(text: &str, at: usize, c: char) -> Option<usize> {
    let next = at + c.len_utf8();
    let is_end = match c {
        '\n' | '。' | '！' | '？' => true,
        '.' | '!' | '?' => text[next..].starts_with(char::is_whitespace),
        _ => false,
    };
    is_end.then_some(next)
}

/// Where a long sentence is cut: behind the last blank that fits.
fn cut(text: &str) -> usize {
    let most = text.floor_char_boundary(SENTENCE_BYTES);
    text[..most].rfind(' ').map_or(most, |blank| blank + 1)
}

#[cfg(test)]
#[path = "passages_tests.rs"]
mod tests;
