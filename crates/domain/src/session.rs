//! Sessions: one conversation of an agent each.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ids::{EventSeq, Scope, ScopeKind, SessionId};
use crate::pollution::Pollution;
use crate::time::Timestamp;
use crate::venue::Venue;

/// What sort of conversation it is; decides eligibility.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum SessionKind {
    /// A person and an agent.
    Root,
    /// An agent that another agent called, whose parent is not known here.
    SubAgent,
    /// Meant to leave no trace.
    Ephemeral,
    /// A memory agent's own conversation.
    MemoryAgent,
}

impl SessionKind {
    /// The variant's name in columns and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The kind of a session whose parts give different kinds. A sub-agent's part belongs to the
    /// conversation that called it, whichever came first; what is meant to leave no trace, and a
    /// memory agent's own, stay so.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        let weight = |kind: &Self| match kind {
            Self::SubAgent => 0,
            Self::Root => 1,
            Self::MemoryAgent => 2,
            Self::Ephemeral => 3,
        };
        std::cmp::max_by_key(self, other, weight)
    }
}

/// The metadata of a session that an append carries. A known value replaces an unknown one, never the reverse:
/// a kind other than [`SessionKind::Root`], a parent, a user and a surface stay once they were set; a venue is that of
/// the first append. Whether memory
/// is off is known each time, so the latest value counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionMeta {
    /// Its identity.
    pub id: SessionId,
    /// What sort of conversation.
    pub kind: SessionKind,
    /// Memory is switched off for it in its host.
    pub memory_off: bool,
    /// The session it was forked from, by host id.
    pub forked_from: Option<String>,
    /// Whose words its human events are; `None` for the person of the data folder.
    pub user: Option<String>,
    /// Where it was held, as its host names it: `cli`, `vscode`, `exec`.
    pub surface: Option<String>,
    /// The room, the thread and the team that hold it: those of the first append. A later one that names another
    /// venue is refused.
    pub venue: Venue,
}

/// A session as the store holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its identity.
    pub id: SessionId,
    /// Its short name in citations: the fewest leading characters (at least four) of the host id
    /// that no other session had when it came in. Never changes.
    pub label: String,
    /// What sort of conversation.
    pub kind: SessionKind,
    /// Memory is switched off for it in its host.
    pub memory_off: bool,
    /// Memory was switched off for it here.
    #[serde(default)]
    pub switched_off: bool,
    /// A person switched memory on for it: no call pollutes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept_on: bool,
    /// The call that brought text from outside into it, where settings have such sessions left out of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pollution: Option<Pollution>,
    /// The session it was forked from, by host id.
    pub forked_from: Option<String>,
    /// Whose words its human events are; `None` for the person of the data folder.
    #[serde(default)]
    pub user: Option<String>,
    /// Where it was held, as its host names it: `cli`, `vscode`, `exec`.
    #[serde(default)]
    pub surface: Option<String>,
    /// The room, the thread and the team that hold it.
    #[serde(default, skip_serializing_if = "Venue::is_empty")]
    pub venue: Venue,
    /// The earliest time that one of its events names.
    pub first_at: Timestamp,
    /// The latest time that one of its events names.
    pub last_at: Timestamp,
    /// The last event's sequence number; how many it has, unless an undone import left a hole.
    pub events: EventSeq,
    /// First and last of the events that are never learned, ascending and apart: those that arrived while
    /// memory was switched off, and those that waited then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<(u64, u64)>,
}

impl Session {
    /// The scope of everything that is learned from it, whatever its events' places: the one that the caller named,
    /// else the room or the team that holds it. `None` where the place and the words of each draft decide.
    #[must_use]
    pub fn filing_scope(&self) -> Option<Scope> {
        let tenant = &self.id.tenant;
        let named = self.venue.named_scope(tenant);
        named.or_else(|| self.venue.shared_scope(tenant))
    }

    /// The scope whose pages show accounts of the session where no project's do: [`Session::filing_scope`], else the
    /// person whose words it holds.
    #[must_use]
    pub fn account_scope(&self, person: &str) -> Scope {
        let filed = self.filing_scope();
        filed
            .filter(|scope| scope.kind != ScopeKind::Project)
            .unwrap_or_else(|| Scope {
                tenant: self.id.tenant.clone(),
                kind: ScopeKind::User,
                name: self.user.as_deref().unwrap_or(person).to_owned(),
            })
    }

    /// Records that these events are never learned.
    pub fn pass(&mut self, (from, to): (u64, u64)) {
        match self.passed.last_mut() {
            Some(last) if last.1 + 1 >= from => last.1 = last.1.max(to),
            _ => self.passed.push((from, to)),
        }
    }

    /// Whether an event is never learned.
    #[must_use]
    pub fn is_passed(&self, seq: EventSeq) -> bool {
        let holds = |&(from, to): &(u64, u64)| (from..=to).contains(&seq.0);
        self.passed.iter().any(holds)
    }

    /// Switches memory off, or on again: a person's decision, which ends a pollution and prevents others. Returns
    /// whether memory was switched the other way before.
    pub fn switch(&mut self, on: bool) -> bool {
        let changed = self.switched_off == on;
        (self.switched_off, self.kept_on) = (!on, on);
        self.pollution.take_if(|_| on);
        changed
    }

    /// The log ends earlier now: later events will have these numbers again.
    pub fn shorten(&mut self, last: EventSeq) {
        self.events = last;
        self.passed.retain(|&(from, _)| from <= last.0);
        if let Some(range) = self.passed.last_mut() {
            range.1 = range.1.min(last.0);
        }
        self.pollution.take_if(|pollution| pollution.event > last);
    }
}
