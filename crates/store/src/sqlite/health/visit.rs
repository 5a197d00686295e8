//! Reads all rows of a table of which some pages may be damaged.
//!
//! Rows are read in the order of their keys. Where a row cannot be read, the next readable key is searched for,
//! and the range in between is reported. In a table with numbered rows, the search doubles its distance and
//! then halves it; in others the rest is read from the other end.

use rusqlite::{Connection, ErrorCode, OptionalExtension, params_from_iter};

use super::super::connection::Fault;
use super::super::raw_values::{Raw, format_key};
use super::table::{TableInfo, raw};
use crate::damage::Damage;

/// Most unreadable places in one table; all later ones count as one more.
const MOST_HOLES: usize = 1000;

/// A function called with each row.
pub(in crate::sqlite) type RowVisitor<'a> = &'a mut dyn FnMut(&[Raw]) -> Result<(), Fault>;

/// Whether an error means that the file itself is damaged.
pub(in crate::sqlite) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Calls `each` with every row that can be read, and returns where rows could not be read.
pub(in crate::sqlite) fn visit(
    connection: &Connection,
    table: &TableInfo,
    each: RowVisitor<'_>,
) -> Result<Vec<Damage>, Fault> {
    let mut holes = Vec::new();
    let mut last: Option<Vec<Raw>> = None;
    while let Some(why) = read_up(connection, table, &mut last, each)? {
        if !table.is_numbered() || holes.len() >= MOST_HOLES {
            let first = read_down(connection, table, last.as_deref(), each)?;
            holes.push(hole(table, last.as_deref(), first.as_deref(), &why));
            return Ok(holes);
        }
        let number = |key: &Vec<Raw>| key.first().and_then(Raw::as_integer);
        let from = last
            .as_ref()
            .and_then(number)
            .map_or(0, |n| n.saturating_add(1));
        let next = next_readable(connection, table, from)?;
        let to = next.map_or(i64::MAX, |next| (next - 1).max(from));
        holes.push(numbered_hole(table, from, to, &why));
        match next {
            Some(_) => last = Some(vec![Raw::Integer(to)]),
            None => return Ok(holes),
        }
    }
    Ok(holes)
}

fn numbered_hole(table: &TableInfo, from: i64, to: i64, why: &str) -> Damage {
    let key = match (from == to, to) {
        (true, _) => from.to_string(),
        (false, i64::MAX) => format!("{from} and after"),
        (false, _) => format!("{from} to {to}"),
    };
    Damage::of_row(&table.name, key, format!("cannot be read: {why}"))
}

fn hole(table: &TableInfo, after: Option<&[Raw]>, before: Option<&[Raw]>, why: &str) -> Damage {
    let after = after.map_or("the beginning".to_owned(), format_key);
    let before = before.map_or("the end".to_owned(), format_key);
    let key = format!("between {after} and {before}");
    Damage::of_row(&table.name, key, format!("cannot be read: {why}"))
}

/// Reads on after `last`, and moves it, until the end (`None`) or a row that cannot be read (the reason).
fn read_up(
    connection: &Connection,
    table: &TableInfo,
    last: &mut Option<Vec<Raw>>,
    each: RowVisitor<'_>,
) -> Result<Option<String>, Fault> {
    let marks = vec!["?"; table.key.len()].join(", ");
    let further = match last {
        Some(_) => format!("WHERE ({}) > ({marks})", table.key_columns("")),
        None => String::new(),
    };
    let sql = format!(
        "SELECT {} FROM \"{}\" NOT INDEXED {further} ORDER BY {}",
        table.all_columns(),
        table.name,
        table.key_columns("")
    );
    let after = last.clone().unwrap_or_default();
    read(connection, table, (&sql, &after), &mut |row| {
        let key = table.key_of(row);
        if is_not_after(&key, last.as_deref()) {
            return Ok(Some("its rows are out of order".to_owned()));
        }
        each(row)?;
        *last = Some(key);
        Ok(None)
    })
}

/// Reads from the end down to `upto`; returns the key of the last row that could be read.
fn read_down(
    connection: &Connection,
    table: &TableInfo,
    upto: Option<&[Raw]>,
    each: RowVisitor<'_>,
) -> Result<Option<Vec<Raw>>, Fault> {
    let sql = format!(
        "SELECT {} FROM \"{}\" NOT INDEXED ORDER BY {}",
        table.all_columns(),
        table.name,
        table.key_columns(" DESC")
    );
    let mut first = None;
    read(connection, table, (&sql, &[]), &mut |row| {
        let key = table.key_of(row);
        if upto == Some(&key[..]) {
            return Ok(Some("met".to_owned()));
        }
        each(row)?;
        first = Some(key);
        Ok(None)
    })?;
    Ok(first)
}

/// A function called with each row, until it returns a reason to end.
type UntilReason<'a> = &'a mut dyn FnMut(&[Raw]) -> Result<Option<String>, Fault>;

/// Reads rows until `each` or the file gives a reason to end.
fn read(
    connection: &Connection,
    table: &TableInfo,
    (sql, values): (&str, &[Raw]),
    each: UntilReason<'_>,
) -> Result<Option<String>, Fault> {
    let mut select = match connection.prepare(sql) {
        Err(error) if is_damage(&error) => return Ok(Some(error.to_string())),
        prepared => prepared?,
    };
    let mut rows = match select.query(params_from_iter(values)) {
        Err(error) if is_damage(&error) => return Ok(Some(error.to_string())),
        rows => rows?,
    };
    loop {
        match rows.next() {
            Ok(None) => return Ok(None),
            Ok(Some(row)) => {
                if let Some(why) = each(&raw(row, table.columns.len())?)? {
                    return Ok(Some(why));
                }
            }
            Err(error) if is_damage(&error) => return Ok(Some(error.to_string())),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Detects a damaged tree that leads back to earlier rows. Compares only numbers: text may be ordered
/// differently than here, and tables with text keys are never read twice.
fn is_not_after(key: &[Raw], last: Option<&[Raw]>) -> bool {
    match (key, last) {
        ([Raw::Integer(key)], Some([Raw::Integer(last)])) => key <= last,
        _ => false,
    }
}

/// The row at a number or after it.
enum Probe {
    Row(i64),
    End,
    Damaged,
}

fn probe(connection: &Connection, table: &TableInfo, at: i64) -> Result<Probe, Fault> {
    let key = table.key_columns("");
    let sql = format!(
        "SELECT {key} FROM \"{}\" NOT INDEXED WHERE {key} >= ? ORDER BY {key} LIMIT 1",
        table.name
    );
    let found = connection
        .prepare_cached(&sql)
        .and_then(|mut find| find.query_row([at], |row| row.get::<_, i64>(0)).optional());
    match found {
        Ok(Some(found)) if found >= at => Ok(Probe::Row(found)),
        Ok(Some(_)) => Ok(Probe::Damaged),
        Ok(None) => Ok(Probe::End),
        Err(error) if is_damage(&error) => Ok(Probe::Damaged),
        Err(error) => Err(error.into()),
    }
}

/// The first number at which rows can be read again, at or after the unreadable one at `from`.
fn next_readable(
    connection: &Connection,
    table: &TableInfo,
    from: i64,
) -> Result<Option<i64>, Fault> {
    // The row's number can be read: only its content is damaged.
    match probe(connection, table, from)? {
        Probe::Row(key) => return Ok(key.checked_add(1)),
        Probe::End => return Ok(None),
        Probe::Damaged => {}
    }
    let (mut low, mut distance) = (from, 1_i64);
    let mut high = loop {
        let at = from.saturating_add(distance);
        match probe(connection, table, at)? {
            Probe::Row(_) => break at,
            Probe::End => return Ok(None),
            Probe::Damaged if at == i64::MAX => return Ok(None),
            Probe::Damaged => (low, distance) = (at, distance.saturating_mul(2)),
        }
    };
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match probe(connection, table, middle)? {
            Probe::Damaged => low = middle,
            Probe::Row(_) | Probe::End => high = middle,
        }
    }
    Ok(Some(high))
}
