//! What a model proposed for a scope's memory: statements that say the same, clearer words, what no longer holds.
//!
//! A proposal names the observations that it rests on, each with a digest of its content. It is void as soon as one of
//! them has other content or is gone, so a memory that is built from observations and proposals needs no model.
//!
//! Not here: which proposals are sound, and what they do to a memory (`consolidate::proposals` of the engine).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::EventId;
use crate::observation::{Observation, ObservationId};
use crate::selection::SelectedSession;
use crate::supersession::SupersessionReason;
use crate::time::Timestamp;

/// A hash of an observation's content: kind, text, context and subject. Evidence does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StatementDigest(pub u64);

impl StatementDigest {
    /// The digest of an observation.
    #[must_use]
    pub fn of(observation: &Observation) -> Self {
        let optional = |text: &Option<String>| text.clone().unwrap_or_default();
        let id = EventId::of(&[
            observation.kind.as_str().as_bytes(),
            observation.text.as_bytes(),
            optional(&observation.context).as_bytes(),
            optional(&observation.subject).as_bytes(),
        ]);
        Self((id.0 & u128::from(u64::MAX)) as u64)
    }
}

/// An observation with exactly the content that a proposal rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StatementRef {
    /// The observation.
    pub id: ObservationId,
    /// Its content.
    pub digest: StatementDigest,
}

impl StatementRef {
    /// The statement of an observation.
    #[must_use]
    pub fn of(observation: &Observation) -> Self {
        Self {
            id: observation.id,
            digest: StatementDigest::of(observation),
        }
    }
}

/// An accepted proposal of a model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proposal {
    /// The statements say the same, in other words. The first one's words are shown.
    Merge(Vec<StatementRef>),
    /// The statement is shown in clearer words.
    Reword {
        /// The statement.
        statement: StatementRef,
        /// The words.
        text: String,
    },
    /// A later statement ends the validity of an earlier one.
    Supersede {
        /// What no longer holds.
        earlier: StatementRef,
        /// What ended its validity.
        later: StatementRef,
        /// Why.
        reason: SupersessionReason,
    },
    /// The consolidation agent's own line, which stands on a page of its own text.
    Line(AgentLine),
}

/// A line that the consolidation agent wrote, and the statements that it rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AgentLine {
    /// Where it stands.
    pub page: AgentPage,
    /// The line, without citations: those follow from the statements.
    pub text: String,
    /// What it rests on; never empty.
    pub statements: Vec<StatementRef>,
}

/// Where a line of the consolidation agent stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentPage {
    /// The handbook, a section of `MEMORY.md`.
    Handbook,
    /// The same section of `memory_summary.md`.
    Summary,
    /// A skill: a procedure that worked more than once.
    Skill {
        /// The name of its folder: lower-case letters, digits and `-`, at most 64.
        name: String,
        /// Its heading.
        title: String,
    },
}

/// What the consolidation agent has read, and how its last run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentRecord {
    /// Statements that its last success read, with what it was shown of each.
    pub examined: BTreeMap<ObservationId, StatementDigest>,
    /// The sessions that were selected then, where sessions are selected.
    pub selected: Vec<SelectedSession>,
    /// A digest of a person's own lines that it was shown.
    pub persons: u64,
    /// The commit of the memory's files that it was shown last.
    pub commit: Option<String>,
    /// Lines wait to be written, or statements to be read: the next consolidation does not rest.
    pub is_due: bool,
    /// Runs since the last success that failed for what the agent did.
    pub failures: u32,
    /// The last of them; `None` after a success.
    pub failed: Option<AgentFailure>,
}

/// A run of the consolidation agent that failed. Its inputs are still pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentFailure {
    /// When.
    pub at: Timestamp,
    /// Why, for a person.
    pub reason: String,
    /// A digest of the inputs: other inputs are a reason to run again.
    pub inputs: u64,
}

impl Proposal {
    /// The statements that it rests on.
    #[must_use]
    pub fn statements(&self) -> Vec<StatementRef> {
        match self {
            Self::Merge(statements) => statements.clone(),
            Self::Reword { statement, .. } => vec![*statement],
            Self::Supersede { earlier, later, .. } => vec![*earlier, *later],
            Self::Line(line) => line.statements.clone(),
        }
    }
}

/// What a model was asked about a scope, and what of its answers was accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalRecord {
    /// Statements that a model was asked about: with this content they are not new to it.
    pub examined: BTreeMap<ObservationId, StatementDigest>,
    /// Accepted proposals, in the order of their acceptance.
    pub accepted: Vec<Proposal>,
    /// Further windows wait to be asked about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// The consolidation agent's part; its lines are among the accepted proposals.
    #[serde(default, skip_serializing_if = "AgentRecord::is_empty")]
    pub agent: AgentRecord,
}

impl AgentRecord {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ProposalRecord {
    /// The lines of the consolidation agent, in their order.
    pub fn agent_lines(&self) -> impl Iterator<Item = &AgentLine> {
        self.accepted.iter().filter_map(|proposal| match proposal {
            Proposal::Line(line) => Some(line),
            Proposal::Merge(_) | Proposal::Reword { .. } | Proposal::Supersede { .. } => None,
        })
    }

    /// Replaces the lines of the consolidation agent.
    pub fn set_agent_lines(&mut self, lines: Vec<AgentLine>) {
        self.accepted
            .retain(|proposal| !matches!(proposal, Proposal::Line(_)));
        self.accepted.extend(lines.into_iter().map(Proposal::Line));
    }

    /// Whether a model was asked about exactly this statement.
    #[must_use]
    pub fn has_examined(&self, statement: StatementRef) -> bool {
        self.examined.get(&statement.id) == Some(&statement.digest)
    }

    /// Drops what concerns statements that are not among `current` ones: it is void for good.
    pub fn retain_current(&mut self, current: &BTreeMap<ObservationId, StatementDigest>) {
        let is_current =
            |id: &ObservationId, digest: &StatementDigest| current.get(id) == Some(digest);
        self.examined.retain(|id, digest| is_current(id, digest));
        self.accepted.retain(|proposal| {
            let mut statements = proposal.statements().into_iter();
            statements.all(|one| is_current(&one.id, &one.digest))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(id: u64, digest: u64) -> StatementRef {
        StatementRef {
            id: ObservationId(id),
            digest: StatementDigest(digest),
        }
    }

    #[test]
    fn what_rests_on_other_content_is_dropped() {
        let reword = |id, digest| Proposal::Reword {
            statement: statement(id, digest),
            text: "Use tabs".to_owned(),
        };
        let mut record = ProposalRecord {
            examined: [1, 2, 3]
                .map(|id| (ObservationId(id), StatementDigest(7)))
                .into(),
            accepted: vec![
                reword(1, 7),
                reword(2, 7),
                Proposal::Merge(vec![statement(1, 7), statement(3, 7)]),
            ],
            ..ProposalRecord::default()
        };
        let current = [
            (ObservationId(1), StatementDigest(7)),
            (ObservationId(2), StatementDigest(8)),
        ];
        record.retain_current(&current.into());
        assert_eq!(record.accepted, [reword(1, 7)]);
        assert!(record.has_examined(statement(1, 7)));
        assert!(!record.has_examined(statement(2, 8)) && !record.has_examined(statement(3, 7)));
        let text = serde_json::to_string(&record).expect("a record serializes");
        assert_eq!(
            serde_json::from_str::<ProposalRecord>(&text).expect("it is read back"),
            record
        );
    }
}
