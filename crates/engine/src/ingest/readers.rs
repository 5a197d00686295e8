//! Which reader reads a format.

use super::chat::ChatReader;
use super::claude::ClaudeReader;
use super::codex::CodexReader;
use super::detect::Format;
use super::parsed::{BadState, Reader};
use super::place::GitCommonDir;

/// The reader for a format; `None` where there is none. `state` is what [`Reader::state`] said at
/// the place where reading goes on; `name` stands for the session's id where the host gives none;
/// `git` finds common directories of folders that still exist.
pub fn reader<'a>(
    format: &Format,
    name: &str,
    git: GitCommonDir<'a>,
    state: Option<&str>,
) -> Result<Option<Box<dyn Reader + 'a>>, BadState> {
    Ok(match format {
        Format::Codex => Some(Box::new(CodexReader::new(name, git, state)?)),
        Format::ClaudeCode => Some(Box::new(ClaudeReader::new(name, git, state)?)),
        Format::Chat(_) => Some(Box::new(ChatReader::new(name, git, state)?)),
        Format::Unknown(_) => None,
    })
}
