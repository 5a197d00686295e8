//! Stores how much of the shared history this folder has fetched.
//!
//! The file is a cache: if it is lost, torn by a power cut or written by an older version, everything is
//! compared again. It names a commit only after the whole history of that commit was found on this disk, or
//! was read from it to be pushed. A count alone is no proof: other machines store objects at any moment, so
//! the count after an advance includes objects that were never here.

use std::str::FromStr;

use gix::ObjectId;

use crate::files::atomic;
use crate::files::error::FilesError;
use crate::files::folder::Folder;

/// File name inside `.git/daybook/`.
const FILE_NAME: &str = "shared";
/// What stands in the place of a value that there is none of.
const UNKNOWN: &str = "-";

/// Stores how much of the shared history this folder has fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FetchState {
    /// The objects with numbers up to this one are present.
    pub(super) objects: u64,
    /// A shared commit whose whole history is present.
    pub(super) complete: Option<ObjectId>,
    /// How often the history that was fetched had been rewritten; `None` while this folder rewrites it.
    pub(super) rewrites: Option<u64>,
}

impl Default for FetchState {
    fn default() -> Self {
        Self::none_of(0)
    }
}

impl FetchState {
    /// Nothing was fetched of a history that was rewritten so often.
    pub(super) fn none_of(rewrites: u64) -> Self {
        Self {
            objects: 0,
            complete: None,
            rewrites: Some(rewrites),
        }
    }

    /// This folder rewrites the history: until another state is saved, what it has is not what is shared.
    pub(super) fn rewriting() -> Self {
        Self {
            rewrites: None,
            ..Self::none_of(0)
        }
    }

    pub(super) fn load(folder: &Folder) -> Result<Self, FilesError> {
        let place = folder.private_path(FILE_NAME);
        let bytes = atomic::read(&place).map_err(FilesError::io("read", &place))?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.as_deref().and_then(parse).unwrap_or_default())
    }

    pub(super) fn save(self, folder: &Folder) -> Result<(), FilesError> {
        let place = folder.private_path(FILE_NAME);
        let known = |value: Option<String>| value.unwrap_or_else(|| UNKNOWN.to_owned());
        let complete = known(self.complete.map(|id| id.to_string()));
        let rewrites = known(self.rewrites.map(|number| number.to_string()));
        let text = format!("{} {complete} {rewrites}\n", self.objects);
        atomic::write_new(&place, text.as_bytes()).map_err(FilesError::io("write", place))
    }
}

fn parse(text: &str) -> Option<FetchState> {
    let (objects, rest) = text.strip_suffix('\n')?.split_once(' ')?;
    // Before histories were rewritten, no count of that was kept.
    let (complete, rewrites) = rest.split_once(' ').unwrap_or((rest, "0"));
    Some(FetchState {
        objects: objects.parse().ok()?,
        complete: known(complete)?,
        rewrites: known(rewrites)?,
    })
}

/// The value of a field; `None` if it cannot be read.
fn known<T: FromStr>(field: &str) -> Option<Option<T>> {
    match field {
        UNKNOWN => Some(None),
        value => value.parse().ok().map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_alone_and_a_torn_note_prove_nothing() {
        let name = "00ff3b18e512dba79e4c8300dd08aeb37f8e728b";
        let state = FetchState {
            objects: 12,
            complete: Some(name.parse().unwrap()),
            rewrites: Some(3),
        };
        assert_eq!(parse(&format!("12 {name} 3\n")), Some(state));
        let before = FetchState {
            rewrites: Some(0),
            ..state
        };
        assert_eq!(parse(&format!("12 {name}\n")), Some(before));
        assert_eq!(parse("0 - -\n"), Some(FetchState::rewriting()));
        for torn in [
            "",
            "12\n",
            "12 \n",
            &format!("12 {name}"),
            &format!("12 {name} "),
            "12 00ff\n",
        ] {
            assert_eq!(parse(torn), None, "{torn:?}");
        }
    }
}
