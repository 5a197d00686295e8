//! Shortens texts to their beginnings and ends, and leaves recalled memories out of them.

use daybook_domain::working::Chunk;
use daybook_text::recalled;

/// At most about `most` characters: the first two thirds and the last one, and how many are missing.
pub(super) fn ends(text: &str, most: usize) -> String {
    let text = text.trim();
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let (head, tail) = (most - most / 3, most / 3);
    let at = |chars| {
        text.char_indices()
            .nth(chars)
            .map_or(text.len(), |(at, _)| at)
    };
    let missing = length - head - tail;
    format!(
        "{}\n[… {missing} characters …]\n{}",
        &text[..at(head)],
        &text[at(length - tail)..]
    )
}

/// One line of at most `most` characters: the beginning, cut at a word.
pub(super) fn line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let room = most.saturating_sub(line.chars().count() + 1);
        if word.chars().count() > room {
            if line.is_empty() {
                line.extend(word.chars().take(most));
            }
            line.push('…');
            return line;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// A chunk's text without recalled memories: these are never fed back.
pub(super) fn without_memories(chunk: &Chunk) -> String {
    text_without_memories(&chunk.content.to_text())
}

/// A text without recalled memories.
pub(super) fn text_without_memories(text: &str) -> String {
    match recalled::strip(text) {
        recalled::Stripped::Remaining(text) => text.into_owned(),
        recalled::Stripped::OnlyRecalled => "(memories that were recalled)".to_owned(),
    }
}
