//! The full-text index, and how its documents are numbered and marked.
//!
//! Documents of all layers share one FTS5 table, which keeps no text; its row numbers are those of
//! [`crate::documents`]. Besides its words a document carries marks: its tenant; the scope of an entry or
//! observation; the root and origin of an event. A filter is therefore part of the query, and a filtered search
//! reads no more than an open one. Events carry their root and not their project, because a root may change
//! projects.

use async_trait::async_trait;
use daybook_domain::index::{
    CandidateQuery, DocumentNo, DocumentOutline, DocumentVectors, EmbeddingInput, FileEntry,
    IndexedDocument, SearchFilter, TermStats,
};
use daybook_domain::index_words::AdmittedOwners;
use daybook_domain::limits::APPEND_EVENTS;
use daybook_domain::seams::{IndexReader, IndexWriter, VectorStore};
use daybook_domain::{EventSeq, Origin, Scope, SessionId, StoreError, Tenant, Timestamp};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::connection::Fault;
use super::index_rows::{forget, put, put_observation, tenant_of};
use super::index_words::Mark;
use super::names::{find_scope, find_session, find_tenant, parse_column, scope_no};
use super::outlines::NewDocument;
use super::row_numbers::event_no;
use super::{SqliteStore, outlines, queries, vector_rows, vectors};
use crate::blocking::blocking;
use crate::bounds::STEP_ROWS;
use crate::documents::{ENTRIES, event_doc, observation_doc};

#[async_trait]
impl IndexReader for SqliteStore {
    async fn term_stats(
        &self,
        tenant: &Tenant,
        tokens: &[String],
    ) -> Result<TermStats, StoreError> {
        if let Some(held) = &self.held_index {
            held.note_search(&self.file);
        }
        let held = self.in_held_index(tenant, |words, own| words.term_stats(own.no, tokens))?;
        match held {
            Some(stats) => Ok(stats),
            None => self.read(|tx| queries::term_stats(tx, &self.term_counts, tenant, tokens)),
        }
    }

    async fn matches(
        &self,
        tenant: &Tenant,
        steps: &[CandidateQuery],
        filter: &SearchFilter,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let owners = self.owners_where_held(tenant, filter)?;
        let held = self.in_held_index(tenant, |words, own| {
            words.matches(own.no, steps, (filter, &owners))
        })?;
        match held {
            Some(found) => Ok(found),
            None => self.read(|tx| queries::matches(tx, tenant, steps, filter)),
        }
    }

    async fn outlines(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        model: Option<&str>,
    ) -> Result<Vec<DocumentOutline>, StoreError> {
        let held = self.in_held_index(tenant, |words, own| {
            let with_vectors = model.is_some() && own.model.as_deref() == model;
            words.outlines(own.no, docs, with_vectors)
        })?;
        if let Some(outlines) = held {
            return Ok(outlines);
        }
        let cache = &self.read_caches.outlines;
        self.read_cached(|tx, version| {
            outlines::outlines(tx, (cache, version), tenant, docs, model)
        })
    }

    async fn surroundings(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        reach: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let held =
            self.in_held_index(tenant, |words, own| words.surroundings(own.no, docs, reach))?;
        match held {
            Some(found) => Ok(found),
            None => self.read(|tx| outlines::surroundings(tx, tenant, docs, reach)),
        }
    }

    async fn documents(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
    ) -> Result<Vec<IndexedDocument>, StoreError> {
        let numbers: Vec<i64> = docs.iter().map(|doc| doc.0).collect();
        let load = |tx: &Transaction<'_>, no: &i64| queries::load(tx, *no);
        let documents = self.cached(&self.read_caches.documents, &numbers, load)?;
        let documents = documents.into_iter().flatten();
        Ok(documents
            .filter(|document| queries::is_of_tenant(document, tenant))
            .collect())
    }
}

#[async_trait]
impl VectorStore for SqliteStore {
    async fn nearest(
        &self,
        tenant: &Tenant,
        (model, signs): (&str, &[u64]),
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let version = self.read_version()?;
        let owners = self.owners_where_held(tenant, filter)?;
        let held = self.in_held_index(tenant, |_, own| {
            if own.model.as_deref() != Some(model) {
                return None;
            }
            let wanted = (filter, &owners);
            self.signs.nearest((own.no, version), signs, wanted, limit)
        })?;
        match held.flatten() {
            Some(found) => Ok(found),
            None => self.read(|tx| {
                let held = (&self.signs, version);
                vectors::nearest(tx, held, tenant, (model, signs), filter, limit)
            }),
        }
    }

    async fn choose_model(&self, tenant: &Tenant, model: &str) -> Result<bool, StoreError> {
        if self.read(|tx| Ok(vector_rows::model(tx, tenant)?.as_deref() == Some(model)))? {
            return Ok(false);
        }
        self.write(|tx| vectors::choose_model(tx, tenant, model))
    }

    async fn unembedded(
        &self,
        tenant: &Tenant,
        limit: usize,
    ) -> Result<Vec<EmbeddingInput>, StoreError> {
        self.read(|tx| vectors::unembedded(tx, tenant, limit))
    }

    async fn put_vectors(
        &self,
        tenant: &Tenant,
        model: &str,
        embedded: &[DocumentVectors],
    ) -> Result<(), StoreError> {
        self.write(|tx| vectors::put(tx, tenant, model, embedded))
    }
}

#[async_trait]
impl IndexWriter for SqliteStore {
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

/// Deletes a part of a tenant's index: its files and pending documents at once, since those are few, and a step
/// of the rest, by the tenant's mark. False when nothing is left.
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

impl SqliteStore {
    /// Whose documents a filter admits, for a search in the index in memory; rows know it themselves.
    fn owners_where_held(
        &self,
        tenant: &Tenant,
        filter: &SearchFilter,
    ) -> Result<AdmittedOwners, StoreError> {
        let names_scopes = filter.scopes.is_some() || !filter.except.is_empty();
        match names_scopes && self.held_index.is_some() {
            true => self.read(|tx| queries::owners(tx, tenant, filter)),
            false => Ok(AdmittedOwners::default()),
        }
    }

    /// Moves all pending documents, if there are enough. For callers that can wait.
    pub(super) fn tidy(&self) {
        blocking(|| while self.upkeep.step(&self.file) {});
    }
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

/// Deletes all files of a scope from the index.
pub(super) fn forget_scope(tx: &Connection, scope: i64) -> Result<(), Fault> {
    let mut find = tx.prepare_cached("SELECT file FROM ix_files WHERE scope_no = ?")?;
    let files: Vec<String> = find
        .query_map([scope], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    files
        .iter()
        .try_for_each(|file| forget_file(tx, scope, file))
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
        let origin = find.query_row([no], |row| parse_column::<Origin>(row, 0));
        let Some(origin) = origin.optional()? else {
            continue;
        };
        let doc = event_doc(no, origin);
        forget(tx, doc)?;
        if let Some(document) = NewDocument::load(tx, DocumentNo(doc))? {
            put(tx, &document, tokens)?;
        }
    }
    Ok(())
}

/// Indexes some of a scope's observations, those numbered after `last`. Returns the last one, to continue
/// behind it.
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
