//! Sessions counted in groups, so that a summary of all of them reads none one by one.
//!
//! A group has all that [`crate::eligibility::eligible`] asks for in common, so one of its sessions answers for all.

use std::collections::BTreeMap;

use strum::EnumString;

use crate::job::Job;
use crate::session::{Session, SessionKind};
use crate::time::Timestamp;
use crate::venue::Venue;

/// How far a session's events were learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum LearnedState {
    /// It has no job yet.
    Unmarked,
    /// All of them.
    Learned,
    /// Some wait.
    Waiting,
    /// Some wait, and the last try failed. Work at a cap only waits.
    Failing,
}

impl LearnedState {
    /// The state of the session with this job of extraction.
    #[must_use]
    pub fn of(job: Option<&Job>) -> Self {
        match job {
            None => Self::Unmarked,
            Some(job) if !job.is_ahead() => Self::Learned,
            Some(job) if job.last_failure.is_some() && !job.is_at_cap() => Self::Failing,
            Some(_) => Self::Waiting,
        }
    }

    /// Whether events wait to be learned from.
    #[must_use]
    pub fn is_waiting(self) -> bool {
        match self {
            Self::Waiting | Self::Failing => true,
            Self::Unmarked | Self::Learned => false,
        }
    }
}

/// Sessions that rules treat alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionGroup {
    /// One of them.
    pub sample: Session,
    /// How far each was learned from.
    pub learned: LearnedState,
    /// How many they are.
    pub sessions: u64,
    /// Events of all of them.
    pub events: u64,
    /// Those with waiting events whose last activity was before the time that the caller named.
    pub rested: u64,
}

/// What the sessions of a group have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    agent: String,
    user: Option<String>,
    kind: SessionKind,
    is_off: (bool, bool, bool),
    venue: Venue,
    learned: LearnedState,
}

/// Groups sessions with their jobs; `rested_before` is the time that [`SessionGroup::rested`] goes by.
#[must_use]
pub fn group_sessions(
    sessions: impl IntoIterator<Item = (Session, LearnedState)>,
    rested_before: Timestamp,
) -> Vec<SessionGroup> {
    let mut groups: BTreeMap<GroupKey, SessionGroup> = BTreeMap::new();
    for (session, learned) in sessions {
        let key = GroupKey {
            agent: session.id.agent.clone(),
            user: session.user.clone(),
            kind: session.kind,
            is_off: (
                session.switched_off,
                session.memory_off,
                session.pollution.is_some(),
            ),
            venue: session.venue.clone(),
            learned,
        };
        let (events, last_at) = (session.events.0, session.last_at);
        let group = groups.entry(key).or_insert_with(|| SessionGroup {
            sample: session,
            learned,
            sessions: 0,
            events: 0,
            rested: 0,
        });
        group.sessions += 1;
        group.events += events;
        group.rested += u64::from(learned.is_waiting() && last_at < rested_before);
    }
    groups.into_values().collect()
}
