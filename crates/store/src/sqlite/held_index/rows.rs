//! Reads the rows of the index that are held in memory, and those that changed since.
//!
//! Not here: when they are read (`held_index`), and searches in them (`IndexWords`).

use std::collections::BTreeSet;

use daybook_domain::index::DocumentNo;
use daybook_domain::index_words::{HeldDocument, IndexWords};
use rusqlite::{Connection, Row};

use super::super::connection::Fault;
use super::super::outlines::outline_of_row;

/// Most changed documents that are read while a search waits: some ten microseconds each.
const READ_AT_ONCE: usize = 2048;

/// The columns of a document, which [`document`] reads.
const COLUMNS: &str = "SELECT origin, at, terms, vectors, doc, tenant_no, owner FROM ix_docs
    LEFT JOIN ix_vectors USING (doc)";

/// Reads all documents; `None` when they take more than `most` bytes.
pub(super) fn read_all(tx: &Connection, most: usize) -> Result<Option<IndexWords>, Fault> {
    let mut find = tx.prepare(COLUMNS)?;
    let documents = find.query_map([], document)?;
    Ok(IndexWords::of_all(documents, most)?)
}

/// Reads the documents that changed after the change `known`, and returns the number of the last change. `None` where they
/// are too many for a search that waits, or the first of them are not recorded any more.
pub(super) fn catch_up(
    words: &mut IndexWords,
    tx: &Connection,
    known: i64,
) -> Result<Option<i64>, Fault> {
    let mut find =
        tx.prepare_cached("SELECT change_no, doc FROM ix_changes WHERE change_no >= ?")?;
    let changes = find.query_map([known], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let changes: Vec<(i64, i64)> = changes.collect::<Result<_, _>>()?;
    let is_whole = known == 0 || changes.first().is_some_and(|(first, _)| *first == known);
    let changed: BTreeSet<i64> = changes.iter().map(|(_, doc)| *doc).collect();
    if !is_whole || changed.len() > READ_AT_ONCE {
        return Ok(None);
    }
    // Each may be gone.
    let mut find = tx.prepare_cached(&format!("{COLUMNS} WHERE doc = ?"))?;
    for doc in changed {
        words.forget(DocumentNo(doc));
        for document in find.query_map([doc], document)? {
            words.insert(document?);
        }
    }
    Ok(Some(changes.last().map_or(known, |(last, _)| *last)))
}

fn document(row: &Row<'_>) -> rusqlite::Result<HeldDocument> {
    let doc = DocumentNo(row.get(4)?);
    Ok(HeldDocument {
        tenant: row.get(5)?,
        owner: row.get(6)?,
        outline: outline_of_row(doc, row)?,
    })
}
