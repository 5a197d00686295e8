//! Bounds on the fields of requests, and the error for a field beyond its bound.

use super::fault::HttpFault;
use crate::service::RequestError;

/// Longest question, in bytes.
pub(super) const QUESTION: usize = 4096;

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
