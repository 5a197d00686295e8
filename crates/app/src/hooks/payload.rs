//! What hosts send to their hooks. Both use the same words; unknown ones are passed over, so that a
//! newer host is understood (spec/interop.md, sections 4.5 and 4.6).

use anyhow::{Result, anyhow, bail};
use daybook_engine::notices::Moment;
use serde::Deserialize;

/// The longest name of a session. Hosts use UUIDs.
const SESSION: usize = 256;

/// One hook call, as a host describes it.
#[derive(Debug, Deserialize)]
pub(super) struct Payload {
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
}

impl Payload {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            bail!("a hook's payload is expected on standard input; hosts send it as JSON");
        }
        // What the parser says quotes the payload, and a prompt must stand in nobody's log.
        let mut payload: Self = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            anyhow!("the hook's payload is not what hosts send (line {line}, column {column})")
        })?;
        if payload.session.is_empty() || payload.session.len() > SESSION {
            bail!("the hook's payload names no session");
        }
        for path in [&mut payload.transcript, &mut payload.folder] {
            path.take_if(|path| path.trim().is_empty());
        }
        Ok(payload)
    }

    /// What happened, when it matters to memory.
    pub(super) fn moment(&self) -> Option<Moment> {
        match self.hook_event_name.as_str() {
            "SessionStart" => Some(Moment::Start),
            "UserPromptSubmit" => Some(Moment::Prompt),
            "Stop" | "StopFailure" | "SubagentStop" | "Interrupt" | "agent-turn-complete" => {
                Some(Moment::Stop)
            }
            "PreCompact" => Some(Moment::Compact),
            "SessionEnd" => Some(Moment::End),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Moment>, String) {
        let payload = Payload::parse(text).unwrap();
        (payload.moment(), payload.session)
    }

    #[test]
    fn both_hosts_and_an_older_one_are_understood() {
        let claude = r#"{"hook_event_name":"SessionEnd","session_id":"a","new":{"x":[1]}}"#;
        assert_eq!(read(claude), (Some(Moment::End), "a".to_owned()));
        let notify = r#"{"type":"agent-turn-complete","thread-id":"b","turn-id":"1"}"#;
        assert_eq!(read(notify), (Some(Moment::Stop), "b".to_owned()));
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
            assert!(Payload::parse(text).is_err(), "{text}");
        }
    }
}
