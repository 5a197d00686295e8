//! Opens the reader of a format.

use super::agno::AgnoReader;
use super::chat::ChatReader;
use super::claude::ClaudeReader;
use super::codex::CodexReader;
use super::detect::TranscriptFormat;
use super::format::SessionReader;
use super::gemini::Gemini;
use super::item::{BadState, TranscriptReader};
use super::qwen::Qwen;
use crate::places::folding::GitCommonDir;

/// Opens the reader of a format; `None` if it has none. `state` is the result of
/// [`TranscriptReader::state`] at the place where reading resumes; `name` replaces the session's id if the
/// host gives none; `git` finds common directories of folders that still exist.
pub fn reader<'a>(
    format: &TranscriptFormat,
    name: &str,
    git: GitCommonDir<'a>,
    state: Option<&str>,
) -> Result<Option<Box<dyn TranscriptReader + 'a>>, BadState> {
    Ok(match format {
        TranscriptFormat::Codex => Some(Box::new(CodexReader::new(name, git, state)?)),
        TranscriptFormat::ClaudeCode => Some(Box::new(ClaudeReader::new(name, git, state)?)),
        TranscriptFormat::Chat(_) => Some(Box::new(ChatReader::new(name, git, state)?)),
        TranscriptFormat::Agno(_) => Some(Box::new(AgnoReader::new(name, state)?)),
        TranscriptFormat::Gemini(_) => {
            Some(Box::new(SessionReader::<Gemini>::new(name, git, state)?))
        }
        TranscriptFormat::Qwen => Some(Box::new(SessionReader::<Qwen>::new(name, git, state)?)),
        TranscriptFormat::Unknown(_) => None,
    })
}
