//! Detects a transcript's format by its content, never by its name.
//!
//! Each of the first lines is sketched: the keys of its outermost object and the few values that
//! matter. The first line that is evidence of a format decides. Detection reads a bounded number of
//! bytes, so a line that is cut off is evaluated as far as it goes.
//!
//! Not here: reading. A file of another agent is recognised only to be named in the report.

use serde::de::{Deserializer, IgnoredAny};
use strum::IntoStaticStr;

use super::sketch::{FirstOf, Sketch};
use super::{
    aider, antigravity, chatgpt, claude_ai, copilot, copilot_chat, crush, cursor, droid, gemini,
    goose, grok, hermes, kimi, langgraph, opencode, pi, qwen, slack,
};

/// Bytes of a file's text that detection reads.
pub const HEAD: usize = 64 * 1024;
/// Lines of it that detection reads.
const LINES: usize = 20;

/// The format of a file.
#[derive(Debug, Clone, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum TranscriptFormat {
    /// A rollout of Codex, with or without envelopes around its items.
    Codex,
    /// A session of Claude Code, or of one of its sub-agents.
    ClaudeCode,
    /// Messages with a role and content, as chat interfaces take them.
    Chat(ChatShape),
    /// Sessions as Agno stores them: rows with runs and their messages.
    Agno(ChatShape),
    /// A session of Gemini CLI.
    Gemini(ChatShape),
    /// A session of Qwen Code.
    Qwen,
    /// A session of GitHub Copilot CLI.
    Copilot,
    /// A chat of Copilot in VS Code.
    CopilotChat(ChatShape),
    /// A transcript of Cursor's agent, or a conversation of its editor.
    Cursor,
    /// A session of OpenCode.
    #[strum(serialize = "opencode")]
    OpenCode(ChatShape),
    /// Conversations that ChatGPT exported.
    #[strum(serialize = "chatgpt")]
    ChatGpt(ChatShape),
    /// Conversations that Claude.ai exported.
    ClaudeAi(ChatShape),
    /// A session of pi or OpenClaw.
    Pi,
    /// A session of Droid.
    Droid,
    /// The records of Kimi Code.
    Kimi,
    /// A chat of Grok.
    Grok,
    /// A transcript of Antigravity.
    Antigravity,
    /// A session of Goose.
    Goose,
    /// A session of Hermes.
    Hermes(ChatShape),
    /// A chat history of Aider.
    Aider,
    /// A session of Crush.
    Crush,
    /// A thread of LangGraph.
    #[strum(serialize = "langgraph")]
    LangGraph,
    /// Messages of a channel as Slack exports them.
    Slack(ChatShape),
    /// Something else, with a description of it.
    Unknown(String),
}

/// How messages are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatShape {
    /// One message on each line.
    Lines,
    /// One JSON document: a list of messages, or an object that has one as `messages`.
    Document,
}

impl TranscriptFormat {
    /// The word that stands for it in columns and listings.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.into()
    }

    /// How the file is laid out, where the format allows several layouts.
    pub(super) fn shape(&self) -> Option<ChatShape> {
        match self {
            Self::Chat(shape)
            | Self::Agno(shape)
            | Self::Gemini(shape)
            | Self::CopilotChat(shape)
            | Self::Hermes(shape)
            | Self::OpenCode(shape)
            | Self::ChatGpt(shape)
            | Self::ClaudeAi(shape)
            | Self::Slack(shape) => Some(*shape),
            Self::Codex
            | Self::ClaudeCode
            | Self::Qwen
            | Self::Copilot
            | Self::Cursor
            | Self::Pi
            | Self::Droid
            | Self::Kimi
            | Self::Grok
            | Self::Antigravity
            | Self::Goose
            | Self::Aider
            | Self::Crush
            | Self::LangGraph
            | Self::Unknown(_) => None,
        }
    }
}

/// Detects a file's format by the first [`HEAD`] bytes of its text.
#[must_use]
pub fn detect(head: &[u8]) -> TranscriptFormat {
    let head = &head[..head.len().min(HEAD)];
    let text = head
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(head)
        .trim_ascii_start();
    match text.first() {
        None => TranscriptFormat::Unknown("empty".to_owned()),
        Some(b'[') => list(text),
        Some(b'{') => objects(text),
        Some(_) => TranscriptFormat::Unknown("not JSON".to_owned()),
    }
}

/// A document that is a list.
fn list(text: &[u8]) -> TranscriptFormat {
    let mut sketch = Sketch::default();
    let mut json = serde_json::Deserializer::from_slice(text);
    let _ = json.deserialize_any(FirstOf(&mut sketch));
    if sketch.is_agno() {
        return TranscriptFormat::Agno(ChatShape::Document);
    }
    if let Some(format) = sketch.exported() {
        return format;
    }
    match sketch.is_message() {
        true => TranscriptFormat::Chat(ChatShape::Document),
        false => TranscriptFormat::Unknown(sketch.described("a list of ")),
    }
}

/// Lines of objects, or one object that takes several lines.
fn objects(text: &[u8]) -> TranscriptFormat {
    let first = Sketch::of_beginning(text);
    let shape = match takes_several_lines(text) || first.has("messages") {
        true => ChatShape::Document,
        false => ChatShape::Lines,
    };
    if first.is_agno() {
        return TranscriptFormat::Agno(shape);
    }
    if let Some(format) = first.exported() {
        return format;
    }
    if copilot_chat::is_evident(&first) {
        return TranscriptFormat::CopilotChat(match first.has("requests") {
            true => ChatShape::Document,
            false => ChatShape::Lines,
        });
    }
    if hermes::is_evident(&first) {
        return TranscriptFormat::Hermes(match first.has("messages") {
            true => ChatShape::Document,
            false => ChatShape::Lines,
        });
    }
    if gemini::is_evident(&first) {
        return TranscriptFormat::Gemini(shape);
    }
    if opencode::is_evident(&first) {
        return TranscriptFormat::OpenCode(match is_alone(text) {
            true => ChatShape::Document,
            false => ChatShape::Lines,
        });
    }
    if let Some(format) = first.format() {
        return format;
    }
    if !takes_several_lines(text) {
        let lines = text.split(|byte| *byte == b'\n').skip(1).take(LINES - 1);
        for line in lines.map(<[u8]>::trim_ascii) {
            if let Some(format) = Sketch::of_beginning(line).format() {
                return format;
            }
        }
    }
    TranscriptFormat::Unknown(first.described(""))
}

/// Whether nothing follows the first object.
fn is_alone(text: &[u8]) -> bool {
    let mut json = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let ends = json.next().is_some_and(|first| first.is_ok());
    !ends || text[json.byte_offset()..].trim_ascii().is_empty()
}

/// Whether the first object continues after its first line.
fn takes_several_lines(text: &[u8]) -> bool {
    let line = memchr::memchr(b'\n', text).unwrap_or(text.len());
    let mut json = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    match json.next() {
        Some(Ok(_)) => json.byte_offset() > line,
        // No text within JSON holds a line end as it is.
        Some(Err(error)) => error.is_eof() && line < text.len(),
        None => false,
    }
}

/// A message or a part in a file of its own.
const PART_OF_OPENCODE: &str =
    "a part of a session of OpenCode, which is read with the session's file";

/// Kinds of lines that Codex writes in an envelope.
const CODEX_KINDS: &[&str] = &[
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "token_usage_record",
    "retained_context",
];

/// Kinds of lines that only Claude Code writes, together with a session's id.
const CLAUDE_KINDS: &[&str] = &[
    "user",
    "assistant",
    "system",
    "progress",
    "attachment",
    "queue-operation",
    "pr-link",
    "custom-title",
    "ai-title",
    "agent-name",
    "last-prompt",
    "permission-mode",
    "mode",
    "worktree-state",
    "relocated",
];

impl Sketch {
    /// The format that the line is evidence of, if any.
    fn format(&self) -> Option<TranscriptFormat> {
        let kind = &*self.kind;
        if self.payload.is_some() && CODEX_KINDS.contains(&kind) || self.is_legacy_codex() {
            return Some(TranscriptFormat::Codex);
        }
        if self.is_claude() {
            return Some(TranscriptFormat::ClaudeCode);
        }
        if qwen::is_evident(self) {
            return Some(TranscriptFormat::Qwen);
        }
        if copilot::is_evident(self) {
            return Some(TranscriptFormat::Copilot);
        }
        if cursor::is_evident(self) {
            return Some(TranscriptFormat::Cursor);
        }
        if aider::is_evident(self) {
            return Some(TranscriptFormat::Aider);
        }
        if crush::is_evident(self) {
            return Some(TranscriptFormat::Crush);
        }
        if langgraph::is_evident(self) {
            return Some(TranscriptFormat::LangGraph);
        }
        if pi::is_evident(self) {
            return Some(TranscriptFormat::Pi);
        }
        if droid::is_evident(self) {
            return Some(TranscriptFormat::Droid);
        }
        if kimi::is_evident(self) {
            return Some(TranscriptFormat::Kimi);
        }
        if goose::is_evident(self) {
            return Some(TranscriptFormat::Goose);
        }
        if antigravity::is_evident(self) {
            return Some(TranscriptFormat::Antigravity);
        }
        if let Some(agent) = self.other_agent() {
            return Some(TranscriptFormat::Unknown(match agent {
                PART_OF_OPENCODE => agent.to_owned(),
                agent => format!("a session of {agent}, which is not read yet"),
            }));
        }
        if grok::is_evident(self) {
            return Some(TranscriptFormat::Grok);
        }
        if self.is_message() {
            return Some(TranscriptFormat::Chat(ChatShape::Lines));
        }
        let first = self.first_message.as_ref()?;
        first
            .is_message()
            .then_some(TranscriptFormat::Chat(ChatShape::Document))
    }

    /// The format of a conversation that a chat service exported.
    fn exported(&self) -> Option<TranscriptFormat> {
        if chatgpt::is_evident(self) {
            return Some(TranscriptFormat::ChatGpt(ChatShape::Document));
        }
        if claude_ai::is_evident(self) {
            return Some(TranscriptFormat::ClaudeAi(ChatShape::Document));
        }
        let first = self.first_message.as_deref().unwrap_or(self);
        slack::is_evident(first).then_some(TranscriptFormat::Slack(ChatShape::Document))
    }

    /// The first line of a rollout from before envelopes.
    fn is_legacy_codex(&self) -> bool {
        let meta = self.has("id") && self.has("timestamp") && self.kind.is_empty();
        meta && (self.has("instructions") || self.has("git")) && self.role.is_empty()
            || self.has("record_type") && self.keys.len() == 1
    }

    fn is_claude(&self) -> bool {
        match &*self.kind {
            "summary" => self.has("summary") && self.has("leafUuid"),
            "file-history-snapshot" => self.has("messageId") && self.has("snapshot"),
            "user" | "assistant" => {
                // A cut-off line may end before its content.
                let content = |message: &Sketch| message.has("content") || !message.has("parts");
                self.has("sessionId") && self.message.as_deref().is_some_and(content)
            }
            "system" if !self.has("uuid") || self.has("systemPayload") => false,
            kind => self.has("sessionId") && CLAUDE_KINDS.contains(&kind),
        }
    }

    /// A session's row, as Agno stores it.
    fn is_agno(&self) -> bool {
        let has_kind = self.has("session_type") || self.has("agent_id") || self.has("team_id");
        let has_content = self.has("runs") || self.has("session_data") || self.has("agent_data");
        self.has("session_id") && has_kind && has_content && self.role.is_empty()
    }

    /// A message with a role and content, as chat interfaces take it.
    fn is_message(&self) -> bool {
        let role = matches!(
            &*self.role,
            "user"
                | "assistant"
                | "system"
                | "developer"
                | "tool"
                | "function"
                | "human"
                | "ai"
                | "model"
        );
        role && (self.has("content") || self.has("tool_calls") || self.has("function_call"))
            && !self.has("sessionID")
    }

    /// Another agent's name, if the line has its unmistakable keys.
    fn other_agent(&self) -> Option<&'static str> {
        Some(match () {
            () if self.has("history") && self.has("start_time") => "Gemini CLI",
            () if self.has("sessionID") || self.has("messageID") || self.has("callID") => {
                PART_OF_OPENCODE
            }
            () => return None,
        })
    }
}

#[cfg(test)]
#[path = "detect_tests.rs"]
mod tests;
