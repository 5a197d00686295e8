//! Parses what hosts send to their hooks. All hosts use nearly the same fields. Unknown ones are ignored, so that newer
//! hosts work, too (the hooks of Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI and Cursor as of 2026).

use anyhow::{Result, anyhow, bail};
use daybook_domain::Venue;
use daybook_engine::hook_events::HookEventKind;
use serde::Deserialize;
use serde_json::Value;

/// Longest id of a session, in bytes. Hosts use UUIDs.
const MAX_SESSION_BYTES: usize = 256;

/// One hook call, as a host describes it.
#[derive(Debug, Deserialize)]
pub(super) struct HookPayload {
    /// `SessionStart`, `Stop` and so on; `agent-turn-complete` from Codex's older `notify`.
    #[serde(rename = "hook_event_name", alias = "type")]
    pub(super) event: String,
    #[serde(rename = "session_id", alias = "thread-id", default)]
    pub(super) session: String,
    /// Cursor's name of the session, which some of its events have beside the other name.
    #[serde(default)]
    conversation_id: Option<String>,
    #[serde(rename = "transcript_path", default)]
    pub(super) transcript: Option<String>,
    #[serde(rename = "cwd", default)]
    pub(super) folder: Option<String>,
    /// The folders of an editor's window; the first one counts where `cwd` is missing.
    #[serde(default)]
    workspace_roots: Value,
    /// Why a session starts: `startup`, `resume`, `clear`, `compact`.
    #[serde(default)]
    pub(super) source: Option<String>,
    /// The room that the session is held in, from a host that has rooms.
    #[serde(default)]
    room_id: Option<String>,
    /// The thread of the room.
    #[serde(default)]
    thread_id: Option<String>,
    /// The team of agents that holds it.
    #[serde(default)]
    team: Option<String>,
    /// The person's prompt; a text, in all hosts known so far.
    #[serde(default)]
    prompt: Value,
}

impl HookPayload {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            bail!("a hook's payload is expected on standard input; hosts send it as JSON");
        }
        // The parser's message quotes the payload, and a prompt must not get into a log.
        let mut payload: Self = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            anyhow!("the hook's payload is not what hosts send (line {line}, column {column})")
        })?;
        if let Some(session) = payload.conversation_id.take()
            && payload.session.is_empty()
        {
            payload.session = session;
        }
        if payload.session.is_empty() || payload.session.len() > MAX_SESSION_BYTES {
            bail!("the hook's payload names no session");
        }
        for path in [&mut payload.transcript, &mut payload.folder] {
            path.take_if(|path| path.trim().is_empty());
        }
        if payload.folder.is_none() {
            payload.folder = payload.workspace_roots[0].as_str().map(str::to_owned);
        }
        Ok(payload)
    }

    /// The person's prompt.
    pub(super) fn prompt(&self) -> Option<&str> {
        self.prompt.as_str()
    }

    /// Where the session is held, if the host says so.
    pub(super) fn venue(&self) -> Result<Venue> {
        let (room_id, thread_id) = (self.room_id.clone(), self.thread_id.clone());
        Venue::named(room_id, thread_id, self.team.clone())
            .map_err(|fault| anyhow!("in the hook's payload, {fault}"))
    }

    /// The event; `None` when it does not matter to memory.
    pub(super) fn event_kind(&self) -> Option<HookEventKind> {
        match self.event.as_str() {
            "SessionStart" | "sessionStart" => Some(HookEventKind::Start),
            "UserPromptSubmit" | "BeforeAgent" | "beforeSubmitPrompt" => {
                Some(HookEventKind::Prompt)
            }
            "Stop"
            | "StopFailure"
            | "SubagentStop"
            | "Interrupt"
            | "agent-turn-complete"
            | "AfterAgent"
            | "stop"
            | "subagentStop" => Some(HookEventKind::Stop),
            "PreCompact" | "PreCompress" | "preCompact" => Some(HookEventKind::Compact),
            "SessionEnd" | "sessionEnd" => Some(HookEventKind::End),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<HookEventKind>, String) {
        let payload = HookPayload::parse(text).unwrap();
        (payload.event_kind(), payload.session)
    }

    #[test]
    fn all_hosts_and_an_older_one_are_understood() {
        let claude = r#"{"hook_event_name":"SessionEnd","session_id":"a","new":{"x":[1]}}"#;
        assert_eq!(read(claude), (Some(HookEventKind::End), "a".to_owned()));
        let notify = r#"{"type":"agent-turn-complete","thread-id":"b","turn-id":"1"}"#;
        assert_eq!(read(notify), (Some(HookEventKind::Stop), "b".to_owned()));
        let gemini = r#"{"hook_event_name":"BeforeAgent","session_id":"c","prompt":"tides"}"#;
        assert_eq!(read(gemini), (Some(HookEventKind::Prompt), "c".to_owned()));
        let cursor = r#"{"hook_event_name":"stop","conversation_id":"d","status":"completed"}"#;
        assert_eq!(read(cursor), (Some(HookEventKind::Stop), "d".to_owned()));
        let other = r#"{"hook_event_name":"PreToolUse","session_id":"a"}"#;
        assert_eq!(read(other).0, None);
    }

    #[test]
    fn both_names_of_a_session_and_an_editors_folder_are_read() {
        let payload = HookPayload::parse(
            r#"{"hook_event_name":"sessionStart","conversation_id":"d","session_id":"d","transcript_path":null,"workspace_roots":["/home/ada/tidepool","/home/ada/reef"]}"#,
        )
        .unwrap();
        assert_eq!(payload.session, "d");
        assert_eq!(payload.folder.as_deref(), Some("/home/ada/tidepool"));
    }

    #[test]
    fn what_is_not_a_payload_is_said() {
        for text in [
            "",
            "null",
            "{}",
            "{\"hook_event_name\":\"Stop\",\"session_id\":\"\"}",
        ] {
            assert!(HookPayload::parse(text).is_err(), "{text}");
        }
    }
}
