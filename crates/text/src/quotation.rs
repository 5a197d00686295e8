//! Tells the passages of a message that stand in quotation marks: a mail, an advertisement, a page of a book.
//!
//! A quoted word or sentence may be a person's point. Several sentences are what another wrote.

use std::ops::Range;

/// Marks that open and close a quotation.
const MARKS: [(char, &[char]); 6] = [
    ('"', &['"']),
    ('“', &['”', '“']),
    ('„', &['“', '”', '"']),
    ('«', &['»']),
    ('»', &['«']),
    ('「', &['」']),
];
/// Longest passage that is sought, in bytes: beyond it a mark is more likely one that was left open.
const LONGEST: usize = 8 * 1024;
/// Shortest passage of one sentence that counts, in bytes, and of one with a capital and a full stop of its own.
const LONG: usize = 200;
const WHOLE: usize = 60;

/// The passages of several sentences, or of a long one, that stand in quotation marks, with their marks, in order.
///
/// ```
/// use daybook_text::quotation::quoted_passages;
///
/// let message = "he writes \"Use X. Always.\" and calls it \"the rule\"";
/// let quoted = quoted_passages(message).map(|passage| &message[passage]);
/// assert_eq!(quoted.collect::<Vec<_>>(), ["\"Use X. Always.\""]);
/// ```
pub fn quoted_passages(message: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let (start, end) = next_quotation(message, from)?;
            from = end;
            if is_passage(&message[start..end]) {
                return Some(start..end);
            }
        }
    })
}

/// The next quotation that begins at `from` or behind: where it starts, and where it ends.
fn next_quotation(message: &str, from: usize) -> Option<(usize, usize)> {
    let opened = message[from..].char_indices().find_map(|(at, mark)| {
        let (_, closing) = MARKS.iter().find(|(opening, _)| *opening == mark)?;
        let start = from + at;
        let inside = start + mark.len_utf8();
        let is_apart = message[inside..].starts_with(char::is_whitespace);
        // French has a blank within its marks.
        if !may_open(message, start) || is_apart && mark != '«' {
            return None;
        }
        let most = message.floor_char_boundary(inside + LONGEST);
        let ends = message[inside..most].match_indices(*closing);
        let mut ends = ends.map(|(at, mark)| (inside + at, inside + at + mark.len()));
        let end = ends.find(|(before, behind)| may_close(message, *before, *behind))?;
        Some((start, end.1))
    });
    opened.filter(|(_, end)| *end > from)
}

fn may_open(message: &str, at: usize) -> bool {
    let before = message[..at].chars().next_back();
    before.is_none_or(|before| before.is_whitespace() || "([_*:>".contains(before))
}

fn may_close(message: &str, at: usize, behind: usize) -> bool {
    let is_closed = !message[..at].ends_with(char::is_whitespace) || message[at..].starts_with('»');
    let next = message[behind..].chars().next();
    is_closed && next.is_none_or(|next| next.is_whitespace() || ".,;:!?)]_*".contains(next))
}

/// Whether a quotation is of several sentences or long. What has a fence in it is none.
fn is_passage(quoted: &str) -> bool {
    let inside = quoted.trim_matches(|c: char| !c.is_alphanumeric());
    let ends = inside.char_indices().filter(|(at, end)| {
        let behind = &inside[at + end.len_utf8()..];
        match end {
            '.' | '!' | '?' => behind.starts_with(char::is_whitespace),
            '。' | '！' | '？' | '\n' => true,
            _ => false,
        }
    });
    let is_long = inside.len() >= LONG || inside.len() >= WHOLE && is_whole_sentence(quoted);
    !quoted.contains("```") && (is_long || ends.count() > 0)
}

fn is_whole_sentence(quoted: &str) -> bool {
    let is_mark = |c: char| "\"“”„«»「」 ".contains(c);
    let words = quoted.trim_matches(is_mark);
    words.starts_with(char::is_uppercase) && words.ends_with(['.', '!', '。', '！'])
}

#[cfg(test)]
mod tests {
    use super::quoted_passages;

    #[track_caller]
    fn check(message: &str, expected: &[&str]) {
        let found: Vec<&str> = quoted_passages(message).map(|at| &message[at]).collect();
        assert_eq!(found, expected, "{message}");
    }

    #[test]
    fn several_sentences_in_marks_are_a_passage() {
        check(
            "mail:\n\n\"Hi. I am late.\n\nBob\"\n\nwhat now",
            &["\"Hi. I am late.\n\nBob\""],
        );
        check(
            "« Je suis née ici. J'ai un frère. » go",
            &["« Je suis née ici. J'ai un frère. »"],
        );
        check(
            "sie schreibt „Ich komme. Bald.“, sagt er",
            &["„Ich komme. Bald.“"],
        );
        check(
            "“One. Two 'of “these”' here.” and",
            &["“One. Two 'of “these”' here.”"],
        );
        check("er: »Ich komme. Bald.«", &["»Ich komme. Bald.«"]);
        let whole = "\"Just use the latest version everywhere, because nobody needs the old one.\"";
        check(&format!("{whole} lol"), &[whole]);
        check(
            "\"just use the latest version everywhere, because nobody needs it\"",
            &[],
        );
        check("他说 「我来。明天见」", &["「我来。明天见」"]);
    }

    #[test]
    fn a_word_or_a_sentence_in_marks_is_none() {
        check(
            "call it \"the ledger\" and \"the book\". Not \"x\". Fine.",
            &[],
        );
        check("the screen is 27\" wide. That one is 24\" wide.", &[]);
        check("an open \"mark. And more. And more", &[]);
        check("set name=\"a. b\" there", &[]);
        check("\"```\na. b\n```\"", &[]);
    }

    #[test]
    fn any_text_has_quotations_within_it() {
        for message in [
            "\"",
            "\"\"",
            "„“",
            "«»",
            "\" . \"",
            "é\"é. é\"é",
            "\"a. é\"",
        ] {
            for passage in quoted_passages(message) {
                assert!(message.get(passage).is_some(), "{message}");
            }
        }
    }
}
