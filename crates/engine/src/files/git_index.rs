//! Reads and writes git's index: keeps a person's `git status` clean after a write, and lets scans skip
//! unchanged files.
//!
//! The index is a cache in two ways. For git it holds what will be committed next; after a write that is
//! HEAD, because a write commits whatever is in the work tree. For scans it holds which file, by its size,
//! times and inode, had which content. A lost or foreign index costs time, never an edit, so every failure
//! to read it means "no index".
//!
//! A stored stat must never stand for content that came later. A file changed twice within one tick of the
//! file system's clock looks the same after both, so a stat is stored only for a file that was last changed
//! before its content was read, by the file system's own clock; and, as in git, it is trusted only if it is
//! older than the index that holds it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::{BStr, BString};
use gix::index::entry::stat::{Options, Time};
use gix::index::entry::{Flags, Mode, Stage, Stat};

use super::error::FilesError;
use super::folder::Folder;
use super::git_lock::{self, GitReplaceOutcome};
use super::path::FilePath;
use super::tree::{TreeFiles, our_path};

const STAT_RULES: Options = Options {
    trust_ctime: true,
    check_stat: true,
    use_nsec: true,
    use_stdev: false,
};

/// The flags of an entry that the index stores and that change what git does with it.
const PERSISTED: Flags = Flags::STAGE_MASK
    .union(Flags::INTENT_TO_ADD)
    .union(Flags::SKIP_WORKTREE)
    .union(Flags::ASSUME_VALID);

/// A file as a scan of the work tree found it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScannedFile {
    pub(super) id: ObjectId,
    /// Set if it proves the content unchanged.
    pub(super) stat: Option<Stat>,
}

/// The index as it was when a write began.
pub(super) struct GitIndex(Option<gix::index::File>);

impl GitIndex {
    pub(super) fn read(folder: &Folder) -> Self {
        let path = folder.git_dir().join("index");
        let options = gix::index::decode::Options {
            thread_limit: Some(1),
            ..Default::default()
        };
        Self(gix::index::File::at(path, gix::hash::Kind::Sha1, false, options).ok())
    }

    /// The content id of the file at `path`, if its stat proves that it has not changed.
    pub(super) fn unchanged_id(&self, path: &str, stat: &Stat) -> Option<ObjectId> {
        let index = self.0.as_ref()?;
        let entry = index.entry_by_path_and_stage(BStr::new(path), Stage::Unconflicted)?;
        let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
        let is_tracked = !entry
            .flags
            .intersects(Flags::INTENT_TO_ADD | Flags::SKIP_WORKTREE | Flags::ASSUME_VALID);
        let is_same = entry.stat.matches(stat, STAT_RULES)
            && !entry.stat.is_racy(index.timestamp(), STAT_RULES);
        (is_file && is_tracked && is_same).then_some(entry.id)
    }

    /// Rewrites the index to match `head`, if it does not. A person's staged edits are in `head` by now;
    /// what they staged of foreign files stays staged.
    ///
    /// While a git command holds the index, it is left as it is, and the next write corrects it. Until then
    /// `git status` shows this write as a staged change in reverse.
    pub(super) fn match_head(
        folder: &Folder,
        head: &TreeFiles,
        scanned: &BTreeMap<FilePath, ScannedFile>,
    ) -> Result<(), FilesError> {
        // Read again: the person may have staged a foreign file since the write began.
        let present = Self::read(folder);
        if present.is_head(head) {
            return Ok(());
        }
        let wanted = present.wanted_entries(head, scanned);
        if present.matches(&wanted) {
            return Ok(());
        }
        let bytes = encode(&wanted).map_err(FilesError::git("write the index", folder.root()))?;
        let sync = folder.is_power_safe();
        match git_lock::replace(folder, Path::new("index"), &bytes, sync, || Ok(true))? {
            GitReplaceOutcome::Done
            | GitReplaceOutcome::Refused
            | GitReplaceOutcome::HeldByGit(_) => Ok(()),
        }
    }

    fn wanted_entries(
        &self,
        head: &TreeFiles,
        scanned: &BTreeMap<FilePath, ScannedFile>,
    ) -> Vec<GitIndexEntry> {
        let mut entries = self.foreign_entries(head);
        for (path, file) in &head.files {
            let seen = scanned.get(path).filter(|seen| seen.id == file.id);
            entries.push(GitIndexEntry {
                path: path.as_str().into(),
                id: file.id,
                mode: file.kind.into(),
                flags: Flags::empty(),
                // A file without a stat is read once more, by git and by the next scan, which is always
                // correct.
                stat: seen.and_then(|seen| seen.stat).unwrap_or_default(),
            });
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        entries
    }

    fn foreign_entries(&self, head: &TreeFiles) -> Vec<GitIndexEntry> {
        let taken: BTreeSet<&str> = head
            .files
            .keys()
            .flat_map(|path| path.folders().chain([path.as_str()]))
            .collect();
        let is_free = |path: &BString| {
            let text = String::from_utf8_lossy(path);
            let has_file_above = text.match_indices('/').any(|(end, _)| {
                our_path(BStr::new(&text[..end]))
                    .is_some_and(|above| head.files.contains_key(&above))
            });
            !taken.contains(&*text) && !has_file_above
        };
        let all = match &self.0 {
            Some(index) => index
                .entries()
                .iter()
                .filter_map(|entry| foreign_entry(index, entry))
                .collect(),
            None => head
                .foreign
                .iter()
                .map(GitIndexEntry::of_foreign)
                .collect::<Vec<_>>(),
        };
        all.into_iter()
            .filter(|entry| is_free(&entry.path))
            .collect()
    }

    /// Whether the stored index holds exactly the memory files of `head`: what most writes find.
    fn is_head(&self, head: &TreeFiles) -> bool {
        let Some(index) = self.0.as_ref().filter(|_| head.foreign.is_empty()) else {
            return false;
        };
        let entries = index.entries().iter();
        index.entries().len() == head.files.len()
            && entries.zip(&head.files).all(|(entry, (path, file))| {
                entry.path(index) == path.as_str()
                    && (entry.id, entry.mode) == (file.id, Mode::from(file.kind))
                    && !entry.flags.intersects(PERSISTED)
            })
    }

    /// Whether the stored index has the same content. Better stats alone are not worth a rewrite.
    fn matches(&self, wanted: &[GitIndexEntry]) -> bool {
        let Some(index) = &self.0 else {
            return wanted.is_empty();
        };
        index.entries().len() == wanted.len()
            && index.entries().iter().zip(wanted).all(|(entry, wanted)| {
                entry.path(index) == wanted.path
                    && (entry.id, entry.mode) == (wanted.id, wanted.mode)
                    && (entry.flags & PERSISTED) == (wanted.flags & PERSISTED)
            })
    }
}

struct GitIndexEntry {
    path: BString,
    id: ObjectId,
    mode: Mode,
    flags: Flags,
    stat: Stat,
}

impl GitIndexEntry {
    fn of_foreign(foreign: &super::tree::ForeignEntry) -> Self {
        Self {
            path: foreign.path.clone(),
            id: foreign.id,
            mode: foreign.kind.into(),
            flags: Flags::empty(),
            stat: Stat::default(),
        }
    }
}

/// An index entry that is not the engine's; `None` for a memory file, or for one side of a conflict.
fn foreign_entry(index: &gix::index::File, entry: &gix::index::Entry) -> Option<GitIndexEntry> {
    let path = entry.path(index);
    let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
    if entry.stage() != Stage::Unconflicted || (is_file && our_path(path).is_some()) {
        return None;
    }
    Some(GitIndexEntry {
        path: path.to_owned(),
        id: entry.id,
        mode: entry.mode,
        flags: entry.flags,
        stat: entry.stat,
    })
}

fn encode(entries: &[GitIndexEntry]) -> gix::Result<Vec<u8>> {
    let mut state = gix::index::State::new(gix::hash::Kind::Sha1);
    for entry in entries {
        state.dangerously_push_entry(
            entry.stat,
            entry.id,
            entry.flags,
            entry.mode,
            entry.path.as_ref(),
        );
    }
    let mut bytes = Vec::new();
    let options = gix::index::write::Options {
        extensions: gix::index::write::Extensions::None,
        skip_hash: false,
    };
    gix::index::File::from_state(state, "index").write_to(&mut bytes, options)?;
    Ok(bytes)
}

/// The file system's present time: the modification time of a file written just now.
pub(super) fn file_system_now(folder: &Folder) -> Result<Time, FilesError> {
    let path = folder.private_path("clock");
    let failed = || FilesError::io("read the disk's clock at", &path);
    // Not truncated: some file systems treat a truncated file as one that is about to be replaced, and wait
    // for the disk.
    let clock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path);
    let written = clock.and_then(|mut clock| clock.write_all(b"."));
    written
        .and_then(|()| stat_of(&path))
        .map(|stat| stat.mtime)
        .map_err(failed())
}

/// The stat of the entry at `path`; symbolic links are not followed.
pub(super) fn stat_of(path: &Path) -> std::io::Result<Stat> {
    let found = gix::index::fs::Metadata::from_path_no_follow(path)?;
    Stat::from_fs(&found).map_err(std::io::Error::other)
}

/// [`stat_of`] an entry of a folder that is being read. The system looks its name up in the open folder, and not the
/// whole path again.
#[cfg(unix)]
pub(super) fn stat_in_folder(entry: &std::fs::DirEntry) -> std::io::Result<Stat> {
    use std::os::unix::fs::MetadataExt;
    let found = entry.metadata()?;
    let time = |seconds: i64, nanoseconds: i64| match u32::try_from(seconds) {
        Ok(secs) => Time {
            secs,
            nsecs: nanoseconds as u32,
        },
        Err(_) => Time::default(),
    };
    Ok(Stat {
        mtime: time(found.mtime(), found.mtime_nsec()),
        ctime: time(found.ctime(), found.ctime_nsec()),
        // Cut to 32 bits, as git does.
        dev: found.dev() as u32,
        ino: found.ino() as u32,
        uid: found.uid(),
        gid: found.gid(),
        size: found.len() as u32,
    })
}

/// [`stat_of`] an entry of a folder that is being read.
#[cfg(not(unix))]
pub(super) fn stat_in_folder(entry: &std::fs::DirEntry) -> std::io::Result<Stat> {
    stat_of(&entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gix::objs::tree::EntryKind;

    #[test]
    fn a_stat_is_the_same_by_path_and_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.md"), "text").unwrap();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let entry = entry.unwrap();
            let in_folder = stat_in_folder(&entry).unwrap();
            assert_eq!(in_folder, stat_of(&entry.path()).unwrap());
            assert_eq!(in_folder.size, 4);
        }
    }

    #[test]
    fn entry_kinds_become_the_modes_that_git_expects() {
        let modes = [
            EntryKind::Blob,
            EntryKind::BlobExecutable,
            EntryKind::Link,
            EntryKind::Commit,
        ]
        .map(Mode::from);
        assert_eq!(
            modes,
            [
                Mode::FILE,
                Mode::FILE_EXECUTABLE,
                Mode::SYMLINK,
                Mode::COMMIT
            ]
        );
    }
}
