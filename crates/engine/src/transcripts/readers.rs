//! Opens the reader of a format.

use super::agno::AgnoReader;
use super::aider::Aider;
use super::antigravity::Antigravity;
use super::chat::ChatReader;
use super::chatgpt::ChatGpt;
use super::claude::ClaudeReader;
use super::claude_ai::ClaudeAi;
use super::codex::CodexReader;
use super::copilot::Copilot;
use super::copilot_chat::CopilotChat;
use super::crush::Crush;
use super::cursor::Cursor;
use super::detect::TranscriptFormat;
use super::droid::Droid;
use super::format::{SessionFormat, SessionReader};
use super::gemini::Gemini;
use super::goose::Goose;
use super::grok::Grok;
use super::hermes::Hermes;
use super::item::{BadState, TranscriptReader};
use super::kimi::Kimi;
use super::langgraph::LangGraph;
use super::opencode::OpenCode;
use super::pi::Pi;
use super::qwen::Qwen;
use super::slack::Slack;
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
    match format {
        TranscriptFormat::Codex => Ok(Some(Box::new(CodexReader::new(name, git, state)?))),
        TranscriptFormat::ClaudeCode => Ok(Some(Box::new(ClaudeReader::new(name, git, state)?))),
        TranscriptFormat::Chat(_) => Ok(Some(Box::new(ChatReader::new(name, git, state)?))),
        TranscriptFormat::Agno(_) => Ok(Some(Box::new(AgnoReader::new(name, state)?))),
        TranscriptFormat::Gemini(_) => open::<Gemini>(name, git, state),
        TranscriptFormat::Qwen => open::<Qwen>(name, git, state),
        TranscriptFormat::Copilot => open::<Copilot>(name, git, state),
        TranscriptFormat::CopilotChat(_) => open::<CopilotChat>(name, git, state),
        TranscriptFormat::Cursor => open::<Cursor>(name, git, state),
        TranscriptFormat::OpenCode(_) => open::<OpenCode>(name, git, state),
        TranscriptFormat::ChatGpt(_) => open::<ChatGpt>(name, git, state),
        TranscriptFormat::ClaudeAi(_) => open::<ClaudeAi>(name, git, state),
        TranscriptFormat::Pi => open::<Pi>(name, git, state),
        TranscriptFormat::Droid => open::<Droid>(name, git, state),
        TranscriptFormat::Kimi => open::<Kimi>(name, git, state),
        TranscriptFormat::Grok => open::<Grok>(name, git, state),
        TranscriptFormat::Antigravity => open::<Antigravity>(name, git, state),
        TranscriptFormat::Goose => open::<Goose>(name, git, state),
        TranscriptFormat::Hermes(_) => open::<Hermes>(name, git, state),
        TranscriptFormat::Aider => open::<Aider>(name, git, state),
        TranscriptFormat::Crush => open::<Crush>(name, git, state),
        TranscriptFormat::LangGraph => open::<LangGraph>(name, git, state),
        TranscriptFormat::Slack(_) => open::<Slack>(name, git, state),
        TranscriptFormat::Unknown(_) => Ok(None),
    }
}

fn open<'a, F: SessionFormat + 'a>(
    name: &str,
    git: GitCommonDir<'a>,
    state: Option<&str>,
) -> Result<Option<Box<dyn TranscriptReader + 'a>>, BadState> {
    Ok(Some(Box::new(SessionReader::<F>::new(name, git, state)?)))
}
