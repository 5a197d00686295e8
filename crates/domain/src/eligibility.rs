//! Which sessions memory is made from: one predicate, used everywhere.

use std::collections::BTreeSet;

use crate::descriptor::Descriptor;
use crate::ids::{Scope, ScopeKind};
use crate::pollution::PollutionRule;
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
    /// Its host keeps memory off for it. Should the host change its mind, all of it is learned.
    MemoryOff,
    /// A call brought text from outside into it, and settings have such sessions left out.
    Polluted,
    /// Memory was switched off here, for it, its agent, its user or everything. Events that arrive
    /// meanwhile are never learned.
    SwitchedOff,
}

impl Ineligible {
    /// A reason to show, as the end of "not extracted: …".
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Ephemeral => "ephemeral session",
            Self::SubAgent => "sub-agent without its parent",
            Self::MemoryAgent => "a memory agent's own session",
            Self::MemoryOff => "its host keeps memory off for it",
            Self::Polluted => "a call brought text from outside into it",
            Self::SwitchedOff => "memory is switched off for it",
        }
    }
}

/// Where memory is switched off by the person or the operator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Switches {
    /// Everywhere.
    pub all_off: bool,
    /// For these agents, users and projects.
    pub off: BTreeSet<(ScopeKind, String)>,
    /// Agents that memory is made from although it is off everywhere.
    pub on_agents: BTreeSet<String>,
    /// The user of a session that names none.
    pub person: String,
    /// Which calls leave their session out.
    pub pollution: PollutionRule,
}

impl Switches {
    /// Whether memory is off for a scope itself. Where it is off everywhere, no session is eligible in the first place
    /// but those of agents for which it is on.
    #[must_use]
    pub fn is_off(&self, kind: ScopeKind, name: &str) -> bool {
        self.off.contains(&(kind, name.to_owned()))
    }

    fn covers(&self, session: &Session) -> bool {
        let agent = &session.id.agent;
        let user = session.user.as_ref().unwrap_or(&self.person);
        let is_off = |scope: Scope| self.is_off(scope.kind, &scope.name);
        (self.all_off && !self.on_agents.contains(agent))
            || self.is_off(ScopeKind::Agent, agent)
            || self.is_off(ScopeKind::User, user)
            || session.filing_scope().is_some_and(is_off)
    }
}

/// Whether memory may be made from `session`, and why not. A project that memory is off for concerns
/// single events, which extraction leaves out.
///
/// # Errors
/// The reason, when it may not.
pub fn eligible(session: &Session, switches: &Switches) -> Result<(), Ineligible> {
    // A host may mark its memory agents by their name alone, and not by the session's kind.
    if Descriptor::of_key(&session.id.agent).is_some() {
        return Err(Ineligible::MemoryAgent);
    }
    match session.kind {
        SessionKind::Ephemeral => Err(Ineligible::Ephemeral),
        SessionKind::SubAgent => Err(Ineligible::SubAgent),
        SessionKind::MemoryAgent => Err(Ineligible::MemoryAgent),
        SessionKind::Root if session.switched_off || switches.covers(session) => {
            Err(Ineligible::SwitchedOff)
        }
        SessionKind::Root if session.memory_off => Err(Ineligible::MemoryOff),
        SessionKind::Root if session.pollution.is_some() => Err(Ineligible::Polluted),
        SessionKind::Root => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{EventSeq, SessionId, Tenant};
    use crate::time::Timestamp;

    fn session(agent: &str, kind: SessionKind) -> Session {
        Session {
            id: SessionId {
                tenant: Tenant::local(),
                agent: agent.to_owned(),
                host_id: "s".to_owned(),
            },
            label: "s".to_owned(),
            kind,
            memory_off: false,
            switched_off: false,
            kept_on: false,
            pollution: None,
            passed: Vec::new(),
            forked_from: None,
            user: None,
            surface: None,
            venue: crate::venue::Venue::default(),
            first_at: Timestamp::ZERO,
            last_at: Timestamp::ZERO,
            events: EventSeq(1),
        }
    }

    #[test]
    fn an_agents_own_switch_goes_before_the_one_for_everything() {
        let mut switches = Switches {
            all_off: true,
            on_agents: BTreeSet::from(["main".to_owned()]),
            person: "ada".to_owned(),
            ..Switches::default()
        };
        let check = |agent: &str, switches: &Switches| {
            eligible(&session(agent, SessionKind::Root), switches)
        };
        assert_eq!(check("main", &switches), Ok(()));
        assert_eq!(check("other", &switches), Err(Ineligible::SwitchedOff));
        // A person's switch goes before any agent's.
        switches.off.insert((ScopeKind::User, "ada".to_owned()));
        assert_eq!(check("main", &switches), Err(Ineligible::SwitchedOff));
        let off = BTreeSet::from([(ScopeKind::Agent, "main".to_owned())]);
        let switches = Switches {
            off,
            ..Switches::default()
        };
        assert_eq!(check("main", &switches), Err(Ineligible::SwitchedOff));
        assert_eq!(check("other", &switches), Ok(()));
    }

    #[test]
    fn memory_that_is_off_for_a_room_is_off_for_its_sessions() {
        let mut session = session("main", SessionKind::Root);
        let off = BTreeSet::from([(ScopeKind::Room, "!pier".to_owned())]);
        let switches = Switches {
            off,
            ..Switches::default()
        };
        assert_eq!(eligible(&session, &switches), Ok(()));
        session.venue.room_id = Some("!pier".to_owned());
        let refused = eligible(&session, &switches);
        assert_eq!(refused, Err(Ineligible::SwitchedOff));
    }

    #[test]
    fn a_memory_agents_own_session_is_never_eligible() {
        let check = |agent: &str, kind| eligible(&session(agent, kind), &Switches::default());
        let key = Descriptor::memory_of("main").cache_key();
        assert_eq!(check("main", SessionKind::Root), Ok(()));
        assert_eq!(check(&key, SessionKind::Root), Err(Ineligible::MemoryAgent));
        let refused = check("main", SessionKind::MemoryAgent);
        assert_eq!(refused, Err(Ineligible::MemoryAgent));
    }
}
