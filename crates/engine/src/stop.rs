//! A signal that ends long work between two steps, without losing results.

use std::sync::Arc;

use tokio::sync::watch;

/// Signal to end long work, checked between its steps. Clones share one state.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<StopRequest>>);

/// What was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StopRequest {
    Nothing,
    /// To start nothing more.
    Drain,
    /// To end soon.
    End,
}

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(StopRequest::Nothing)))
    }
}

impl Stop {
    /// Requests the end: running work that takes long is cancelled.
    pub fn request_end(&self) {
        self.0.send_replace(StopRequest::End);
    }

    /// Requests that nothing more is started. Running work is completed: a model may have been paid for it.
    pub fn request_drain(&self) {
        self.0.send_if_modified(|request| {
            let first = *request == StopRequest::Nothing;
            *request = (*request).max(StopRequest::Drain);
            first
        });
    }

    /// Whether nothing more should be started.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.0.borrow() > StopRequest::Nothing
    }

    /// Whether the end was requested.
    #[must_use]
    pub fn is_end_requested(&self) -> bool {
        *self.0.borrow() == StopRequest::End
    }

    /// Waits until a drain or the end is requested.
    pub async fn wait_for_request(&self) {
        // The sender is held here, so waiting cannot fail.
        let _ = self
            .0
            .subscribe()
            .wait_for(|&request| request > StopRequest::Nothing)
            .await;
    }

    /// Waits until the end is requested.
    pub async fn wait_for_end(&self) {
        let _ = self
            .0
            .subscribe()
            .wait_for(|&request| request == StopRequest::End)
            .await;
    }
}
