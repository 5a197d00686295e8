//! Files that events came from.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{SessionId, Tenant};
use crate::page::{Page, PageRequest};
use crate::source::{ImportNo, TranscriptSource};

/// The files that events came from, and how far each was read.
#[async_trait]
pub trait SourceStore: Send + Sync {
    /// Files that a tenant's events came from, by path.
    async fn sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError>;

    /// Those of [`SourceStore::sources`] whose last import failed.
    async fn failing_sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError>;

    /// Those of [`SourceStore::sources`] in which secrets were hidden.
    async fn sources_with_secrets(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError>;

    /// What is known of the files at `paths`, by path; paths that are not known are passed over.
    async fn sources_at(
        &self,
        tenant: &Tenant,
        paths: &[&str],
    ) -> Result<Vec<TranscriptSource>, StoreError>;

    /// Files that last fed a session, by path. All at once: a session has a handful.
    async fn sources_of(&self, session: &SessionId) -> Result<Vec<TranscriptSource>, StoreError>;

    /// Records a look at a file that yielded no event.
    async fn put_source(
        &self,
        tenant: &Tenant,
        source: &TranscriptSource,
        import: Option<ImportNo>,
    ) -> Result<(), StoreError>;
}
