//! The shared history of memory files.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{Scope, Tenant};
use crate::tree::{ObjectName, TreeHead, TreeObject};

/// Where machines share the history of memory files. On one machine the folder itself is the
/// repository, and there is no such store.
#[async_trait]
pub trait TreeStore: Send + Sync {
    /// The heads of a tenant's histories, in the order of [`Scope`]. All at once: a folder is in sync when each
    /// of its histories is.
    async fn tree_heads(&self, tenant: &Tenant) -> Result<Vec<(Scope, TreeHead)>, StoreError>;

    /// The head of a scope's history; `None` before the first advance. The head of a history that was removed stays, so
    /// that machines which have it learn of that.
    async fn tree_head(&self, scope: &Scope) -> Result<Option<TreeHead>, StoreError>;

    /// Objects of a scope after number `after`, in the order in which they came: at most `bytes` of
    /// them, but always one while there is one.
    async fn tree_objects(
        &self,
        scope: &Scope,
        after: u64,
        bytes: usize,
    ) -> Result<Vec<TreeObject>, StoreError>;

    /// Numbers and names of a scope's objects after number `after`, in the order in which they came: at
    /// most `most` and [`crate::limits::TREE_NAMES`].
    async fn tree_object_names(
        &self,
        scope: &Scope,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, ObjectName)>, StoreError>;

    /// Stores objects; those that are known by name are passed over. At most
    /// [`crate::limits::TREE_OBJECTS`] at once. Nothing refers to them before [`TreeStore::advance_tree`].
    ///
    /// False when the history was not rewritten just `rewrites` times: they may hold what was taken out of it, and
    /// nothing was stored.
    async fn put_tree_objects(
        &self,
        scope: &Scope,
        rewrites: u64,
        objects: &[TreeObject],
    ) -> Result<bool, StoreError>;

    /// Advances a scope's history to `commit`, whose objects are stored, if its version still is
    /// `seen` (0: there is none yet). `None` when another caller was faster, and nothing changed.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the commit's own object was never stored.
    async fn advance_tree(
        &self,
        scope: &Scope,
        seen: u64,
        commit: ObjectName,
        beside: &str,
    ) -> Result<Option<TreeHead>, StoreError>;

    /// As [`TreeStore::advance_tree`], for a history from which something was taken out: every object but those of
    /// `kept` is deleted, the others are numbered anew, and the head counts one more rewrite.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the commit's own object was never stored, or is not among those that are kept.
    async fn rewrite_tree(
        &self,
        scope: &Scope,
        seen: u64,
        commit: ObjectName,
        beside: &str,
        kept: &[ObjectName],
    ) -> Result<Option<TreeHead>, StoreError>;
}
