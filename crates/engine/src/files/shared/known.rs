//! What is known of the shared history in this folder.
//!
//! The note is a cache: if it is lost, torn by a power cut or written by an older version, everything is
//! compared anew. It names a commit only after the whole history of that commit was seen on this disk, or
//! was read from it to be handed over. A count alone is no proof: other machines store objects at any
//! moment, so the count after an advance includes objects that were never here.

use gix::ObjectId;

use crate::files::atomic;
use crate::files::error::FilesError;
use crate::files::folder::Folder;

/// Ours, inside `.git/daybook/`.
const NOTE: &str = "shared";

/// What is known of the shared history in this folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// The objects with numbers up to this one are here.
    pub(super) objects: u64,
    /// A shared commit whose whole history is here.
    pub(super) whole: Option<ObjectId>,
}

impl Known {
    pub(super) fn load(folder: &Folder) -> Result<Self, FilesError> {
        let place = folder.private(NOTE);
        let bytes = atomic::read(&place).map_err(FilesError::io("read", &place))?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.as_deref().and_then(parse).unwrap_or_default())
    }

    pub(super) fn save(self, folder: &Folder) -> Result<(), FilesError> {
        let place = folder.private(NOTE);
        let whole = self.whole.map(|id| id.to_string()).unwrap_or_default();
        let text = format!("{} {whole}\n", self.objects);
        atomic::write_new(&place, text.as_bytes()).map_err(FilesError::io("write", place))
    }
}

fn parse(text: &str) -> Option<Known> {
    let (objects, whole) = text.strip_suffix('\n')?.split_once(' ')?;
    Some(Known {
        objects: objects.parse().ok()?,
        whole: Some(whole.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_alone_and_a_torn_note_prove_nothing() {
        let name = "00ff3b18e512dba79e4c8300dd08aeb37f8e728b";
        let known = Known {
            objects: 12,
            whole: Some(name.parse().unwrap()),
        };
        assert_eq!(parse(&format!("12 {name}\n")), Some(known));
        for torn in ["", "12\n", "12 \n", &format!("12 {name}"), "12 00ff\n"] {
            assert_eq!(parse(torn), None, "{torn:?}");
        }
    }
}
