//! Damages documents the way that disks, crashes, other programs and attackers do.
//!
//! A mutation is described by a script of bytes, so that one piece of code serves a fuzzer, which searches
//! among scripts, and a loop over seeds. The same documents and script give the same result on every machine.
//!
//! Not here: parsers, and what must be true of a parse. Those are beside each parser, in tests whose names
//! begin with `fuzz_`; `.ci/fuzz` runs them.

use std::time::{Duration, Instant};

/// Longest time that one parse of a mutated document may take.
pub const PARSE_LIMIT: Duration = Duration::from_secs(5);
/// Most edits that one script makes.
const MOST_EDITS: usize = 24;
/// Longest document that a mutation makes, in bytes.
const LONGEST: usize = 256 * 1024;
/// Most copies of a piece that one edit makes.
const MOST_COPIES: usize = 64;
/// Levels of nesting that one edit opens.
const NESTING: usize = 3000;

macro_rules! transcript {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!("../fixtures/transcripts/", $name)).as_slice(),
        )
    };
}

/// Small transcripts, one for each format that Daybook reads: the name of a file, and its bytes.
pub const TRANSCRIPTS: [(&str, &[u8]); 28] = [
    transcript!("claude-code.jsonl"),
    transcript!("codex.jsonl"),
    transcript!("codex-legacy.jsonl"),
    transcript!("chat-lines.jsonl"),
    transcript!("chat-document.json"),
    transcript!("chat-list.json"),
    transcript!("gemini.jsonl"),
    transcript!("gemini.json"),
    transcript!("qwen.jsonl"),
    transcript!("copilot.jsonl"),
    transcript!("cursor.jsonl"),
    transcript!("opencode.jsonl"),
    transcript!("chatgpt.json"),
    transcript!("claude-ai.json"),
    transcript!("pi.jsonl"),
    transcript!("droid.jsonl"),
    transcript!("kimi.jsonl"),
    transcript!("grok.jsonl"),
    transcript!("antigravity.jsonl"),
    transcript!("goose.jsonl"),
    transcript!("slack.json"),
    transcript!("copilot-chat.json"),
    transcript!("copilot-chat.jsonl"),
    transcript!("cursor-editor.jsonl"),
    transcript!("hermes.json"),
    transcript!("langgraph.jsonl"),
    transcript!("aider.md"),
    transcript!("crush.jsonl"),
];

/// Pieces that parsers get wrong: encodings, escapes, numbers, separators, marks of Daybook's own formats.
const PIECES: [&[u8]; 44] = [
    b"",
    b"\0",
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b"\\",
    b"\"",
    b"\\\"",
    b"\\u0000",
    b"\\ud800",
    b"\\udfff\\ud800",
    b"\xFF\xFE",
    b"\xEF\xBB\xBF",
    b"\xC0\x80",
    b"\xF0\x9F\x98",
    "\u{2028}".as_bytes(),
    "\u{202e}\u{200b}\u{feff}".as_bytes(),
    "İßŉǰ\u{0301}\u{0301}".as_bytes(),
    "日本語の文".as_bytes(),
    b"null",
    b"true",
    b"-1",
    b"0.1e-400",
    b"1e999",
    b"18446744073709551616",
    b"-9223372036854775809",
    b"NaN",
    b"{}",
    b"[]",
    b"{\"a\":",
    b"[[[[",
    b"}]",
    b",",
    b"../../../etc/passwd",
    b"a/b\\c\0.",
    b"<daybook-memory>",
    b"</daybook-memory>",
    b"^ab3xk9q2rs",
    b"[7f78:L1-4294967296]",
    b"```",
    b"## ",
    b"9999-12-31T23:59:60.999999999999Z",
];

/// Reads a script: each answer takes the next bytes of it. At its end every answer is 0.
struct EditScript<'a>(&'a [u8]);

impl EditScript<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// A number below `bound`; 0 where the bound is 0.
    fn below(&mut self, bound: usize) -> usize {
        let number = u32::from_le_bytes([self.byte(), self.byte(), self.byte(), 0]);
        (number as usize).checked_rem(bound).unwrap_or(0)
    }

    /// A range within `length` bytes, short ones more often than long ones.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let rest = length - start;
        let most = match self.byte() % 4 {
            0 => 1,
            1 => 8,
            2 => 200,
            _ => rest,
        };
        start..start + self.below(most.min(rest) + 1)
    }
}

/// One document of `seeds`, changed as `script` says: an empty script changes nothing of the first.
#[must_use]
pub fn mutate(seeds: &[&[u8]], script: &[u8]) -> Vec<u8> {
    let mut script = EditScript(script);
    let seed = script.below(seeds.len());
    let mut document = seeds
        .get(seed)
        .map(|seed| seed.to_vec())
        .unwrap_or_default();
    for _ in 0..MOST_EDITS {
        if script.0.is_empty() {
            break;
        }
        edit(&mut document, seeds, &mut script);
        document.truncate(LONGEST);
    }
    document
}

fn edit(document: &mut Vec<u8>, seeds: &[&[u8]], script: &mut EditScript<'_>) {
    match script.byte() % 11 {
        0 => flip_bit(document, script),
        1 => drop(document.drain(script.range(document.len()))),
        2 => repeat(document, script),
        3 => insert_piece(document, script),
        4 => replace_literal(document, script),
        5 => splice(document, seeds, script),
        6 => document.truncate(script.below(document.len() + 1)),
        7 => swap_lines(document, script),
        8 => nest(document, script),
        9 => overwrite(document, script),
        _ => remove_literal(document, script),
    }
}

fn flip_bit(document: &mut [u8], script: &mut EditScript<'_>) {
    let at = script.below(document.len());
    let bit = 1 << (script.byte() % 8);
    if let Some(byte) = document.get_mut(at) {
        *byte ^= bit;
    }
}

fn repeat(document: &mut Vec<u8>, script: &mut EditScript<'_>) {
    let range = script.range(document.len());
    let copies = script.below(MOST_COPIES);
    let most = LONGEST.saturating_sub(document.len()) / range.len().max(1);
    let piece = document[range.clone()].repeat(copies.min(most));
    document.splice(range.end..range.end, piece);
}

fn piece(script: &mut EditScript<'_>) -> &'static [u8] {
    PIECES[script.below(PIECES.len())]
}

fn insert_piece(document: &mut Vec<u8>, script: &mut EditScript<'_>) {
    let at = script.below(document.len() + 1);
    document.splice(at..at, piece(script).iter().copied());
}

fn overwrite(document: &mut Vec<u8>, script: &mut EditScript<'_>) {
    let range = script.range(document.len());
    document.splice(range, piece(script).iter().copied());
}

/// The range of a text between two quotation marks.
fn literal(document: &[u8], script: &mut EditScript<'_>) -> Option<std::ops::Range<usize>> {
    let from = script.below(document.len());
    let quote = |from: usize| {
        let rest = document.get(from..)?;
        rest.iter()
            .position(|byte| *byte == b'"')
            .map(|at| from + at)
    };
    let start = quote(from)? + 1;
    Some(start..quote(start)?)
}

/// Keeps the document's structure, and changes a name or a value in it.
fn replace_literal(document: &mut Vec<u8>, script: &mut EditScript<'_>) {
    let Some(range) = literal(document, script) else {
        return;
    };
    let other = match script.byte() % 2 {
        0 => piece(script).to_vec(),
        _ => literal(document, script).map_or_else(Vec::new, |other| document[other].to_vec()),
    };
    document.splice(range, other);
}

/// Replaces a quoted text by a value that is no text.
fn remove_literal(document: &mut Vec<u8>, script: &mut EditScript<'_>) {
    if let Some(range) = literal(document, script) {
        let quoted = range.start - 1..range.end + 1;
        document.splice(quoted, piece(script).iter().copied());
    }
}

/// Inserts a part of another document.
fn splice(document: &mut Vec<u8>, seeds: &[&[u8]], script: &mut EditScript<'_>) {
    let other = seeds[script.below(seeds.len())];
    let part = &other[script.range(other.len())];
    let at = script.below(document.len() + 1);
    document.splice(at..at, part.iter().copied());
}

fn swap_lines(document: &mut Vec<u8>, script: &mut EditScript<'_>) {
    let mut lines: Vec<&[u8]> = document.split(|byte| *byte == b'\n').collect();
    let (one, other) = (script.below(lines.len()), script.below(lines.len()));
    lines.swap(one, other);
    *document = lines.join(&b'\n');
}

fn nest(document: &mut Vec<u8>, script: &mut EditScript<'_>) {
    let at = script.below(document.len() + 1);
    let opening: &[u8] = match script.byte() % 3 {
        0 => b"[",
        1 => b"{\"a\":",
        _ => b"<a>",
    };
    document.splice(at..at, opening.repeat(script.below(NESTING)));
}

/// Calls `parse` with a mutation of one of `seeds`.
///
/// # Panics
/// When the parse takes longer than [`PARSE_LIMIT`].
pub fn parse_mutated(seeds: &[&[u8]], script: &[u8], parse: impl FnOnce(&[u8])) {
    let document = mutate(seeds, script);
    let began = Instant::now();
    parse(&document);
    let took = began.elapsed();
    assert!(
        took < PARSE_LIMIT,
        "{took:?} for {} bytes: {}",
        document.len(),
        String::from_utf8_lossy(&document)
    );
}

/// The same for a parser that takes text.
///
/// # Panics
/// When the parse takes longer than [`PARSE_LIMIT`].
pub fn parse_mutated_text(seeds: &[&str], script: &[u8], parse: impl FnOnce(&str)) {
    let seeds: Vec<&[u8]> = seeds.iter().map(|seed| seed.as_bytes()).collect();
    parse_mutated(&seeds, script, |bytes| {
        parse(&String::from_utf8_lossy(bytes))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_script_leaves_the_first_document_as_it_is() {
        assert_eq!(mutate(&[b"one", b"two"], &[]), b"one");
        assert_eq!(mutate(&[], &[1, 2, 3]), b"");
    }

    #[test]
    fn a_script_gives_the_same_document_each_time_and_never_a_huge_one() {
        let seeds: Vec<&[u8]> = TRANSCRIPTS.iter().map(|(_, bytes)| *bytes).collect();
        let mut different = std::collections::HashSet::new();
        for seed in 0..500_u32 {
            let script: Vec<u8> = (0..200_u32)
                .map(|n| (seed.wrapping_mul(2_654_435_761).wrapping_add(n * 40_503) >> 11) as u8)
                .collect();
            let one = mutate(&seeds, &script);
            assert_eq!(one, mutate(&seeds, &script));
            assert!(one.len() <= LONGEST);
            different.insert(one);
        }
        assert!(different.len() > 450, "{} of 500", different.len());
    }
}
