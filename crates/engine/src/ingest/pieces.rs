//! The pieces of a transcript that a [`super::Reader`] is fed: lines, or elements of an array.
//!
//! Not here: what they say.

use std::io::{self, Read, Seek};

use super::detect::{ChatShape, Format, HEAD};
use super::elements::ElementReader;
use super::lines::{Line, LineReader, Start, Step};
use super::stream::Stream;

/// The pieces of one transcript.
pub enum Pieces<R: Read> {
    /// One line each. The reader may go on where it stopped.
    Lines(LineReader<Stream<R>>),
    /// One element each. Such a file is not appended to but written anew, so that it is always
    /// read from its beginning; what is already known is passed over by id.
    Elements(ElementReader<Stream<R>>),
}

impl<R: Read> Pieces<R> {
    /// Reads from the beginning.
    pub fn new(input: R, format: &Format) -> io::Result<Self> {
        let stream = Stream::new(input)?;
        Ok(if in_elements(format) {
            Self::Elements(ElementReader::new(stream))
        } else {
            Self::Lines(LineReader::new(stream))
        })
    }

    /// The next piece, or how the input ends.
    pub fn step(&mut self) -> io::Result<Step<'_>> {
        match self {
            Self::Lines(lines) => lines.step(),
            Self::Elements(elements) => elements.step(),
        }
    }

    /// See [`LineReader::finish_partial`]; an array is either closed or cut off.
    pub fn finish_partial(&mut self) -> Option<Line<'_>> {
        match self {
            Self::Lines(lines) => lines.finish_partial(),
            Self::Elements(_) => None,
        }
    }
}

impl<R: Read + Seek> Pieces<R> {
    /// Goes on at `start`, or begins anew where the format cannot be gone on with.
    pub fn at(input: R, format: &Format, start: Start) -> io::Result<Self> {
        if in_elements(format) {
            return Ok(Self::Elements(ElementReader::new(Stream::at(input, 0)?)));
        }
        let stream = Stream::at(input, start.offset.saturating_sub(1))?;
        Ok(Self::Lines(LineReader::resume(stream, start)))
    }
}

/// The beginning of a transcript's text, for [`super::detect()`].
pub fn head<R: Read>(input: R) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    Stream::new(input)?
        .take(HEAD as u64)
        .read_to_end(&mut head)?;
    Ok(head)
}

fn in_elements(format: &Format) -> bool {
    matches!(format, Format::Chat(ChatShape::Document))
}
