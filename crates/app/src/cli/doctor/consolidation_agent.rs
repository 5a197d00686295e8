//! Checks whether the consolidation agent's last run in each scope ended well.

use crate::process::block_on;
use crate::service::agent_failures::failed_agent_runs;
use crate::terminal::suggest;
use crate::wiring::Daybook;

use super::finding::CheckFinding;

/// No run of the agent failed since the last one that ended well. Without the setting there is nothing to check.
pub(super) fn check(daybook: &Daybook) -> Vec<CheckFinding> {
    const WHAT: &str = "consolidation agent";
    if !daybook.settings.consolidation_agent {
        return Vec::new();
    }
    match block_on(failed_agent_runs(daybook)) {
        Ok(runs) if runs.is_empty() => {
            vec![CheckFinding::fine(WHAT, "no run failed")]
        }
        Ok(runs) => {
            let findings = runs.into_iter().map(|run| {
                CheckFinding::wrong(WHAT, format!("its last run changed nothing: {}", run.why))
                    .at(run.scope)
                    .with_advice(format!(
                        "the memory is as the rules make it; `{}` tries again what is due",
                        suggest::command("update")
                    ))
            });
            findings.collect()
        }
        Err(error) => vec![CheckFinding::wrong(WHAT, format!("{error:#}"))],
    }
}
