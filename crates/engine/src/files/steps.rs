//! The steps at which a test can stop a writer.
//!
//! A [`WriteStep`] is announced before every change that a write makes on disk. In production that costs
//! nothing; a test that sets a [`StepObserver`] on a folder is called before each step, may change files
//! there as a person would, and stops the writer by returning an error. Nothing is cleaned up after such an
//! error (nor after a real one), so a test sees what a killed process leaves behind.

use std::fmt;
use std::io;
use std::sync::Arc;

/// The next action of a writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WriteStep {
    /// Wait until what was written so far is on disk.
    SyncToDisk,
    /// Add one staged object to the history.
    PublishObject,
    /// Write the staged text of a file.
    PrepareFile,
    /// Make the intent durable; from here on the next writer finishes the write if this one stops.
    RecordIntent,
    /// Check one file, before replacing or deleting it.
    ReplaceFile,
    /// Exchange the file with its staged text, or move it away.
    ExchangeFiles,
    /// Check the displaced file.
    InspectDisplaced,
    /// Take git's lock on a branch or the index.
    AcquireGitLock,
    /// Make the new branch value or index effective.
    CommitGitLock,
    /// Commit an edit that a stopped writer had displaced.
    CommitConflictingEdits,
    /// Clear the intent.
    ClearIntent,
    /// Record the objects that a rewrite of the history replaces.
    RecordReplaced,
    /// Delete one replaced object.
    DeleteReplaced,
    /// Clear the record of replaced objects.
    ClearReplaced,
}

type StepCallback = dyn Fn(WriteStep) -> io::Result<()> + Send + Sync;

/// Observer that is called before each step of a write. The default does nothing.
#[derive(Clone, Default)]
pub struct StepObserver(Option<Arc<StepCallback>>);

impl StepObserver {
    /// Calls `watch` before each step; its error stops the writer there.
    pub fn observing(watch: impl Fn(WriteStep) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watch)))
    }

    pub(super) fn reach(&self, step: WriteStep) -> io::Result<()> {
        match &self.0 {
            Some(watch) => watch(step),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for StepObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "StepObserver(observing)"
        } else {
            "StepObserver"
        })
    }
}
