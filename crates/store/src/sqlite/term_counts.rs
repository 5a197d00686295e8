//! How many documents of the index contain a word, cached while the index is unchanged.
//!
//! Counting a common word takes milliseconds, and common words are counted in most queries. A count is valid as
//! long as the index's own record of its pieces is unchanged: each write to the index by any process changes
//! it.
//!
//! Not here: pending documents.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension, params};

use super::connection::Fault;

/// Queries whose counts are cached. All are dropped when there are more.
const REMEMBERED: usize = 8192;
/// The row of FTS5's data that counts rows and tokens, and the row that lists the index's pieces.
const TOTALS_ROW: i64 = 1;
const PIECES_ROW: i64 = 10;

/// The cached counts of this process.
#[derive(Debug, Default)]
pub(super) struct TermCounts(Mutex<CachedCounts>);

#[derive(Debug, Default)]
struct CachedCounts {
    state: IndexState,
    counts: HashMap<String, u64>,
}

/// The composition of the index, from FTS5's own records. Equal states have equal counts.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct IndexState {
    totals: Vec<u8>,
    pieces: Vec<u8>,
}

impl IndexState {
    fn read(tx: &Connection) -> Result<Self, Fault> {
        let mut find = tx.prepare_cached("SELECT block FROM ix_text_data WHERE id = ?")?;
        let mut record = |row: i64| {
            let record = find.query_row([row], |row| row.get(0)).optional()?;
            Ok::<Vec<u8>, Fault>(record.unwrap_or_default())
        };
        Ok(Self {
            totals: record(TOTALS_ROW)?,
            pieces: record(PIECES_ROW)?,
        })
    }
}

impl TermCounts {
    /// The counts of FTS5 queries, each up to `most`, in one snapshot.
    pub(super) fn count(
        &self,
        tx: &Connection,
        queries: &[String],
        most: u64,
    ) -> Result<Vec<u64>, Fault> {
        let state = IndexState::read(tx)?;
        let mut counts = self.known(&state, queries);
        for (query, count) in queries.iter().zip(&mut counts) {
            if count.is_none() {
                *count = Some(count_bounded(tx, query, most)?);
            }
        }
        let counts: Vec<u64> = counts.into_iter().flatten().collect();
        self.remember(state, queries, &counts);
        Ok(counts)
    }

    /// The cached counts of this state.
    fn known(&self, state: &IndexState, queries: &[String]) -> Vec<Option<u64>> {
        let remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = remembered.state == *state;
        let known = |query| is_same.then(|| remembered.counts.get(query).copied());
        queries.iter().map(|query| known(query).flatten()).collect()
    }

    fn remember(&self, state: IndexState, queries: &[String], counts: &[u64]) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.state != state || remembered.counts.len() + queries.len() > REMEMBERED {
            *remembered = CachedCounts {
                state,
                counts: HashMap::new(),
            };
        }
        let counted = queries.iter().cloned().zip(counts.iter().copied());
        remembered.counts.extend(counted);
    }
}

fn count_bounded(tx: &Connection, query: &str, most: u64) -> Result<u64, Fault> {
    let mut count = tx.prepare_cached(
        "SELECT count(*) FROM (SELECT 1 FROM ix_text WHERE ix_text MATCH ? LIMIT ?)",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    Ok(count.query_row(params![query, most], |row| row.get(0))?)
}

/// Documents in the index. FTS5 counts them itself; counting its rows reads a page for each few hundred.
pub(super) fn documents(tx: &Connection) -> Result<u64, Fault> {
    let totals = IndexState::read(tx)?.totals;
    if let Some(rows) = varint(&totals) {
        return Ok(rows);
    }
    let mut count = tx.prepare_cached("SELECT count(*) FROM ix_text_docsize")?;
    Ok(count.query_row([], |row| row.get(0))?)
}

/// The first number of a record in SQLite's encoding of numbers: seven bits a byte, the greatest first. `None`
/// for an empty record, which a new index has, and for one that is longer than any count.
fn varint(record: &[u8]) -> Option<u64> {
    let mut number = 0;
    for byte in record.iter().take(8) {
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Connection {
        let connection = Connection::open_in_memory().expect("a database");
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE ix_text USING fts5 (
                    words, content='', contentless_delete=1, detail=none, tokenize='ascii'
                )",
            )
            .expect("a table");
        connection
    }

    fn put(index: &Connection, doc: i64, words: &str) {
        let put = "INSERT INTO ix_text (rowid, words) VALUES (?, ?)";
        index.execute(put, params![doc, words]).expect("a row");
    }

    #[test]
    fn counts_follow_every_write_to_the_index() {
        let (index, counts) = (index(), TermCounts::default());
        let check = |wanted: [u64; 3], most: u64| {
            let asked = ["rain".to_owned(), "snow".to_owned()];
            let counted = counts.count(&index, &asked, most).expect("counts");
            let all = documents(&index).expect("a count");
            assert_eq!([counted[0], counted[1], all], wanted);
        };
        check([0, 0, 0], 9);
        put(&index, 1, "rain");
        check([1, 0, 1], 9);
        put(&index, 2, "rain snow");
        check([2, 1, 2], 9);
        check([2, 1, 2], 9);
        index
            .execute("DELETE FROM ix_text WHERE rowid = 1", [])
            .expect("a deletion");
        check([1, 1, 1], 9);
        put(&index, 1, "snow");
        check([1, 2, 2], 9);
        index
            .execute("INSERT INTO ix_text (ix_text) VALUES ('delete-all')", [])
            .expect("a deletion");
        check([0, 0, 0], 9);
    }

    #[test]
    fn many_documents_are_counted_as_their_rows_are() {
        let index = index();
        for doc in 1..=300 {
            put(&index, doc, "rain");
        }
        assert_eq!(documents(&index).expect("a count"), 300);
        let counts = TermCounts::default();
        let counted = counts.count(&index, &["rain".to_owned()], 100);
        assert_eq!(counted.expect("counts"), [100]);
    }
}
