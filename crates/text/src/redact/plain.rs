//! Recognises short texts in which no rule finds anything, without the keyword table.
//!
//! Names of folders, files, branches, tools and sessions are such texts nearly always. A hook reads a few of them and
//! ends, and building the table would take most of its time. Where the table is there, it is the quicker way.
//!
//! Not here: what a secret is. A text that is not plain may hold none all the same.

use memchr::memmem;

use super::rules::RULES;
use super::shape::is_uuid;

/// Longest text that is examined, in bytes.
const LONGEST: usize = 512;
/// Bytes of a component below which no key of an issuer fits.
const SHORTEST_KEY: usize = 20;
/// Bytes of a piece with digits below which it is no part of a key.
const SHORT_PIECE: usize = 12;
/// Most letters of a word.
const LONGEST_WORD: usize = 18;
/// Bytes of a UUID.
const UUID: usize = 36;

/// Whether a row of the rules may begin in `component`.
fn has_start(component: &[u8]) -> bool {
    let low = component.to_ascii_lowercase();
    let starts = RULES.iter().flat_map(|rule| rule.starts);
    starts.into_iter().any(|start| {
        let start = start.to_ascii_lowercase();
        memmem::find(&low, start.as_bytes()).is_some()
    })
}

/// Whether `text` is a path or a name of words and short numbers: nothing in it assigns, announces or may be a key.
pub(super) fn is_plain(text: &str) -> bool {
    text.len() <= LONGEST
        && text
            .as_bytes()
            .split(|byte| *byte == b'/')
            .all(is_plain_component)
}

fn is_plain_component(component: &[u8]) -> bool {
    let rest = match component.split_at_checked(UUID) {
        Some((uuid, rest)) if is_uuid(uuid) => rest,
        Some(_) | None => component,
    };
    let is_name_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    rest.iter().all(is_name_byte)
        && (rest.len() < SHORTEST_KEY || is_words(rest))
        && !has_start(rest)
}

/// Whether a long component consists of words and short numbers, as what is drawn at random does not.
fn is_words(component: &[u8]) -> bool {
    let has_upper = component.iter().any(u8::is_ascii_uppercase);
    let has_digit = component.iter().any(u8::is_ascii_digit);
    let mut pieces = component.split(|byte| b"._-".contains(byte));
    !(has_upper && has_digit) && pieces.all(is_plain_piece)
}

fn is_plain_piece(piece: &[u8]) -> bool {
    let after_first = piece.get(1..).unwrap_or_default();
    let is_word = piece.len() <= LONGEST_WORD
        && piece.iter().all(u8::is_ascii_alphabetic)
        && after_first.iter().all(u8::is_ascii_lowercase);
    let is_short = piece.len() < SHORT_PIECE && !piece.iter().any(u8::is_ascii_uppercase);
    is_word || is_short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::SCANNER;
    use super::super::scan::Scanner;
    use super::is_plain;

    #[test]
    fn names_of_folders_files_and_tools_are_plain() {
        for name in [
            "/home/ada/.claude/projects/-home-ada-tidepool/3c9d52aa-0000-4000-8000-00000000feed.jsonl",
            "/Users/ada/Documents/Communications/notes",
            "claude-code",
            "3c9d52aa-0000-4000-8000-00000000feed",
            "feature/cache-eviction-of-old-entries",
            "mcp__wiki__search",
        ] {
            assert!(is_plain(name), "{name}");
        }
    }

    #[test]
    fn what_may_be_a_secret_is_not_plain() {
        for name in [
            "password=hunter2",
            "the password is hunter2",
            "ada:pw@db",
            "x%2Dy",
        ] {
            assert!(!is_plain(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_rule_finds_anything_in_a_plain_text(
            text in "([a-zA-Z]{1,18}|[a-z0-9]{1,12}|ghp|sk|xoxb|AKIA|key|password|token|live)([-_./]([a-z]{1,18}|[A-Z][a-z]{1,17}|[a-z0-9]{1,12}|[A-Za-z0-9]{1,40})){0,8}"
        ) {
            let found = SCANNER.get_or_init(Scanner::new).scan(&text);
            prop_assert!(found.is_empty() || !is_plain(&text), "{text}: {found:?}");
        }
    }
}
