//! What ranking needs of each document: its terms, its origin and time, and the documents beside it.

use daybook_domain::Tenant;
use daybook_domain::index::{DocumentNo, DocumentOutline, Terms};
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::values::{get, values};

pub(super) async fn outlines(
    tx: &Tx,
    tenant: &Tenant,
    docs: &[DocumentNo],
    model: Option<&str>,
) -> Result<Vec<DocumentOutline>, Fault> {
    let find = "WITH own AS MATERIALIZED (SELECT tenant_no FROM tenants WHERE tenant = $1)
        SELECT ix_docs.doc AS doc, origin, at, terms, coalesce(vectors, '') AS vectors
        FROM unnest($2) WITH ORDINALITY AS asked (doc, nth) JOIN ix_docs ON ix_docs.doc = asked.doc
        LEFT JOIN ix_vectors ON ix_vectors.tenant_no = (SELECT tenant_no FROM own)
            AND ix_vectors.doc = asked.doc AND EXISTS (SELECT FROM ix_models
                WHERE tenant_no = (SELECT tenant_no FROM own) AND model = $3)
        WHERE ix_docs.tenant_no = (SELECT tenant_no FROM own) AND terms IS NOT NULL
        ORDER BY nth";
    let rows = tx
        .rows(find, values![&tenant.0, numbers(docs), model])
        .await?;
    rows.iter().map(outline).collect()
}

fn outline(row: &Row) -> Result<DocumentOutline, Fault> {
    let origin: Option<String> = get(row, "origin")?;
    let terms: Vec<u8> = get(row, "terms")?;
    let vectors: Vec<u8> = get(row, "vectors")?;
    Ok(DocumentOutline {
        doc: DocumentNo(get(row, "doc")?),
        origin: origin.and_then(|origin| origin.parse().ok()),
        at: get(row, "at")?,
        terms: Terms::from_bytes(&terms),
        vectors: vectors.into_iter().map(u8::cast_signed).collect(),
    })
}

pub(super) async fn surroundings(
    tx: &Tx,
    tenant: &Tenant,
    docs: &[DocumentNo],
    reach: usize,
) -> Result<Vec<DocumentNo>, Fault> {
    let messages = docs.iter().filter(|doc| doc.is_said()).copied();
    let messages: Vec<DocumentNo> = messages.collect();
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    let find = "WITH own AS MATERIALIZED (SELECT tenant_no FROM tenants WHERE tenant = $1)
        SELECT DISTINCT beside.doc AS doc FROM unnest($2) AS asked (doc) CROSS JOIN LATERAL (
            (SELECT doc FROM ix_docs WHERE tenant_no = (SELECT tenant_no FROM own)
                AND doc BETWEEN asked.doc & ~$4::BIGINT AND asked.doc
                ORDER BY doc DESC LIMIT $3 + 1)
            UNION ALL
            (SELECT doc FROM ix_docs WHERE tenant_no = (SELECT tenant_no FROM own)
                AND doc > asked.doc AND doc <= asked.doc | $4
                ORDER BY doc LIMIT $3)
        ) AS beside ORDER BY doc";
    let seqs = u32::MAX;
    let rows = tx
        .rows(find, values![&tenant.0, numbers(&messages), reach, seqs])
        .await?;
    document_nos(&rows)
}

/// Documents as a column of their numbers.
pub(super) fn numbers(docs: &[DocumentNo]) -> Vec<i64> {
    docs.iter().map(|doc| doc.0).collect()
}

/// The documents whose numbers are in the column `doc`.
pub(super) fn document_nos(rows: &[Row]) -> Result<Vec<DocumentNo>, Fault> {
    rows.iter()
        .map(|row| Ok(DocumentNo(get(row, "doc")?)))
        .collect()
}
