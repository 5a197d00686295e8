//! Checks what memory folders hold that is not used: links, pipes, devices, huge files, and whatever
//! stands in the place of a page.

use crate::refusals::refused;
use crate::wiring::{Daybook, block_on};

use super::finding::Finding;

const WHAT: &str = "memory places";

/// Nothing is refused in a memory folder.
pub(super) fn check(daybook: &Daybook) -> Vec<Finding> {
    let refused = match block_on(refused(daybook)) {
        Ok(refused) => refused,
        Err(error) => return vec![Finding::wrong(WHAT, format!("{error:#}"))],
    };
    if refused.is_empty() {
        return vec![Finding::fine(WHAT, "all are regular files and folders")];
    }
    let advice = "put a regular file in its place, or move it out of the memory folder, and run \
                  `daybook update`";
    let findings = refused.into_iter().map(|refused| {
        Finding::wrong(WHAT, refused.why)
            .at(refused.path)
            .with_advice(advice)
    });
    findings.collect()
}
