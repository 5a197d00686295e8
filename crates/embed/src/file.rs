//! The layout of a model file. `train/pack.py` writes it.
//!
//! Everything is little endian and is read in place: opening a model checks the header and
//! copies nothing.
//!
//! | part | content |
//! |---|---|
//! | header, 48 bytes | `DBSTATIC`, then as `u32`: version, dimensions, rows, slots, bytes of names, longest name; 16 bytes of the BLAKE3 hash of all that follows |
//! | slots | `u16` each: a row plus one, or 0; where a name's hash leads, or the next that is free |
//! | ends | `u32` per row: where its name ends |
//! | names | the names of the rows, one after the other |
//! | scales | `f32` per row |
//! | rows | one signed byte per dimension, times the row's scale |

/// What opens a model file.
const MAGIC: &[u8; 8] = b"DBSTATIC";
const VERSION: u32 = 1;
const HEADER: usize = 48;
/// How the vocabulary marks a token that continues a word.
const CONTINUATION: &[u8] = b"##";
/// Rows are numbered in 16 bits, and 0 marks an empty slot.
const MOST_ROWS: usize = u16::MAX as usize - 1;
const MOST_SLOTS: usize = 1 << 20;
const MOST_DIMENSIONS: usize = 4096;
/// No token is longer, so that hashes of prefixes fit an array.
const LONGEST_NAME: usize = 64;

/// Why bytes are not a model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelFileError {
    /// The bytes do not start as a model file does.
    #[error("not a model file of Daybook; train one with crates/embed/train")]
    NotAModel,
    /// The file has another layout than this version reads.
    #[error("the model file has version {0}, and this program reads version {VERSION}")]
    OtherVersion(u32),
    /// The header's counts and the length of the file disagree.
    #[error("the model file has {len} bytes, and its header asks for {wanted}")]
    WrongLength {
        /// Bytes of the file.
        len: usize,
        /// Bytes that the header asks for.
        wanted: usize,
    },
    /// A count of the header cannot be used.
    #[error("the model file's header is corrupt: {0}")]
    Corrupt(&'static str),
}

/// A model file's parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelFile<'a> {
    pub(crate) dimensions: usize,
    pub(crate) fingerprint: &'a [u8],
    pub(crate) vocabulary: ModelVocabulary<'a>,
    scales: &'a [u8],
    rows: &'a [u8],
}

/// The names of the rows, found by hash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelVocabulary<'a> {
    slots: &'a [u8],
    ends: &'a [u8],
    names: &'a [u8],
    longest: usize,
}

impl<'a> ModelFile<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, ModelFileError> {
        if bytes.len() < HEADER || &bytes[..8] != MAGIC {
            return Err(ModelFileError::NotAModel);
        }
        let field = |n: usize| u32_at(bytes, 2 + n);
        let [version, dimensions, rows, slots, names, longest] = std::array::from_fn(field);
        if version != VERSION {
            return Err(ModelFileError::OtherVersion(version));
        }
        let [dimensions, rows, slots, names, longest] =
            [dimensions, rows, slots, names, longest].map(|n| n as usize);
        if rows > MOST_ROWS || dimensions > MOST_DIMENSIONS {
            return Err(ModelFileError::Corrupt("rows or dimensions"));
        }
        if !slots.is_power_of_two() || slots <= rows || slots > MOST_SLOTS {
            return Err(ModelFileError::Corrupt("slots"));
        }
        if longest > LONGEST_NAME {
            return Err(ModelFileError::Corrupt("longest name"));
        }
        let sizes = [slots * 2, rows * 4, names, rows * 4, rows * dimensions];
        let wanted = HEADER + sizes.iter().sum::<usize>();
        if wanted != bytes.len() {
            let len = bytes.len();
            return Err(ModelFileError::WrongLength { len, wanted });
        }
        let mut rest = &bytes[HEADER..];
        let [slots, ends, names, scales, rows] = sizes.map(|size| {
            let (part, after) = rest.split_at(size);
            rest = after;
            part
        });
        let vocabulary = ModelVocabulary {
            slots,
            ends,
            names,
            longest,
        };
        vocabulary.check()?;
        Ok(Self {
            dimensions,
            fingerprint: &bytes[HEADER - 16..HEADER],
            vocabulary,
            scales,
            rows,
        })
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.scales.len() / 4
    }

    /// The codes of a row, whose scale is left out: its direction.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        &self.rows[row * self.dimensions..(row + 1) * self.dimensions]
    }

    /// Adds the vector of a row to `sum`.
    pub(crate) fn add_row(&self, row: usize, sum: &mut [f32]) {
        let scale = f32::from_bits(u32_at(self.scales, row));
        for (total, byte) in sum.iter_mut().zip(self.row(row)) {
            *total += scale * f32::from(*byte as i8);
        }
    }
}

impl ModelVocabulary<'_> {
    /// What lookups rely on: names in order, slots that lead to rows, and one slot empty.
    fn check(&self) -> Result<(), ModelFileError> {
        let rows = self.ends.len() / 4;
        let mut start = 0;
        for row in 0..rows {
            let end = u32_at(self.ends, row) as usize;
            if end < start || end > self.names.len() {
                return Err(ModelFileError::Corrupt("names"));
            }
            start = end;
        }
        let mut has_empty = false;
        for slot in self.slots.chunks_exact(2) {
            let row = usize::from(u16::from_le_bytes([slot[0], slot[1]]));
            if row > rows {
                return Err(ModelFileError::Corrupt("slots"));
            }
            has_empty |= row == 0;
        }
        match has_empty {
            true => Ok(()),
            false => Err(ModelFileError::Corrupt("slots")),
        }
    }

    /// Bytes of the longest name; no longer prefix is worth a look.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// The row named by the first `len` bytes of what `prefixes` was made of.
    pub(crate) fn find(&self, prefixes: &Prefixes<'_>, len: usize) -> Option<usize> {
        let slots = self.slots.len() / 2;
        let mut slot = fold(prefixes.hashes[len]) & (slots - 1);
        // There are more slots than names, so an empty one ends the search.
        loop {
            let at = slot * 2;
            let row = usize::from(u16::from_le_bytes([self.slots[at], self.slots[at + 1]]));
            let row = row.checked_sub(1)?;
            if prefixes.equals(self.name(row), len) {
                return Some(row);
            }
            slot = (slot + 1) & (slots - 1);
        }
    }

    /// The name of a row as the vocabulary has it, mark of continuation included.
    pub(crate) fn name(&self, row: usize) -> &[u8] {
        let end = |row| u32_at(self.ends, row) as usize;
        let start = row.checked_sub(1).map_or(0, end);
        &self.names[start..end(row)]
    }
}

/// A piece of text with the hashes of all its beginnings: FNV-1a, 32 bits.
pub(crate) struct Prefixes<'a> {
    bytes: &'a [u8],
    is_continuation: bool,
    hashes: [u32; LONGEST_NAME + 1],
}

impl<'a> Prefixes<'a> {
    /// For at most [`LONGEST_NAME`] bytes, which [`ModelVocabulary::longest`] bounds.
    pub(crate) fn new(bytes: &'a [u8], is_continuation: bool) -> Self {
        let mut hashes = [0; LONGEST_NAME + 1];
        let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        let prefix = if is_continuation { CONTINUATION } else { b"" };
        hashes[0] = prefix.iter().fold(0x811C_9DC5, step);
        for (at, byte) in bytes.iter().enumerate() {
            hashes[at + 1] = step(hashes[at], byte);
        }
        Self {
            bytes,
            is_continuation,
            hashes,
        }
    }

    fn equals(&self, name: &[u8], len: usize) -> bool {
        let name = match self.is_continuation {
            true => name.strip_prefix(CONTINUATION),
            false => Some(name),
        };
        name == Some(&self.bytes[..len])
    }
}

/// The upper half of a hash varies most: it is mixed into the lower, which chooses the slot.
fn fold(hash: u32) -> usize {
    (hash ^ (hash >> 16)) as usize
}

fn u32_at(bytes: &[u8], index: usize) -> u32 {
    let at = index * 4;
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
