//! Vectors of documents as rows.
//!
//! Not here: which vectors are nearest (`vectors`).

use super::connection::Tx;
use super::values::values;

/// Deletes the vectors of a tenant's deleted documents, and their entries in the list of those that wait for
/// vectors.
pub(super) fn forget(tx: &Tx, tenant: i64, docs: &[i64]) {
    let forget = "WITH waiting AS (
            DELETE FROM ix_unembedded WHERE tenant_no = $1 AND doc = ANY ($2)
        ), codes AS (
            DELETE FROM ix_vectors WHERE tenant_no = $1 AND doc = ANY ($2)
        )
        DELETE FROM ix_signs WHERE tenant_no = $1 AND doc = ANY ($2)";
    tx.defer(forget, values![tenant, docs.to_vec()]);
}
