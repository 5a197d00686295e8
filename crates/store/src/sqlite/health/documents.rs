//! Checks the index against the rows that it is made from, both ways: every row that should be indexed is, and
//! every indexed document exists. Documents are checked against their outlines and vectors likewise.

use std::collections::{BTreeSet, HashMap, HashSet};

use daybook_domain::{Origin, Scope, StoreError};
use rusqlite::Connection;

use super::super::connection::Fault;
use super::super::names::{find_scope, parse_column};
use super::super::{SqliteStore, index_words, outlines, vectors};
use super::{FINDINGS, Tokenize};
use crate::damage::Damage;
use crate::documents::{ENTRIES, OBSERVATIONS, SAID, event_doc, observation_doc};

pub(super) fn check(connection: &Connection, tokens: Tokenize<'_>) -> Result<Vec<Damage>, Fault> {
    let mut indexed = documents(connection)?;
    let mut damage = check_outlines(connection, &indexed)?;
    let pending = pending(connection)?;
    let mut expect = |table: &str, key: i64, doc: i64, tokens: &str| {
        let is_right = pending.get(&doc).is_none_or(|held| {
            held.starts_with(index_words::words(tokens, &[]).trim_end().as_bytes())
        });
        if !is_right && damage.len() < FINDINGS {
            let what = "is in the index with other words";
            damage.push(Damage::of_row(table, key.to_string(), what));
        }
        if !indexed.remove(&doc) && damage.len() < FINDINGS {
            let what = "is not in the index";
            damage.push(Damage::of_row(table, key.to_string(), what));
        }
    };
    let mut altered = Vec::new();
    let mut is_own = |doc: i64, words: &str| {
        if !outlines::is_current(connection, doc, words)? && altered.len() < FINDINGS {
            altered.push(of_document(
                doc,
                "has an outline that does not match its row",
            ));
        }
        Ok::<(), Fault>(())
    };
    let mut events = connection.prepare("SELECT event_no, origin, text FROM events")?;
    let mut rows = events.query([])?;
    while let Some(row) = rows.next()? {
        let origin = parse_column::<Origin>(row, 1)?;
        let words = tokens(origin, row.get_ref(2)?.as_str().unwrap_or_default());
        if !words.is_empty() {
            let no = row.get(0)?;
            expect("events", no, event_doc(no, origin), &words);
            is_own(event_doc(no, origin), &words)?;
        }
    }
    let mut observations = connection
        .prepare("SELECT observation_no, tokens FROM observations WHERE holds AND tokens <> ''")?;
    let mut rows = observations.query([])?;
    while let Some(row) = rows.next()? {
        let no = row.get(0)?;
        let words = row.get_ref(1)?.as_str().unwrap_or_default();
        expect("observations", no, observation_doc(no), words);
        is_own(observation_doc(no), words)?;
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
            is_own(ENTRIES | no, &words)?;
        }
    }
    let stale = indexed.iter().take(FINDINGS);
    damage.extend(stale.map(|&doc| of_document(doc, "is indexed, but does not exist")));
    damage.extend(altered);
    Ok(damage)
}

/// Finds documents without outlines, outlines without documents, and vectors without outlines. A document
/// indexed before outlines existed has none as long as it waits for vectors.
fn check_outlines(connection: &Connection, indexed: &HashSet<i64>) -> Result<Vec<Damage>, Fault> {
    let outlined = numbers(connection, "SELECT doc FROM ix_docs")?;
    let waiting = numbers(connection, "SELECT doc FROM ix_unembedded")?;
    let embedded = numbers(connection, "SELECT doc FROM ix_vectors")?;
    let pairs = "SELECT doc FROM ix_vectors WHERE sign_no NOT IN (SELECT sign_no FROM ix_signs)
        UNION SELECT doc FROM ix_signs WHERE sign_no NOT IN (SELECT sign_no FROM ix_vectors)";
    let unpaired = numbers(connection, pairs)?;
    let bare = indexed
        .iter()
        .filter(|doc| !outlined.contains(doc) && !waiting.contains(doc));
    let bare = bare.map(|&doc| of_document(doc, "is indexed without an outline"));
    let stale = outlined.difference(indexed);
    let stale = stale.map(|&doc| of_document(doc, "has an outline, but is not in the index"));
    let lone = embedded.difference(&outlined);
    let lone = lone.map(|&doc| of_document(doc, "has vectors, and no outline"));
    let unpaired = unpaired.iter();
    let unpaired =
        unpaired.map(|&doc| of_document(doc, "has vectors without signs, or signs alone"));
    let damaged = vectors::find_damaged(connection)?;
    let damaged = damaged
        .iter()
        .map(|&doc| of_document(doc, "has vectors that are damaged"));
    let all = bare.take(FINDINGS).chain(stale.take(FINDINGS));
    Ok(all
        .chain(lone.take(FINDINGS))
        .chain(unpaired.take(FINDINGS))
        .chain(damaged.take(FINDINGS))
        .collect())
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

/// The words of documents that wait to be moved into the full-text index; words in the index itself cannot be
/// read back.
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
    numbers(
        connection,
        "SELECT id FROM ix_text_docsize UNION ALL SELECT doc FROM ix_pending",
    )
}

fn numbers(connection: &Connection, sql: &str) -> Result<HashSet<i64>, Fault> {
    let mut find = connection.prepare(sql)?;
    let rows = find.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn of_document(doc: i64, what: &str) -> Damage {
    let (table, key) = if doc >= ENTRIES {
        ("ix_entries", doc - ENTRIES)
    } else if doc >= OBSERVATIONS {
        ("observations", doc - OBSERVATIONS)
    } else {
        ("events", doc & !SAID)
    };
    Damage::of_row(table, key.to_string(), what)
}
