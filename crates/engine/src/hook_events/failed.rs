//! Hook events that could not be processed: set aside with the reason, so that they block no other.
//!
//! They lie in `<root>/spool/aside/`, one file for each session, so that a session that fails at every
//! turn takes the room of one. Such a file is the event with the reason beside it; moving it back queues
//! it again. That happens when its transcript changes, when the transcript was imported meanwhile, and
//! when a person runs an update. A file that is no hook event stays until a person deletes it.
//!
//! Not here: why an event failed (`process`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use daybook_domain::EventId;
use serde::{Deserialize, Serialize};

use super::HookEvent;
use super::spool::{SPOOL_EVENTS, Spool};
use crate::places::stored_path::{path_on_disk, stored_path};

/// A hook event that could not be processed, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedHookEvent {
    /// The event.
    #[serde(flatten)]
    pub event: HookEvent,
    /// Why it could not be processed.
    #[serde(rename = "why")]
    pub reason: String,
    /// The transcript that failed to import, if that is the cause; its row in the store holds the reason.
    #[serde(rename = "failing")]
    pub failed_transcript: Option<PathBuf>,
    /// The transcript that was read, with its size and its time of change then.
    #[serde(rename = "seen")]
    pub transcript_state: Option<(PathBuf, u64, u128)>,
}

/// A file of the folder of failed events.
#[derive(Debug)]
pub struct FailedEventFile {
    /// Its path.
    pub path: PathBuf,
    /// Its content, or why it cannot be read.
    pub content: Result<FailedHookEvent, String>,
}

impl FailedHookEvent {
    /// An event that failed for `reason` while its transcript was as it is now.
    #[must_use]
    pub fn new(event: HookEvent, reason: String, transcript: Option<&Path>) -> Self {
        Self {
            event,
            reason,
            failed_transcript: None,
            transcript_state: transcript.map(|path| {
                let (size, changed) = size_and_change(path);
                (PathBuf::from(stored_path(path)), size, changed)
            }),
        }
    }

    /// Whether the transcript differs from when the event failed.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        let is_other = |(path, size, changed): &(PathBuf, u64, u128)| {
            let path = path_on_disk(&path.to_string_lossy());
            size_and_change(&path) != (*size, *changed)
        };
        self.transcript_state.as_ref().is_some_and(is_other)
    }
}

impl Spool {
    /// The files of failed events, by name; at most [`SPOOL_EVENTS`].
    #[must_use]
    pub fn failed(&self) -> Vec<FailedEventFile> {
        let entries = fs::read_dir(self.failed_folder())
            .into_iter()
            .flatten()
            .flatten();
        let is_json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_json).collect();
        paths.sort();
        paths.truncate(SPOOL_EVENTS);
        let content = |path: &PathBuf| match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error.to_string())),
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|error| error.to_string())),
        };
        let files = paths.into_iter().filter_map(|path| {
            let content = content(&path)?;
            Some(FailedEventFile { path, content })
        });
        files.collect()
    }

    /// Moves the event queued at `path` to the failed ones. It replaces an earlier one of its session,
    /// and keeps the more urgent kind of the two.
    pub(super) fn set_aside(&self, path: &Path, mut failed: FailedHookEvent) -> io::Result<()> {
        fs::create_dir_all(self.failed_folder())?;
        let to = self.failed_path(&failed.event);
        let before = fs::read(&to).map(|bytes| serde_json::from_slice::<FailedHookEvent>(&bytes));
        if let Ok(Ok(before)) = before {
            failed.event.kind = failed.event.kind.max(before.event.kind);
        }
        let unnamed = to.with_extension(format!("new-{}", std::process::id()));
        fs::write(&unnamed, serde_json::to_vec(&failed)?)?;
        fs::rename(&unnamed, to)?;
        self.remove(path);
        Ok(())
    }

    /// Moves a file that is no hook event to the failed ones, as it is. Returns its new path.
    pub(super) fn set_aside_unreadable(&self, path: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(self.failed_folder())?;
        let to = self
            .failed_folder()
            .join(path.file_name().unwrap_or_default());
        fs::rename(path, &to)?;
        Ok(to)
    }

    /// Queues the readable failed events that `is_due` picks once more. Returns how many.
    pub fn retry_failed(&self, is_due: impl Fn(&FailedHookEvent) -> bool) -> usize {
        let mut retried = 0;
        for file in self.failed() {
            let Ok(failed) = file.content else { continue };
            let name = file.path.file_name().unwrap_or_default();
            // Another process that moves it back does the same.
            if is_due(&failed) && fs::rename(&file.path, self.folder().join(name)).is_ok() {
                retried += 1;
            }
        }
        retried
    }

    /// Removes the failed event of a session whose newer event was processed.
    pub(super) fn remove_failed(&self, event: &HookEvent) {
        let _ = fs::remove_file(self.failed_path(event));
    }

    /// One file for each session. Its name is a fingerprint: a session's id may hold anything.
    fn failed_path(&self, event: &HookEvent) -> PathBuf {
        let parts = [event.agent.as_bytes(), b"\n", event.session.as_bytes()];
        let print = EventId::of(&parts).0;
        self.failed_folder()
            .join(format!("session-{print:032x}.json"))
    }
}

/// A file's size and time of change; zeros when they cannot be read.
fn size_and_change(path: &Path) -> (u64, u128) {
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
    use crate::hook_events::HookEventKind;
    use crate::hook_events::spool::EnqueueOutcome;

    fn event(session: &str, kind: HookEventKind, at: i64) -> HookEvent {
        HookEvent {
            agent: "codex".to_owned(),
            session: session.to_owned(),
            kind,
            transcript: None,
            folder: None,
            venue: Default::default(),
            at: Timestamp(at),
        }
    }

    fn set_aside(spool: &Spool, event: &HookEvent, transcript: Option<&Path>) {
        let outcome = spool.enqueue(event, 7).unwrap();
        assert_eq!(outcome, EnqueueOutcome::Queued);
        let spooled = spool.pending(1).remove(0);
        let failed = FailedHookEvent::new(event.clone(), "refused".to_owned(), transcript);
        spool.set_aside(&spooled.path, failed).unwrap();
    }

    #[test]
    fn a_session_takes_the_room_of_one_and_keeps_its_most_urgent_kind() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        for (kind, at) in [
            (HookEventKind::Stop, 1),
            (HookEventKind::Compact, 2),
            (HookEventKind::Stop, 3),
        ] {
            set_aside(&spool, &event("../a", kind, at), None);
        }
        assert!(spool.is_empty());
        let files = spool.failed();
        assert_eq!(files.len(), 1);
        let failed = files[0].content.as_ref().unwrap();
        assert_eq!(failed.event, event("../a", HookEventKind::Compact, 3));
        assert_eq!(spool.retry_failed(|_| false), 0);
        assert_eq!(spool.retry_failed(|_| true), 1);
        assert_eq!(spool.failed().len(), 0);
        let pending = spool.pending(9);
        let expected = event("../a", HookEventKind::Compact, 3);
        assert_eq!(pending[0].event, Ok(expected));
    }

    #[test]
    fn a_transcript_that_changes_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        let transcript = root.path().join("a.jsonl");
        fs::write(&transcript, "one").unwrap();
        let with_transcript = event("a", HookEventKind::Stop, 1);
        set_aside(&spool, &with_transcript, Some(&transcript));
        set_aside(&spool, &event("b", HookEventKind::Stop, 2), None);
        assert_eq!(spool.retry_failed(FailedHookEvent::has_changed), 0);
        fs::write(&transcript, "one and two").unwrap();
        assert_eq!(spool.retry_failed(FailedHookEvent::has_changed), 1);
        assert_eq!(spool.failed().len(), 1);
    }

    #[test]
    fn what_is_no_hook_event_stays_aside_until_it_is_deleted() {
        let root = tempfile::tempdir().unwrap();
        let spool = Spool::of(root.path());
        fs::create_dir(root.path().join("spool")).unwrap();
        let torn = root.path().join("spool/3-9.json");
        fs::write(&torn, "{\"agent").unwrap();
        let aside = spool.set_aside_unreadable(&torn).unwrap();
        assert!(spool.is_empty());
        assert!(spool.failed()[0].content.is_err());
        assert_eq!(spool.retry_failed(|_| true), 0);
        fs::remove_file(aside).unwrap();
        assert!(spool.failed().is_empty());
    }
}
