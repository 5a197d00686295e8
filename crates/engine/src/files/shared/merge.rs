//! Merges two histories into one commit.
//!
//! A file that one side alone changed is as that side has it; texts that both changed are merged by
//! [`union`]; of anything else that both changed, the version in this folder stays, and the other is in the
//! history. A file that one side deleted and the other changed stays.

use std::collections::{BTreeMap, BTreeSet};

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryKind;

use super::union::union;
use crate::files::commit::{CommitContext, stage_commit_object};
use crate::files::error::FilesError;
use crate::files::objects::{Staging, read_blob};
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
    let base = flatten(&*context.tree_of(base.map(gix::Id::detach))?);
    let our_files = flatten(&*context.tree_of(Some(ours))?);
    let their_files = flatten(&*context.tree_of(Some(theirs))?);
    let mut edits = Vec::new();
    let paths: BTreeSet<&BString> = our_files.keys().chain(base.keys()).collect();
    for path in paths {
        let [was, here, there] =
            [&base, &our_files, &their_files].map(|files| files.get(path).copied());
        if here == was || here == there {
            continue;
        }
        let new = match (here, there) {
            (here, there) if there == was => here,
            (None, there) => there,
            (here, None) => here,
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
    let tree = build_tree(&context.repo, staging, Some(theirs), &edits)?;
    let who = context.stamp.person_signature();
    let message = "Merge what was written elsewhere";
    stage_commit_object(staging, tree, vec![theirs, ours], &who, message)
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
    here: Leaf,
    there: Leaf,
) -> Result<Leaf, FilesError> {
    let text = |leaf: Leaf| -> Result<Option<String>, FilesError> {
        match leaf {
            (EntryKind::Blob | EntryKind::BlobExecutable, id) => {
                Ok(String::from_utf8(read_blob(context.folder, &context.repo, id)?).ok())
            }
            (EntryKind::Tree | EntryKind::Link | EntryKind::Commit, _) => Ok(None),
        }
    };
    let was = match was {
        Some(was) => text(was)?,
        None => Some(String::new()),
    };
    match (was, text(here)?, text(there)?) {
        (Some(was), Some(ours), Some(theirs)) => {
            let id = staging.put_blob(union(&was, &ours, &theirs).as_bytes())?;
            Ok((here.0, id))
        }
        (None, _, _) | (_, None, _) | (_, _, None) => Ok(here),
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
