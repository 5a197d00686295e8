//! Cuts a stream into lines, in bounded memory, without losing or repeating one.
//!
//! A line that has no end yet is [`PieceStep::Partial`]: its file may still grow, so it is read next
//! time, from the same offset. Offsets count bytes of the text itself: for a compressed file those
//! after decompression. Long lines are squeezed (see `squeeze.rs`): the reader of a 64 MiB line
//! holds less than 3 MiB.
//!
//! Empty lines are lines, so that numbers agree with an editor's.
//!
//! Not here: the content of lines.

use std::io::{self, Read};

use memchr::memchr;
use serde::de::IgnoredAny;

use super::squeeze::Assembly;

/// Bytes requested of the input at once.
pub(crate) const READ: usize = 256 * 1024;

/// Where reading resumes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadPosition {
    /// Bytes already read.
    pub offset: u64,
    /// Lines already read.
    pub lines: u32,
}

/// One complete line.
#[derive(Debug, PartialEq, Eq)]
pub struct TranscriptPiece<'r> {
    /// Its number, counted from 1.
    pub number: u32,
    /// The offset behind it.
    pub end: u64,
    /// Its bytes, without the end of line.
    pub bytes: &'r [u8],
}

/// The result of reading one step further.
#[derive(Debug, PartialEq, Eq)]
pub enum PieceStep<'r> {
    /// A line.
    Piece(TranscriptPiece<'r>),
    /// A line that is too long to be kept even squeezed. It has been passed over.
    TooLong {
        /// Its number, counted from 1.
        number: u32,
        /// The offset behind it.
        end: u64,
        /// Its length in bytes.
        length: u64,
    },
    /// The input ends within a line. It has not been taken; asking again goes on where the input
    /// ended, should it have grown.
    Partial {
        /// The number that it will have.
        number: u32,
        /// The offset at which it begins.
        start: u64,
        /// How much of it is there.
        length: u64,
    },
    /// The input ends after a line.
    End,
}

/// Reads lines from any input.
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    buffer: Box<[u8]>,
    /// The unread part of `buffer`.
    from: usize,
    upto: usize,
    /// Offset of `buffer[from]`.
    offset: u64,
    lines: u32,
    /// The beginning of a line that did not end within one read.
    pending: Assembly,
    /// What `pending` holds has been handed out.
    handed: bool,
    /// How the line before `offset` ended decides about the first bytes.
    opening: Opening,
}

/// What may stand before the first line that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// A byte order mark.
    Mark,
    /// The byte before the offset, then the end of a line that was taken before it had one.
    LastByte,
    /// Only that end.
    LineEnd,
    /// Nothing more.
    Passed,
}

impl<R: Read> LineReader<R> {
    /// Reads from the beginning.
    pub fn new(input: R) -> Self {
        Self::with(input, ReadPosition::default(), Opening::Mark)
    }

    /// Goes on at `start`. The input must stand **one byte before** `start.offset`, so that the
    /// end of a line that [`LineReader::finish_partial`] accepted early is not taken for an empty line.
    pub fn resume(input: R, start: ReadPosition) -> Self {
        if start.offset == 0 {
            return Self::with(input, start, Opening::Mark);
        }
        let before = ReadPosition {
            offset: start.offset - 1,
            lines: start.lines,
        };
        Self::with(input, before, Opening::LastByte)
    }

    fn with(input: R, start: ReadPosition, opening: Opening) -> Self {
        Self {
            input,
            buffer: vec![0; READ].into_boxed_slice(),
            from: 0,
            upto: 0,
            offset: start.offset,
            lines: start.lines,
            pending: Assembly::default(),
            handed: false,
            opening,
        }
    }

    /// The next line, or how the input ends.
    pub fn step(&mut self) -> io::Result<PieceStep<'_>> {
        if std::mem::take(&mut self.handed) {
            self.pending.clear();
        }
        let line = loop {
            if self.from == self.upto && !self.fill()? {
                return Ok(self.end());
            }
            if self.opening != Opening::Passed {
                self.open();
                continue;
            }
            let unread = &self.buffer[self.from..self.upto];
            let found = memchr(b'\n', unread);
            let length = found.unwrap_or(unread.len());
            let line = self.from..self.from + length;
            if found.is_none() || self.pending.length() > 0 {
                self.pending.push(&self.buffer[line.clone()]);
            }
            let taken = length + usize::from(found.is_some());
            self.from += taken;
            self.offset += taken as u64;
            if found.is_some() {
                break line;
            }
        };
        self.lines = self.lines.saturating_add(1);
        if self.pending.length() == 0 {
            return Ok(PieceStep::Piece(TranscriptPiece {
                number: self.lines,
                end: self.offset,
                bytes: without_return(&self.buffer[line]),
            }));
        }
        Ok(self.hand_out())
    }

    /// Takes the line that [`PieceStep::Partial`] reported as complete, if it is one complete JSON
    /// value. Only for an input that will not grow: a pipe that was closed, a file that no process
    /// writes any more. Should the file grow nevertheless, [`LineReader::resume`] keeps count.
    pub fn finish_partial(&mut self) -> Option<TranscriptPiece<'_>> {
        if self.handed || self.pending.length() == 0 {
            return None;
        }
        serde_json::from_slice::<IgnoredAny>(self.pending.finish()?).ok()?;
        self.lines = self.lines.saturating_add(1);
        match self.hand_out() {
            PieceStep::Piece(line) => Some(line),
            PieceStep::TooLong { .. } | PieceStep::Partial { .. } | PieceStep::End => None,
        }
    }

    /// The line in `pending`.
    fn hand_out(&mut self) -> PieceStep<'_> {
        self.handed = true;
        let (number, end, length) = (self.lines, self.offset, self.pending.length());
        match self.pending.finish() {
            Some(bytes) => PieceStep::Piece(TranscriptPiece {
                number,
                end,
                bytes: without_return(bytes),
            }),
            None => PieceStep::TooLong {
                number,
                end,
                length,
            },
        }
    }

    fn end(&self) -> PieceStep<'_> {
        match self.pending.length() {
            0 => PieceStep::End,
            length => PieceStep::Partial {
                number: self.lines.saturating_add(1),
                start: self.offset - length,
                length,
            },
        }
    }

    /// Passes over what may stand before the first line, as far as the buffer reaches.
    fn open(&mut self) {
        let unread = &self.buffer[self.from..self.upto];
        let (pass, opening) = match self.opening {
            Opening::Mark if unread.starts_with(b"\xEF\xBB\xBF") => (3, Opening::Passed),
            Opening::Mark | Opening::Passed => (0, Opening::Passed),
            Opening::LastByte if unread[0] == b'\n' => (1, Opening::Passed),
            Opening::LastByte => (1, Opening::LineEnd),
            Opening::LineEnd if unread[0] == b'\r' => (1, Opening::LineEnd),
            Opening::LineEnd if unread[0] == b'\n' => (1, Opening::Passed),
            Opening::LineEnd => (0, Opening::Passed),
        };
        self.from += pass;
        self.offset += pass as u64;
        self.opening = opening;
    }

    /// False at the end of the input.
    fn fill(&mut self) -> io::Result<bool> {
        self.from = 0;
        self.upto = 0;
        // The mark is three bytes, and an input may hand them out one by one.
        let least = if self.opening == Opening::Mark { 3 } else { 1 };
        while self.upto < least {
            match self.input.read(&mut self.buffer[self.upto..]) {
                Ok(0) => break,
                Ok(read) => self.upto += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // What was read stays readable; the next step meets the error again, if any.
                    if self.upto == 0 {
                        return Err(error);
                    }
                    break;
                }
            }
        }
        Ok(self.upto > 0)
    }

    /// Bytes of memory held.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.buffer.len() + self.pending.held()
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
