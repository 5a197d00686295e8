//! Documents of the full-text index as rows, and their way from the pending table into the index proper.
//!
//! Not here: what is searched (`queries`), files and the seams of the index (`index`).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use daybook_domain::{NewEvent, Origin};
use rusqlite::{Connection, Transaction, params};

use super::connection::Fault;
use super::file::DatabaseFile;
use super::index_words::words;
use super::outlines;
use super::outlines::{NewDocument, Owner};
use crate::documents::event_doc;

/// Most documents that one transaction moves from the pending table into the index. Many at once are cheaper,
/// for each move writes every distinct word once.
const MOVE_DOCUMENTS: usize = 1024;
/// Bytes of words after which a move takes no further document, so that its transaction stays short.
const MOVE_BYTES: usize = 256 * 1024;
/// Bytes of words that may be pending. A search scans them one by one.
const PENDING_BYTES: usize = 256 * 1024;
/// Documents that one store writes between two checks of how many are pending.
const CHECK_EVERY: usize = 128;
/// Pages of the index that each move merges. Too few leave many small pieces to search.
const MERGE_PAGES: i64 = 64;

/// Adds an event that has tokens.
pub(super) fn put_event(
    tx: &Connection,
    no: i64,
    tenant: i64,
    owner: Owner,
    event: &NewEvent,
) -> Result<(), Fault> {
    let document = NewDocument::event(no, tenant, owner, (event.origin, event.at));
    put(tx, &document, &event.tokens)
}

/// Adds an observation.
pub(super) fn put_observation(
    tx: &Connection,
    observation: i64,
    scope: i64,
    tokens: &str,
) -> Result<(), Fault> {
    let document = NewDocument::observation(tx, observation, tenant_of(tx, scope)?, scope)?;
    put(tx, &document, tokens)
}

pub(super) fn tenant_of(tx: &Connection, scope: i64) -> Result<i64, Fault> {
    let mut find = tx.prepare_cached("SELECT tenant_no FROM scopes WHERE scope_no = ?")?;
    Ok(find.query_row([scope], |row| row.get(0))?)
}

pub(super) fn put(tx: &Connection, document: &NewDocument, tokens: &str) -> Result<(), Fault> {
    if tokens.is_empty() {
        return Ok(());
    }
    tx.prepare_cached("INSERT INTO ix_pending (doc, words) VALUES (?, ?)")?
        .execute(params![document.doc, words(tokens, &document.marks())])?;
    outlines::put(tx, document, tokens)
}

/// Deletes a document, if it is indexed.
pub(super) fn forget(tx: &Connection, doc: i64) -> Result<(), Fault> {
    let pending = tx
        .prepare_cached("DELETE FROM ix_pending WHERE doc = ?")?
        .execute([doc])?;
    if pending == 0 {
        tx.prepare_cached("DELETE FROM ix_text WHERE rowid = ?")?
            .execute([doc])?;
    }
    outlines::forget(tx, doc)
}

/// Deletes an event from the index, if it is in it.
pub(super) fn forget_event(tx: &Connection, no: i64, origin: Origin) -> Result<(), Fault> {
    forget(tx, event_doc(no, origin))
}

/// Keeps searches fast: moves documents from the pending table into the index proper, and merges what was moved
/// before.
///
/// This runs after the acknowledged transaction and apart from it, so that no transaction is long. If it fails,
/// the next write makes up for it; a search always sees all documents.
#[derive(Debug)]
pub(super) struct IndexUpkeep {
    /// The number of pending documents from which on a move pays.
    enough: usize,
    /// Documents written since the last check of how many are pending.
    unseen: AtomicUsize,
    /// Whether documents were moved, and nothing was merged since.
    is_merge_due: AtomicBool,
}

impl IndexUpkeep {
    pub(super) fn new(enough: usize) -> Self {
        Self {
            enough: enough.max(1),
            unseen: AtomicUsize::new(0),
            is_merge_due: AtomicBool::new(false),
        }
    }

    /// Runs a step after a group of so many documents, once enough were written since the last one. The next
    /// write waits for it: a small group, for a small step, and never for two. Large steps are cheaper, and
    /// writers in large groups wait longer for each other anyway.
    pub(super) fn step_after(&self, file: &DatabaseFile, group: usize) {
        let unseen = self.unseen.fetch_add(group, Ordering::Relaxed) + group;
        if self.is_merge_due.swap(false, Ordering::Relaxed) {
            // Pages that were not merged now are merged after another move.
            let _ = file.write(merge_step);
        } else if unseen >= CHECK_EVERY.min(self.enough) {
            let moved = self.move_some(file, (8 * group).clamp(CHECK_EVERY, MOVE_DOCUMENTS));
            self.is_merge_due.store(moved, Ordering::Relaxed);
        }
    }

    /// Moves a batch of documents, and merges. Returns whether there were enough of them.
    pub(super) fn step(&self, file: &DatabaseFile) -> bool {
        self.move_some(file, MOVE_DOCUMENTS) && file.write(merge_step).is_ok()
    }

    /// Moves at most so many documents. Returns whether there were enough of them.
    fn move_some(&self, file: &DatabaseFile, most: usize) -> bool {
        self.unseen.store(0, Ordering::Relaxed);
        if matches!(file.read(|tx| is_move_due(tx, self.enough)), Ok(false)) {
            return false;
        }
        let moved = file.write(|tx| move_step(tx, self.enough, most));
        matches!(moved, Ok(true))
    }
}

/// Whether enough documents are pending for a move: each costs much the same for any number of them.
fn is_move_due(tx: &Connection, enough: usize) -> Result<bool, Fault> {
    let mut count =
        tx.prepare_cached("SELECT count(*), total(octet_length(words)) FROM ix_pending")?;
    let (waiting, bytes): (usize, f64) =
        count.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(waiting >= enough || bytes >= PENDING_BYTES as f64)
}

/// Moves pending documents; false when there are too few.
fn move_step(tx: &Transaction<'_>, enough: usize, most: usize) -> Result<bool, Fault> {
    if !is_move_due(tx, enough)? {
        return Ok(false);
    }
    let Some(last) = last_to_move(tx, most)? else {
        return Ok(false);
    };
    // In their order: the index begins a new piece whenever a document's number is lower than the last.
    tx.prepare_cached(
        "INSERT INTO ix_text (rowid, words) SELECT doc, words FROM ix_pending WHERE doc <= ? ORDER BY doc",
    )?
    .execute([last])?;
    tx.prepare_cached("DELETE FROM ix_pending WHERE doc <= ?")?
        .execute([last])?;
    Ok(true)
}

/// The last of the documents that one transaction has time to move.
fn last_to_move(tx: &Connection, most: usize) -> Result<Option<i64>, Fault> {
    let mut find =
        tx.prepare_cached("SELECT doc, octet_length(words) FROM ix_pending ORDER BY doc LIMIT ?")?;
    let mut rows = find.query([most])?;
    let (mut last, mut bytes) = (None, 0);
    while let Some(row) = rows.next()? {
        last = Some(row.get(0)?);
        bytes += row.get::<_, usize>(1)?;
        if bytes >= MOVE_BYTES {
            break;
        }
    }
    Ok(last)
}

/// Merges some pages of the index, if enough pieces exist on one level.
fn merge_step(tx: &Transaction<'_>) -> Result<(), Fault> {
    tx.prepare_cached("INSERT INTO ix_text (ix_text, rank) VALUES ('merge', ?)")?
        .execute([MERGE_PAGES])?;
    Ok(())
}
