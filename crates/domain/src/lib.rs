//! What is true in Daybook: ids, events, jobs with their legal transitions, and the seams.
//!
//! Everything here is a value or a pure function of values and a given `now`. Stores keep
//! these values, workers act on them, and tests can check every rule without a database.
//!
//! Not here: input or output, a clock, SQL, HTTP, the name of a vendor.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests use this machine's clock, folders and processes"
    )
)]

pub mod calendar;
pub mod caller;
pub mod citation;
pub mod claim;
pub mod descriptor;
mod dot;
pub mod eligibility;
pub mod entity;
pub mod error;
pub mod event;
pub mod extraction;
pub mod failure;
pub mod ids;
pub mod index;
pub mod index_words;
pub mod job;
pub mod job_status;
pub mod limits;
pub mod model;
pub mod nearest;
pub mod observation;
pub mod packed_signs;
pub mod page;
pub mod place;
pub mod pollution;
pub mod price;
pub mod proposals;
pub mod purge;
pub mod quarantine;
pub mod record;
pub mod rescan;
pub mod rules;
pub mod seams;
pub mod selection;
pub mod session;
pub mod session_group;
pub mod source;
pub mod spend;
pub mod spend_forecast;
pub mod supersession;
pub mod tally;
pub mod team;
pub mod time;
pub mod tool_source;
pub mod tree;
pub mod trigger;
pub mod trust;
pub mod uses;
pub mod vector;
pub mod venue;
pub mod working;

#[cfg(test)]
mod stored_words_tests;

pub use caller::{Caller, Reach, ScopePolicy};
pub use citation::Citation;
pub use claim::{Claim, ClaimLimits};
pub use descriptor::Descriptor;
pub use entity::{EntityChange, EntityWrite, StagedEntityWrite};
pub use error::{BoxError, StoreError};
pub use event::{EXPIRED_EVENT, Event, NewEvent, Origin, ToolStatus};
pub use extraction::{
    Digest, Extraction, ExtractionRecord, FallbackFor, HabitualRequest, Outcome, Provenance, Yield,
};
pub use failure::{FailedTry, Failure, FailureClass, Gap, RetryPolicy, RetryWait, jobs_to_revive};
pub use ids::{
    EventId, EventSeq, JobKey, JobKind, LeaseToken, Scope, ScopeKind, SessionId, Tenant,
};
pub use job::{ClaimedJob, FailOutcome, FinishOutcome, Job, Lease};
pub use job_status::JobStatus;
pub use observation::{Evidence, Observation, ObservationId, ObservationKind};
pub use page::{Page, PageRequest};
pub use place::{Place, PlaceNo, Project, RemoteCount, RemoteEvidence, RemoteSource, RootRecord};
pub use pollution::{Pollution, PollutionCause, PollutionRule};
pub use price::{Money, Price, PriceTable};
pub use proposals::{
    AgentFailure, AgentLine, AgentPage, AgentRecord, Proposal, ProposalRecord, StatementDigest,
    StatementRef,
};
pub use purge::{PurgeKey, PurgedEvents, SeqRange, Tombstone};
pub use record::{BadRecordLine, RecordKey, RecordKind, StaleRecord};
pub use rules::RulesRevision;
pub use selection::{
    ExtractionSnapshot, SelectedSession, SelectionDiff, SelectionLimits, SelectionRecord,
    SessionCandidate,
};
pub use session::{Session, SessionKind, SessionMeta};
pub use session_group::{LearnedState, SessionGroup, group_sessions};
pub use supersession::{KnownObservation, SupersededObservation, Supersession, SupersessionReason};
pub use tally::{Tally, TallyKind};
pub use team::{Team, Teams};
pub use time::Timestamp;
pub use tree::{ObjectKind, ObjectName, TreeHead, TreeObject};
pub use trigger::{DueMark, Priority, Trigger};
pub use trust::{ObservationOrigin, Trust};
pub use uses::{Use, UseKind, UsedBy};
pub use venue::Venue;
