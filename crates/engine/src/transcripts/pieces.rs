//! The pieces of a transcript that a [`super::TranscriptReader`] is fed: lines, or elements of an array.
//!
//! Not here: their content.

use std::io::{self, Read, Seek};

use super::detect::{ChatShape, HEAD, TranscriptFormat};
use super::elements::{ElementReader, MESSAGES};
use super::lines::{LineReader, PieceStep, ReadPosition, TranscriptPiece};
use super::stream::TranscriptStream;

/// The pieces of one transcript.
pub enum PieceReader<R: Read> {
    /// One line each. Reading can resume where it stopped.
    Lines(LineReader<TranscriptStream<R>>),
    /// One element each. Such a file is rewritten, not appended to, so it is always read from its
    /// beginning; events that are already stored are skipped by id.
    Elements(ElementReader<TranscriptStream<R>>),
}

impl<R: Read> PieceReader<R> {
    /// Reads from the beginning.
    pub fn new(input: R, format: &TranscriptFormat) -> io::Result<Self> {
        let stream = TranscriptStream::new(input)?;
        Ok(if in_elements(format) {
            Self::Elements(ElementReader::new(stream, list_of(format)))
        } else {
            Self::Lines(LineReader::new(stream))
        })
    }

    /// The next piece, or how the input ends.
    pub fn step(&mut self) -> io::Result<PieceStep<'_>> {
        match self {
            Self::Lines(lines) => lines.step(),
            Self::Elements(elements) => elements.step(),
        }
    }

    /// See [`LineReader::finish_partial`]; an array is either closed or cut off.
    pub fn finish_partial(&mut self) -> Option<TranscriptPiece<'_>> {
        match self {
            Self::Lines(lines) => lines.finish_partial(),
            Self::Elements(_) => None,
        }
    }
}

impl<R: Read + Seek> PieceReader<R> {
    /// Resumes at `start`, or at the beginning if the format cannot be resumed.
    pub fn at(input: R, format: &TranscriptFormat, start: ReadPosition) -> io::Result<Self> {
        if in_elements(format) {
            let stream = TranscriptStream::at(input, 0)?;
            return Ok(Self::Elements(ElementReader::new(stream, list_of(format))));
        }
        let stream = TranscriptStream::at(input, start.offset.saturating_sub(1))?;
        Ok(Self::Lines(LineReader::resume(stream, start)))
    }
}

/// The beginning of a transcript's text, for [`super::detect()`].
pub fn head<R: Read>(input: R) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    TranscriptStream::new(input)?
        .take(HEAD as u64)
        .read_to_end(&mut head)?;
    Ok(head)
}

fn in_elements(format: &TranscriptFormat) -> bool {
    format.shape() == Some(ChatShape::Document)
}

/// The name of the list in a document of a format.
fn list_of(format: &TranscriptFormat) -> &'static [u8] {
    match format {
        TranscriptFormat::CopilotChat(_) => b"requests",
        _ => MESSAGES,
    }
}
