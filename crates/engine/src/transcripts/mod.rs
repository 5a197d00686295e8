//! Reads transcripts: detects their format by content, and parses them as a stream.
//!
//! The way of a file: [`stream`] opens it, [`mod@detect`] finds its format, [`pieces`] cuts it into
//! lines or array elements of bounded size, and a [`TranscriptReader`] turns each piece into items:
//! sessions, events, titles. Nothing here touches a store, and no piece is ever lost in silence: it
//! yields items, is skipped for a reason written at its kind, or is a [`BadLine`].
//!
//! Not here: batches, store calls, tokens. A reader returns text unredacted; redaction follows before
//! anything is stored.

pub mod agno;
pub mod beside;
pub mod census;
pub mod chat;
pub mod claude;
pub mod codex;
pub mod detect;
pub mod elements;
pub mod item;
pub mod lines;
pub mod peek;
pub mod pieces;
pub mod stream;

mod aider;
mod antigravity;
mod blocks;
mod chatgpt;
mod claude_ai;
mod copilot;
mod copilot_chat;
mod crush;
mod cursor;
mod droid;
mod file_uri;
mod format;
mod gemini;
mod genai;
mod goose;
mod grok;
mod hermes;
mod item_writer;
mod json;
mod kimi;
mod langgraph;
mod opencode;
mod pi;
mod qwen;
mod readers;
mod sketch;
mod slack;
mod squeeze;
pub(crate) mod state;
mod turn;
mod when;
mod wrappers;
mod zip;

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod reader_test_support;
#[cfg(test)]
pub(crate) mod samples_tests;

pub use detect::{ChatShape, TranscriptFormat, detect};
pub use item::{
    BadLine, BadState, PullRequest, SessionHint, SessionTitle, TitleTarget, TranscriptItem,
    TranscriptReader,
};
pub use lines::{LineReader, PieceStep, ReadPosition, TranscriptPiece};
pub use pieces::PieceReader;
pub use readers::reader;
pub(crate) use when::read as time_of;
