//! Queues hook events on disk: `<root>/spool/`, one file for each hook call.
//!
//! A file gets its name when it is whole, so a reader never sees half of one. A single shared file would
//! lose events between a writer and a reader. Names begin with the time, so their order is the order of
//! what happened. A killed process loses no event; a power cut may.
//!
//! Not here: what an event causes (`process`), and those that could not be processed (`failed`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::HookEvent;
use crate::bounded::{self, FileRefusal};

/// Most events that the spool holds. More would add nothing: each names a transcript, which is read to
/// its end whenever one of them is processed.
pub const SPOOL_EVENTS: usize = 4096;

/// Longest event file that is read, in bytes. It holds a few names and paths.
const EVENT_BYTES: u64 = 1024 * 1024;

/// The folder in which hook events wait to be processed.
#[derive(Debug, Clone)]
pub struct Spool {
    folder: PathBuf,
}

/// What became of an event that was handed to the spool.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnqueueOutcome {
    /// It waits to be processed.
    Queued,
    /// The spool holds [`SPOOL_EVENTS`] already; no process has drained it for long.
    Full,
}

/// An event that waits to be processed.
#[derive(Debug)]
pub struct SpooledEvent {
    /// Its file, to hand to [`Spool::remove`].
    pub path: PathBuf,
    /// The event, or why its file cannot be read.
    pub event: Result<HookEvent, String>,
}

impl Spool {
    /// The spool of a data folder.
    #[must_use]
    pub fn of(root: &Path) -> Self {
        Self {
            folder: root.join("spool"),
        }
    }

    /// Queues an event without its secrets. `writer` must be unique among live processes: a process id will do.
    ///
    /// # Errors
    /// The disk's: full, read-only, not a folder.
    pub fn enqueue(&self, event: &HookEvent, writer: u32) -> io::Result<EnqueueOutcome> {
        match fs::create_dir(&self.folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if fs::read_dir(&self.folder)?.take(SPOOL_EVENTS).count() == SPOOL_EVENTS {
                    return Ok(EnqueueOutcome::Full);
                }
            }
            Err(error) => return Err(error),
        }
        let event = &event.redacted();
        let name = format!("{:013}-{writer}", event.at.0);
        let unnamed = self.folder.join(format!(".{name}"));
        let written = fs::write(&unnamed, serde_json::to_vec(event)?)
            .and_then(|()| fs::rename(&unnamed, self.free_path(&name)));
        if written.is_err() {
            let _ = fs::remove_file(&unnamed);
        }
        written.map(|()| EnqueueOutcome::Queued)
    }

    /// A path that no event has yet: one process may queue two events in one millisecond.
    fn free_path(&self, name: &str) -> PathBuf {
        let mut path = self.folder.join(format!("{name}.json"));
        let mut n = 1;
        while path.exists() {
            n += 1;
            path = self.folder.join(format!("{name}-{n}.json"));
        }
        path
    }

    /// Whether no event waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths().next().is_none()
    }

    /// How many events wait.
    #[must_use]
    pub fn count(&self) -> usize {
        self.paths().count()
    }

    /// The events that wait, the oldest first, at most `limit`.
    #[must_use]
    pub fn pending(&self, limit: usize) -> Vec<SpooledEvent> {
        let mut paths: Vec<PathBuf> = self.paths().collect();
        paths.sort();
        paths.truncate(limit);
        paths
            .into_iter()
            .filter_map(|path| {
                match bounded::read(&path, EVENT_BYTES) {
                    // Another process has just processed it.
                    Err(FileRefusal::Failed(io::ErrorKind::NotFound)) => None,
                    Err(error) => Some(Err(error.to_string())),
                    Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|e| e.to_string())),
                }
                .map(|event| SpooledEvent { path, event })
            })
            .collect()
    }

    /// The folder of events that could not be processed.
    pub(super) fn failed_folder(&self) -> PathBuf {
        self.folder.join("aside")
    }

    /// The spool's folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes an event that was processed.
    pub fn remove(&self, path: &Path) {
        // One that stays is processed once more, and adds nothing.
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
    use crate::hook_events::HookEventKind;

    fn event(at: i64) -> HookEvent {
        HookEvent {
            agent: "codex".to_owned(),
            session: format!("session-{at}"),
            kind: HookEventKind::Stop,
            transcript: None,
            folder: Some("/home/ada/tidepool".to_owned()),
            venue: Default::default(),
            at: Timestamp(at),
        }
    }

    #[test]
    fn events_come_back_in_the_order_of_what_happened_until_they_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        assert!(spool.is_empty());
        for at in [30, 10, 20, 20] {
            let outcome = spool.enqueue(&event(at), 7).unwrap();
            assert_eq!(outcome, EnqueueOutcome::Queued);
        }
        let pending = spool.pending(10);
        let times: Vec<i64> = pending
            .iter()
            .map(|spooled| spooled.event.as_ref().unwrap().at.0)
            .collect();
        assert_eq!(times, [10, 20, 20, 30]);
        for spooled in &pending {
            spool.remove(&spooled.path);
        }
        assert!(spool.is_empty());
    }

    #[test]
    fn half_an_event_is_not_seen_and_a_broken_one_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        let outcome = spool.enqueue(&event(1), 7).unwrap();
        assert_eq!(outcome, EnqueueOutcome::Queued);
        fs::write(root.path().join("spool/.0000000000002-8"), "{\"agent").unwrap();
        fs::write(root.path().join("spool/0000000000003-9.json"), "{\"agent").unwrap();
        let pending = spool.pending(10);
        assert_eq!(pending.len(), 2);
        assert!(pending[0].event.is_ok());
        assert!(pending[1].event.is_err());
    }

    #[test]
    fn a_full_spool_takes_no_more_and_a_broken_one_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        fs::create_dir(root.path().join("spool")).unwrap();
        for n in 0..SPOOL_EVENTS {
            fs::write(root.path().join(format!("spool/{n}.json")), "{}").unwrap();
        }
        let outcome = spool.enqueue(&event(1), 7).unwrap();
        assert_eq!(outcome, EnqueueOutcome::Full);
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Spool::of(&file).enqueue(&event(1), 7).is_err());
    }
}
