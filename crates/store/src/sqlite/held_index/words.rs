//! Which documents contain a word, and what ranking needs of each: rows of the index, in memory.
//!
//! Answers are those of the rows (`queries`, `outlines`). Words are compared by their numbers, as ranking does.
//!
//! Not here: when it is read (`held_index`).

use std::collections::{BTreeSet, HashMap, HashSet};

use daybook_domain::index::{
    CandidateQuery, DocumentNo, DocumentOutline, SearchFilter, TermStats, Terms,
};
use daybook_domain::limits::COUNTED;
use foldhash::fast::RandomState;
use rusqlite::{Connection, Row};

use super::super::connection::Fault;
use super::super::outlines::outline_of_row;
use super::super::queries::AdmittedOwners;
use crate::documents::admits;

/// Most changed documents that are read while a search waits: some ten microseconds each.
const READ_AT_ONCE: usize = 2048;
/// Bytes of a document besides its numbers: its place in the maps.
const OVERHEAD: usize = 128;

/// All documents with outlines, by their words.
#[derive(Debug, Default)]
pub(in crate::sqlite) struct IndexWords {
    documents: HashMap<i64, HeldDocument, RandomState>,
    /// Their numbers, in order.
    numbers: BTreeSet<i64>,
    /// The documents that contain a term, oldest first.
    holding: HashMap<u32, Vec<DocumentNo>, RandomState>,
    /// Documents of each tenant.
    counts: HashMap<i64, usize>,
    bytes: usize,
}

#[derive(Debug)]
struct HeldDocument {
    tenant: i64,
    owner: i64,
    outline: DocumentOutline,
}

impl HeldDocument {
    fn bytes(&self) -> usize {
        let DocumentOutline { terms, vectors, .. } = &self.outline;
        // A term is held in the outline, and its document in the term's list.
        OVERHEAD + terms.0.len() * 12 + vectors.len()
    }

    fn terms(&self) -> impl Iterator<Item = u32> {
        let own: HashSet<u32> = self.outline.terms.0.iter().copied().collect();
        own.into_iter().filter(|term| *term > Terms::OPEN)
    }
}

/// The columns of a document, which [`IndexWords::put`] reads.
const COLUMNS: &str = "SELECT origin, at, terms, vectors, doc, tenant_no, owner FROM ix_docs
    LEFT JOIN ix_vectors USING (doc)";

impl IndexWords {
    /// Reads all documents; `None` when they take more than `most` bytes.
    pub(super) fn read_all(tx: &Connection, most: usize) -> Result<Option<Self>, Fault> {
        let mut all = Self::default();
        let mut find = tx.prepare(COLUMNS)?;
        let mut rows = find.query([])?;
        while let Some(row) = rows.next()? {
            all.put(row, Vec::push)?;
            if all.bytes > most {
                return Ok(None);
            }
        }
        for holding in all.holding.values_mut() {
            holding.sort_unstable_by_key(|doc| doc.age());
        }
        Ok(Some(all))
    }

    /// Reads the documents that changed after the change `known`, and returns the number of the last change. `None` where
    /// they are too many for a search that waits, or the first of them are not recorded any more.
    pub(super) fn catch_up(&mut self, tx: &Connection, known: i64) -> Result<Option<i64>, Fault> {
        let mut find =
            tx.prepare_cached("SELECT change_no, doc FROM ix_changes WHERE change_no >= ?")?;
        let changes = find.query_map([known], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let changes: Vec<(i64, i64)> = changes.collect::<Result<_, _>>()?;
        let is_whole = known == 0 || changes.first().is_some_and(|(first, _)| *first == known);
        let changed: BTreeSet<i64> = changes.iter().map(|(_, doc)| *doc).collect();
        if !is_whole || changed.len() > READ_AT_ONCE {
            return Ok(None);
        }
        for doc in changed {
            self.read(tx, doc)?;
        }
        Ok(Some(changes.last().map_or(known, |(last, _)| *last)))
    }

    /// Reads a document again, which may be gone.
    fn read(&mut self, tx: &Connection, doc: i64) -> Result<(), Fault> {
        self.forget(doc);
        let mut find = tx.prepare_cached(&format!("{COLUMNS} WHERE doc = ?"))?;
        let mut rows = find.query([doc])?;
        while let Some(row) = rows.next()? {
            self.put(row, |holding, doc| {
                let at = holding.partition_point(|held| held.age() < doc.age());
                holding.insert(at, doc);
            })?;
        }
        Ok(())
    }

    /// Bytes in memory, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a document, to the list of each of its terms with `add`.
    fn put(
        &mut self,
        row: &Row<'_>,
        add: impl Fn(&mut Vec<DocumentNo>, DocumentNo),
    ) -> Result<(), Fault> {
        let doc = DocumentNo(row.get(4)?);
        let document = HeldDocument {
            tenant: row.get(5)?,
            owner: row.get(6)?,
            outline: outline_of_row(doc, row)?,
        };
        for term in document.terms() {
            add(self.holding.entry(term).or_default(), doc);
        }
        *self.counts.entry(document.tenant).or_default() += 1;
        self.bytes += document.bytes();
        self.documents.insert(doc.0, document);
        self.numbers.insert(doc.0);
        Ok(())
    }

    fn forget(&mut self, doc: i64) {
        let Some(document) = self.documents.remove(&doc) else {
            return;
        };
        self.numbers.remove(&doc);
        let age = DocumentNo(doc).age();
        for term in document.terms() {
            if let Some(holding) = self.holding.get_mut(&term)
                && let Ok(at) = holding.binary_search_by_key(&age, |held| held.age())
            {
                holding.remove(at);
            }
        }
        if let Some(count) = self.counts.get_mut(&document.tenant) {
            *count -= 1;
        }
        self.bytes -= document.bytes();
    }

    /// How often tokens occur in a tenant's documents.
    pub(in crate::sqlite) fn term_stats(&self, tenant: i64, tokens: &[String]) -> TermStats {
        let documents = self.counts.get(&tenant).copied().unwrap_or_default();
        let is_only_tenant = documents == self.documents.len();
        let most = usize::try_from(COUNTED).unwrap_or(usize::MAX);
        let frequency = |token: &String| {
            let holding = self.holding(token);
            let own = if is_only_tenant {
                holding.len().min(most)
            } else {
                let own = holding.iter().filter(|doc| self.is_of(tenant, **doc));
                own.take(most).count()
            };
            own as u64
        };
        TermStats {
            documents: documents as u64,
            frequencies: tokens.iter().map(frequency).collect(),
        }
    }

    /// The documents of all steps, each once.
    pub(in crate::sqlite) fn matches(
        &self,
        tenant: i64,
        steps: &[CandidateQuery],
        (filter, owners): (&SearchFilter, &AdmittedOwners),
    ) -> Vec<DocumentNo> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let is_admitted = |doc: &DocumentNo| {
            self.documents.get(&doc.0).is_some_and(|document| {
                document.tenant == tenant
                    && owners.admits(document.owner)
                    && admits(filter, *doc, document.outline.origin)
            })
        };
        for step in steps {
            let mut lists: Vec<&[DocumentNo]> = step
                .all_of
                .iter()
                .map(|token| self.holding(token))
                .collect();
            lists.sort_unstable_by_key(|list| list.len());
            let Some((rarest, others)) = lists.split_first() else {
                continue;
            };
            let in_all = |doc: &&DocumentNo| {
                let age = doc.age();
                let is_in =
                    |list: &&[DocumentNo]| list.binary_search_by_key(&age, |held| held.age());
                others.iter().all(|list| is_in(list).is_ok())
            };
            let newest = rarest.iter().rev().filter(in_all);
            let newest = newest.filter(|doc| is_admitted(doc)).take(step.limit);
            found.extend(newest.filter(|doc| seen.insert(**doc)).copied());
        }
        found
    }

    /// What ranking needs of a tenant's documents, in the order asked for.
    pub(in crate::sqlite) fn outlines(
        &self,
        tenant: i64,
        docs: &[DocumentNo],
        with_vectors: bool,
    ) -> Vec<DocumentOutline> {
        let own = docs.iter().filter_map(|doc| self.documents.get(&doc.0));
        let own = own.filter(|document| document.tenant == tenant);
        own.map(|document| match with_vectors {
            true => document.outline.clone(),
            false => DocumentOutline {
                vectors: [].into(),
                ..document.outline.clone()
            },
        })
        .collect()
    }

    /// The messages around messages, in the order of their numbers.
    pub(in crate::sqlite) fn surroundings(
        &self,
        tenant: i64,
        docs: &[DocumentNo],
        reach: usize,
    ) -> Vec<DocumentNo> {
        let mut found = Vec::new();
        for doc in docs.iter().filter(|doc| doc.is_said()) {
            let (first, last) = (doc.0 & !i64::from(u32::MAX), doc.0 | i64::from(u32::MAX));
            let before = self.numbers.range(first..=doc.0).rev();
            let after = self.numbers.range(doc.0 + 1..=last);
            let own = |no: &i64| {
                let doc = DocumentNo(*no);
                self.is_of(tenant, doc).then_some(doc)
            };
            found.extend(before.filter_map(own).take(reach + 1));
            found.extend(after.filter_map(own).take(reach));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn holding(&self, token: &str) -> &[DocumentNo] {
        let holding = self.holding.get(&Terms::of_token(token));
        holding.map_or(&[], Vec::as_slice)
    }

    fn is_of(&self, tenant: i64, doc: DocumentNo) -> bool {
        let document = self.documents.get(&doc.0);
        document.is_some_and(|document| document.tenant == tenant)
    }
}
