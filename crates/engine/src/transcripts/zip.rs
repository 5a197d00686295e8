//! Decodes the conversations of a zip archive that a chat service exported.
//!
//! The archive is read from its front, entry by entry, so that it may be a stream and is never held as a whole. Its text
//! is that of the entries called `conversations….json`, one after the other; all other entries are passed over.
//!
//! Not here: what the conversations hold.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::DeflateDecoder;

/// How an archive begins, and each of its entries.
pub(super) const MAGIC: [u8; 4] = *b"PK\x03\x04";
/// How the sizes behind an entry begin.
const SIZES: [u8; 4] = *b"PK\x07\x08";
/// Most bytes that the conversations of one archive may have. A small archive can claim any size.
const MOST: u64 = 64 * 1024 * 1024 * 1024;
/// Bytes read of an archive at once.
const READ: usize = 64 * 1024;
/// The text of an archive without conversations, which is no transcript.
const NOTHING: &[u8] = b"a zip archive without conversations";

/// The text of an archive's conversations. The input stands behind [`MAGIC`].
pub(super) struct ZipConversations<R: Read> {
    /// `None` only while an entry is being changed, at the end, or after an error.
    at: Option<At<R>>,
    /// Bytes that may still be decoded.
    left: u64,
    has_read: bool,
}

enum At<R: Read> {
    /// Behind the first bytes of an entry.
    Entry(BufReader<R>),
    Stored(io::Take<BufReader<R>>),
    Deflated {
        decoder: Box<DeflateDecoder<BufReader<R>>>,
        sizes_follow: bool,
    },
    /// At the end of an archive without conversations.
    Nothing,
}

/// What an entry's header says.
struct Entry {
    flags: u16,
    method: u16,
    size: u64,
    is_conversations: bool,
}

impl Entry {
    fn sizes_follow(&self) -> bool {
        self.flags & 8 != 0
    }
}

impl<R: Read> ZipConversations<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            at: Some(At::Entry(BufReader::with_capacity(READ, input))),
            left: MOST,
            has_read: false,
        }
    }

    /// Opens the entry whose header follows; `None` where the next one follows at once.
    fn open(&mut self, mut input: BufReader<R>) -> io::Result<At<R>> {
        let entry = header(&mut input)?;
        self.has_read |= entry.is_conversations;
        if entry.is_conversations && entry.flags & 1 != 0 {
            return Err(io::Error::other("the archive is encrypted"));
        }
        match entry.method {
            0 if !entry.sizes_follow() => {
                let mut stored = input.take(entry.size);
                if !entry.is_conversations {
                    io::copy(&mut stored, &mut io::sink())?;
                }
                Ok(At::Stored(stored))
            }
            8 => {
                let sizes_follow = entry.sizes_follow();
                let mut decoder = Box::new(DeflateDecoder::new(input));
                if !entry.is_conversations {
                    io::copy(&mut (&mut decoder).take(MOST), &mut io::sink())?;
                }
                Ok(At::Deflated {
                    decoder,
                    sizes_follow,
                })
            }
            _ => Err(io::Error::other("the archive is packed in an unknown way")),
        }
    }

    /// Goes on behind an entry.
    fn next(&self, mut input: BufReader<R>) -> io::Result<Option<At<R>>> {
        let mut first = [0; 4];
        match input.read_exact(&mut first) {
            Ok(()) if first == MAGIC => return Ok(Some(At::Entry(input))),
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(error) => return Err(error),
        }
        // The list of entries follows, which repeats what was read.
        Ok((!self.has_read).then_some(At::Nothing))
    }
}

impl<R: Read> Read for ZipConversations<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = match self.at.take() {
                None => return Ok(0),
                Some(At::Nothing) => {
                    let length = NOTHING.len().min(buffer.len());
                    buffer[..length].copy_from_slice(&NOTHING[..length]);
                    return Ok(length);
                }
                Some(At::Entry(input)) => {
                    self.at = Some(self.open(input)?);
                    continue;
                }
                Some(At::Stored(mut stored)) => match stored.read(buffer)? {
                    0 => {
                        self.at = self.next(stored.into_inner())?;
                        continue;
                    }
                    read => {
                        self.at = Some(At::Stored(stored));
                        read
                    }
                },
                Some(At::Deflated {
                    mut decoder,
                    sizes_follow,
                }) => match decoder.read(buffer)? {
                    0 => {
                        let mut input = decoder.into_inner();
                        if sizes_follow {
                            pass_sizes(&mut input)?;
                        }
                        self.at = self.next(input)?;
                        continue;
                    }
                    read => {
                        self.at = Some(At::Deflated {
                            decoder,
                            sizes_follow,
                        });
                        read
                    }
                },
            };
            self.left = self.left.saturating_sub(read as u64);
            if self.left == 0 {
                self.at = None;
                return Err(io::Error::other("the archive's conversations are too long"));
            }
            return Ok(read);
        }
    }
}

fn header(input: &mut impl Read) -> io::Result<Entry> {
    let mut fields = [0; 26];
    input.read_exact(&mut fields)?;
    let short = |at: usize| u16::from_le_bytes([fields[at], fields[at + 1]]);
    let packed = [fields[14], fields[15], fields[16], fields[17]];
    let mut name = vec![0; usize::from(short(22))];
    input.read_exact(&mut name)?;
    let mut extra = vec![0; usize::from(short(24))];
    input.read_exact(&mut extra)?;
    let name = String::from_utf8_lossy(&name).into_owned();
    let file = name.rsplit('/').next().unwrap_or_default();
    Ok(Entry {
        flags: short(2),
        method: short(4),
        size: match u32::from_le_bytes(packed) {
            u32::MAX => long_size(&extra).unwrap_or(u64::from(u32::MAX)),
            size => u64::from(size),
        },
        is_conversations: file.starts_with("conversations") && file.ends_with(".json"),
    })
}

/// The packed size in the extra field of an entry of four gibibytes or more: the second of two.
fn long_size(mut extra: &[u8]) -> Option<u64> {
    while let Some((head, rest)) = extra.split_at_checked(4) {
        let length = usize::from(u16::from_le_bytes([head[2], head[3]]));
        let (field, rest) = rest.split_at_checked(length)?;
        if head[..2] == [1, 0] {
            return Some(u64::from_le_bytes(field.get(8..16)?.try_into().ok()?));
        }
        extra = rest;
    }
    None
}

/// Passes over the sizes behind an entry, with or without their mark, in either length.
fn pass_sizes(input: &mut impl BufRead) -> io::Result<()> {
    let mut first = [0; 4];
    input.read_exact(&mut first)?;
    let rest: &mut [u8] = if first == SIZES {
        &mut [0; 12]
    } else {
        &mut [0; 8]
    };
    input.read_exact(rest)?;
    if !input.fill_buf()?.starts_with(b"PK") {
        input.read_exact(&mut [0; 8])?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "zip_tests.rs"]
mod tests;
