//! Fetches candidates: texts with a question's words, those nearest to its vector, and the messages around the best of
//! both.
//!
//! Not here: scores (`rank`), and answers.

use daybook_domain::index::{CandidateQuery, DocumentNo, MemoryLayer, SearchFilter};
use daybook_domain::seams::RecallStore;
use daybook_domain::{Reach, StoreError, Tenant, Timestamp, vector};
use daybook_ranking::rank::{Documents, REACH, RankingQuery, RecallCandidate, score};
use daybook_ranking::selection::{best_messages, surrounded};

/// Documents nearest to the question's vector that become candidates.
const NEAREST: usize = 100;
/// The best messages among the candidates, whose neighbours become candidates too.
const EXPANDED: usize = 32;

/// Fetches the candidates of one question from one tenant's memory.
pub(super) struct CandidateFetcher<'a> {
    pub(super) store: &'a dyn RecallStore,
    pub(super) tenant: &'a Tenant,
    pub(super) filter: SearchFilter,
    /// What may be answered.
    pub(super) reach: &'a Reach,
    /// The model of the question's vector; `None` without one.
    pub(super) model: Option<&'a str>,
    pub(super) ranking: &'a RankingQuery<'a>,
    /// Only what was stated by then.
    pub(super) until: Option<Timestamp>,
}

impl CandidateFetcher<'_> {
    /// Fetches texts by the steps of a plan, and those nearest to the question's vector.
    pub(super) async fn candidates(
        &self,
        steps: &[CandidateQuery],
    ) -> Result<Vec<RecallCandidate>, StoreError> {
        let mut docs = self.store.matches(self.tenant, steps, &self.filter).await?;
        if let Some(model) = self.model {
            let signs = vector::signs(self.ranking.vector.codes());
            let near = (model, signs.as_slice());
            docs.extend(
                self.store
                    .nearest(self.tenant, near, &self.filter, NEAREST)
                    .await?,
            );
        }
        docs.sort_unstable();
        docs.dedup();
        self.load_candidates(&docs).await
    }

    pub(super) async fn load_candidates(
        &self,
        docs: &[DocumentNo],
    ) -> Result<Vec<RecallCandidate>, StoreError> {
        let outlines = self.store.outlines(self.tenant, docs, self.model).await?;
        let candidates = outlines
            .into_iter()
            .map(|outline| RecallCandidate::new(self.ranking, outline));
        Ok(candidates.collect())
    }

    /// Adds the messages around the best candidates, and scores all.
    pub(super) async fn expand_and_score(
        &self,
        candidates: &mut Vec<RecallCandidate>,
    ) -> Result<(), StoreError> {
        let centres = best_messages(candidates, EXPANDED);
        let around = self
            .store
            .surroundings(self.tenant, &centres, 2 * REACH)
            .await?;
        let known: Documents = candidates.iter().map(|c| c.outline.doc).collect();
        let new: Vec<DocumentNo> = around
            .iter()
            .copied()
            .filter(|doc| !known.contains(doc))
            .collect();
        let surrounded = surrounded(&around, &centres);
        let mut added = self.load_candidates(&new).await?;
        for candidate in &mut added {
            candidate.is_ranked = surrounded.contains(&candidate.outline.doc)
                && (self.filter.layers.is_empty()
                    || self.filter.layers.contains(&MemoryLayer::Event));
        }
        candidates.extend(added);
        // Two runs in order, which a stable sort merges.
        candidates.sort_by_key(|candidate| candidate.outline.doc);
        score(self.ranking, candidates, &surrounded);
        Ok(())
    }
}
