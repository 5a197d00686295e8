//! Carrying out an intent, whoever recorded it.
//!
//! A write that goes well and the recovery of one that was stopped are the same code, so every crash
//! ends where the write would have ended. All of it may be repeated from any point:
//!
//! 1. the objects of the new commit become part of the history;
//! 2. edits that a stopped writer took out of their place go back;
//! 3. a file equal to the base becomes new, one that is new stays, any other is a person's and stays,
//!    as does one that became new and was changed back;
//! 4. the branch moves from the base to the new commit. If a person has moved it meanwhile, the new
//!    commit's changes are committed on top of theirs;
//! 5. edits that could not go back, because the person has written there since, are committed;
//! 6. the intent is forgotten.
//!
//! The engine's version of a file that stays a person's is in the commit of step 4, and the person's
//! is committed on top by the caller; so both are in the history, and the person's is what stands.

use std::fs;

use gix::ObjectId;

use super::atomic;
use super::commit::{MAX_ATTEMPTS, Work};
use super::error::FilesError;
use super::index::stat_of;
use super::intent::{self, Intent, Recorded};
use super::objects::{self, StagedFor};
use super::path::FilePath;
use super::reader::read_private;
use super::refs::Moved;
use super::stamp::engine_signature_at;
use super::steps::Step;
use super::swap::{self, Standing, Swap, Swapped};
use super::tree::{Change, changes_between};

/// How far back from HEAD an intent's commit is looked for. A power cut can bring back an intent that
/// was carried out, but only a recent one.
const MAX_LOOK_BACK: usize = 1000;
/// Names the intent's commit in one that was made in its stead.
const STEAD_TRAILER: &str = "Daybook-Intent: ";

/// What carrying out an intent came to.
pub(super) struct Carried {
    /// The commit of the intent, or the one made in its stead.
    pub(super) commit: ObjectId,
    /// Files that stay a person's.
    pub(super) kept: Vec<FilePath>,
}

/// What a writer found of its predecessor.
pub(super) enum Recovered {
    Clean,
    Carried(Carried),
    /// An intent that cannot be carried out lies aside.
    SetAside,
}

/// Finishes what a stopped writer began, and removes what it left. Only under the writer lock.
pub(super) fn recover(work: &Work<'_>) -> Result<Recovered, FilesError> {
    work.branch()?.break_stale_lock()?;
    super::git_lock::break_stale(work.folder, "index".as_ref())?;
    let recorded = Intent::read(work.folder)?;
    if let Recorded::Intent(_) = recorded {
        objects::publish(work.folder, &work.repo, StagedFor::Intent)?;
    }
    let recovered = match recorded {
        Recorded::Nothing => Recovered::Clean,
        Recorded::Intent(intent) if can_be_read(work, intent) => {
            Recovered::Carried(carry_out(work, intent)?)
        }
        Recorded::Intent(_) | Recorded::Unreadable => {
            intent::set_aside(work.folder)?;
            Recovered::SetAside
        }
    };
    intent::clear_waiting(work.folder)?;
    objects::clear_staged(work.folder)?;
    Ok(recovered)
}

/// Carries out a recorded intent. The caller then commits the person's edits.
pub(super) fn carry_out(work: &Work<'_>, intent: Intent) -> Result<Carried, FilesError> {
    objects::publish(work.folder, &work.repo, StagedFor::Intent)?;
    let changes = changes_between(
        &work.tree_of(intent.base)?,
        &work.tree_of(Some(intent.new))?,
    );
    let swaps: Vec<_> = changes
        .iter()
        .enumerate()
        .map(|(number, change)| Swap {
            folder: work.folder,
            number,
            change,
        })
        .collect();
    swaps.iter().try_for_each(Swap::give_back)?;

    let mut carried = Carried {
        commit: intent.new,
        kept: Vec::new(),
    };
    match landed(work, intent)? {
        Some(commit) => carried.commit = commit,
        None => {
            carried.kept = swap_all(work, &swaps)?;
            carried.commit = land(work, intent, &changes)?;
        }
    }
    keep_strays(work, intent, &swaps)?;
    Intent::clear(work.folder)?;
    intent::clear_waiting(work.folder)?;
    Ok(carried)
}

fn can_be_read(work: &Work<'_>, intent: Intent) -> bool {
    work.tree_of(intent.base)
        .and_then(|_| work.tree_of(Some(intent.new)))
        .is_ok()
}

fn swap_all(work: &Work<'_>, swaps: &[Swap<'_>]) -> Result<Vec<FilePath>, FilesError> {
    let mut kept = Vec::new();
    // What goes makes room first: a file may take the name of a folder that is emptied here.
    let (gone, written): (Vec<&Swap<'_>>, Vec<_>) =
        swaps.iter().partition(|swap| swap.change.new.is_none());
    for swap in gone.into_iter().chain(written) {
        if swap.make()? == Swapped::Kept {
            kept.push(swap.change.path.clone());
        }
    }
    if work.folder.is_power_safe() {
        let folders = swap::folders_of(work.folder, swaps.iter().map(|swap| &swap.change.path));
        atomic::sync(&folders)
            .map_err(FilesError::io("bring files to disk in", work.folder.root()))?;
    }
    Ok(kept)
}

/// The commit by which the intent is part of the history already, if it is.
fn landed(work: &Work<'_>, intent: Intent) -> Result<Option<ObjectId>, FilesError> {
    let head = work.branch()?.commit()?;
    let Some(head) = head.filter(|_| head != intent.base) else {
        return Ok(None);
    };
    let failed = || FilesError::git("read the history", work.folder.root());
    let trailer = format!("{STEAD_TRAILER}{}", intent.new);
    let start = work.repo.find_commit(head).map_err(failed())?;
    for ancestor in start
        .ancestors()
        .all()
        .map_err(failed())?
        .take(MAX_LOOK_BACK)
    {
        let id = ancestor.map_err(failed())?.id;
        let commit = work.repo.find_commit(id).map_err(failed())?;
        let message = commit.message_raw_sloppy();
        if id == intent.new
            || message
                .split(|byte| *byte == b'\n')
                .any(|line| line == trailer.as_bytes())
        {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Moves the branch to the new commit, or to one like it on top of where a person has put the branch.
fn land(work: &Work<'_>, intent: Intent, changes: &[Change]) -> Result<ObjectId, FilesError> {
    let failed = || FilesError::git("read a commit", work.folder.root());
    let planned = work.repo.find_commit(intent.new).map_err(failed())?;
    let message = planned.message_raw_sloppy().to_string();
    let time = planned.time().map_err(failed())?;
    let who = engine_signature_at(time);
    for _ in 0..MAX_ATTEMPTS {
        let head = work.branch()?.commit()?;
        let landed = if head == intent.base {
            match work.branch()?.advance(head, intent.new, &who, &message)? {
                Moved::Done => Some(intent.new),
                Moved::Elsewhere => None,
            }
        } else {
            let message = format!("{}\n\n{STEAD_TRAILER}{}", message.trim_end(), intent.new);
            work.commit(
                &work.head()?,
                work.staging(StagedFor::Now),
                changes,
                &who,
                &message,
            )?
        };
        if let Some(commit) = landed {
            return Ok(commit);
        }
    }
    Err(work.gave_up())
}

/// Commits the edits that still wait beside their place. What cannot be committed is put where a
/// person can find it: `.git/daybook/kept/`.
fn keep_strays(work: &Work<'_>, intent: Intent, swaps: &[Swap<'_>]) -> Result<(), FilesError> {
    let mut strays = Vec::new();
    for swap in swaps {
        match swap.stray()? {
            None => {}
            Some(Standing::File(_)) => strays.push(swap),
            Some(Standing::Other | Standing::Nothing) => keep_aside(work, intent, swap)?,
        }
    }
    if strays.is_empty() {
        return Ok(());
    }
    work.folder.reach(Step::KeepStray)?;
    for _ in 0..MAX_ATTEMPTS {
        let head = work.head()?;
        let mut staging = work.staging(StagedFor::Now);
        let mut changes = Vec::new();
        for swap in &strays {
            let failed = || FilesError::io("read", swap.waiting());
            let limit = work.folder.config().max_file_bytes;
            if let Some(bytes) = read_private(&swap.waiting(), limit).map_err(failed())? {
                let path = swap.change.path.clone();
                let base = head.tree.files.get(&path).map(|file| file.id);
                changes.push(Change {
                    path,
                    base,
                    new: Some(staging.put_blob(&bytes)?),
                });
            }
        }
        let message = "Keep an edit made while memory was written";
        if work
            .commit(
                &head,
                staging,
                &changes,
                &work.stamp.person_signature(),
                message,
            )?
            .is_some()
        {
            return strays.iter().try_for_each(|swap| {
                atomic::remove(&swap.waiting()).map_err(FilesError::io("remove", swap.waiting()))
            });
        }
    }
    Err(work.gave_up())
}

fn keep_aside(work: &Work<'_>, intent: Intent, swap: &Swap<'_>) -> Result<(), FilesError> {
    let kept = work.folder.private("kept");
    fs::create_dir_all(&kept).map_err(FilesError::io("create", &kept))?;
    let mut place = kept.join(format!("{}-{}", intent.new, swap.number));
    while stat_of(&place).is_ok() {
        place.as_mut_os_string().push("+");
    }
    fs::rename(swap.waiting(), &place).map_err(FilesError::io("keep", place))
}

#[cfg(test)]
#[path = "recover_tests.rs"]
mod tests;
