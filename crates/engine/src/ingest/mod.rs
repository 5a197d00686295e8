//! Taking transcripts in: told apart by content, read as a stream, redacted before anything is kept.
//!
//! The way of a file: [`stream`] opens it, [`detect`] says what it is, [`pieces`] cuts it into
//! lines or array elements of bounded size, and a [`Reader`] turns each piece into what it says:
//! sessions, events, titles. Nothing here touches a store, and no piece is ever lost in silence: it
//! yields something, is passed over for a reason written at its kind, or is a [`BadLine`].
//!
//! Not here: batches, store calls, tokens. The reader hands out text as it was said; redaction
//! follows before anything is kept.

pub mod census;
pub mod chat;
pub mod checkout;
pub mod claude;
pub mod codex;
pub mod detect;
pub mod elements;
pub mod import;
pub mod indexed;
pub mod lines;
pub mod parsed;
pub mod peek;
pub mod pieces;
pub mod place;
pub mod projects;
pub mod recalled;
pub mod redact;
pub mod settle;
pub mod stream;
pub mod told;

pub(crate) mod calls;
mod json;
pub(crate) mod kept;
mod lenient;
mod prepared;
mod sketch;
mod squeeze;
mod turn;
mod when;
mod wrappers;

#[cfg(test)]
mod checks;
#[cfg(test)]
mod samples_tests;

pub use detect::{ChatShape, Format, detect};
pub use indexed::indexed_tokens;
pub use lines::{Line, LineReader, Start, Step};
pub use parsed::{
    BadLine, BadState, Parsed, PullRequest, RawEvent, Reader, SessionHint, Title, TitleOf, reader,
};
pub use pieces::Pieces;
pub use place::GitCommonDir;
pub use prepared::prepared;
