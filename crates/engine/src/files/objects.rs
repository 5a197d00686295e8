//! Stages new blobs, trees and commits before they become part of the history.
//!
//! git's rule that an object, once it has its name, never changes makes a torn one permanent: a later write
//! of the same text would find the name in use. So objects are staged in a private folder, brought to disk
//! together, and only then given their names.
//!
//! There are two such folders. Objects staged for an intent remain until the intent is applied, which
//! begins by publishing them. All other objects that a stopped writer leaves staged are garbage.
//!
//! Not here: the contents of a tree, or of a commit's message.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::{FindHeader as _, Kind, WriteTo};
use gix::zlib::Compression;
use gix::zlib::stream::deflate;

use super::atomic;
use super::error::{FilesError, SkipReason};
use super::folder::Folder;
use super::steps::WriteStep;
use crate::bounded::FileRefusal;

/// Longest file that is read from the history, in bytes: a person may have committed any.
const MAX_BLOB_BYTES: u64 = 64 * 1024 * 1024;

/// What objects are staged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StagingPurpose {
    /// An intent, which another process may apply.
    Intent,
    /// A commit that this process makes next; useless to any other.
    Now,
}

impl StagingPurpose {
    fn folder_name(self) -> &'static str {
        match self {
            Self::Intent => "promised",
            Self::Now => "objects",
        }
    }

    fn place(self, folder: &Folder) -> PathBuf {
        folder.private_path(self.folder_name())
    }
}

/// Objects that are staged and not yet in the history.
pub(super) struct Staging<'a> {
    folder: &'a Folder,
    repo: &'a gix::Repository,
    purpose: StagingPurpose,
    staged: BTreeSet<ObjectId>,
    /// Files of other kinds that must reach the disk together with the objects.
    also: Vec<PathBuf>,
}

impl<'a> Staging<'a> {
    pub(super) fn new(
        folder: &'a Folder,
        repo: &'a gix::Repository,
        purpose: StagingPurpose,
    ) -> Self {
        Self {
            folder,
            repo,
            purpose,
            staged: BTreeSet::new(),
            also: Vec::new(),
        }
    }

    pub(super) fn folder(&self) -> &'a Folder {
        self.folder
    }

    pub(super) fn put_blob(&mut self, bytes: &[u8]) -> Result<ObjectId, FilesError> {
        self.put(Kind::Blob, bytes)
    }

    pub(super) fn put_object(&mut self, object: &dyn WriteTo) -> Result<ObjectId, FilesError> {
        let mut bytes = Vec::new();
        let encoded = object.write_to(&mut bytes);
        encoded.map_err(FilesError::io("encode an object for", self.folder.root()))?;
        self.put(object.kind(), &bytes)
    }

    pub(super) fn put(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, FilesError> {
        let id = hash(self.folder, kind, bytes)?;
        if has_object(self.repo, id) {
            return Ok(id);
        }
        self.put_replacing(kind, bytes)
    }

    /// Stages an object even if the history has it, to replace one that cannot be read.
    pub(super) fn put_replacing(
        &mut self,
        kind: Kind,
        bytes: &[u8],
    ) -> Result<ObjectId, FilesError> {
        let id = hash(self.folder, kind, bytes)?;
        if !self.staged.contains(&id) {
            let place = self.place_of(id);
            write_loose(&place, kind, bytes).map_err(FilesError::io("write", place))?;
            self.staged.insert(id);
        }
        Ok(id)
    }

    /// Adds a file that `sync_to_disk` waits for; waiting for many at once is cheaper.
    pub(super) fn sync_also(&mut self, path: PathBuf) {
        self.also.push(path);
    }

    /// Waits until all staged objects, and their folder, are on disk.
    pub(super) fn sync_to_disk(&self) -> Result<(), FilesError> {
        self.folder.reach(WriteStep::SyncToDisk)?;
        let mut waits: Vec<_> = self.staged.iter().map(|id| self.place_of(*id)).collect();
        waits.extend(self.also.iter().cloned());
        waits.push(self.purpose.place(self.folder));
        atomic::sync(&waits).map_err(FilesError::io(
            "bring a commit to disk in",
            self.folder.root(),
        ))
    }

    /// Brings all staged objects to disk and adds them to the history.
    pub(super) fn publish(self) -> Result<(), FilesError> {
        self.sync_to_disk()?;
        publish(self.folder, self.repo, self.purpose)
    }

    fn place_of(&self, id: ObjectId) -> PathBuf {
        self.purpose.place(self.folder).join(id.to_string())
    }
}

/// Whether an object is in the history.
// A name alone proves nothing: git may have been interrupted by a power failure after giving it. An object
// that does not even open is written again, over the broken one. (This checks the object store: the
// repository pretends to have the empty tree, which `git fsck` then misses.)
pub(super) fn has_object(repo: &gix::Repository, id: ObjectId) -> bool {
    matches!(repo.objects.try_header(&id), Ok(Some(_)))
}

/// Adds all objects staged for `purpose`, by any process, to the history. They must be on disk.
pub(super) fn publish(
    folder: &Folder,
    repo: &gix::Repository,
    purpose: StagingPurpose,
) -> Result<(), FilesError> {
    let failed = |doing| FilesError::io(doing, folder.root());
    let objects = repo.objects.store_ref().path();
    let mut changed = BTreeSet::from([objects.to_owned()]);
    for staged in atomic::list(&purpose.place(folder)).map_err(failed("list the new objects of"))? {
        let name = staged
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let Some((first, rest)) = name.split_at_checked(2).filter(|_| name.len() == 40) else {
            continue;
        };
        folder.reach(WriteStep::PublishObject)?;
        let parent = objects.join(first);
        move_into(&staged, &parent, rest).map_err(failed("add an object to"))?;
        changed.insert(parent);
    }
    if folder.is_power_safe() && changed.len() > 1 {
        atomic::sync(&Vec::from_iter(changed)).map_err(failed("bring objects to disk in"))?;
    }
    Ok(())
}

/// Removes all staged objects. Only under the writer lock, and only when no intent is recorded.
pub(super) fn clear_staged_objects(folder: &Folder) -> Result<(), FilesError> {
    for purpose in [StagingPurpose::Intent, StagingPurpose::Now] {
        let place = purpose.place(folder);
        atomic::empty(&place).map_err(FilesError::io("clear", place))?;
    }
    Ok(())
}

/// The object id that git gives to `bytes`.
pub(super) fn hash(folder: &Folder, kind: Kind, bytes: &[u8]) -> Result<ObjectId, FilesError> {
    gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, bytes)
        .map_err(FilesError::git("name an object", folder.root()))
}

/// Reads a whole blob.
pub(super) fn read_blob(
    folder: &Folder,
    repo: &gix::Repository,
    id: ObjectId,
) -> Result<Vec<u8>, FilesError> {
    let failed = || FilesError::git("read a file's history", folder.root());
    check_object(folder, repo, id)?;
    let size = repo.find_header(id).map_err(failed())?.size();
    if size > MAX_BLOB_BYTES {
        let limit = MAX_BLOB_BYTES;
        return Err(FilesError::TooLarge {
            path: id.to_string(),
            bytes: size,
            limit,
        });
    }
    repo.find_blob(id)
        .map(|mut blob| blob.take_data())
        .map_err(failed())
}

/// Refuses an object whose file is not a regular file: reading a pipe would block.
fn check_object(folder: &Folder, repo: &gix::Repository, id: ObjectId) -> Result<(), FilesError> {
    let (name, objects) = (id.to_string(), repo.objects.store_ref().path());
    let path = objects.join(&name[..2]).join(&name[2..]);
    match fs::symlink_metadata(&path).map(|found| FileRefusal::of_kind(found.file_type())) {
        Ok(Some(why)) => Err(FilesError::Refused {
            path,
            why: SkipReason::Refused(why),
        }),
        Ok(None) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(FilesError::io("look at an object of", folder.root())(error)),
    }
}

/// Writes an object in git's format at `place`.
fn write_loose(place: &Path, kind: Kind, bytes: &[u8]) -> io::Result<()> {
    // Objects are read-only, so a leftover one cannot be overwritten.
    atomic::remove(place)?;
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o444);
    let mut packed = deflate::Write::new(options.open(place)?, Compression::BEST_SPEED);
    packed.write_all(&gix::objs::encode::loose_header(kind, bytes.len() as u64))?;
    packed.write_all(bytes)?;
    packed.flush()
}

fn move_into(from: &Path, folder: &Path, name: &str) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    fs::rename(from, folder.join(name))
}
