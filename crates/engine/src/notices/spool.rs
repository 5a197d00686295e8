//! Notices on disk: `<root>/spool/`, one file for each hook call.
//!
//! A file gets its name when it is whole, so a reader never sees half of one, and none is lost
//! between a writer and a reader: a shared file would be. Names begin with the time, so their order
//! is the order of what happened. A killed process loses no notice; a power cut may.
//!
//! Not here: what a notice means (`take`), and those that could not be taken in (`aside`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Notice;
use crate::bounded::{self, Refusal};

/// Most notices that wait. More say nothing new: each names a transcript, which is read to its end
/// whenever one of them is taken in.
pub const NOTICES: usize = 4096;

/// Longest notice that is read, in bytes. It holds a few names and paths.
const NOTICE_BYTES: u64 = 1024 * 1024;

/// The folder that notices wait in.
#[derive(Debug, Clone)]
pub struct Spool {
    folder: PathBuf,
}

/// What became of a notice.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It waits.
    Kept,
    /// Too many wait already ([`NOTICES`]); nobody has taken any in for long.
    Full,
}

/// A notice that waits.
#[derive(Debug)]
pub struct Waiting {
    /// Its file, to hand to [`Spool::done`].
    pub path: PathBuf,
    /// What it says, or why it cannot be read.
    pub notice: Result<Notice, String>,
}

impl Spool {
    /// The spool of a data folder.
    #[must_use]
    pub fn of(root: &Path) -> Self {
        Self {
            folder: root.join("spool"),
        }
    }

    /// Keeps a notice. `writer` must be this process's alone among those that live: its id will do.
    ///
    /// # Errors
    /// What the disk says: full, read-only, not a folder.
    pub fn put(&self, notice: &Notice, writer: u32) -> io::Result<Put> {
        match fs::create_dir(&self.folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if fs::read_dir(&self.folder)?.take(NOTICES).count() == NOTICES {
                    return Ok(Put::Full);
                }
            }
            Err(error) => return Err(error),
        }
        let name = format!("{:013}-{writer}", notice.at.0);
        let unnamed = self.folder.join(format!(".{name}"));
        let written = fs::write(&unnamed, serde_json::to_vec(notice)?)
            .and_then(|()| fs::rename(&unnamed, self.free_path(&name)));
        if written.is_err() {
            let _ = fs::remove_file(&unnamed);
        }
        written.map(|()| Put::Kept)
    }

    /// One process may tell two things in one millisecond.
    fn free_path(&self, name: &str) -> PathBuf {
        let mut path = self.folder.join(format!("{name}.json"));
        let mut n = 1;
        while path.exists() {
            n += 1;
            path = self.folder.join(format!("{name}-{n}.json"));
        }
        path
    }

    /// Whether anything waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths().next().is_none()
    }

    /// How many wait.
    #[must_use]
    pub fn count(&self) -> usize {
        self.paths().count()
    }

    /// What waits, the oldest first, at most `limit`.
    #[must_use]
    pub fn waiting(&self, limit: usize) -> Vec<Waiting> {
        let mut paths: Vec<PathBuf> = self.paths().collect();
        paths.sort();
        paths.truncate(limit);
        paths
            .into_iter()
            .filter_map(|path| {
                match bounded::read(&path, NOTICE_BYTES) {
                    // Somebody else has just taken it in.
                    Err(Refusal::Failed(io::ErrorKind::NotFound)) => None,
                    Err(error) => Some(Err(error.to_string())),
                    Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|e| e.to_string())),
                }
                .map(|notice| Waiting { path, notice })
            })
            .collect()
    }

    /// Where notices lie that could not be taken in.
    pub(super) fn aside(&self) -> PathBuf {
        self.folder.join("aside")
    }

    /// The folder itself.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lets go of a notice that was taken in.
    pub fn done(&self, path: &Path) {
        // One that stays is taken in once more, and says nothing new.
        let _ = fs::remove_file(path);
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::Timestamp;

    use super::*;
    use crate::notices::Moment;

    fn notice(at: i64) -> Notice {
        Notice {
            agent: "codex".to_owned(),
            session: format!("session-{at}"),
            moment: Moment::Stop,
            transcript: None,
            folder: Some("/home/ada/tidepool".to_owned()),
            at: Timestamp(at),
        }
    }

    #[test]
    fn notices_come_back_in_the_order_of_what_happened_until_they_are_done() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        assert!(spool.is_empty());
        for at in [30, 10, 20, 20] {
            assert_eq!(spool.put(&notice(at), 7).unwrap(), Put::Kept);
        }
        let waiting = spool.waiting(10);
        let times: Vec<i64> = waiting
            .iter()
            .map(|w| w.notice.as_ref().unwrap().at.0)
            .collect();
        assert_eq!(times, [10, 20, 20, 30]);
        for one in &waiting {
            spool.done(&one.path);
        }
        assert!(spool.is_empty());
    }

    #[test]
    fn half_a_notice_is_not_seen_and_a_broken_one_is_said() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        assert_eq!(spool.put(&notice(1), 7).unwrap(), Put::Kept);
        fs::write(root.path().join("spool/.0000000000002-8"), "{\"agent").unwrap();
        fs::write(root.path().join("spool/0000000000003-9.json"), "{\"agent").unwrap();
        let waiting = spool.waiting(10);
        assert_eq!(waiting.len(), 2);
        assert!(waiting[0].notice.is_ok());
        assert!(waiting[1].notice.is_err());
    }

    #[test]
    fn a_full_spool_takes_no_more_and_a_broken_one_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        fs::create_dir(root.path().join("spool")).unwrap();
        for n in 0..NOTICES {
            fs::write(root.path().join(format!("spool/{n}.json")), "{}").unwrap();
        }
        assert_eq!(spool.put(&notice(1), 7).unwrap(), Put::Full);
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Spool::of(&file).put(&notice(1), 7).is_err());
    }
}
