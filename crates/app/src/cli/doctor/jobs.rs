//! Checks background work: the holders of jobs, and given-up ranges.

use crate::process::block_on;
use crate::terminal::suggest;
use crate::wiring::Daybook;

use super::finding::CheckFinding;

/// No range of any session was given up.
pub(super) fn check(daybook: &Daybook) -> Vec<CheckFinding> {
    const WHAT: &str = "jobs";
    let counts = block_on(async {
        let holders = daybook.store.holders().await?;
        let gaps = daybook.gaps().await?;
        Ok((holders.len(), gaps.len()))
    });
    vec![match counts {
        Ok((held, 0)) => CheckFinding::fine(
            WHAT,
            format!("{held} held by live or vanished workers, no gaps"),
        ),
        Ok((_, gaps)) => CheckFinding::wrong(WHAT, format!("{gaps} gaps")).with_advice(format!(
            "`{}` lists them with their reasons",
            suggest::command("status")
        )),
        Err(error) => CheckFinding::wrong(WHAT, format!("{error:#}")),
    }]
}
