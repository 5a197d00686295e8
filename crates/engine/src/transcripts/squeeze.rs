//! Assembles one piece of JSON from chunks, in bounded memory.
//!
//! A piece of up to [`UNTOUCHED`] bytes stays as it is. A longer one is squeezed while it streams
//! by: it stays the same JSON, but a string literal of more than [`LITERAL`] bytes keeps only its
//! head and its tail, with a marker in between that gives the missing length. What is still longer
//! than [`SQUEEZED`] is dropped. Chunk borders never change the outcome.
//!
//! Not here: where a piece begins and ends; text that is no JSON passes through with the same bounds.

use memchr::{memchr, memchr2};

use daybook_text::cut::{WORD, marker};

/// Longest piece, in bytes, that is left as it is.
pub(crate) const UNTOUCHED: usize = 1024 * 1024;
/// Longest string literal, in bytes, that a squeezed piece keeps whole.
pub(crate) const LITERAL: usize = 384 * 1024;
/// What is kept of the beginning of a longer literal. Head, marker and tail fit one event's text.
pub(crate) const HEAD: usize = 191 * 1024;
/// What is kept of its end.
pub(crate) const TAIL: usize = 64 * 1024;
/// Longest squeezed piece, in bytes.
pub(crate) const SQUEEZED: usize = 16 * 1024 * 1024;

/// How the buffers may grow before they are given back once the piece is done.
const KEPT_CAPACITY: usize = 2 * UNTOUCHED;

/// Collects the chunks of one piece.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    /// The piece so far, while it is short.
    raw: Vec<u8>,
    /// Bytes taken in, squeezed or not.
    length: u64,
    squeezer: Option<Box<Squeezer>>,
}

impl Assembly {
    /// Takes the next chunk.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.length += chunk.len() as u64;
        if let Some(squeezer) = &mut self.squeezer {
            squeezer.push(chunk);
        } else if self.raw.len() + chunk.len() <= UNTOUCHED {
            self.raw.extend_from_slice(chunk);
        } else {
            let mut squeezer = Box::<Squeezer>::default();
            squeezer.push(&self.raw);
            squeezer.push(chunk);
            self.raw.clear();
            self.squeezer = Some(squeezer);
        }
    }

    /// How many bytes have been taken in.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The piece; `None` when it is too long even squeezed.
    pub(crate) fn finish(&mut self) -> Option<&[u8]> {
        match &mut self.squeezer {
            None => Some(&self.raw),
            Some(squeezer) => squeezer.finish(),
        }
    }

    /// Makes room for the next piece.
    pub(crate) fn clear(&mut self) {
        self.length = 0;
        self.squeezer = None;
        self.raw.clear();
        self.raw.shrink_to(KEPT_CAPACITY);
    }

    /// Bytes of memory held.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.raw.capacity() + self.squeezer.as_ref().map_or(0, |squeezer| squeezer.held())
    }
}

/// Copies JSON and shortens its long literals.
#[derive(Debug, Default)]
struct Squeezer {
    out: Vec<u8>,
    at: At,
    overflowed: bool,
}

/// Where in the JSON the next byte falls.
#[derive(Debug, Default)]
enum At {
    /// Between literals.
    #[default]
    Outside,
    /// In a literal that begins at `start` of the output, all of it kept so far. `escaped`: the
    /// last byte was a backslash that escapes the next.
    Inside { start: usize, escaped: bool },
    /// In a literal whose head is kept.
    Cutting { cut: Box<Cut>, escaped: bool },
}

impl Squeezer {
    fn push(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() && !self.overflowed {
            chunk = match &mut self.at {
                At::Outside => self.outside(chunk),
                At::Inside { .. } | At::Cutting { .. } => self.inside(chunk),
            };
            self.overflowed |= self.out.len() > SQUEEZED;
        }
        if self.overflowed {
            self.out = Vec::new();
            self.at = At::Outside;
        }
    }

    /// Copies up to and including the next opening quote; returns the rest.
    fn outside<'c>(&mut self, chunk: &'c [u8]) -> &'c [u8] {
        let upto = memchr(b'"', chunk).map_or(chunk.len(), |quote| quote + 1);
        self.out.extend_from_slice(&chunk[..upto]);
        if self.out.last() == Some(&b'"') {
            self.at = At::Inside {
                start: self.out.len(),
                escaped: false,
            };
        }
        &chunk[upto..]
    }

    /// Takes a stretch of a literal, at the most up to its closing quote; returns the rest.
    fn inside<'c>(&mut self, chunk: &'c [u8]) -> &'c [u8] {
        let escaped = matches!(
            self.at,
            At::Inside { escaped: true, .. } | At::Cutting { escaped: true, .. }
        );
        let (upto, next) = stretch(chunk, escaped);
        self.keep(&chunk[..upto], next == Next::Escaped);
        if next == Next::Closed {
            self.close();
        }
        &chunk[upto..]
    }

    /// Keeps a stretch of the current literal.
    fn keep(&mut self, stretch: &[u8], now_escaped: bool) {
        match &mut self.at {
            At::Outside => {}
            At::Inside { start, escaped } => {
                self.out.extend_from_slice(stretch);
                *escaped = now_escaped;
                // The closing quote is not part of the literal's length, hence the one byte.
                if self.out.len() - *start > LITERAL + 1 {
                    let cut = Box::new(Cut::begin(&mut self.out, *start));
                    self.at = At::Cutting {
                        cut,
                        escaped: now_escaped,
                    };
                }
            }
            At::Cutting { cut, escaped } => {
                cut.push(stretch);
                *escaped = now_escaped;
            }
        }
    }

    /// Ends the current literal, whose closing quote has been kept.
    fn close(&mut self) {
        if let At::Cutting { cut, .. } = std::mem::take(&mut self.at) {
            cut.end(&mut self.out);
        }
    }

    fn finish(&mut self) -> Option<&[u8]> {
        self.close();
        (!self.overflowed).then_some(&self.out)
    }

    #[cfg(test)]
    fn held(&self) -> usize {
        let tail = match &self.at {
            At::Cutting { cut, .. } => cut.tail.capacity(),
            At::Outside | At::Inside { .. } => 0,
        };
        self.out.capacity() + tail
    }
}

/// How a stretch of a literal ends.
#[derive(PartialEq, Eq)]
enum Next {
    /// The literal goes on.
    Open,
    /// It goes on, and the next byte is escaped.
    Escaped,
    /// The stretch ends with the closing quote.
    Closed,
}

/// How far the literal that `chunk` continues is plain, and how that stretch ends.
fn stretch(chunk: &[u8], escaped: bool) -> (usize, Next) {
    let from = usize::from(escaped).min(chunk.len());
    match memchr2(b'"', b'\\', &chunk[from..]) {
        None => (chunk.len(), Next::Open),
        Some(found) if chunk[from + found] == b'"' => (from + found + 1, Next::Closed),
        Some(found) => (from + found + 1, Next::Escaped),
    }
}

/// The part of a literal that is left out, and the tail that is kept behind it.
#[derive(Debug)]
struct Cut {
    hasher: blake3::Hasher,
    bytes: u64,
    /// Begins between two characters, and holds at least [`TAIL`] bytes once enough came.
    tail: Vec<u8>,
}

impl Cut {
    /// Cuts the literal that begins at `start` of `out` behind its head.
    fn begin(out: &mut Vec<u8>, start: usize) -> Self {
        let head = border(&out[start..], HEAD).0;
        let head = last_blank(&out[start..start + head]);
        let mut cut = Self {
            hasher: blake3::Hasher::new(),
            bytes: 0,
            tail: Vec::with_capacity(3 * TAIL),
        };
        for part in out[start + head..].chunks(TAIL) {
            cut.push(part);
        }
        out.truncate(start + head);
        cut
    }

    fn push(&mut self, mut stretch: &[u8]) {
        while !stretch.is_empty() {
            let part = stretch.len().min(TAIL);
            self.tail.extend_from_slice(&stretch[..part]);
            stretch = &stretch[part..];
            if self.tail.len() > 2 * TAIL {
                // A character never takes more than 12 bytes (two escapes), and TAIL bytes
                // stand behind the border, so that it is found within what is there.
                let from = border(&self.tail, self.tail.len() - TAIL - 12).1;
                self.drop_first(from);
            }
        }
    }

    /// Writes marker and tail.
    fn end(mut self, out: &mut Vec<u8>) {
        if self.tail.len() > TAIL {
            let from = border(&self.tail, self.tail.len() - TAIL).1;
            self.drop_first(from);
        }
        let from = first_blank(&self.tail);
        self.drop_first(from);
        out.extend_from_slice(marker(self.bytes, &self.hasher.finalize()).as_bytes());
        out.extend_from_slice(&self.tail);
    }

    fn drop_first(&mut self, bytes: usize) {
        self.hasher.update(&self.tail[..bytes]);
        self.bytes += bytes as u64;
        self.tail.drain(..bytes);
    }
}

/// The last border between characters at or before `want`, and the first one at or after it.
/// `literal` begins at a border; an escape counts as one character, and so does a pair of
/// surrogates.
fn border(literal: &[u8], want: usize) -> (usize, usize) {
    let want = want.min(literal.len());
    let mut at = 0;
    while let Some(found) = memchr(b'\\', &literal[at..want]) {
        at += found;
        let end = (at + escape(&literal[at..])).min(literal.len());
        if end > want {
            return (at, end);
        }
        at = end;
    }
    let inside = |at: usize| {
        literal
            .get(at)
            .is_some_and(|byte| (0x80..0xC0).contains(byte))
    };
    let (mut before, mut after) = (want, want);
    while before > at && inside(before) {
        before -= 1;
    }
    while inside(after) {
        after += 1;
    }
    (before, after)
}

/// Length of the escape that `literal` begins with.
fn escape(literal: &[u8]) -> usize {
    if literal.get(1) != Some(&b'u') {
        return 2;
    }
    let high = matches!(literal.get(2), Some(b'd' | b'D'))
        && matches!(
            literal.get(3),
            Some(b'8' | b'9' | b'a' | b'b' | b'A' | b'B')
        );
    let low = literal.get(6) == Some(&b'\\')
        && literal.get(7) == Some(&b'u')
        && matches!(literal.get(8), Some(b'd' | b'D'))
        && matches!(literal.get(9), Some(b'c'..=b'f' | b'C'..=b'F'));
    if high && low { 12 } else { 6 }
}

/// End of the last blank within the last [`WORD`] bytes, else the end.
fn last_blank(head: &[u8]) -> usize {
    let from = head.len().saturating_sub(WORD);
    memchr::memrchr(b' ', &head[from..]).map_or(head.len(), |blank| from + blank + 1)
}

/// The first blank within the first [`WORD`] bytes, else the beginning.
fn first_blank(tail: &[u8]) -> usize {
    memchr(b' ', &tail[..tail.len().min(WORD)]).unwrap_or(0)
}

#[cfg(test)]
#[path = "squeeze_tests.rs"]
mod tests;
