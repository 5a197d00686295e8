//! Records files whose import fails: each gets a status and a stored reason, and the others are imported.
//!
//! A refusal, a corrupt row, an error of the disk and a panic concern one file. An outage of the store
//! concerns all of them and ends the import. The record lies with the file's row in the store, keeps
//! the progress that was made, and is cleared by the next import that succeeds.
//!
//! Not here: which errors concern one file, and which all of them (`guard`).

use std::fs;
use std::io::ErrorKind;

use daybook_domain::StoreError;
use daybook_domain::limits::FAILURE_TEXT;
use daybook_domain::page::read_all;
use daybook_domain::source::{ImportNo, TranscriptSource};

use super::FileStatus;
use crate::append::IngestContext;
use crate::places::stored_path::path_on_disk;

/// Stores a file's failure beside the progress that was made before it.
///
/// # Errors
/// When the store cannot record it either: then the store is at fault, not the file.
pub(super) async fn record(
    intake: &IngestContext,
    mut source: TranscriptSource,
    reason: &str,
    import: Option<ImportNo>,
) -> Result<(), StoreError> {
    source.failure = Some(reason.chars().take(FAILURE_TEXT).collect());
    let (store, tenant) = (&intake.store, &intake.tenant);
    match store.put_source(tenant, &source, import).await {
        // The session's own row may be what is corrupt: recorded without naming it.
        Err(error) if !error.is_outage() && source.session.is_some() => {
            source.session = None;
            store.put_source(tenant, &source, import).await
        }
        other => other,
    }
}

/// Clears the failures of files that are gone, and of folders that can be read by now: no import of
/// them will come.
///
/// # Errors
/// When the store fails.
pub(super) async fn forget_gone(intake: &IngestContext) -> Result<(), StoreError> {
    let (store, tenant) = (&intake.store, &intake.tenant);
    let failing = read_all(|page| store.failing_sources(tenant, page)).await?;
    for mut source in failing {
        if is_gone(&source.path) {
            source.failure = None;
            store.put_source(tenant, &source, None).await?;
        }
    }
    Ok(())
}

fn is_gone(path: &str) -> bool {
    let path = &path_on_disk(path);
    match fs::metadata(path) {
        Ok(metadata) => metadata.is_dir() && fs::read_dir(path).is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

impl FileStatus {
    /// Why the file could not be imported to its end, if it could not.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Unreadable(reason) | Self::Failed(reason) => Some(reason),
            Self::New
            | Self::Grew
            | Self::Unchanged
            | Self::Rewritten
            | Self::Unknown(_)
            | Self::Companion(_)
            | Self::Stopped => None,
        }
    }
}
