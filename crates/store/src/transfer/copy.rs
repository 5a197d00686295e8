//! Copies tables from one store into another, and compares the two.

use daybook_domain::{StoreError, Tenant};

use super::{Cell, Portable, Row, TABLES, Table};

/// Rows read and written at once. More needs more memory and delays a stop.
const PAGE: usize = 500;

/// A checksum of a table: the same on both sides of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checksum {
    /// How many rows it has.
    pub rows: u64,
    /// The hash of all rows, in the order of their keys.
    pub hash: String,
}

/// How copying a table ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Every row is copied.
    Done,
    /// The progress asked to stop. The copied rows stay, and copying can continue after them.
    Stopped,
}

/// Receives progress while rows are copied or compared.
pub trait Progress: Send + Sync {
    /// Reports so many more rows of a table. Returns false to stop.
    fn rows(&self, table: &Table, rows: u64) -> bool;
}

/// Whether a store holds no rows.
///
/// # Errors
/// When it fails.
pub async fn is_empty(store: &dyn Portable) -> Result<bool, StoreError> {
    for table in &TABLES {
        if store.last_key(table).await?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Copies the rows of a table that come after the greatest key of the target, and continues the source's
/// numbering. Safe to repeat: nothing is doubled. Changes in rows that were copied before show in their
/// [`checksum`].
///
/// # Errors
/// When either store fails. Copied rows stay.
pub async fn copy(
    from: &dyn Portable,
    to: &dyn Portable,
    table: &Table,
    progress: &dyn Progress,
) -> Result<Outcome, StoreError> {
    let mut after = to.last_key(table).await?;
    loop {
        let page = from.page(table, after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(table.key_of(last));
        to.put(table, &page).await?;
        if !progress.rows(table, page.len() as u64) {
            return Ok(Outcome::Stopped);
        }
    }
    if table.numbers.is_some() {
        to.count_from(table, from.last_number(table).await?).await?;
    }
    Ok(Outcome::Done)
}

/// Computes a table's checksum; `None` when `progress` asked to stop.
///
/// # Errors
/// When the store fails.
pub async fn checksum(
    store: &dyn Portable,
    table: &Table,
    progress: &dyn Progress,
) -> Result<Option<Checksum>, StoreError> {
    let mut hash = blake3::Hasher::new();
    let mut rows = 0;
    let mut after: Option<Vec<Cell>> = None;
    loop {
        let page = store.page(table, after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(table.key_of(last));
        for row in &page {
            add(&mut hash, row);
        }
        rows += page.len() as u64;
        if !progress.rows(table, page.len() as u64) {
            return Ok(None);
        }
    }
    let hash = hash.finalize().to_hex()[..32].to_owned();
    Ok(Some(Checksum { rows, hash }))
}

/// Compares a table on both sides, the source first; `None` when `progress` asked to stop. Where they differ,
/// the source has changed behind an earlier copy, so the table is copied once more from its beginning: a
/// difference after that is a fault.
///
/// # Errors
/// When either store fails.
pub async fn compare(
    from: &dyn Portable,
    to: &dyn Portable,
    table: &Table,
    progress: &dyn Progress,
) -> Result<Option<(Checksum, Checksum)>, StoreError> {
    let Some(here) = checksum(from, table, progress).await? else {
        return Ok(None);
    };
    let Some(there) = checksum(to, table, progress).await? else {
        return Ok(None);
    };
    if here == there {
        return Ok(Some((here, there)));
    }
    to.empty(table).await?;
    if copy(from, to, table, progress).await? == Outcome::Stopped {
        return Ok(None);
    }
    let again = checksum(to, table, progress).await?;
    Ok(again.map(|there| (here, there)))
}

/// All tenants of a store.
///
/// # Errors
/// When it fails.
pub async fn tenants(store: &dyn Portable) -> Result<Vec<Tenant>, StoreError> {
    let [table, ..] = &TABLES;
    let mut tenants = Vec::new();
    let mut after: Option<Vec<Cell>> = None;
    loop {
        let page = store.page(table, after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(tenants);
        };
        after = Some(table.key_of(last));
        tenants.extend(
            page.into_iter()
                .filter_map(|row| match row.into_iter().nth(1) {
                    Some(Cell::Text(name)) => Some(Tenant(name)),
                    Some(Cell::Null | Cell::Int(_) | Cell::Bytes(_)) | None => None,
                }),
        );
    }
}

/// Adds a row to a hash. Each value adds its kind and its length, so no two lists of rows add the same bytes.
fn add(hash: &mut blake3::Hasher, row: &Row) {
    for cell in row {
        let number;
        let (kind, bytes): (u8, &[u8]) = match cell {
            Cell::Null => (0, &[]),
            Cell::Int(value) => {
                number = value.to_le_bytes();
                (1, &number)
            }
            Cell::Text(text) => (2, text.as_bytes()),
            Cell::Bytes(bytes) => (3, bytes),
        };
        hash.update(&[kind]);
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
}
