//! Resets of a memory: what was learned goes, and what it was learned from stays.
//!
//! Not here: what is removed (`daybook_engine::jobs::purge`), asking the person (`cli`).

use anyhow::{Context, Result, bail};
use daybook_engine::jobs::purge::{PurgeIntent, ResetOutcome, ResetReport, reset};

use super::copies::forget_repository;
use super::try_lock;
use crate::folders::data_folder::display_path;
use crate::folders::stored_answers::StoredAnswers;
use crate::process::block_on;
use crate::service::RequestError;
use crate::wiring::{Daybook, MemoryDatabase};

/// Removes all that was learned of the tenant.
pub(crate) fn reset_memory(daybook: &Daybook) -> Result<ResetReport> {
    let Some(_lock) = try_lock(&daybook.root)? else {
        bail!(RequestError::Conflict(
            "another process is purging; run this again when it has ended".to_owned()
        ));
    };
    if PurgeIntent::exists(&daybook.root) {
        bail!(RequestError::Conflict(
            "an earlier purge is unfinished; run `daybook purge --continue` first".to_owned()
        ));
    }
    let outcome = block_on(async {
        let (worker, _present) = daybook.attended_worker().await?;
        Ok(reset(&worker, &*daybook.purges).await?)
    })?;
    let report = match outcome {
        ResetOutcome::Done(report) => report,
        ResetOutcome::Linked(link) => bail!(RequestError::Conflict(format!(
            "{} is a link, and what it leads to is not emptied; nothing was removed. Remove the link first",
            display_path(&link)
        ))),
        ResetOutcome::Busy(path) => bail!(RequestError::Conflict(format!(
            "another process writes {}; run this again to remove the rest",
            display_path(&path)
        ))),
    };
    let answers = StoredAnswers::of(&daybook.root, &daybook.tenant);
    answers
        .remove()
        .context("cannot remove the answers that are kept for HTTP clients")?;
    forget_repository(daybook)?;
    write_record(daybook)?;
    Ok(report)
}

/// Takes what is gone out of the record of the memory.
fn write_record(daybook: &Daybook) -> Result<()> {
    let store = match &daybook.database {
        MemoryDatabase::File(store) => store,
        #[cfg(feature = "postgres")]
        MemoryDatabase::Server(_) => return Ok(()),
    };
    store.mark_all_records()?;
    if let Some(record) = &daybook.record
        && !record.write_completely()?
    {
        bail!(
            "another process is writing the record of the memory; run this again to remove the rest"
        );
    }
    Ok(())
}
