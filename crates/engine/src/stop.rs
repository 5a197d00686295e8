//! A way to end long work between two steps, losing nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asked between steps: true ends the work after the step at hand.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks for the end.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
