//! What can be found by words, and how its documents are kept.
//!
//! A tree holds one row for each word of each document, in the order (tenant, word, document): the
//! newest documents with a word are a stretch of it, read from its end. The numbers of documents are
//! those of [`crate::documents`]. Each row also names its document's owner, so that a filtered search
//! reads nothing but the tree: the scope of an entry or observation; of an event its root and not its
//! project, because a root may change projects. Beside the tree stands which words each document has,
//! for taking it out again, and how many documents there are.

use std::collections::BTreeSet;

use async_trait::async_trait;
use daybook_domain::index::{
    Document, DocumentNo, Embedded, FileEntry, Filter, Outline, PASSAGE_END, SPEAKER_END, Step,
    TermStats, Terms, Unembedded,
};
use daybook_domain::limits::APPEND_EVENTS;
use daybook_domain::seams::Index;
use daybook_domain::{EventSeq, NewEvent, Origin, Scope, SessionId, StoreError, Tenant, Timestamp};

use super::connection::{Tx, Walls};
use super::fault::Fault;
use super::names::{find_scope, find_session, scope_no};
use super::sessions::event_no;
use super::values::{get, values, word};
use super::{PostgresStore, outlines, queries, vectors};
use crate::bounds::STEP_ROWS;
use crate::documents::{ENTRIES, SAID, event_doc, observation_doc};

/// Longest word that the tree takes as it is, in bytes; PostgreSQL refuses keys beyond 2.7 KB.
const WORD_BYTES: usize = 512;

/// Documents that one transaction takes out when all are.
const CLEARED: usize = 1024;

#[async_trait]
impl Index for PostgresStore {
    async fn term_stats(
        &self,
        tenant: &Tenant,
        tokens: &[String],
    ) -> Result<TermStats, StoreError> {
        let stats = |tx| async move { queries::term_stats(&tx, tenant, tokens).await };
        self.read(Walls::Within(tenant), stats).await
    }

    async fn matches(
        &self,
        tenant: &Tenant,
        steps: &[Step],
        filter: &Filter,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let matches = |tx| async move { queries::matches(&tx, tenant, steps, filter).await };
        self.read(Walls::Within(tenant), matches).await
    }

    async fn nearest(
        &self,
        tenant: &Tenant,
        signs: (&str, &[u64]),
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let nearest = |tx| async move { vectors::nearest(&tx, tenant, signs, filter, limit).await };
        self.read(Walls::Within(tenant), nearest).await
    }

    async fn outlines(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        model: Option<&str>,
    ) -> Result<Vec<Outline>, StoreError> {
        let outlines = |tx| async move { outlines::outlines(&tx, tenant, docs, model).await };
        self.read(Walls::Within(tenant), outlines).await
    }

    async fn surroundings(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        reach: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let beside = |tx| async move { outlines::surroundings(&tx, tenant, docs, reach).await };
        self.read(Walls::Within(tenant), beside).await
    }

    async fn documents(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
    ) -> Result<Vec<Document>, StoreError> {
        let documents = |tx| async move { queries::documents(&tx, tenant, docs).await };
        self.read(Walls::Within(tenant), documents).await
    }

    async fn choose_model(&self, tenant: &Tenant, model: &str) -> Result<bool, StoreError> {
        let known = |tx| async move { vectors::model(&tx, tenant).await };
        if self.read(Walls::Within(tenant), known).await?.as_deref() == Some(model) {
            return Ok(false);
        }
        let choose = |tx| async move { vectors::choose_model(&tx, tenant, model).await };
        self.write(Walls::Within(tenant), choose).await
    }

    async fn unembedded(
        &self,
        tenant: &Tenant,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        let waiting = |tx| async move { vectors::unembedded(&tx, tenant, limit).await };
        self.read(Walls::Within(tenant), waiting).await
    }

    async fn put_vectors(
        &self,
        tenant: &Tenant,
        model: &str,
        embedded: &[Embedded],
    ) -> Result<(), StoreError> {
        let put = |tx| async move { vectors::put(&tx, tenant, model, embedded).await };
        self.write(Walls::Within(tenant), put).await
    }

    async fn put_file(
        &self,
        scope: &Scope,
        file: &str,
        stamp: &str,
        entries: &[FileEntry],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let put = |tx| async move { put_file(&tx, scope, (file, stamp), entries, now).await };
        self.write(Walls::Within(&scope.tenant), put).await
    }

    async fn file_stamps(&self, scope: &Scope) -> Result<Vec<(String, String)>, StoreError> {
        let stamps = |tx| async move { file_stamps(&tx, scope).await };
        self.read(Walls::Within(&scope.tenant), stamps).await
    }

    async fn clear(&self, tenant: &Tenant) -> Result<(), StoreError> {
        let files = |tx| async move { clear_files(&tx, tenant).await };
        self.write(Walls::Within(tenant), files).await?;
        let step = |tx| async move { clear_step(&tx, tenant).await };
        while self.write(Walls::Within(tenant), step).await? {}
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
        self.write(Walls::Within(&session.tenant), index).await
    }

    async fn index_observations(&self, scope: &Scope) -> Result<(), StoreError> {
        let mut after = Some(0);
        while let Some(last) = after {
            let index = |tx| async move { index_observations(&tx, scope, last).await };
            after = self.write(Walls::Within(&scope.tenant), index).await?;
        }
        Ok(())
    }
}

/// Forgets a tenant's files; their entries' words are left to [`clear_step`].
async fn clear_files(tx: &Tx, tenant: &Tenant) -> Result<(), Fault> {
    let clear = "WITH own AS MATERIALIZED (SELECT tenant_no FROM tenants WHERE tenant = $1),
        entries AS (
            DELETE FROM ix_entries WHERE tenant_no = (SELECT tenant_no FROM own)
        )
        DELETE FROM ix_files WHERE tenant_no = (SELECT tenant_no FROM own)";
    tx.execute(clear, values![&tenant.0]).await?;
    Ok(())
}

/// Forgets some of a tenant's documents. False when none is left.
async fn clear_step(tx: &Tx, tenant: &Tenant) -> Result<bool, Fault> {
    let find = "SELECT doc FROM ix_docs
        WHERE tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = $1) LIMIT $2";
    let rows = tx.rows(find, values![&tenant.0, CLEARED]).await?;
    let docs: Vec<i64> = rows
        .iter()
        .map(|row| get(row, "doc"))
        .collect::<Result<_, _>>()?;
    let left = docs.len() == CLEARED;
    forget(tx, docs).await?;
    Ok(left)
}

/// A document on its way into the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewDocument<'a> {
    doc: i64,
    owner: Option<i64>,
    origin: Option<Origin>,
    at: Timestamp,
    tokens: &'a str,
}

impl<'a> NewDocument<'a> {
    /// An event with the number of its row and of its place's root.
    pub(super) fn event(no: i64, root: Option<i64>, event: &'a NewEvent) -> Self {
        Self::event_said(no, root, (event.origin, event.at), &event.tokens)
    }

    fn event_said(
        no: i64,
        root: Option<i64>,
        (origin, at): (Origin, Timestamp),
        tokens: &'a str,
    ) -> Self {
        Self {
            doc: event_doc(no, origin),
            owner: root.map(root_owner),
            origin: Some(origin),
            at,
            tokens,
        }
    }

    /// An observation, of the time of the evidence that lends it its words.
    pub(super) fn observation(no: i64, scope: i64, at: Timestamp, tokens: &'a str) -> Self {
        Self {
            doc: observation_doc(no),
            owner: Some(scope),
            origin: None,
            at,
            tokens,
        }
    }
}

/// A root as the owner of events; scopes have the numbers above zero.
pub(super) fn root_owner(root: i64) -> i64 {
    -root
}

/// A token as the tree keeps it and as it is asked for.
pub(super) fn whole_word(token: &str) -> String {
    if token.len() > WORD_BYTES {
        format!("\u{e000}{}", blake3::hash(token.as_bytes()).to_hex())
    } else {
        token.to_owned()
    }
}

/// The distinct words of a document, joined by blanks.
fn distinct_words(tokens: &str) -> String {
    let words: BTreeSet<&str> = tokens
        .split([' ', PASSAGE_END, SPEAKER_END])
        .filter(|token| !token.is_empty())
        .collect();
    let words: Vec<String> = words.into_iter().map(whole_word).collect();
    words.join(" ")
}

/// Adds documents that are not there; those without tokens cannot be found and are left out. What tools did
/// gets no vectors: there is much of it, and little of that is asked for in other words than its own.
pub(super) fn put(tx: &Tx, tenant: i64, documents: &[NewDocument<'_>]) {
    let with_words = documents
        .iter()
        .map(|one| (one, distinct_words(one.tokens)));
    let (documents, words): (Vec<&NewDocument<'_>>, Vec<String>) =
        with_words.filter(|(_, words)| !words.is_empty()).unzip();
    if documents.is_empty() {
        return;
    }
    // In the order of the tree, so that neighbours go into the same page.
    let put = "WITH added AS (
            SELECT doc, owner, origin, at, terms, string_to_array(words, ' ') AS words
            FROM unnest($2, $3, $4, $5, $6, $7) AS added (doc, owner, origin, at, terms, words)
        ), kept AS (
            INSERT INTO ix_docs (doc, tenant_no, owner, origin, at, terms, words)
            SELECT doc, $1, owner, origin, at, terms, words FROM added
        ), waiting AS (
            INSERT INTO ix_unembedded (tenant_no, doc) SELECT $1, doc FROM added WHERE doc >= $8
            ON CONFLICT DO NOTHING
        ), found AS (
            INSERT INTO ix_words (tenant_no, word, doc, owner)
            SELECT $1, word, doc, owner FROM added, unnest(words) AS word ORDER BY word, doc
        )
        SELECT count(*) FROM added";
    let values = values![
        tenant,
        column(&documents, |one| one.doc),
        column(&documents, |one| one.owner),
        column(&documents, |one| one.origin.map(Origin::word)),
        column(&documents, |one| one.at.0),
        column(&documents, |one| Terms::of(one.tokens).to_bytes()),
        words,
        SAID
    ];
    tx.leave(put, values);
    let added = i64::try_from(documents.len()).unwrap_or(i64::MAX);
    resize(tx, tenant, added);
}

fn column<T>(documents: &[&NewDocument<'_>], part: impl Fn(&NewDocument<'_>) -> T) -> Vec<T> {
    documents.iter().map(|one| part(one)).collect()
}

/// Counts so many documents more, or fewer, in a row that nobody else counts in at this moment: an old
/// one where there is one. So nobody waits to count, and the number is the sum of few rows.
fn resize(tx: &Tx, tenant: i64, more: i64) {
    let count = "WITH free AS MATERIALIZED (
            SELECT size_no FROM ix_sizes WHERE tenant_no = $1
            ORDER BY size_no LIMIT 1 FOR UPDATE SKIP LOCKED
        ), counted AS (
            UPDATE ix_sizes SET documents = documents + $2 FROM free
            WHERE ix_sizes.size_no = free.size_no RETURNING 1
        )
        INSERT INTO ix_sizes (tenant_no, documents)
        SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM counted)";
    tx.leave(count, values![tenant, more]);
}

/// Takes documents out, as far as they are there.
pub(super) async fn forget(tx: &Tx, docs: Vec<i64>) -> Result<(), Fault> {
    if docs.is_empty() {
        return Ok(());
    }
    let forget = "WITH gone AS (
            DELETE FROM ix_docs WHERE doc = ANY ($1) RETURNING tenant_no, doc, words
        ), lost AS (
            DELETE FROM ix_words USING
                (SELECT tenant_no, doc, unnest(words) AS word FROM gone) AS held
            WHERE ix_words.tenant_no = held.tenant_no AND ix_words.word = held.word
                AND ix_words.doc = held.doc
        )
        SELECT tenant_no, -count(*) AS more FROM gone GROUP BY tenant_no";
    for row in tx.rows(forget, values![docs.clone()]).await? {
        let tenant = get(&row, "tenant_no")?;
        vectors::forget(tx, tenant, &docs);
        resize(tx, tenant, get(&row, "more")?);
    }
    Ok(())
}

/// Takes events out, as far as they are there.
pub(super) async fn forget_events(tx: &Tx, events: &[(i64, Origin)]) -> Result<(), Fault> {
    let docs = events.iter().map(|&(no, origin)| event_doc(no, origin));
    forget(tx, docs.collect()).await
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
    let mut documents = std::collections::BTreeMap::new();
    for found in tx.rows(find, values![asked]).await? {
        let nth: usize = get(&found, "nth")?;
        let Some((_, tokens)) = events.get(nth - 1) else {
            continue;
        };
        let origin = word(&found, "origin", Origin::from_word)?;
        let no = get(&found, "event_no")?;
        let said = (origin, get(&found, "at")?);
        let document = NewDocument::event_said(no, get(&found, "root_no")?, said, tokens);
        documents.insert(document.doc, document);
    }
    forget(tx, documents.keys().copied().collect()).await?;
    let documents: Vec<NewDocument<'_>> = documents.into_values().collect();
    put(tx, row.tenant, &documents);
    Ok(())
}

/// Indexes some of a scope's observations, those numbered after `last`. Returns where to go on.
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
