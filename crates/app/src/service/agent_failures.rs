//! Lists the scopes in which the last run of the consolidation agent failed.

use anyhow::Result;
use daybook_domain::page::read_all;
use serde::Serialize;
use utoipa::ToSchema;

use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// A run of the consolidation agent that failed. The memory is as the rules make it, and its inputs are still pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct FailedAgentRun {
    /// The scope whose memory it was to write.
    #[schema(example = "project/tidepool")]
    pub(crate) scope: String,
    /// When, RFC 3339.
    #[schema(format = DateTime)]
    pub(crate) at: Option<String>,
    /// Why.
    #[schema(example = "MEMORY.md: a line cites 7f78:L9, which is no line of its inputs")]
    pub(crate) why: String,
}

/// The last run of each scope, where it failed. None without the setting `consolidation_agent`.
pub(crate) async fn failed_agent_runs(daybook: &Daybook) -> Result<Vec<FailedAgentRun>> {
    if !daybook.settings.consolidation_agent {
        return Ok(Vec::new());
    }
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let mut runs = Vec::new();
    for state in read_all(|page| store.scopes(tenant, page)).await? {
        let record = store.proposals(&state.scope).await?.unwrap_or_default();
        runs.extend(record.agent.failed.map(|failed| FailedAgentRun {
            scope: state.scope.to_string(),
            at: rfc3339(failed.at),
            why: failed.reason,
        }));
    }
    Ok(runs)
}
