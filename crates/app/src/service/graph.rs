//! The person's knowledge graph: read and changed for every interface. A change is a commit of the person's through an agent,
//! and recall finds the page that holds the graph.
//!
//! Not here: what an operation does to the graph (`daybook_engine::files::graph`).

use std::path::PathBuf;

use anyhow::Result;
use daybook_engine::files::changes::FileChanges;
use daybook_engine::files::error::FilesError;
use daybook_engine::files::graph::{GRAPH, KnowledgeGraph, parse_page, render_page};
use daybook_engine::files::layout::folder;
use daybook_engine::files::own_secrets::masked;
use daybook_engine::files::path::FilePath;
use daybook_engine::files::reader;
use daybook_text::redact::Redactor;

use super::file_changes::plan_change;
use super::memory_changes::RequestedBy;
use super::{RequestError, person_scope};
use crate::wiring::Daybook;

/// The page of the graph.
pub(crate) fn graph_file(daybook: &Daybook) -> PathBuf {
    folder(&daybook.root, &person_scope(daybook)).join(GRAPH)
}

/// The graph, without the secrets that a person may have written into it.
pub(crate) fn read_graph(daybook: &Daybook) -> Result<KnowledgeGraph> {
    let folder = folder(&daybook.root, &person_scope(daybook));
    let page = reader::text(&folder, &FilePath::engine_file(GRAPH)).map_err(FilesError::from)?;
    let redactor = Redactor::current();
    let graph = parse_page(&page.unwrap_or_default());
    Ok(graph.map_texts(|text| masked(&redactor, &text).into_owned()))
}

/// Changes the graph by `change`, which may refuse, and returns its result. The commit has `message` as its subject.
pub(crate) async fn change_graph<T>(
    daybook: &Daybook,
    message: &str,
    change: impl FnOnce(&mut KnowledgeGraph) -> Result<T, RequestError>,
) -> Result<Option<T>> {
    let file = FilePath::engine_file(GRAPH);
    let mut result = None;
    plan_change(
        daybook,
        &person_scope(daybook),
        (message, RequestedBy::Agent),
        |snapshot| {
            let bytes = snapshot.read(&file)?.unwrap_or_default();
            let before = parse_page(&String::from_utf8_lossy(&bytes));
            let mut graph = before.clone();
            match change(&mut graph) {
                Ok(value) => result = Some(value),
                Err(refused) => return Ok(Err(refused)),
            }
            let mut changes = FileChanges::none();
            if graph != before {
                changes.write(file.clone(), render_page(&graph));
            }
            Ok(Ok(changes))
        },
    )
    .await?;
    Ok(result)
}

/// A text that goes into the graph, without its secrets.
pub(crate) fn redacted(text: &str) -> String {
    Redactor::current().redact(text).text.into_owned()
}
