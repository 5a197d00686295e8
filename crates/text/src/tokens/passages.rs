//! Finds the speaker and the passages of a text: its sentences and lines, joined up to a comparable length. In a
//! long text one passage has the answer; the score of the whole text would hide it.

use super::indexed_parts;

/// Words that a passage is filled up to; one sentence may have more.
const WORDS: usize = 45;
/// Bytes that count as that many words where no words are separated.
const BYTES: usize = WORDS * 8;
/// Bytes after which a sentence is cut.
const SENTENCE_BYTES: usize = 2 * BYTES;
/// Words that may precede an announcement.
const LEADS: [&str; 5] = ["now", "then", "so", "ok", "first"];
/// The characters that introduce the announced text.
const COLONS: [char; 2] = [':', '：'];
/// How questions end: in Latin and most other scripts, in Chinese and Japanese, and in Arabic.
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];
/// Longest name of a speaker, in bytes.
const NAME_BYTES: usize = 40;
/// Most words of such a name.
const NAME_WORDS: usize = 3;

/// The name that a text begins with, as transcripts of conversations have it (`Ada: …`), perhaps behind a date in
/// brackets; and the rest of the text. Only the other texts can show whether it is a speaker's name.
pub(super) fn speaker(text: &str) -> Option<(&str, &str)> {
    let rest = without_bracket(text.trim_start());
    let (name, said) = rest.split_once(':')?;
    let name = name.split(['(', '[']).next().unwrap_or_default().trim_end();
    let is_name = name.len() <= NAME_BYTES
        && (1..=NAME_WORDS).contains(&name.split(' ').count())
        && name.split(' ').all(is_capitalised);
    (is_name && said.starts_with([' ', '\n'])).then_some((name, said))
}

/// A text without the name of its speaker.
pub fn without_speaker(text: &str) -> &str {
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

/// The passages of the indexed part of a text, in order; together they are all of it.
pub fn passages(text: &str) -> Vec<&str> {
    let (head, tail) = indexed_parts(text);
    let mut passages = Vec::new();
    for part in [head, tail] {
        fill(part, &mut passages);
    }
    passages
}

/// The offsets in `text` at which the passages begin that [`super::outlined_text`] keeps, in order.
pub fn passage_starts(text: &str) -> Vec<usize> {
    let said = speaker(text).map_or(text, |(_, said)| said);
    let offset = |passage: &&str| passage.as_ptr().addr() - text.as_ptr().addr();
    let passages = passages(said);
    let has_tokens = |passage: &&&str| super::has_tokens(passage);
    passages.iter().filter(has_tokens).map(offset).collect()
}

/// Consecutive sentences of a passage of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sentences<'a> {
    pub(super) text: &'a str,
    /// Whether they ask, or announce what comes, and so contain no answer.
    pub(super) is_open: bool,
}

/// The sentences of a passage, joined where neighbours are of one kind. `is_last` means that no passage follows:
/// a text that ends in a colon there announces something that is not in the text.
pub(super) fn sentences(passage: &str, is_last: bool) -> Vec<Sentences<'_>> {
    let mut sentences: Vec<Sentences<'_>> = Vec::new();
    let (mut from, mut to) = (0, 0);
    for end in sentence_ends(passage) {
        let sentence = &passage[to..end];
        let ends_text = is_last && end == passage.len();
        let is_open = is_question(sentence)
            || announces(sentence)
            || ends_text && without_closing(sentence).ends_with(COLONS);
        match sentences.last_mut() {
            Some(last) if last.is_open == is_open => last.text = &passage[from..end],
            _ => {
                from = to;
                let text = &passage[from..end];
                sentences.push(Sentences { text, is_open });
            }
        }
        to = end;
    }
    sentences
}

/// Whether a sentence ends as questions do.
fn is_question(sentence: &str) -> bool {
    without_closing(sentence).ends_with(QUESTION_MARKS)
}

/// Whether a sentence announces an agent's next action: `Let me look …`, `Now, let me …`, `I'll look …`.
fn announces(sentence: &str) -> bool {
    let word = |word: &str| {
        word.trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
    };
    let mut words = sentence.split_whitespace().map(word);
    let first = words.next().unwrap_or_default();
    let first = if LEADS.contains(&first.as_str()) {
        words.next().unwrap_or_default()
    } else {
        first
    };
    match first.as_str() {
        "let" => words.next().as_deref() == Some("me"),
        "i" => words.next().as_deref() == Some("will"),
        "i'll" | "i’ll" => true,
        _ => false,
    }
}

/// A sentence without the quotes, brackets and emphasis that close it.
fn without_closing(sentence: &str) -> &str {
    let closing = |c: char| c.is_whitespace() || "\"'”’»)]*_`!".contains(c);
    sentence.trim_end_matches(closing)
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

/// The number of words, or of bytes that count as words.
fn words_of(text: &str) -> usize {
    text.split_whitespace()
        .count()
        .max(text.len() * WORDS / BYTES)
}

/// The positions at which sentences and lines end.
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

/// The position at which a long sentence is cut: behind the last blank that fits.
fn cut(text: &str) -> usize {
    let most = text.floor_char_boundary(SENTENCE_BYTES);
    text[..most].rfind(' ').map_or(most, |blank| blank + 1)
}

#[cfg(test)]
#[path = "passages_tests.rs"]
mod tests;
