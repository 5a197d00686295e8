//! Living through an outage of the store: said once, waited for with longer and longer pauses, and
//! said again when it is over.

use std::time::Duration;

use anyhow::Result;
use daybook_domain::StoreError;
use daybook_engine::stop::Stop;

use crate::common::Common;
use crate::logging::{class, complain, say, store_error};
use crate::wiring::{Daybook, block_on};

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// An outage, or none so far.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    /// The last wait, while there is an outage.
    waited: Option<Duration>,
}

impl Outage {
    /// Takes note of a failure, and says how long to wait before the next try.
    pub(crate) fn goes_on(&mut self, error: &anyhow::Error) -> Duration {
        tracing::error!(class = class(error), outcome = "later");
        if self.waited.is_none() {
            complain(&format!(
                "{error:#}; nothing is lost, and this goes on when it can"
            ));
        }
        let wait = self.waited.map_or(FIRST_WAIT, |waited| waited * 2);
        *self.waited.insert(wait.min(LONGEST_WAIT))
    }

    /// Work was done again.
    pub(crate) fn is_over(&mut self) {
        if self.waited.take().is_some() {
            say("the memory can be used again, and this goes on");
        }
    }

    /// Waits until a memory that cannot be used now can be, and opens it anew: another server may
    /// answer then, with another clock. `None` when the end is asked for meanwhile.
    ///
    /// # Errors
    /// Those that waiting does not cure.
    pub(crate) fn outlast(
        &mut self,
        common: &Common,
        stop: &Stop,
        mut error: anyhow::Error,
    ) -> Result<Option<Daybook>> {
        loop {
            match store_error(&error) {
                Some(StoreError::Busy(_) | StoreError::Unavailable { .. }) => {}
                Some(_) | None => return Err(error),
            }
            pause(stop, self.goes_on(&error))?;
            if stop.asked() {
                return Ok(None);
            }
            match Daybook::open_or_create(common) {
                Ok(daybook) => return Ok(Some(daybook)),
                Err(later) => error = later,
            }
        }
    }
}

/// Waits, unless the end is asked for meanwhile.
pub(crate) fn pause(stop: &Stop, wait: Duration) -> Result<()> {
    block_on(async {
        tokio::select! {
            () = stop.wait() => {}
            () = tokio::time::sleep(wait) => {}
        }
        Ok(())
    })
}
