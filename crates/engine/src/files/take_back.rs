//! Takes changes of memory files back: those of one commit, or all since one.
//!
//! History only grows: the result is a new commit. What it means for the memory follows from it as from any change
//! that a person makes (`persons_changes`); what no file shows is recorded in the commit's message, as
//! [`MemoryTrailer`]s.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::ObservationId;

use super::changes::FileChanges;
use super::entry::{EntryId, PageBlock, parse_blocks};
use super::error::FilesError;
use super::folder::Folder;
use super::history::{BlobId, Commit, CommitHash};
use super::path::FilePath;
use super::shared::union;
use super::states::SEARCHED_COMMITS;
use super::write::FolderSnapshot;

/// A line of a commit's message about an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryTrailer {
    /// It was withdrawn.
    Forgot(ObservationId),
    /// It was reinstated.
    Remembered(ObservationId),
}

const FORGOT: &str = "Forgot: ";
const REMEMBERED: &str = "Remembered: ";

impl MemoryTrailer {
    /// The line.
    #[must_use]
    pub fn line(self) -> String {
        match self {
            Self::Forgot(id) => format!("{FORGOT}{id}"),
            Self::Remembered(id) => format!("{REMEMBERED}{id}"),
        }
    }

    /// What takes it back.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self {
            Self::Forgot(id) => Self::Remembered(id),
            Self::Remembered(id) => Self::Forgot(id),
        }
    }

    fn id(self) -> ObservationId {
        match self {
            Self::Forgot(id) | Self::Remembered(id) => id,
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let id = |digits: &str| Some(ObservationId(u64::from_str_radix(digits.trim(), 16).ok()?));
        match (line.strip_prefix(FORGOT), line.strip_prefix(REMEMBERED)) {
            (Some(digits), _) => Some(Self::Forgot(id(digits)?)),
            (None, Some(digits)) => Some(Self::Remembered(id(digits)?)),
            (None, None) => None,
        }
    }
}

impl Folder {
    /// What a commit did to observations.
    ///
    /// # Errors
    /// If the history is damaged, like everything below.
    pub fn trailers(&self, commit: CommitHash) -> Result<Vec<MemoryTrailer>, FilesError> {
        let message = self.message(commit)?;
        Ok(message.lines().filter_map(MemoryTrailer::parse).collect())
    }

    /// What takes back all that commits after `target` did to observations.
    pub fn trailers_back_to(&self, target: CommitHash) -> Result<Vec<MemoryTrailer>, FilesError> {
        let mut first: Vec<MemoryTrailer> = Vec::new();
        let commits = self.log(SEARCHED_COMMITS)?;
        for commit in commits.iter().take_while(|commit| commit.id != target) {
            for trailer in self.trailers(commit.id)? {
                // The oldest one decides what held at the target.
                first.retain(|later| later.id() != trailer.id());
                first.push(trailer);
            }
        }
        Ok(first.into_iter().map(MemoryTrailer::inverse).collect())
    }
}

/// The changes that take back what `target` changed, and nothing else: what was changed again since stays.
///
/// # Errors
/// If the history is damaged.
pub fn undo_changes(
    folder: &Folder,
    snapshot: &FolderSnapshot<'_>,
    target: &Commit,
) -> Result<FileChanges, FilesError> {
    let parent = target.parents.first().copied();
    let mut changes = FileChanges::none();
    for diff in folder.diff(parent, Some(target.id))? {
        let path = diff.path;
        if snapshot.skipped_at(&path).is_some() {
            continue;
        }
        let was = match parent {
            Some(parent) => folder.read_at(parent, &path)?,
            None => None,
        };
        let made = folder.read_at(target.id, &path)?;
        let now = snapshot.read(&path)?;
        match taken_back(made, now.clone(), was) {
            after if after == now => {}
            Some(bytes) => changes.write(path, bytes),
            None => changes.delete(path),
        }
    }
    Ok(changes)
}

/// A file without the change from `was` to `made`.
fn taken_back(
    made: Option<Vec<u8>>,
    now: Option<Vec<u8>>,
    was: Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    if now == made {
        return was;
    }
    // A file that was deleted or created again since is another one.
    let (Some(base), Some(ours)) = (made, now.clone()) else {
        return now;
    };
    let theirs = was.unwrap_or_default();
    let texts = [base, ours, theirs].map(String::from_utf8);
    let [Ok(base), Ok(ours), Ok(theirs)] = texts else {
        return now;
    };
    let theirs = without_changed_since(&base, &ours, &theirs);
    Some(union(&base, &ours, &theirs).into_bytes()).filter(|bytes| !bytes.is_empty())
}

/// `theirs` without the entries that a person changed from `base` to `ours`: their words stand for the entry.
fn without_changed_since(base: &str, ours: &str, theirs: &str) -> String {
    let altered = |text: &str| -> BTreeMap<EntryId, String> {
        let blocks = parse_blocks(text).into_iter();
        let altered = blocks.filter_map(|block| match block {
            PageBlock::Altered(marker, held) => Some((marker.id(), held.concat())),
            PageBlock::Ours(..)
            | PageBlock::Pinned(..)
            | PageBlock::Heading(..)
            | PageBlock::Other(_) => None,
        });
        altered.collect()
    };
    let (before, since) = (altered(base), altered(ours));
    let is_changed = |id: &EntryId| since.contains_key(id) && since.get(id) != before.get(id);
    let kept = parse_blocks(theirs)
        .into_iter()
        .filter_map(|block| match block {
            PageBlock::Ours(marker, held)
            | PageBlock::Pinned(marker, held)
            | PageBlock::Altered(marker, held) => {
                (!is_changed(&marker.id())).then(|| held.concat())
            }
            PageBlock::Heading(_, line) | PageBlock::Other(line) => Some(line.to_owned()),
        });
    kept.collect()
}

/// The changes that bring all files to their state in `target`.
///
/// # Errors
/// If the history is damaged.
pub fn restore_changes(
    folder: &Folder,
    snapshot: &FolderSnapshot<'_>,
    target: CommitHash,
) -> Result<FileChanges, FilesError> {
    let wanted = folder.files_at(target)?;
    let present: BTreeSet<(FilePath, BlobId)> = snapshot
        .files()
        .map(|(path, blob)| (path.clone(), blob))
        .collect();
    let mut changes = FileChanges::none();
    for (path, blob) in &present {
        match wanted.get(path) {
            Some(then) if then == blob => {}
            Some(_) => {}
            None => changes.delete(path.clone()),
        }
    }
    for (path, blob) in wanted {
        if !present.contains(&(path.clone(), blob))
            && let Some(bytes) = folder.read_at(target, &path)?
        {
            changes.write(path, bytes);
        }
    }
    changes.retain(|path| snapshot.skipped_at(path).is_none());
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(was: &str, made: &str, now: &str, expected: &str) {
        let file = |text: &str| (!text.is_empty()).then(|| text.replace(' ', "\n").into_bytes());
        let text = |bytes: Option<Vec<u8>>| {
            let text = bytes.map(|bytes| String::from_utf8(bytes).unwrap());
            text.unwrap_or_default().replace('\n', " ")
        };
        let after = taken_back(file(made), file(now), file(was));
        assert_eq!(text(after), expected, "{was} → {made} → {now}");
    }

    #[test]
    fn a_change_is_taken_back_and_what_came_since_stays() {
        check("a b ", "a x b ", "a x b ", "a b ");
        check("a b ", "a x b ", "a x b mine ", "a b mine ");
        check("a old b ", "a new b ", "mine a new b ", "mine a old b ");
        check("a b c ", "a c ", "a c mine ", "a b c mine ");
        check("", "a b ", "a b ", "");
        check("", "a b ", "a b mine ", "mine ");
        check("a ", "", "", "a ");
    }

    #[test]
    fn what_was_changed_again_since_stays_as_it_is() {
        check("a old b ", "a new b ", "a mine b ", "a mine old b ");
        check("a b ", "a x b ", "a y b ", "a y b ");
        check("a ", "", "new ", "new ");
        check("a ", "b ", "", "");
    }
}
