//! Parses what hosts send to their hooks. Both hosts use the same fields. Unknown ones are ignored, so that newer hosts
//! work, too (the hooks of Claude Code and Codex as of 2026).

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
    #[serde(alias = "type")]
    hook_event_name: String,
    #[serde(rename = "session_id", alias = "thread-id", alias = "conversation_id")]
    pub(super) session: String,
    #[serde(rename = "transcript_path", default)]
    pub(super) transcript: Option<String>,
    #[serde(rename = "cwd", default)]
    pub(super) folder: Option<String>,
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
        if payload.session.is_empty() || payload.session.len() > MAX_SESSION_BYTES {
            bail!("the hook's payload names no session");
        }
        for path in [&mut payload.transcript, &mut payload.folder] {
            path.take_if(|path| path.trim().is_empty());
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
        match self.hook_event_name.as_str() {
            "SessionStart" => Some(HookEventKind::Start),
            "UserPromptSubmit" => Some(HookEventKind::Prompt),
            "Stop" | "StopFailure" | "SubagentStop" | "Interrupt" | "agent-turn-complete" => {
                Some(HookEventKind::Stop)
            }
            "PreCompact" => Some(HookEventKind::Compact),
            "SessionEnd" => Some(HookEventKind::End),
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
    fn both_hosts_and_an_older_one_are_understood() {
        let claude = r#"{"hook_event_name":"SessionEnd","session_id":"a","new":{"x":[1]}}"#;
        assert_eq!(read(claude), (Some(HookEventKind::End), "a".to_owned()));
        let notify = r#"{"type":"agent-turn-complete","thread-id":"b","turn-id":"1"}"#;
        assert_eq!(read(notify), (Some(HookEventKind::Stop), "b".to_owned()));
        let other = r#"{"hook_event_name":"PreToolUse","session_id":"a"}"#;
        assert_eq!(read(other).0, None);
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
