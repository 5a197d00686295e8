//! Copies rows: sound ones as they are, others as far as they can be read.
//!
//! A value that cannot be read is taken from an index of its table, where one holds it. Otherwise text keeps
//! its valid characters, and a word or number of ours gets a neutral value. A row whose key is damaged is lost,
//! and so is one that contradicts another row.

use std::collections::{BTreeMap, HashMap};

use daybook_domain::EventId;
use rusqlite::{Connection, ErrorCode, params_from_iter};

use super::super::connection::Fault;
use super::super::health::table::{self, ColumnKind, TableInfo, raw};
use super::super::health::visit::{is_damage, visit};
use super::super::health::{FINDINGS, check_row};
use super::super::raw_values::Raw;
use super::{Salvage, UnreadableEvent, note_rows};
use crate::damage::Damage;

/// The values of a table's numbered rows that its indexes hold: by number, then by column.
type IndexedValues = HashMap<i64, BTreeMap<usize, Raw>>;

impl Salvage {
    /// Copies all tables except those that are rebuilt.
    pub(super) fn copy_rows(&mut self, damaged: &Connection) -> Result<(), Fault> {
        let tables = table::expected()?.into_iter();
        for table in tables.filter(|table| !table::DERIVED.contains(&table.name.as_str())) {
            let present = match table::columns_of(damaged, &table.name) {
                Err(Fault::Sql(error)) if is_damage(&error) => Vec::new(),
                present => present?,
            };
            let Some(table) = table.limited_to(&present) else {
                let what = format!("table {} cannot be read", table.name);
                self.report.lost.push(Damage::of_file(what));
                continue;
            };
            self.fresh.execute_batch("BEGIN")?;
            let copied = self.copy_table(damaged, &table);
            self.fresh.execute_batch("COMMIT")?;
            copied?;
        }
        self.copy_counters(damaged)
    }

    /// Continues the numbering of the damaged database, so that no number is issued to a second row.
    fn copy_counters(&self, damaged: &Connection) -> Result<(), Fault> {
        let counters = || -> rusqlite::Result<Vec<(String, i64)>> {
            let mut find = damaged.prepare("SELECT name, seq FROM sqlite_sequence")?;
            find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        // Where the counters cannot be read, numbering continues after the remaining rows.
        for (name, last) in counters().unwrap_or_default() {
            let raise = "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1";
            if self.fresh.execute(raise, rusqlite::params![name, last])? == 0 {
                // No row of the table has a number yet.
                let begin = "INSERT INTO sqlite_sequence (name, seq) SELECT name, ?2
                    FROM sqlite_schema WHERE type = 'table' AND name = ?1
                        AND sql LIKE '%AUTOINCREMENT%'";
                self.fresh.execute(begin, rusqlite::params![name, last])?;
            }
        }
        Ok(())
    }

    fn copy_table(&mut self, damaged: &Connection, table: &TableInfo) -> Result<(), Fault> {
        let mut spare: Option<IndexedValues> = None;
        let mut rows = 0;
        let (mut mended, mut lost, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
        let fresh = &self.fresh;
        let holes = visit(damaged, table, &mut |row| {
            let issues = check_row(table, row);
            if issues.is_empty() {
                match insert(fresh, table, row)? {
                    None => rows += 1,
                    Some(why) => lost.push(Damage::of_row(&table.name, table.key_text(row), why)),
                }
                return Ok(());
            }
            let spare = spare.get_or_insert_with(|| read_indexes(damaged, table));
            let key = table.key_text(row);
            let issues = issues.into_iter().map(|(column, why)| {
                Damage::of_row(&table.name, key.as_str(), why).in_column(column)
            });
            match repair(table, row, spare) {
                Some(whole) if insert(fresh, table, &whole)?.is_none() => {
                    rows += 1;
                    mended.extend(issues);
                    unreadable.extend(unreadable_event(table, &whole, true));
                }
                Some(_) | None => {
                    lost.extend(issues);
                    unreadable.extend(unreadable_event(table, row, false));
                }
            }
            Ok(())
        })?;
        if !holes.is_empty() {
            let spare = spare.get_or_insert_with(|| read_indexes(damaged, table));
            let (found, gone) = restore_lost(fresh, table, spare)?;
            rows += found;
            unreadable.extend(
                gone.iter()
                    .filter_map(|row| unreadable_event(table, row, false)),
            );
            // Rows reported by name make the report of their range redundant.
            match gone.is_empty() && found == 0 {
                true => lost.extend(holes),
                false => {
                    lost.extend(gone.iter().map(|row| {
                        Damage::of_row(&table.name, table.key_text(row), "cannot be read")
                    }))
                }
            }
            self.note_unlearned(table, &gone);
        }
        note_rows(&mut self.report, rows);
        mended.truncate(FINDINGS);
        self.report.mended.extend(mended);
        self.report.lost.extend(lost);
        self.unreadable.extend(unreadable);
        Ok(())
    }

    /// Records the sessions of lost rows of evidence.
    fn note_unlearned(&mut self, table: &TableInfo, gone: &[Vec<Raw>]) {
        if table.name != "evidence" {
            return;
        }
        let session = table.place_of("session_no");
        let sessions = gone
            .iter()
            .filter_map(|row| row.get(session?)?.as_integer());
        self.unlearned.extend(sessions);
    }
}

/// Inserts a row. Returns the reason if another row is in its way or a value does not fit the table.
fn insert(fresh: &Connection, table: &TableInfo, row: &[Raw]) -> Result<Option<String>, Fault> {
    let marks = vec!["?"; row.len()].join(", ");
    let sql = format!(
        "INSERT INTO \"{}\" ({}) VALUES ({marks})",
        table.name,
        table.all_columns()
    );
    match fresh.prepare_cached(&sql)?.execute(params_from_iter(row)) {
        Ok(_) => Ok(None),
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch)
            ) =>
        {
            Ok(Some(format!("contradicts another row: {error}")))
        }
        Err(error) => Err(error.into()),
    }
}

/// Repairs a row from the values that can be read; `None` when no sound row can be made of it.
fn repair(table: &TableInfo, row: &[Raw], spare: &IndexedValues) -> Option<Vec<Raw>> {
    // Pending work is derived from sessions, and rebuilt.
    if table.name == "jobs" {
        return None;
    }
    let number = table.key_of(row).first().and_then(Raw::as_integer);
    let indexed = number.and_then(|number| spare.get(&number));
    let mut whole = row.to_vec();
    for (column, _) in check_row(table, row) {
        let at = table.place_of(column)?;
        if let Some(value) = indexed.and_then(|values| values.get(&at)) {
            let mut with = whole.clone();
            with[at] = value.clone();
            if !check_row(table, &with)
                .iter()
                .any(|(still, _)| *still == column)
            {
                whole = with;
                continue;
            }
        }
        if table.key.contains(&at) {
            return None;
        }
        whole[at] = substitute(table, at, &row[at], number);
    }
    check_row(table, &whole).is_empty().then_some(whole)
}

/// The replacement for a value that cannot be read.
fn substitute(table: &TableInfo, at: usize, value: &Raw, number: Option<i64>) -> Raw {
    let column = &table.columns[at];
    let text = |text: &str| Raw::Text(text.as_bytes().to_vec());
    match (table.name.as_str(), column.name.as_str()) {
        ("events", "origin") => text("harness"),
        ("events", "id") => {
            let no = number.unwrap_or_default();
            Raw::Blob(
                EventId::of(&[b"lost", &no.to_be_bytes()])
                    .0
                    .to_be_bytes()
                    .to_vec(),
            )
        }
        ("sessions", "kind") => text("root"),
        ("sessions", "passed") => text(""),
        ("sessions", "label") => Raw::Null,
        _ => match (value, column.kind) {
            (Raw::Text(bytes) | Raw::Blob(bytes), ColumnKind::Text) => {
                text(&String::from_utf8_lossy(bytes))
            }
            _ if !column.is_required => Raw::Null,
            (_, ColumnKind::Integer) => Raw::Integer(0),
            (_, ColumnKind::Text) => text(""),
            (_, ColumnKind::Blob) => Raw::Blob(Vec::new()),
        },
    }
}

/// An event whose content is to be read from its transcript, with as much of its identity as is left.
fn unreadable_event(
    table: &TableInfo,
    row: &[Raw],
    is_kept: bool,
) -> Option<(i64, UnreadableEvent)> {
    if table.name != "events" {
        return None;
    }
    let no = row.first()?.as_integer()?;
    let id = match row.get(table.place_of("id")?)? {
        Raw::Blob(bytes) => bytes.as_slice().try_into().ok().map(u128::from_be_bytes),
        Raw::Null | Raw::Integer(_) | Raw::Real(_) | Raw::Text(_) => None,
    };
    let id = id.map(EventId);
    Some((no, UnreadableEvent { id, is_kept }))
}

/// Reads the indexes of a table with numbered rows. A damaged one provides the values that can be read.
fn read_indexes(damaged: &Connection, table: &TableInfo) -> IndexedValues {
    let mut spare = IndexedValues::new();
    if table.is_numbered() {
        for (index, columns) in indexes_of(damaged, table).unwrap_or_default() {
            // Values that were read before the index turned out damaged are kept.
            let _ = read_index(damaged, table, &index, &columns, &mut spare);
        }
    }
    spare
}

/// Names and columns of the indexes that cover every row.
fn indexes_of(damaged: &Connection, table: &TableInfo) -> Result<Vec<(String, Vec<usize>)>, Fault> {
    let mut find = damaged.prepare("SELECT name FROM pragma_index_list(?) WHERE partial = 0")?;
    let names: Vec<String> = find
        .query_map([&table.name], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut indexes = Vec::new();
    for name in names {
        let mut find = damaged.prepare("SELECT name FROM pragma_index_info(?)")?;
        let columns: Vec<Option<String>> = find
            .query_map([&name], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let places: Option<Vec<usize>> = columns
            .iter()
            .map(|column| table.place_of(column.as_deref()?))
            .collect();
        indexes.extend(places.map(|places| (name, places)));
    }
    Ok(indexes)
}

fn read_index(
    damaged: &Connection,
    table: &TableInfo,
    index: &str,
    columns: &[usize],
    spare: &mut IndexedValues,
) -> Result<(), Fault> {
    let names: Vec<String> = columns
        .iter()
        .map(|&at| format!("\"{}\"", table.columns[at].name))
        .collect();
    // Key and columns are all in the index, so SQLite reads no row of the table.
    let sql = format!(
        "SELECT {}, {} FROM \"{}\" INDEXED BY \"{index}\" ORDER BY {}",
        table.key_columns(""),
        names.join(", "),
        table.name,
        names.join(", ")
    );
    let mut find = damaged.prepare(&sql)?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let values = raw(row, columns.len() + 1)?;
        if let Some(number) = values[0].as_integer() {
            let known = spare.entry(number).or_default();
            known.extend(columns.iter().copied().zip(values.into_iter().skip(1)));
        }
    }
    Ok(())
}

/// Restores lost rows from the values in indexes, where these are enough. Returns how many, and the known
/// values of the others.
fn restore_lost(
    fresh: &Connection,
    table: &TableInfo,
    spare: &IndexedValues,
) -> Result<(u64, Vec<Vec<Raw>>), Fault> {
    let is_there = format!(
        "SELECT 1 FROM \"{}\" WHERE {} = ?",
        table.name,
        table.key_columns("")
    );
    let (mut restored, mut gone) = (0, Vec::new());
    let mut numbers: Vec<&i64> = spare.keys().collect();
    numbers.sort_unstable();
    for number in numbers {
        if fresh.prepare_cached(&is_there)?.exists([number])? {
            continue;
        }
        let known = &spare[number];
        let mut row: Vec<Raw> = vec![Raw::Null; table.columns.len()];
        row[table.key[0]] = Raw::Integer(*number);
        for (at, value) in known {
            row[*at] = value.clone();
        }
        let enough = matches!(
            table.name.as_str(),
            "tenants" | "roots" | "scopes" | "sessions"
        );
        match enough.then(|| repair(table, &row, spare)).flatten() {
            Some(whole) if insert(fresh, table, &whole)?.is_none() => restored += 1,
            Some(_) | None => gone.push(row),
        }
    }
    Ok((restored, gone))
}
