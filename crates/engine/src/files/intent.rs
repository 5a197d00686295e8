//! The promise to finish a write.
//!
//! An intent names two commits: the base that the files are at, and the new one that they are going
//! to. Both commits and all that they hold are on disk before it is recorded, and so is the new text
//! of every file, in numbered places of ours. Once recorded, it is carried out by this process or by
//! the next that takes the writer lock, and forgotten only when nothing of it is left to do.
//!
//! Not here: carrying it out (`recover`).

use std::fs;
use std::path::PathBuf;

use gix::ObjectId;

use super::atomic;
use super::error::FilesError;
use super::folder::Folder;
use super::steps::Step;

const HEADER: &str = "daybook-intent 1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Intent {
    pub(super) base: Option<ObjectId>,
    pub(super) new: ObjectId,
}

/// What lies in the intent's place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    Nothing,
    Intent(Intent),
    /// No writer of ours leaves one; a disk or a person can.
    Unreadable,
}

impl Intent {
    pub(super) fn read(folder: &Folder) -> Result<Recorded, FilesError> {
        let place = place(folder);
        let bytes = atomic::read(&place).map_err(FilesError::io("read", place))?;
        Ok(match bytes.map(|bytes| Self::parse(&bytes)) {
            None => Recorded::Nothing,
            Some(Some(intent)) => Recorded::Intent(intent),
            Some(None) => Recorded::Unreadable,
        })
    }

    /// Writes the intent down without recording it, at the returned place. That file has to be on
    /// disk, like all that the intent speaks of, before [`record`](Self::record) is called.
    pub(super) fn draft(&self, folder: &Folder) -> Result<PathBuf, FilesError> {
        let draft = folder.private("intent.part");
        atomic::write_new(&draft, self.to_string().as_bytes())
            .map_err(FilesError::io("draft", &draft))?;
        Ok(draft)
    }

    /// Records the drafted intent. On disk when this returns.
    pub(super) fn record(folder: &Folder) -> Result<(), FilesError> {
        folder.reach(Step::RecordIntent)?;
        let place = place(folder);
        fs::rename(folder.private("intent.part"), &place)
            .and_then(|()| atomic::sync(&[folder.private("")]))
            .map_err(FilesError::io("record the intent at", place))
    }

    /// Forgets the intent. If a power cut brings it back, carrying it out again changes nothing.
    pub(super) fn clear(folder: &Folder) -> Result<(), FilesError> {
        folder.reach(Step::ClearIntent)?;
        let place = place(folder);
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

fn place(folder: &Folder) -> PathBuf {
    folder.private("intent")
}

/// Where the new texts wait.
pub(super) fn waiting_folder(folder: &Folder) -> PathBuf {
    folder.private("new")
}

/// Where the new text of change `number` waits, and then what the swap has taken out.
pub(super) fn waiting_place(folder: &Folder, number: usize) -> PathBuf {
    waiting_folder(folder).join(number.to_string())
}

/// Empties the waiting places. Only when no intent is recorded.
pub(super) fn clear_waiting(folder: &Folder) -> Result<(), FilesError> {
    let place = waiting_folder(folder);
    atomic::empty(&place).map_err(FilesError::io("clear", place))
}

/// Moves an intent that cannot be read out of the way, with all that belongs to it.
pub(super) fn set_aside(folder: &Folder) -> Result<(), FilesError> {
    let all = folder.private("aside");
    let numbered = (0..).map(|number: u64| all.join(number.to_string()));
    let aside = numbered
        .into_iter()
        .find(|place| !place.exists())
        .unwrap_or(all);
    let moved = (|| {
        fs::create_dir_all(&aside)?;
        for name in ["new", "promised", "intent"] {
            fs::rename(folder.private(name), aside.join(name))?;
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
        assert_eq!(Intent::read(&folder).unwrap(), Recorded::Nothing);
        let new = ObjectId::empty_tree(gix::hash::Kind::Sha1);
        for base in [None, Some(new)] {
            let intent = Intent { base, new };
            intent.draft(&folder).unwrap();
            Intent::record(&folder).unwrap();
            assert_eq!(Intent::read(&folder).unwrap(), Recorded::Intent(intent));
            let text = intent.to_string();
            for end in 0..text.len() - 1 {
                assert_eq!(Intent::parse(&text.as_bytes()[..end]), None);
            }
        }
        Intent::clear(&folder).unwrap();
        assert_eq!(Intent::read(&folder).unwrap(), Recorded::Nothing);
    }
}
