//! Vectors of documents, of one model for each tenant, and the search for those nearest to a query's.
//!
//! The signs of all vectors are held in memory from the first search on, and compared one by one: that takes a
//! millisecond for a million. Each search first reads what other processes have added.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use daybook_domain::index::{
    DocumentNo, DocumentVectors, EmbeddingInput, SearchFilter, WordsDigest,
};
use daybook_domain::index_words::AdmittedOwners;
use daybook_domain::{Tenant, vector};
use foldhash::fast::RandomState;
use rusqlite::{Connection, params};

use super::connection::Fault;
use super::names::{find_tenant, tenant_no};
use super::outlines::{self, NewDocument, origin_of};
use super::queries::{self, owners};
use super::sign_blocks::{self, SignRow, SignRows};
use super::vector_rows::{checked_bytes, forget, model, with_checksum};
use crate::documents::SAID;

/// Most rows for which memory is reserved before they are read.
const EXPECTED: usize = 1 << 20;

/// Changes the model; false when it was changed already.
pub(super) fn choose_model(tx: &Connection, tenant: &Tenant, chosen: &str) -> Result<bool, Fault> {
    let known = model(tx, tenant)?;
    if known.as_deref() == Some(chosen) {
        return Ok(false);
    }
    let no = tenant_no(tx, tenant)?;
    tx.prepare_cached("INSERT OR REPLACE INTO ix_models (tenant_no, model) VALUES (?, ?)")?
        .execute(params![no, chosen])?;
    if known.is_some() {
        tx.prepare_cached(
            "INSERT OR IGNORE INTO ix_unembedded (doc, tenant_no)
             SELECT doc, tenant_no FROM ix_docs WHERE tenant_no = ? AND doc >= ?",
        )?
        .execute([no, SAID])?;
        tx.prepare_cached(
            "DELETE FROM ix_vectors WHERE sign_no IN
                (SELECT sign_no FROM ix_signs WHERE tenant_no = ?)",
        )?
        .execute([no])?;
        tx.prepare_cached("DELETE FROM ix_signs WHERE tenant_no = ?")?
            .execute([no])?;
    }
    Ok(true)
}

pub(super) fn unembedded(
    tx: &Connection,
    tenant: &Tenant,
    limit: usize,
) -> Result<Vec<EmbeddingInput>, Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(Vec::new());
    };
    let mut find = tx.prepare_cached(
        "SELECT doc FROM ix_unembedded WHERE tenant_no = ? ORDER BY doc DESC LIMIT ?",
    )?;
    let docs: Vec<i64> = find
        .query_map(params![no, limit], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut waiting = Vec::with_capacity(docs.len());
    for doc in docs {
        // A deleted document is passed on, so that it is removed from the list.
        let (text, context) = queries::text_of(tx, doc)?;
        waiting.push(EmbeddingInput {
            doc: DocumentNo(doc),
            text,
            context,
        });
    }
    Ok(waiting)
}

pub(super) fn put(
    tx: &Connection,
    tenant: &Tenant,
    of: &str,
    embedded: &[DocumentVectors],
) -> Result<(), Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(());
    };
    if model(tx, tenant)?.as_deref() != Some(of) {
        return Ok(());
    }
    for one in embedded {
        let doc = one.doc.0;
        let (text, context) = queries::text_of(tx, doc)?;
        if WordsDigest::of(&text, context.as_deref()) != one.digest {
            continue;
        }
        let waiting = tx
            .prepare_cached("DELETE FROM ix_unembedded WHERE doc = ? AND tenant_no = ?")?
            .execute([doc, no])?;
        if waiting == 0 || !has_outline(tx, one)? {
            continue;
        }
        forget(tx, doc)?;
        if one.vectors.is_empty() {
            continue;
        }
        tx.prepare_cached(
            "INSERT INTO ix_signs (doc, tenant_no, owner, origin, signs)
             SELECT doc, tenant_no, owner, origin, ? FROM ix_docs WHERE doc = ?",
        )?
        .execute(params![sign_bytes(&one.signs), doc])?;
        let vectors = with_checksum(
            one.vectors
                .iter()
                .map(|code| code.cast_unsigned())
                .collect(),
        );
        tx.prepare_cached("INSERT INTO ix_vectors (doc, sign_no, vectors) VALUES (?, ?, ?)")?
            .execute(params![doc, tx.last_insert_rowid(), vectors])?;
    }
    sign_blocks::write_missing(tx, no)
}

/// Documents whose vectors are damaged, or whose signs are not those of their vectors and outlines.
pub(super) fn find_damaged(tx: &Connection) -> Result<Vec<i64>, Fault> {
    let mut find = tx.prepare(
        "SELECT ix_vectors.doc, vectors, signs, ix_signs.doc = ix_docs.doc
            AND ix_signs.tenant_no = ix_docs.tenant_no AND ix_signs.owner = ix_docs.owner
            AND ix_signs.origin = ix_docs.origin
         FROM ix_vectors JOIN ix_signs USING (sign_no)
         JOIN ix_docs ON ix_docs.doc = ix_vectors.doc",
    )?;
    let mut rows = find.query([])?;
    let mut damaged = Vec::new();
    while let Some(row) = rows.next()? {
        let vectors = checked_bytes(row.get_ref(1)?.as_bytes().unwrap_or_default());
        let signs = row.get_ref(2)?.as_bytes().unwrap_or_default();
        let whole: Vec<i8> = vectors
            .iter()
            .take(8 * signs.len())
            .map(|b| b.cast_signed())
            .collect();
        let is_sound = !vectors.is_empty() && sign_bytes(&vector::signs(&whole)) == signs;
        if !is_sound || !row.get::<_, bool>(3)? {
            damaged.push(row.get(0)?);
        }
    }
    Ok(damaged)
}

/// Whether a document has an outline; one that was indexed before outlines existed gets it now.
fn has_outline(tx: &Connection, one: &DocumentVectors) -> Result<bool, Fault> {
    let mut find = tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM ix_docs WHERE doc = ?)")?;
    if find.query_row([one.doc.0], |row| row.get(0))? {
        return Ok(true);
    }
    if one.tokens.is_empty() {
        return Ok(false);
    }
    let Some(document) = NewDocument::load(tx, one.doc)? else {
        return Ok(false);
    };
    outlines::put_terms(tx, &document, &one.tokens)?;
    Ok(true)
}

fn sign_bytes(signs: &[u64]) -> Vec<u8> {
    signs.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The signs that this process holds in memory, by the number of the tenant: each tenant may have a model of
/// its own, and with it another width.
#[derive(Debug, Default)]
pub(super) struct SignCache(RwLock<HashMap<i64, TenantSigns>>);

impl SignCache {
    /// [`nearest`] without a look at the database, where everything that it would read is known at this version of reads.
    pub(super) fn nearest(
        &self,
        (tenant, version): (i64, u64),
        query: &[u64],
        (filter, owners): (&SearchFilter, &AdmittedOwners),
        limit: usize,
    ) -> Option<Vec<DocumentNo>> {
        let signs = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let is_current = |held: &&TenantSigns| version != 0 && held.version == version;
        let held = signs.get(&tenant).filter(is_current)?;
        let most = with_spare(limit);
        let best = held.nearest(query, most, admitted(filter, owners));
        let mut found = Vec::with_capacity(limit.min(best.len()));
        for (no, doc) in &best {
            if found.len() == limit {
                break;
            }
            if *held.are_there.get(no)? {
                found.push(DocumentNo(*doc));
            }
        }
        (found.len() == limit || best.len() < most).then_some(found)
    }
}

#[derive(Debug, Default)]
struct TenantSigns {
    /// The number of the last row that was read, of any tenant.
    last: i64,
    held: SignRows,
    /// The number of rows at the last count.
    counted: usize,
    /// The version of reads at which rows were read last; 0 for one at which nothing may be kept.
    version: u64,
    /// Whether rows were there at this version, or deleted.
    are_there: HashMap<i64, bool, RandomState>,
}

impl TenantSigns {
    /// Reads added rows, and starts over where many were deleted. `version` was read before the snapshot.
    fn catch_up(&mut self, tx: &Connection, tenant: i64, version: u64) -> Result<(), Fault> {
        self.read_added(tx, tenant)?;
        if self.version != version || version == 0 {
            self.are_there.clear();
            self.version = version;
        }
        Ok(())
    }

    fn read_added(&mut self, tx: &Connection, tenant: i64) -> Result<(), Fault> {
        let mut last = tx.prepare_cached("SELECT coalesce(max(sign_no), 0) FROM ix_signs")?;
        let last: i64 = last.query_row([], |row| row.get(0))?;
        if last < self.last {
            *self = Self::default();
        }
        if last == self.last {
            return Ok(());
        }
        self.make_room(tx, tenant)?;
        if self.last == 0 {
            let new = usize::try_from(last).unwrap_or_default();
            self.held.reserve(new.min(EXPECTED));
            self.held.read_all(tx, tenant)?;
        } else {
            self.held.read(tx, tenant, (self.last + 1, i64::MAX))?;
        }
        self.last = last;
        if self.counted == 0 {
            self.counted = self.held.rows.len();
        }
        Ok(())
    }

    /// Starts over where most rows are deleted. Counting reads all of them, so it waits until there are twice
    /// as many as at the last count.
    fn make_room(&mut self, tx: &Connection, tenant: i64) -> Result<(), Fault> {
        if self.held.rows.len() <= 2 * self.counted + 1024 {
            return Ok(());
        }
        let mut count = tx.prepare_cached("SELECT count(*) FROM ix_signs WHERE tenant_no = ?")?;
        let kept: usize = count.query_row([tenant], |row| row.get(0))?;
        if self.held.rows.len() > 2 * kept + 1024 {
            *self = Self::default();
        }
        self.counted = kept;
        Ok(())
    }

    /// The nearest of the admitted rows, some of which may be deleted: `(number, document)`.
    fn nearest(
        &self,
        query: &[u64],
        most: usize,
        admitted: impl Fn(&SignRow) -> bool,
    ) -> Vec<(i64, i64)> {
        let rows = &self.held.rows;
        let newest_first = |at: usize| {
            let row = rows.get(at).filter(|row| admitted(row));
            row.map(|row| -DocumentNo(row.doc).age())
        };
        let best = self.held.signs.nearest(query, most, &newest_first);
        let row_at = |at: usize| rows.get(at).map(|row| (row.no, row.doc));
        best.into_iter().filter_map(row_at).collect()
    }

    /// The first of these that are not deleted, at most `limit`.
    fn existing(
        &mut self,
        tx: &Connection,
        signs: &[(i64, i64)],
        limit: usize,
    ) -> Result<Vec<DocumentNo>, Fault> {
        // A document's vectors and signs are written and deleted together, and the rows of signs are smaller.
        let mut is_there = tx.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM ix_signs WHERE sign_no = ? AND doc = ?)",
        )?;
        let mut found = Vec::with_capacity(limit.min(signs.len()));
        for (no, doc) in signs {
            if found.len() == limit {
                break;
            }
            let is_there = match self.are_there.get(no) {
                Some(known) => *known,
                None => is_there.query_row([no, doc], |row| row.get(0))?,
            };
            self.are_there.insert(*no, is_there);
            if is_there {
                found.push(DocumentNo(*doc));
            }
        }
        Ok(found)
    }
}

pub(super) fn nearest(
    tx: &Connection,
    (signs, version): (&SignCache, u64),
    tenant: &Tenant,
    (of, query): (&str, &[u64]),
    filter: &SearchFilter,
    limit: usize,
) -> Result<Vec<DocumentNo>, Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(Vec::new());
    };
    if model(tx, tenant)?.as_deref() != Some(of) || query.is_empty() {
        return Ok(Vec::new());
    }
    let owners = owners(tx, tenant, filter)?;
    let admitted = admitted(filter, &owners);
    let mut signs = signs.0.write().unwrap_or_else(PoisonError::into_inner);
    let held = signs.entry(no).or_default();
    held.catch_up(tx, no, version)?;
    let most = with_spare(limit);
    let best = held.nearest(query, most, &admitted);
    let found = held.existing(tx, &best, limit)?;
    if found.len() == limit || best.len() < most {
        return Ok(found);
    }
    *held = TenantSigns::default();
    held.catch_up(tx, no, version)?;
    let best = held.nearest(query, limit, &admitted);
    held.existing(tx, &best, limit)
}

/// Some may be deleted by now, so a few more than needed are taken.
fn with_spare(limit: usize) -> usize {
    limit.saturating_add(limit / 4 + 16)
}

/// Whether a filter and its owners admit a row.
fn admitted(filter: &SearchFilter, owners: &AdmittedOwners) -> impl Fn(&SignRow) -> bool {
    |row| {
        owners.admits(row.owner) && filter.admits(DocumentNo(row.doc), origin_of(row.origin.into()))
    }
}
