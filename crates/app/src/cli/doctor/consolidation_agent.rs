//! Checks whether the consolidation agent's last run in each scope ended well.

use daybook_domain::page::read_all;

use crate::process::block_on;
use crate::terminal::suggest;
use crate::wiring::Daybook;

use super::finding::CheckFinding;

/// No run of the agent failed since the last one that ended well. Without the setting there is nothing to check.
pub(super) fn check(daybook: &Daybook) -> Vec<CheckFinding> {
    const WHAT: &str = "consolidation agent";
    if !daybook.settings.consolidation_agent {
        return Vec::new();
    }
    let failures = block_on(async {
        let (store, tenant) = (&daybook.store, &daybook.tenant);
        let scopes = read_all(|page| store.scopes(tenant, page)).await?;
        let mut failures = Vec::new();
        for state in scopes {
            let record = store.proposals(&state.scope).await?.unwrap_or_default();
            failures.extend(record.agent.failed.map(|failed| (state.scope, failed)));
        }
        Ok(failures)
    });
    match failures {
        Ok(failures) if failures.is_empty() => {
            vec![CheckFinding::fine(WHAT, "no run failed")]
        }
        Ok(failures) => {
            let findings = failures.into_iter().map(|(scope, failed)| {
                CheckFinding::wrong(
                    WHAT,
                    format!("its last run changed nothing: {}", failed.reason),
                )
                .at(scope.to_string())
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
