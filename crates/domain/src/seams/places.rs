//! Where events happened, and to which project that belongs.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::Tenant;
use crate::page::{Page, PageRequest};
use crate::place::{Place, Project, RootRecord};
use crate::time::Timestamp;

/// The place of a project's identity in a listing: the project's key, and the identity.
pub type ProjectKey = (String, String);

/// The folders and branches that events happened in, and the projects that they belong to.
#[async_trait]
pub trait PlaceStore: Send + Sync {
    /// Places that a tenant's events happened in, with the key of the project that each belongs to. All at
    /// once: filing an extraction looks any of them up.
    async fn places(&self, tenant: &Tenant) -> Result<Vec<(Place, Option<String>)>, StoreError>;

    /// The key of the project that folder `root` belongs to; `None` while it has none.
    async fn project_of_root(
        &self,
        tenant: &Tenant,
        root: &str,
    ) -> Result<Option<String>, StoreError>;

    /// Known identities of a tenant's projects, by key, then by identity. Several may share a key.
    async fn projects(
        &self,
        tenant: &Tenant,
        page: PageRequest<ProjectKey>,
    ) -> Result<Page<Project, ProjectKey>, StoreError>;

    /// Folders that a tenant's events happened in, by path, each with the evidence of its identity. All at
    /// once: which project a folder belongs to follows from the evidence of all of them.
    async fn roots(&self, tenant: &Tenant) -> Result<Vec<RootRecord>, StoreError>;

    /// [`PlaceStore::assign_root`], where the project follows from stored evidence or is a guess:
    /// the root is [`RootRecord::derived`] from now on.
    async fn derive_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Forgets an identity of a project; its places and scope stay. False when there is none.
    async fn forget_identity(&self, tenant: &Tenant, identity: &str) -> Result<bool, StoreError>;

    /// Assigns a tenant's places under `root` to a project, and the project's identity to it from now
    /// on, whatever it identified before. What was observed there moves with them, and the
    /// scopes concerned are raised. May take several transactions; the root belongs to the project
    /// from the last one on, so repeating it after an interruption continues the work.
    async fn assign_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError>;
}
