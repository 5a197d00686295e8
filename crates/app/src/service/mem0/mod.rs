//! What programs that know mem0 ask of a memory: memories with owners and attributes, by mem0's names for them.
//!
//! A memory of mem0 is a memory here. The owner decides its scope: `user_id` is a user's, `agent_id` without one is an
//! agent's, and what has neither belongs to an agent called `mem0`. Whatever else mem0 keeps beside the text is in a file of
//! that scope's memory folder (`attributes`).
//!
//! Not here: the paths and the bodies of requests (`http`).

pub(crate) mod adding;
mod attributes;
pub(crate) mod changing;
pub(crate) mod events;
pub(crate) mod filter;
pub(crate) mod reading;

use daybook_domain::{Scope, ScopeKind, Tenant};
use daybook_engine::jobs::memories::Memory;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use attributes::Attributes;

use super::caller::check_name;
use super::history::hidden;
use super::scope_choice::check_nameable;
use crate::terminal::output::rfc3339;

/// The agent of memories that belong to no user and no agent.
const NO_OWNER: &str = "mem0";

/// Whom a memory belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owners {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) app_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
}

impl Owners {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The scope of a memory that belongs to them. Fails for a name that cannot be kept.
    fn scope(&self, tenant: &Tenant) -> anyhow::Result<Scope> {
        let (kind, name) = match (&self.user_id, &self.agent_id) {
            (Some(user), _) => (ScopeKind::User, user.as_str()),
            (None, Some(agent)) => (ScopeKind::Agent, agent.as_str()),
            (None, None) => (ScopeKind::Agent, NO_OWNER),
        };
        let named = [
            ("user_id", &self.user_id),
            ("agent_id", &self.agent_id),
            ("app_id", &self.app_id),
            ("run_id", &self.run_id),
        ];
        for (field, name) in named {
            check_name(field, name.as_deref())?;
        }
        let scope = Scope {
            tenant: tenant.clone(),
            kind,
            name: name.to_owned(),
        };
        check_nameable(&scope)?;
        Ok(scope)
    }

    /// Those that the scope of their memories does not name.
    fn without_scope(mut self) -> Self {
        match &self.user_id {
            Some(_) => self.user_id = None,
            None => self.agent_id = None,
        }
        self
    }

    /// The owner that a scope names; none for a scope that mem0 has no word for.
    fn of(scope: &Scope) -> Option<Self> {
        let name = Some(scope.name.clone());
        match scope.kind {
            ScopeKind::User => Some(Self {
                user_id: name,
                ..Self::default()
            }),
            ScopeKind::Agent => Some(Self {
                agent_id: name.filter(|name| name != NO_OWNER),
                ..Self::default()
            }),
            ScopeKind::Project | ScopeKind::Team | ScopeKind::Room => None,
        }
    }

    /// Those of `self`, with the others of `more`.
    fn with(self, more: &Self) -> Self {
        let more = more.clone();
        Self {
            user_id: self.user_id.or(more.user_id),
            agent_id: self.agent_id.or(more.agent_id),
            app_id: self.app_id.or(more.app_id),
            run_id: self.run_id.or(more.run_id),
        }
    }
}

/// A memory in mem0's form.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Mem0Memory {
    pub(crate) id: String,
    pub(crate) memory: String,
    /// A digest of the text.
    hash: String,
    #[serde(flatten)]
    pub(crate) owners: AllOwners,
    metadata: Map<String, Value>,
    /// What sort of thing it is, in Daybook's words.
    categories: Vec<&'static str>,
    expiration_date: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f64>,
}

/// The owners with those that are none, which clients expect as `null`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AllOwners {
    user_id: Option<String>,
    agent_id: Option<String>,
    app_id: Option<String>,
    pub(crate) run_id: Option<String>,
}

impl Mem0Memory {
    /// `None` for a line of a person's that no observation is behind, and for scopes that mem0 has no word for.
    fn of(memory: &Memory, attributes: &Attributes) -> Option<Self> {
        let observation = memory.observation()?;
        let kept = attributes.of(memory);
        let owners = Owners::of(&memory.scope)?.with(&kept.owners);
        let text = hidden(&memory.words);
        let created = memory.observations.iter().map(|one| one.first_at()).min();
        let created_at = created.and_then(rfc3339);
        Some(Self {
            id: observation.id.to_string(),
            hash: blake3::hash(text.as_bytes()).to_hex()[..32].to_owned(),
            memory: text,
            owners: AllOwners {
                user_id: owners.user_id,
                agent_id: owners.agent_id,
                app_id: owners.app_id,
                run_id: owners.run_id,
            },
            metadata: kept.metadata,
            categories: vec![observation.kind.as_str()],
            expiration_date: kept.expiration_date,
            updated_at: kept.updated_at.or_else(|| created_at.clone()),
            created_at,
            score: None,
        })
    }

    /// Whether its last day lies before `today`, both as `YYYY-MM-DD`.
    fn is_expired(&self, today: &str) -> bool {
        self.expiration_date
            .as_deref()
            .is_some_and(|day| day < today)
    }
}
