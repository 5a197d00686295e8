//! Checks background work: who holds it, and what was given up.

use crate::suggest;
use crate::wiring::{Daybook, block_on};

use super::finding::Finding;

/// No range of any session was given up.
pub(super) fn check(daybook: &Daybook) -> Vec<Finding> {
    const WHAT: &str = "jobs";
    let counts = block_on(async {
        let holders = daybook.store.holders().await?;
        let gaps = daybook.gaps().await?;
        Ok((holders.len(), gaps.len()))
    });
    vec![match counts {
        Ok((held, 0)) => Finding::fine(
            WHAT,
            format!("{held} held by live or vanished workers, no gaps"),
        ),
        Ok((_, gaps)) => Finding::wrong(WHAT, format!("{gaps} gaps")).with_advice(format!(
            "`{}` says which and why",
            suggest::command("status")
        )),
        Err(error) => Finding::wrong(WHAT, format!("{error:#}")),
    }]
}
