//! What ranking needs of each document: its terms, its origin and time, and the documents beside it.

use daybook_domain::index::{DocumentNo, DocumentOutline, MemoryLayer, Terms};
use daybook_domain::{Origin, Scope, Tenant, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use strum::VariantArray;

use super::connection::Fault;
use super::index_words::Mark;
use super::names::{find_tenant, parse_column, scope_no, shared_scope};
use super::read_cache::ReadCache;
use super::vector_rows;
use crate::documents::{ENTRIES, SAID, event_doc, observation_doc};

/// Documents whose numbers differ by no more are read in one pass, and those between them skipped.
const NEIGHBOURS: i64 = 16;

/// A document to be indexed.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewDocument {
    pub(super) doc: i64,
    tenant: i64,
    owner: Owner,
    origin: Option<Origin>,
    at: Timestamp,
}

/// The owner of a document: of an event the scope of the room or the team that holds its session, else its root, because
/// a root may change projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    None,
    Root(i64),
    Scope(i64),
}

impl Owner {
    /// The owner of an event under a root, in a session that the scope `shared` holds, if any.
    pub(super) fn of_event(
        tx: &Connection,
        shared: Option<&Scope>,
        root: Option<i64>,
    ) -> Result<Self, Fault> {
        Ok(match shared {
            Some(scope) => Self::Scope(scope_no(tx, scope)?),
            None => root.map_or(Self::None, Self::Root),
        })
    }

    fn to_row(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Root(no) => -no,
            Self::Scope(no) => no,
        }
    }
}

impl NewDocument {
    /// An event, with the number of its row.
    pub(super) fn event(
        no: i64,
        tenant: i64,
        owner: Owner,
        (origin, at): (Origin, Timestamp),
    ) -> Self {
        Self {
            doc: event_doc(no, origin),
            tenant,
            owner,
            origin: Some(origin),
            at,
        }
    }

    /// An observation, with the time of the evidence that provides its words.
    pub(super) fn observation(
        tx: &Connection,
        no: i64,
        tenant: i64,
        scope: i64,
    ) -> Result<Self, Fault> {
        let mut find = tx.prepare_cached(
            "SELECT evidence.at FROM observations JOIN evidence ON evidence_no = shown
             WHERE observations.observation_no = ?",
        )?;
        let at: Option<i64> = find.query_row([no], |row| row.get(0)).optional()?;
        Ok(Self {
            doc: observation_doc(no),
            tenant,
            owner: Owner::Scope(scope),
            origin: None,
            at: Timestamp(at.unwrap_or_default()),
        })
    }

    /// An entry of a memory file that was read at `at`.
    pub(super) fn entry(no: i64, tenant: i64, scope: i64, at: Timestamp) -> Self {
        Self {
            doc: ENTRIES | no,
            tenant,
            owner: Owner::Scope(scope),
            origin: None,
            at,
        }
    }

    /// Loads the document with this number from its own rows; `None` when it is gone.
    pub(super) fn load(tx: &Connection, doc: DocumentNo) -> Result<Option<Self>, Fault> {
        let no = doc.row();
        match doc.layer() {
            MemoryLayer::Event => {
                let mut find = tx.prepare_cached(
                    "SELECT tenant_no, root_no, origin, at, tenant, room_id, team, filed_in FROM events
                     JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
                     LEFT JOIN places USING (place_no) WHERE event_no = ?",
                )?;
                let event = |row: &Row<'_>| {
                    let origin = parse_column::<Origin>(row, 2)?;
                    let root: Option<i64> = row.get(1)?;
                    let origin_and_time = (origin, Timestamp(row.get(3)?));
                    Ok((row.get(0)?, root, shared_scope(row)?, origin_and_time))
                };
                let found = find.query_row([no], event).optional()?;
                found
                    .map(|(tenant, root, shared, origin_and_time)| {
                        let owner = Owner::of_event(tx, shared.as_ref(), root)?;
                        Ok(Self::event(no, tenant, owner, origin_and_time))
                    })
                    .transpose()
            }
            MemoryLayer::Observation => {
                let mut find = tx.prepare_cached(
                    "SELECT tenant_no, scope_no FROM observations JOIN scopes USING (scope_no)
                     WHERE observation_no = ? AND holds",
                )?;
                let found = find.query_row([no], |row| Ok((row.get(0)?, row.get(1)?)));
                let found: Option<(i64, i64)> = found.optional()?;
                found
                    .map(|(tenant, scope)| Self::observation(tx, no, tenant, scope))
                    .transpose()
            }
            MemoryLayer::Entry => {
                let mut find = tx.prepare_cached(
                    "SELECT tenant_no, scope_no, at FROM ix_entries JOIN ix_files USING (file_no)
                     JOIN scopes USING (scope_no) WHERE entry_no = ?",
                )?;
                let entry = |row: &Row<'_>| {
                    let at = Timestamp(row.get(2)?);
                    Ok(Self::entry(no, row.get(0)?, row.get(1)?, at))
                };
                Ok(find.query_row([no], entry).optional()?)
            }
        }
    }

    /// The marks that searches are narrowed by.
    pub(super) fn marks(&self) -> Vec<Mark> {
        let mut marks = vec![Mark::Tenant(self.tenant)];
        marks.extend(self.origin.map(Mark::Origin));
        match self.owner {
            Owner::None => {}
            Owner::Root(no) => marks.push(Mark::Root(no)),
            Owner::Scope(no) => marks.push(Mark::Scope(no)),
        }
        marks
    }
}

/// An origin as its position in the list of all.
pub(super) fn origin_no(origin: Option<Origin>) -> i64 {
    let place = origin.and_then(|origin| Origin::VARIANTS.iter().position(|&o| o == origin));
    place.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1)
}

/// The origin at such a position.
pub(super) fn origin_of(no: i64) -> Option<Origin> {
    Origin::VARIANTS.get(usize::try_from(no).ok()?).copied()
}

/// Stores the outline of a document. Events of tools get no vectors: there are many, and few are searched for
/// in other words than their own.
pub(super) fn put(tx: &Connection, document: &NewDocument, tokens: &str) -> Result<(), Fault> {
    put_terms(tx, document, tokens)?;
    if document.doc >= SAID {
        tx.prepare_cached("INSERT OR REPLACE INTO ix_unembedded (doc, tenant_no) VALUES (?, ?)")?
            .execute([document.doc, document.tenant])?;
    }
    Ok(())
}

/// Stores the terms of a document.
pub(super) fn put_terms(
    tx: &Connection,
    document: &NewDocument,
    tokens: &str,
) -> Result<(), Fault> {
    tx.prepare_cached(
        "INSERT OR REPLACE INTO ix_docs (doc, tenant_no, owner, origin, at, terms)
         VALUES (?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        document.doc,
        document.tenant,
        document.owner.to_row(),
        origin_no(document.origin),
        document.at.0,
        Terms::of(tokens).to_bytes()
    ])?;
    Ok(())
}

/// Whether a document has no outline, or the one that [`put`] derives from its rows and these tokens. Ignores
/// the root of an event, which may have been found later.
pub(super) fn is_current(tx: &Connection, doc: i64, tokens: &str) -> Result<bool, Fault> {
    let mut find =
        tx.prepare_cached("SELECT tenant_no, owner, origin, at, terms FROM ix_docs WHERE doc = ?")?;
    let Some(own) = NewDocument::load(tx, DocumentNo(doc))? else {
        return Ok(true);
    };
    let is_same = |row: &Row<'_>| {
        let terms = row.get_ref(4)?.as_bytes();
        Ok(row.get::<_, i64>(0)? == own.tenant
            && (own.origin.is_some() || row.get::<_, i64>(1)? == own.owner.to_row())
            && row.get::<_, i64>(2)? == origin_no(own.origin)
            && row.get::<_, i64>(3)? == own.at.0
            && terms.is_ok_and(|terms| terms == Terms::of(tokens).to_bytes()))
    };
    Ok(find.query_row([doc], is_same).optional()?.unwrap_or(true))
}

/// Changes the time of a document whose words stay the same.
pub(super) fn set_time(tx: &Connection, doc: i64, at: Timestamp) -> Result<(), Fault> {
    tx.prepare_cached("UPDATE ix_docs SET at = ?2 WHERE doc = ?1 AND at <> ?2")?
        .execute([doc, at.0])?;
    Ok(())
}

/// Deletes the outline of a document, and its vectors.
pub(super) fn forget(tx: &Connection, doc: i64) -> Result<(), Fault> {
    for table in ["ix_docs", "ix_unembedded"] {
        tx.prepare_cached(&format!("DELETE FROM {table} WHERE doc = ?"))?
            .execute([doc])?;
    }
    vector_rows::forget(tx, doc)
}

/// Deletes the outlines of all documents, and their vectors. Documents indexed later get vectors of the same
/// models.
pub(super) fn clear(tx: &Connection) -> Result<(), Fault> {
    for table in ["ix_docs", "ix_unembedded", "ix_vectors", "ix_signs"] {
        tx.execute(&format!("DELETE FROM {table}"), [])?;
    }
    Ok(())
}

/// The cached outlines of a store.
type OutlineCache = ReadCache<(i64, i64, bool), DocumentOutline>;

pub(super) fn outlines(
    tx: &Connection,
    (cache, version): (&OutlineCache, u64),
    tenant: &Tenant,
    docs: &[DocumentNo],
    model: Option<&str>,
) -> Result<Vec<DocumentOutline>, Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(Vec::new());
    };
    let with_vectors = model.is_some() && vector_rows::model(tx, tenant)?.as_deref() == model;
    let key = |doc: DocumentNo| (no, doc.0, with_vectors);
    let cached = cache.get(version, docs.iter().map(|doc| key(*doc)));
    let unread = docs
        .iter()
        .zip(&cached)
        .filter(|(_, cached)| cached.is_none());
    let unread: Vec<DocumentNo> = unread.map(|(doc, _)| *doc).collect();
    let read = read_outlines(tx, no, &unread, with_vectors)?;
    let new = read
        .iter()
        .map(|outline| (key(outline.doc), outline.clone()));
    cache.put(version, new);
    let mut read = read.into_iter().peekable();
    let all = docs.iter().zip(cached);
    let all =
        all.filter_map(|(doc, cached)| cached.or_else(|| read.next_if(|read| read.doc == *doc)));
    Ok(all.collect())
}

/// Reads outlines from the rows of a tenant's documents.
fn read_outlines(
    tx: &Connection,
    tenant: i64,
    docs: &[DocumentNo],
    with_vectors: bool,
) -> Result<Vec<DocumentOutline>, Fault> {
    let mut find = tx.prepare_cached(if with_vectors {
        "SELECT origin, at, terms, vectors, doc FROM ix_docs LEFT JOIN ix_vectors USING (doc)
         WHERE doc BETWEEN ? AND ? AND tenant_no = ? ORDER BY doc"
    } else {
        "SELECT origin, at, terms, NULL, doc FROM ix_docs
         WHERE doc BETWEEN ? AND ? AND tenant_no = ? ORDER BY doc"
    })?;
    let mut found = Vec::with_capacity(docs.len());
    // Stepping to the next row is much cheaper than looking it up.
    for run in docs.chunk_by(|one, next| {
        (one.0.saturating_add(1)..=one.0.saturating_add(NEIGHBOURS)).contains(&next.0)
    }) {
        let ([first, ..], [.., last]) = (run, run) else {
            continue;
        };
        let mut asked = run.iter().peekable();
        let mut rows = find.query([first.0, last.0, tenant])?;
        while let Some(row) = rows.next()? {
            let doc = DocumentNo(row.get(4)?);
            while asked.next_if(|asked| **asked < doc).is_some() {}
            if asked.next_if(|asked| **asked == doc).is_some() {
                found.push(outline_of_row(doc, row)?);
            }
        }
    }
    Ok(found)
}

/// A damaged outline is read as empty, so that other documents can still be found.
/// Its columns begin with origin, at, terms and vectors.
pub(super) fn outline_of_row(doc: DocumentNo, row: &Row<'_>) -> rusqlite::Result<DocumentOutline> {
    let terms = row.get_ref(2)?.as_bytes().unwrap_or_default();
    let vectors = vector_rows::checked_bytes(row.get_ref(3)?.as_bytes().unwrap_or_default());
    Ok(DocumentOutline {
        doc,
        origin: origin_of(row.get(0)?),
        at: Timestamp(row.get(1)?),
        terms: Terms::from_bytes(terms),
        vectors: vectors.iter().map(|byte| byte.cast_signed()).collect(),
    })
}

pub(super) fn surroundings(
    tx: &Connection,
    tenant: &Tenant,
    docs: &[DocumentNo],
    reach: usize,
) -> Result<Vec<DocumentNo>, Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(Vec::new());
    };
    let mut before = tx.prepare_cached(
        "SELECT doc FROM ix_docs WHERE doc BETWEEN ? AND ? AND tenant_no = ?
         ORDER BY doc DESC LIMIT ?",
    )?;
    let mut after = tx.prepare_cached(
        "SELECT doc FROM ix_docs WHERE doc BETWEEN ? AND ? AND tenant_no = ? ORDER BY doc LIMIT ?",
    )?;
    let mut found = Vec::new();
    for doc in docs.iter().filter(|doc| doc.is_said()) {
        let first = doc.0 & !i64::from(u32::MAX);
        let last = doc.0 | i64::from(u32::MAX);
        let mut add =
            |find: &mut rusqlite::CachedStatement<'_>, from: i64, to: i64, most: usize| {
                let rows = find.query_map(params![from, to, no, most], |row| row.get(0))?;
                for row in rows {
                    found.push(DocumentNo(row?));
                }
                Ok::<(), Fault>(())
            };
        add(&mut before, first, doc.0, reach + 1)?;
        add(&mut after, doc.0 + 1, last, reach)?;
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
