//! Decoded rows that recall reads at nearly every question, cached while the database is unchanged.
//!
//! A value is valid for one version of reads, a number that each commit of any process changes, but for those that change
//! nothing that a recall reads. The version is read before the snapshot that the value comes from, so a value may be newer
//! than its version and is never older. A snapshot may be newer than the version, too: what has to fit other rows of one
//! snapshot is not cached here, such as the documents that wait beside the index.
//!
//! Not here: counts of words (`term_counts`) and signs (`vectors`), which outlast writes to other tables.

use std::collections::HashMap;
use std::fmt::{Debug, Formatter, Result as FormatResult};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use daybook_domain::index::{DocumentOutline, IndexedDocument};
use daybook_domain::seams::{RetractedText, ScopeState};
use daybook_domain::{KnownObservation, ObservationId, Scope, SessionId, Tenant};

use foldhash::fast::RandomState;

use super::ended_evidence::EndedEvidence;

/// Most bytes of one cache. When it is full, it starts over.
const MOST_BYTES: usize = 16 << 20;
/// Bytes that a value takes besides its words: its key, its numbers, its place in the table.
const OVERHEAD: usize = 256;

/// The caches of one store.
#[derive(Debug, Default)]
pub(super) struct ReadCaches {
    /// By tenant, document and whether vectors come with it.
    pub(super) outlines: ReadCache<(i64, i64, bool), DocumentOutline>,
    /// With what ended them.
    pub(super) observations: ReadCache<(Scope, ObservationId), Option<KnownObservation>>,
    /// By their numbers.
    pub(super) documents: ReadCache<i64, Option<IndexedDocument>>,
    /// What ended, and what a person took back, of a session's observations.
    pub(super) ended: ReadCache<SessionId, Vec<EndedEvidence>>,
    pub(super) retracted: ReadCache<SessionId, Vec<RetractedText>>,
    /// By tenant, the scope before the page, and its length.
    pub(super) scopes: ReadCache<(Tenant, Option<Scope>, usize), Vec<ScopeState>>,
}

/// A value whose size in memory can be estimated.
pub(super) trait CachedValue: Clone {
    /// Bytes of its words and lists.
    fn bytes(&self) -> usize;
}

/// Values of one version by their keys.
pub(super) struct ReadCache<K, V>(Mutex<CachedValues<K, V>>);

struct CachedValues<K, V> {
    version: u64,
    bytes: usize,
    values: HashMap<K, V, RandomState>,
}

impl<K, V> Default for ReadCache<K, V> {
    fn default() -> Self {
        Self(Mutex::new(CachedValues {
            version: 0,
            bytes: 0,
            values: HashMap::default(),
        }))
    }
}

/// Names the number of values: they are what people wrote.
impl<K, V> Debug for ReadCache<K, V> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> FormatResult {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write!(formatter, "ReadCache({} values)", cached.values.len())
    }
}

impl<K: Hash + Eq, V: CachedValue> ReadCache<K, V> {
    /// The cached values of these keys, in their order; `None` for each that has to be read.
    pub(super) fn get(&self, version: u64, keys: impl IntoIterator<Item = K>) -> Vec<Option<V>> {
        let cached = self.of(version);
        let values = keys.into_iter().map(|key| cached.values.get(&key).cloned());
        values.collect()
    }

    /// Caches values that were read after the version.
    pub(super) fn put(&self, version: u64, read: impl IntoIterator<Item = (K, V)>) {
        let mut cached = self.of(version);
        for (key, value) in read {
            let bytes = value.bytes() + OVERHEAD;
            if cached.bytes + bytes > MOST_BYTES {
                cached.clear();
            }
            cached.bytes += bytes;
            cached.values.insert(key, value);
        }
    }

    /// The values of a version; those of another one are dropped.
    fn of(&self, version: u64) -> MutexGuard<'_, CachedValues<K, V>> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.version != version {
            cached.clear();
            cached.version = version;
        }
        cached
    }
}

impl<K, V> CachedValues<K, V> {
    fn clear(&mut self) {
        self.values.clear();
        self.bytes = 0;
    }
}

impl CachedValue for DocumentOutline {
    fn bytes(&self) -> usize {
        size_of_val(&*self.terms.0) + self.vectors.len()
    }
}

impl CachedValue for Option<KnownObservation> {
    fn bytes(&self) -> usize {
        let evidence = self.iter().flat_map(|known| &known.0.evidence);
        let of_one = |lines: usize, events: usize| OVERHEAD + 4 * lines + 8 * events;
        let evidence: usize = evidence
            .map(|one| of_one(one.lines.len(), one.events.len()))
            .sum();
        evidence + self.as_ref().map_or(0, |known| known.0.text.len())
    }
}

impl CachedValue for Option<IndexedDocument> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, |one| {
            one.text.len() + one.context.as_ref().map_or(0, String::len) + OVERHEAD
        })
    }
}

impl CachedValue for Vec<EndedEvidence> {
    fn bytes(&self) -> usize {
        2 * OVERHEAD * self.len()
    }
}

impl CachedValue for Vec<RetractedText> {
    fn bytes(&self) -> usize {
        self.iter().map(|one| one.text.len() + OVERHEAD).sum()
    }
}

impl CachedValue for Vec<ScopeState> {
    fn bytes(&self) -> usize {
        OVERHEAD * self.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl CachedValue for usize {
        fn bytes(&self) -> usize {
            *self
        }
    }

    #[test]
    fn values_of_another_version_are_dropped() {
        let cache = ReadCache::default();
        cache.put(1, [("tide", 3), ("pier", 4)]);
        assert_eq!(cache.get(1, ["pier", "buoy"]), [Some(4), None]);
        assert_eq!(cache.get(2, ["pier"]), [None]);
        // The older version is not current any more, and its values are gone.
        assert_eq!(cache.get(1, ["pier"]), [None]);
    }

    #[test]
    fn a_full_cache_starts_over() {
        let cache = ReadCache::default();
        let half = MOST_BYTES / 2;
        cache.put(1, [("tide", half)]);
        cache.put(1, [("pier", half)]);
        assert_eq!(cache.get(1, ["tide", "pier"]), [None, Some(half)]);
    }
}
