//! Names of things. Each has a type, so that no two of them can be confused.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Isolates all data of one customer from all others; [`Tenant::local`] unless configured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tenant(pub String);

impl Tenant {
    /// The tenant of a root that serves one person.
    #[must_use]
    pub fn local() -> Self {
        Self("local".to_owned())
    }
}

/// Identity of a session: tenant, agent and the host's own id of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionId {
    /// The tenant it belongs to.
    pub tenant: Tenant,
    /// The agent that held the conversation, such as `claude-code`.
    pub agent: String,
    /// The host's id, such as a UUID. A second, different conversation that claims the same id
    /// carries a `~2`, `~3`, … behind it.
    pub host_id: String,
}

impl SessionId {
    /// Whether its messages begin with the names of their speakers, as those of chat rooms do.
    #[must_use]
    pub fn has_speakers(&self) -> bool {
        self.agent == "slack"
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.agent, self.host_id)
    }
}

/// An event's own identity within its session, whatever file it came from: a fingerprint of the
/// host's event id, or of the content where the host gives none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub u128);

/// Most bytes of a text that is hashed as a whole.
const SHORT: usize = 1024;

impl EventId {
    /// The identity that `parts` spell; parts are kept apart, so `["a", "b"]` is not `["ab"]`.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        let lengths = parts.iter().map(|part| size_of::<u64>() + part.len());
        let hash = match lengths.sum() {
            length @ 0..=SHORT => {
                // Hashed as a whole: a hasher that takes pieces costs more than the hash of a short text.
                let mut bytes = [0; SHORT];
                let mut rest = &mut bytes[..];
                for part in parts {
                    let (before, after) = rest.split_at_mut(size_of::<u64>() + part.len());
                    before[..8].copy_from_slice(&(part.len() as u64).to_le_bytes());
                    before[8..].copy_from_slice(part);
                    rest = after;
                }
                blake3::hash(&bytes[..length])
            }
            _ => {
                let mut hasher = blake3::Hasher::new();
                for part in parts {
                    hasher.update(&(part.len() as u64).to_le_bytes());
                    hasher.update(part);
                }
                hasher.finalize()
            }
        };
        let mut half = [0; 16];
        half.copy_from_slice(&hash.as_bytes()[..16]);
        Self(u128::from_le_bytes(half))
    }
}

/// Place of an event within its session; later events are greater, the first is 1. Without holes,
/// except where an undone import took events out that have others behind them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct EventSeq(pub u64);

/// Whose memory something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ScopeKind {
    /// A person, over all their agents and projects.
    User,
    /// An agent, over all the people that it works for.
    Agent,
    /// A group of agents.
    Team,
    /// A room where several take part.
    Room,
    /// A code base or other undertaking.
    Project,
}

impl ScopeKind {
    /// All kinds, in the order in which listings show them.
    pub const ALL: [Self; 5] = [
        Self::Project,
        Self::User,
        Self::Agent,
        Self::Team,
        Self::Room,
    ];

    /// The variant's name in scope names, columns and folders.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One memory's owner: a kind and a name that is only a name, whatever characters it holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The tenant it belongs to.
    pub tenant: Tenant,
    /// What kind of owner.
    pub kind: ScopeKind,
    /// The owner's name or key.
    pub name: String,
}

impl Scope {
    /// The scope that a text names: `kind/name`, or `kind:name`.
    #[must_use]
    pub fn parse(tenant: &Tenant, text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(['/', ':'])?;
        let kind = kind.parse().ok()?;
        (!name.trim().is_empty()).then(|| Self {
            tenant: tenant.clone(),
            kind,
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.as_str(), self.name)
    }
}

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum JobKind {
    /// Extract one session. Watermarks are its event sequence numbers.
    Extract,
    /// Write one scope's memory files. Watermarks are the scope's revision.
    Consolidate,
    /// Redact one session's stored texts again, by newer rules. Watermarks are its event sequence numbers; the
    /// position behind the last event stands for what is stored beside the events.
    Redact,
}

impl JobKind {
    /// The variant's name in columns and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Which job: its kind, and the session or scope that it works on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum JobKey {
    /// The extraction of a session.
    Extract(SessionId),
    /// The consolidation of a scope.
    Consolidate(Scope),
    /// The rescan of a session.
    Redact(SessionId),
}

impl JobKey {
    /// What the job does.
    #[must_use]
    pub fn kind(&self) -> JobKind {
        match self {
            Self::Extract(_) => JobKind::Extract,
            Self::Consolidate(_) => JobKind::Consolidate,
            Self::Redact(_) => JobKind::Redact,
        }
    }

    /// The tenant it belongs to.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        match self {
            Self::Extract(session) | Self::Redact(session) => &session.tenant,
            Self::Consolidate(scope) => &scope.tenant,
        }
    }

    /// The key as tenant, owner and name: agent and host id of a session, kind and name of a
    /// scope. "By key" means by these, byte by byte, so that stores agree.
    #[must_use]
    pub fn parts(&self) -> (&str, &str, &str) {
        match self {
            Self::Extract(id) | Self::Redact(id) => (&id.tenant.0, &id.agent, &id.host_id),
            Self::Consolidate(scope) => (&scope.tenant.0, scope.kind.as_str(), &scope.name),
        }
    }

    /// The key that [`JobKey::kind`] and [`JobKey::parts`] spell.
    #[must_use]
    pub fn from_parts(kind: JobKind, tenant: &str, owner: &str, name: &str) -> Option<Self> {
        let tenant = Tenant(tenant.to_owned());
        let session = |tenant| SessionId {
            tenant,
            agent: owner.to_owned(),
            host_id: name.to_owned(),
        };
        match kind {
            JobKind::Extract => Some(Self::Extract(session(tenant))),
            JobKind::Redact => Some(Self::Redact(session(tenant))),
            JobKind::Consolidate => Some(Self::Consolidate(Scope {
                tenant,
                kind: owner.parse().ok()?,
                name: name.to_owned(),
            })),
        }
    }

    /// The key of `tenant` that is written like this, such as `extract/codex:7f78`.
    #[must_use]
    pub fn parse(tenant: &Tenant, text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once('/')?;
        let kind: JobKind = kind.parse().ok()?;
        let (owner, name) = match kind {
            JobKind::Extract | JobKind::Redact => rest.split_once(':')?,
            JobKind::Consolidate => rest.split_once('/')?,
        };
        Self::from_parts(kind, &tenant.0, owner, name)
    }
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extract(session) => write!(f, "extract/{session}"),
            Self::Consolidate(scope) => write!(f, "consolidate/{scope}"),
            Self::Redact(session) => write!(f, "redact/{session}"),
        }
    }
}

/// Proof of owning one job. Each claim issues a greater generation, so an old token never passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseToken {
    job: JobKey,
    generation: u64,
}

impl LeaseToken {
    /// For store implementations; nothing else may mint one.
    #[must_use]
    pub fn issue(job: JobKey, generation: u64) -> Self {
        Self { job, generation }
    }

    /// The job that it is for.
    #[must_use]
    pub fn job(&self) -> &JobKey {
        &self.job
    }

    /// Which claim of that job it came from.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_identity_whether_it_is_hashed_as_a_whole_or_in_pieces() {
        for length in [
            0,
            1,
            7,
            SHORT - 17,
            SHORT - 16,
            SHORT - 15,
            SHORT,
            3 * SHORT,
        ] {
            let text: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let parts: [&[u8]; 2] = [b"", &text];
            let mut hasher = blake3::Hasher::new();
            for part in parts {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
            let half = hasher.finalize().as_bytes()[..16].to_vec();
            assert_eq!(
                EventId::of(&parts).0.to_le_bytes(),
                half.as_slice(),
                "{length}"
            );
        }
    }
}
