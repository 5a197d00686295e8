//! The shared history of memory files, in memory.

use std::collections::HashSet;

use async_trait::async_trait;
use daybook_domain::limits::{TREE_NAMES, TREE_OBJECTS};
use daybook_domain::seams::TreeStore;
use daybook_domain::{ObjectName, Scope, StoreError, Tenant, TreeHead, TreeObject};

use super::MemoryStore;

/// One scope's history.
#[derive(Debug, Default)]
pub(super) struct TreeRow {
    head: Option<TreeHead>,
    objects: Vec<TreeObject>,
    names: HashSet<ObjectName>,
}

#[async_trait]
impl TreeStore for MemoryStore {
    async fn tree_heads(&self, tenant: &Tenant) -> Result<Vec<(Scope, TreeHead)>, StoreError> {
        let state = self.lock();
        let own = state
            .trees
            .iter()
            .filter(|(scope, _)| &scope.tenant == tenant);
        let heads = own.filter_map(|(scope, row)| Some((scope.clone(), row.head.clone()?)));
        Ok(heads.collect())
    }

    async fn tree_head(&self, scope: &Scope) -> Result<Option<TreeHead>, StoreError> {
        let state = self.lock();
        Ok(state.trees.get(scope).and_then(|row| row.head.clone()))
    }

    async fn tree_objects(
        &self,
        scope: &Scope,
        after: u64,
        bytes: usize,
    ) -> Result<Vec<TreeObject>, StoreError> {
        let state = self.lock();
        let mut left = bytes;
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        let rest = state
            .trees
            .get(scope)
            .map_or(&[][..], |row| row.objects.get(after..).unwrap_or_default());
        let fitting = rest.iter().enumerate().take_while(|(place, object)| {
            let fits = *place == 0 || object.bytes.len() <= left;
            left = left.saturating_sub(object.bytes.len());
            fits
        });
        Ok(fitting.map(|(_, object)| object.clone()).collect())
    }

    async fn tree_object_names(
        &self,
        scope: &Scope,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, ObjectName)>, StoreError> {
        let state = self.lock();
        let Some(row) = state.trees.get(scope) else {
            return Ok(Vec::new());
        };
        let named = (1..).zip(row.objects.iter().map(|object| object.name));
        let rest = named.skip_while(|(nth, _)| *nth <= after);
        Ok(rest.take(most.min(TREE_NAMES)).collect())
    }

    async fn put_tree_objects(
        &self,
        scope: &Scope,
        rewrites: u64,
        objects: &[TreeObject],
    ) -> Result<bool, StoreError> {
        if objects.len() > TREE_OBJECTS {
            let what = format!("{} objects at once; at most {TREE_OBJECTS}", objects.len());
            return Err(StoreError::Refused(what));
        }
        let mut state = self.lock_for_change();
        let row = state.trees.entry(scope.clone()).or_default();
        if row.head.as_ref().map_or(0, |head| head.rewrites) != rewrites {
            return Ok(false);
        }
        for object in objects {
            if row.names.insert(object.name) {
                row.objects.push(object.clone());
            }
        }
        Ok(true)
    }

    async fn advance_tree(
        &self,
        scope: &Scope,
        seen: u64,
        commit: ObjectName,
        beside: &str,
    ) -> Result<Option<TreeHead>, StoreError> {
        let mut state = self.lock_for_change();
        let row = state.trees.entry(scope.clone()).or_default();
        if row.version() != seen {
            return Ok(None);
        }
        row.advance(commit, beside, 0).map(Some)
    }

    async fn rewrite_tree(
        &self,
        scope: &Scope,
        seen: u64,
        commit: ObjectName,
        beside: &str,
        kept: &[ObjectName],
    ) -> Result<Option<TreeHead>, StoreError> {
        let mut state = self.lock_for_change();
        let row = state.trees.entry(scope.clone()).or_default();
        if row.version() != seen {
            return Ok(None);
        }
        let kept: HashSet<&ObjectName> = kept.iter().collect();
        if !row.names.contains(&commit) || !kept.contains(&commit) {
            return Err(StoreError::NotFound(format!("commit {commit}")));
        }
        row.objects.retain(|object| kept.contains(&object.name));
        row.names.retain(|name| kept.contains(name));
        row.advance(commit, beside, 1).map(Some)
    }
}

impl TreeRow {
    fn version(&self) -> u64 {
        self.head.as_ref().map_or(0, |head| head.version)
    }

    /// Moves to a commit that is here. `rewrites` are added to the head's count.
    fn advance(
        &mut self,
        commit: ObjectName,
        beside: &str,
        rewrites: u64,
    ) -> Result<TreeHead, StoreError> {
        if !self.names.contains(&commit) {
            return Err(StoreError::NotFound(format!("commit {commit}")));
        }
        let before = self.head.as_ref().map_or(0, |head| head.rewrites);
        let head = TreeHead {
            version: self.version() + 1,
            commit: Some(commit),
            beside: beside.to_owned(),
            objects: self.objects.len() as u64,
            rewrites: before + rewrites,
        };
        self.head = Some(head.clone());
        Ok(head)
    }
}
