//! The index over entries, observations and events.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{EventSeq, Scope, SessionId, Tenant};
use crate::index::{
    CandidateQuery, DocumentNo, DocumentOutline, DocumentVectors, EmbeddingInput, FileEntry,
    IndexedDocument, SearchFilter, TermStats,
};
use crate::time::Timestamp;

/// Finds documents by their words. Disposable: [`IndexWriter::clear`] and feeding the index again gives the same
/// answers.
#[async_trait]
pub trait IndexReader: Send + Sync {
    /// How often tokens occur.
    async fn term_stats(&self, tenant: &Tenant, tokens: &[String])
    -> Result<TermStats, StoreError>;

    /// Documents that all steps lead to, each once, at most the sum of the limits. Steps are taken in
    /// turn; within one, newest first ([`DocumentNo::age`]).
    async fn matches(
        &self,
        tenant: &Tenant,
        steps: &[CandidateQuery],
        filter: &SearchFilter,
    ) -> Result<Vec<DocumentNo>, StoreError>;

    /// What ranking needs of documents, in the order asked for; those that are gone are left out. Vectors
    /// come with it when they are of `model`.
    async fn outlines(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        model: Option<&str>,
    ) -> Result<Vec<DocumentOutline>, StoreError>;

    /// For each event with words, the events with words before and after it in its session, at most `reach` on
    /// each side, itself included: all of them once, in the order of their numbers.
    async fn surroundings(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        reach: usize,
    ) -> Result<Vec<DocumentNo>, StoreError>;

    /// Documents whole, in the order asked for; those that are gone are left out.
    async fn documents(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
    ) -> Result<Vec<IndexedDocument>, StoreError>;
}

/// Vectors of documents: which model made them, which documents wait for them, and which are nearest.
#[async_trait]
pub trait VectorStore: Send + Sync {
    /// The documents whose vector's signs differ least from `signs`, the newest of equals first, at most
    /// `limit`; none when the index has vectors of another model than `model`.
    async fn nearest(
        &self,
        tenant: &Tenant,
        (model, signs): (&str, &[u64]),
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<DocumentNo>, StoreError>;

    /// Makes `model` the one whose vectors the index holds. Vectors of another are forgotten, and every
    /// document is unembedded again. True when that was so.
    async fn choose_model(&self, tenant: &Tenant, model: &str) -> Result<bool, StoreError>;

    /// Documents without vectors that should have them, at most `limit`, the newest first.
    async fn unembedded(
        &self,
        tenant: &Tenant,
        limit: usize,
    ) -> Result<Vec<EmbeddingInput>, StoreError>;

    /// Keeps vectors of `model`; none of another model, and none of documents that are gone or whose words
    /// are no longer those of [`DocumentVectors::digest`]: these wait on.
    async fn put_vectors(
        &self,
        tenant: &Tenant,
        model: &str,
        embedded: &[DocumentVectors],
    ) -> Result<(), StoreError>;
}

/// Feeds the index, and forgets what it holds.
#[async_trait]
pub trait IndexWriter: Send + Sync {
    /// Replaces what is known of one memory file; an empty list forgets it. `stamp` is the
    /// caller's note of the file's state.
    async fn put_file(
        &self,
        scope: &Scope,
        file: &str,
        stamp: &str,
        entries: &[FileEntry],
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// The stamps of the files that are indexed.
    async fn file_stamps(&self, scope: &Scope) -> Result<Vec<(String, String)>, StoreError>;

    /// Forgets everything that is indexed of a tenant. May take several transactions; repeating it
    /// after an interruption continues the work.
    async fn clear(&self, tenant: &Tenant) -> Result<(), StoreError>;

    /// Indexes events again, in place of what is indexed of them: `(event, tokens)`, at most
    /// [`crate::limits::APPEND_EVENTS`] at once.
    async fn index_events(
        &self,
        session: &SessionId,
        events: &[(EventSeq, String)],
    ) -> Result<(), StoreError>;

    /// Indexes a scope's observations again, in place of what is indexed of them.
    async fn index_observations(&self, scope: &Scope) -> Result<(), StoreError>;
}
