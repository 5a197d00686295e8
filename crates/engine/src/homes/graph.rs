//! The file of MCP's memory server: entities with observations, and relations, each a JSON object on its line.

use serde_json::Value;

use super::entry::{HomeEntry, lines, one_line};

/// Whether a file that begins so is one of the memory server.
pub(super) fn is_evident(start: &str) -> bool {
    let first = start.lines().next().unwrap_or_default();
    let first: Value = serde_json::from_str(first).unwrap_or_default();
    match first["type"].as_str() {
        Some("entity") => first["name"].is_string() && first["observations"].is_array(),
        Some("relation") => first["from"].is_string() && first["to"].is_string(),
        _ => false,
    }
}

/// Lines that hold neither an entity nor a relation, with what they are.
pub(super) fn unreadable_lines(text: &str) -> Vec<(u32, String)> {
    let filled = lines(text).filter(|line| !line.text.trim().is_empty());
    let refused = filled.filter_map(|line| {
        let why = match serde_json::from_str::<Value>(line.text) {
            Err(_) => "no JSON",
            Ok(_) if is_evident(line.text) => return None,
            Ok(_) => "neither an entity nor a relation",
        };
        let number = u32::try_from(line.number).unwrap_or(u32::MAX);
        Some((number, why.to_owned()))
    });
    refused.collect()
}

/// The entries of the file: each observation with the name of its entity, and each relation.
pub(super) fn entries(text: &str) -> Vec<HomeEntry> {
    let mut entries = Vec::new();
    for line in lines(text) {
        let object: Value = serde_json::from_str(line.text).unwrap_or_default();
        let field = |name: &str| object[name].as_str().unwrap_or_default();
        let mut push = |words: String, context: &str| {
            entries.push(HomeEntry {
                text: one_line(&words),
                context: Some(one_line(context)).filter(|context| !context.is_empty()),
                ..HomeEntry::new(text, line.start..line.end, line.words_after(0), line.number)
            });
        };
        match field("type") {
            "entity" => {
                let observations = object["observations"].as_array().into_iter().flatten();
                for observation in observations.filter_map(Value::as_str) {
                    push(
                        format!("{}: {observation}", field("name")),
                        field("entityType"),
                    );
                }
            }
            "relation" => {
                let relation = field("relationType").replace('_', " ");
                push(format!("{} {relation} {}", field("from"), field("to")), "");
            }
            _ => {}
        }
    }
    entries
}
