//! What consolidations selected and what a model proposed, as stores keep it: texts in the scope's row.

use daybook_domain::limits::{ACCEPTED_PROPOSALS, SELECTED_SESSIONS};
use daybook_domain::seams::ConsolidationResults;
use daybook_domain::{JobKey, LeaseToken, ProposalRecord, Scope, SelectionRecord, StoreError};
use serde::Serialize;

/// The texts of a consolidation's results; `None` leaves the text that is stored.
#[derive(Debug)]
pub(crate) struct ResultTexts {
    pub(crate) selection: Option<String>,
    pub(crate) proposals: Option<String>,
}

/// The scope whose consolidation `lease` holds, and the texts of the results.
pub(crate) fn checked<'l>(
    lease: &'l LeaseToken,
    results: ConsolidationResults<'_>,
) -> Result<(&'l Scope, ResultTexts), StoreError> {
    let JobKey::Consolidate(scope) = lease.job() else {
        let what = format!("the job {} consolidates no scope", lease.job());
        return Err(StoreError::Refused(what));
    };
    if let Some(selected) = results.selection {
        check_selection(scope, selected)?;
    }
    if let Some(ProposalRecord { accepted, .. }) = results.proposals
        && accepted.len() > ACCEPTED_PROPOSALS
    {
        let what = format!("more than {ACCEPTED_PROPOSALS} proposals for a scope");
        return Err(StoreError::Refused(what));
    }
    let texts = ResultTexts {
        selection: results.selection.map(text_of).transpose()?,
        proposals: results.proposals.map(text_of).transpose()?,
    };
    Ok((scope, texts))
}

fn check_selection(scope: &Scope, selected: &SelectionRecord) -> Result<(), StoreError> {
    if selected.sessions.len() > SELECTED_SESSIONS {
        let what = format!("a selection of more than {SELECTED_SESSIONS} sessions");
        return Err(StoreError::Refused(what));
    }
    let mut sessions = selected.sessions.iter().map(|one| &one.session);
    if let Some(foreign) = sessions.find(|session| session.tenant != scope.tenant) {
        let what = format!("the session {foreign} is not of the tenant of {scope}");
        return Err(StoreError::Refused(what));
    }
    Ok(())
}

fn text_of(record: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(record).map_err(|error| StoreError::Refused(error.to_string()))
}

/// The selection in a scope's row.
pub(crate) fn selection_of(text: &str) -> Result<SelectionRecord, String> {
    serde_json::from_str(text).map_err(|error| format!("a scope's selection: {error}"))
}

/// The proposals in a scope's row.
pub(crate) fn proposals_of(text: &str) -> Result<ProposalRecord, String> {
    serde_json::from_str(text).map_err(|error| format!("a scope's proposals: {error}"))
}
