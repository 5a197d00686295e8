//! Which sessions memory is made from. One predicate says so, used everywhere.

use crate::session::{Session, SessionKind};

/// Why a session is never extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ineligible {
    /// It is meant to leave no trace.
    Ephemeral,
    /// Its events belong to a parent that is not here.
    SubAgent,
    /// It is a memory agent's own conversation.
    MemoryAgent,
    /// Memory is switched off for it.
    MemoryOff,
}

impl Ineligible {
    /// A reason to show, as the end of "not extracted: …".
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Ephemeral => "ephemeral session",
            Self::SubAgent => "sub-agent without its parent",
            Self::MemoryAgent => "a memory agent's own session",
            Self::MemoryOff => "memory is switched off for it",
        }
    }
}

/// Whether memory may be made from `session`, and why not.
///
/// # Errors
/// The reason, when it may not.
pub fn eligible(session: &Session) -> Result<(), Ineligible> {
    match session.kind {
        SessionKind::Ephemeral => Err(Ineligible::Ephemeral),
        SessionKind::SubAgent => Err(Ineligible::SubAgent),
        SessionKind::MemoryAgent => Err(Ineligible::MemoryAgent),
        SessionKind::Root if session.memory_off => Err(Ineligible::MemoryOff),
        SessionKind::Root => Ok(()),
    }
}
