//! The index of a database that was saved, made from its rows.

use daybook_domain::Origin;
use rusqlite::{Connection, params};

use super::super::connection::Fault;
use super::super::health::Tokens;
use super::super::index;
use super::super::names::word;
use crate::documents::{ENTRIES, event_doc, observation_doc};

/// Indexes everything that has something to be found by, in one transaction.
pub(super) fn fill(fresh: &mut Connection, tokens: Tokens<'_>) -> Result<(), Fault> {
    let tx = fresh.transaction()?;
    let mut documents = Documents { tx: &tx };
    documents.add_events(tokens)?;
    documents.add_observations()?;
    documents.add_entries(tokens)?;
    tx.execute("INSERT INTO ix_text (ix_text) VALUES ('optimize')", [])?;
    Ok(tx.commit()?)
}

struct Documents<'a> {
    tx: &'a Connection,
}

impl Documents<'_> {
    fn add_events(&mut self, tokens: Tokens<'_>) -> Result<(), Fault> {
        let mut find = self.tx.prepare(
            "SELECT event_no, origin, text, tenant_no, root_no FROM events
             JOIN sessions USING (session_no) LEFT JOIN places USING (place_no) ORDER BY event_no",
        )?;
        let mut rows = find.query([])?;
        while let Some(row) = rows.next()? {
            let origin = word(row, 1, Origin::from_word)?;
            let words = tokens(origin, row.get_ref(2)?.as_str().unwrap_or_default());
            let marks = index::event_marks(row.get(3)?, row.get(4)?, origin);
            self.add(event_doc(row.get(0)?, origin), &words, &marks)?;
        }
        Ok(())
    }

    fn add_observations(&mut self) -> Result<(), Fault> {
        let mut find = self.tx.prepare(
            "SELECT observation_no, tokens, tenant_no, scope_no FROM observations
             JOIN scopes USING (scope_no) WHERE holds ORDER BY observation_no",
        )?;
        let mut rows = find.query([])?;
        while let Some(row) = rows.next()? {
            let marks = index::scope_marks(row.get(2)?, row.get(3)?);
            let words: String = row.get(1)?;
            self.add(observation_doc(row.get(0)?), &words, &marks)?;
        }
        Ok(())
    }

    fn add_entries(&mut self, tokens: Tokens<'_>) -> Result<(), Fault> {
        let mut find = self.tx.prepare(
            "SELECT entry_no, heading || ' ' || text, tenant_no, scope_no FROM ix_entries
             JOIN ix_files USING (file_no) JOIN scopes USING (scope_no) ORDER BY entry_no",
        )?;
        let mut rows = find.query([])?;
        while let Some(row) = rows.next()? {
            let marks = index::scope_marks(row.get(2)?, row.get(3)?);
            let words = tokens(Origin::Human, row.get_ref(1)?.as_str().unwrap_or_default());
            self.add(ENTRIES | row.get::<_, i64>(0)?, &words, &marks)?;
        }
        Ok(())
    }

    /// Straight into the full-text index: what waits beside it is for writers that are in a hurry.
    fn add(&mut self, doc: i64, tokens: &str, marks: &[index::Mark]) -> Result<(), Fault> {
        if !tokens.is_empty() {
            self.tx
                .prepare_cached("INSERT INTO ix_text (rowid, words) VALUES (?, ?)")?
                .execute(params![doc, index::words(tokens, marks)])?;
        }
        Ok(())
    }
}
