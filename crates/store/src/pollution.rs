//! What an append that pollutes its session changes, and the pollution in the form that a column holds.
//!
//! What was learned from a polluted session stays stored and is hidden: its evidence gives no observation, and its
//! digests no page. So a person who switches memory on for the session again gets it back without another extraction.

#[cfg(any(feature = "postgres", feature = "sqlite"))]
use daybook_domain::Pollution;
use daybook_domain::eligibility::{Switches, eligible};
use daybook_domain::{DueMark, Priority, Scope, Session, Timestamp};

use crate::log::AddedEvents;

/// What the events of an append mean for what was learned from their session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PollutionEffect {
    /// Nothing: none of them pollutes it, or a person keeps memory on for it.
    None,
    /// The session is polluted now.
    Marked,
    /// It was polluted before.
    Repeated,
}

/// Marks a session if an added event pollutes it.
pub(crate) fn pollute(session: &mut Session, added: &AddedEvents) -> PollutionEffect {
    match &added.pollution {
        Some(_) if session.kept_on => PollutionEffect::None,
        Some(_) if session.pollution.is_some() => PollutionEffect::Repeated,
        Some(pollution) => {
            session.pollution = Some(pollution.clone());
            PollutionEffect::Marked
        }
        None => PollutionEffect::None,
    }
}

/// The scope whose pages show accounts of the session where no project's do: of the room, the team or the person whose
/// words its human events are; `None` if neither session nor switches name one.
pub(crate) fn owner_scope(session: &Session, switches: &Switches) -> Option<Scope> {
    let scope = session.account_scope(&switches.person);
    (!scope.name.is_empty()).then_some(scope)
}

/// The mark of a session that is clean again: whatever it has is due now.
pub(crate) fn mark_of_clean(
    session: &Session,
    switches: &Switches,
    now: Timestamp,
) -> Option<DueMark> {
    let is_due = session.events.0 > 0 && eligible(session, switches).is_ok();
    is_due.then(|| DueMark::at_once(session.events.0, now, Priority::Normal))
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
/// The column's text; `None` for a clean session.
pub(crate) fn pollution_text(pollution: Option<&Pollution>) -> Option<String> {
    pollution.map(|pollution| {
        serde_json::to_string(pollution).expect("words and numbers can be written as JSON")
    })
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn pollution_of(text: Option<&str>) -> Result<Option<Pollution>, String> {
    text.map(serde_json::from_str)
        .transpose()
        .map_err(|error| format!("the pollution of a session cannot be read: {error}"))
}
