//! The knowledge graph of the MCP server `server-memory`, kept as a page that people read: `graph.md`.
//!
//! The operations do what that server does with its file, twins and all: an entity is created where none has its name, an
//! observation is added where the entity lacks it, and a relation may name what is no entity. What a person wrote on the page
//! beside the graph stays on it.
//!
//! Not here: the form of the page (`page`) and of the other server's file (`jsonl`), and the commit of a change.

mod jsonl;
mod page;

use serde::{Deserialize, Serialize};

pub use jsonl::{parse_lines, to_lines};
pub use page::{parse_page, render_page};

/// The page's name in a memory folder.
pub const GRAPH: &str = "graph.md";

/// Something with a name, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphEntity {
    /// Its name, by which relations refer to it.
    pub name: String,
    /// What sort of thing it is.
    pub entity_type: String,
    /// What is known of it, in the order in which it was added.
    pub observations: Vec<String>,
    /// Lines that a person wrote below it.
    #[serde(skip)]
    pub(super) notes: Vec<String>,
}

/// What one entity is to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphRelation {
    /// Where it starts.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// What it says, in active voice.
    pub relation_type: String,
}

/// Observations of one entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddedObservations {
    /// The entity.
    pub entity_name: String,
    /// Those that it lacked.
    pub added_observations: Vec<String>,
}

/// No entity has the name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("Entity with name {0} not found")]
pub struct UnknownEntity(pub String);

/// Entities and relations, in the order in which they were created.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct KnowledgeGraph {
    /// The entities.
    pub entities: Vec<GraphEntity>,
    /// The relations.
    pub relations: Vec<GraphRelation>,
    /// Lines that a person wrote above the first entity.
    #[serde(skip)]
    pub(super) head: Vec<String>,
    /// Lines that a person wrote below the relations.
    #[serde(skip)]
    pub(super) tail: Vec<String>,
}

impl GraphEntity {
    /// An entity.
    #[must_use]
    pub fn new(name: String, entity_type: String, observations: Vec<String>) -> Self {
        Self {
            name,
            entity_type,
            observations,
            notes: Vec::new(),
        }
    }

    fn contains(&self, query: &str) -> bool {
        let holds = |text: &String| text.to_lowercase().contains(query);
        holds(&self.name) || holds(&self.entity_type) || self.observations.iter().any(holds)
    }
}

impl KnowledgeGraph {
    /// A graph of these.
    #[must_use]
    pub fn new(entities: Vec<GraphEntity>, relations: Vec<GraphRelation>) -> Self {
        Self {
            entities,
            relations,
            ..Self::default()
        }
    }

    /// Adds the entities whose names are new, and returns them.
    pub fn create_entities(&mut self, mut entities: Vec<GraphEntity>) -> Vec<GraphEntity> {
        entities.retain(|new| !self.entities.iter().any(|known| known.name == new.name));
        self.entities.extend(entities.clone());
        entities
    }

    /// Adds the relations that are new, and returns them.
    pub fn create_relations(&mut self, mut relations: Vec<GraphRelation>) -> Vec<GraphRelation> {
        relations.retain(|new| !self.relations.contains(new));
        self.relations.extend(relations.clone());
        relations
    }

    /// Adds observations that their entities lack.
    ///
    /// # Errors
    /// [`UnknownEntity`] for a name that none has. The graph may be changed in part then, and must not be kept.
    pub fn add_observations(
        &mut self,
        observations: Vec<(String, Vec<String>)>,
    ) -> Result<Vec<AddedObservations>, UnknownEntity> {
        let mut all = Vec::new();
        for (name, mut contents) in observations {
            let entity = self.entities.iter_mut().find(|it| it.name == name);
            let entity = entity.ok_or_else(|| UnknownEntity(name.clone()))?;
            contents.retain(|content| !entity.observations.contains(content));
            entity.observations.extend(contents.clone());
            all.push(AddedObservations {
                entity_name: name,
                added_observations: contents,
            });
        }
        Ok(all)
    }

    /// Removes entities, and the relations that name them.
    pub fn delete_entities(&mut self, names: &[String]) {
        self.entities.retain(|it| !names.contains(&it.name));
        self.relations
            .retain(|it| !names.contains(&it.from) && !names.contains(&it.to));
    }

    /// Removes observations. An unknown entity has none.
    pub fn delete_observations(&mut self, deletions: &[(String, Vec<String>)]) {
        for (name, gone) in deletions {
            if let Some(entity) = self.entities.iter_mut().find(|it| it.name == *name) {
                entity.observations.retain(|it| !gone.contains(it));
            }
        }
    }

    /// Removes relations.
    pub fn delete_relations(&mut self, relations: &[GraphRelation]) {
        self.relations.retain(|it| !relations.contains(it));
    }

    /// Adds all of another graph that this one lacks, observations of known entities too.
    pub fn merge(&mut self, other: Self) {
        for entity in other.entities {
            match self.entities.iter_mut().find(|it| it.name == entity.name) {
                None => self.entities.push(entity),
                Some(known) => {
                    let new = entity.observations.into_iter();
                    let new: Vec<String> =
                        new.filter(|it| !known.observations.contains(it)).collect();
                    known.observations.extend(new);
                }
            }
        }
        self.create_relations(other.relations);
    }

    /// The entities that contain `query` in their name, type or observations, with the relations of each.
    #[must_use]
    pub fn search(&self, query: &str) -> Self {
        let query = query.to_lowercase();
        self.part(|entity| entity.contains(&query))
    }

    /// The entities of these names, with the relations of each.
    #[must_use]
    pub fn open(&self, names: &[String]) -> Self {
        self.part(|entity| names.contains(&entity.name))
    }

    /// The same graph with `change` made to each of its texts.
    #[must_use]
    pub fn map_texts(self, change: impl Fn(String) -> String) -> Self {
        let entities = self.entities.into_iter().map(|it| GraphEntity {
            name: change(it.name),
            entity_type: change(it.entity_type),
            observations: it.observations.into_iter().map(&change).collect(),
            notes: it.notes,
        });
        let relations = self.relations.into_iter().map(|it| GraphRelation {
            from: change(it.from),
            to: change(it.to),
            relation_type: change(it.relation_type),
        });
        Self {
            entities: entities.collect(),
            relations: relations.collect(),
            head: self.head,
            tail: self.tail,
        }
    }

    fn part(&self, is_wanted: impl Fn(&GraphEntity) -> bool) -> Self {
        let entities: Vec<GraphEntity> = self
            .entities
            .iter()
            .filter(|entity| is_wanted(entity))
            .cloned()
            .collect();
        let is_there = |name: &str| entities.iter().any(|it| it.name == name);
        let relations = self.relations.iter();
        let relations = relations.filter(|it| is_there(&it.from) || is_there(&it.to));
        Self {
            relations: relations.cloned().collect(),
            entities,
            ..Self::default()
        }
    }
}
