//! The history of a scope's memory files as rows: git's own objects, and the head of the branch.
//!
//! Machines that share a database share these; every machine's memory folder is then a checkout of them
//! (DESIGN.md, "Memory shared by several machines").
//!
//! Not here: the content of objects, which only `files` in the engine reads.

use std::fmt;
use std::str::FromStr;

use strum::{EnumString, IntoStaticStr, VariantArray};

/// Name of an object: the SHA-1 that git gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName(pub [u8; 20]);

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for ObjectName {
    type Err = BadObjectName;

    /// Forty hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadObjectName(text.to_owned());
        if text.len() != 40 || !text.is_ascii() {
            return Err(bad());
        }
        let mut name = [0; 20];
        for (place, byte) in name.iter_mut().enumerate() {
            let digits = &text[2 * place..2 * place + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| bad())?;
        }
        Ok(Self(name))
    }
}

/// A text that names no object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not forty hexadecimal digits")]
pub struct BadObjectName(String);

/// What an object is.
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
pub enum ObjectKind {
    /// A file's bytes.
    Blob,
    /// A folder's entries.
    Tree,
    /// A state of all files, and what it followed.
    Commit,
}

impl ObjectKind {
    /// The variant's name in git and in our columns.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeObject {
    /// Its name, which its kind and bytes determine.
    pub name: ObjectName,
    /// What it is.
    pub kind: ObjectKind,
    /// Its content, as git encodes it.
    pub bytes: Vec<u8>,
}

/// The head of the shared history of a scope's memory files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeHead {
    /// Raised by each advance: the compare of compare-and-set.
    pub version: u64,
    /// The newest commit; `None` after everything was removed.
    pub commit: Option<ObjectName>,
    /// What the engine keeps beside the files, whole.
    pub beside: String,
    /// How many objects there are. They are numbered from 1 in the order in which they came.
    pub objects: u64,
    /// How often the history was replaced by one without what was taken out of it. A machine that has fetched an
    /// earlier one gives that up.
    pub rewrites: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_forty_digits() {
        let text = "00ff3b18e512dba79e4c8300dd08aeb37f8e728b";
        assert_eq!(text.parse::<ObjectName>().unwrap().to_string(), text);
        for bad in [
            "",
            "00ff",
            &text[1..],
            &text.replace('f', "g"),
            &"é".repeat(20),
        ] {
            assert!(bad.parse::<ObjectName>().is_err(), "{bad}");
        }
    }
}
