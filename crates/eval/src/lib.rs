//! Measures how well recall finds what was said: on public benchmarks, and on questions of one's own.
//!
//! A benchmark is loaded into [`Dataset`], a form that all of them share. Each of its conversations is
//! appended to a fresh memory through the same functions as an agent's own words, its questions are asked
//! through the same recall, and the results are compared with the evidence that the benchmark names.
//! Simple baselines answer the same questions in the same run.
//!
//! Not here: opening a database, printing, and any rule of recall. This crate only measures.

mod ask;
mod baseline;
mod bm25;
mod calibrate;
mod confidence;
mod dataset;
mod end_to_end;
mod error;
mod ingest;
pub mod load;
mod metrics;
mod report;
mod run;

pub use ask::{Asking, Vectors};
pub use calibrate::{Calibration, calibrate};
pub use confidence::{ConfidenceReport, Unanswerable};
pub use dataset::{
    BenchmarkQuestion, BenchmarkSession, BenchmarkTurn, Conversation, Counting, Dataset, EventRef,
    EvidencePiece, LeftOut, Speaker, Split,
};
pub use end_to_end::{AnswerRecord, AnswerReport, EndToEnd, Share};
pub use error::EvalError;
pub use ingest::import_transcripts;
pub use metrics::{Figures, Outcome};
pub use report::{
    AbstentionReport, ForeignRecord, QuestionRecord, Report, SystemOutcome, SystemReport,
};
pub use run::{FreshMemory, run, run_stored};
