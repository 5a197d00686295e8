//! Taking transcripts in: told apart by content, read as a stream, redacted before anything is kept.
//!
//! The way of a file: [`stream`] opens it, [`mod@detect`] says what it is, [`pieces`] cuts it into
//! lines or array elements of bounded size, and a [`Reader`] turns each piece into what it says:
//! sessions, events, titles. Nothing here touches a store, and no piece is ever lost in silence: it
//! yields something, is passed over for a reason written at its kind, or is a [`BadLine`].
//!
//! Without the feature `pipeline` only that last part is here which every event passes on its way into the
//! log, a live thread's too: cut, redacted, made into tokens.
//!
//! Not here: batches, store calls, tokens. The reader hands out text as it was said; redaction
//! follows before anything is kept.

#[cfg(feature = "pipeline")]
pub mod census;
#[cfg(feature = "pipeline")]
pub mod chat;
#[cfg(feature = "pipeline")]
pub mod checkout;
#[cfg(feature = "pipeline")]
pub mod claude;
#[cfg(feature = "pipeline")]
pub mod codex;
#[cfg(feature = "pipeline")]
pub mod detect;
#[cfg(feature = "pipeline")]
pub mod elements;
#[cfg(feature = "pipeline")]
pub mod import;
pub mod indexed;
#[cfg(feature = "pipeline")]
pub mod lines;
#[cfg(feature = "pipeline")]
pub mod parsed;
#[cfg(feature = "pipeline")]
pub mod peek;
#[cfg(feature = "pipeline")]
pub mod pieces;
#[cfg(feature = "pipeline")]
pub mod place;
#[cfg(feature = "pipeline")]
pub mod projects;
pub mod recalled;
pub mod redact;
#[cfg(feature = "pipeline")]
pub mod settle;
#[cfg(feature = "pipeline")]
pub mod stream;
#[cfg(feature = "pipeline")]
pub mod told;

#[cfg(feature = "pipeline")]
mod batches;
#[cfg_attr(
    not(feature = "pipeline"),
    allow(dead_code, reason = "readers use the rest")
)]
pub(crate) mod calls;
#[cfg(feature = "pipeline")]
mod json;
#[cfg_attr(
    not(feature = "pipeline"),
    allow(dead_code, reason = "readers use the rest")
)]
pub(crate) mod kept;
#[cfg_attr(
    not(feature = "pipeline"),
    allow(dead_code, reason = "readers use the rest")
)]
mod lenient;
mod prepared;
pub(crate) mod raw;
#[cfg(feature = "pipeline")]
mod readers;
#[cfg(feature = "pipeline")]
mod sketch;
#[cfg(feature = "pipeline")]
mod squeeze;
#[cfg(feature = "pipeline")]
mod turn;
#[cfg(feature = "pipeline")]
mod when;
#[cfg(feature = "pipeline")]
mod wrappers;

#[cfg(feature = "pipeline")]
#[cfg(test)]
mod checks;
#[cfg(feature = "pipeline")]
#[cfg(test)]
mod fuzz_tests;
#[cfg(feature = "pipeline")]
#[cfg(test)]
pub(crate) mod samples_tests;

#[cfg(feature = "pipeline")]
pub use detect::{ChatShape, Format, detect};
pub use indexed::indexed_tokens;
#[cfg(feature = "pipeline")]
pub use lines::{Line, LineReader, Start, Step};
#[cfg(feature = "pipeline")]
pub use parsed::{BadLine, BadState, Parsed, PullRequest, Reader, SessionHint, Title, TitleOf};
#[cfg(feature = "pipeline")]
pub use pieces::Pieces;
#[cfg(feature = "pipeline")]
pub use place::GitCommonDir;
pub use prepared::prepared;
pub use raw::RawEvent;
#[cfg(feature = "pipeline")]
pub use readers::reader;
