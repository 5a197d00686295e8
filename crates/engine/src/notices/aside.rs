//! Notices that could not be taken in: set aside with the reason, so that they hold up no other.
//!
//! They lie in `<root>/spool/aside/`, one file for each session, so that a session that fails at every
//! turn takes the room of one. Such a file is the notice with the reason beside it; moving it back makes
//! it wait again. That happens when its transcript changes, when the transcript was imported meanwhile,
//! and when a person runs an update. What is no notice at all stays until a person deletes it.
//!
//! Not here: why taking one in failed (`take`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use daybook_domain::EventId;
use serde::{Deserialize, Serialize};

use super::Notice;
use super::spool::{NOTICES, Spool};

/// A notice that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AsideNotice {
    /// The notice.
    #[serde(flatten)]
    pub notice: Notice,
    /// Why it could not be taken in.
    pub why: String,
    /// The transcript, whose file's row in the store holds the reason, where that is what failed.
    pub failing: Option<PathBuf>,
    /// The transcript that was read, with its size and its time of change then.
    pub seen: Option<(PathBuf, u64, u128)>,
}

/// What lies aside.
#[derive(Debug)]
pub struct AsideFile {
    /// Its file.
    pub path: PathBuf,
    /// What it holds, or why it cannot be read.
    pub held: Result<AsideNotice, String>,
}

impl AsideNotice {
    /// A notice that failed for `why` when its transcript stood as it does now.
    #[must_use]
    pub fn new(notice: Notice, why: String, transcript: Option<&Path>) -> Self {
        Self {
            notice,
            why,
            failing: None,
            seen: transcript.map(|path| {
                let (size, changed) = state_of(path);
                (path.to_owned(), size, changed)
            }),
        }
    }

    /// Whether the transcript is another now than when it failed.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        let is_other =
            |(path, size, changed): &(PathBuf, u64, u128)| state_of(path) != (*size, *changed);
        self.seen.as_ref().is_some_and(is_other)
    }
}

impl Spool {
    /// What lies aside, by name; at most [`NOTICES`].
    #[must_use]
    pub fn list_aside(&self) -> Vec<AsideFile> {
        let entries = fs::read_dir(self.aside()).into_iter().flatten().flatten();
        let is_notice = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(is_notice)
            .collect();
        paths.sort();
        paths.truncate(NOTICES);
        let held = |path: &PathBuf| match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error.to_string())),
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|error| error.to_string())),
        };
        let aside = paths.into_iter().filter_map(|path| {
            let held = held(&path)?;
            Some(AsideFile { path, held })
        });
        aside.collect()
    }

    /// Moves a notice that waits at `path` aside. One of the same session that lies there already gives
    /// way, and leaves behind the most urgent moment.
    pub(super) fn put_aside(&self, path: &Path, mut aside: AsideNotice) -> io::Result<()> {
        fs::create_dir_all(self.aside())?;
        let to = self.path_aside(&aside.notice);
        if let Ok(Ok(before)) = fs::read(&to).map(|b| serde_json::from_slice::<AsideNotice>(&b)) {
            aside.notice.moment = aside.notice.moment.max(before.notice.moment);
        }
        let unnamed = to.with_extension(format!("new-{}", std::process::id()));
        fs::write(&unnamed, serde_json::to_vec(&aside)?)?;
        fs::rename(&unnamed, to)?;
        self.done(path);
        Ok(())
    }

    /// Moves what is no notice aside, as it is, and says where it lies then.
    pub(super) fn put_broken_aside(&self, path: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(self.aside())?;
        let to = self.aside().join(path.file_name().unwrap_or_default());
        fs::rename(path, &to)?;
        Ok(to)
    }

    /// Has notices that lie aside wait again, those that `is_due` picks; says how many. Those that can
    /// be read, that is.
    pub fn retry(&self, is_due: impl Fn(&AsideNotice) -> bool) -> usize {
        let mut retried = 0;
        for aside in self.list_aside() {
            let Ok(held) = aside.held else { continue };
            let name = aside.path.file_name().unwrap_or_default();
            // Another process that moves it back does the same.
            if is_due(&held) && fs::rename(&aside.path, self.folder().join(name)).is_ok() {
                retried += 1;
            }
        }
        retried
    }

    /// A session's notice was taken in: an older one that lies aside is settled with it.
    pub(super) fn settle(&self, notice: &Notice) {
        let _ = fs::remove_file(self.path_aside(notice));
    }

    /// One file for each session. Its name is a fingerprint: a session's id may hold anything.
    fn path_aside(&self, notice: &Notice) -> PathBuf {
        let parts = [notice.agent.as_bytes(), b"\n", notice.session.as_bytes()];
        let print = EventId::of(&parts).0;
        self.aside().join(format!("session-{print:032x}.json"))
    }
}

/// A file's size and time of change; zeros when it cannot be looked at.
fn state_of(path: &Path) -> (u64, u128) {
    let Ok(metadata) = fs::metadata(path) else {
        return (0, 0);
    };
    let changed = metadata.modified().ok();
    let changed = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    (metadata.len(), changed.map_or(0, |at| at.as_nanos()))
}

#[cfg(test)]
mod tests {
    use daybook_domain::Timestamp;

    use super::*;
    use crate::notices::Moment;
    use crate::notices::spool::Put;

    fn notice(session: &str, moment: Moment, at: i64) -> Notice {
        Notice {
            agent: "codex".to_owned(),
            session: session.to_owned(),
            moment,
            transcript: None,
            folder: None,
            at: Timestamp(at),
        }
    }

    fn put_aside(spool: &Spool, notice: &Notice, transcript: Option<&Path>) {
        assert_eq!(spool.put(notice, 7).unwrap(), Put::Kept);
        let waiting = spool.waiting(1).remove(0);
        let aside = AsideNotice::new(notice.clone(), "refused".to_owned(), transcript);
        spool.put_aside(&waiting.path, aside).unwrap();
    }

    #[test]
    fn a_session_takes_the_room_of_one_and_keeps_its_most_urgent_moment() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        for (moment, at) in [(Moment::Stop, 1), (Moment::Compact, 2), (Moment::Stop, 3)] {
            put_aside(&spool, &notice("../a", moment, at), None);
        }
        assert!(spool.is_empty());
        let aside = spool.list_aside();
        assert_eq!(aside.len(), 1);
        let held = aside[0].held.as_ref().unwrap();
        assert_eq!(held.notice, notice("../a", Moment::Compact, 3));
        assert_eq!(spool.retry(|_| false), 0);
        assert_eq!(spool.retry(|_| true), 1);
        assert_eq!(spool.list_aside().len(), 0);
        let waiting = spool.waiting(9);
        assert_eq!(waiting[0].notice, Ok(notice("../a", Moment::Compact, 3)));
    }

    #[test]
    fn a_transcript_that_changes_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        let transcript = root.path().join("a.jsonl");
        fs::write(&transcript, "one").unwrap();
        put_aside(&spool, &notice("a", Moment::Stop, 1), Some(&transcript));
        put_aside(&spool, &notice("b", Moment::Stop, 2), None);
        assert_eq!(spool.retry(AsideNotice::has_changed), 0);
        fs::write(&transcript, "one and two").unwrap();
        assert_eq!(spool.retry(AsideNotice::has_changed), 1);
        assert_eq!(spool.list_aside().len(), 1);
    }

    #[test]
    fn what_is_no_notice_stays_aside_until_it_is_deleted() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        fs::create_dir(root.path().join("spool")).unwrap();
        let torn = root.path().join("spool/3-9.json");
        fs::write(&torn, "{\"agent").unwrap();
        let aside = spool.put_broken_aside(&torn).unwrap();
        assert!(spool.is_empty());
        assert!(spool.list_aside()[0].held.is_err());
        assert_eq!(spool.retry(|_| true), 0);
        fs::remove_file(aside).unwrap();
        assert!(spool.list_aside().is_empty());
    }
}
