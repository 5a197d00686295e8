//! Fetching what a folder lacks of the shared history, and handing over what the store lacks.
//!
//! A commit counts as fetched when its whole history is on this disk, not when the commit is. In the
//! ordinary case only what lies between two such commits is looked at; anything missing there has
//! the whole history compared, name by name.
//!
//! Not here: moving the branch or the folder's files.

use std::collections::{BTreeSet, HashSet};

use daybook_domain::limits::{TREE_NAMES, TREE_OBJECTS};
use daybook_domain::{ObjectName, StoreError, TreeHead, TreeObject};
use gix::ObjectId;

use super::known::Known;
use super::{Shared, SharedError, travel};
use crate::files::commit::Work;
use crate::files::error::FilesError;
use crate::files::lock::WriterLock;
use crate::files::objects::is_known;
use crate::files::stamp::Stamp;
use crate::files::wholeness::{self, HistoryCheck};

/// Most bytes of objects that travel at once; one object may be longer.
const PAGE: usize = 4 * 1024 * 1024;
/// Most times that broken objects are fetched for one history: each may lead to others.
const FETCHES: usize = 8;

impl Shared<'_> {
    /// Makes the whole history of the shared commit present here, and returns how many objects came.
    pub(super) async fn take_in(
        &self,
        lock: &WriterLock<'_>,
        stamp: &Stamp,
        there: &TreeHead,
    ) -> Result<u64, SharedError> {
        let commit = travel::id_of(there.commit);
        let known = Known::load(lock.folder())?;
        if known.whole == Some(commit) {
            return Ok(0);
        }
        // A store that was restored from a backup may have fewer.
        let from = known.objects.min(there.objects);
        let (mut taken, objects) = self.fetch(lock, stamp, from, &BTreeSet::new()).await?;
        if !travel::is_whole_since(&Work::new(lock.folder(), stamp)?, known.whole, commit) {
            let (fetched, found) = self.complete(lock, stamp, &[commit]).await?;
            if !found.is_whole() {
                return Err(self.incomplete(&found).into());
            }
            taken += fetched;
        }
        let whole = Some(commit);
        Known { objects, whole }.save(lock.folder())?;
        Ok(taken)
    }

    /// Fetches whatever is missing or broken of the histories of `roots`. Returns how many objects came,
    /// and what is still broken because the store lacks it, too.
    pub(super) async fn complete(
        &self,
        lock: &WriterLock<'_>,
        stamp: &Stamp,
        roots: &[ObjectId],
    ) -> Result<(u64, HistoryCheck), SharedError> {
        let mut taken = 0;
        for _ in 0..FETCHES {
            let found = wholeness::check(&Work::new(lock.folder(), stamp)?.repo, roots.to_vec());
            if found.is_whole() {
                return Ok((taken, found));
            }
            let (fetched, _) = self.fetch(lock, stamp, 0, &found.broken).await?;
            if fetched == 0 {
                return Ok((taken, found));
            }
            taken += fetched;
        }
        let found = wholeness::check(&Work::new(lock.folder(), stamp)?.repo, roots.to_vec());
        Ok((taken, found))
    }

    fn incomplete(&self, found: &HistoryCheck) -> StoreError {
        StoreError::NotFound(format!(
            "{found}, in the folder and in the shared store of {}; run `daybook checkin --repair` on another \
             machine that has this memory, then repeat",
            self.scope
        ))
    }

    /// Fetches the objects after number `from` that are not here, and those that are `broken` here.
    /// Returns how many came, and the number up to which all are here.
    async fn fetch(
        &self,
        lock: &WriterLock<'_>,
        stamp: &Stamp,
        from: u64,
        broken: &BTreeSet<ObjectId>,
    ) -> Result<(u64, u64), SharedError> {
        let (mut taken, mut after) = (0, from);
        loop {
            let trees = self.trees;
            let names = trees
                .tree_object_names(self.scope, after, TREE_NAMES)
                .await?;
            let Some((last, _)) = names.last().copied() else {
                return Ok((taken, after));
            };
            let numbers = wanted(&lock.folder().repository()?, &names, broken);
            taken += self.fetch_numbers(lock, stamp, &numbers, broken).await?;
            after = last;
        }
    }

    async fn fetch_numbers(
        &self,
        lock: &WriterLock<'_>,
        stamp: &Stamp,
        numbers: &[u64],
        broken: &BTreeSet<ObjectId>,
    ) -> Result<u64, SharedError> {
        let mut left = numbers;
        while let Some(first) = left.first().copied() {
            // A page also holds what is here already; for a single object it is that one alone.
            let bytes = match left.get(1) {
                Some(second) if *second == first + 1 => PAGE,
                Some(_) | None => 0,
            };
            let page = self.trees.tree_objects(self.scope, first - 1, bytes);
            let page = page.await?;
            travel::take_in(&Work::new(lock.folder(), stamp)?, &page, broken)?;
            let reached = first + (page.len() as u64).max(1);
            left = &left[left.partition_point(|number| *number < reached)..];
        }
        Ok(numbers.len() as u64)
    }

    /// Hands over what the shared history lacks, and returns how many objects that were.
    pub(super) async fn give(
        &self,
        lock: &WriterLock<'_>,
        stamp: &Stamp,
        shared: Option<ObjectId>,
        new: ObjectId,
    ) -> Result<u64, SharedError> {
        let names = travel::unshared(&Work::new(lock.folder(), stamp)?, shared, new)?;
        self.put(lock, stamp, &names).await
    }

    /// The names of all objects in the store.
    pub(super) async fn names_there(&self) -> Result<HashSet<ObjectId>, StoreError> {
        let (mut names, mut after) = (HashSet::new(), 0);
        loop {
            let page = self.trees.tree_object_names(self.scope, after, TREE_NAMES);
            let page = page.await?;
            let Some((last, _)) = page.last() else {
                return Ok(names);
            };
            after = *last;
            names.extend(page.iter().map(|(_, name)| travel::id_of(*name)));
        }
    }

    pub(super) async fn put(
        &self,
        lock: &WriterLock<'_>,
        stamp: &Stamp,
        names: &[ObjectId],
    ) -> Result<u64, SharedError> {
        let mut left = names;
        while !left.is_empty() {
            let page = page_of(&Work::new(lock.folder(), stamp)?, left)?;
            self.trees.put_tree_objects(self.scope, &page).await?;
            left = &left[page.len()..];
        }
        Ok(names.len() as u64)
    }
}

/// Numbers of the objects that are not in the folder's history, or are broken there.
fn wanted(
    repo: &gix::Repository,
    names: &[(u64, ObjectName)],
    broken: &BTreeSet<ObjectId>,
) -> Vec<u64> {
    let is_wanted = |name: ObjectName| {
        let id = travel::id_of(name);
        broken.contains(&id) || !is_known(repo, id)
    };
    let numbers = names.iter().filter(|(_, name)| is_wanted(*name));
    numbers.map(|(number, _)| *number).collect()
}

fn page_of(work: &Work<'_>, names: &[ObjectId]) -> Result<Vec<TreeObject>, FilesError> {
    let mut page: Vec<TreeObject> = Vec::new();
    let mut bytes = 0;
    for name in names.iter().take(TREE_OBJECTS) {
        let object = travel::read(work, *name)?;
        bytes += object.bytes.len();
        if bytes > PAGE && !page.is_empty() {
            break;
        }
        page.push(object);
    }
    Ok(page)
}
