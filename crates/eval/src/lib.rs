//! Measures how well recall finds messages: on public benchmarks, and on questions that users write.
//!
//! Every benchmark is loaded into a [`Dataset`]. Each of its conversations is appended to a fresh memory through the same
//! functions as an agent's messages, its questions are asked through the same recall, and the results are compared with
//! the evidence that the benchmark names. Simple baselines answer the same questions in the same run.
//!
//! [`changes`] measures how memory keeps up with statements that later ones end, [`statements`] what is kept of messages,
//! [`people`] what is shown of whole histories, [`threads`] what a thread keeps of what a person insisted on.
//!
//! Not here: opening a database, printing, and any rule of recall.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests use this machine's clock, folders and processes"
    )
)]

mod ask;
mod baseline;
mod bm25;
mod calibrate;
#[cfg(test)]
mod case_memory;
pub mod changes;
mod confidence;
mod dataset;
mod end_to_end;
mod error;
mod ingest;
pub mod load;
mod metrics;
mod misses;
pub mod people;
mod report;
mod run;
pub mod statements;
pub mod threads;

pub use ask::{MemoryFiles, RecallOptions, VectorOption};
pub use calibrate::{Calibration, calibrate};
pub use confidence::{ConfidenceReport, Unanswerable};
pub use dataset::{
    BenchmarkConversation, BenchmarkQuestion, BenchmarkSession, BenchmarkSpeaker, BenchmarkTurn,
    Counting, Dataset, EventRef, EvidencePiece, SkippedItem, Split,
};
pub use end_to_end::{AnswerRecord, AnswerReport, EndToEndModels, Share};
pub use error::EvalError;
pub use ingest::{extract_and_consolidate, import_transcripts};
pub use metrics::{RetrievalMetrics, RetrievalOutcome, SharedWords};
pub use misses::{Miss, MissReason, misses};
pub use report::{
    AbstentionReport, EvalReport, ForeignRecord, QuestionRecord, SystemOutcome, SystemReport,
};
pub use run::{FreshMemory, run, run_stored};
