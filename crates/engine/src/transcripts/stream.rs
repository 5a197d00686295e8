//! Opens a transcript: plain text, or a Zstandard file, a zip archive or a Markdown history that is decoded as it is read.
//!
//! The first bytes decide which of these it is. All offsets count bytes of the decoded text, so
//! that a file that is compressed later keeps them.
//!
//! Not here: lines.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::aider::markdown::{self, AiderBlocks};
use super::zip::{self, ZipConversations};

/// How a Zstandard frame begins.
const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// Largest window, in bytes, that a frame may ask for: memory is bounded, whatever a file claims.
const WINDOW: u64 = 32 * 1024 * 1024;
/// Bytes that decide what a file is.
const FIRST: usize = 64;
/// Bytes read of a compressed file at once.
const READ: usize = 64 * 1024;

/// An input whose first bytes were read ahead and are put back before it.
type Sniffed<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// A transcript's text.
pub struct TranscriptStream<R: Read>(Kind<R>);

enum Kind<R: Read> {
    Plain(Sniffed<R>),
    Zstd(Box<Frames<Sniffed<R>>>),
    Zip(Box<ZipConversations<Sniffed<R>>>),
    Aider(Box<AiderBlocks<Sniffed<R>>>),
}

impl<R: Read> TranscriptStream<R> {
    /// Opens an input that stands at its beginning.
    pub fn new(mut input: R) -> io::Result<Self> {
        let mut first = Vec::with_capacity(FIRST);
        input.by_ref().take(FIRST as u64).read_to_end(&mut first)?;
        let (is_zip, is_packed) = (first.starts_with(&zip::MAGIC), first.starts_with(&MAGIC));
        let is_aider = markdown::is_evident(&first);
        let mut first = Cursor::new(first);
        if is_zip {
            // What reads an archive begins behind its mark.
            first.set_position(zip::MAGIC.len() as u64);
        }
        let input = first.chain(input);
        Ok(Self(match () {
            () if is_zip => Kind::Zip(Box::new(ZipConversations::new(input))),
            () if is_packed => Kind::Zstd(Box::new(Frames::new(input))),
            () if is_aider => Kind::Aider(Box::new(AiderBlocks::new(input))),
            () => Kind::Plain(input),
        }))
    }
}

impl<R: Read + Seek> TranscriptStream<R> {
    /// Opens a file at an offset of its text. What is compressed is decoded up to there.
    pub fn at(mut input: R, offset: u64) -> io::Result<Self> {
        input.seek(SeekFrom::Start(0))?;
        let mut stream = Self::new(input)?;
        match &mut stream.0 {
            Kind::Plain(sniffed) => {
                let (first, file) = sniffed.get_mut();
                first.set_position(first.get_ref().len() as u64);
                file.seek(SeekFrom::Start(offset))?;
            }
            Kind::Zstd(frames) => {
                io::copy(&mut frames.take(offset), &mut io::sink())?;
            }
            Kind::Zip(archive) => {
                io::copy(&mut archive.take(offset), &mut io::sink())?;
            }
            Kind::Aider(blocks) => {
                io::copy(&mut blocks.take(offset), &mut io::sink())?;
            }
        }
        Ok(stream)
    }
}

impl<R: Read> Read for TranscriptStream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(input) => input.read(buffer),
            Kind::Zstd(frames) => frames.read(buffer),
            Kind::Zip(archive) => archive.read(buffer),
            Kind::Aider(blocks) => blocks.read(buffer),
        }
    }
}

/// Decodes one frame after another: a file that was appended to has several.
struct Frames<R: Read> {
    /// `None` only while a frame is being changed, or after an error.
    at: Option<At<R>>,
}

enum At<R: Read> {
    Between(io::BufReader<R>),
    Within(Box<StreamingDecoder<io::BufReader<R>, FrameDecoder>>),
}

impl<R: Read> Frames<R> {
    fn new(input: R) -> Self {
        Self {
            at: Some(At::Between(io::BufReader::with_capacity(READ, input))),
        }
    }

    /// The next frame, or `None` at the end of the file.
    fn open(mut input: io::BufReader<R>) -> io::Result<Option<At<R>>> {
        if io::BufRead::fill_buf(&mut input)?.is_empty() {
            return Ok(None);
        }
        StreamingDecoder::new_with_max_window_size(input, WINDOW)
            .map(|decoder| Some(At::Within(Box::new(decoder))))
            .map_err(io::Error::other)
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.at.take() {
                None => return Ok(0),
                Some(At::Between(input)) => self.at = Self::open(input)?,
                Some(At::Within(mut decoder)) => match decoder.read(buffer)? {
                    0 if !buffer.is_empty() => self.at = Some(At::Between(decoder.into_inner())),
                    read => {
                        self.at = Some(At::Within(decoder));
                        return Ok(read);
                    }
                },
            }
        }
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
