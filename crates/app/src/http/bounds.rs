//! Bounds of what may be asked, and how it is said that they were passed.

use super::fault::Fault;
use crate::desk::Unfit;

/// Longest question, in bytes.
pub(super) const QUESTION: usize = 4096;

pub(super) fn unfit(message: String) -> anyhow::Error {
    Unfit::Request(message).into()
}

pub(super) fn within(what: &str, size: usize, most: usize, unit: &str) -> Result<(), Fault> {
    if size == 0 {
        return Err(Fault::request(format!("{what} is 1 to {most} {unit}")));
    }
    at_most(what, size, most, unit)
}

pub(super) fn at_most<N: PartialOrd + std::fmt::Display>(
    what: &str,
    size: N,
    most: N,
    unit: &str,
) -> Result<(), Fault> {
    if size > most {
        return Err(Fault::request(format!("{what} is at most {most} {unit}")));
    }
    Ok(())
}
