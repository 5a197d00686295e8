//! Where a conversation is held, beside its folder: a room, a thread of the room, and a team of agents.
//!
//! A session's venue is fixed by its first append, because it decides whose memory the conversation becomes: words of
//! a private conversation must not become a room's, nor words of one room another's.
//!
//! Not here: which drafts are filed where (`engine::jobs`).

use serde::{Deserialize, Serialize};

use crate::ids::{Scope, ScopeKind, Tenant};

/// Longest id of a room, of a thread and of a team, in bytes.
pub const MAX_VENUE_NAME: usize = 512;

/// Whether a text may name a room, a thread or a team.
#[must_use]
pub fn is_venue_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= MAX_VENUE_NAME && !name.contains(char::is_control)
}

/// The room, the thread and the team of a conversation, and the memory that the caller chose for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Venue {
    /// The room that it is held in, by its host's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room_id: Option<String>,
    /// The thread of the room, by its host's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The team whose agents hold it, by its id, such as `alpha+beta`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The scope that the caller named for what is learned from it, such as `agent/harbour-bot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filed_in: Option<String>,
}

impl Venue {
    /// The venue that a transcript or a host names. Empty names are none; a thread without a room is a session of its own,
    /// as some services have them, and no venue.
    ///
    /// # Errors
    /// Which name is too long, or no name.
    pub fn named(
        room_id: Option<String>,
        thread_id: Option<String>,
        team: Option<String>,
    ) -> Result<Self, String> {
        let check = |field: &str, name: Option<String>| match name.filter(|name| !name.is_empty()) {
            Some(name) if !is_venue_name(&name) => Err(format!(
                "{field} is 1 to {MAX_VENUE_NAME} bytes without control characters"
            )),
            name => Ok(name),
        };
        let room_id = check("room_id", room_id)?;
        Ok(Self {
            thread_id: check("thread_id", thread_id)?.filter(|_| room_id.is_some()),
            room_id,
            team: check("team", team)?,
            filed_in: None,
        })
    }

    /// Whether nothing is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The scope that all who take part share: the room, else the team. A room is narrower than a team, whose agents
    /// work in other rooms, too. Without both, the room, the team or the agent that the caller named.
    #[must_use]
    pub fn shared_scope(&self, tenant: &Tenant) -> Option<Scope> {
        let room = self.room_id.as_ref().map(|room| (ScopeKind::Room, room));
        let team = self.team.as_ref().map(|team| (ScopeKind::Team, team));
        let held = room.or(team).map(|(kind, name)| Scope {
            tenant: tenant.clone(),
            kind,
            name: name.clone(),
        });
        let is_shared = |scope: &Scope| match scope.kind {
            ScopeKind::Agent | ScopeKind::Team | ScopeKind::Room => true,
            ScopeKind::User | ScopeKind::Project => false,
        };
        held.or_else(|| self.named_scope(tenant).filter(is_shared))
    }

    /// The scope of raw events that happened here: that of the room or the team, else of their project, else of the
    /// user whom their session names.
    #[must_use]
    pub fn event_scope(
        &self,
        tenant: &Tenant,
        (project, user): (Option<String>, Option<String>),
    ) -> Option<Scope> {
        let project = project.map(|name| (ScopeKind::Project, name));
        let user = user.map(|name| (ScopeKind::User, name));
        self.shared_scope(tenant).or_else(|| {
            project.or(user).map(|(kind, name)| Scope {
                tenant: tenant.clone(),
                kind,
                name,
            })
        })
    }

    /// The scope that the caller named.
    #[must_use]
    pub fn named_scope(&self, tenant: &Tenant) -> Option<Scope> {
        Scope::parse(tenant, self.filed_in.as_deref()?)
    }

    /// Whether an append that names `later` belongs to a conversation that is held here. What it leaves out is not
    /// contradicted.
    #[must_use]
    pub fn admits(&self, later: &Self) -> bool {
        let same = |known: &Option<String>, new: &Option<String>| new.is_none() || new == known;
        same(&self.room_id, &later.room_id)
            && same(&self.thread_id, &later.thread_id)
            && same(&self.team, &later.team)
            && same(&self.filed_in, &later.filed_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn venue(room: &str, team: &str) -> Venue {
        let name = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Venue {
            room_id: name(room),
            team: name(team),
            ..Venue::default()
        }
    }

    #[test]
    fn what_is_said_in_a_room_is_the_rooms_also_where_a_team_speaks() {
        let shared = |room, team| {
            let scope = venue(room, team).shared_scope(&Tenant::local());
            scope.map(|scope| scope.to_string())
        };
        assert_eq!(shared("", ""), None);
        assert_eq!(shared("!pier", ""), Some("room/!pier".to_owned()));
        assert_eq!(shared("", "a+b"), Some("team/a+b".to_owned()));
        assert_eq!(shared("!pier", "a+b"), Some("room/!pier".to_owned()));
    }

    #[test]
    fn a_conversation_stays_where_it_began() {
        let room = venue("!pier", "");
        assert!(room.admits(&Venue::default()) && room.admits(&room));
        assert!(!room.admits(&venue("!quay", "")) && !room.admits(&venue("!pier", "a+b")));
        assert!(
            !Venue::default().admits(&room),
            "private words stay private"
        );
    }
}
