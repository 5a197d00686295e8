//! The file of the server `server-memory`: a JSON object on each line, an entity or a relation.

use serde::{Deserialize, Serialize};

use super::{GraphEntity, GraphRelation, KnowledgeGraph};

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum GraphLine {
    Entity(GraphEntity),
    Relation(GraphRelation),
}

/// The graph of a file, and the numbers of the lines that are none of it. These are left out.
#[must_use]
pub fn parse_lines(file: &str) -> (KnowledgeGraph, Vec<usize>) {
    let (mut graph, mut bad) = (KnowledgeGraph::default(), Vec::new());
    for (number, line) in file.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(line) {
            Ok(GraphLine::Entity(entity)) => graph.entities.push(entity),
            Ok(GraphLine::Relation(relation)) => graph.relations.push(relation),
            Err(_) => bad.push(number + 1),
        }
    }
    (graph, bad)
}

/// The file of a graph.
#[must_use]
pub fn to_lines(graph: &KnowledgeGraph) -> String {
    let entities = graph.entities.iter().cloned().map(GraphLine::Entity);
    let relations = graph.relations.iter().cloned().map(GraphLine::Relation);
    let lines = entities.chain(relations);
    // Objects of strings are always JSON.
    let lines = lines.filter_map(|line| serde_json::to_string(&line).ok());
    lines.map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_written_and_a_bad_line_costs_no_other() {
        let file = "\
{\"type\":\"entity\",\"name\":\"ada\",\"entityType\":\"person\",\"observations\":[\"prefers tea\"]}
{\"type\":\"relation\",\"from\":\"ada\",\"to\":\"harbour\",\"relationType\":\"keeps\"}
";
        let (graph, bad) = parse_lines(file);
        assert_eq!((to_lines(&graph), bad), (file.to_owned(), vec![]));
        let (graph, bad) = parse_lines(&format!("{{\n\n{file}[]\n"));
        assert_eq!((to_lines(&graph), bad), (file.to_owned(), vec![1, 5]));
    }
}
