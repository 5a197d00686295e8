//! Runs short blocking work under a runtime.

use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};

/// Longest wait for a lock that another process or thread holds.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(60);

/// Runs short blocking work where the caller is, without holding up a runtime's other tasks.
pub(crate) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
