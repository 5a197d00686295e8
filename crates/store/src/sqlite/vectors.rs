//! Vectors of documents, of one model for each tenant, and which are nearest to a question's.
//!
//! The signs of all vectors are held in memory once they were asked for, and compared one by one: that takes
//! a millisecond for a million. What other processes add is read before each search.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use daybook_domain::index::{DocumentNo, Embedded, Filter, Unembedded};
use daybook_domain::{Tenant, vector};
use rusqlite::{Connection, OptionalExtension, params};

use super::connection::Fault;
use super::names::{find_scope, find_tenant, tenant_no};
use super::outlines::{self, NewDocument, origin_of};
use super::queries;
use crate::documents::{SAID, admits};
use crate::nearest::Nearest;
use crate::signs::PackedSigns;

/// Most rows that memory is set aside for before they are read.
const EXPECTED: usize = 1 << 20;

/// The model whose vectors a tenant's documents have.
pub(super) fn model(tx: &Connection, tenant: &Tenant) -> Result<Option<String>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT model FROM ix_models JOIN tenants USING (tenant_no) WHERE tenant = ?",
    )?;
    Ok(find.query_row([&tenant.0], |row| row.get(0)).optional()?)
}

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
) -> Result<Vec<Unembedded>, Fault> {
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
        // One that is gone is passed on, so that it is taken off the list.
        let (text, context) = queries::text_of(tx, doc)?;
        waiting.push(Unembedded {
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
    embedded: &[Embedded],
) -> Result<(), Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(());
    };
    if model(tx, tenant)?.as_deref() != Some(of) {
        return Ok(());
    }
    for one in embedded {
        let doc = one.doc.0;
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
        let vectors = sealed(&one.vectors);
        tx.prepare_cached("INSERT INTO ix_vectors (doc, sign_no, vectors) VALUES (?, ?, ?)")?
            .execute(params![doc, tx.last_insert_rowid(), vectors])?;
    }
    Ok(())
}

/// Vectors as a row keeps them: behind them stands a sum of them, so that damage is noticed.
fn sealed(vectors: &[i8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = vectors.iter().map(|code| code.cast_unsigned()).collect();
    let seal = seal_of(&bytes);
    bytes.extend(seal);
    bytes
}

/// The vectors of a row; none where they are damaged.
pub(super) fn unsealed(bytes: &[u8]) -> &[u8] {
    match bytes.split_last_chunk() {
        Some((vectors, seal)) if *seal == seal_of(vectors) => vectors,
        _ => &[],
    }
}

fn seal_of(bytes: &[u8]) -> [u8; 4] {
    let mut seal = [0; 4];
    seal.copy_from_slice(&blake3::hash(bytes).as_bytes()[..4]);
    seal
}

/// Documents whose vectors are damaged, or whose signs are not those of their vectors and outlines.
pub(super) fn damaged(tx: &Connection) -> Result<Vec<i64>, Fault> {
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
        let vectors = unsealed(row.get_ref(1)?.as_bytes().unwrap_or_default());
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

/// Whether a document has an outline; one that was indexed before there were outlines gets it now.
fn has_outline(tx: &Connection, one: &Embedded) -> Result<bool, Fault> {
    let mut find = tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM ix_docs WHERE doc = ?)")?;
    if find.query_row([one.doc.0], |row| row.get(0))? {
        return Ok(true);
    }
    if one.tokens.is_empty() {
        return Ok(false);
    }
    let Some(document) = NewDocument::known(tx, one.doc)? else {
        return Ok(false);
    };
    outlines::put_terms(tx, &document, &one.tokens)?;
    Ok(true)
}

fn sign_bytes(signs: &[u64]) -> Vec<u8> {
    signs.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Forgets the vectors of a document.
pub(super) fn forget(tx: &Connection, doc: i64) -> Result<(), Fault> {
    let mut find = tx.prepare_cached("DELETE FROM ix_vectors WHERE doc = ? RETURNING sign_no")?;
    let no: Option<i64> = find.query_row([doc], |row| row.get(0)).optional()?;
    if let Some(no) = no {
        tx.prepare_cached("DELETE FROM ix_signs WHERE sign_no = ?")?
            .execute([no])?;
    }
    Ok(())
}

/// The signs that this process holds in memory, by the number of the tenant: each may have a model of its
/// own, and with it another width.
#[derive(Debug, Default)]
pub(super) struct Signs(Mutex<HashMap<i64, Held>>);

#[derive(Debug, Default)]
struct Held {
    /// The last that was read, whoever's it is.
    last: i64,
    rows: Vec<Row>,
    signs: PackedSigns,
    /// Rows that there were when they were last counted.
    counted: usize,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    no: i64,
    doc: i64,
    owner: i64,
    origin: i8,
}

impl Held {
    /// Reads what was added, and begins anew where much was taken out.
    fn catch_up(&mut self, tx: &Connection, tenant: i64) -> Result<(), Fault> {
        let mut last = tx.prepare_cached("SELECT coalesce(max(sign_no), 0) FROM ix_signs")?;
        let last: i64 = last.query_row([], |row| row.get(0))?;
        if last < self.last {
            *self = Self::default();
        }
        if last == self.last {
            return Ok(());
        }
        self.make_room(tx, tenant)?;
        let new = usize::try_from(last - self.last).unwrap_or_default();
        let expected = new.min(EXPECTED);
        if self.rows.is_empty() {
            self.rows.reserve_exact(expected);
        }
        let mut find = tx.prepare_cached(
            "SELECT sign_no, doc, owner, origin, signs FROM ix_signs
             WHERE sign_no > ? AND tenant_no = ? ORDER BY sign_no",
        )?;
        let mut rows = find.query([self.last, tenant])?;
        while let Some(row) = rows.next()? {
            let signs = row.get_ref(4)?.as_bytes().unwrap_or_default();
            let (words, _) = signs.as_chunks();
            // Those of another width are of another model, and gone.
            if words.len() != self.signs.width() {
                self.rows.clear();
                self.signs = PackedSigns::new(words.len());
                self.signs.reserve(expected);
            }
            self.rows.push(Row {
                no: row.get(0)?,
                doc: row.get(1)?,
                owner: row.get(2)?,
                origin: row.get(3)?,
            });
            self.signs
                .push(words.iter().map(|eight| u64::from_le_bytes(*eight)));
        }
        self.last = last;
        if self.counted == 0 {
            self.counted = self.rows.len();
        }
        Ok(())
    }

    /// Begins anew where most rows are gone. Counting reads all of them, so it waits until there are twice
    /// as many as there were.
    fn make_room(&mut self, tx: &Connection, tenant: i64) -> Result<(), Fault> {
        if self.rows.len() <= 2 * self.counted + 1024 {
            return Ok(());
        }
        let mut count = tx.prepare_cached("SELECT count(*) FROM ix_signs WHERE tenant_no = ?")?;
        let kept: usize = count.query_row([tenant], |row| row.get(0))?;
        if self.rows.len() > 2 * kept + 1024 {
            *self = Self::default();
        }
        self.counted = kept;
        Ok(())
    }

    /// The nearest of those that are admitted, some of which may be gone: `(number, document)`.
    fn nearest(
        &self,
        asked: &[u64],
        most: usize,
        admitted: impl Fn(&Row) -> bool,
    ) -> Vec<(i64, i64)> {
        let mut best = Nearest::new(most);
        self.signs.visit_near(asked, best.bound(), |at, distance| {
            if let Some(row) = self.rows.get(at).filter(|row| admitted(row)) {
                let age = DocumentNo(row.doc).age();
                best.take(distance, Reverse(age), (row.no, row.doc));
            }
            best.bound()
        });
        best.into_sorted()
    }
}

pub(super) fn nearest(
    tx: &Connection,
    signs: &Signs,
    tenant: &Tenant,
    (of, asked): (&str, &[u64]),
    filter: &Filter,
    limit: usize,
) -> Result<Vec<DocumentNo>, Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(Vec::new());
    };
    if model(tx, tenant)?.as_deref() != Some(of) || asked.is_empty() {
        return Ok(Vec::new());
    }
    let owners = owners(tx, tenant, filter)?;
    let admitted = |row: &Row| {
        let is_owned = |owners: &HashSet<i64>| owners.contains(&row.owner);
        owners.as_ref().is_none_or(is_owned)
            && admits(filter, DocumentNo(row.doc), origin_of(row.origin.into()))
    };
    let mut signs = signs.0.lock().unwrap_or_else(PoisonError::into_inner);
    let held = signs.entry(no).or_default();
    held.catch_up(tx, no)?;
    // Some may be gone by now: what is nearest is looked for among a few more.
    let most = limit.saturating_add(limit / 4 + 16);
    let best = held.nearest(asked, most, admitted);
    let found = still_there(tx, &best, limit)?;
    if found.len() == limit || best.len() < most {
        return Ok(found);
    }
    *held = Held::default();
    held.catch_up(tx, no)?;
    still_there(tx, &held.nearest(asked, limit, admitted), limit)
}

/// The first of these that are not gone, at most `limit`.
fn still_there(
    tx: &Connection,
    signs: &[(i64, i64)],
    limit: usize,
) -> Result<Vec<DocumentNo>, Fault> {
    // A document's vectors come and go with their signs, whose rows are smaller.
    let mut is_there =
        tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM ix_signs WHERE sign_no = ? AND doc = ?)")?;
    let mut found = Vec::with_capacity(limit.min(signs.len()));
    for (no, doc) in signs {
        if found.len() < limit && is_there.query_row([no, doc], |row| row.get(0))? {
            found.push(DocumentNo(*doc));
        }
    }
    Ok(found)
}

/// The owners whose documents a filter's scopes let through; `None` for all.
fn owners(
    tx: &Connection,
    tenant: &Tenant,
    filter: &Filter,
) -> Result<Option<HashSet<i64>>, Fault> {
    let Some(scopes) = &filter.scopes else {
        return Ok(None);
    };
    let mut owners = HashSet::new();
    for scope in scopes.iter().filter(|scope| &scope.tenant == tenant) {
        owners.extend(find_scope(tx, scope)?);
        owners.extend(queries::roots_of(tx, scope)?.into_iter().map(|root| -root));
    }
    Ok(Some(owners))
}
