//! The common form of conversations and questions, for all benchmark formats.

use std::collections::BTreeSet;

use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
use serde::{Deserialize, Serialize};

/// The agent that owns the stored sessions of benchmarks.
const AGENT: &str = "eval";

/// A loaded benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Its name in reports.
    pub name: &'static str,
    /// Conversations, each with the questions about it.
    pub conversations: Vec<BenchmarkConversation>,
    /// Questions and evidence that are not used, with reasons.
    pub left_out: Vec<SkippedItem>,
}

/// A history of sessions with its questions. Each conversation gets a memory of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkConversation {
    /// Its name in reports.
    pub id: String,
    /// Names of its speakers, where the benchmark has them.
    pub participants: Vec<String>,
    /// Its sessions in the benchmark's order.
    pub sessions: Vec<BenchmarkSession>,
    /// Questions about it.
    pub questions: Vec<BenchmarkQuestion>,
}

/// One session of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkSession {
    /// Unique within the conversation.
    pub id: SessionId,
    /// Its turns; each becomes one event, numbered from 1.
    pub turns: Vec<BenchmarkTurn>,
}

/// One message of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkTurn {
    /// The speaker.
    pub speaker: BenchmarkSpeaker,
    /// The time of the message.
    pub at: Timestamp,
    /// The text to store.
    pub text: String,
}

/// The speaker of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchmarkSpeaker {
    /// A person; in a dialogue of two people, both speakers.
    Person,
    /// An agent.
    Assistant,
}

/// How a question counts in the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// In its class and in the total.
    Counted,
    /// In its class alone.
    Apart,
    /// Never discussed: the right answer is that it is not known.
    Abstain,
}

/// What a user's own question may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// For choosing weights and thresholds.
    Tune,
    /// For reporting alone.
    Report,
}

/// One question of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkQuestion {
    /// Unique within its conversation.
    pub id: String,
    /// The question.
    pub text: String,
    /// Its class in the benchmark.
    pub class: String,
    /// The expected answer; empty where the benchmark has none.
    pub answer: String,
    /// Where the answer is. Empty only with [`Counting::Abstain`].
    pub evidence: Vec<EvidencePiece>,
    /// How it counts in the metrics.
    pub counting: Counting,
    /// What it may be used for, if the file states it.
    pub split: Option<Split>,
    /// When it is asked; [`Timestamp::ZERO`] where that does not matter.
    pub asked: Timestamp,
}

impl BenchmarkQuestion {
    /// Whether the event is part of its evidence.
    pub(crate) fn rests_on(&self, event: &EventRef) -> bool {
        self.evidence
            .iter()
            .any(|piece| piece.events.contains(event))
    }
}

/// One piece of evidence: a turn, a range of lines or a session. A result covers it with any of its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidencePiece {
    /// Its name in the benchmark.
    pub label: String,
    /// Its events; never empty.
    pub events: BTreeSet<EventRef>,
    /// Whether it is a whole session, which a result that names no events shows, too.
    pub is_session: bool,
}

/// A reference to one event of a memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventRef {
    /// Its session.
    pub session: SessionId,
    /// Its number in the session.
    pub seq: EventSeq,
}

/// A question, or a piece of its evidence, that the evaluation skips.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedItem {
    /// The conversation.
    pub conversation: String,
    /// The question.
    pub question: String,
    /// The piece of evidence; `None` if the whole question is skipped.
    pub evidence: Option<String>,
    /// The reason.
    pub reason: &'static str,
}

impl EvidencePiece {
    /// The turn at `index` of a session, counted from 0.
    pub(crate) fn turn(label: &str, session: &SessionId, index: usize) -> Self {
        let event = EventRef::turn(session, index);
        Self {
            is_session: false,
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
