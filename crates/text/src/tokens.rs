//! Splits text into tokens: the same way for stored texts and for questions, in every script.
//!
//! A token is lower case, of letters and digits alone, and at most [`TOKEN_BYTES`] long, so every
//! store keeps it whole. English words are stemmed; names of code are found whole and by their
//! parts (`getRewindPoints`, `ENT-129`, `cmd/entire/explain.go`); scripts without spaces are
//! found by pairs of characters. Encoded data gives no tokens.
//!
//! Not here: which tokens of a question matter (`query`), how texts are ranked (`rank`).

mod blobs;
mod chars;
mod compound;
mod grams;
pub mod passages;
mod stems;
mod walk;

use std::cell::Cell;

use daybook_domain::index::{OPEN, PASSAGE_END, SPEAKER_END};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use blobs::{BLOB_CHARS, without_blobs};
use chars::{ASCII, Class};
use passages::{Sentences, passages, sentences, speaker};
use stems::Stems;
use walk::ChunkWalk;

/// Longest token; of a longer word or name, the beginning is the token.
pub const TOKEN_BYTES: usize = 64;
/// Most bytes of a text that are indexed. Of a longer text the head and the tail are, which usually state its
/// subject and its result.
pub const INDEX_TEXT_LIMIT: usize = 8 * 1024;
/// The tail's share of [`INDEX_TEXT_LIMIT`].
const INDEX_TAIL: usize = INDEX_TEXT_LIMIT / 4;
/// How far a cut moves to reach the space between two words.
const CUT_SLACK: usize = 128;
/// Distance between the last token of the head and the first of the tail: never neighbours.
const CUT_GAP: u32 = 1000;
/// Shorter words are their own stems.
const STEM_BYTES: usize = 3;

/// One token, its place, and its relation to its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextToken<'a> {
    /// The text that is indexed and looked up.
    pub text: &'a str,
    /// The same before stemming.
    pub surface: &'a str,
    /// Its role within its group.
    pub kind: TokenKind,
    /// Ordinal of the word, name or run that it comes from; one name's tokens share it.
    pub group: u32,
    /// Place in the text, counted in smallest pieces: neighbours differ by one.
    pub position: u32,
}

/// What a token is within the word, name or run that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A word, or a name as a whole; `divided` when parts of it follow.
    Whole {
        /// Whether the same group has parts.
        divided: bool,
    },
    /// A section of a name that has parts itself: `explain.go` in `cmd/explain.go`.
    Section,
    /// A smallest part of a name.
    Part,
    /// A pair of neighbouring characters: of a run without spaces, which has no whole, or of a
    /// Korean word, whose whole may differ by a particle.
    Pair,
    /// A Han character inside a longer run. It is indexed, so that asking for it alone finds it.
    Inner,
}

/// Calls `see` with every token of `text`, in order.
pub fn for_each_token(text: &str, see: impl FnMut(TextToken<'_>)) {
    with_tokenizer(|tokenizer| tokenizer.for_each(text, see));
}

/// Calls `see` with every token of the part of `text` that is indexed: all of it up to [`INDEX_TEXT_LIMIT`],
/// else its head and its tail.
pub fn for_each_indexed_token(text: &str, see: impl FnMut(TextToken<'_>)) {
    with_tokenizer(|tokenizer| tokenizer.for_each_indexed(text, see));
}

/// The form of a text that a store keeps: its tokens with one space between them.
///
/// Ranking uses the number of these tokens as the length of a text.
pub fn index_text(text: &str) -> String {
    let mut tokens = String::with_capacity(text.len().min(INDEX_TEXT_LIMIT));
    for_each_indexed_token(text, |token| {
        if !tokens.is_empty() {
            tokens.push(' ');
        }
        tokens.push_str(token.text);
    });
    tokens
}

/// The form that a store keeps of a text that may contain answers: [`index_text`], with [`PASSAGE_END`] between its
/// passages, [`SPEAKER_END`] behind the name of the speaker that it begins with, and [`OPEN`] around its questions
/// and announcements.
pub fn outlined_text(text: &str) -> String {
    let mut tokens = String::with_capacity(text.len().min(INDEX_TEXT_LIMIT));
    let said = match speaker(text) {
        Some((name, said)) => {
            push_tokens(name, &mut tokens);
            tokens.push(SPEAKER_END);
            said
        }
        None => text,
    };
    let passages = passages(said);
    for (at, passage) in passages.iter().enumerate() {
        let end = tokens.len();
        if at > 0 {
            tokens.push(PASSAGE_END);
        }
        let is_last = at + 1 == passages.len();
        if !push_passage(passage, is_last, &mut tokens) {
            tokens.truncate(end);
        }
    }
    tokens
}

/// Appends the tokens of a passage, its open sentences between marks. Returns whether there are any.
fn push_passage(passage: &str, is_last: bool, tokens: &mut String) -> bool {
    let mut any = false;
    let mut behind_mark = true;
    for Sentences { text, is_open } in sentences(passage, is_last) {
        let end = tokens.len();
        if is_open {
            tokens.push(OPEN);
        } else if !behind_mark {
            tokens.push(' ');
        }
        if !push_tokens(text, tokens) {
            tokens.truncate(end);
            continue;
        }
        if is_open {
            tokens.push(OPEN);
        }
        (any, behind_mark) = (true, is_open);
    }
    any
}

/// Whether a text has any tokens.
fn has_tokens(text: &str) -> bool {
    push_tokens(text, &mut String::new())
}

/// Appends the tokens of a text. Returns whether there are any.
fn push_tokens(text: &str, tokens: &mut String) -> bool {
    let from = tokens.len();
    for_each_token(text, |token| {
        if tokens.len() > from {
            tokens.push(' ');
        }
        tokens.push_str(token.text);
    });
    tokens.len() > from
}

/// The buffers that tokenising needs, kept from one text to the next.
pub struct TextTokenizer {
    stems: Stems,
    walk: ChunkWalk,
    lower: String,
    composed: String,
}

impl Default for TextTokenizer {
    fn default() -> Self {
        Self::new()
    }
}

impl TextTokenizer {
    /// A tokenizer with an empty cache.
    pub fn new() -> Self {
        Self {
            stems: Stems::new(),
            walk: ChunkWalk::default(),
            lower: String::new(),
            composed: String::new(),
        }
    }

    /// Calls `see` with every token of `text`, in order.
    pub fn for_each(&mut self, text: &str, mut see: impl FnMut(TextToken<'_>)) {
        self.run(text, &mut TokenPlace::default(), &mut see);
    }

    /// Calls `see` with every token of the part of `text` that is indexed.
    pub fn for_each_indexed(&mut self, text: &str, mut see: impl FnMut(TextToken<'_>)) {
        let mut place = TokenPlace::default();
        let (head, tail) = indexed_parts(text);
        self.run(head, &mut place, &mut see);
        place.position = place.position.saturating_add(CUT_GAP);
        self.run(tail, &mut place, &mut see);
    }

    fn run<F: FnMut(TextToken<'_>)>(&mut self, text: &str, place: &mut TokenPlace, see: &mut F) {
        let bytes = text.as_bytes();
        let mut at = 0;
        let mut out = Emitter {
            stems: &mut self.stems,
            place,
            see,
        };
        while at < bytes.len() {
            if !opens_chunk(bytes[at]) {
                at += 1;
            } else if let Some(word) = plain_word(bytes, at) {
                let plain = &text[at..at + word.len];
                if word.has_upper {
                    self.lower.clear();
                    self.lower.push_str(plain);
                    self.lower.make_ascii_lowercase();
                    out.plain(&self.lower);
                } else {
                    out.plain(plain);
                }
                at += word.len;
            } else {
                let len = bytes[at..]
                    .iter()
                    .take_while(|byte| is_of_chunk(**byte))
                    .count();
                let chunk = compose(&text[at..at + len], &mut self.composed);
                if chunk.len() < BLOB_CHARS {
                    self.walk.chunk(chunk, &mut out);
                } else {
                    without_blobs(chunk).for_each(|part| self.walk.chunk(part, &mut out));
                }
                at += len;
            }
        }
    }
}

/// The place of the next token.
#[derive(Default)]
struct TokenPlace {
    group: u32,
    position: u32,
}

/// Bounds and stems tokens, and passes them to the visitor.
struct Emitter<'a, F> {
    stems: &'a mut Stems,
    place: &'a mut TokenPlace,
    see: &'a mut F,
}

impl<F: FnMut(TextToken<'_>)> Emitter<'_, F> {
    fn plain(&mut self, word: &str) {
        self.emit(word, TokenKind::Whole { divided: false }, 0);
        self.end_group(1);
    }

    fn emit(&mut self, piece: &str, kind: TokenKind, at: usize) {
        let surface = &piece[..piece.floor_char_boundary(TOKEN_BYTES)];
        let is_stemmed =
            surface.len() >= STEM_BYTES && surface.bytes().all(|byte| byte.is_ascii_lowercase());
        let text = if is_stemmed {
            self.stems.stem(surface)
        } else {
            surface
        };
        let position = self.place.position.saturating_add(at as u32);
        (self.see)(TextToken {
            text,
            surface,
            kind,
            group: self.place.group,
            position,
        });
    }

    fn end_group(&mut self, positions: usize) {
        self.place.group = self.place.group.saturating_add(1);
        self.place.position = self.place.position.saturating_add(positions as u32);
    }
}

struct PlainWord {
    len: usize,
    has_upper: bool,
}

/// The word at `at` if it needs no further analysis: ASCII, all of one class but
/// for a capital at the beginning, and joined to nothing.
fn plain_word(bytes: &[u8], at: usize) -> Option<PlainWord> {
    let class = |at: usize| bytes.get(at).map_or(Class::Break, |byte| byte_class(*byte));
    let first = class(at);
    let mut end = at + 1;
    let rest = match (first, class(end)) {
        (Class::Upper, Class::Lower) => Class::Lower,
        (Class::Lower | Class::Upper | Class::Digit, _) => first,
        _ => return None,
    };
    while class(end) == rest {
        end += 1;
    }
    let is_apart = match class(end) {
        Class::Break => !bytes.get(end).is_some_and(|byte| is_of_chunk(*byte)),
        Class::Joint | Class::Step | Class::Apostrophe => {
            !bytes.get(end + 1).is_some_and(|byte| is_of_chunk(*byte))
        }
        _ => false,
    };
    let len = end - at;
    (is_apart && len < BLOB_CHARS).then_some(PlainWord {
        len,
        has_upper: first == Class::Upper,
    })
}

/// Bytes beyond ASCII count as ignored here: they need the full analysis.
fn byte_class(byte: u8) -> Class {
    ASCII
        .get(usize::from(byte))
        .copied()
        .unwrap_or(Class::Ignored)
}

fn opens_chunk(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// A chunk also contains the signs of base 64, so that encoded data is one chunk.
fn is_of_chunk(byte: u8) -> bool {
    byte_class(byte) != Class::Break || matches!(byte, b'+' | b'=')
}

/// The chunk in NFKC. Chunks end at ASCII signs, over which nothing that becomes a token composes.
fn compose<'a>(chunk: &'a str, composed: &'a mut String) -> &'a str {
    if chunk.is_ascii() || is_nfkc_quick(chunk.chars()) == IsNormalized::Yes {
        return chunk;
    }
    composed.clear();
    composed.extend(chunk.nfkc());
    composed
}

/// Head and tail of what is indexed, cut between words where one ends nearby.
pub fn indexed_parts(text: &str) -> (&str, &str) {
    if text.len() <= INDEX_TEXT_LIMIT {
        return (text, "");
    }
    let head = &text[..text.floor_char_boundary(INDEX_TEXT_LIMIT - INDEX_TAIL)];
    let tail = &text[text.ceil_char_boundary(text.len() - INDEX_TAIL)..];
    let is_space = |c: char| c.is_ascii_whitespace();
    let head_end = head
        .rfind(is_space)
        .filter(|at| head.len() - at <= CUT_SLACK);
    let tail_start = tail.find(is_space).filter(|at| *at <= CUT_SLACK);
    (
        &head[..head_end.unwrap_or(head.len())],
        &tail[tail_start.unwrap_or(0)..],
    )
}

thread_local! {
    static TOKENIZER: Cell<Option<Box<TextTokenizer>>> = const { Cell::new(None) };
}

/// Runs `work` with this thread's tokenizer. It is taken and put back, so a visitor may tokenise too.
fn with_tokenizer<T>(work: impl FnOnce(&mut TextTokenizer) -> T) -> T {
    let mut tokenizer = TOKENIZER.take().unwrap_or_default();
    let done = work(&mut tokenizer);
    TOKENIZER.set(Some(tokenizer));
    done
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
