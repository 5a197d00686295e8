//! A thread's events on their way into its session's log, and back out of it.
//!
//! The log keeps what was said, as of any session; beside it the thread keeps the event as it was
//! dispatched, so that nothing of it is lost. Both are without secrets and bounded before anything is kept.
//!
//! Not here: what an event does (`reduce`), the order in which entries count (`reader`).

use std::borrow::Cow;

use daybook_domain::limits::THREAD_ENTRY;
use daybook_domain::working::{Compaction, Entry, EventType, ThreadEvent};
use daybook_domain::{Event, EventId, NewEvent, Origin, StoreError, Timestamp, ToolStatus};
use serde_json::{Value, json};

use super::clean::{Bounds, clean};
use crate::ingest::raw::{RawEvent, Via};
use crate::ingest::redact::Redactor;
use crate::ingest::{calls, indexed_tokens, prepared, recalled};

/// An event, ready for the log.
#[derive(Debug, Clone)]
pub(super) struct Written {
    /// For the session's log.
    pub(super) event: NewEvent,
    /// For the thread.
    pub(super) entry: Entry,
    /// The same, as it is stored.
    pub(super) stored: String,
}

/// An event as it is kept. `id` is what tells it from others.
///
/// # Errors
/// [`StoreError::Refused`] for one that stays too large however much of it is cut.
pub(super) fn event(
    redactor: &Redactor,
    event: &ThreadEvent,
    id: EventId,
    now: Timestamp,
) -> Result<Written, StoreError> {
    let mut cleaned;
    let mut bounds = Bounds::first();
    loop {
        cleaned = clean(redactor, event, bounds)?;
        let entry = Entry::Event { event: cleaned };
        let stored = spelled(&entry)?;
        if stored.len() <= THREAD_ENTRY {
            let Entry::Event { event } = &entry else {
                return Err(StoreError::Corrupt("an event is an event".to_owned()));
            };
            let said = said(event);
            let at = match event.timestamp {
                Timestamp(..=0) => now,
                at => at.min(now),
            };
            let event = new_event(redactor, said, id, at);
            return Ok(Written {
                event,
                entry,
                stored,
            });
        }
        bounds = bounds.next().ok_or_else(|| {
            StoreError::Refused(format!(
                "an event holds at most {THREAD_ENTRY} bytes once long texts are cut; this one has {}",
                stored.len()
            ))
        })?;
    }
}

/// Anything else that is kept in a thread's log: `text` is what people read there.
pub(super) fn entry(
    redactor: &Redactor,
    entry: Entry,
    text: String,
    id: EventId,
    now: Timestamp,
) -> Result<Written, StoreError> {
    let origin = match entry {
        Entry::Compaction(_) => Origin::Synthetic,
        Entry::Initial { .. }
        | Entry::Event { .. }
        | Entry::Edited { .. }
        | Entry::Restored { .. }
        | Entry::Ended => Origin::Harness,
    };
    let said = Said {
        origin,
        text: Cow::Owned(text),
        tool: None,
        call: None,
        status: None,
    };
    let stored = spelled(&entry)?;
    Ok(Written {
        event: new_event(redactor, said, id, now),
        entry,
        stored,
    })
}

/// What people read of a compaction.
pub(super) fn summary_text(compaction: &Compaction) -> String {
    let texts = compaction
        .replaced
        .iter()
        .map(|replaced| replaced.chunk.content.told());
    texts.collect::<Vec<_>>().join("\n\n")
}

fn spelled(entry: &Entry) -> Result<String, StoreError> {
    serde_json::to_string(entry)
        .map_err(|error| StoreError::Refused(format!("an entry cannot be written: {error}")))
}

/// What an entry of the log says to the thread; nothing for what concerns it in no way.
pub(super) fn read(event: &Event, entry: Option<&str>) -> Result<Option<Entry>, StoreError> {
    match entry {
        Some(entry) => serde_json::from_str(entry).map(Some).map_err(|error| {
            StoreError::Corrupt(format!("entry {} cannot be read: {error}", event.seq.0))
        }),
        None => Ok(adopted(event).map(|kind| Entry::Event {
            event: ThreadEvent::new(kind, event.at),
        })),
    }
}

/// What an event that came in by another way is to a thread.
fn adopted(event: &Event) -> Option<EventType> {
    if event.sidechain {
        return None;
    }
    let text = event.text.clone();
    let tool = || event.tool.clone().unwrap_or_default();
    let call = || {
        event
            .call
            .clone()
            .unwrap_or_else(|| format!("event-{}", event.seq.0))
    };
    Some(match event.origin {
        Origin::Human => EventType::UserMessage {
            content: text,
            attachments: Vec::new(),
        },
        Origin::Assistant => EventType::LlmTextResponse {
            content: text,
            model: None,
            usage: None,
        },
        Origin::ToolCall => EventType::LlmToolCall {
            tool_name: tool(),
            call_id: call(),
            arguments: json!({ "text": text }),
        },
        Origin::ToolResult => EventType::ToolResult {
            tool_name: tool(),
            call_id: call(),
            result: text.into(),
            success: event
                .status
                .is_none_or(|status| status == ToolStatus::Succeeded),
        },
        Origin::Harness | Origin::Synthetic => EventType::ExternalInject {
            source: event.origin.word().to_owned(),
            content: text,
        },
        Origin::Recalled | Origin::Retraction => return None,
    })
}

/// What an event says to whoever reads its session.
struct Said<'a> {
    origin: Origin,
    text: Cow<'a, str>,
    tool: Option<&'a str>,
    call: Option<&'a str>,
    status: Option<ToolStatus>,
}

fn new_event(redactor: &Redactor, said: Said<'_>, id: EventId, at: Timestamp) -> NewEvent {
    let (origin, text) = recalled::said(said.origin, &said.text);
    // What is put together may be a secret where its parts are none.
    let is_clean = matches!((&said.text, &text), (Cow::Borrowed(_), Cow::Borrowed(_)));
    let text = text.into_owned();
    let raw = RawEvent {
        id,
        line: 0,
        origin,
        at,
        text: String::new(),
        tool: said.tool.map(str::to_owned),
        call: said.call.map(str::to_owned),
        status: said.status,
        sidechain: false,
        place: None,
        via: Via::Message,
    };
    if is_clean {
        let tokens = indexed_tokens(origin, &text);
        return raw.with(text, tokens);
    }
    prepared(redactor, RawEvent { text, ..raw }).0
}

fn said(event: &ThreadEvent) -> Said<'_> {
    use EventType as E;
    let plain = |origin, text| Said {
        origin,
        text,
        tool: None,
        call: None,
        status: None,
    };
    match &event.kind {
        E::UserMessage { content, .. } => plain(Origin::Human, content.as_str().into()),
        E::LlmTextResponse { content, .. } => plain(Origin::Assistant, content.as_str().into()),
        E::LlmClarification { question, .. } => plain(Origin::Assistant, question.as_str().into()),
        E::TaskCompleted {
            summary: Some(summary),
            ..
        } => plain(Origin::Assistant, summary.as_str().into()),
        E::LlmToolCall {
            tool_name,
            call_id,
            arguments,
        } => call(tool_name, call_id, arguments),
        E::LlmSkillCall {
            skill_name,
            call_id,
            input,
        } => call(skill_name, call_id, input),
        E::LlmSubagentSpawn {
            sub_agent_id,
            agent_type,
            task,
            ..
        } => Said {
            tool: Some(agent_type),
            call: Some(sub_agent_id),
            ..plain(Origin::ToolCall, task.as_str().into())
        },
        E::ToolResult {
            tool_name,
            call_id,
            result,
            success,
        } => outcome(Some(tool_name), call_id, told(result), *success),
        E::SkillResult {
            skill_name,
            call_id,
            result,
            success,
        } => outcome(Some(skill_name), call_id, told(result), *success),
        E::SubagentResult {
            sub_agent_id,
            result,
            success,
        } => outcome(None, sub_agent_id, told(result), *success),
        E::ToolError {
            tool_name,
            call_id,
            error,
            ..
        } => outcome(Some(tool_name), call_id, error.into(), false),
        E::SkillError {
            skill_name,
            call_id,
            error,
            ..
        } => outcome(Some(skill_name), call_id, error.into(), false),
        E::SubagentError {
            sub_agent_id,
            error,
            ..
        } => outcome(None, sub_agent_id, error.into(), false),
        // Words of other agents, news and commands are no person's and teach nothing.
        _ => plain(Origin::Harness, Cow::Owned(bare(event))),
    }
}

fn call<'a>(tool: &'a str, call: &'a str, arguments: &Value) -> Said<'a> {
    Said {
        origin: Origin::ToolCall,
        text: calls::rendered(tool, &arguments.to_string()).into(),
        tool: Some(tool),
        call: Some(call),
        status: None,
    }
}

fn outcome<'a>(
    tool: Option<&'a str>,
    call: &'a str,
    text: Cow<'a, str>,
    success: bool,
) -> Said<'a> {
    let status = match success {
        true => ToolStatus::Succeeded,
        false => ToolStatus::Failed,
    };
    Said {
        origin: Origin::ToolResult,
        text,
        tool,
        call: Some(call),
        status: Some(status),
    }
}

fn told(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        Value::Null => "".into(),
        value => value.to_string().into(),
    }
}

/// An event in one line: its type, and what it says.
fn bare(event: &ThreadEvent) -> String {
    match serde_json::to_value(event) {
        Ok(Value::Object(mut fields)) => {
            for name in ["type", "timestamp", "metadata"] {
                fields.remove(name);
            }
            format!("{} {}", event.kind.word(), Value::Object(fields))
        }
        Ok(_) | Err(_) => event.kind.word().into_owned(),
    }
}
