//! The approximate index of vectors' signs, for those who chose [`VectorSearch::Approximate`].
//!
//! There is one index for each width of vectors, over all tenants; the extension `vector` keeps it up to date with the
//! rows of `ix_signs`, also where they are written by stores that search exactly. The index is asked for more
//! documents than are wanted, which are then put in the order of the exact search. Where fewer pass the filters than
//! are wanted, the search is done again, exactly.
//!
//! Not here: the exact search, and filters (`vectors`).

use std::collections::HashSet;

use daybook_domain::index::DocumentNo;
use daybook_domain::{StoreError, Tenant};

use super::connection::{TenantAccess, Tx, TxMode};
use super::fault::Fault;
use super::outlines::document_nos;
use super::values::{SqlValue, get, values};
use super::{PostgresStore, VectorSearch};

/// Oldest version of the extension, which continues a search until enough rows pass the filters.
const OLDEST: (u32, u32) = (0, 8);
/// Widest vector that the extension indexes, in bits.
const WIDEST: usize = 64_000;
/// The index returns at least so many documents, which are then put in order. More finds more of the nearest.
const FEWEST_CANDIDATES: usize = 400;
/// Most documents that the extension returns without searching on.
const MOST_CANDIDATES: usize = 1_000;
/// Who builds an index holds the advisory lock of this number: "signs" in ASCII.
const LOCK: i64 = 0x73_6967_6e73;

/// Checks the extension, and builds the index of vectors that were stored before it was chosen.
pub(super) async fn open(store: &PostgresStore) -> Result<(), StoreError> {
    if store.options.vectors == VectorSearch::Exact {
        return Ok(());
    }
    let find = "SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS version,
        EXISTS (SELECT FROM pg_class WHERE starts_with(relname, 'ix_signs_near_')
            AND relnamespace = current_schema()::REGNAMESPACE) AS is_built";
    let looking = |tx: Tx| async move {
        let row = tx.one(find, &[]).await?;
        Ok((get(&row, "version")?, get(&row, "is_built")?))
    };
    let found = store.read(TenantAccess::All, looking).await?;
    let (version, is_built): (Option<String>, bool) = found;
    check_version(&store.server, version.as_deref())?;
    if is_built {
        return Ok(());
    }
    let widths = |tx: Tx| async move {
        let find = "SELECT DISTINCT length(signs)::BIGINT AS width FROM ix_signs";
        let rows = tx.rows(find, &[]).await?;
        rows.iter().map(|row| get(row, "width")).collect()
    };
    let widths: Vec<usize> = store.read(TenantAccess::All, widths).await?;
    for width in widths {
        build(store, width).await?;
    }
    Ok(())
}

fn check_version(server: &str, version: Option<&str>) -> Result<(), StoreError> {
    let refused = |why: String| {
        Err(StoreError::Refused(format!(
            "{server}: {why}; have an administrator run CREATE EXTENSION vector (0.8 or newer) in it, or \
             search vectors exactly"
        )))
    };
    let Some(version) = version else {
        return refused("the extension vector is not installed in this database".to_owned());
    };
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    match found < OLDEST {
        true => refused(format!("the extension vector is of version {version}")),
        false => Ok(()),
    }
}

/// Makes sure that vectors of these widths, in bits, are indexed once they are stored.
pub(super) async fn prepare(
    store: &PostgresStore,
    widths: HashSet<usize>,
) -> Result<(), StoreError> {
    if store.options.vectors == VectorSearch::Exact {
        return Ok(());
    }
    for width in widths.into_iter().filter(|width| *width > 0) {
        let find = "SELECT to_regclass($1) IS NOT NULL AS is_built";
        let name = &name(width);
        let looking = |tx: Tx| async move { get(&tx.one(find, values![name]).await?, "is_built") };
        if !store.read(TenantAccess::All, looking).await? {
            build(store, width).await?;
        }
    }
    Ok(())
}

/// Builds the index of one width. Other transactions that store vectors wait meanwhile.
async fn build(store: &PostgresStore, width: usize) -> Result<(), StoreError> {
    if !(1..=WIDEST).contains(&width) {
        return Ok(());
    }
    let build = &format!(
        "CREATE INDEX IF NOT EXISTS {} ON ix_signs USING hnsw ((signs::BIT({width})) bit_hamming_ops)
         WHERE length(signs) = {width}",
        name(width)
    );
    let building = |tx: Tx| async move {
        tx.execute("SELECT pg_advisory_xact_lock($1)", values![LOCK])
            .await?;
        tx.batch(build).await
    };
    store
        .retry(TxMode::Migrate, TenantAccess::All, building)
        .await
}

fn name(width: usize) -> String {
    format!("ix_signs_near_{width}")
}

/// Whether a search is to use the index: where it is built, and the tenant has so many documents that comparing
/// all takes longer.
pub(super) async fn is_used(
    tx: &Tx,
    tenant: &Tenant,
    width: usize,
    from: usize,
) -> Result<bool, Fault> {
    let find =
        "SELECT to_regclass($1) IS NOT NULL AND coalesce((SELECT sum(documents) FROM ix_sizes
            JOIN tenants USING (tenant_no) WHERE tenant = $2), 0) >= $3 AS is_used";
    get(
        &tx.one(find, values![name(width), &tenant.0, from]).await?,
        "is_used",
    )
}

/// The nearest by the index, at most `limit`. `values` are those of the exact search, `narrowed` its conditions and
/// `order` what decides among equals.
pub(super) async fn nearest(
    tx: &Tx,
    (width, narrowed, order): (usize, &str, &str),
    values: &[SqlValue],
    limit: usize,
) -> Result<Vec<DocumentNo>, Fault> {
    let candidates = (2 * limit).clamp(FEWEST_CANDIDATES, MOST_CANDIDATES);
    // Sorting all rows would be exact, and the planner prefers it where it takes few rows for all of them.
    let search =
        "SELECT set_config('hnsw.ef_search', $1, TRUE), set_config('enable_sort', 'off', TRUE),
        set_config('hnsw.iterative_scan', 'strict_order', TRUE)";
    tx.defer(search, values![candidates.to_string()]);
    let find = format!(
        "WITH own AS MATERIALIZED (SELECT tenant_no FROM tenants WHERE tenant = $1), near AS MATERIALIZED (
            SELECT doc, signs::BIT({width}) <~> $3::VARBIT::BIT({width}) AS distance FROM ix_signs
            WHERE tenant_no = (SELECT tenant_no FROM own) {narrowed} AND length(signs) = {width}
            ORDER BY signs::BIT({width}) <~> $3::VARBIT::BIT({width}) LIMIT {candidates}
        )
        SELECT doc FROM near
        WHERE EXISTS (SELECT FROM ix_models
            WHERE tenant_no = (SELECT tenant_no FROM own) AND model = $2)
        ORDER BY distance, {order} LIMIT $4"
    );
    document_nos(&tx.rows(&find, values).await?)
}
