//! Merges two histories into one commit.
//!
//! A file that one side alone changed is as that side has it; texts that both changed are merged by
//! [`union`]; of anything else that both changed, the version in this folder stays, and the other is in the
//! history. A file that one side deleted and the other changed stays.

use std::collections::{BTreeMap, BTreeSet};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::tree::EntryKind;

use super::union::{union, without_new_entries};
use crate::files::commit::{CommitContext, stage_commit_object};
use crate::files::error::FilesError;
use crate::files::objects::{Staging, read_blob};
use crate::files::own_secrets::FileOwner;
use crate::files::tree::{TreeEdit, TreeFiles, build_tree};

/// Stages the commit that merges `ours` and `theirs`. Its first parent is theirs, so that the shared
/// history reads as one line. Its author is the person, because authors distinguish the engine's last write
/// from a person's later edits.
pub(super) fn merge(
    context: &CommitContext<'_>,
    staging: &mut Staging<'_>,
    ours: ObjectId,
    theirs: ObjectId,
) -> Result<ObjectId, FilesError> {
    let base = context
        .repo
        .merge_base(ours, theirs)
        .map_err(FilesError::git("compare histories", context.folder.root()))?;
    let base = base.map(gix::Id::detach);
    let sides = MergeSides {
        base,
        ours,
        theirs: Some(theirs),
    };
    let tree = merge_trees(context, staging, sides, None)?;
    let who = context.stamp.person_signature();
    let message = "Merge what was written elsewhere";
    stage_commit_object(staging, tree, vec![theirs, ours], &who, message)
}

/// Stages the commit that has what a person changed since `base` on top of `theirs`, and returns it: `theirs` itself if
/// they changed nothing. Nothing of our history is before it.
///
/// What the engine wrote here since `base` is left out. It writes it again from the store, as far as it is still there.
pub(super) fn reapply(
    context: &CommitContext<'_>,
    staging: &mut Staging<'_>,
    sides: MergeSides,
    edited: &BTreeSet<String>,
) -> Result<ObjectId, FilesError> {
    let persons =
        |path: &str, was: &str, text: &str| match FileOwner::of(path, || edited.contains(path)) {
            FileOwner::Engine => None,
            FileOwner::Person => Some(text.to_owned()),
            FileOwner::Page => Some(without_new_entries(was, text)),
        };
    let tree = merge_trees(context, staging, sides, Some(&persons))?;
    if let Some(theirs) = sides.theirs {
        let failed = || FilesError::git("read the history", context.folder.root());
        let commit = context.repo.find_commit(theirs).map_err(failed())?;
        if commit.tree_id().map_err(failed())? == tree {
            return Ok(theirs);
        }
    }
    let who = context.stamp.person_signature();
    let parents = sides.theirs.into_iter().collect();
    stage_commit_object(staging, tree, parents, &who, "Keep edits of memory files")
}

/// What counts of a text of ours, given its path, the text that it comes from and itself; `None` if nothing does.
type PersonsPart<'a> = dyn Fn(&str, &str, &str) -> Option<String> + 'a;

/// The commits of a merge.
#[derive(Debug, Clone, Copy)]
pub(super) struct MergeSides {
    /// What both sides come from.
    pub(super) base: Option<ObjectId>,
    /// The folder's.
    pub(super) ours: ObjectId,
    /// The shared one; `None` if everything was removed there.
    pub(super) theirs: Option<ObjectId>,
}

/// Stages the merged tree. `persons` returns what counts of a text of ours.
fn merge_trees(
    context: &CommitContext<'_>,
    staging: &mut Staging<'_>,
    sides: MergeSides,
    persons: Option<&PersonsPart<'_>>,
) -> Result<ObjectId, FilesError> {
    let [base, our_files, their_files] = [sides.base, Some(sides.ours), sides.theirs]
        .map(|commit| context.tree_of(commit).map(|tree| flatten(&tree)));
    let (base, our_files, their_files) = (base?, our_files?, their_files?);
    let mut edits = Vec::new();
    let paths: BTreeSet<&BString> = our_files.keys().chain(base.keys()).collect();
    for path in paths {
        let [was, here, there] =
            [&base, &our_files, &their_files].map(|files| files.get(path).copied());
        if here == was || here == there {
            continue;
        }
        let here = match (here, persons) {
            (Some(here), Some(part)) => persons_leaf(context, staging, (path, was, here), part)?,
            (here, _) => here.map(OurLeaf::of),
        };
        let our_leaf = here.as_ref().map(|here| here.leaf);
        let new = match (here, there) {
            _ if our_leaf == was => continue,
            (_, there) if there == was => our_leaf,
            (None, there) => there,
            (Some(here), None) => Some(here.leaf),
            (Some(here), Some(there)) => Some(merge_contents(context, staging, was, here, there)?),
        };
        if new != there {
            let path = match new {
                Some(_) => free_path(path, &their_files),
                None => path.clone(),
            };
            edits.push(TreeEdit { path, new });
        }
    }
    build_tree(&context.repo, staging, sides.theirs, &edits)
}

/// A file of ours.
struct OurLeaf {
    leaf: Leaf,
    /// Its text, where that is only staged.
    text: Option<String>,
}

impl OurLeaf {
    fn of(leaf: Leaf) -> Self {
        Self { leaf, text: None }
    }
}

/// What counts of a file of ours; what it comes from, if nothing does.
fn persons_leaf(
    context: &CommitContext<'_>,
    staging: &mut Staging<'_>,
    (path, was, here): (&BString, Option<Leaf>, Leaf),
    persons: &PersonsPart<'_>,
) -> Result<Option<OurLeaf>, FilesError> {
    let Some(text) = text_of(context, here)? else {
        return Ok(Some(OurLeaf::of(here)));
    };
    let before = was.map(|was| text_of(context, was)).transpose()?;
    let before = before.flatten().unwrap_or_default();
    let Some(part) = persons(&path.to_str_lossy(), &before, &text) else {
        return Ok(was.map(OurLeaf::of));
    };
    let leaf = (here.0, staging.put_blob(part.as_bytes())?);
    Ok(Some(OurLeaf {
        leaf,
        text: Some(part),
    }))
}

/// The kind and id of a path's entry.
type Leaf = (EntryKind, ObjectId);

fn flatten(tree: &TreeFiles) -> BTreeMap<BString, Leaf> {
    let files = tree.files.iter();
    let files = files.map(|(path, file)| (path.as_str().into(), (file.kind, file.id)));
    let foreign = tree.foreign.iter();
    let foreign = foreign.map(|foreign| (foreign.path.clone(), (foreign.kind, foreign.id)));
    files.chain(foreign).collect()
}

fn merge_contents(
    context: &CommitContext<'_>,
    staging: &mut Staging<'_>,
    was: Option<Leaf>,
    here: OurLeaf,
    there: Leaf,
) -> Result<Leaf, FilesError> {
    let was = match was {
        Some(was) => text_of(context, was)?,
        None => Some(String::new()),
    };
    let ours = match here.text {
        Some(text) => Some(text),
        None => text_of(context, here.leaf)?,
    };
    match (was, ours, text_of(context, there)?) {
        (Some(was), Some(ours), Some(theirs)) => {
            let id = staging.put_blob(union(&was, &ours, &theirs).as_bytes())?;
            Ok((here.leaf.0, id))
        }
        (None, _, _) | (_, None, _) | (_, _, None) => Ok(here.leaf),
    }
}

/// The text of a file; `None` if it is none.
fn text_of(context: &CommitContext<'_>, leaf: Leaf) -> Result<Option<String>, FilesError> {
    match leaf {
        (EntryKind::Blob | EntryKind::BlobExecutable, id) => {
            Ok(String::from_utf8(read_blob(context.folder, &context.repo, id)?).ok())
        }
        (EntryKind::Tree | EntryKind::Link | EntryKind::Commit, _) => Ok(None),
    }
}

/// The path, or a similar free one if `theirs` has a folder of that name, or a file as one of its folders.
fn free_path(path: &BString, theirs: &BTreeMap<BString, Leaf>) -> BString {
    let is_barred = |path: &BString| {
        let mut inside = path.clone();
        inside.push(b'/');
        let above = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let has_file_above = above
            .map(|(end, _)| &path[..end])
            .any(|folder| theirs.contains_key(&BString::from(folder)));
        let after = theirs.range(inside.clone()..).next();
        has_file_above || after.is_some_and(|(other, _)| other.starts_with(&inside))
    };
    if !is_barred(path) {
        return path.clone();
    }
    // Nothing is lost; the person decides where the file belongs.
    let mut free = BString::from("kept-");
    free.extend(path.iter().map(|byte| match byte {
        b'/' => b'-',
        byte => *byte,
    }));
    while theirs.contains_key(&free) || is_barred(&free) {
        free.push(b'+');
    }
    free
}
