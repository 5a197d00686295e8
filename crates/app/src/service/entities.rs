//! Writes the person's entities, for every interface: under the folder's lock, shared with other machines, and found by
//! recall at once.
//!
//! Not here: what a change does to the files (`daybook_engine::files::entities`).

use anyhow::{Result, bail};
use daybook_domain::Scope;
use daybook_domain::page::read_all;
use daybook_engine::files::entities::EntityError;
use daybook_engine::files::layout::folder;
use daybook_engine::files::reindex::reindex;
use daybook_engine::files::stamp::CommitStamp;
use daybook_engine::files::{FilesConfig, Folder, LockOutcome, WriterLock};
use daybook_engine::jobs::WorkLimits;
use daybook_text::redact::Redactor;

use super::person_scope;
use crate::process::block_on;
use crate::wiring::Daybook;

/// Runs `work` with the lock on the person's memory folder.
pub(crate) fn write_entities<T>(
    daybook: &Daybook,
    work: impl FnOnce(&WriterLock<'_>, &CommitStamp, &Redactor) -> Result<T, EntityError>,
) -> Result<T> {
    let scope = person_scope(daybook);
    let folder = Folder::open(folder(&daybook.root, &scope), FilesConfig::default())?;
    let lock = match folder.try_lock(WorkLimits::default().folder_wait)? {
        LockOutcome::Held(lock) => lock,
        LockOutcome::Busy => bail!("another process is writing the memory of {scope}; try again"),
    };
    let stamp = daybook.stamp();
    if let Some(sharing) = daybook.sharing() {
        block_on(async { Ok(sharing.sync(&scope, &lock, &stamp).await?) })?;
    }
    let done = work(&lock, &stamp, &Redactor::current())?;
    block_on(index_entities(daybook, &scope, lock, &stamp))?;
    Ok(done)
}

async fn index_entities(
    daybook: &Daybook,
    scope: &Scope,
    lock: WriterLock<'_>,
    stamp: &CommitStamp,
) -> Result<()> {
    let now = daybook.clock.now();
    let known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    if !known.iter().any(|state| state.scope == *scope) {
        daybook.store.touch_scope(scope, now).await?;
    }
    match daybook.sharing() {
        Some(sharing) => {
            sharing.sync_and_reindex(scope, &lock, stamp).await?;
        }
        None => {
            drop(lock);
            reindex(&*daybook.store, &daybook.root, scope, now).await?;
        }
    }
    Ok(())
}

/// The path of a file of the person's memory, below the data folder.
pub(crate) fn below(daybook: &Daybook, file: &str) -> String {
    let folder = folder(&daybook.root, &person_scope(daybook));
    let below = folder.strip_prefix(&daybook.root).unwrap_or(&folder);
    format!("{}/{file}", below.display())
}
