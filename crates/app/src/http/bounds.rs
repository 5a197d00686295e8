//! Bounds on the fields of requests, and the error for a field beyond its bound.

use std::path::{Path, PathBuf};

use super::fault::HttpFault;
use crate::service::RequestError;
use crate::service::append_api::MAX_FOLDER_BYTES;

/// Longest question, in bytes.
pub(super) const QUESTION: usize = 4096;
/// Longest new words of a memory, in bytes.
pub(super) const EDIT: usize = 16 * 1024;

pub(super) fn invalid_request(message: String) -> anyhow::Error {
    RequestError::Invalid(message).into()
}

pub(super) fn within(what: &str, size: usize, most: usize, unit: &str) -> Result<(), HttpFault> {
    if size == 0 {
        return Err(HttpFault::request(format!("{what} is 1 to {most} {unit}")));
    }
    at_most(what, size, most, unit)
}

pub(super) fn at_most<N: PartialOrd + std::fmt::Display>(
    what: &str,
    size: N,
    most: N,
    unit: &str,
) -> Result<(), HttpFault> {
    if size > most {
        return Err(HttpFault::request(format!(
            "{what} is at most {most} {unit}"
        )));
    }
    Ok(())
}

/// The folder that a request names as an absolute path.
pub(super) fn absolute_folder(folder: Option<String>) -> Result<Option<PathBuf>, HttpFault> {
    let Some(folder) = folder else {
        return Ok(None);
    };
    within("folder", folder.len(), MAX_FOLDER_BYTES, "bytes")?;
    if !Path::new(&folder).is_absolute() {
        return Err(HttpFault::request(format!(
            "folder {folder} is not a whole path; write for example /home/ada/tidepool"
        )));
    }
    Ok(Some(PathBuf::from(folder)))
}
