//! A way to end long work between two steps, losing nothing.

use std::sync::Arc;

use tokio::sync::watch;

/// Asked between steps: true ends the work after the step at hand.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Asks for the end.
    pub fn ask(&self) {
        self.0.send_replace(true);
    }

    /// Whether the end was asked for.
    #[must_use]
    pub fn asked(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the end is asked for.
    pub async fn wait(&self) {
        // The sender is held here, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|&asked| asked).await;
    }
}
