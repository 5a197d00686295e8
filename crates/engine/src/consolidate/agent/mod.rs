//! The consolidation agent: what it is shown, what it may change, and what of it is merged.
//!
//! A model edits a private copy of a memory folder with file tools. The copy is a map in memory, so there is no path that
//! leads out of it, no link and no race. What it wrote is read back as lines that cite statements, and is all sound or
//! all thrown away. Accepted lines are stored beside a model's proposals, with the statements that they rest on, and are
//! an input of the build like any other: a line stands on its page as long as all of its statements hold.
//!
//! Not here: asking the model, leases, failures (`jobs`), reading the folder (`files`).

mod inputs;
mod lines;
mod pages;
mod prompt;
mod session;
mod statements;
mod tools;
mod validation;
mod workspace;

#[cfg(test)]
mod tests;

pub(super) use pages::AgentPages;
pub use prompt::{AgentMode, AgentQuestion, SelectionChange};
pub use session::AgentSession;
pub use statements::AgentStatements;
pub use workspace::CopiedFiles;

/// The heading of the agent's section of a page.
pub const HANDBOOK: &str = "Handbook";
/// Most lines of the handbook in `MEMORY.md`.
const HANDBOOK_LINES: usize = 40;
/// Most lines of the handbook in `memory_summary.md`.
const SUMMARY_LINES: usize = 8;
/// Most skills.
const SKILLS: usize = 16;
/// Fewest and most steps of a skill.
const STEPS: (usize, usize) = (2, 20);
/// Fewest sessions that ended well and that a skill cites.
const SKILL_SESSIONS: usize = 2;
/// Longest file that the agent may write, in bytes: 64 KiB.
const FILE_BYTES: usize = 64 * 1024;

/// `MEMORY.md`, in the copy as in the folder.
const CURATED: &str = "MEMORY.md";
/// `memory_summary.md`, in the copy as in the folder.
const SUMMARY: &str = "memory_summary.md";
