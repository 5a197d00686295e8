//! The checkpoints of LangGraph: the messages of a thread, as its graph has written them.
//!
//! A checkpoint holds all messages of its time, and a thread has one for each step; so the messages are taken from what
//! each step wrote, and from the newest checkpoint. A message that the graph has dropped since comes from the writes
//! alone, one whose write was not kept from the checkpoint alone.
//!
//! Not here: graphs within a graph, whose messages are a sub-agent's.

use std::collections::{BTreeMap, VecDeque};

use rusqlite::{Connection, Row};
use serde_json::{Map, Value, json};

use super::super::connection::Fault;
use super::{Layout, SessionLines, bytes, msgpack};

pub(super) const LAYOUT: Layout = Layout {
    tables: &[
        (
            "checkpoints",
            &["thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint"],
        ),
        (
            "writes",
            &["thread_id", "checkpoint_id", "channel", "value"],
        ),
    ],
    sessions: "SELECT thread_id FROM checkpoints WHERE checkpoint_ns = '' GROUP BY thread_id ORDER BY min(checkpoint_id)",
    write_lines,
};

/// The channel in which graphs keep messages, unless they name it otherwise.
const CHANNEL: &str = "messages";
const CHANNEL_VALUE: &str = "/channel_values/messages";
/// 100-nanosecond steps between 1582, when ids of version 6 begin to count, and 1970.
const BEFORE_1970: u64 = 0x01b2_1dd2_1381_4000;

/// A message, and the time of the step that wrote it, in milliseconds since 1970.
struct Written {
    message: Value,
    at: Option<u64>,
}

fn write_lines(
    database: &Connection,
    session: &str,
    lines: &mut SessionLines,
) -> Result<(), Fault> {
    lines.push(&json!({"langgraph": {"thread": session}}))?;
    let written = written_messages(database, session)?;
    let newest = newest_messages(database, session)?;
    for Written { message, at } in merge(written, newest) {
        lines.push(&json!({"langgraph": {"message": message, "at": at}}))?;
    }
    Ok(())
}

/// What the thread's steps wrote, in their order.
fn written_messages(database: &Connection, session: &str) -> Result<Vec<Written>, Fault> {
    let mut writes = database.prepare(
        "SELECT type, value, checkpoint_id FROM writes \
         WHERE thread_id = ?1 AND checkpoint_ns = '' AND channel = ?2 ORDER BY checkpoint_id, task_id, idx",
    )?;
    let mut writes = writes.query([session, CHANNEL])?;
    let mut written = Vec::new();
    while let Some(row) = writes.next()? {
        let at = time_of(&row.get::<_, String>(2)?);
        let messages = messages_in(decoded(row)?).into_iter();
        written.extend(messages.map(|message| Written { message, at }));
    }
    Ok(written)
}

/// The messages of the newest checkpoint, and its time.
fn newest_messages(database: &Connection, session: &str) -> Result<Vec<Written>, Fault> {
    let mut newest = database.prepare(
        "SELECT type, checkpoint, checkpoint_id FROM checkpoints \
         WHERE thread_id = ?1 AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1",
    )?;
    let mut newest = newest.query([session])?;
    let Some(row) = newest.next()? else {
        return Ok(Vec::new());
    };
    let at = time_of(&row.get::<_, String>(2)?);
    let mut checkpoint = decoded(row)?;
    let messages = checkpoint.pointer_mut(CHANNEL_VALUE).map(Value::take);
    let messages = messages.into_iter().flat_map(messages_in);
    Ok(messages.map(|message| Written { message, at }).collect())
}

/// All messages once: those that only the writes have come first, since the graph dropped its oldest.
fn merge(written: Vec<Written>, mut newest: Vec<Written>) -> Vec<Written> {
    let mut places: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
    for (nth, one) in newest.iter().enumerate() {
        for key in id_key(&one.message)
            .into_iter()
            .chain([content_key(&one.message)])
        {
            places.entry(key).or_default().push_back(nth);
        }
    }
    let mut merged = Vec::new();
    for one in written {
        // A message gets its id when it is first kept: what was written without one is the same by its content.
        let key = id_key(&one.message).unwrap_or_else(|| content_key(&one.message));
        match places.get_mut(&key).and_then(VecDeque::pop_front) {
            Some(nth) => newest[nth].at = one.at,
            None => merged.push(one),
        }
    }
    merged.extend(newest);
    merged
}

fn id_key(message: &Value) -> Option<String> {
    message["id"].as_str().map(|id| format!("id {id}"))
}

fn content_key(message: &Value) -> String {
    let parts = [
        &message["type"],
        &message["content"],
        &message["tool_calls"],
    ];
    parts.map(Value::to_string).join("\n")
}

/// The value in columns `type` and `value` of a row.
fn decoded(row: &Row<'_>) -> Result<Value, Fault> {
    let kind: Option<String> = row.get(0)?;
    let bytes = bytes(row, 1)?;
    let value = match kind.as_deref() {
        Some("msgpack") => msgpack::decode(bytes, constructed),
        Some("json") => serde_json::from_slice(bytes).ok(),
        _ => None,
    };
    Ok(value.unwrap_or_default())
}

/// The fields of an object that an extension constructs: its module, its class, its fields, and how.
fn constructed(_code: i8, bytes: &[u8], depth: usize) -> Value {
    let parts = msgpack::decode_at(bytes, constructed, depth);
    let mut parts = parts.unwrap_or_default();
    parts.get_mut(2).map(Value::take).unwrap_or_default()
}

/// The messages in a value: one, or a list of them, in any form that graphs take.
fn messages_in(value: Value) -> Vec<Value> {
    match value {
        Value::Array(pair) if pair.len() == 2 && pair.iter().all(Value::is_string) => {
            message(Value::Array(pair)).into_iter().collect()
        }
        Value::Array(list) => list.into_iter().filter_map(message).collect(),
        one => message(one).into_iter().collect(),
    }
}

/// A message with the kind of its speaker as `type`; `None` for what is none, or removes one.
fn message(value: Value) -> Option<Value> {
    let mut fields = match value {
        Value::String(text) => Map::from_iter([
            ("type".to_owned(), "human".into()),
            ("content".to_owned(), text.into()),
        ]),
        Value::Array(pair) => Map::from_iter([
            ("type".to_owned(), pair.first()?.clone()),
            ("content".to_owned(), pair.get(1)?.clone()),
        ]),
        Value::Object(fields) => unwrapped(fields)?,
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    let kind = fields.get("type").or(fields.get("role"))?.as_str()?;
    let kind = match kind.trim_end_matches("MessageChunk") {
        "user" | "human" | "Human" => "human",
        "assistant" | "ai" | "AI" => "ai",
        "remove" => return None,
        other => other,
    };
    let kind = kind.to_owned();
    fields.insert("type".to_owned(), kind.into());
    Some(Value::Object(fields))
}

/// The fields of a message that is written as a call of its class, whose name states the kind where no field does.
fn unwrapped(mut fields: Map<String, Value>) -> Option<Map<String, Value>> {
    let Some(Value::Object(mut inner)) = fields.remove("kwargs") else {
        return Some(fields);
    };
    if !inner.contains_key("type") {
        let class = fields.get("id")?.as_array()?.last()?.as_str()?;
        inner.insert("type".to_owned(), kind_of(class).into());
    }
    Some(inner)
}

/// The kind of a message by its class.
fn kind_of(class: &str) -> String {
    let class = class.trim_end_matches("Chunk");
    class.trim_end_matches("Message").to_lowercase()
}

/// The time in a checkpoint's id, which is a UUID of version 6.
fn time_of(id: &str) -> Option<u64> {
    let digits: String = id.chars().filter(|c| *c != '-').take(16).collect();
    let (high, low) = digits.split_at_checked(12)?;
    let low = low.strip_prefix('6')?;
    let steps = u64::from_str_radix(&format!("{high}{low}"), 16).ok()?;
    Some(steps.checked_sub(BEFORE_1970)? / 10_000)
}

#[cfg(test)]
#[path = "langgraph_tests.rs"]
mod tests;
