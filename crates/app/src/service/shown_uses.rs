//! Records which memories an interface showed, once its answer is sent: no answer waits for that or fails with it.
//!
//! Not here: which events an answer shows (`recall::interface_use`); hooks, which write to no database.

use std::collections::BTreeSet;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use daybook_domain::limits::USES_AT_ONCE;
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

/// Most uses that wait; further ones are dropped.
const MAX_WAITING: usize = 4_096;

/// Uses of one memory that wait to be recorded together: each write has every reading connection read its pages again.
#[derive(Default)]
pub(crate) struct UseQueue(Mutex<WaitingUses>);

#[derive(Default)]
struct WaitingUses {
    uses: Vec<InterfaceUse>,
    is_worked_off: bool,
}

impl UseQueue {
    /// Adds a use. True for the caller that has to work off the queue, until [`UseQueue::take`] returns nothing.
    pub(crate) fn add(&self, used: InterfaceUse) -> bool {
        let mut waiting = self.waiting();
        if waiting.uses.len() < MAX_WAITING {
            waiting.uses.push(used);
        }
        !std::mem::replace(&mut waiting.is_worked_off, true)
    }

    /// All that waits, answers as one; `None` ends the work.
    pub(crate) fn take(&self) -> Option<Vec<InterfaceUse>> {
        let mut waiting = self.waiting();
        if waiting.uses.is_empty() {
            waiting.is_worked_off = false;
            return None;
        }
        let mut shown = BTreeSet::new();
        let mut others = Vec::new();
        for used in waiting.uses.drain(..) {
            match used {
                InterfaceUse::Answers(events) => shown.extend(events),
                other @ (InterfaceUse::Text(_) | InterfaceUse::Opened(_)) => others.push(other),
            }
        }
        let shown: Vec<_> = shown.into_iter().collect();
        let answers = shown.chunks(USES_AT_ONCE);
        others.extend(answers.map(|events| InterfaceUse::Answers(events.to_vec())));
        Some(others)
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingUses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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

#[cfg(test)]
mod tests {
    use daybook_domain::{EventSeq, SessionId};

    use super::*;

    fn answers(events: &[u64]) -> InterfaceUse {
        let session = SessionId {
            tenant: Tenant::local(),
            agent: "harbour-bot".to_owned(),
            host_id: "s".to_owned(),
        };
        let events = events.iter().map(|seq| (session.clone(), EventSeq(*seq)));
        InterfaceUse::Answers(events.collect())
    }

    #[test]
    fn one_caller_works_off_what_all_have_shown_each_event_once() {
        let queue = UseQueue::default();
        assert!(queue.add(answers(&[1, 2])));
        assert!(!queue.add(answers(&[2, 3])));
        let text = InterfaceUse::Text("[5e7a:L1]".to_owned());
        assert!(!queue.add(text.clone()));
        assert_eq!(queue.take(), Some(vec![text, answers(&[1, 2, 3])]));
        assert!(!queue.add(answers(&[4])));
        assert_eq!(queue.take(), Some(vec![answers(&[4])]));
        assert_eq!(queue.take(), None);
        assert!(queue.add(answers(&[5])));
    }
}
