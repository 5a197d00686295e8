//! Converts a thread's events into records of its session's log, and back.
//!
//! The log keeps the text of an event, as for any session; beside it the thread keeps the whole event as it was
//! dispatched, so that no field is lost. Both are redacted and bounded before they are stored.
//!
//! Not here: the effects of events (`reduce`), the order in which entries count (`log_reader`).

use std::borrow::Cow;

use daybook_domain::limits::THREAD_ENTRY;
use daybook_domain::working::{Compaction, EventType, ThreadEntry, ThreadEvent};
use daybook_domain::{Event, EventId, NewEvent, Origin, StoreError, Timestamp, ToolStatus};
use serde_json::{Value, json};

use super::event_groups::{chunk_choices, chunkless, news, task_ends, todo_changes};
use super::sanitize::{Bounds, clean};
use daybook_text::mentions::{Mention, mentions};
use daybook_text::raw::{RawEvent, Via};
use daybook_text::redact::Redactor;
use daybook_text::{calls, indexed_tokens, prepare_event, recalled};

/// An event, ready for the log.
#[derive(Debug, Clone)]
pub(super) struct LogRecord {
    /// The event for the session's log.
    pub(super) event: NewEvent,
    /// The entry for the thread.
    pub(super) entry: ThreadEntry,
    /// The entry as it is stored.
    pub(super) entry_json: String,
}

/// The record of an event. `id` distinguishes it from others.
///
/// # Errors
/// [`StoreError::Refused`] for an event that stays too large after its long texts are cut.
pub(super) fn of_event(
    redactor: &Redactor,
    event: &ThreadEvent,
    id: EventId,
    now: Timestamp,
) -> Result<LogRecord, StoreError> {
    let mut cleaned;
    let mut bounds = Bounds::first();
    loop {
        cleaned = clean(redactor, event, bounds)?;
        let entry = ThreadEntry::Event { event: cleaned };
        let entry_json = to_json(&entry)?;
        if entry_json.len() <= THREAD_ENTRY {
            let ThreadEntry::Event { event } = &entry else {
                return Err(StoreError::Corrupt("an event is an event".to_owned()));
            };
            let said = log_content(event);
            let at = match event.timestamp {
                Timestamp(..=0) => now,
                at => at.min(now),
            };
            let event = new_event(redactor, said, id, at);
            return Ok(LogRecord {
                event,
                entry,
                entry_json,
            });
        }
        bounds = bounds.next().ok_or_else(|| {
            StoreError::Refused(format!(
                "an event holds at most {THREAD_ENTRY} bytes once long texts are cut; this one has {}",
                entry_json.len()
            ))
        })?;
    }
}

/// The record of any other entry of a thread's log, with `text` for people who read the log.
pub(super) fn of_entry(
    redactor: &Redactor,
    entry: ThreadEntry,
    text: String,
    id: EventId,
    now: Timestamp,
) -> Result<LogRecord, StoreError> {
    let origin = match entry {
        ThreadEntry::Compaction(_) => Origin::Synthetic,
        ThreadEntry::Initial { .. }
        | ThreadEntry::Event { .. }
        | ThreadEntry::Edited { .. }
        | ThreadEntry::Restored { .. }
        | ThreadEntry::Ended => Origin::Harness,
    };
    let said = LogContent {
        origin,
        text: Cow::Owned(text),
        tool: None,
        call: None,
        status: None,
    };
    let entry_json = to_json(&entry)?;
    Ok(LogRecord {
        event: new_event(redactor, said, id, now),
        entry,
        entry_json,
    })
}

/// The text of a compaction in the log, for people.
pub(super) fn summary_text(compaction: &Compaction) -> String {
    let texts = compaction
        .replaced
        .iter()
        .map(|replaced| replaced.chunk.content.to_text());
    texts.collect::<Vec<_>>().join("\n\n")
}

fn to_json(entry: &ThreadEntry) -> Result<String, StoreError> {
    serde_json::to_string(entry)
        .map_err(|error| StoreError::Refused(format!("an entry cannot be written: {error}")))
}

/// The thread's entry for an event of the log; `None` for an event that does not concern the thread.
pub(super) fn read(event: &Event, entry: Option<&str>) -> Result<Option<ThreadEntry>, StoreError> {
    match entry {
        Some(entry) => serde_json::from_str(entry).map(Some).map_err(|error| {
            StoreError::Corrupt(format!("entry {} cannot be read: {error}", event.seq.0))
        }),
        None => Ok(thread_event(event).map(|kind| ThreadEntry::Event {
            event: ThreadEvent::new(kind, event.at),
        })),
    }
}

/// The thread's event for one that reached the log in another way, such as an import. `None` for one that does not
/// concern the thread: of a side conversation, or of memory that was recalled.
///
/// ```
/// use daybook_domain::working::EventType;
/// use daybook_domain::{Event, EventSeq, Origin, Timestamp};
/// # let imported = |origin| Event {
/// #     seq: EventSeq(1), line: 1, origin, at: Timestamp(0), text: "Hello!".to_owned(), tool: None, call: None,
/// #     status: None, sidechain: false, place: None,
/// # };
/// let event = daybook_working::thread_event(&imported(Origin::Human));
/// assert_eq!(event, Some(EventType::user("Hello!")));
/// assert_eq!(daybook_working::thread_event(&imported(Origin::Recalled)), None);
/// ```
#[must_use]
pub fn thread_event(event: &Event) -> Option<EventType> {
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
            source: event.origin.as_str().to_owned(),
            content: text,
        },
        Origin::Recalled | Origin::Retraction => return None,
    })
}

/// The content of an event as the session's log keeps it.
struct LogContent<'a> {
    origin: Origin,
    text: Cow<'a, str>,
    tool: Option<&'a str>,
    call: Option<&'a str>,
    status: Option<ToolStatus>,
}

fn new_event(redactor: &Redactor, said: LogContent<'_>, id: EventId, at: Timestamp) -> NewEvent {
    let (origin, text) = recalled::strip_event(said.origin, &said.text);
    // A joined text may be a secret where none of its parts is.
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
        reports_external: false,
        place: None,
        via: Via::Message,
        mentions: Vec::new(),
        retracts: Vec::new(),
    };
    if is_clean {
        let tokens = indexed_tokens(origin, &text);
        return raw.with(text, tokens);
    }
    prepare_event(redactor, RawEvent { text, ..raw }).0
}

/// The memories that an event cites.
///
/// ```
/// use daybook_domain::Timestamp;
/// use daybook_domain::working::{EventType, ThreadEvent};
///
/// let content = "The limit is 50 [5e7a:L32].".to_owned();
/// let answer = EventType::LlmTextResponse { content, model: None, usage: None };
/// let event = ThreadEvent::new(answer, Timestamp(0));
/// assert_eq!(daybook_working::mentions_of(&event)[0].citation.session, "5e7a");
/// ```
#[must_use]
pub fn mentions_of(event: &ThreadEvent) -> Vec<Mention> {
    let said = log_content(event);
    let (taken_as, _) = recalled::strip_event(said.origin, &said.text);
    mentions(said.origin, taken_as, &said.text)
}

fn log_content(event: &ThreadEvent) -> LogContent<'_> {
    use EventType as E;
    let plain = |origin, text| LogContent {
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
        } => LogContent {
            tool: Some(agent_type),
            call: Some(sub_agent_id),
            ..plain(Origin::ToolCall, task.as_str().into())
        },
        E::ToolResult {
            tool_name,
            call_id,
            result,
            success,
        } => outcome(Some(tool_name), call_id, value_text(result), *success),
        E::SkillResult {
            skill_name,
            call_id,
            result,
            success,
        } => outcome(Some(skill_name), call_id, value_text(result), *success),
        E::SubagentResult {
            sub_agent_id,
            result,
            success,
        } => outcome(None, sub_agent_id, value_text(result), *success),
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
        // Messages of other agents, news and commands are not a person's words, and nothing is learned from them.
        E::ParentAgentMessage { .. }
        | E::LlmSubagentMessage { .. }
        | task_ends!()
        | todo_changes!()
        | chunk_choices!()
        | news!()
        | chunkless!() => plain(Origin::Harness, Cow::Owned(event_line(event))),
    }
}

fn call<'a>(tool: &'a str, call: &'a str, arguments: &Value) -> LogContent<'a> {
    LogContent {
        origin: Origin::ToolCall,
        text: calls::render(tool, &arguments.to_string()).into(),
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
) -> LogContent<'a> {
    let status = match success {
        true => ToolStatus::Succeeded,
        false => ToolStatus::Failed,
    };
    LogContent {
        origin: Origin::ToolResult,
        text,
        tool,
        call: Some(call),
        status: Some(status),
    }
}

fn value_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        Value::Null => "".into(),
        value => value.to_string().into(),
    }
}

/// An event in one line: its type, and its other fields as JSON.
fn event_line(event: &ThreadEvent) -> String {
    match serde_json::to_value(event) {
        Ok(Value::Object(mut fields)) => {
            for name in ["type", "timestamp", "metadata"] {
                fields.remove(name);
            }
            format!("{} {}", event.kind.name(), Value::Object(fields))
        }
        Ok(_) | Err(_) => event.kind.name().into_owned(),
    }
}
