//! What can be found by words, and how its documents are numbered and marked.
//!
//! Documents of all layers share one FTS5 table, which keeps no text; its row numbers are those of
//! [`crate::documents`]. Besides its words a document carries marks: its tenant; the scope of an
//! entry or observation; the root and origin of an event. A filter is therefore part of the query,
//! and a filtered search reads no more than an open one. Events carry their root and not their
//! project, because a root may change projects.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use daybook_domain::index::{
    Document, DocumentNo, Embedded, FileEntry, Filter, Outline, Step, TermStats, Unembedded,
};
use daybook_domain::index::{PASSAGE_END, SPEAKER_END};
use daybook_domain::limits::APPEND_EVENTS;
use daybook_domain::seams::Index;
use daybook_domain::{EventSeq, NewEvent, Origin, Scope, SessionId, StoreError, Tenant, Timestamp};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::connection::Fault;
use super::file::File;
use super::names::{find_scope, find_session, find_tenant, scope_no, word};
use super::outlines::NewDocument;
use super::sessions::event_no;
use super::{SqliteStore, outlines, queries, vectors};
use crate::blocking::blocking;
use crate::bounds::STEP_ROWS;
use crate::documents::{ENTRIES, event_doc, observation_doc};

/// Most documents that one transaction moves from where they wait into the index. Many at once are
/// cheaper, for each move writes every distinct word once.
const MOVED: usize = 1024;
/// Bytes of words after which a move takes no further document, so that its transaction stays short.
const MOVED_BYTES: usize = 256 * 1024;
/// Bytes of words that may wait. A search looks through them one by one.
const WAITING_BYTES: usize = 256 * 1024;
/// Documents that one store writes between two looks at how many wait.
const LOOK_EVERY: usize = 128;
/// Pages of the index that each move merges. Too few leave many small pieces to search.
const MERGED_PAGES: i64 = 64;

#[async_trait]
impl Index for SqliteStore {
    async fn term_stats(
        &self,
        tenant: &Tenant,
        tokens: &[String],
    ) -> Result<TermStats, StoreError> {
        self.read(|tx| queries::term_stats(tx, &self.term_counts, tenant, tokens))
    }

    async fn matches(
        &self,
        tenant: &Tenant,
        steps: &[Step],
        filter: &Filter,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        self.read(|tx| queries::matches(tx, tenant, steps, filter))
    }

    async fn nearest(
        &self,
        tenant: &Tenant,
        (model, signs): (&str, &[u64]),
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        self.read(|tx| vectors::nearest(tx, &self.signs, tenant, (model, signs), filter, limit))
    }

    async fn outlines(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        model: Option<&str>,
    ) -> Result<Vec<Outline>, StoreError> {
        self.read(|tx| outlines::outlines(tx, tenant, docs, model))
    }

    async fn surroundings(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        reach: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        self.read(|tx| outlines::surroundings(tx, tenant, docs, reach))
    }

    async fn documents(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
    ) -> Result<Vec<Document>, StoreError> {
        self.read(|tx| queries::documents(tx, tenant, docs))
    }

    async fn choose_model(&self, tenant: &Tenant, model: &str) -> Result<bool, StoreError> {
        if self.read(|tx| Ok(vectors::model(tx, tenant)?.as_deref() == Some(model)))? {
            return Ok(false);
        }
        self.write(|tx| vectors::choose_model(tx, tenant, model))
    }

    async fn unembedded(
        &self,
        tenant: &Tenant,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        self.read(|tx| vectors::unembedded(tx, tenant, limit))
    }

    async fn put_vectors(
        &self,
        tenant: &Tenant,
        model: &str,
        embedded: &[Embedded],
    ) -> Result<(), StoreError> {
        self.write(|tx| vectors::put(tx, tenant, model, embedded))
    }

    async fn put_file(
        &self,
        scope: &Scope,
        file: &str,
        stamp: &str,
        entries: &[FileEntry],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(|tx| put_file(tx, scope, (file, stamp), entries, now))?;
        self.tidy();
        Ok(())
    }

    async fn file_stamps(&self, scope: &Scope) -> Result<Vec<(String, String)>, StoreError> {
        self.read(|tx| {
            let Some(scope) = find_scope(tx, scope)? else {
                return Ok(Vec::new());
            };
            let mut find = tx.prepare_cached(
                "SELECT file, stamp FROM ix_files WHERE scope_no = ? ORDER BY file",
            )?;
            let rows = find.query_map([scope], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    async fn clear(&self, tenant: &Tenant) -> Result<(), StoreError> {
        while self.write(|tx| clear_step(tx, tenant))? {}
        Ok(())
    }

    async fn index_events(
        &self,
        session: &SessionId,
        events: &[(EventSeq, String)],
    ) -> Result<(), StoreError> {
        if events.len() > APPEND_EVENTS {
            let what = format!("{} events at once, at most {APPEND_EVENTS}", events.len());
            return Err(StoreError::Refused(what));
        }
        self.write(|tx| index_events(tx, session, events))?;
        self.tidy();
        Ok(())
    }

    async fn index_observations(&self, scope: &Scope) -> Result<(), StoreError> {
        let mut after = Some(0);
        while let Some(last) = after {
            after = self.write(|tx| index_observations(tx, scope, last))?;
        }
        self.tidy();
        Ok(())
    }
}

/// Forgets some of what is indexed of a tenant: its files and what waits to be moved at once, since
/// those are few, and of the rest a step, by the tenant's mark. False when nothing is left.
fn clear_step(tx: &Connection, tenant: &Tenant) -> Result<bool, Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(false);
    };
    let files = "SELECT file_no FROM ix_files JOIN scopes USING (scope_no) WHERE tenant_no = ?1";
    tx.prepare_cached(&format!(
        "DELETE FROM ix_entries WHERE file_no IN ({files})"
    ))?
    .execute([no])?;
    tx.prepare_cached(&format!("DELETE FROM ix_files WHERE file_no IN ({files})"))?
        .execute([no])?;
    let mark = Mark::Tenant(no).word();
    let mut find = tx.prepare_cached("SELECT doc FROM ix_pending WHERE instr(words, ?)")?;
    let waiting: Vec<i64> = find
        .query_map([queries::between_blanks(&mark)], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for doc in waiting {
        forget(tx, doc)?;
    }
    if queries::is_only_tenant(tx)? {
        tx.execute_batch("INSERT INTO ix_text (ix_text) VALUES ('delete-all')")?;
        outlines::clear(tx)?;
        return Ok(false);
    }
    let mut find = tx.prepare_cached("SELECT rowid FROM ix_text WHERE ix_text MATCH ? LIMIT ?")?;
    let docs: Vec<i64> = find
        .query_map(params![queries::quoted(&mark), STEP_ROWS], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for doc in &docs {
        forget(tx, *doc)?;
    }
    Ok(docs.len() == STEP_ROWS)
}

/// Something that a search can be narrowed to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mark {
    Tenant(i64),
    Scope(i64),
    Root(i64),
    Origin(Origin),
}

impl Mark {
    /// The word that stands for it. It begins with a character for private use, which no token of
    /// a text has.
    pub(super) fn word(self) -> String {
        match self {
            Self::Tenant(no) => format!("\u{e000}t{no}"),
            Self::Scope(no) => format!("\u{e000}s{no}"),
            Self::Root(no) => format!("\u{e000}r{no}"),
            Self::Origin(origin) => {
                let place = Origin::ALL.iter().position(|&o| o == origin);
                format!("\u{e000}o{}", place.unwrap_or_default())
            }
        }
    }
}

/// Where private-use stand-ins for ASCII punctuation begin.
const PUNCTUATION: u32 = 0xe100;

/// Appends tokens, joined by blanks, as SQLite keeps each whole: it would split them at ASCII
/// punctuation.
fn push_whole(tokens: &str, words: &mut String) {
    let is_whole = |b: u8| b == b' ' || b.is_ascii_alphanumeric() || !b.is_ascii();
    if tokens.bytes().all(is_whole) {
        words.push_str(tokens);
    } else {
        words.extend(tokens.chars().map(|c| match c {
            ' ' | PASSAGE_END | SPEAKER_END => ' ',
            c => stand_in(c),
        }));
    }
}

/// One token as SQLite keeps it whole.
pub(super) fn whole_word(token: &str) -> String {
    token.chars().map(stand_in).collect()
}

fn stand_in(c: char) -> char {
    if c.is_ascii() && !c.is_ascii_alphanumeric() {
        char::from_u32(PUNCTUATION + u32::from(c)).unwrap_or(c)
    } else {
        c
    }
}

/// Adds an event that has something to be found by.
pub(super) fn put_event(
    tx: &Connection,
    no: i64,
    tenant: i64,
    root: Option<i64>,
    event: &NewEvent,
) -> Result<(), Fault> {
    let document = NewDocument::event(no, tenant, root, (event.origin, event.at));
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

fn tenant_of(tx: &Connection, scope: i64) -> Result<i64, Fault> {
    let mut find = tx.prepare_cached("SELECT tenant_no FROM scopes WHERE scope_no = ?")?;
    Ok(find.query_row([scope], |row| row.get(0))?)
}

fn put(tx: &Connection, document: &NewDocument, tokens: &str) -> Result<(), Fault> {
    if tokens.is_empty() {
        return Ok(());
    }
    tx.prepare_cached("INSERT INTO ix_pending (doc, words) VALUES (?, ?)")?
        .execute(params![document.doc, words(tokens, &document.marks())])?;
    outlines::put(tx, document, tokens)
}

/// What is indexed of a document: a blank, and a blank behind each word.
pub(super) fn words(tokens: &str, marks: &[Mark]) -> String {
    let mut words = String::with_capacity(tokens.len() + 32);
    words.push(' ');
    push_whole(tokens, &mut words);
    for mark in marks {
        words.push(' ');
        words.push_str(&mark.word());
    }
    words.push(' ');
    words
}

/// Takes a document out, if it is there.
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

/// Takes an event out, if it is there.
pub(super) fn forget_event(tx: &Connection, no: i64, origin: Origin) -> Result<(), Fault> {
    forget(tx, event_doc(no, origin))
}

impl SqliteStore {
    /// Moves all documents that wait, where it pays. For whoever has time.
    pub(super) fn tidy(&self) {
        blocking(|| while self.upkeep.step(&self.file) {});
    }
}

/// What keeps searches fast: moves documents from where they wait into the index proper, and merges what
/// was moved before.
///
/// This comes after the transaction that is acknowledged and apart from it, so that none is long. Whoever
/// writes next makes up for one that failed; a search sees all documents always.
#[derive(Debug)]
pub(super) struct Upkeep {
    /// Moving pays when so many documents wait.
    enough: usize,
    /// Documents written since somebody last looked at how many wait.
    unseen: AtomicUsize,
    /// Whether some were moved, and nothing was merged since.
    is_merge_due: AtomicBool,
}

impl Upkeep {
    pub(super) fn new(enough: usize) -> Self {
        Self {
            enough: enough.max(1),
            unseen: AtomicUsize::new(0),
            is_merge_due: AtomicBool::new(false),
        }
    }

    /// A step, after a group of so many documents, once enough was written since the last one. Whoever
    /// writes next waits for it: a small group, for a small step, and never for two. Large ones are
    /// cheaper, and wait longer for each other anyway.
    pub(super) fn step_after(&self, file: &File, group: usize) {
        let unseen = self.unseen.fetch_add(group, Ordering::Relaxed) + group;
        if self.is_merge_due.swap(false, Ordering::Relaxed) {
            // What was not merged now is merged after another move.
            let _ = file.write(merge_step);
        } else if unseen >= LOOK_EVERY.min(self.enough) {
            let moved = self.move_some(file, (8 * group).clamp(LOOK_EVERY, MOVED));
            self.is_merge_due.store(moved, Ordering::Relaxed);
        }
    }

    /// Moves some, and merges; whether there were enough of them.
    fn step(&self, file: &File) -> bool {
        self.move_some(file, MOVED) && file.write(merge_step).is_ok()
    }

    /// Moves at most so many documents; whether there were enough of them.
    fn move_some(&self, file: &File, most: usize) -> bool {
        self.unseen.store(0, Ordering::Relaxed);
        if matches!(file.read(|tx| is_untidy(tx, self.enough)), Ok(false)) {
            return false;
        }
        let moved = file.write(|tx| move_step(tx, self.enough, most));
        matches!(moved, Ok(true))
    }
}

/// Whether moving pays: each move costs much the same, however many documents it takes.
fn is_untidy(tx: &Connection, enough: usize) -> Result<bool, Fault> {
    let mut count =
        tx.prepare_cached("SELECT count(*), total(octet_length(words)) FROM ix_pending")?;
    let (waiting, bytes): (usize, f64) =
        count.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(waiting >= enough || bytes >= WAITING_BYTES as f64)
}

/// Moves documents that wait; false when there are too few.
fn move_step(tx: &Transaction<'_>, enough: usize, most: usize) -> Result<bool, Fault> {
    if !is_untidy(tx, enough)? {
        return Ok(false);
    }
    let Some(last) = last_moved(tx, most)? else {
        return Ok(false);
    };
    // In their order: the index begins a new piece whenever a document is less than the last.
    tx.prepare_cached(
        "INSERT INTO ix_text (rowid, words) SELECT doc, words FROM ix_pending WHERE doc <= ? ORDER BY doc",
    )?
    .execute([last])?;
    tx.prepare_cached("DELETE FROM ix_pending WHERE doc <= ?")?
        .execute([last])?;
    Ok(true)
}

/// The last of the documents that one transaction has time to move.
fn last_moved(tx: &Connection, most: usize) -> Result<Option<i64>, Fault> {
    let mut find =
        tx.prepare_cached("SELECT doc, octet_length(words) FROM ix_pending ORDER BY doc LIMIT ?")?;
    let mut rows = find.query([most])?;
    let (mut last, mut bytes) = (None, 0);
    while let Some(row) = rows.next()? {
        last = Some(row.get(0)?);
        bytes += row.get::<_, usize>(1)?;
        if bytes >= MOVED_BYTES {
            break;
        }
    }
    Ok(last)
}

/// Merges some pages of the index, where enough pieces lie side by side.
fn merge_step(tx: &Transaction<'_>) -> Result<(), Fault> {
    tx.prepare_cached("INSERT INTO ix_text (ix_text, rank) VALUES ('merge', ?)")?
        .execute([MERGED_PAGES])?;
    Ok(())
}

fn put_file(
    tx: &Connection,
    scope: &Scope,
    (file, stamp): (&str, &str),
    entries: &[FileEntry],
    now: Timestamp,
) -> Result<(), Fault> {
    let scope = scope_no(tx, scope)?;
    forget_file(tx, scope, file)?;
    if entries.is_empty() {
        return Ok(());
    }
    tx.prepare_cached("INSERT INTO ix_files (scope_no, file, stamp, at) VALUES (?, ?, ?, ?)")?
        .execute(params![scope, file, stamp, now.0])?;
    let file = tx.last_insert_rowid();
    let tenant = tenant_of(tx, scope)?;
    for entry in entries {
        tx.prepare_cached(
            "INSERT INTO ix_entries (file_no, line, text, heading, observation, citation)
             VALUES (?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            file,
            entry.line,
            entry.text,
            entry.heading,
            entry.observation.map(|id| id.0.cast_signed()),
            entry.citation
        ])?;
        let document = NewDocument::entry(tx.last_insert_rowid(), tenant, scope, now);
        put(tx, &document, &entry.tokens)?;
    }
    Ok(())
}

fn forget_file(tx: &Connection, scope: i64, file: &str) -> Result<(), Fault> {
    let mut find =
        tx.prepare_cached("SELECT file_no FROM ix_files WHERE scope_no = ? AND file = ?")?;
    let known: Option<i64> = find
        .query_row(params![scope, file], |row| row.get(0))
        .optional()?;
    let Some(file) = known else {
        return Ok(());
    };
    let mut find = tx.prepare_cached("SELECT entry_no FROM ix_entries WHERE file_no = ?")?;
    let entries: Vec<i64> = find
        .query_map([file], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for entry in entries {
        forget(tx, ENTRIES | entry)?;
    }
    tx.prepare_cached("DELETE FROM ix_entries WHERE file_no = ?")?
        .execute([file])?;
    tx.prepare_cached("DELETE FROM ix_files WHERE file_no = ?")?
        .execute([file])?;
    Ok(())
}

fn index_events(
    tx: &Connection,
    session: &SessionId,
    events: &[(EventSeq, String)],
) -> Result<(), Fault> {
    let Some(row) = find_session(tx, session)?.filter(|row| row.known) else {
        return Err(StoreError::NotFound(format!("session {session}")).into());
    };
    let mut find = tx.prepare_cached("SELECT origin FROM events WHERE event_no = ?")?;
    for (seq, tokens) in events {
        let no = event_no(row.no, *seq);
        let origin = find.query_row([no], |row| word(row, 0, Origin::from_word));
        let Some(origin) = origin.optional()? else {
            continue;
        };
        let doc = event_doc(no, origin);
        forget(tx, doc)?;
        if let Some(document) = NewDocument::known(tx, DocumentNo(doc))? {
            put(tx, &document, tokens)?;
        }
    }
    Ok(())
}

/// Indexes some of a scope's observations, those numbered after `last`. Returns where to go on.
fn index_observations(tx: &Connection, scope: &Scope, last: i64) -> Result<Option<i64>, Fault> {
    let Some(scope) = find_scope(tx, scope)? else {
        return Ok(None);
    };
    let mut find = tx.prepare_cached(
        "SELECT observation_no, tokens FROM observations
         WHERE scope_no = ? AND observation_no > ? AND holds ORDER BY observation_no LIMIT ?",
    )?;
    let held: Vec<(i64, String)> = find
        .query_map(params![scope, last, STEP_ROWS], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<Result<_, _>>()?;
    for (observation, tokens) in &held {
        forget(tx, observation_doc(*observation))?;
        put_observation(tx, *observation, scope, tokens)?;
    }
    Ok(held
        .last()
        .map(|(observation, _)| *observation)
        .filter(|_| held.len() == STEP_ROWS))
}
