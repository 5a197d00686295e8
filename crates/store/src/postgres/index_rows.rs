//! Documents of the index as rows.
//!
//! Not here: what is searched (`queries`), files and the seams of the index (`index`).

use std::collections::BTreeSet;

use daybook_domain::index::{BETWEEN_TOKENS, Terms};
use daybook_domain::{NewEvent, Origin, Timestamp};

use super::connection::Tx;
use super::fault::Fault;
use super::kept_statements::Sql;
use super::values::{get, values};
use super::vector_rows;
use crate::documents::{SAID, event_doc, observation_doc};

/// Longest word that is indexed as it is, in bytes; PostgreSQL refuses keys beyond 2.7 KB.
const WORD_BYTES: usize = 512;

/// A document to be indexed.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewDocument<'a> {
    pub(super) doc: i64,
    pub(super) owner: Option<i64>,
    pub(super) origin: Option<Origin>,
    pub(super) at: Timestamp,
    pub(super) tokens: &'a str,
}

impl<'a> NewDocument<'a> {
    /// An event with the number of its row and its owner: the scope of the room or the team that holds its session,
    /// else [`root_owner`].
    pub(super) fn event(no: i64, owner: Option<i64>, event: &'a NewEvent) -> Self {
        Self::event_with_tokens(no, owner, (event.origin, event.at), &event.tokens)
    }

    pub(super) fn event_with_tokens(
        no: i64,
        owner: Option<i64>,
        (origin, at): (Origin, Timestamp),
        tokens: &'a str,
    ) -> Self {
        Self {
            doc: event_doc(no, origin),
            owner,
            origin: Some(origin),
            at,
            tokens,
        }
    }

    /// An observation, with the time of the evidence that provides its words.
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

/// A root as the owner of events; negative, because scopes have the numbers above zero.
pub(super) fn root_owner(root: i64) -> i64 {
    -root
}

/// A token in the form in which it is indexed and searched.
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
        .split(BETWEEN_TOKENS)
        .filter(|token| !token.is_empty())
        .collect();
    let words: Vec<String> = words.into_iter().map(whole_word).collect();
    words.join(" ")
}

/// Adds documents that are not indexed yet; those without tokens cannot be found and are left out. Events of
/// tools get no vectors: there are many, and few are searched for in other words than their own.
pub(super) fn put(tx: &Tx, tenant: i64, documents: &[NewDocument<'_>]) {
    let with_words = documents
        .iter()
        .map(|one| (one, distinct_words(one.tokens)));
    let (documents, words): (Vec<&NewDocument<'_>>, Vec<String>) =
        with_words.filter(|(_, words)| !words.is_empty()).unzip();
    if documents.is_empty() {
        return;
    }
    // In index order, so that neighbours go into the same page.
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
        column(&documents, |one| one.origin.map(Origin::as_str)),
        column(&documents, |one| one.at.0),
        column(&documents, |one| Terms::of(one.tokens).to_bytes()),
        words,
        SAID
    ];
    tx.defer(Sql::Kept(put), values);
    let added = i64::try_from(documents.len()).unwrap_or(i64::MAX);
    change_document_count(tx, tenant, added);
}

fn column<T>(documents: &[&NewDocument<'_>], part: impl Fn(&NewDocument<'_>) -> T) -> Vec<T> {
    documents.iter().map(|one| part(one)).collect()
}

/// Adds to the count of documents, in a row that no other transaction is updating: an existing one where there
/// is one. So no transaction waits to count, and the number is the sum of few rows.
fn change_document_count(tx: &Tx, tenant: i64, more: i64) {
    let count = "WITH free AS MATERIALIZED (
            SELECT size_no FROM ix_sizes WHERE tenant_no = $1
            ORDER BY size_no LIMIT 1 FOR UPDATE SKIP LOCKED
        ), counted AS (
            UPDATE ix_sizes SET documents = documents + $2 FROM free
            WHERE ix_sizes.size_no = free.size_no RETURNING 1
        )
        INSERT INTO ix_sizes (tenant_no, documents)
        SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM counted)";
    tx.defer(count, values![tenant, more]);
}

/// Deletes documents, as far as they exist.
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
        vector_rows::forget(tx, tenant, &docs);
        change_document_count(tx, tenant, get(&row, "more")?);
    }
    Ok(())
}

/// Deletes events from the index, as far as they are in it.
pub(super) async fn forget_events(tx: &Tx, events: &[(i64, Origin)]) -> Result<(), Fault> {
    let docs = events.iter().map(|&(no, origin)| event_doc(no, origin));
    forget(tx, docs.collect()).await
}
