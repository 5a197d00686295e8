//! Examines a database file: every page, every row of every table, references between rows, and the index.
//!
//! Nothing here writes. Findings are a list of [`Damage`]; an error means that examining itself failed.
//!
//! Not here: repairing the damage (`salvage`).

mod documents;
mod relations;
mod rules;
pub(super) mod table;
pub(super) mod visit;

use std::collections::BTreeSet;

use daybook_domain::{Origin, StoreError};
use rusqlite::Connection;

use super::SqliteStore;
use super::connection::Fault;
use crate::damage::Damage;
pub(super) use relations::REFERENCES;
pub(super) use rules::check_row;
use table::TableInfo;
use visit::visit;

/// Most findings that one kind of check reports: more would not help a person.
pub(super) const FINDINGS: usize = 100;

/// Returns the words by which an event of this origin is found; empty for events that are not indexed.
pub type Tokenize<'a> = &'a dyn Fn(Origin, &str) -> String;

impl SqliteStore {
    /// Reads every page and every row, and compares rows with each other and with the index.
    /// `tokens` gives the words of texts.
    ///
    /// # Errors
    /// When the file cannot be examined at all; damage is returned as a value.
    pub fn examine(&self, tokens: Tokenize<'_>) -> Result<Vec<Damage>, StoreError> {
        self.read(|tx| {
            let mut damage = check_pages(tx)?;
            damage.extend(check_tables(tx)?);
            // Comparing rows that cannot be read would find nothing new.
            if damage.is_empty() {
                damage.extend(relations::check(tx)?);
            }
            if damage.is_empty() {
                damage.extend(documents::check(tx, tokens)?);
            }
            Ok(damage)
        })
    }
}

/// Checks the pages, as SQLite does; the pieces of the full-text index among them.
fn check_pages(connection: &Connection) -> Result<Vec<Damage>, Fault> {
    let mut check = connection.prepare(&format!("PRAGMA integrity_check({FINDINGS})"))?;
    let mut rows = check.query([])?;
    let mut damage = Vec::new();
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                let report = row.get_ref(0)?.as_bytes().unwrap_or_default();
                let report = String::from_utf8_lossy(report);
                damage.extend(
                    report
                        .lines()
                        .filter(|line| *line != "ok")
                        .map(Damage::of_file),
                );
            }
            Ok(None) => return Ok(damage),
            Err(error) if visit::is_damage(&error) => {
                damage.push(Damage::of_file(error.to_string()));
                return Ok(damage);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Checks every column of every row.
fn check_tables(connection: &Connection) -> Result<Vec<Damage>, Fault> {
    let mut damage = Vec::new();
    for table in table::expected()? {
        damage.extend(check_table(connection, &table)?);
    }
    Ok(damage)
}

fn check_table(connection: &Connection, table: &TableInfo) -> Result<Vec<Damage>, Fault> {
    let present: BTreeSet<String> = table::columns_of(connection, &table.name)?
        .into_iter()
        .map(|column| column.name)
        .collect();
    if !table.columns.iter().all(|c| present.contains(&c.name)) {
        let what = format!("table {} is missing, or lacks columns", table.name);
        return Ok(vec![Damage::of_file(what)]);
    }
    let mut damage = Vec::new();
    let unreadable = visit(connection, table, &mut |row| {
        if damage.len() < FINDINGS {
            damage.extend(check_row(table, row).into_iter().map(|(column, what)| {
                Damage::of_row(&table.name, table.key_text(row), what).in_column(column)
            }));
        }
        Ok(())
    })?;
    damage.extend(unreadable);
    Ok(damage)
}
