//! Vectors of documents, of one model for each tenant, and the search for those nearest to a query's.
//!
//! The server compares the signs of all of a tenant's vectors, one by one, unless a person chose an approximate search
//! ([`near_index`](super::near_index)). Holding them in the memory of this
//! process would make a search faster, but numbers are not committed in the order in which they are issued, so
//! vectors that other machines add could be missed.
//!
//! Vectors are kept only of existing documents: storing vectors locks the rows of their documents first, and
//! deleting documents deletes their vectors in a later statement than the one that waits for these locks
//! ([`vector_rows::forget`](super::vector_rows::forget)).

use std::collections::HashSet;

use daybook_domain::Tenant;
use daybook_domain::index::{
    DocumentNo, DocumentVectors, EmbeddingInput, SearchFilter, Terms, WordsDigest,
};

use super::connection::Tx;
use super::fault::Fault;
use super::names::tenant_no;
use super::outlines::document_nos;
use super::values::{get, values};
use super::{VectorSearch, near_index, queries};
use crate::documents::{OBSERVATIONS, SAID, document_ranges};

/// The model whose vectors a tenant's documents have.
pub(super) async fn model(tx: &Tx, tenant: &Tenant) -> Result<Option<String>, Fault> {
    let find = "SELECT model FROM ix_models JOIN tenants USING (tenant_no) WHERE tenant = $1";
    let row = tx.row(find, values![&tenant.0]).await?;
    row.map(|row| get(&row, "model")).transpose()
}

/// Changes the model; false when it was changed already.
pub(super) async fn choose_model(tx: &Tx, tenant: &Tenant, chosen: &str) -> Result<bool, Fault> {
    let no = tenant_no(tx, tenant).await?;
    let choose = "INSERT INTO ix_models AS known (tenant_no, model) VALUES ($1, $2)
        ON CONFLICT (tenant_no) DO UPDATE SET model = excluded.model
        WHERE known.model <> excluded.model";
    if tx.execute(choose, values![no, chosen]).await? == 0 {
        return Ok(false);
    }
    // A statement of its own: it sees vectors that were stored while the first one waited.
    let forget = "WITH codes AS (DELETE FROM ix_vectors WHERE tenant_no = $1),
        signs AS (DELETE FROM ix_signs WHERE tenant_no = $1)
        INSERT INTO ix_unembedded (tenant_no, doc)
        SELECT tenant_no, doc FROM ix_docs WHERE tenant_no = $1 AND doc >= $2
        ON CONFLICT DO NOTHING";
    tx.execute(forget, values![no, SAID]).await?;
    Ok(true)
}

pub(super) async fn unembedded(
    tx: &Tx,
    tenant: &Tenant,
    limit: usize,
) -> Result<Vec<EmbeddingInput>, Fault> {
    let find = "SELECT doc FROM ix_unembedded
        WHERE tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = $1)
        ORDER BY doc DESC LIMIT $2";
    let docs = document_nos(&tx.rows(find, values![&tenant.0, limit]).await?)?;
    let mut loaded = queries::load(tx, tenant, &docs).await?;
    let waiting = docs.into_iter().map(|doc| {
        // A deleted document is passed on, so that it is removed from the list.
        let document = loaded.remove(&doc.0);
        let (text, context) = document.map_or_else(Default::default, |d| (d.text, d.context));
        EmbeddingInput { doc, text, context }
    });
    Ok(waiting.collect())
}

pub(super) async fn put(
    tx: &Tx,
    tenant: &Tenant,
    of: &str,
    embedded: &[DocumentVectors],
) -> Result<(), Fault> {
    let lock = "SELECT tenant_no FROM ix_models JOIN tenants USING (tenant_no)
        WHERE tenant = $1 AND model = $2 FOR SHARE OF ix_models";
    let Some(row) = tx.row(lock, values![&tenant.0, of]).await? else {
        return Ok(());
    };
    let no: i64 = get(&row, "tenant_no")?;
    let (embedded, there) = lock_unchanged(tx, (tenant, no), embedded).await?;
    let docs: Vec<i64> = embedded.iter().map(|one| one.doc.0).collect();
    let is_there: Vec<bool> = embedded.iter().map(|d| there.contains(&d.doc)).collect();
    // Documents indexed before outlines existed get their terms here, too.
    let put = "WITH new AS MATERIALIZED (
            SELECT * FROM unnest($2, $3, $4, $5, $6) AS new (doc, is_there, signs, vectors, terms)
        ), waiting AS (
            DELETE FROM ix_unembedded USING new
            WHERE ix_unembedded.tenant_no = $1 AND ix_unembedded.doc = new.doc AND (new.is_there
                OR NOT EXISTS (SELECT FROM ix_docs WHERE ix_docs.doc = new.doc))
            RETURNING new.doc AS doc, new.signs AS signs, new.vectors AS vectors, new.terms AS terms
        ), kept AS (
            SELECT waiting.*, owner, origin FROM waiting JOIN ix_docs USING (doc)
            WHERE ix_docs.tenant_no = $1 AND (ix_docs.terms IS NOT NULL OR waiting.terms <> '')
        ), outlined AS (
            UPDATE ix_docs SET terms = kept.terms FROM kept
            WHERE ix_docs.doc = kept.doc AND ix_docs.terms IS NULL
        ), codes AS (
            INSERT INTO ix_vectors (tenant_no, doc, vectors)
            SELECT $1, doc, vectors FROM kept WHERE vectors <> ''
            ON CONFLICT (tenant_no, doc) DO UPDATE SET vectors = excluded.vectors
        )
        INSERT INTO ix_signs (tenant_no, doc, owner, origin, signs)
        SELECT $1, doc, owner, origin, signs::VARBIT FROM kept WHERE vectors <> ''
        ON CONFLICT (tenant_no, doc) DO UPDATE SET signs = excluded.signs";
    let values = values![
        no,
        docs,
        is_there,
        column(&embedded, |one| bit_string(&one.signs)),
        column(&embedded, |one| bytes(&one.vectors)),
        column(&embedded, |one| Terms::of(&one.tokens).to_bytes()),
    ];
    tx.execute(put, values).await?;
    Ok(())
}

/// Locks documents until the transaction ends. Returns the vectors whose words have not changed, each document
/// once, and which of these are there.
async fn lock_unchanged<'e>(
    tx: &Tx,
    (tenant, no): (&Tenant, i64),
    embedded: &'e [DocumentVectors],
) -> Result<(Vec<&'e DocumentVectors>, HashSet<DocumentNo>), Fault> {
    let mut seen = HashSet::new();
    let mut embedded: Vec<&DocumentVectors> =
        embedded.iter().filter(|one| seen.insert(one.doc)).collect();
    let docs: Vec<i64> = embedded.iter().map(|one| one.doc.0).collect();
    let lock = "SELECT doc FROM ix_docs WHERE tenant_no = $1 AND doc = ANY ($2)
        ORDER BY doc FOR NO KEY UPDATE";
    let there = document_nos(&tx.rows(lock, values![no, docs]).await?)?;
    // A later change of a document's words deletes its vectors again.
    let loaded = queries::load(tx, tenant, &there).await?;
    embedded.retain(|one| {
        let document = loaded.get(&one.doc.0);
        document.is_none_or(|d| WordsDigest::of(&d.text, d.context.as_deref()) == one.digest)
    });
    Ok((embedded, there.into_iter().collect()))
}

fn column<T>(embedded: &[&DocumentVectors], part: impl Fn(&DocumentVectors) -> T) -> Vec<T> {
    embedded.iter().map(|one| part(one)).collect()
}

fn bytes(vectors: &[i8]) -> Vec<u8> {
    vectors.iter().map(|code| code.cast_unsigned()).collect()
}

/// Signs in PostgreSQL's syntax for a string of bits.
fn bit_string(signs: &[u64]) -> String {
    let digits = signs.iter().map(|word| format!("{word:016x}"));
    std::iter::once("x".to_owned()).chain(digits).collect()
}

pub(super) async fn nearest(
    tx: &Tx,
    tenant: &Tenant,
    (of, query): (&str, &[u64]),
    (filter, search): (&SearchFilter, VectorSearch),
    limit: usize,
) -> Result<Vec<DocumentNo>, Fault> {
    let owners = queries::owners_of(tx, tenant, filter).await?;
    if query.is_empty() || owners.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Vec::new());
    }
    // Each condition costs time for each vector, so only conditions that narrow the search are added.
    let mut narrowed = String::new();
    if owners.is_some() {
        narrowed += " AND owner = ANY ($5)";
    }
    let excepted = queries::excepted_of(tx, tenant, filter).await?;
    if !excepted.is_empty() {
        narrowed += " AND (owner IS NULL OR owner <> ALL ($7))";
    }
    if !filter.origins.is_empty() {
        narrowed += " AND (origin IS NULL OR origin = ANY ($6))";
    }
    if !filter.layers.is_empty() {
        narrowed += &format!(" AND ({})", ranges(filter));
    }
    let origins: Vec<&str> = filter
        .origins
        .iter()
        .map(|origin| origin.as_str())
        .collect();
    let values = values![
        &tenant.0,
        of,
        bit_string(query),
        limit,
        owners.as_deref().unwrap_or_default().to_vec(),
        origins,
        excepted
    ];
    // Among equals, the newest.
    let order =
        format!("CASE WHEN doc < {OBSERVATIONS} THEN doc & ~{SAID}::BIGINT ELSE doc END DESC");
    if let VectorSearch::Approximate { from } = search
        // Few of the documents that the index finds are some owners'; comparing theirs alone is as fast.
        && owners.is_none()
        && near_index::is_used(tx, tenant, 64 * query.len(), from).await?
    {
        let near = (64 * query.len(), narrowed.as_str(), order.as_str());
        let found = near_index::nearest(tx, near, values, limit).await?;
        if found.len() >= limit {
            return Ok(found);
        }
    }
    let find = format!(
        "WITH own AS MATERIALIZED (SELECT tenant_no FROM tenants WHERE tenant = $1),
            asked AS MATERIALIZED (SELECT $3::VARBIT AS signs)
        SELECT doc FROM ix_signs
        WHERE tenant_no = (SELECT tenant_no FROM own) {narrowed}
            AND length(signs) = (SELECT length(signs) FROM asked)
            AND EXISTS (SELECT FROM ix_models
                WHERE tenant_no = (SELECT tenant_no FROM own) AND model = $2)
        ORDER BY bit_count(signs # (SELECT signs FROM asked)), {order}
        LIMIT $4"
    );
    document_nos(&tx.rows(&find, values).await?)
}

/// The condition that a document is in a layer that a filter admits.
fn ranges(filter: &SearchFilter) -> String {
    let layers = SearchFilter {
        layers: filter.layers.clone(),
        ..SearchFilter::default()
    };
    let ranges = document_ranges(&layers).into_iter();
    let ranges = ranges.map(|range| format!("doc BETWEEN {} AND {}", range.from, range.to));
    ranges.collect::<Vec<_>>().join(" OR ")
}
