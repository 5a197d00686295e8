//! What a rescan reads of a session, and what it puts in its place.
//!
//! Texts are redacted before they are stored. When the rules improve, what was stored before is read again, and what
//! the present rules hide is replaced.
//!
//! Not here: the rules (`daybook_text::redact`), the job that applies them (`engine`).

use strum::VariantArray;

use crate::event::Event;
use crate::ids::Scope;
use crate::observation::{ObservationId, ObservationKind};
use crate::rules::RulesRevision;

/// A kind of text that is stored beside a session's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, VariantArray)]
pub enum TextField {
    /// The host id of the session it was forked from.
    ForkedFrom,
    /// Whose words its human events are.
    User,
    /// Where it was held.
    Surface,
    /// The room that the session is held in.
    RoomId,
    /// The thread of the room.
    ThreadId,
    /// The team that holds the session.
    Team,
    /// The scope that the caller named for what is learned from it.
    FiledIn,
    /// The path of the file that it was first read from.
    FirstSource,
    /// What a host keeps with the session's thread, as JSON.
    ThreadCustom,
    /// The path of a transcript.
    SourcePath,
    /// Why a line of a transcript could not be read.
    SourceBadLine,
    /// The state of a transcript's reader.
    SourceState,
    /// Why the last import of a transcript failed.
    SourceFailure,
    /// The host id that a transcript claims.
    SourceClaimedId,
    /// [`TextField::SourcePath`] before an import.
    ImportedPath,
    /// [`TextField::SourceBadLine`] before an import.
    ImportedBadLine,
    /// [`TextField::SourceState`] before an import.
    ImportedState,
    /// [`TextField::SourceFailure`] before an import.
    ImportedFailure,
    /// [`TextField::SourceClaimedId`] before an import.
    ImportedClaimedId,
    /// What an import of the session was asked to read.
    ImportWhat,
    /// A folder of which the session showed the remote.
    RemoteRoot,
    /// The remote of a folder. One with a secret is deleted, since it shows no project.
    RemoteName,
    /// A digest, as JSON.
    Digest,
    /// Staged writes, as JSON.
    StagedWrites,
    /// Quarantined observations, as JSON.
    Quarantined,
    /// The text of an observation that a person took back.
    Retraction,
    /// The root of the place where it was observed.
    RetractionRoot,
    /// Why the session's extraction failed last.
    JobFailure,
    /// Why a range of the session was given up.
    GapFailure,
}

/// A piece of evidence with the words of its observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvidence {
    /// Its number in its store.
    pub no: i64,
    /// The scope of its observation.
    pub scope: Scope,
    /// The observation's kind.
    pub kind: ObservationKind,
    /// The observation's identity.
    pub id: ObservationId,
    /// What is to be known.
    pub text: String,
    /// What makes it understandable.
    pub context: Option<String>,
    /// What the value is of.
    pub subject: Option<String>,
    /// The branch that was worked on.
    pub branch: Option<String>,
    /// The place's root.
    pub root: Option<String>,
}

/// All texts that are stored beside a session's events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionTexts {
    /// Evidence of observations.
    pub evidence: Vec<StoredEvidence>,
    /// The other texts, each once.
    pub texts: Vec<(TextField, String)>,
}

/// An event with what its session's thread keeps beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// The event of the session's log.
    pub event: Event,
    /// What the thread keeps beside it, if the session has one.
    pub entry: Option<String>,
}

/// An event with a secret, and what is stored in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRewrite {
    /// The event as it was read. One that differs by now stays.
    pub before: StoredEvent,
    /// The event as it is stored now.
    pub after: StoredEvent,
    /// What the index keeps of it.
    pub tokens: String,
}

/// Evidence with a secret, and what is stored in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceRewrite {
    /// The evidence as it was read. One that differs by now stays.
    pub before: StoredEvidence,
    /// The evidence as it is stored now, with its new identity, in the same scope.
    pub after: StoredEvidence,
    /// What the index keeps of it.
    pub tokens: String,
}

/// A text with a secret, and what is stored in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRewrite {
    /// Which text.
    pub field: TextField,
    /// The text as it was read.
    pub before: String,
    /// The text that is stored now.
    pub after: String,
}

/// What a rescan changes beside a session's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRewrite {
    /// The rules that were applied.
    pub rules: RulesRevision,
    /// Evidence of observations.
    pub evidence: Vec<EvidenceRewrite>,
    /// Other texts.
    pub texts: Vec<TextRewrite>,
    /// Scopes to raise beside those of the evidence, if anything is changed.
    pub concerns: Vec<Scope>,
}
