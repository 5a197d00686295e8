//! Fetches objects that a folder lacks of the shared history, and pushes those that the store lacks.
//!
//! A commit counts as fetched when its whole history is on this disk, not when the commit is. Normally only
//! the objects between two such commits are checked; if any is missing there, the whole history is
//! compared, name by name.
//!
//! Not here: moving the branch or the folder's files.

use std::collections::{BTreeSet, HashSet};

use daybook_domain::limits::{TREE_NAMES, TREE_OBJECTS};
use daybook_domain::{ObjectName, StoreError, TreeHead, TreeObject};
use gix::ObjectId;

use super::fetch_state::FetchState;
use super::{SharedError, SharedHistory, transfer};
use crate::files::commit::CommitContext;
use crate::files::error::FilesError;
use crate::files::integrity::{self, IntegrityReport};
use crate::files::lock::WriterLock;
use crate::files::objects::has_object;
use crate::files::stamp::CommitStamp;

/// Most bytes of objects in one transfer; a single object may be longer.
const PAGE: usize = 4 * 1024 * 1024;
/// Most rounds of fetching broken objects for one history: each may lead to others.
const FETCHES: usize = 8;

impl SharedHistory<'_> {
    /// Fetches the whole history of the shared commit, given what was fetched before. Returns the number of objects
    /// fetched, and what is fetched now.
    pub(super) async fn fetch_history(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
        there: &TreeHead,
        state: FetchState,
    ) -> Result<(u64, FetchState), SharedError> {
        let Some(commit) = there.commit.map(transfer::id_of) else {
            return Ok((0, FetchState::none_of(there.rewrites)));
        };
        if state.complete == Some(commit) {
            return Ok((0, state));
        }
        // A store that was restored from a backup may have fewer.
        let from = state.objects.min(there.objects);
        let (mut total, objects) = self.fetch(lock, stamp, from, &BTreeSet::new()).await?;
        if !transfer::is_complete_since(&lock.context(stamp)?, state.complete, commit) {
            let (fetched, found) = self.fetch_missing(lock, stamp, &[commit]).await?;
            if !found.is_intact() {
                return Err(self.incomplete_error(&found).into());
            }
            total += fetched;
        }
        let fetched = FetchState {
            objects,
            complete: Some(commit),
            rewrites: Some(there.rewrites),
        };
        Ok((total, fetched))
    }

    /// Fetches what is missing or broken in the histories of `roots`. Returns the number of objects
    /// fetched, and a report of what is still broken because the store lacks it, too.
    pub(super) async fn fetch_missing(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
        roots: &[ObjectId],
    ) -> Result<(u64, IntegrityReport), SharedError> {
        let mut total = 0;
        for _ in 0..FETCHES {
            let found = integrity::check(&lock.context(stamp)?.repo, roots.to_vec());
            if found.is_intact() {
                return Ok((total, found));
            }
            let (fetched, _) = self.fetch(lock, stamp, 0, &found.broken).await?;
            if fetched == 0 {
                return Ok((total, found));
            }
            total += fetched;
        }
        let found = integrity::check(&lock.context(stamp)?.repo, roots.to_vec());
        Ok((total, found))
    }

    fn incomplete_error(&self, found: &IntegrityReport) -> StoreError {
        StoreError::NotFound(format!(
            "{found}, in the folder and in the shared store of {}; run `daybook checkin --repair` on another \
             machine that has this memory, then repeat",
            self.scope
        ))
    }

    /// Fetches the objects after number `from` that are missing here, and those that are `broken` here.
    /// Returns how many came, and the number up to which all are present.
    async fn fetch(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
        from: u64,
        broken: &BTreeSet<ObjectId>,
    ) -> Result<(u64, u64), SharedError> {
        let (mut total, mut after) = (0, from);
        loop {
            let trees = self.trees;
            let names = trees
                .tree_object_names(self.scope, after, TREE_NAMES)
                .await?;
            let Some((last, _)) = names.last().copied() else {
                return Ok((total, after));
            };
            let numbers = missing_numbers(&lock.folder().repository()?, &names, broken);
            total += self.fetch_numbers(lock, stamp, &numbers, broken).await?;
            after = last;
        }
    }

    async fn fetch_numbers(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
        numbers: &[u64],
        broken: &BTreeSet<ObjectId>,
    ) -> Result<u64, SharedError> {
        let mut left = numbers;
        while let Some(first) = left.first().copied() {
            // A page also holds objects that are present already; for a single object a page of one
            // suffices.
            let bytes = match left.get(1) {
                Some(second) if *second == first + 1 => PAGE,
                Some(_) | None => 0,
            };
            let page = self.trees.tree_objects(self.scope, first - 1, bytes);
            let page = page.await?;
            transfer::import_objects(&lock.context(stamp)?, &page, broken)?;
            let reached = first + (page.len() as u64).max(1);
            left = &left[left.partition_point(|number| *number < reached)..];
        }
        Ok(numbers.len() as u64)
    }

    /// Pushes the objects that the shared history lacks, and returns their number; `None` if it was rewritten meanwhile.
    pub(super) async fn push_objects(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
        there: Option<&TreeHead>,
        new: ObjectId,
    ) -> Result<Option<u64>, SharedError> {
        let shared = there.and_then(|there| there.commit).map(transfer::id_of);
        let names = transfer::unshared_objects(&lock.context(stamp)?, shared, new)?;
        self.put(lock, stamp, rewrites_of(there), &names).await
    }

    /// The names of all objects in the store.
    pub(super) async fn store_object_names(&self) -> Result<HashSet<ObjectId>, StoreError> {
        let (mut names, mut after) = (HashSet::new(), 0);
        loop {
            let page = self.trees.tree_object_names(self.scope, after, TREE_NAMES);
            let page = page.await?;
            let Some((last, _)) = page.last() else {
                return Ok(names);
            };
            after = *last;
            names.extend(page.iter().map(|(_, name)| transfer::id_of(*name)));
        }
    }

    pub(super) async fn put(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
        rewrites: u64,
        names: &[ObjectId],
    ) -> Result<Option<u64>, SharedError> {
        let mut left = names;
        while !left.is_empty() {
            let page = page_of(&lock.context(stamp)?, left)?;
            let put = self.trees.put_tree_objects(self.scope, rewrites, &page);
            if !put.await? {
                return Ok(None);
            }
            left = &left[page.len()..];
        }
        Ok(Some(names.len() as u64))
    }
}

/// How often the shared history was rewritten.
pub(super) fn rewrites_of(there: Option<&TreeHead>) -> u64 {
    there.map_or(0, |there| there.rewrites)
}

/// Numbers of the objects that are missing in the folder's history, or broken there.
fn missing_numbers(
    repo: &gix::Repository,
    names: &[(u64, ObjectName)],
    broken: &BTreeSet<ObjectId>,
) -> Vec<u64> {
    let is_wanted = |name: ObjectName| {
        let id = transfer::id_of(name);
        broken.contains(&id) || !has_object(repo, id)
    };
    let numbers = names.iter().filter(|(_, name)| is_wanted(*name));
    numbers.map(|(number, _)| *number).collect()
}

fn page_of(context: &CommitContext<'_>, names: &[ObjectId]) -> Result<Vec<TreeObject>, FilesError> {
    let mut page: Vec<TreeObject> = Vec::new();
    let mut bytes = 0;
    for name in names.iter().take(TREE_OBJECTS) {
        let object = transfer::read(context, *name)?;
        bytes += object.bytes.len();
        if bytes > PAGE && !page.is_empty() {
            break;
        }
        page.push(object);
    }
    Ok(page)
}
