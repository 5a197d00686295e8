//! Checks what was taken in: files and notices of hooks that could not be.

use daybook_engine::notices::spool::Spool;

use crate::overview::failing;
use crate::wiring::{Daybook, block_on};

use super::finding::Finding;

/// Each known transcript and each notice was taken in to its end.
pub(super) fn check(daybook: &Daybook) -> Vec<Finding> {
    const WHAT: &str = "transcripts";
    let sources = block_on(async { Ok(daybook.store.sources(&daybook.tenant).await?) });
    let sources = match sources {
        Ok(sources) => sources,
        Err(error) => return vec![Finding::wrong(WHAT, format!("{error:#}"))],
    };
    let failing = failing(&sources, &Spool::of(&daybook.root));
    if failing.is_empty() {
        let says = format!("{} known, each taken in to its end", sources.len());
        return vec![Finding::fine(WHAT, says)];
    }
    let wrong = failing.into_iter().map(|failing| {
        Finding::wrong(WHAT, failing.why)
            .at(failing.path)
            .with_advice("mend or delete it, then run `daybook import <file>`")
    });
    wrong.collect()
}
