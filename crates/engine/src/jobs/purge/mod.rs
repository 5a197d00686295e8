//! Purges: removes events for good, with everything that rests on them, and keeps them away.
//!
//! A purge runs in steps that may each be interrupted and repeated. What is to be removed is found first and recorded as
//! an intent, because later steps need words that earlier ones delete. Then tombstones are stored, and from then on
//! nothing of it is stored again: events go from the store, entries from the files, past states from the histories. The
//! intent is removed last; a purge that was killed is finished from it.
//!
//! Not here: confirming it, the record of the memory, backups (`app`).

mod folders;
mod intent;
mod plan;
mod reset;
mod run;
mod tombstones;

pub use intent::{PURGED, PurgeIntent};
pub use plan::{PurgePlan, PurgeSelection, plan};
pub use reset::{ResetOutcome, ResetReport, reset};
pub use run::{PurgeError, PurgeOutcome, PurgeProgress, PurgeReport, PurgeStep, run};
pub use tombstones::{TombstoneError, TombstoneFile};
