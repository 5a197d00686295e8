//! The tools by which agents keep entities: their schemas, and the repository that they work on.
//!
//! A connected client's tool call writes at once. A memory agent's writes are staged in an
//! [`EntityRepository`] and stored with the extraction. Arguments and answers are the same for both.
//!
//! Not here: the files (`files::entities`), the validation of a memory agent's writes (`model::agent`).

use async_trait::async_trait;
use daybook_domain::{EntityChange, EntityWrite, Session};
use serde_json::{Value, json};

use super::ExtractError;

/// Most entities in one list.
pub const MAX_LISTED_ENTITIES: usize = 200;
/// Longest name of an entity for people, in characters.
pub const MAX_NAME_CHARS: usize = 60;
/// Longest description of an entity, in characters.
pub const MAX_DESCRIPTION_CHARS: usize = 160;

/// A tool's name, when to use it, and the schema of its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityTool {
    /// The name by which agents call it.
    pub name: &'static str,
    /// For the agent: when to use it.
    pub about: &'static str,
    /// JSON schema of its arguments; unknown ones are refused.
    pub arguments: Value,
}

/// The tool that creates an entity, or changes its name and description.
#[must_use]
pub fn create_entity_tool() -> EntityTool {
    let properties = json!({
        "entity": {"type": "string", "minLength": 1},
        "name": {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS},
        "description": {"type": "string", "minLength": 1, "maxLength": MAX_DESCRIPTION_CHARS},
    });
    EntityTool {
        name: "memory_create_entity",
        about: "Create a memory entity (a person, project, place or thing worth keeping records \
                about), or change its name and description.",
        arguments: object(properties, &["entity", "name", "description"]),
    }
}

/// The tool that writes a record.
#[must_use]
pub fn upsert_record_tool() -> EntityTool {
    let properties = json!({
        "entity": {"type": "string", "minLength": 1},
        "record": {"type": "string", "minLength": 1},
        "content": {"type": "string", "minLength": 1},
    });
    EntityTool {
        name: "memory_upsert_record",
        about: "Add a record to a memory entity, or replace the record of that name.",
        arguments: object(properties, &["entity", "record", "content"]),
    }
}

/// The tool that lists entities.
#[must_use]
pub fn list_entities_tool() -> EntityTool {
    let limit = json!({"limit": {"type": "number", "minimum": 1, "maximum": MAX_LISTED_ENTITIES}});
    EntityTool {
        name: "memory_list_entities",
        about: "List the memory entities with their names and descriptions.",
        arguments: object(limit, &[]),
    }
}

/// The tool that reads one entity with its records.
#[must_use]
pub fn read_entity_tool() -> EntityTool {
    let properties = json!({"entity": {"type": "string", "minLength": 1}});
    EntityTool {
        name: "memory_read_entity",
        about: "Read a memory entity with all its records.",
        arguments: object(properties, &["entity"]),
    }
}

/// The tool that returns the time.
#[must_use]
pub fn now_tool() -> EntityTool {
    EntityTool {
        name: "now",
        about: "Tell the present date and time, in UTC.",
        arguments: object(json!({}), &[]),
    }
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A checked write, not staged yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedWrite {
    /// The write, redacted.
    pub write: EntityWrite,
    /// The entity's file before the write.
    pub before: String,
    /// Secrets that were hidden in it.
    pub secrets: usize,
}

/// A person's entities during one extraction. Reads include staged writes, which are in no file yet.
pub trait EntityRepository: Send {
    /// At most `limit` entities, a line each.
    fn list(&self, limit: usize) -> Vec<String>;

    /// An entity's file.
    ///
    /// # Errors
    /// If there is no such entity; the message is for the agent.
    fn read(&self, entity: &str) -> Result<String, String>;

    /// Checks a change and returns it as a write. Stages nothing.
    ///
    /// # Errors
    /// If the change is not allowed; the message for the agent is in Daycare's words (D93).
    fn propose(&self, entity: &str, change: &EntityChange) -> Result<ProposedWrite, String>;

    /// Stages a write and returns the answer for the agent.
    ///
    /// # Errors
    /// If the write is not allowed; the message is for the agent.
    fn stage(&mut self, proposed: ProposedWrite) -> Result<String, String>;

    /// The staged writes in the order to write them, the last for each card or record.
    fn staged(self: Box<Self>) -> Vec<EntityWrite>;
}

/// Opens the entities of a session's person.
#[async_trait]
pub trait EntityRepositories: Send + Sync {
    /// Their present entities, including writes that are stored and not yet in files.
    ///
    /// # Errors
    /// When store or disk cannot be read.
    async fn open(&self, session: &Session) -> Result<Box<dyn EntityRepository>, ExtractError>;
}
