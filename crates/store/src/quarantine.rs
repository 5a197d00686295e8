//! Quarantined observations in the form that a column holds.

use daybook_domain::quarantine::{QuarantineDecision, QuarantinedObservation};
use daybook_domain::{ObservationId, Scope};

/// The column's text; `None` when nothing is quarantined.
pub(crate) fn quarantined_text(
    quarantined: &[QuarantinedObservation],
) -> Result<Option<String>, String> {
    if quarantined.is_empty() {
        return Ok(None);
    }
    let text = serde_json::to_string(quarantined);
    text.map(Some)
        .map_err(|error| format!("quarantined observations cannot be written: {error}"))
}

pub(crate) fn quarantined_of(text: &str) -> Result<Vec<QuarantinedObservation>, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("quarantined observations cannot be read: {error}"))
}

/// Sets the decision about one observation. False when it is not among them.
pub(crate) fn decide_about(
    quarantined: &mut [QuarantinedObservation],
    (scope, id): (&Scope, ObservationId),
    decision: QuarantineDecision,
) -> bool {
    let mut found = false;
    for one in quarantined {
        if one.observation.id == id && &one.observation.scope == scope {
            one.decision = Some(decision);
            found = true;
        }
    }
    found
}
