//! Texts on their way into a log: secrets out, cut to size, made into tokens.
//!
//! The pipeline and working memory share these steps, so that an event reads the same whichever way it came.
//! [`prepare_event`] is the last step of every event before the log: [`redact`] hides secrets in its text, [`names`] in
//! the names of folders, tools and sessions, [`rescan`] in what was stored before, [`cut`] bounds the length, [`tokens`] makes it searchable. [`fence`]
//! keeps text in its place wherever it is shown, and [`recalled`] takes Daybook's own out again. [`instruction`] recognises text
//! that gives orders, [`pasted`] what a person did not type, [`wishes`] which sentences outlive their message, by the cue words of
//! [`lexicon`]. [`calls`] words tool calls, [`mentions`] finds citations, [`citation_block`] those of Codex's agents,
//! [`lenient`] reads JSON whose writers we do not control, [`prompt`] loads prompts.
//!
//! Not here: transcript formats, stores, models.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests use this machine's clock, folders and processes"
    )
)]

pub mod calls;
pub mod citation_block;
pub mod cut;
pub mod digits;
pub mod fence;
mod german_months;
pub mod han;
pub mod indexed;
mod inline_list;
pub mod instruction;
pub mod lazy_pattern;
pub mod lenient;
pub mod lexicon;
pub mod mentions;
pub mod names;
pub mod pasted;
pub mod prompt;
pub mod prose;
pub mod quotation;
pub mod raw;
pub mod recalled;
pub mod redact;
pub mod rescan;
pub mod sentences;
pub mod tokens;
pub mod wishes;

mod pattern_set;
mod prepare;
mod review;

pub use indexed::indexed_tokens;
pub use prepare::prepare_event;
pub use raw::{RawEvent, Via};
