//! What consolidations selected, as stores keep it: a text in the scope's row.

use daybook_domain::limits::SELECTED_SESSIONS;
use daybook_domain::{JobKey, LeaseToken, Scope, SelectionRecord, StoreError};

/// The scope whose consolidation `lease` holds, and the text of the selection.
pub(crate) fn checked<'l>(
    lease: &'l LeaseToken,
    selected: &SelectionRecord,
) -> Result<(&'l Scope, String), StoreError> {
    let JobKey::Consolidate(scope) = lease.job() else {
        let what = format!("the job {} consolidates no scope", lease.job());
        return Err(StoreError::Refused(what));
    };
    if selected.sessions.len() > SELECTED_SESSIONS {
        let what = format!("a selection of more than {SELECTED_SESSIONS} sessions");
        return Err(StoreError::Refused(what));
    }
    let mut sessions = selected.sessions.iter().map(|one| &one.session);
    if let Some(foreign) = sessions.find(|session| session.tenant != scope.tenant) {
        let what = format!("the session {foreign} is not of the tenant of {scope}");
        return Err(StoreError::Refused(what));
    }
    let text = serde_json::to_string(selected);
    let text = text.map_err(|error| StoreError::Refused(error.to_string()))?;
    Ok((scope, text))
}

/// The selection in a scope's row.
pub(crate) fn selection_of(text: &str) -> Result<SelectionRecord, String> {
    serde_json::from_str(text).map_err(|error| format!("a scope's selection: {error}"))
}
