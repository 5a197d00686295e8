//! Which documents contain a word, and what ranking needs of each, in memory.
//!
//! Words are compared by their numbers, as ranking does. A search goes through thousands of places of these lists, so they are
//! in this crate, which is compiled for speed, and what stores call is not inlined into theirs.
//!
//! Not here: where documents are read from, and when they are read again (the stores).

use std::collections::{BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;

use crate::index::{CandidateQuery, DocumentNo, DocumentOutline, SearchFilter, TermStats, Terms};
use crate::limits::COUNTED;

/// Bytes of a document besides its numbers: its place in the maps.
const OVERHEAD: usize = 128;

/// All documents of an index with outlines, by their words.
#[derive(Debug, Default)]
pub struct IndexWords {
    documents: HashMap<i64, HeldDocument, RandomState>,
    /// Their numbers, in order.
    numbers: BTreeSet<i64>,
    /// The documents that contain a term, oldest first.
    holding: HashMap<u32, Vec<DocumentNo>, RandomState>,
    /// Documents of each tenant.
    counts: HashMap<i64, usize>,
    bytes: usize,
}

/// A document of a tenant, by the store's numbers.
#[derive(Debug)]
pub struct HeldDocument {
    /// The number of its tenant.
    pub tenant: i64,
    /// The number of what it belongs to, which a filter names.
    pub owner: i64,
    /// What ranking needs of it.
    pub outline: DocumentOutline,
}

impl HeldDocument {
    fn bytes(&self) -> usize {
        let DocumentOutline { terms, vectors, .. } = &self.outline;
        // A term is held in the outline, and its document in the term's list.
        OVERHEAD + terms.0.len() * 12 + vectors.len()
    }

    fn terms(&self) -> impl Iterator<Item = u32> {
        let own: HashSet<u32, RandomState> = self.outline.terms.0.iter().copied().collect();
        own.into_iter().filter(|term| *term > Terms::OPEN)
    }
}

/// The owners whose documents a search may see, by the store's numbers.
#[derive(Debug, Clone, Default)]
pub struct AdmittedOwners {
    /// `None` for all.
    pub only: Option<HashSet<i64, RandomState>>,
    /// None of these.
    pub except: HashSet<i64, RandomState>,
}

impl AdmittedOwners {
    /// Whether an owner's documents may be seen.
    #[must_use]
    pub fn admits(&self, owner: i64) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&owner)) && !self.except.contains(&owner)
    }
}

impl IndexWords {
    /// Holds many documents in any order, until they take more than `most` bytes; `None` where they do.
    ///
    /// # Errors
    /// The first error of `documents`.
    pub fn of_all<E>(
        documents: impl Iterator<Item = Result<HeldDocument, E>>,
        most: usize,
    ) -> Result<Option<Self>, E> {
        let mut all = Self::default();
        for document in documents {
            all.put(document?, Vec::push);
            if all.bytes > most {
                return Ok(None);
            }
        }
        for holding in all.holding.values_mut() {
            holding.sort_unstable_by_key(|doc| doc.age());
        }
        Ok(Some(all))
    }

    /// Holds one more document.
    pub fn insert(&mut self, document: HeldDocument) {
        self.put(document, |holding, doc| {
            let at = holding.partition_point(|held| held.age() < doc.age());
            holding.insert(at, doc);
        });
    }

    /// Adds a document, to the list of each of its terms with `add`.
    fn put(&mut self, document: HeldDocument, add: impl Fn(&mut Vec<DocumentNo>, DocumentNo)) {
        let doc = document.outline.doc;
        for term in document.terms() {
            add(self.holding.entry(term).or_default(), doc);
        }
        *self.counts.entry(document.tenant).or_default() += 1;
        self.bytes += document.bytes();
        self.documents.insert(doc.0, document);
        self.numbers.insert(doc.0);
    }

    /// Forgets a document, which may not be held.
    pub fn forget(&mut self, doc: DocumentNo) {
        let Some(document) = self.documents.remove(&doc.0) else {
            return;
        };
        self.numbers.remove(&doc.0);
        let age = doc.age();
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

    /// Bytes in memory, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How often tokens occur in a tenant's documents.
    #[must_use]
    #[inline(never)]
    pub fn term_stats(&self, tenant: i64, tokens: &[String]) -> TermStats {
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
    #[must_use]
    #[inline(never)]
    pub fn matches(
        &self,
        tenant: i64,
        steps: &[CandidateQuery],
        (filter, owners): (&SearchFilter, &AdmittedOwners),
    ) -> Vec<DocumentNo> {
        let mut seen: HashSet<DocumentNo, RandomState> = HashSet::default();
        let mut found = Vec::new();
        let is_admitted = |doc: &DocumentNo| {
            self.documents.get(&doc.0).is_some_and(|document| {
                document.tenant == tenant
                    && owners.admits(document.owner)
                    && filter.admits(*doc, document.outline.origin)
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
    #[must_use]
    #[inline(never)]
    pub fn outlines(
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
    #[must_use]
    #[inline(never)]
    pub fn surroundings(&self, tenant: i64, docs: &[DocumentNo], reach: usize) -> Vec<DocumentNo> {
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
