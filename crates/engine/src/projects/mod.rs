//! Which project each folder belongs to.
//!
//! [`output_evidence`] reads evidence off the outputs of commands; [`mod@assign`] decides the project, as a pure function
//! of all evidence; [`settle`] compares the result with the store. [`moved_sessions`] names the folders of sessions that a
//! person moved to another project.
//!
//! Not here: moving observations along with a folder (`jobs`).

pub mod assign;
pub mod moved_sessions;
pub mod output_evidence;
pub mod settle;
mod worktrees;
