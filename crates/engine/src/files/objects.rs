//! New blobs, trees and commits on their way into the history.
//!
//! git's rule that an object, once it has its name, never changes makes a torn one permanent: a
//! later write of the same text would find the name taken. So objects are staged in a folder of ours,
//! brought to disk together, and only then given their names.
//!
//! There are two such folders. What is staged for an intent keeps until the intent is carried out,
//! which begins by publishing it. Everything else that a stopped writer leaves staged is garbage.
//!
//! Not here: what goes into a tree or a commit's message.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::{FindHeader as _, Kind, WriteTo};
use gix::zlib::Compression;
use gix::zlib::stream::deflate;

use super::atomic;
use super::error::FilesError;
use super::folder::Folder;
use super::refused::WhySkipped;
use super::steps::Step;
use crate::bounded::Refusal;

/// Longest text of a file that is read from the history, in bytes: a person may have committed any.
const MAX_BLOB_BYTES: u64 = 64 * 1024 * 1024;

/// What objects are staged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StagedFor {
    /// An intent, which may be carried out by another process.
    Intent,
    /// A commit that this process makes next, or nobody.
    Now,
}

impl StagedFor {
    fn folder_name(self) -> &'static str {
        match self {
            Self::Intent => "promised",
            Self::Now => "objects",
        }
    }

    fn place(self, folder: &Folder) -> PathBuf {
        folder.private(self.folder_name())
    }
}

/// Objects that are not in the history yet.
pub(super) struct Staging<'a> {
    folder: &'a Folder,
    repo: &'a gix::Repository,
    purpose: StagedFor,
    staged: BTreeSet<ObjectId>,
    /// Files of other kinds that must reach the disk together with the objects.
    also: Vec<PathBuf>,
}

impl<'a> Staging<'a> {
    pub(super) fn new(folder: &'a Folder, repo: &'a gix::Repository, purpose: StagedFor) -> Self {
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
        if is_known(self.repo, id) {
            return Ok(id);
        }
        self.put_anew(kind, bytes)
    }

    /// Stages an object even if the history has it: it takes the place of one that cannot be read.
    pub(super) fn put_anew(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, FilesError> {
        let id = hash(self.folder, kind, bytes)?;
        if !self.staged.contains(&id) {
            let place = self.place_of(id);
            write_loose(&place, kind, bytes).map_err(FilesError::io("write", place))?;
            self.staged.insert(id);
        }
        Ok(id)
    }

    /// Has `bring_to_disk` wait for one more file; waiting for many at once is cheaper.
    pub(super) fn wait_also_for(&mut self, path: PathBuf) {
        self.also.push(path);
    }

    /// Waits until everything staged, and its folder, is on disk.
    pub(super) fn bring_to_disk(&self) -> Result<(), FilesError> {
        self.folder.reach(Step::BringToDisk)?;
        let mut waits: Vec<_> = self.staged.iter().map(|id| self.place_of(*id)).collect();
        waits.extend(self.also.iter().cloned());
        waits.push(self.purpose.place(self.folder));
        atomic::sync(&waits).map_err(FilesError::io(
            "bring a commit to disk in",
            self.folder.root(),
        ))
    }

    /// Brings everything staged to disk and makes it part of the history.
    pub(super) fn publish(self) -> Result<(), FilesError> {
        self.bring_to_disk()?;
        publish(self.folder, self.repo, self.purpose)
    }

    fn place_of(&self, id: ObjectId) -> PathBuf {
        self.purpose.place(self.folder).join(id.to_string())
    }
}

/// Whether an object is in the history.
// A name alone proves nothing: git may have been cut off by a power failure after giving it.
// An object that does not even open is written again, over the broken one. (Asked of the store:
// the repository pretends to have the empty tree, which `git fsck` then misses.)
pub(super) fn is_known(repo: &gix::Repository, id: ObjectId) -> bool {
    matches!(repo.objects.try_header(&id), Ok(Some(_)))
}

/// Makes all that is staged for `purpose`, by whomever, part of the history. It is on disk.
pub(super) fn publish(
    folder: &Folder,
    repo: &gix::Repository,
    purpose: StagedFor,
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
        folder.reach(Step::PublishObject)?;
        let parent = objects.join(first);
        move_into(&staged, &parent, rest).map_err(failed("add an object to"))?;
        changed.insert(parent);
    }
    if folder.is_power_safe() && changed.len() > 1 {
        atomic::sync(&Vec::from_iter(changed)).map_err(failed("bring objects to disk in"))?;
    }
    Ok(())
}

/// Removes what is staged. Only under the writer lock, and only when no intent is recorded.
pub(super) fn clear_staged(folder: &Folder) -> Result<(), FilesError> {
    for purpose in [StagedFor::Intent, StagedFor::Now] {
        let place = purpose.place(folder);
        atomic::empty(&place).map_err(FilesError::io("clear", place))?;
    }
    Ok(())
}

/// The name that git gives to `bytes`.
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

/// Refuses an object whose file is no regular one: a pipe would be waited for.
fn check_object(folder: &Folder, repo: &gix::Repository, id: ObjectId) -> Result<(), FilesError> {
    let (name, objects) = (id.to_string(), repo.objects.store_ref().path());
    let path = objects.join(&name[..2]).join(&name[2..]);
    match fs::symlink_metadata(&path).map(|found| Refusal::of_kind(found.file_type())) {
        Ok(Some(why)) => Err(FilesError::Refused {
            path,
            why: WhySkipped::Refused(why),
        }),
        Ok(None) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(FilesError::io("look at an object of", folder.root())(error)),
    }
}

/// Writes an object as git does, but at a place of our choice.
fn write_loose(place: &Path, kind: Kind, bytes: &[u8]) -> io::Result<()> {
    // Objects are read-only, so one that was left there cannot be written over.
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
