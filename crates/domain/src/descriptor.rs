//! Agents that work for other agents, and their keys (Daycare's descriptors, D52).
//!
//! Not here: what they do, and with which tools.

use serde::{Deserialize, Serialize};

const MEMORY_AGENT: &str = "/memory-agent/";

/// Which agent it is: `{"type":"memory-agent","id":"<source agent>"}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Descriptor {
    /// The memory of another agent.
    MemoryAgent {
        /// The source agent: the one whose sessions it is shown.
        id: String,
    },
}

impl Descriptor {
    /// The memory agent of a source agent.
    #[must_use]
    pub fn memory_of(source: &str) -> Self {
        Self::MemoryAgent {
            id: source.to_owned(),
        }
    }

    /// The key it is stored under, and the agent name of its own sessions: `/memory-agent/<source agent>`.
    #[must_use]
    pub fn cache_key(&self) -> String {
        match self {
            Self::MemoryAgent { id } => format!("{MEMORY_AGENT}{id}"),
        }
    }

    /// The memory agent with this key; `None` for other agents' names.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        let id = key.strip_prefix(MEMORY_AGENT)?;
        (!id.is_empty()).then(|| Self::memory_of(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d52_a_memory_agent_is_known_by_its_source() {
        let agent = Descriptor::memory_of("main");
        let json = r#"{"type":"memory-agent","id":"main"}"#;
        assert_eq!(serde_json::to_string(&agent).unwrap(), json);
        assert_eq!(serde_json::from_str::<Descriptor>(json).unwrap(), agent);
        assert_eq!(agent.cache_key(), "/memory-agent/main");
        assert_eq!(Descriptor::of_key("/memory-agent/main"), Some(agent));
        assert_eq!(Descriptor::of_key("/memory-agent/"), None);
        assert_eq!(Descriptor::of_key("main"), None);
    }
}
