//! Names the parts of a memory's record: what its Markdown does not carry, written to files beside it, so that a lost
//! database can be made again.
//!
//! Each part is one file, which is written whole. Not here: lines of a part (`store`), its path (`engine`).

use strum::{EnumString, IntoStaticStr, VariantArray};

/// What a part of the record describes.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum RecordKind {
    /// A tenant: its projects, and what its models cost.
    Tenant,
    /// A session: its identity, what is done of it, and all that was learned from it.
    Session,
    /// A scope: what a person took back there, and what ended the validity of observations.
    Scope,
}

impl RecordKind {
    /// Its name in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Names one part of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    /// What it describes.
    pub kind: RecordKind,
    /// The number of that session, scope or tenant in the database.
    pub no: i64,
}

/// A part of the record that is older than the rows that it is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StaleRecord {
    /// The part.
    pub key: RecordKey,
    /// Grows with each change of the rows.
    pub mark: i64,
}

/// A line of the record that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRecordLine {
    /// The part.
    pub key: RecordKey,
    /// The line, from 1; 0 stands for the whole file.
    pub line: usize,
    /// The reason.
    pub why: String,
}
