//! A way to end long work between two steps, losing nothing.

use std::sync::Arc;

use tokio::sync::watch;

/// Asked between steps: true ends the work after the step at hand.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<Asked>>);

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    Nothing,
    /// To begin nothing more.
    Enough,
    /// To end soon.
    End,
}

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(Asked::Nothing)))
    }
}

impl Stop {
    /// Asks for the end: what is under way and takes long is broken off.
    pub fn ask(&self) {
        self.0.send_replace(Asked::End);
    }

    /// Asks to begin nothing more. What is under way is brought to its end: a model may have been paid for
    /// it.
    pub fn enough(&self) {
        self.0.send_if_modified(|asked| {
            let first = *asked == Asked::Nothing;
            *asked = (*asked).max(Asked::Enough);
            first
        });
    }

    /// Whether to begin nothing more.
    #[must_use]
    pub fn asked(&self) -> bool {
        *self.0.borrow() > Asked::Nothing
    }

    /// Whether the end was asked for.
    #[must_use]
    pub fn is_end(&self) -> bool {
        *self.0.borrow() == Asked::End
    }

    /// Waits until nothing more is to begin.
    pub async fn wait(&self) {
        // The sender is held here, so waiting cannot fail.
        let _ = self
            .0
            .subscribe()
            .wait_for(|&asked| asked > Asked::Nothing)
            .await;
    }

    /// Waits until the end is asked for.
    pub async fn wait_for_end(&self) {
        let _ = self
            .0
            .subscribe()
            .wait_for(|&asked| asked == Asked::End)
            .await;
    }
}
