//! Where an observation comes from, and how far it is trusted.
//!
//! The origin is decided once, when a draft is filed, and stored with its evidence. Trust follows from the origin alone.
//! What came only from text that the person did not write and the agent did not conclude never becomes an instruction, a
//! preference, a decision or a stated fact: see `ObservationKind::may_come_from`.
//!
//! Not here: which part of a message a person typed; which events state a draft.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::pollution::PollutionRule;
use crate::tool_source::ToolSource;

/// Where an observation comes from; the least trusted first.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ObservationOrigin {
    /// It was stored before origins were recorded.
    #[default]
    Unknown,
    /// Text from the web, or of an MCP server that is not listed as harmless.
    External,
    /// A tool's answer on the agent's machine, or the host's own text.
    Tool,
    /// Text that a person pasted: a mail, a page, a log.
    Pasted,
    /// The agent's prose or work: it concluded it, decided it or did it.
    Concluded,
    /// A person's own words.
    Typed,
}

/// How far an observation is trusted; the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Trust {
    /// Anyone may have written it.
    Untrusted,
    /// It describes what the person or the agent had before them, which others may have written.
    Low,
    /// The agent's own conclusion.
    Medium,
    /// A person's word.
    Full,
}

impl ObservationOrigin {
    /// The variant's name in columns and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The origin of what a tool answered.
    #[must_use]
    pub fn of_tool(name: &str, rule: &PollutionRule) -> Self {
        match ToolSource::of(name) {
            ToolSource::Local => Self::Tool,
            ToolSource::Server(server) if rule.harmless_servers.contains(server) => Self::Tool,
            ToolSource::Web | ToolSource::ToolSearch | ToolSource::Server(_) => Self::External,
        }
    }

    /// The origin of evidence without a recorded one: what a person stated was already known as theirs.
    #[must_use]
    pub fn unrecorded(stated: bool) -> Self {
        match stated {
            true => Self::Typed,
            false => Self::Unknown,
        }
    }

    /// The trust that follows.
    #[must_use]
    pub fn trust(self) -> Trust {
        match self {
            Self::External => Trust::Untrusted,
            Self::Unknown | Self::Tool | Self::Pasted => Trust::Low,
            Self::Concluded => Trust::Medium,
            Self::Typed => Trust::Full,
        }
    }
}

impl Trust {
    /// The variant's name in listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_origin_has_its_trust() {
        let trust = ObservationOrigin::VARIANTS
            .iter()
            .map(|origin| origin.trust());
        assert_eq!(
            trust.collect::<Vec<_>>(),
            [
                Trust::Low,
                Trust::Untrusted,
                Trust::Low,
                Trust::Low,
                Trust::Medium,
                Trust::Full,
            ]
        );
    }
}
