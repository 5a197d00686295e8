//! The work of the nine tools of `server-memory`, on the person's knowledge graph.
//!
//! The answers have the form that clients of that server read: nothing stands around the JSON.

use anyhow::{Result, bail};
use daybook_engine::files::graph::{GraphEntity, GraphRelation, KnowledgeGraph};
use daybook_engine::recall::interface_use::InterfaceUse;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::answer::VerbatimFailure;
use super::arguments::parse_arguments;
use super::call::McpCall;
use super::graph_tools::GraphTool;
use crate::process::block_on;
use crate::service::RequestError;
use crate::service::agent_answer::AgentAnswer;
use crate::service::graph::{change_graph, read_graph, redacted};

#[derive(Deserialize)]
struct Entities {
    entities: Vec<GraphEntity>,
}

#[derive(Deserialize)]
struct Relations {
    relations: Vec<GraphRelation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfEntity {
    entity_name: String,
    #[serde(alias = "contents")]
    observations: Vec<String>,
}

#[derive(Deserialize)]
struct Observations {
    #[serde(alias = "deletions")]
    observations: Vec<OfEntity>,
}

#[derive(Deserialize)]
struct Names {
    #[serde(alias = "entityNames")]
    names: Vec<String>,
}

#[derive(Deserialize)]
struct Query {
    query: String,
}

pub(super) fn run(
    call: &McpCall<'_>,
    tool: GraphTool,
    arguments: Map<String, Value>,
) -> Result<AgentAnswer> {
    match tool {
        GraphTool::CreateEntities => {
            let given: Entities = parse_arguments(arguments)?;
            let entities = redacted_graph(given.entities, Vec::new()).entities;
            let new = change(call, "create entities", |graph| {
                Ok(graph.create_entities(entities))
            })?;
            answer(&new, "entities")
        }
        GraphTool::CreateRelations => {
            let given: Relations = parse_arguments(arguments)?;
            let relations = redacted_graph(Vec::new(), given.relations).relations;
            let new = change(call, "create relations", |graph| {
                Ok(graph.create_relations(relations))
            })?;
            answer(&new, "relations")
        }
        GraphTool::AddObservations => {
            let mut given = of_entities(parse_arguments(arguments)?);
            for text in given.iter_mut().flat_map(|(_, texts)| texts) {
                *text = redacted(text);
            }
            let added = change(call, "add observations", |graph| {
                let added = graph.add_observations(given);
                added.map_err(|unknown| RequestError::NotFound(unknown.to_string()))
            })?;
            answer(&added, "results")
        }
        GraphTool::DeleteEntities => {
            let given: Names = parse_arguments(arguments)?;
            change(call, "delete entities", |graph| {
                graph.delete_entities(&given.names);
                Ok(())
            })?;
            Ok(done("Entities"))
        }
        GraphTool::DeleteObservations => {
            let given = of_entities(parse_arguments(arguments)?);
            change(call, "delete observations", |graph| {
                graph.delete_observations(&given);
                Ok(())
            })?;
            Ok(done("Observations"))
        }
        GraphTool::DeleteRelations => {
            let given: Relations = parse_arguments(arguments)?;
            change(call, "delete relations", |graph| {
                graph.delete_relations(&given.relations);
                Ok(())
            })?;
            Ok(done("Relations"))
        }
        GraphTool::ReadGraph => show(call, &read(call)?),
        GraphTool::SearchNodes => {
            let asked: Query = parse_arguments(arguments)?;
            show(call, &read(call)?.search(&asked.query))
        }
        GraphTool::OpenNodes => {
            let asked: Names = parse_arguments(arguments)?;
            show(call, &read(call)?.open(&asked.names))
        }
    }
}

fn of_entities(given: Observations) -> Vec<(String, Vec<String>)> {
    let given = given.observations.into_iter();
    given
        .map(|one| (one.entity_name, one.observations))
        .collect()
}

fn redacted_graph(entities: Vec<GraphEntity>, relations: Vec<GraphRelation>) -> KnowledgeGraph {
    let given = KnowledgeGraph::new(entities, relations);
    given.map_texts(|text| redacted(&text))
}

/// The graph; an empty one while nothing is remembered.
pub(super) fn read(call: &McpCall<'_>) -> Result<KnowledgeGraph> {
    match call.memory.existing()? {
        Some(daybook) => read_graph(&daybook),
        None => Ok(KnowledgeGraph::default()),
    }
}

fn change<T>(
    call: &McpCall<'_>,
    what: &str,
    change: impl FnOnce(&mut KnowledgeGraph) -> Result<T, RequestError>,
) -> Result<T> {
    let _turn = call.memory.writing();
    call.check_cancelled()?;
    let daybook = call.memory.existing_or_new()?;
    let message = format!("Knowledge graph: {what}");
    match block_on(change_graph(&daybook, &message, change)) {
        Ok(Some(result)) => Ok(result),
        Ok(None) => bail!("the graph was not read; call it again"),
        Err(error) => match error.downcast_ref::<RequestError>() {
            Some(RequestError::NotFound(why)) => bail!(VerbatimFailure(why.clone())),
            Some(
                RequestError::Invalid(_) | RequestError::Conflict(_) | RequestError::Unavailable(_),
            )
            | None => Err(error),
        },
    }
}

fn show(call: &McpCall<'_>, graph: &KnowledgeGraph) -> Result<AgentAnswer> {
    let text = serde_json::to_string_pretty(graph)?;
    call.record_shown(InterfaceUse::Text(text.clone()));
    let data = json!(graph);
    Ok(AgentAnswer { text, data })
}

fn answer(results: &impl Serialize, field: &str) -> Result<AgentAnswer> {
    let text = serde_json::to_string_pretty(results)?;
    let data = json!({field: results});
    Ok(AgentAnswer { text, data })
}

fn done(what: &str) -> AgentAnswer {
    let text = format!("{what} deleted successfully");
    let data = json!({"success": true, "message": text});
    AgentAnswer { text, data }
}
