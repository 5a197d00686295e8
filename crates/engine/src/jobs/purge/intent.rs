//! The record of a purge that has begun: `purged/intent.json` in the data folder.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use daybook_domain::{ObservationId, Scope, SeqRange, SessionId, Tenant, Timestamp, Tombstone};
use serde::{Deserialize, Serialize};

use crate::bounded;

/// The folder, below the root, of what purges leave behind.
pub const PURGED: &str = "purged";
const NAME: &str = "intent.json";
/// Longest intent that is read, in bytes.
const INTENT_BYTES: u64 = 1 << 30;

/// What a purge removes, complete enough to be finished by another process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeIntent {
    /// Whose memory it is.
    pub tenant: Tenant,
    /// When it was confirmed.
    pub at: Timestamp,
    /// What it was asked for, without content: `session`, `project`, `user`, `before`, `memory`, `tombstones`.
    pub kind: String,
    /// Ranges of events, by session.
    pub events: Vec<(SessionId, Vec<SeqRange>)>,
    /// Observations that go although not all of their events do.
    pub observations: Vec<(Scope, ObservationId)>,
    /// Scopes that go as a whole, with their folders.
    pub scopes: Vec<Scope>,
    /// Marks of all of it.
    pub tombstones: Vec<Tombstone>,
    /// Words of the purged texts, as the index has them. Those that other texts have, too, are not looked for in files.
    pub words: Vec<String>,
    /// Words that are looked for in files whatever else has them: a purged user's name.
    pub names_of_people: Vec<String>,
    /// The words of purged statements, as the index has them.
    pub statements: Vec<String>,
    /// Ids of purged sessions and observations.
    pub names: Vec<String>,
    /// Labels of sessions, with the purged lines of each.
    pub lines: BTreeMap<String, Vec<(u32, u32)>>,
    /// Observations of which nothing is left.
    pub gone: Vec<ObservationId>,
}

impl PurgeIntent {
    /// The unfinished purge of a data folder.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn load(root: &Path) -> io::Result<Option<Self>> {
        let path = path_of(root);
        if fs::symlink_metadata(&path).is_err() {
            return Ok(None);
        }
        let bytes = bounded::read(&path, INTENT_BYTES).map_err(io::Error::other)?;
        // The purge had ended, and was interrupted while it overwrote its record.
        if bytes.first() == Some(&b' ') {
            Self::clear(root)?;
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&bytes)?))
    }

    /// Whether a data folder has an unfinished purge.
    #[must_use]
    pub fn exists(root: &Path) -> bool {
        fs::symlink_metadata(path_of(root)).is_ok()
    }

    /// Records it. On disk when this returns.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn record(&self, root: &Path) -> io::Result<()> {
        write_private(&path_of(root), &serde_json::to_vec(self)?)
    }

    /// Removes the record, after its bytes were overwritten: it holds words of what was purged.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn clear(root: &Path) -> io::Result<()> {
        let path = path_of(root);
        let bytes = match fs::metadata(&path) {
            Ok(found) => found.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let blank = vec![b' '; usize::try_from(bytes).unwrap_or(usize::MAX)];
        let file = fs::File::options().write(true).open(&path)?;
        io::Write::write_all(&mut &file, &blank)?;
        file.sync_all()?;
        fs::remove_file(&path)
    }
}

fn path_of(root: &Path) -> PathBuf {
    root.join(PURGED).join(NAME)
}

/// Writes a file of the folder of purges whole, for its owner alone.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let part = path.with_extension("part");
    let _ = fs::remove_file(&part);
    let mut options = fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&part)?;
    io::Write::write_all(&mut &file, bytes)?;
    file.sync_all()?;
    fs::rename(&part, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_was_being_overwritten_is_of_a_purge_that_had_ended() {
        let root = tempfile::tempdir().unwrap();
        write_private(&path_of(root.path()), br#"    t":"local"}"#).unwrap();
        assert_eq!(PurgeIntent::load(root.path()).unwrap(), None);
        assert!(!PurgeIntent::exists(root.path()));
        write_private(&path_of(root.path()), br#"{"tenant":"#).unwrap();
        assert!(PurgeIntent::load(root.path()).is_err());
        assert!(PurgeIntent::exists(root.path()));
    }
}
