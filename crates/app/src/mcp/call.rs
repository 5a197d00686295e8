//! One call of a tool: the memory it is for, its cancellation, and what its answer showed.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use daybook_engine::recall::interface_use::InterfaceUse;
use daybook_engine::stop::Stop;

use super::memory::LazyMemory;
use crate::process::block_on;

/// The error of a cancelled call; its client never gets it.
pub(super) const CANCELLED: &str = "the call was cancelled";

/// One call of a tool.
pub(super) struct McpCall<'a> {
    pub(super) memory: &'a LazyMemory,
    /// Requested when the call is cancelled.
    pub(super) stop: &'a Stop,
    /// The memories that the answer shows, to be recorded after it is sent.
    pub(super) used: Mutex<Option<InterfaceUse>>,
}

impl McpCall<'_> {
    /// Runs `reading` to its end, or until the call is cancelled. It must change nothing.
    pub(super) fn read<T>(&self, reading: impl Future<Output = Result<T>>) -> Result<T> {
        block_on(async {
            tokio::select! {
                biased;
                () = self.stop.wait_for_request() => bail!(CANCELLED),
                done = reading => done,
            }
        })
    }

    /// The folder that the client works in: that of this process, which it started for itself. None over HTTP.
    pub(super) fn folder(&self) -> Result<Option<PathBuf>> {
        if self.memory.is_served() {
            return Ok(None);
        }
        let folder = std::env::current_dir();
        let folder = folder.context("the folder that this server was started in cannot be read");
        folder.map(Some)
    }

    /// Sets what is recorded after the answer is sent.
    pub(super) fn record_shown(&self, used: InterfaceUse) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Some(used);
    }

    /// Fails when the call is cancelled, so that no further step begins.
    pub(super) fn check_cancelled(&self) -> Result<()> {
        match self.stop.is_requested() {
            true => bail!(CANCELLED),
            false => Ok(()),
        }
    }
}
