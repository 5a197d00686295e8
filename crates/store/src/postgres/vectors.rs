//! Vectors of documents, of one model for each tenant, and which are nearest to a question's.
//!
//! The server compares the signs of all of a tenant's vectors, one by one. Reading them into the memory of
//! this process instead would take less time for a search, but numbers are not committed in the order in
//! which they are given out, so what other machines add could be missed.
//!
//! Vectors are kept only of documents that are there: whoever keeps some locks the rows of their documents
//! first, and whoever takes documents out forgets vectors in a later statement than the one that waits for
//! these locks ([`forget`]).

use std::collections::HashSet;

use daybook_domain::Tenant;
use daybook_domain::index::{DocumentNo, Embedded, Filter, Terms, Unembedded};

use super::connection::Tx;
use super::fault::Fault;
use super::names::tenant_no;
use super::outlines::document_nos;
use super::queries;
use super::values::{get, values};
use crate::documents::{OBSERVATIONS, SAID, stretches};

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
    // A statement of its own: it sees what was kept while the first one waited.
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
) -> Result<Vec<Unembedded>, Fault> {
    let find = "SELECT doc FROM ix_unembedded
        WHERE tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = $1)
        ORDER BY doc DESC LIMIT $2";
    let docs = document_nos(&tx.rows(find, values![&tenant.0, limit]).await?)?;
    let mut loaded = queries::load(tx, tenant, &docs).await?;
    let waiting = docs.into_iter().map(|doc| {
        // One that is gone is passed on, so that it is taken off the list.
        let document = loaded.remove(&doc.0);
        let (text, context) = document.map_or_else(Default::default, |d| (d.text, d.context));
        Unembedded { doc, text, context }
    });
    Ok(waiting.collect())
}

pub(super) async fn put(
    tx: &Tx,
    tenant: &Tenant,
    of: &str,
    embedded: &[Embedded],
) -> Result<(), Fault> {
    let lock = "SELECT tenant_no FROM ix_models JOIN tenants USING (tenant_no)
        WHERE tenant = $1 AND model = $2 FOR SHARE OF ix_models";
    let Some(row) = tx.row(lock, values![&tenant.0, of]).await? else {
        return Ok(());
    };
    let tenant: i64 = get(&row, "tenant_no")?;
    let mut seen = HashSet::new();
    let embedded: Vec<&Embedded> = embedded.iter().filter(|one| seen.insert(one.doc)).collect();
    let docs: Vec<i64> = embedded.iter().map(|one| one.doc.0).collect();
    let lock = "SELECT doc FROM ix_docs WHERE tenant_no = $1 AND doc = ANY ($2)
        ORDER BY doc FOR NO KEY UPDATE";
    let there = document_nos(&tx.rows(lock, values![tenant, docs.clone()]).await?)?;
    let there: HashSet<DocumentNo> = there.into_iter().collect();
    let is_there: Vec<bool> = embedded.iter().map(|d| there.contains(&d.doc)).collect();
    // What was indexed before there were outlines gets its terms here, too.
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
        tenant,
        docs,
        is_there,
        column(&embedded, |one| bit_string(&one.signs)),
        column(&embedded, |one| bytes(&one.vectors)),
        column(&embedded, |one| Terms::of(&one.tokens).to_bytes()),
    ];
    tx.execute(put, values).await?;
    Ok(())
}

fn column<T>(embedded: &[&Embedded], part: impl Fn(&Embedded) -> T) -> Vec<T> {
    embedded.iter().map(|one| part(one)).collect()
}

fn bytes(vectors: &[i8]) -> Vec<u8> {
    vectors.iter().map(|code| code.cast_unsigned()).collect()
}

/// Signs as PostgreSQL reads a string of bits.
fn bit_string(signs: &[u64]) -> String {
    let digits = signs.iter().map(|word| format!("{word:016x}"));
    std::iter::once("x".to_owned()).chain(digits).collect()
}

/// Forgets the vectors of a tenant's documents, and that they wait for any, once these are taken out.
pub(super) fn forget(tx: &Tx, tenant: i64, docs: &[i64]) {
    let forget = "WITH waiting AS (
            DELETE FROM ix_unembedded WHERE tenant_no = $1 AND doc = ANY ($2)
        ), codes AS (
            DELETE FROM ix_vectors WHERE tenant_no = $1 AND doc = ANY ($2)
        )
        DELETE FROM ix_signs WHERE tenant_no = $1 AND doc = ANY ($2)";
    tx.leave(forget, values![tenant, docs.to_vec()]);
}

pub(super) async fn nearest(
    tx: &Tx,
    tenant: &Tenant,
    (of, asked): (&str, &[u64]),
    filter: &Filter,
    limit: usize,
) -> Result<Vec<DocumentNo>, Fault> {
    let owners = queries::owners_of(tx, tenant, filter).await?;
    if asked.is_empty() || owners.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Vec::new());
    }
    // Each condition costs time for each vector, so only those that narrow the search are asked.
    let mut narrowed = String::new();
    if owners.is_some() {
        narrowed += " AND owner = ANY ($5)";
    }
    if !filter.origins.is_empty() {
        narrowed += " AND (origin IS NULL OR origin = ANY ($6))";
    }
    if !filter.layers.is_empty() {
        narrowed += &format!(" AND ({})", ranges(filter));
    }
    let find = format!(
        "WITH own AS MATERIALIZED (SELECT tenant_no FROM tenants WHERE tenant = $1),
            asked AS MATERIALIZED (SELECT $3::VARBIT AS signs)
        SELECT doc FROM ix_signs
        WHERE tenant_no = (SELECT tenant_no FROM own) {narrowed}
            AND length(signs) = (SELECT length(signs) FROM asked)
            AND EXISTS (SELECT FROM ix_models
                WHERE tenant_no = (SELECT tenant_no FROM own) AND model = $2)
        ORDER BY bit_count(signs # (SELECT signs FROM asked)),
            CASE WHEN doc < {OBSERVATIONS} THEN doc & ~{SAID}::BIGINT ELSE doc END DESC
        LIMIT $4"
    );
    let origins: Vec<&str> = filter.origins.iter().map(|origin| origin.word()).collect();
    let values = values![
        &tenant.0,
        of,
        bit_string(asked),
        limit,
        owners.unwrap_or_default(),
        origins
    ];
    document_nos(&tx.rows(&find, values).await?)
}

/// The condition that a document lies in a layer that a filter lets through.
fn ranges(filter: &Filter) -> String {
    let layers = Filter {
        layers: filter.layers.clone(),
        ..Filter::default()
    };
    let ranges = stretches(&layers).into_iter();
    let ranges = ranges.map(|range| format!("doc BETWEEN {} AND {}", range.from, range.to));
    ranges.collect::<Vec<_>>().join(" OR ")
}
