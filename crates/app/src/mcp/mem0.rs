//! The work of mem0's tools. Where a call names no owner, it is about the person.

use anyhow::{Result, anyhow, bail};
use daybook_engine::recall::interface_use::InterfaceUse;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::nothing_yet;
use super::arguments::{count, parse_arguments, within};
use super::call::McpCall;
use super::mem0_tools::Mem0Tool;
use crate::process::block_on;
use crate::service::agent_answer::AgentAnswer;
use crate::service::mem0::Owners;
use crate::service::mem0::adding::{Addition, Message, add_as_is, add_to_learn};
use crate::service::mem0::changing::{Update, delete, delete_all, update};
use crate::service::mem0::events::{event, events};
use crate::service::mem0::filter::Filter;
use crate::service::mem0::reading::{Wanted, entities, get, list, of_owners, search};
use crate::wiring::Daybook;

/// The least score of an answer to a question.
const THRESHOLD: f64 = 0.1;

#[derive(Deserialize)]
struct Add {
    text: Option<String>,
    messages: Option<Vec<Message>>,
    #[serde(default)]
    metadata: Map<String, Value>,
    infer: Option<bool>,
    #[serde(flatten)]
    owners: Owners,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Find {
    #[serde(default)]
    query: String,
    filters: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "count")]
    limit: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    page: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    page_size: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paged {
    #[serde(default, deserialize_with = "count")]
    page: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    page_size: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    #[serde(alias = "event_id")]
    memory_id: String,
    text: Option<String>,
}

pub(super) fn run(
    call: &McpCall<'_>,
    tool: Mem0Tool,
    arguments: Map<String, Value>,
) -> Result<AgentAnswer> {
    match tool {
        Mem0Tool::Add => add(call, parse_arguments(arguments)?),
        Mem0Tool::Search => find(call, parse_arguments(arguments)?, true),
        Mem0Tool::List => find(call, parse_arguments(arguments)?, false),
        Mem0Tool::Get => {
            let named: Named = parse_arguments(arguments)?;
            let daybook = opened(call)?;
            shown(call, json!(call.read(get(&daybook, &named.memory_id))?))
        }
        Mem0Tool::Update => {
            let named: Named = parse_arguments(arguments)?;
            let new = Update {
                text: Some(named.text.ok_or_else(|| anyhow!("text is missing"))?),
                ..Update::default()
            };
            let (_turn, daybook) = (call.memory.writing(), opened(call)?);
            call.check_cancelled()?;
            let updated = block_on(update(&daybook, &named.memory_id, new))?;
            shown(call, json!(updated))
        }
        Mem0Tool::Delete => {
            let named: Named = parse_arguments(arguments)?;
            let (_turn, daybook) = (call.memory.writing(), opened(call)?);
            call.check_cancelled()?;
            block_on(delete(&daybook, &named.memory_id))?;
            Ok(answer(json!({"message": "Memory deleted successfully!"})))
        }
        Mem0Tool::DeleteAll | Mem0Tool::DeleteEntities => {
            delete_of(call, &parse_arguments(arguments)?)
        }
        Mem0Tool::ListEntities => {
            let Some(daybook) = call.memory.existing()? else {
                return Ok(nothing_yet(json!({"count": 0, "results": []})));
            };
            let all = call.read(entities(&daybook))?;
            Ok(answer(json!({"count": all.len(), "results": all})))
        }
        Mem0Tool::ListEvents => {
            let asked: Paged = parse_arguments(arguments)?;
            let Some(daybook) = call.memory.existing()? else {
                return Ok(nothing_yet(json!({"count": 0, "results": []})));
            };
            let page = within("page", asked.page.unwrap_or(1), 1, 1_000_000)?;
            let size = within("page_size", asked.page_size.unwrap_or(50), 1, 100)?;
            let (count, found) = call.read(events(&daybook, (page, size)))?;
            shown(call, json!({"count": count, "results": found}))
        }
        Mem0Tool::EventStatus => {
            let named: Named = parse_arguments(arguments)?;
            let daybook = opened(call)?;
            shown(call, json!(call.read(event(&daybook, &named.memory_id))?))
        }
    }
}

fn opened(call: &McpCall<'_>) -> Result<std::sync::Arc<Daybook>> {
    match call.memory.existing()? {
        Some(daybook) => Ok(daybook),
        None => bail!("nothing is remembered yet"),
    }
}

fn add(call: &McpCall<'_>, given: Add) -> Result<AgentAnswer> {
    let is_to_learn = given.infer.unwrap_or(given.messages.is_some());
    let messages = match (given.messages, given.text) {
        (Some(messages), _) => messages,
        (None, Some(text)) => vec![Message::of_person(text)],
        (None, None) => bail!("give a text, or messages"),
    };
    let _turn = call.memory.writing();
    call.check_cancelled()?;
    let daybook = call.memory.existing_or_new()?;
    let addition = Addition {
        messages,
        owners: or_person(given.owners, &daybook),
        metadata: given.metadata,
        expiration_date: None,
    };
    if is_to_learn {
        let event = block_on(add_to_learn(&daybook, &addition))?;
        return Ok(answer(json!({"event_id": event, "status": "PENDING"})));
    }
    let added = block_on(add_as_is(&daybook, &addition))?;
    Ok(answer(json!({"status": "SUCCEEDED", "results": added})))
}

fn or_person(owners: Owners, daybook: &Daybook) -> Owners {
    match owners.is_empty() {
        true => Owners {
            user_id: Some(daybook.settings.person.clone()),
            ..owners
        },
        false => owners,
    }
}

fn find(call: &McpCall<'_>, asked: Find, is_search: bool) -> Result<AgentAnswer> {
    let limit = within("limit", asked.limit.unwrap_or(10), 1, 100)?;
    let page = within("page", asked.page.unwrap_or(1), 1, 1_000_000)?;
    let size = within("page_size", asked.page_size.unwrap_or(50), 1, 100)?;
    if is_search && asked.query.trim().is_empty() {
        bail!("the query is empty; say what you want to know");
    }
    let Some(daybook) = call.memory.existing()? else {
        return Ok(nothing_yet(json!({"count": 0, "results": []})));
    };
    let filter = match asked.filters {
        Some(fields) if !fields.is_empty() => Filter::parse(fields)?,
        Some(_) | None => of_owners(&or_person(Owners::default(), &daybook))?,
    };
    let wanted = Wanted {
        filter,
        expired: false,
    };
    if is_search {
        let found = search(&daybook, &asked.query, (&wanted, limit), THRESHOLD);
        return shown(call, json!({"results": call.read(found)?}));
    }
    let all = call.read(list(&daybook, &wanted))?;
    let of_page: Vec<_> = all.iter().skip((page - 1) * size).take(size).collect();
    shown(
        call,
        json!({"count": all.len(), "page": page, "results": of_page}),
    )
}

fn delete_of(call: &McpCall<'_>, owners: &Owners) -> Result<AgentAnswer> {
    if owners.is_empty() {
        bail!("name a user_id, agent_id, app_id or run_id; without one nothing is forgotten");
    }
    let wanted = Wanted {
        filter: of_owners(owners)?,
        expired: true,
    };
    let (_turn, daybook) = (call.memory.writing(), opened(call)?);
    call.check_cancelled()?;
    let deleted = block_on(delete_all(&daybook, &wanted))?;
    Ok(answer(
        json!({"message": "Memories deleted successfully!", "deleted": deleted}),
    ))
}

/// An answer that shows memories.
fn shown(call: &McpCall<'_>, data: Value) -> Result<AgentAnswer> {
    let answer = answer(data);
    call.record_shown(InterfaceUse::Text(answer.text.clone()));
    Ok(answer)
}

/// As clients of mem0 read it: the JSON alone.
fn answer(data: Value) -> AgentAnswer {
    AgentAnswer {
        text: format!("{data:#}"),
        data,
    }
}
