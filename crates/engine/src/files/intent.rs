//! A recorded intent to finish a write, which survives the process.
//!
//! An intent names two commits: the base that the files are at, and the new one that they are moving to.
//! Both commits and all their objects are on disk before it is recorded, and so is the new text of every
//! file, at numbered private paths. Once recorded, it is applied by this process or by the next that takes
//! the writer lock, and cleared only when nothing of it is left to do.
//!
//! Not here: applying it (`recover`).

use std::fs;
use std::path::PathBuf;

use gix::ObjectId;

use super::atomic;
use super::error::FilesError;
use super::folder::Folder;
use super::steps::WriteStep;

const HEADER: &str = "daybook-intent 1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Intent {
    pub(super) base: Option<ObjectId>,
    pub(super) new: ObjectId,
}

/// What the intent's path holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StoredIntent {
    Nothing,
    Intent(Intent),
    /// Never left by a writer of Daybook; caused by a disk or a person.
    Unreadable,
}

impl Intent {
    pub(super) fn read(folder: &Folder) -> Result<StoredIntent, FilesError> {
        let place = intent_path(folder);
        let bytes = atomic::read(&place).map_err(FilesError::io("read", place))?;
        Ok(match bytes.map(|bytes| Self::parse(&bytes)) {
            None => StoredIntent::Nothing,
            Some(Some(intent)) => StoredIntent::Intent(intent),
            Some(None) => StoredIntent::Unreadable,
        })
    }

    /// Writes the intent to a draft file without recording it, and returns the draft's path. The draft has
    /// to be on disk, like all objects and texts that the intent refers to, before [`record`](Self::record)
    /// is called.
    pub(super) fn draft(&self, folder: &Folder) -> Result<PathBuf, FilesError> {
        let draft = folder.private_path("intent.part");
        atomic::write_new(&draft, self.to_string().as_bytes())
            .map_err(FilesError::io("draft", &draft))?;
        Ok(draft)
    }

    /// Records the drafted intent. On disk when this returns.
    pub(super) fn record(folder: &Folder) -> Result<(), FilesError> {
        folder.reach(WriteStep::RecordIntent)?;
        let place = intent_path(folder);
        fs::rename(folder.private_path("intent.part"), &place)
            .and_then(|()| atomic::sync(&[folder.private_path("")]))
            .map_err(FilesError::io("record the intent at", place))
    }

    /// Clears the intent. If a power cut brings it back, applying it again changes nothing.
    pub(super) fn clear(folder: &Folder) -> Result<(), FilesError> {
        folder.reach(WriteStep::ClearIntent)?;
        let place = intent_path(folder);
        atomic::remove(&place).map_err(FilesError::io("clear", place))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(bytes).ok()?.lines();
        let mut field = |name| lines.next()?.strip_prefix(name);
        field(HEADER).filter(|rest| rest.is_empty())?;
        let base = match field("base ")? {
            "none" => None,
            id => Some(id.parse().ok()?),
        };
        let new = field("new ")?.parse().ok()?;
        field("end").filter(|rest| rest.is_empty())?;
        Some(Self { base, new })
    }
}

impl std::fmt::Display for Intent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let base = self
            .base
            .map_or_else(|| "none".to_owned(), |id| id.to_string());
        write!(f, "{HEADER}\nbase {base}\nnew {}\nend\n", self.new)
    }
}

fn intent_path(folder: &Folder) -> PathBuf {
    folder.private_path("intent")
}

/// The folder of staged texts.
pub(super) fn staged_folder(folder: &Folder) -> PathBuf {
    folder.private_path("new")
}

/// Path of the staged text of change `number`, and afterwards of the file that it replaced.
pub(super) fn staged_path(folder: &Folder, number: usize) -> PathBuf {
    staged_folder(folder).join(number.to_string())
}

/// Removes all staged texts. Only when no intent is recorded.
pub(super) fn clear_staged_files(folder: &Folder) -> Result<(), FilesError> {
    let place = staged_folder(folder);
    atomic::empty(&place).map_err(FilesError::io("clear", place))
}

/// Moves an intent that cannot be read to `.git/daybook/aside/`, with all that belongs to it.
pub(super) fn set_aside(folder: &Folder) -> Result<(), FilesError> {
    let all = folder.private_path("aside");
    let numbered = (0..).map(|number: u64| all.join(number.to_string()));
    let aside = numbered
        .into_iter()
        .find(|place| !place.exists())
        .unwrap_or(all);
    let moved = (|| {
        fs::create_dir_all(&aside)?;
        for name in ["new", "promised", "intent"] {
            fs::rename(folder.private_path(name), aside.join(name))?;
        }
        Ok(())
    })();
    moved.map_err(FilesError::io("set aside the intent at", aside))?;
    folder.make_private_folders()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::folder::FilesConfig;

    #[test]
    fn an_intent_is_read_as_it_was_recorded_and_a_torn_one_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path(), FilesConfig::default()).unwrap();
        assert_eq!(Intent::read(&folder).unwrap(), StoredIntent::Nothing);
        let new = ObjectId::empty_tree(gix::hash::Kind::Sha1);
        for base in [None, Some(new)] {
            let intent = Intent { base, new };
            intent.draft(&folder).unwrap();
            Intent::record(&folder).unwrap();
            assert_eq!(Intent::read(&folder).unwrap(), StoredIntent::Intent(intent));
            let text = intent.to_string();
            for end in 0..text.len() - 1 {
                assert_eq!(Intent::parse(&text.as_bytes()[..end]), None);
            }
        }
        Intent::clear(&folder).unwrap();
        assert_eq!(Intent::read(&folder).unwrap(), StoredIntent::Nothing);
    }
}
