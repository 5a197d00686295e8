//! Checks memory folders for files that are not used: links, pipes, devices, huge files, and anything else
//! in the place of a page.

use crate::process::block_on;
use crate::service::refusals::refused_files;
use crate::wiring::Daybook;

use super::finding::CheckFinding;

const WHAT: &str = "memory places";

/// Nothing is refused in a memory folder.
pub(super) fn check(daybook: &Daybook) -> Vec<CheckFinding> {
    let refused = match block_on(refused_files(daybook)) {
        Ok(refused) => refused,
        Err(error) => return vec![CheckFinding::wrong(WHAT, format!("{error:#}"))],
    };
    if refused.is_empty() {
        return vec![CheckFinding::fine(
            WHAT,
            "all are regular files and folders",
        )];
    }
    let advice = "put a regular file in its place, or move it out of the memory folder, and run \
                  `daybook update`";
    let findings = refused.into_iter().map(|refused| {
        CheckFinding::wrong(WHAT, refused.why)
            .at(refused.path)
            .with_advice(advice)
    });
    findings.collect()
}
