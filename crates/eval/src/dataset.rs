//! Conversations and questions in one form, whatever file they were loaded from.

use std::collections::BTreeSet;

use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
use serde::{Deserialize, Serialize};

/// The agent in whose name conversations of benchmarks are stored.
const AGENT: &str = "eval";

/// A benchmark, loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Its name in reports.
    pub name: &'static str,
    /// Conversations, each with the questions about it.
    pub conversations: Vec<Conversation>,
    /// Questions and evidence that are not used, and why.
    pub left_out: Vec<LeftOut>,
}

/// One history, and the questions that are asked about it. It has a memory of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// Its name in reports.
    pub id: String,
    /// Names of the people who talk, where the benchmark gives them.
    pub participants: Vec<String>,
    /// Its sessions, in the benchmark's order.
    pub sessions: Vec<BenchmarkSession>,
    /// Questions about it.
    pub questions: Vec<BenchmarkQuestion>,
}

/// One session.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkSession {
    /// Unique within the conversation.
    pub id: SessionId,
    /// Its turns; each becomes one event, the first with the number 1.
    pub turns: Vec<BenchmarkTurn>,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkTurn {
    /// Who speaks.
    pub speaker: Speaker,
    /// When.
    pub at: Timestamp,
    /// The text that is remembered.
    pub text: String,
}

/// Who speaks in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// A person. In a dialogue of two people both are.
    Person,
    /// An agent.
    Assistant,
}

/// How a question enters the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// In its class and in the total.
    Counted,
    /// In its class alone.
    Apart,
    /// Nothing was said about it: the right answer is that it is not known.
    Abstain,
}

/// What a question of one's own may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// For choosing weights and thresholds.
    Tune,
    /// For reporting alone.
    Report,
}

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkQuestion {
    /// Unique within its conversation.
    pub id: String,
    /// The question.
    pub text: String,
    /// The benchmark's class of it.
    pub class: String,
    /// The expected answer in words; empty where the benchmark gives none.
    pub answer: String,
    /// Where the answer is found. Never empty, except where [`Counting::Abstain`] applies.
    pub evidence: Vec<EvidencePiece>,
    /// How it enters the figures.
    pub counting: Counting,
    /// What it may be used for, where the file says so.
    pub split: Option<Split>,
}

/// One piece of evidence: a turn, a stretch of lines or a session. A result that shows any of its events
/// shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidencePiece {
    /// As the benchmark names it.
    pub label: String,
    /// Its events; never empty.
    pub events: BTreeSet<EventRef>,
}

/// One event of a memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventRef {
    /// Its session.
    pub session: SessionId,
    /// Its place there.
    pub seq: EventSeq,
}

/// A question, or a piece of its evidence, that is not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The conversation.
    pub conversation: String,
    /// The question.
    pub question: String,
    /// The piece of evidence; `None` when the whole question is left out.
    pub evidence: Option<String>,
    /// Why.
    pub reason: &'static str,
}

impl EvidencePiece {
    /// The turn at `index` of a session, counted from 0.
    pub(crate) fn turn(label: &str, session: &SessionId, index: usize) -> Self {
        let event = EventRef::turn(session, index);
        Self {
            label: label.to_owned(),
            events: BTreeSet::from([event]),
        }
    }
}

impl EventRef {
    /// The event that the turn at `index`, counted from 0, becomes.
    pub(crate) fn turn(session: &SessionId, index: usize) -> Self {
        Self {
            session: session.clone(),
            seq: EventSeq(index as u64 + 1),
        }
    }
}

/// The identity under which a benchmark's session is stored.
pub(crate) fn session_id(host_id: String) -> SessionId {
    SessionId {
        tenant: Tenant::local(),
        agent: AGENT.to_owned(),
        host_id,
    }
}
