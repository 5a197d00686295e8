//! The signs of a range of numbers in one row, so that a process that answers one question reads all signs at once.
//!
//! A block holds what the rows of its range hold. Numbers are given once and in order, so a range that is full changes by
//! deletions alone, and a trigger deletes its block with the first of them. A range without a block is read row by row.
//!
//! Not here: which signs are nearest (`vectors`).

use daybook_domain::packed_signs::PackedSigns;
use rusqlite::{Connection, params};

use super::connection::Fault;
use super::vector_rows::{checked_bytes, with_checksum};

/// Numbers of a block; the trigger of the schema has it, too.
const BLOCK: i64 = 4096;
/// Blocks that one transaction writes: each takes some milliseconds.
const WRITTEN_AT_ONCE: usize = 8;

/// Whose signs a row has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SignRow {
    pub(super) no: i64,
    pub(super) doc: i64,
    pub(super) owner: i64,
    pub(super) origin: i8,
}

/// Rows of one tenant, with their signs.
#[derive(Debug, Default)]
pub(super) struct SignRows {
    pub(super) rows: Vec<SignRow>,
    pub(super) signs: PackedSigns,
}

impl SignRows {
    pub(super) fn reserve(&mut self, rows: usize) {
        self.rows.reserve_exact(rows);
    }

    fn push(&mut self, row: SignRow, signs: &[[u8; 8]]) {
        // Signs of another width belong to another model, and are deleted.
        if signs.len() != self.signs.width() {
            self.rows.clear();
            self.signs = PackedSigns::new(signs.len());
            self.signs.reserve(self.rows.capacity());
        }
        self.rows.push(row);
        let words = signs.iter().map(|word| u64::from_le_bytes(*word));
        self.signs.push(words);
    }

    /// Adds all rows of a tenant.
    pub(super) fn read_all(&mut self, tx: &Connection, tenant: i64) -> Result<(), Fault> {
        let mut find = tx.prepare_cached(
            "SELECT block_no, packed FROM ix_sign_blocks WHERE tenant_no = ? ORDER BY block_no",
        )?;
        let mut blocks = find.query([tenant])?;
        let mut next = 0;
        while let Some(block) = blocks.next()? {
            let no: i64 = block.get(0)?;
            // A damaged block is passed over, and its range read row by row.
            let packed = block.get_ref(1)?.as_bytes().unwrap_or_default();
            if let Some(rows) = packed_rows((tenant, no), packed) {
                self.read(tx, tenant, (next, no * BLOCK - 1))?;
                rows.for_each(|(row, signs)| self.push(row, signs));
                next = (no + 1) * BLOCK;
            }
        }
        self.read(tx, tenant, (next, i64::MAX))
    }

    /// Adds a tenant's rows with these numbers.
    pub(super) fn read(
        &mut self,
        tx: &Connection,
        tenant: i64,
        numbers: (i64, i64),
    ) -> Result<(), Fault> {
        visit_rows(tx, tenant, numbers, |row, signs| self.push(row, signs))
    }
}

fn visit_rows(
    tx: &Connection,
    tenant: i64,
    (first, last): (i64, i64),
    mut visit: impl FnMut(SignRow, &[[u8; 8]]),
) -> Result<(), Fault> {
    let mut find = tx.prepare_cached(
        "SELECT sign_no, doc, owner, origin, signs FROM ix_signs
         WHERE sign_no BETWEEN ? AND ? AND tenant_no = ? ORDER BY sign_no",
    )?;
    let mut rows = find.query([first, last, tenant])?;
    while let Some(row) = rows.next()? {
        let signs = row.get_ref(4)?.as_bytes().unwrap_or_default();
        let of = SignRow {
            no: row.get(0)?,
            doc: row.get(1)?,
            owner: row.get(2)?,
            origin: row.get(3)?,
        };
        visit(of, signs.as_chunks().0);
    }
    Ok(())
}

/// Writes some of the blocks that a tenant lacks.
pub(super) fn write_missing(tx: &Connection, tenant: i64) -> Result<(), Fault> {
    let mut last = tx.prepare_cached("SELECT coalesce(max(sign_no), 0) FROM ix_signs")?;
    let full = (last.query_row([], |row| row.get::<_, i64>(0))? + 1) / BLOCK;
    let mut find = tx.prepare_cached(
        "SELECT block_no FROM ix_sign_blocks WHERE tenant_no = ? ORDER BY block_no",
    )?;
    let there: Vec<i64> = find
        .query_map([tenant], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let missing = (0..full).filter(|block| there.binary_search(block).is_err());
    for block in missing.take(WRITTEN_AT_ONCE) {
        let mut rows = Vec::new();
        let numbers = (block * BLOCK, (block + 1) * BLOCK - 1);
        visit_rows(tx, tenant, numbers, |row, signs| {
            rows.push((row, signs.to_vec()))
        })?;
        tx.prepare_cached(
            "INSERT INTO ix_sign_blocks (tenant_no, block_no, packed) VALUES (?, ?, ?)",
        )?
        .execute(params![tenant, block, pack((tenant, block), &rows)])?;
    }
    Ok(())
}

/// A block: its tenant and number, how many words of signs a row has, then of each row its four numbers and its signs, and a
/// checksum. A row of another width is damaged, and left to the check that finds those.
fn pack((tenant, block): (i64, i64), rows: &[(SignRow, Vec<[u8; 8]>)]) -> Vec<u8> {
    let width = rows.iter().map(|(_, signs)| signs.len()).max();
    let width = width.unwrap_or_default();
    let mut packed: Vec<u8> = [tenant, block, width as i64]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    for (row, signs) in rows.iter().filter(|(_, signs)| signs.len() == width) {
        for number in [row.no, row.doc, row.owner, i64::from(row.origin)] {
            packed.extend(number.to_le_bytes());
        }
        packed.extend(signs.as_flattened());
    }
    with_checksum(packed)
}

/// The rows of a block; `None` where it or its key is damaged.
fn packed_rows(
    (tenant, block): (i64, i64),
    packed: &[u8],
) -> Option<impl Iterator<Item = (SignRow, &[[u8; 8]])>> {
    let (words, _) = checked_bytes(packed).as_chunks();
    let ([of_tenant, no, width], words) = words.split_first_chunk()?;
    if (i64::from_le_bytes(*of_tenant), i64::from_le_bytes(*no)) != (tenant, block) {
        return None;
    }
    let width = usize::try_from(i64::from_le_bytes(*width)).ok()?;
    let rows = words.chunks_exact(width.checked_add(4)?);
    Some(rows.filter_map(|row| {
        let ([no, doc, owner, origin], signs) = row.split_first_chunk()?;
        let of = SignRow {
            no: i64::from_le_bytes(*no),
            doc: i64::from_le_bytes(*doc),
            owner: i64::from_le_bytes(*owner),
            origin: i8::try_from(i64::from_le_bytes(*origin)).ok()?,
        };
        Some((of, signs))
    }))
}

#[cfg(test)]
mod tests {
    use super::super::migrations;
    use super::*;

    /// A database with as many rows, of which every third is another tenant's.
    fn database(rows: i64) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::ensure(&mut connection, "memory".as_ref()).unwrap();
        let mut add = connection
            .prepare("INSERT INTO ix_signs (doc, tenant_no, owner, origin, signs) VALUES (?, ?, ?, ?, ?)")
            .unwrap();
        for no in 1..=rows {
            let signs: Vec<u8> = [no, !no]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            let tenant = i64::from(no % 3 == 0);
            add.execute(params![no << 20, tenant, no % 7 - 3, no % 5 - 1, signs])
                .unwrap();
        }
        drop(add);
        connection
    }

    fn blocks(connection: &Connection) -> i64 {
        let count = "SELECT count(*) FROM ix_sign_blocks";
        connection.query_row(count, [], |row| row.get(0)).unwrap()
    }

    /// All rows of a tenant, read with blocks; they are compared with those that are read row by row.
    #[track_caller]
    fn check(connection: &Connection, tenant: i64) {
        let (mut with_blocks, mut by_row) = (SignRows::default(), SignRows::default());
        with_blocks.read_all(connection, tenant).unwrap();
        by_row.read(connection, tenant, (0, i64::MAX)).unwrap();
        assert!(!by_row.rows.is_empty());
        assert_eq!(with_blocks.rows, by_row.rows);
        let near = |held: &SignRows| {
            let mut found = Vec::new();
            held.signs.visit_near(&[5, !5], 40, |at, distance| {
                found.push((at, distance));
                40
            });
            found
        };
        assert_eq!(near(&with_blocks), near(&by_row));
    }

    #[test]
    fn blocks_hold_what_the_rows_hold() {
        let connection = database(3 * BLOCK + 100);
        write_missing(&connection, 0).unwrap();
        assert_eq!(blocks(&connection), 3);
        check(&connection, 0);
        check(&connection, 1);
        write_missing(&connection, 1).unwrap();
        assert_eq!(blocks(&connection), 6);
        check(&connection, 1);
    }

    #[test]
    fn a_deleted_row_takes_its_block_along_and_the_block_comes_back_without_it() {
        let connection = database(2 * BLOCK);
        write_missing(&connection, 0).unwrap();
        let packed = |block: i64| {
            let find = "SELECT packed FROM ix_sign_blocks WHERE block_no = ?";
            let packed = connection.query_row(find, [block], |row| row.get::<_, Vec<u8>>(0));
            packed.unwrap()
        };
        let before = packed(1);
        let no = BLOCK + 6;
        let delete = "DELETE FROM ix_signs WHERE sign_no = ?";
        connection.execute(delete, [no]).unwrap();
        assert_eq!(blocks(&connection), 1);
        check(&connection, 0);
        write_missing(&connection, 0).unwrap();
        assert_eq!(blocks(&connection), 2);
        assert!(packed(1).len() < before.len());
        check(&connection, 0);
    }

    #[test]
    fn a_damaged_block_is_read_row_by_row() {
        for damage in [
            "packed = x''",
            "packed = substr(packed, 1, 1000)",
            "packed = zeroblob(length(packed))",
            "block_no = 9",
            "block_no = 1 << 60",
        ] {
            let connection = database(3 * BLOCK);
            write_missing(&connection, 0).unwrap();
            let set = format!("UPDATE ix_sign_blocks SET {damage} WHERE block_no = 1");
            connection.execute(&set, []).unwrap();
            check(&connection, 0);
        }
    }
}
