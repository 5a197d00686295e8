//! Builds the index of a salvaged database from its rows.

use daybook_domain::{Origin, Timestamp};
use rusqlite::{Connection, params};

use super::super::connection::Fault;
use super::super::health::Tokenize;
use super::super::index_words;
use super::super::names::{parse_column, shared_scope};
use super::super::outlines::{self, NewDocument, Owner};

/// Indexes everything that has tokens, in one transaction.
pub(super) fn fill(fresh: &mut Connection, tokens: Tokenize<'_>) -> Result<(), Fault> {
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
    fn add_events(&mut self, tokens: Tokenize<'_>) -> Result<(), Fault> {
        let mut find = self.tx.prepare(
            "SELECT event_no, origin, text, tenant_no, root_no, at, tenant, room_id, team, filed_in
             FROM events JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
             LEFT JOIN places USING (place_no) ORDER BY event_no",
        )?;
        let mut rows = find.query([])?;
        while let Some(row) = rows.next()? {
            let origin = parse_column::<Origin>(row, 1)?;
            let words = tokens(origin, row.get_ref(2)?.as_str().unwrap_or_default());
            let origin_and_time = (origin, Timestamp(row.get(5)?));
            let shared = shared_scope(row)?;
            let owner = Owner::of_event(self.tx, shared.as_ref(), row.get(4)?)?;
            let document = NewDocument::event(row.get(0)?, row.get(3)?, owner, origin_and_time);
            self.add(&document, &words)?;
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
            let words: String = row.get(1)?;
            let document =
                NewDocument::observation(self.tx, row.get(0)?, row.get(2)?, row.get(3)?)?;
            self.add(&document, &words)?;
        }
        Ok(())
    }

    fn add_entries(&mut self, tokens: Tokenize<'_>) -> Result<(), Fault> {
        let mut find = self.tx.prepare(
            "SELECT entry_no, heading || ' ' || text, tenant_no, scope_no, at FROM ix_entries
             JOIN ix_files USING (file_no) JOIN scopes USING (scope_no) ORDER BY entry_no",
        )?;
        let mut rows = find.query([])?;
        while let Some(row) = rows.next()? {
            let words = tokens(Origin::Human, row.get_ref(1)?.as_str().unwrap_or_default());
            let at = Timestamp(row.get(4)?);
            let document = NewDocument::entry(row.get(0)?, row.get(2)?, row.get(3)?, at);
            self.add(&document, &words)?;
        }
        Ok(())
    }

    /// Inserts straight into the full-text index: the pending table only serves to keep writes short.
    fn add(&mut self, document: &NewDocument, tokens: &str) -> Result<(), Fault> {
        if tokens.is_empty() {
            return Ok(());
        }
        self.tx
            .prepare_cached("INSERT INTO ix_text (rowid, words) VALUES (?, ?)")?
            .execute(params![
                document.doc,
                index_words::words(tokens, &document.marks())
            ])?;
        outlines::put(self.tx, document, tokens)
    }
}
