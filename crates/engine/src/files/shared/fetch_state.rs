//! Stores how much of the shared history this folder has fetched.
//!
//! The file is a cache: if it is lost, torn by a power cut or written by an older version, everything is
//! compared again. It names a commit only after the whole history of that commit was found on this disk, or
//! was read from it to be pushed. A count alone is no proof: other machines store objects at any moment, so
//! the count after an advance includes objects that were never here.

use gix::ObjectId;

use crate::files::atomic;
use crate::files::error::FilesError;
use crate::files::folder::Folder;

/// File name inside `.git/daybook/`.
const FILE_NAME: &str = "shared";

/// Stores how much of the shared history this folder has fetched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FetchState {
    /// The objects with numbers up to this one are present.
    pub(super) objects: u64,
    /// A shared commit whose whole history is present.
    pub(super) complete: Option<ObjectId>,
}

impl FetchState {
    pub(super) fn load(folder: &Folder) -> Result<Self, FilesError> {
        let place = folder.private_path(FILE_NAME);
        let bytes = atomic::read(&place).map_err(FilesError::io("read", &place))?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.as_deref().and_then(parse).unwrap_or_default())
    }

    pub(super) fn save(self, folder: &Folder) -> Result<(), FilesError> {
        let place = folder.private_path(FILE_NAME);
        let complete = self.complete.map(|id| id.to_string()).unwrap_or_default();
        let text = format!("{} {complete}\n", self.objects);
        atomic::write_new(&place, text.as_bytes()).map_err(FilesError::io("write", place))
    }
}

fn parse(text: &str) -> Option<FetchState> {
    let (objects, complete) = text.strip_suffix('\n')?.split_once(' ')?;
    Some(FetchState {
        objects: objects.parse().ok()?,
        complete: Some(complete.parse().ok()?),
    })
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
        };
        assert_eq!(parse(&format!("12 {name}\n")), Some(state));
        for torn in ["", "12\n", "12 \n", &format!("12 {name}"), "12 00ff\n"] {
            assert_eq!(parse(torn), None, "{torn:?}");
        }
    }
}
