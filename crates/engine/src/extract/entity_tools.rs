//! The tools by which agents keep entities (spec D.7): their schemas, and the shelf that they work on.
//!
//! Whoever is connected through a door writes at once; a memory agent's writes are staged on a
//! [`Shelf`] and land with the extraction. What is asked of them, and what they answer, is the same.
//!
//! Not here: the files (`files::entities`), what may be believed of a write (`model::agent`).

use async_trait::async_trait;
use daybook_domain::{EntityChange, EntityWrite, Session};
use serde_json::{Value, json};

use super::ExtractError;

/// Most entities that are listed.
pub const LISTED: usize = 200;
/// Longest name of an entity for people, in characters.
pub const NAME: usize = 60;
/// Longest description of an entity, in characters.
pub const DESCRIPTION: usize = 160;

/// A tool's name, when to use it, and the schema of its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityTool {
    /// By which it is called.
    pub name: &'static str,
    /// When to use it.
    pub about: &'static str,
    /// Its arguments; unknown ones are refused.
    pub arguments: Value,
}

/// Makes an entity, or describes it anew.
#[must_use]
pub fn create_entity() -> EntityTool {
    let properties = json!({
        "entity": {"type": "string", "minLength": 1},
        "name": {"type": "string", "minLength": 1, "maxLength": NAME},
        "description": {"type": "string", "minLength": 1, "maxLength": DESCRIPTION},
    });
    EntityTool {
        name: "memory_create_entity",
        about: "Create a memory entity (a person, project, place or thing worth keeping records \
                about), or change its name and description.",
        arguments: object(properties, &["entity", "name", "description"]),
    }
}

/// Writes a record.
#[must_use]
pub fn upsert_record() -> EntityTool {
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

/// Lists entities.
#[must_use]
pub fn list_entities() -> EntityTool {
    let limit = json!({"limit": {"type": "number", "minimum": 1, "maximum": LISTED}});
    EntityTool {
        name: "memory_list_entities",
        about: "List the memory entities with their names and descriptions.",
        arguments: object(limit, &[]),
    }
}

/// Shows one entity with its records.
#[must_use]
pub fn read_entity() -> EntityTool {
    let properties = json!({"entity": {"type": "string", "minLength": 1}});
    EntityTool {
        name: "memory_read_entity",
        about: "Read a memory entity with all its records.",
        arguments: object(properties, &["entity"]),
    }
}

/// Tells the time.
#[must_use]
pub fn now() -> EntityTool {
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

/// A write that could be staged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    /// The write, checked and redacted.
    pub write: EntityWrite,
    /// All that the entity's file says before it.
    pub before: String,
    /// Secrets that were hidden in it.
    pub secrets: usize,
}

/// A person's entities as one extraction sees and changes them. Nothing that is staged here stands in
/// a file, but it is read here as if it did.
pub trait Shelf: Send {
    /// At most `limit` entities, a line each.
    fn list(&self, limit: usize) -> Vec<String>;

    /// An entity's file.
    ///
    /// # Errors
    /// What the agent is told where there is none.
    fn read(&self, entity: &str) -> Result<String, String>;

    /// The write that a change would be. Stages nothing.
    ///
    /// # Errors
    /// What the agent is told where it may not be, in the words of D.7.
    fn propose(&self, entity: &str, change: &EntityChange) -> Result<Proposed, String>;

    /// Stages a write, and says what the agent is told.
    ///
    /// # Errors
    /// What the agent is told where it may not be.
    fn stage(&mut self, proposed: Proposed) -> Result<String, String>;

    /// What was staged, each place once, in the order in which it is to be written.
    fn staged(self: Box<Self>) -> Vec<EntityWrite>;
}

/// Finds the entities of the person whose session it is.
#[async_trait]
pub trait Shelves: Send + Sync {
    /// Their entities now, with what waits to be written.
    ///
    /// # Errors
    /// When store or disk cannot be read.
    async fn open(&self, session: &Session) -> Result<Box<dyn Shelf>, ExtractError>;
}
