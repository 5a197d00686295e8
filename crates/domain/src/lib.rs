//! What is true in Daybook: ids, events, jobs with their legal transitions, and the seams.
//!
//! Everything here is a value or a pure function of values and a given `now`. Stores keep
//! these values, workers act on them, and tests can check every rule without a database.
//!
//! Not here: input or output, a clock, SQL, HTTP, the name of a vendor.

pub mod calendar;
pub mod citation;
pub mod claim;
pub mod descriptor;
pub mod eligibility;
pub mod entity;
pub mod error;
pub mod event;
pub mod extraction;
pub mod failure;
pub mod ids;
pub mod index;
pub mod job;
pub mod limits;
pub mod model;
pub mod observation;
pub mod place;
pub mod price;
pub mod seams;
pub mod session;
pub mod source;
pub mod spend;
pub mod standing;
pub mod tally;
pub mod time;
pub mod tree;
pub mod trigger;
pub mod vector;
pub mod working;

pub use citation::Citation;
pub use claim::{Claim, ClaimLimits};
pub use descriptor::Descriptor;
pub use entity::{EntityChange, EntityWrite, Staged};
pub use error::{BoxError, StoreError};
pub use event::{Event, EventId, NewEvent, Origin, ToolStatus};
pub use extraction::{Digest, Extraction, ExtractionRecord, Outcome, Yield};
pub use failure::{FailedTry, Failure, FailureClass, Gap, Retry, Wait};
pub use ids::{EventSeq, JobKey, JobKind, LeaseToken, Scope, ScopeKind, SessionId, Tenant};
pub use job::{Claimed, FailOutcome, FinishOutcome, Job, Lease};
pub use observation::{Evidence, Observation, ObservationId, ObservationKind};
pub use place::{Place, PlaceNo, Project, RemoteCount, RemoteEvidence, RemoteSource, RootRecord};
pub use price::{Money, Price, PriceTable};
pub use session::{Session, SessionKind, SessionMeta};
pub use standing::Standing;
pub use tally::{Tallied, Tally};
pub use time::Timestamp;
pub use tree::{ObjectKind, ObjectName, TreeHead, TreeObject};
pub use trigger::{Mark, Priority, Trigger};
