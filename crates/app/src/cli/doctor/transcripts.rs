//! Checks what was taken in: files and notices of hooks that could not be.

use crate::overview::failing;
use crate::suggest;
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
    let failing = failing(&sources, &daybook.spool());
    if failing.is_empty() {
        let says = format!("{} known, each taken in to its end", sources.len());
        return vec![Finding::fine(WHAT, says)];
    }
    let wrong = failing.into_iter().map(|failing| {
        let import = suggest::command_of(&["import", &failing.path]);
        Finding::wrong(WHAT, failing.why)
            .at(failing.path)
            .with_advice(format!("mend or delete it, then run `{import}`"))
    });
    wrong.collect()
}
