//! Where a writer can be stopped.
//!
//! Every change that a write makes on disk stands behind a [`Step`]. In production a step is free; a
//! test that hands [`Steps`] to a folder is called before each one, may change files there as a
//! person would, and stops the writer by answering with an error. Nothing is cleaned up after such
//! an error (nor after a real one), so what a test finds is what a killed process leaves behind.

use std::fmt;
use std::io;
use std::sync::Arc;

/// What a writer is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Wait until what was written so far is on disk.
    BringToDisk,
    /// Make one staged object part of the history.
    PublishObject,
    /// Write the new text of a file beside its place.
    PrepareFile,
    /// Make the intent durable; from here on the write will be finished by whoever comes next.
    RecordIntent,
    /// Look at one file, to put the new version into its place or to take it away.
    SwapFile,
    /// Do so.
    Trade,
    /// Look at what came out of the place.
    Inspect,
    /// Take git's lock on a branch or the index.
    TakeGitLock,
    /// Let the new branch value or index take effect.
    CommitGitLock,
    /// Keep an edit that a stopped writer had taken out of its place.
    KeepStray,
    /// Forget the intent.
    ClearIntent,
}

type Watch = dyn Fn(Step) -> io::Result<()> + Send + Sync;

/// Called before each step of a write. The default does nothing.
#[derive(Clone, Default)]
pub struct Steps(Option<Arc<Watch>>);

impl Steps {
    /// Calls `watch` before each step; its error stops the writer there.
    pub fn watched(watch: impl Fn(Step) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watch)))
    }

    pub(super) fn reach(&self, step: Step) -> io::Result<()> {
        match &self.0 {
            Some(watch) => watch(step),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Steps(watched)"
        } else {
            "Steps"
        })
    }
}
