//! Shortens texts to their beginnings and ends.

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
