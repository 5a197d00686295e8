//! Copying tables from one store into another, and telling whether two are the same.

use daybook_domain::{StoreError, Tenant};

use super::{Cell, Portable, Row, TABLES, Table};

/// Rows that travel at once. More needs more memory and makes a stop wait longer.
const PAGE: usize = 500;

/// What a table comes to: the same on both sides of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checksum {
    /// How many rows it has.
    pub rows: u64,
    /// What all rows hash to, in the order of their keys.
    pub hash: String,
}

/// How copying a table ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Every row is there.
    Done,
    /// The end was asked for; what is there stays, and copying goes on after it.
    Stopped,
}

/// Who listens while rows are copied or compared.
pub trait Progress: Send + Sync {
    /// So many more rows of a table were seen. False asks for the end.
    fn rows(&self, table: &Table, rows: u64) -> bool;
}

/// Whether a store remembers nothing.
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

/// Copies the rows of a table that come after the greatest key of the target, and counts on from where
/// the source does. Safe to repeat: nothing is doubled. What has changed in rows that were copied
/// before shows in their [`checksum`].
///
/// # Errors
/// When either store fails. What was copied stays.
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

/// What a table comes to; `None` when the end was asked for.
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

/// Compares a table on both sides, the source first; `None` when the end was asked for. Where they
/// differ, the source has changed behind an earlier copy, so the table is copied once more from its
/// beginning: two that differ even then are a fault.
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
                    _ => None,
                }),
        );
    }
}

/// No two rows, nor two lists of rows, add the same bytes: each value says what it is and how long.
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
