//! Cuts one JSON document into the messages that it lists, in bounded memory.
//!
//! The document is a list, or an object with a list of a given name, such as `messages`. Each member of the list is
//! returned on its own, as a line would be, with its number in place of a line's; the members of an
//! object before its list come first, as number 0. Members are bounded like lines (see
//! `squeeze.rs`), the document is not: it is never held as a whole.
//!
//! Not here: the content of messages.

use std::io::{self, Read};

use super::lines::{PieceStep, READ, TranscriptPiece};
use super::squeeze::Assembly;

/// The name of the list in most formats.
pub(super) const MESSAGES: &[u8] = b"messages";

/// Bytes of a key that are kept; no list's name is as long.
const NAME: usize = 64;

/// Reads the members of a document's list.
#[derive(Debug)]
pub struct ElementReader<R> {
    input: R,
    /// The name of the list in an object.
    list: &'static [u8],
    buffer: Box<[u8]>,
    /// The unread part of `buffer`.
    from: usize,
    upto: usize,
    /// Offset of `buffer[from]`.
    offset: u64,
    at: At,
    /// The list that is being read is that of an object.
    in_object: bool,
    elements: u32,
    piece: Assembly,
    /// What `piece` holds has been handed out.
    handed: bool,
}

/// Where the next byte falls.
#[derive(Debug)]
enum At {
    /// Before a document.
    Outside,
    /// In an object, before its list.
    Opening(Outline),
    /// In an object, behind its list.
    Closing(Outline),
    /// In a list, between its members.
    Between,
    /// In a member of the list.
    Within(Value),
}

impl<R: Read> ElementReader<R> {
    /// Reads from the beginning. In an object, `list` names the list.
    pub fn new(input: R, list: &'static [u8]) -> Self {
        Self {
            input,
            list,
            buffer: vec![0; READ].into_boxed_slice(),
            from: 0,
            upto: 0,
            offset: 0,
            at: At::Outside,
            in_object: false,
            elements: 0,
            piece: Assembly::default(),
            handed: false,
        }
    }

    /// The next member, or how the input ends.
    pub fn step(&mut self) -> io::Result<PieceStep<'_>> {
        if std::mem::take(&mut self.handed) {
            self.piece.clear();
        }
        let number = loop {
            if self.from == self.upto && !self.fill()? {
                return Ok(self.end());
            }
            if let Some(number) = self.advance() {
                break number;
            }
        };
        self.handed = true;
        let (end, length) = (self.offset, self.piece.length());
        Ok(match self.piece.finish() {
            Some(bytes) => PieceStep::Piece(TranscriptPiece { number, end, bytes }),
            None => PieceStep::TooLong {
                number,
                end,
                length,
            },
        })
    }

    /// Goes through the buffer up to its end or the end of a piece, whose number it returns.
    fn advance(&mut self) -> Option<u32> {
        let unread = &self.buffer[self.from..self.upto];
        let (taken, next, done) = match &mut self.at {
            At::Outside => outside(unread),
            At::Between => between(unread, self.in_object),
            At::Opening(outline) => match outline.find_list(unread, self.list) {
                Reached::Nothing => {
                    self.piece.push(unread);
                    (unread.len(), None, None)
                }
                Reached::List(end) => {
                    self.piece.push(&unread[..end]);
                    // The rest of the object is not waited for.
                    self.piece.push(b"]}");
                    (end, Some(At::Between), Some(0))
                }
                Reached::End(end) => {
                    self.piece.push(&unread[..end]);
                    (end, Some(At::Outside), Some(0))
                }
            },
            At::Closing(outline) => match outline.find_list(unread, self.list) {
                Reached::Nothing => (unread.len(), None, None),
                Reached::List(end) => (end, Some(At::Between), None),
                Reached::End(end) => (end, Some(At::Outside), None),
            },
            At::Within(value) => {
                let end = value.find_end(unread);
                self.piece.push(&unread[..end.unwrap_or(unread.len())]);
                match end {
                    None => (unread.len(), None, None),
                    Some(end) => {
                        self.elements = self.elements.saturating_add(1);
                        (end, Some(At::Between), Some(self.elements))
                    }
                }
            }
        };
        self.from += taken;
        self.offset += taken as u64;
        if let Some(next) = next {
            match next {
                At::Opening(_) => self.in_object = true,
                At::Outside => self.in_object = false,
                At::Closing(_) | At::Between | At::Within(_) => {}
            }
            self.at = next;
        }
        done
    }

    fn end(&self) -> PieceStep<'_> {
        match self.at {
            At::Outside => PieceStep::End,
            At::Opening(_) | At::Closing(_) | At::Between | At::Within(_) => PieceStep::Partial {
                number: self.elements.saturating_add(1),
                start: self.offset - self.piece.length().min(self.offset),
                length: self.piece.length(),
            },
        }
    }

    /// False at the end of the input.
    fn fill(&mut self) -> io::Result<bool> {
        self.from = 0;
        self.upto = 0;
        loop {
            match self.input.read(&mut self.buffer) {
                Ok(read) => {
                    self.upto = read;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// What a stretch of bytes leads to: how many were taken, where the next one falls if that
/// changed, and the number of the piece that is complete.
type Move = (usize, Option<At>, Option<u32>);

/// Finds the next document. Anything between documents is skipped, such as a byte order mark.
fn outside(unread: &[u8]) -> Move {
    match unread.iter().position(|byte| matches!(byte, b'[' | b'{')) {
        None => (unread.len(), None, None),
        Some(at) if unread[at] == b'[' => (at + 1, Some(At::Between), None),
        // The brace itself is left: it is part of the object.
        Some(at) => (at, Some(At::Opening(Outline::default())), None),
    }
}

/// Finds the next member of the list.
fn between(unread: &[u8], in_object: bool) -> Move {
    // A brace that closes nothing is skipped: it would be a member without an end.
    let blank = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}');
    match unread.iter().position(|byte| !blank(byte)) {
        None => (unread.len(), None, None),
        Some(at) if unread[at] == b']' => {
            let next = match in_object {
                true => At::Closing(Outline::within()),
                false => At::Outside,
            };
            (at + 1, Some(next), None)
        }
        Some(at) => (at, Some(At::Within(Value::default())), None),
    }
}

/// Follows one JSON value to its end.
#[derive(Debug, Default)]
struct Value {
    depth: u64,
    begun: bool,
    text: bool,
    escaped: bool,
}

impl Value {
    /// Where the value ends within `bytes`, if it does.
    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.text {
                at += self.through_text(&bytes[at..]);
                if !self.text && self.depth == 0 {
                    return Some(at);
                }
                continue;
            }
            match bytes[at] {
                b'"' => self.text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth == 0 => return Some(at),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                b',' if self.depth == 0 && self.begun => return Some(at),
                _ => {}
            }
            self.begun = true;
            at += 1;
        }
        None
    }

    /// Reads a text, at most to behind its closing quote; returns how far.
    fn through_text(&mut self, bytes: &[u8]) -> usize {
        if std::mem::take(&mut self.escaped) {
            return 1;
        }
        match memchr::memchr2(b'"', b'\\', bytes) {
            None => bytes.len(),
            Some(at) => {
                match bytes[at] {
                    b'"' => self.text = false,
                    _ => self.escaped = true,
                }
                at + 1
            }
        }
    }
}

/// Reads an object up to its list.
#[derive(Debug, Default)]
struct Outline {
    depth: u64,
    text: bool,
    escaped: bool,
    /// The beginning of the newest text at the outermost level.
    word: Vec<u8>,
    /// That text is the key of what comes next.
    is_key: bool,
}

/// The part of an object that was reached.
enum Reached {
    /// Neither its list nor its end.
    Nothing,
    /// Its list begins before this place.
    List(usize),
    /// It ends before this place.
    End(usize),
}

impl Outline {
    /// In an object that has begun.
    fn within() -> Self {
        Self {
            depth: 1,
            ..Self::default()
        }
    }

    fn find_list(&mut self, bytes: &[u8], list: &[u8]) -> Reached {
        for (at, byte) in bytes.iter().enumerate() {
            if self.text {
                self.in_text(*byte);
                continue;
            }
            match byte {
                b'"' => {
                    self.text = true;
                    if self.depth == 1 {
                        self.word.clear();
                    }
                }
                b':' if self.depth == 1 => self.is_key = true,
                b',' if self.depth == 1 => self.is_key = false,
                b'[' if self.depth == 1 && self.is_key && self.word == list => {
                    return Reached::List(at + 1);
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Reached::End(at + 1);
                    }
                }
                _ => {}
            }
        }
        Reached::Nothing
    }

    fn in_text(&mut self, byte: u8) {
        if std::mem::take(&mut self.escaped) {
            return;
        }
        match byte {
            b'"' => self.text = false,
            b'\\' => self.escaped = true,
            _ => {}
        }
        if self.text && self.depth == 1 && self.word.len() < NAME {
            self.word.push(byte);
        }
    }
}

#[cfg(test)]
#[path = "elements_tests.rs"]
mod tests;
