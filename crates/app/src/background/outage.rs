//! Waits out an outage of the store: reports its start and end once, with longer and longer pauses between tries.

use std::time::Duration;

use anyhow::Result;
use daybook_domain::StoreError;
use daybook_engine::stop::Stop;

use crate::process::block_on;
#[cfg(feature = "interfaces")]
use crate::terminal::common_args::CommonArgs;
use crate::terminal::error_class::{class, store_error};
use crate::terminal::messages::{print_error, print_notice};
use crate::wiring::Daybook;

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Whether there is an outage, and its last pause.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    /// The last pause; `None` while there is no outage.
    last_wait: Option<Duration>,
}

impl Outage {
    /// Records a failure, and returns how long to wait before the next try.
    pub(crate) fn next_wait(&mut self, error: &anyhow::Error) -> Duration {
        tracing::error!(class = class(error), outcome = "later");
        if self.last_wait.is_none() {
            print_error(&format!(
                "{error:#}; nothing is lost, and work continues after the outage"
            ));
        }
        let wait = self.last_wait.map_or(FIRST_WAIT, |last| last * 2);
        *self.last_wait.insert(wait.min(LONGEST_WAIT))
    }

    /// Records a success, which ends an outage.
    pub(crate) fn end(&mut self) {
        if self.last_wait.take().is_some() {
            print_notice("the memory can be used again, and work continues");
        }
    }

    /// Waits until the memory can be used again, and reopens it: another server with another clock may answer then. `None`
    /// when `stop` is requested meanwhile.
    ///
    /// # Errors
    /// Errors that waiting does not cure.
    #[cfg(feature = "interfaces")]
    pub(crate) fn wait_and_reopen(
        &mut self,
        common: &CommonArgs,
        stop: &Stop,
        mut error: anyhow::Error,
    ) -> Result<Option<Daybook>> {
        loop {
            match store_error(&error) {
                Some(StoreError::Busy(_) | StoreError::Unavailable { .. }) => {}
                Some(_) | None => return Err(error),
            }
            pause(stop, self.next_wait(&error))?;
            if stop.is_requested() {
                return Ok(None);
            }
            match Daybook::open_or_create(common) {
                Ok(daybook) => return Ok(Some(daybook)),
                Err(later) => error = later,
            }
        }
    }
}

/// Waits, or returns early when `stop` is requested.
pub(crate) fn pause(stop: &Stop, wait: Duration) -> Result<()> {
    block_on(async {
        tokio::select! {
            () = stop.wait_for_request() => {}
            () = tokio::time::sleep(wait) => {}
        }
        Ok(())
    })
}
