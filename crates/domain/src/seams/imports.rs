//! Imports, and how one is undone.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::Tenant;
use crate::page::{Page, PageRequest};
use crate::source::{ImportNo, ImportRun, UndoneImport};
use crate::time::Timestamp;

/// Imports: begun, ended, listed and undone as a whole.
#[async_trait]
pub trait ImportStore: Send + Sync {
    /// Begins an import. No two have the same number, over all tenants; a number of another tenant's
    /// import is as unknown as one that was never given.
    async fn begin_import(
        &self,
        tenant: &Tenant,
        what: &str,
        now: Timestamp,
    ) -> Result<ImportNo, StoreError>;

    /// Ends an import.
    async fn end_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// A tenant's imports, newest first.
    async fn imports(
        &self,
        tenant: &Tenant,
        page: PageRequest<ImportNo>,
    ) -> Result<Page<ImportRun, ImportNo>, StoreError>;

    /// Removes exactly what one import added: its events, what they show of folders' remotes, what was
    /// observed from them, its progress on files. Sessions that keep older events are extracted anew; scopes
    /// concerned are raised. May take several transactions; repeating it after an interruption continues the work.
    async fn undo_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<UndoneImport, StoreError>;
}
