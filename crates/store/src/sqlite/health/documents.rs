//! The index against the rows that it is made from, both ways: everything that can be found is indexed,
//! and what is indexed is there.

use std::collections::{BTreeSet, HashMap, HashSet};

use daybook_domain::{Origin, Scope, StoreError};
use rusqlite::Connection;

use super::super::connection::Fault;
use super::super::names::{find_scope, word};
use super::super::{SqliteStore, index};
use super::{FINDINGS, Tokens};
use crate::damage::Damage;
use crate::documents::{ENTRIES, OBSERVATIONS, SAID, event_doc, observation_doc};

pub(super) fn check(connection: &Connection, tokens: Tokens<'_>) -> Result<Vec<Damage>, Fault> {
    let mut indexed = documents(connection)?;
    let pending = pending(connection)?;
    let mut damage = Vec::new();
    let mut expect = |table: &str, key: i64, doc: i64, tokens: &str| {
        let is_right = pending
            .get(&doc)
            .is_none_or(|held| held.starts_with(index::words(tokens, &[]).trim_end().as_bytes()));
        if !is_right && damage.len() < FINDINGS {
            let what = "is in the index with other words";
            damage.push(Damage::of_row(table, key.to_string(), what));
        }
        if !indexed.remove(&doc) && damage.len() < FINDINGS {
            let what = "is not in the index";
            damage.push(Damage::of_row(table, key.to_string(), what));
        }
    };
    let mut events = connection.prepare("SELECT event_no, origin, text FROM events")?;
    let mut rows = events.query([])?;
    while let Some(row) = rows.next()? {
        let origin = word(row, 1, Origin::from_word)?;
        let words = tokens(origin, row.get_ref(2)?.as_str().unwrap_or_default());
        if !words.is_empty() {
            let no = row.get(0)?;
            expect("events", no, event_doc(no, origin), &words);
        }
    }
    let mut observations = connection
        .prepare("SELECT observation_no, tokens FROM observations WHERE holds AND tokens <> ''")?;
    let mut rows = observations.query([])?;
    while let Some(row) = rows.next()? {
        let no = row.get(0)?;
        let words = row.get_ref(1)?.as_str().unwrap_or_default();
        expect("observations", no, observation_doc(no), words);
    }
    let mut entries =
        connection.prepare("SELECT entry_no, heading || ' ' || text FROM ix_entries")?;
    let mut rows = entries.query([])?;
    while let Some(row) = rows.next()? {
        let text = row.get_ref(1)?.as_str().unwrap_or_default();
        let words = tokens(Origin::Human, text);
        if !words.is_empty() {
            let no: i64 = row.get(0)?;
            expect("ix_entries", no, ENTRIES | no, &words);
        }
    }
    damage.extend(indexed.iter().take(FINDINGS).map(|&doc| stale(doc)));
    Ok(damage)
}

impl SqliteStore {
    /// Entries of a scope's memory files that show no observation: file, heading and text.
    ///
    /// # Errors
    /// When the store fails.
    pub fn unobserved_entries(
        &self,
        scope: &Scope,
    ) -> Result<BTreeSet<(String, String, String)>, StoreError> {
        self.read(|tx| {
            let Some(scope) = find_scope(tx, scope)? else {
                return Ok(BTreeSet::new());
            };
            let mut find = tx.prepare_cached(
                "SELECT file, heading, text FROM ix_entries JOIN ix_files USING (file_no)
                 WHERE scope_no = ? AND observation IS NULL",
            )?;
            let rows =
                find.query_map([scope], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// The words of documents that wait to be moved into the full-text index, whose words cannot be read back.
fn pending(connection: &Connection) -> Result<HashMap<i64, Vec<u8>>, Fault> {
    let mut find = connection.prepare("SELECT doc, words FROM ix_pending")?;
    let rows = find.query_map([], |row| {
        Ok((
            row.get(0)?,
            row.get_ref(1)?.as_bytes().unwrap_or_default().to_vec(),
        ))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The numbers of all documents in the index.
fn documents(connection: &Connection) -> Result<HashSet<i64>, Fault> {
    let mut find = connection
        .prepare("SELECT id FROM ix_text_docsize UNION ALL SELECT doc FROM ix_pending")?;
    let rows = find.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn stale(doc: i64) -> Damage {
    let (table, key) = if doc >= ENTRIES {
        ("ix_entries", doc - ENTRIES)
    } else if doc >= OBSERVATIONS {
        ("observations", doc - OBSERVATIONS)
    } else {
        ("events", doc & !SAID)
    };
    Damage::of_row(table, key.to_string(), "is indexed, and is not there")
}
