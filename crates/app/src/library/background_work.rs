//! Work that is due in a data folder, done on a thread of the program that has it open.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use daybook_engine::stop::Stop;

use super::{DataFolder, MemoryError};
use crate::background::outage::{Outage, pause};
use crate::background::{PendingReport, is_due, process_pending_exclusively, wait_for_work};
use crate::models::embedding::{embed_share, embed_waiting};
use crate::process::{block_on, spawn_work};
use crate::terminal::silent::HiddenUpdate;
use crate::wiring::Daybook;

/// Longest sleep between two checks for work.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkReport {
    /// Sessions that were read.
    pub sessions: usize,
    /// Observations that were made of them; known ones count too.
    pub observations: usize,
    /// Scopes whose memory files have changed.
    pub written: usize,
    /// Sessions and scopes that failed. They are tried again later.
    pub failed: usize,
}

impl WorkReport {
    fn of(done: &PendingReport) -> Self {
        let update = &done.update;
        Self {
            sessions: update.read.len(),
            observations: update.observations,
            written: update.written.len(),
            failed: update.failed.len(),
        }
    }
}

/// Does all work that is due. Dropping the future requests the end of the work.
pub(super) async fn work(folder: &DataFolder) -> Result<WorkReport, MemoryError> {
    let stop = StopWhenDropped(Stop::default());
    let requested = stop.0.clone();
    folder
        .run(move |daybook| async move {
            daybook.retry_overlong().await?;
            let done = process_pending_exclusively(&daybook, &requested, &HiddenUpdate).await?;
            embed_waiting(&daybook.models(), &requested).await?;
            Ok(WorkReport::of(&done.unwrap_or_default()))
        })
        .await
}

struct StopWhenDropped(Stop);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.request_end();
    }
}

/// A thread that does what is due. It ends when this is dropped, after its present step.
pub struct BackgroundWork {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundWork {
    pub(super) fn start(daybook: Arc<Daybook>) -> Self {
        let stop = Stop::default();
        let requested = stop.clone();
        Self {
            stop,
            thread: Some(spawn_work(move || do_whenever_due(&daybook, &requested))),
        }
    }

    /// Ends the work and waits until it has ended: the same as dropping it.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for BackgroundWork {
    fn drop(&mut self) {
        self.stop.request_end();
        if let Some(thread) = self.thread.take() {
            // A defect that ended the thread was reported by its panic.
            let _ = thread.join();
        }
    }
}

/// Does what is due, waits for more, and waits longer after failures, until `stop` is requested.
fn do_whenever_due(daybook: &Daybook, stop: &Stop) {
    let mut outage = Outage::default();
    while !stop.is_requested() {
        match block_on(do_share(daybook, stop)) {
            Ok(()) => outage.end(),
            Err(error) => {
                let wait = outage.next_wait(&error);
                // Without a pause the next try follows at once, and fails for the same reason.
                let _ = pause(stop, wait);
            }
        }
    }
}

async fn do_share(daybook: &Daybook, stop: &Stop) -> Result<()> {
    if is_due(daybook).await? {
        process_pending_exclusively(daybook, stop, &HiddenUpdate).await?;
    }
    let _ = embed_share(&daybook.models(), stop).await?;
    wait_for_work(daybook, stop, CHECK_INTERVAL).await
}
