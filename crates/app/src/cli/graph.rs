//! `daybook entities export-graph` and `import-graph`: the knowledge graph as the file of the MCP server `server-memory`.

use std::io::{IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use daybook_engine::bounded;
use daybook_engine::files::graph::{parse_lines, to_lines};
use serde_json::json;

use super::CommonArgs;
use crate::process::block_on;
use crate::service::graph::{change_graph, read_graph, redacted};
use crate::terminal::output::{json as print_json, print_line};
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Largest file that is imported, in bytes.
const FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Most lines that are named where they could not be read.
const NAMED_LINES: usize = 10;

pub(super) fn export(common: &CommonArgs) -> Result<()> {
    let daybook = Daybook::open_existing(common)?;
    for line in to_lines(&read_graph(&daybook)?).lines() {
        print_line!("{line}");
    }
    Ok(())
}

pub(super) fn import(common: &CommonArgs, file: Option<&Path>) -> Result<()> {
    let text = match file {
        Some(file) => bounded::read_text(file, FILE_BYTES)
            .with_context(|| format!("cannot read {}", file.display()))?,
        None => read_input()?,
    };
    let (graph, bad) = parse_lines(&text);
    let (entities, relations) = (graph.entities.len(), graph.relations.len());
    if entities + relations == 0 {
        bail!("the file holds no entity and no relation; give the JSONL file of `server-memory`");
    }
    let graph = graph.map_texts(|text| redacted(&text));
    let daybook = Daybook::open_or_create(common)?;
    let message = "Knowledge graph: import";
    block_on(change_graph(&daybook, message, |known| {
        known.merge(graph);
        Ok(())
    }))?;
    if common.json {
        return print_json(&json!({
            "entities": entities, "relations": relations, "lines_left_out": bad,
        }));
    }
    print_line!("The graph holds the {entities} entities and {relations} relations of the file.");
    if !bad.is_empty() {
        let named: Vec<String> = bad.iter().take(NAMED_LINES).map(usize::to_string).collect();
        let (count, named) = (bad.len(), named.join(", "));
        print_line!("{count} lines are neither and were left out: {named}");
    }
    Ok(())
}

fn read_input() -> Result<String> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        let command = suggest::command_of(&["entities", "import-graph"]);
        bail!("no file was given: {command} memory.jsonl");
    }
    let mut text = String::new();
    let mut input = stdin.take(FILE_BYTES);
    let read = input.read_to_string(&mut text);
    read.context("standard input cannot be read")?;
    Ok(text)
}
