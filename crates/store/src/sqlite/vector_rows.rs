//! Vectors of documents as rows.
//!
//! Not here: which vectors are nearest (`vectors`).

use daybook_domain::Tenant;
use rusqlite::{Connection, OptionalExtension};

use super::connection::Fault;

/// The model whose vectors a tenant's documents have.
pub(super) fn model(tx: &Connection, tenant: &Tenant) -> Result<Option<String>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT model FROM ix_models JOIN tenants USING (tenant_no) WHERE tenant = ?",
    )?;
    Ok(find.query_row([&tenant.0], |row| row.get(0)).optional()?)
}

/// Bytes followed by their checksum, so that damage is noticed.
pub(super) fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = checksum_of(&bytes);
    bytes.extend(checksum);
    bytes
}

/// The bytes before a checksum; empty where they are damaged.
pub(super) fn checked_bytes(bytes: &[u8]) -> &[u8] {
    match bytes.split_last_chunk() {
        Some((bytes, checksum)) if *checksum == checksum_of(bytes) => bytes,
        _ => &[],
    }
}

fn checksum_of(bytes: &[u8]) -> [u8; 4] {
    let mut checksum = [0; 4];
    checksum.copy_from_slice(&blake3::hash(bytes).as_bytes()[..4]);
    checksum
}

/// Deletes the vectors of a document.
pub(super) fn forget(tx: &Connection, doc: i64) -> Result<(), Fault> {
    let mut find = tx.prepare_cached("DELETE FROM ix_vectors WHERE doc = ? RETURNING sign_no")?;
    let no: Option<i64> = find.query_row([doc], |row| row.get(0)).optional()?;
    if let Some(no) = no {
        tx.prepare_cached("DELETE FROM ix_signs WHERE sign_no = ?")?
            .execute([no])?;
    }
    Ok(())
}
