//! Checks that every transcript and every hook event was imported completely.

use daybook_domain::page::visit_all;

use crate::process::block_on;
use crate::service::overview::failing_inputs;
use crate::terminal::suggest;
use crate::wiring::Daybook;

use super::finding::CheckFinding;

/// Each known transcript and each hook event was imported completely.
pub(super) fn check(daybook: &Daybook) -> Vec<CheckFinding> {
    const WHAT: &str = "transcripts";
    let read = block_on(async {
        let mut known = 0_u64;
        visit_all(
            |page| daybook.store.sources(&daybook.tenant, page),
            |_| known += 1,
        )
        .await?;
        Ok((known, failing_inputs(daybook).await?))
    });
    let (known, failing) = match read {
        Ok(read) => read,
        Err(error) => return vec![CheckFinding::wrong(WHAT, format!("{error:#}"))],
    };
    if failing.is_empty() {
        let says = format!("{known} known, each imported completely");
        return vec![CheckFinding::fine(WHAT, says)];
    }
    let wrong = failing.into_iter().map(|failing| {
        let import = suggest::command_of(&["import", &failing.path]);
        CheckFinding::wrong(WHAT, failing.why)
            .at(failing.path)
            .with_advice(format!("repair or delete it, then run `{import}`"))
    });
    wrong.collect()
}
