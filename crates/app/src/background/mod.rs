//! Background work: applies hook events, imports what hosts write, and does due jobs, a bounded share at a time.
//!
//! Every process that runs for a while does its share. One process at a time works for all, under the lock of
//! `election`. No agent waits for this work.

mod folder_watch;
mod others;
pub(crate) mod outage;
mod pending;
mod server;

pub(crate) use folder_watch::{FolderWatch, host_folders};
pub(crate) use others::wait_for_others;
pub(crate) use pending::{
    FROM_HOSTS, PendingReport, catch_up, import_changed, is_due, process_pending,
    process_pending_exclusively, stop_after, wait_for_work,
};
pub(crate) use server::start;
