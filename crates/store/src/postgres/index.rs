//! The full-text index as rows.
//!
//! One table holds a row for each word of each document, ordered by (tenant, word, document): the newest
//! documents with a word are one range of it, read from its end. The numbers of documents are those of
//! [`crate::documents`]. Each row also names its document's owner, so that a filtered search reads only this
//! table: the scope of an entry or observation; of an event its root and not its project, because a root may
//! change projects. Other tables hold the words of each document, for deleting it again, and the number of
//! documents.

use async_trait::async_trait;
use daybook_domain::index::{
    CandidateQuery, DocumentNo, DocumentOutline, DocumentVectors, EmbeddingInput, FileEntry,
    IndexedDocument, SearchFilter, TermStats,
};
use daybook_domain::limits::APPEND_EVENTS;
use daybook_domain::seams::{IndexReader, IndexWriter, VectorStore};
use daybook_domain::{EventSeq, Origin, Scope, SessionId, StoreError, Tenant, Timestamp};

use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::index_rows::{NewDocument, forget, put, root_owner};
use super::names::{find_scope, find_session, scope_no, shared_no};
use super::row_numbers::event_no;
use super::values::{get, parse_column, values};
use super::{PostgresStore, near_index, outlines, queries, vectors};
use crate::bounds::STEP_ROWS;
use crate::documents::{ENTRIES, observation_doc};

/// Documents that one transaction deletes when a tenant's index is cleared.
const CLEAR_STEP: usize = 1024;

#[async_trait]
impl IndexReader for PostgresStore {
    async fn term_stats(
        &self,
        tenant: &Tenant,
        tokens: &[String],
    ) -> Result<TermStats, StoreError> {
        let stats = |tx| async move { queries::term_stats(&tx, tenant, tokens).await };
        self.read(TenantAccess::Only(tenant), stats).await
    }

    async fn matches(
        &self,
        tenant: &Tenant,
        steps: &[CandidateQuery],
        filter: &SearchFilter,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let matches = |tx| async move { queries::matches(&tx, tenant, steps, filter).await };
        self.read(TenantAccess::Only(tenant), matches).await
    }

    async fn outlines(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        model: Option<&str>,
    ) -> Result<Vec<DocumentOutline>, StoreError> {
        let outlines = |tx| async move { outlines::outlines(&tx, tenant, docs, model).await };
        self.read(TenantAccess::Only(tenant), outlines).await
    }

    async fn surroundings(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        reach: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let beside = |tx| async move { outlines::surroundings(&tx, tenant, docs, reach).await };
        self.read(TenantAccess::Only(tenant), beside).await
    }

    async fn documents(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
    ) -> Result<Vec<IndexedDocument>, StoreError> {
        let documents = |tx| async move { queries::documents(&tx, tenant, docs).await };
        self.read(TenantAccess::Only(tenant), documents).await
    }
}

#[async_trait]
impl VectorStore for PostgresStore {
    async fn nearest(
        &self,
        tenant: &Tenant,
        signs: (&str, &[u64]),
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let filter = (filter, self.options.vectors);
        let nearest = |tx| async move { vectors::nearest(&tx, tenant, signs, filter, limit).await };
        self.read(TenantAccess::Only(tenant), nearest).await
    }

    async fn choose_model(&self, tenant: &Tenant, model: &str) -> Result<bool, StoreError> {
        let known = |tx| async move { vectors::model(&tx, tenant).await };
        if self
            .read(TenantAccess::Only(tenant), known)
            .await?
            .as_deref()
            == Some(model)
        {
            return Ok(false);
        }
        let choose = |tx| async move { vectors::choose_model(&tx, tenant, model).await };
        self.write(TenantAccess::Only(tenant), choose).await
    }

    async fn unembedded(
        &self,
        tenant: &Tenant,
        limit: usize,
    ) -> Result<Vec<EmbeddingInput>, StoreError> {
        let waiting = |tx| async move { vectors::unembedded(&tx, tenant, limit).await };
        self.read(TenantAccess::Only(tenant), waiting).await
    }

    async fn put_vectors(
        &self,
        tenant: &Tenant,
        model: &str,
        embedded: &[DocumentVectors],
    ) -> Result<(), StoreError> {
        let widths = embedded.iter().map(|one| 64 * one.signs.len()).collect();
        near_index::prepare(self, widths).await?;
        let put = |tx| async move { vectors::put(&tx, tenant, model, embedded).await };
        self.write(TenantAccess::Only(tenant), put).await
    }
}

#[async_trait]
impl IndexWriter for PostgresStore {
    async fn put_file(
        &self,
        scope: &Scope,
        file: &str,
        stamp: &str,
        entries: &[FileEntry],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let put = |tx| async move { put_file(&tx, scope, (file, stamp), entries, now).await };
        self.write(TenantAccess::Only(&scope.tenant), put).await
    }

    async fn file_stamps(&self, scope: &Scope) -> Result<Vec<(String, String)>, StoreError> {
        let stamps = |tx| async move { file_stamps(&tx, scope).await };
        self.read(TenantAccess::Only(&scope.tenant), stamps).await
    }

    async fn clear(&self, tenant: &Tenant) -> Result<(), StoreError> {
        let files = |tx| async move { clear_files(&tx, tenant).await };
        self.write(TenantAccess::Only(tenant), files).await?;
        let step = |tx| async move { clear_step(&tx, tenant).await };
        while self.write(TenantAccess::Only(tenant), step).await? {}
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
        let index = |tx| async move { index_events(&tx, session, events).await };
        self.write(TenantAccess::Only(&session.tenant), index).await
    }

    async fn index_observations(&self, scope: &Scope) -> Result<(), StoreError> {
        let mut after = Some(0);
        while let Some(last) = after {
            let index = |tx| async move { index_observations(&tx, scope, last).await };
            after = self.write(TenantAccess::Only(&scope.tenant), index).await?;
        }
        Ok(())
    }
}

/// Deletes a tenant's files; the words of their entries are left to [`clear_step`].
async fn clear_files(tx: &Tx, tenant: &Tenant) -> Result<(), Fault> {
    let clear = "WITH own AS MATERIALIZED (SELECT tenant_no FROM tenants WHERE tenant = $1),
        entries AS (
            DELETE FROM ix_entries WHERE tenant_no = (SELECT tenant_no FROM own)
        )
        DELETE FROM ix_files WHERE tenant_no = (SELECT tenant_no FROM own)";
    tx.execute(clear, values![&tenant.0]).await?;
    Ok(())
}

/// Deletes some of a tenant's documents. False when none is left.
async fn clear_step(tx: &Tx, tenant: &Tenant) -> Result<bool, Fault> {
    let find = "SELECT doc FROM ix_docs
        WHERE tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = $1) LIMIT $2";
    let rows = tx.rows(find, values![&tenant.0, CLEAR_STEP]).await?;
    let docs: Vec<i64> = rows
        .iter()
        .map(|row| get(row, "doc"))
        .collect::<Result<_, _>>()?;
    let left = docs.len() == CLEAR_STEP;
    forget(tx, docs).await?;
    Ok(left)
}

async fn file_stamps(tx: &Tx, scope: &Scope) -> Result<Vec<(String, String)>, Fault> {
    let Some(scope) = find_scope(tx, scope).await? else {
        return Ok(Vec::new());
    };
    let find = "SELECT file, stamp FROM ix_files WHERE scope_no = $1 ORDER BY file";
    let rows = tx.rows(find, values![scope]).await?;
    rows.iter()
        .map(|row| Ok((get(row, "file")?, get(row, "stamp")?)))
        .collect()
}

async fn put_file(
    tx: &Tx,
    scope: &Scope,
    (file, stamp): (&str, &str),
    entries: &[FileEntry],
    now: Timestamp,
) -> Result<(), Fault> {
    let scope = scope_no(tx, scope).await?;
    forget_file(tx, scope, file).await?;
    if entries.is_empty() {
        return Ok(());
    }
    let insert = "WITH new AS (
            INSERT INTO ix_files (tenant_no, scope_no, file, stamp, at)
            SELECT tenant_no, scope_no, $2, $3, $4 FROM scopes WHERE scope_no = $1
            RETURNING tenant_no, file_no
        )
        INSERT INTO ix_entries (tenant_no, file_no, line, text, heading, observation, citation)
        SELECT tenant_no, file_no, line, text, heading, observation, citation
        FROM new, unnest($5, $6, $7, $8, $9) WITH ORDINALITY
            AS entries (line, text, heading, observation, citation, nth)
        ORDER BY nth RETURNING tenant_no, entry_no";
    let column = |part: fn(&FileEntry) -> &str| -> Vec<String> {
        entries.iter().map(|entry| part(entry).to_owned()).collect()
    };
    let lines: Vec<i64> = entries.iter().map(|entry| entry.line.into()).collect();
    let observations = entries.iter().map(|entry| entry.observation);
    let observations: Vec<Option<i64>> = observations
        .map(|id| id.map(|id| id.0.cast_signed()))
        .collect();
    let citations: Vec<Option<String>> = entries.iter().map(|e| e.citation.clone()).collect();
    let rows = tx
        .rows(
            insert,
            values![
                scope,
                file,
                stamp,
                now,
                lines,
                column(|entry| &entry.text),
                column(|entry| &entry.heading),
                observations,
                citations
            ],
        )
        .await?;
    let Some(first) = rows.first() else {
        return Err(Fault::corrupt(format!("scope {scope} vanished")));
    };
    let tenant = get(first, "tenant_no")?;
    let mut documents = Vec::with_capacity(entries.len());
    for (row, entry) in rows.iter().zip(entries) {
        documents.push(NewDocument {
            doc: ENTRIES | get::<i64>(row, "entry_no")?,
            owner: Some(scope),
            origin: None,
            at: now,
            tokens: &entry.tokens,
        });
    }
    put(tx, tenant, &documents);
    Ok(())
}

/// Deletes all files of a scope from the index.
pub(super) async fn forget_scope(tx: &Tx, scope: i64) -> Result<(), Fault> {
    let find = "SELECT file FROM ix_files WHERE scope_no = $1";
    for row in tx.rows(find, values![scope]).await? {
        forget_file(tx, scope, &get::<String>(&row, "file")?).await?;
    }
    Ok(())
}

async fn forget_file(tx: &Tx, scope: i64, file: &str) -> Result<(), Fault> {
    let delete = "WITH gone AS (
            DELETE FROM ix_files WHERE scope_no = $1 AND file = $2 RETURNING file_no
        )
        DELETE FROM ix_entries USING gone WHERE ix_entries.file_no = gone.file_no
        RETURNING entry_no";
    let mut docs = Vec::new();
    for row in tx.rows(delete, values![scope, file]).await? {
        docs.push(ENTRIES | get::<i64>(&row, "entry_no")?);
    }
    forget(tx, docs).await
}

async fn index_events(
    tx: &Tx,
    session: &SessionId,
    events: &[(EventSeq, String)],
) -> Result<(), Fault> {
    let Some(row) = find_session(tx, session).await?.filter(|row| row.known) else {
        return Err(StoreError::NotFound(format!("session {session}")).into());
    };
    let find = "SELECT nth, event_no, root_no, origin, at
        FROM unnest($1) WITH ORDINALITY AS asked (event_no, nth) JOIN events USING (event_no)
        LEFT JOIN places USING (place_no) ORDER BY nth";
    let asked: Vec<i64> = events
        .iter()
        .map(|(seq, _)| event_no(row.no, *seq))
        .collect();
    let shared = shared_no(tx, &row.session).await?;
    let mut documents = std::collections::BTreeMap::new();
    for found in tx.rows(find, values![asked]).await? {
        let nth: usize = get(&found, "nth")?;
        let Some((_, tokens)) = events.get(nth - 1) else {
            continue;
        };
        let origin = parse_column::<Origin>(&found, "origin")?;
        let no = get(&found, "event_no")?;
        let origin_and_time = (origin, get(&found, "at")?);
        let root = get::<Option<i64>>(&found, "root_no")?.map(root_owner);
        let document = NewDocument::event_with_tokens(no, shared.or(root), origin_and_time, tokens);
        documents.insert(document.doc, document);
    }
    forget(tx, documents.keys().copied().collect()).await?;
    let documents: Vec<NewDocument<'_>> = documents.into_values().collect();
    put(tx, row.tenant, &documents);
    Ok(())
}

/// Indexes some of a scope's observations, those numbered after `last`. Returns the last one, to continue
/// behind it.
async fn index_observations(tx: &Tx, scope: &Scope, last: i64) -> Result<Option<i64>, Fault> {
    let Some(scope) = find_scope(tx, scope).await? else {
        return Ok(None);
    };
    let find =
        "SELECT observations.tenant_no AS tenant_no, observations.observation_no AS observation_no,
            observations.tokens AS tokens, at
        FROM observations JOIN evidence ON evidence_no = shown
        WHERE scope_no = $1 AND observations.observation_no > $2 AND holds
        ORDER BY observations.observation_no LIMIT $3";
    let rows = tx.rows(find, values![scope, last, STEP_ROWS]).await?;
    let mut held: Vec<(i64, Timestamp, String)> = Vec::with_capacity(rows.len());
    for row in &rows {
        held.push((
            get(row, "observation_no")?,
            get(row, "at")?,
            get(row, "tokens")?,
        ));
    }
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let docs = held.iter().map(|(no, ..)| observation_doc(*no));
    forget(tx, docs.collect()).await?;
    let documents = held.iter();
    let documents: Vec<NewDocument<'_>> = documents
        .map(|(no, at, tokens)| NewDocument::observation(*no, scope, *at, tokens))
        .collect();
    put(tx, get(first, "tenant_no")?, &documents);
    Ok(held
        .last()
        .map(|(no, ..)| *no)
        .filter(|_| held.len() == STEP_ROWS))
}
