//! The table `agents`: what is different for single agents.
//!
//! An agent's own `memory` goes before the one for everything, in both directions; it never means another agent's.
//! MindRoom's spellings of it are understood, too.
//!
//! Not here: which sessions an agent's switch leaves out (`Switches`), the model's provider (`providers`).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::chosen_model::is_model;
use super::kind::{parse_backend, parse_switch};
use super::spend::{check_keys, table};

/// Most agents.
const MOST: usize = 1_000;
/// MindRoom's name of `memory` in its table of an agent.
const BACKEND: &str = "memory_backend";
/// The value of both for an agent whose memory a mem0 server keeps.
const MEM0: &str = "mem0";
/// What an agent's table may hold, in the order in which messages name it.
const KEYS: [&str; 3] = ["memory", BACKEND, "extract_model"];

/// Whether an agent has memory, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentMemory {
    /// None is made from its sessions, and none is given to it.
    Off,
    /// In Daybook's own store and files.
    Here,
    /// On the mem0 server of settings.
    Mem0,
}

impl AgentMemory {
    /// Its name in settings.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Here => "on",
            Self::Mem0 => MEM0,
        }
    }
}

/// What is different for one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AgentSettings {
    /// Whether the agent has memory, and where. `None`: as for everything.
    pub(crate) memory: Option<AgentMemory>,
    /// The value of `extract_model` for its sessions.
    pub(crate) extract_model: Option<String>,
}

/// Parses entries such as `codex = { memory = "off" }`.
pub(super) fn agents(tables: &Value) -> Result<BTreeMap<String, AgentSettings>, String> {
    let tables = table("agents", tables)?;
    if tables.len() > MOST {
        return Err(format!("more than {MOST} agents"));
    }
    let parsed = tables.iter().map(|(name, given)| {
        if name.trim().is_empty() {
            return Err("an agent's name is not empty".to_owned());
        }
        let fields = table(name, given)?;
        let agent = agent(name, fields).map_err(|why| format!("{name}: {why}"))?;
        Ok((name.clone(), agent))
    });
    parsed.collect()
}

fn agent(name: &str, fields: &Map<String, Value>) -> Result<AgentSettings, String> {
    if fields.contains_key("memory_search") {
        return Err(format!("memory_search: {SEARCH}"));
    }
    check_keys(name, fields, &KEYS)?;
    let own = fields.get("memory").map(parse_memory).transpose()?;
    let backend = fields.get(BACKEND).map(parse_memory).transpose()?;
    if let (Some(own), Some(backend)) = (own, backend)
        && own != backend
    {
        return Err(format!(
            "memory and {BACKEND} say different things; keep one"
        ));
    }
    let extract_model = match fields.get("extract_model") {
        None => None,
        Some(given) => {
            let named = given.as_str().filter(|named| is_model(named));
            let why = "extract_model: write \"none\", or a provider and one of its models: \"home/qwen3\"";
            Some(named.ok_or(why)?.to_owned())
        }
    };
    Ok(AgentSettings {
        memory: own.or(backend),
        extract_model,
    })
}

/// The reason why there is no search of an agent's own.
pub(super) const SEARCH: &str = "recall searches all memory files that apply, by words and by meaning, for every \
                                 agent alike; leave it out (`vectors = \"off\"` searches by words alone)";

/// Parses `"on"`, `"mem0"`, MindRoom's `"file"` or `"none"`, or its table with a `backend`.
fn parse_memory(given: &Value) -> Result<AgentMemory, String> {
    let given = match given {
        Value::Object(memory) => {
            check_keys("memory", memory, &["backend"])?;
            memory.get("backend").ok_or("memory: no backend here")?
        }
        other => other,
    };
    let of_switch = |on| match on {
        true => AgentMemory::Here,
        false => AgentMemory::Off,
    };
    if let Some(on) = parse_switch(given) {
        return Ok(of_switch(on));
    }
    match parse_backend(given) {
        Ok(word) => Ok(of_switch(word == "on")),
        Err(_) if given == MEM0 => Ok(AgentMemory::Mem0),
        Err(_) => Err(
            "memory: write \"on\", \"off\" or \"mem0\" (or MindRoom's \"file\" or \"none\")"
                .to_owned(),
        ),
    }
}

/// A JSON Schema of `agents`.
pub(super) fn agents_schema() -> Value {
    let backend = json!({"enum": ["file", "none", MEM0]});
    json!({
        "type": "object",
        "maxProperties": MOST,
        "additionalProperties": {
            "type": "object",
            "properties": {
                "memory": {"anyOf": [
                    {"enum": ["on", "off", true, false, "file", "none", MEM0]},
                    {"type": "object", "properties": {"backend": backend.clone()}, "additionalProperties": false},
                ]},
                "memory_backend": backend,
                "extract_model": {"type": "string", "minLength": 1},
            },
            "additionalProperties": false,
        },
    })
}

/// The agents of another system's settings, of which only memory concerns us: their names with dots, each with its
/// value, in the order of the block.
pub(super) fn foreign_names(agents: &Map<String, Value>) -> Vec<(String, Value)> {
    let mut names = Vec::new();
    for (agent, given) in agents {
        let Value::Object(fields) = given else {
            names.push((format!("agents.{agent}"), given.clone()));
            continue;
        };
        for (key, value) in fields {
            match (key.as_str(), value) {
                ("memory", Value::Object(memory)) => {
                    names.extend(memory.iter().map(|(key, value)| {
                        (format!("agents.{agent}.memory.{key}"), value.clone())
                    }))
                }
                _ => names.push((format!("agents.{agent}.{key}"), value.clone())),
            }
        }
    }
    names
}

/// The agent whose memory a name of another system switches, as [`foreign_names`] spells it.
pub(super) fn switched_agent(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("agents.")?;
    [".memory_backend", ".memory.backend", ".memory"]
        .iter()
        .find_map(|key| rest.strip_suffix(key))
        .filter(|agent| !agent.is_empty())
}

/// Whether a name of another system is about the search of one agent's memory.
pub(super) fn is_search(name: &str) -> bool {
    let Some((_, key)) = name
        .strip_prefix("agents.")
        .and_then(|rest| rest.rsplit_once('.'))
    else {
        return false;
    };
    key == "memory_search"
}

/// The value of `agents.<name>.memory` that another system's value means.
pub(super) fn switch_of(given: &Value) -> Result<&'static str, String> {
    match parse_memory(given)? {
        AgentMemory::Mem0 => Err(
            "MindRoom runs mem0 inside of itself, and Daybook asks a server: name it in `mem0`, then write \
             memory = \"mem0\" for this agent"
                .to_owned(),
        ),
        memory @ (AgentMemory::Off | AgentMemory::Here) => Ok(memory.as_str()),
    }
}
