//! Finds the error of a stage in a chain of causes, and its class.

use daybook_domain::StoreError;
use daybook_engine::files::FilesError;
use daybook_engine::files::entities::EntityError;
use daybook_engine::jobs::WorkError;

/// The store's error in the chain of causes, if there is one.
pub(crate) fn store_error(error: &anyhow::Error) -> Option<&StoreError> {
    error.chain().find_map(|cause| match cause.downcast_ref() {
        // It is transparent, so the error that it wraps is not in the chain by itself.
        Some(WorkError::Store(error)) => Some(error),
        Some(WorkError::Files(_)) | None => cause.downcast_ref(),
    })
}

/// The error of memory files behind `error`, if it is one.
pub(crate) fn files_error(error: &anyhow::Error) -> Option<&FilesError> {
    error.chain().find_map(|cause| {
        // Both are transparent, so the error that they wrap is not in the chain by itself.
        if let Some(WorkError::Files(error)) = cause.downcast_ref() {
            return Some(error);
        }
        match cause.downcast_ref() {
            Some(EntityError::Files(error)) => Some(error),
            Some(EntityError::Refused(_)) | None => cause.downcast_ref(),
        }
    })
}

/// The class of an error, as a word for logs.
pub(crate) fn class(error: &anyhow::Error) -> &'static str {
    match store_error(error) {
        Some(StoreError::Busy(_)) => "busy",
        Some(StoreError::Unavailable { .. }) => "unavailable",
        Some(StoreError::TooNew { .. }) => "too_new",
        Some(StoreError::NotFound(_)) => "not_found",
        Some(StoreError::Refused(_)) => "refused",
        Some(StoreError::Corrupt(_)) => "corrupt",
        None => "other",
    }
}
