//! What becomes of a file whose import fails: a status of its own and a record, while others go on.
//!
//! A refusal, a corrupt row, an error of the disk and a panic concern one file. An outage of the store
//! concerns all of them and ends the import. The record lies with the file's row in the store, keeps
//! the progress that was made, and goes away with the next import that succeeds.
//!
//! Not here: what concerns one file and what all of them (`guard`).

use std::fs;
use std::io::ErrorKind;

use daybook_domain::StoreError;
use daybook_domain::limits::FAILURE_TEXT;
use daybook_domain::source::{ImportNo, Source};

use super::{FileStatus, Intake};

/// Stores a file's failure beside the progress that was made before it.
///
/// # Errors
/// When the store cannot record it either: then not the file is at fault, but the store.
pub(super) async fn record(
    intake: &Intake,
    mut source: Source,
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
pub(super) async fn forget_gone<'a>(
    intake: &Intake,
    known: impl Iterator<Item = &'a Source>,
) -> Result<(), StoreError> {
    for source in known.filter(|source| source.failure.is_some() && is_gone(&source.path)) {
        let mended = Source {
            failure: None,
            ..source.clone()
        };
        let put = intake.store.put_source(&intake.tenant, &mended, None);
        put.await?;
    }
    Ok(())
}

fn is_gone(path: &str) -> bool {
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
            | Self::Stopped => None,
        }
    }
}
