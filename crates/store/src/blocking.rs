//! How short work that blocks is done under a runtime.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs short blocking work where the caller is, without holding up a runtime's other tasks.
pub(crate) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
