//! Records which lines of memory each session was shown, so that none is shown twice.
//!
//! `<root>/run/given/` holds one small file for each session: fingerprints of lines, not their text. They are
//! disposable: without its file a session may be shown a line again. A file is written whole under another name and
//! then renamed; of two hooks of one session at once the later one's file wins.
//!
//! Not here: how a line's fingerprints are made (`recall::prompt`).

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use daybook_domain::{EventId, Timestamp};

use crate::bounded;

/// Most fingerprints of one session; the oldest are dropped.
const FINGERPRINTS: usize = 1024;
/// Most sessions; those that were shown nothing for the longest time are dropped.
const SESSIONS: usize = 256;
/// How long a session may be shown nothing before it counts as ended.
const EXPIRES_AFTER: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// Bytes of one fingerprint, with the end of its line.
const FINGERPRINT_BYTES: usize = 17;

/// The lines that one session was shown, as fingerprints.
#[derive(Debug)]
pub struct ShownLines {
    path: PathBuf,
    fingerprints: VecDeque<u64>,
}

impl ShownLines {
    /// Reads the lines that a session was shown; `agent` and `session` are its names, `root` is the run folder.
    /// Empty when the file is missing or broken.
    #[must_use]
    pub fn read(root: &Path, agent: &str, session: &str) -> Self {
        let mut shown = Self::empty(root, agent, session);
        let most = (FINGERPRINTS * FINGERPRINT_BYTES) as u64;
        let text = bounded::read_text(&shown.path, most).unwrap_or_default();
        let fingerprints = text.lines().map(|line| u64::from_str_radix(line, 16));
        shown.fingerprints = fingerprints.map_while(Result::ok).collect();
        shown
    }

    /// The record of a session that was shown nothing yet, or whose conversation was cut back to a summary.
    #[must_use]
    pub fn empty(root: &Path, agent: &str, session: &str) -> Self {
        // A session's id may hold anything.
        let parts = [agent.as_bytes(), b"\n", session.as_bytes()];
        let print = EventId::of(&parts).0;
        Self {
            path: folder(root).join(format!("{print:032x}")),
            fingerprints: VecDeque::new(),
        }
    }

    /// Whether the session was shown a line with this fingerprint.
    #[must_use]
    pub fn contains(&self, fingerprint: u64) -> bool {
        self.fingerprints.contains(&fingerprint)
    }

    /// Adds the fingerprints of lines that the session is shown now.
    pub fn add(&mut self, fingerprints: impl IntoIterator<Item = u64>) {
        for fingerprint in fingerprints {
            if !self.contains(fingerprint) {
                self.fingerprints.push_back(fingerprint);
            }
        }
        let surplus = self.fingerprints.len().saturating_sub(FINGERPRINTS);
        self.fingerprints.drain(..surplus);
    }

    /// Writes the session's file. Its first one deletes expired files of others; an empty record has no file.
    ///
    /// # Errors
    /// The disk's.
    pub fn write(&self, now: Timestamp) -> io::Result<()> {
        let Some(folder) = self.path.parent() else {
            return Ok(());
        };
        if self.fingerprints.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(()),
            };
        }
        fs::create_dir_all(folder)?;
        if !self.path.exists() {
            delete_expired(folder, now);
        }
        let fingerprints = self.fingerprints.iter();
        let lines: String = fingerprints.map(|it| format!("{it:016x}\n")).collect();
        let unnamed = self
            .path
            .with_extension(format!("new-{}", std::process::id()));
        fs::write(&unnamed, lines)?;
        fs::rename(&unnamed, &self.path)
    }
}

fn folder(root: &Path) -> PathBuf {
    root.join("run").join("given")
}

/// Deletes files that were not written for long, and the oldest of too many. A file that cannot be deleted stays.
fn delete_expired(folder: &Path, now: Timestamp) {
    let now = UNIX_EPOCH + Duration::from_millis(now.0.unsigned_abs());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort_by(|one, other| other.cmp(one));
    for (n, (changed, path)) in files.into_iter().enumerate() {
        let age = now.duration_since(changed).unwrap_or_default();
        if n + 1 >= SESSIONS || age > EXPIRES_AFTER {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before any file was written: none is old.
    const NOW: Timestamp = Timestamp(0);

    #[test]
    fn what_was_shown_is_known_to_its_session_alone() {
        let root = tempfile::tempdir().unwrap();
        let mut shown = ShownLines::read(root.path(), "codex", "../a");
        assert!(!shown.contains(7));
        shown.add([7, u64::MAX, 7]);
        shown.write(NOW).unwrap();
        let known = |agent, session| {
            let shown = ShownLines::read(root.path(), agent, session);
            [7, u64::MAX, 8].map(|print| shown.contains(print))
        };
        assert_eq!(known("codex", "../a"), [true, true, false]);
        assert_eq!(known("codex", "b"), [false; 3]);
        assert_eq!(known("claude-code", "../a"), [false; 3]);
        fs::write(&shown.path, "0000000000000007\n\u{fffd}").unwrap();
        assert_eq!(known("codex", "../a"), [true, false, false]);
        fs::write(&shown.path, "0".repeat(1024 * 1024)).unwrap();
        assert_eq!(known("codex", "../a"), [false; 3]);
        ShownLines::empty(root.path(), "codex", "../a")
            .write(NOW)
            .unwrap();
        assert!(!shown.path.exists());
    }

    #[test]
    fn a_session_keeps_the_newest_of_too_many() {
        let root = tempfile::tempdir().unwrap();
        let mut shown = ShownLines::empty(root.path(), "codex", "a");
        shown.add(0..2 * FINGERPRINTS as u64);
        shown.write(NOW).unwrap();
        let shown = ShownLines::read(root.path(), "codex", "a");
        assert_eq!(shown.fingerprints.len(), FINGERPRINTS);
        assert!(!shown.contains(0) && shown.contains(2 * FINGERPRINTS as u64 - 1));
    }

    #[test]
    fn sessions_that_rested_for_long_and_the_oldest_of_too_many_make_room() {
        let root = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(folder(root.path())).unwrap().count();
        for n in 0..SESSIONS + 9 {
            let mut shown = ShownLines::empty(root.path(), "codex", &n.to_string());
            shown.write(NOW).unwrap();
            shown.add([n as u64]);
            shown.write(NOW).unwrap();
        }
        assert_eq!(count(), SESSIONS);
        delete_expired(&folder(root.path()), Timestamp(i64::MAX / 1_000_000));
        assert_eq!(count(), 0);
    }
}
