//! Records which memories an interface showed, once its answer is sent: no answer waits for that or fails with it.
//!
//! Not here: which events an answer shows (`recall::interface_use`); hooks, which write to no database.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use daybook_domain::seams::Store;
use daybook_domain::{Tenant, Timestamp};
use daybook_engine::recall::interface_use::{InterfaceUse, record_interface_use};
use strum::IntoStaticStr;
use tracing::debug;

use super::format_time;
use crate::process::block_on;
use crate::wiring::Daybook;

/// Longest that a command waits for the record after it has answered.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// An interface to memory whose uses are in no transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Interface {
    /// The command line.
    Cli,
    /// The HTTP server.
    Http,
    /// A program that has the data folder open itself.
    Library,
    /// The MCP server.
    Mcp,
}

impl Interface {
    fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A record of what an interface showed, not stored yet.
pub(crate) struct ShownUse {
    store: Arc<dyn Store>,
    tenant: Tenant,
    interface: Interface,
    day: String,
    now: Timestamp,
    used: InterfaceUse,
}

impl ShownUse {
    /// Of an answer that is shown now.
    pub(crate) fn new(daybook: &Daybook, interface: Interface, used: InterfaceUse) -> Self {
        let now = daybook.clock.now();
        Self {
            store: Arc::clone(&daybook.store),
            tenant: daybook.tenant.clone(),
            interface,
            day: format_time(daybook, now, "%Y-%m-%d").unwrap_or_default(),
            now,
            used,
        }
    }

    /// Stores the record. A failure is logged.
    pub(crate) async fn record(self) {
        let by = (self.interface.as_str(), self.day.as_str());
        let noting = record_interface_use(&*self.store, &self.tenant, by, &self.used, self.now);
        if let Err(error) = noting.await {
            debug!(%error, interface = self.interface.as_str(), outcome = "not_noted");
        }
    }

    /// [`ShownUse::record`] by a command that is about to exit: it exits when the store takes longer than
    /// [`MAX_WAIT`].
    pub(crate) fn record_before_exit(self) {
        let (done, ended) = channel();
        std::thread::spawn(move || {
            let noted = block_on(async {
                self.record().await;
                Ok(())
            });
            if let Err(error) = noted {
                debug!(%error, outcome = "not_noted");
            }
            let _ = done.send(());
        });
        let _ = ended.recv_timeout(MAX_WAIT);
    }
}
