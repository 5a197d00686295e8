//! Reads sessions as Agno stores them: a row for each session, with its runs and their messages.
//!
//! A file is a list of rows, one row, or a row on each line; `runs` may be a text that holds JSON, as in a database. The
//! messages are those of `get_chat_history`: the ones that a run took from history, the instructions, and runs that were
//! made for another run, that failed or that were cancelled are passed over. A run's id and a message's place in it are
//! the message's identity, so a row that grew adds what is new.
//!
//! Not here: Agno's databases.

use std::borrow::Cow;

use daybook_domain::{EventId, Origin, SessionKind, Timestamp, ToolStatus, Venue};
use serde_json::Value;

use super::item::{
    BadLine, BadState, RawEvent, SessionHint, TranscriptItem, TranscriptReader, Via,
};
use super::{chat, when};
use daybook_text::cut::event_text;
use daybook_text::mentions::mentions;
use daybook_text::{calls, recalled};

/// The agent's name where a row names none.
pub const AGENT: &str = "agno";
/// States of runs that are no part of a session's history.
const PASSED_RUNS: [&str; 3] = ["cancelled", "error", "paused"];

/// Reads rows of sessions.
pub struct AgnoReader {
    name: String,
}

impl AgnoReader {
    /// Opens a reader. Each row is read by itself, so there is no state to go on from.
    ///
    /// # Errors
    /// For a state that is not this reader's.
    pub fn new(name: &str, state: Option<&str>) -> Result<Self, BadState> {
        match state {
            None | Some("") => Ok(Self {
                name: name.to_owned(),
            }),
            Some(_) => Err(BadState),
        }
    }

    fn row(&self, row: &Value, line: u32, out: &mut Vec<TranscriptItem>) -> Result<(), BadLine> {
        let text = |key: &str| row[key].as_str().filter(|text| !text.is_empty());
        let session = text("session_id").unwrap_or(&self.name).to_owned();
        let agent = text("agent_id")
            .or(text("team_id"))
            .unwrap_or(AGENT)
            .to_owned();
        let runs = list(&row["runs"])?;
        out.push(TranscriptItem::Session(SessionHint {
            host_id: session.clone(),
            agent: Cow::Owned(agent),
            kind: SessionKind::Root,
            memory_off: false,
            forked_from: None,
            surface: None,
            user: text("user_id").map(str::to_owned),
            venue: venue(row)?,
            parent: None,
            cwd: None,
            branch: None,
            remote: None,
        }));
        let mut at = time(&row["created_at"]).unwrap_or_default();
        for (nth, run) in runs.iter().enumerate() {
            at = time(&run["created_at"]).unwrap_or(at);
            if is_passed(run) {
                continue;
            }
            let id = run["run_id"].as_str();
            let reader = RunReader {
                session: &session,
                run: id.map_or_else(|| nth.to_string(), str::to_owned),
                at,
                line,
            };
            reader.read(run, out);
        }
        Ok(())
    }
}

/// Whether a run is no part of its session's history.
fn is_passed(run: &Value) -> bool {
    let status = run["status"].as_str().unwrap_or_default().to_lowercase();
    run["parent_run_id"]
        .as_str()
        .is_some_and(|id| !id.is_empty())
        || PASSED_RUNS.contains(&&*status)
}

/// A list, also one that is written as a text.
fn list(value: &Value) -> Result<Vec<Value>, BadLine> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => Ok(list.clone()),
        Value::String(text) => serde_json::from_str(text)
            .map_err(|error| BadLine(format!("its runs are not a list of JSON: {error}"))),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Err(BadLine("its runs are not a list".to_owned()))
        }
    }
}

/// The room, the thread and the team of a session, as the host wrote them into its metadata.
fn venue(row: &Value) -> Result<Venue, BadLine> {
    let of = |key: &str| {
        let own = [&row["metadata"][key], &row["session_data"][key], &row[key]];
        own.into_iter().find_map(Value::as_str).map(str::to_owned)
    };
    Venue::named(of("room_id"), of("thread_id"), None).map_err(BadLine)
}

fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(number) => when::epoch(number.as_f64()?),
        Value::String(text) => when::read(text),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

struct RunReader<'a> {
    session: &'a str,
    run: String,
    at: Timestamp,
    line: u32,
}

impl RunReader<'_> {
    fn read(&self, run: &Value, out: &mut Vec<TranscriptItem>) {
        let messages = run["messages"].as_array();
        for (nth, message) in messages.into_iter().flatten().enumerate() {
            if message["from_history"] == Value::Bool(true) {
                continue;
            }
            let content = content(&message["content"]);
            match message["role"].as_str().unwrap_or_default() {
                "user" => {
                    let (origin, words) = chat::unwrapped(&content);
                    self.push((nth, message), (origin, &words), out);
                }
                "assistant" | "model" => {
                    self.push((nth, message), (Origin::Assistant, &content), out);
                    self.push_calls((nth, message), out);
                }
                "tool" => self.push((nth, message), (Origin::ToolResult, &content), out),
                // Instructions are made anew for every run.
                "system" | "developer" => {}
                _ => self.push((nth, message), (Origin::Harness, &content), out),
            }
        }
    }

    fn push_calls(&self, (nth, message): (usize, &Value), out: &mut Vec<TranscriptItem>) {
        for (call, made) in message["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            let function = &made["function"];
            let tool = function["name"].as_str().unwrap_or_default();
            let arguments = match &function["arguments"] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            let text = calls::render(tool, &arguments);
            let call_id = made["id"].as_str().map(str::to_owned);
            let id = self.id(nth, Some(call), Origin::ToolCall);
            let event = RawEvent {
                tool: Some(tool.to_owned()).filter(|tool| !tool.is_empty()),
                call: call_id,
                ..self.event(id, message, (Origin::ToolCall, &text))
            };
            out.push(TranscriptItem::Event(event));
        }
    }

    fn push(
        &self,
        (nth, message): (usize, &Value),
        (speaker, content): (Origin, &str),
        out: &mut Vec<TranscriptItem>,
    ) {
        let is_answer = speaker == Origin::ToolResult;
        if content.trim().is_empty() && !is_answer {
            return;
        }
        let text = |key: &str| message[key].as_str().map(str::to_owned);
        let is_failed = message["tool_call_error"] == Value::Bool(true);
        let id = self.id(nth, None, speaker);
        let event = RawEvent {
            tool: text("tool_name").or(text("name")).filter(|_| is_answer),
            call: text("tool_call_id").filter(|_| is_answer),
            status: (is_answer && is_failed).then_some(ToolStatus::Failed),
            ..self.event(id, message, (speaker, content))
        };
        out.push(TranscriptItem::Event(event));
    }

    fn event(&self, id: EventId, message: &Value, (speaker, content): (Origin, &str)) -> RawEvent {
        let (origin, text) = recalled::strip_event(speaker, content);
        RawEvent {
            id,
            line: self.line,
            origin,
            at: time(&message["created_at"]).unwrap_or(self.at),
            text: event_text(text),
            tool: None,
            call: None,
            status: None,
            sidechain: false,
            reports_external: false,
            place: None,
            via: Via::Message,
            mentions: mentions(speaker, origin, content),
            retracts: Vec::new(),
        }
    }

    fn id(&self, nth: usize, call: Option<usize>, origin: Origin) -> EventId {
        let (nth, call) = (nth.to_string(), call.map(|call| call.to_string()));
        let parts = [
            AGENT,
            self.session,
            &self.run,
            &nth,
            origin.as_str(),
            call.as_deref().unwrap_or_default(),
        ];
        EventId::of(&parts.map(str::as_bytes))
    }
}

/// The prose of a message: a text, or the texts of its parts.
fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts
                .iter()
                .filter_map(|part| part.as_str().or(part["text"].as_str()));
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

impl TranscriptReader for AgnoReader {
    fn line(
        &mut self,
        number: u32,
        bytes: &[u8],
        out: &mut Vec<TranscriptItem>,
    ) -> Result<(), BadLine> {
        let row: Value = serde_json::from_slice(bytes)
            .map_err(|error| BadLine(format!("it is not JSON: {error}")))?;
        self.row(&row, number.max(1), out)
    }

    fn state(&self) -> String {
        String::new()
    }
}

#[cfg(test)]
#[path = "agno_tests.rs"]
mod tests;
