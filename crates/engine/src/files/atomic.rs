//! Atomic file operations, and waiting until their effects are on disk.
//!
//! Not here: what the files mean.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Most threads that wait for the disk at once. File systems merge waits that arrive together, so ten files
/// cost little more than one; more than a handful of threads gains nothing.
const SYNC_THREADS: usize = 8;

/// Exchanges two files in one step. `false` where the file system cannot.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    rename_with(a, b, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Moves a file to a path where no file exists. `false` if one exists, and then nothing is moved.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<bool> {
    let moved = match try_rename_new(from, to) {
        Ok(true) => Ok(()),
        // A kill between these two leaves both names, which every caller treats as "not moved".
        Ok(false) => fs::hard_link(from, to).and_then(|()| fs::remove_file(from)),
        Err(error) => Err(error),
    };
    match moved {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn try_rename_new(from: &Path, to: &Path) -> io::Result<bool> {
    rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn try_rename_new(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_with(a: &Path, b: &Path, flags: rustix::fs::RenameFlags) -> io::Result<bool> {
    use rustix::fs::{CWD, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, a, CWD, b, flags) {
        Ok(()) => Ok(true),
        // Some systems give the last two one number, so they cannot be patterns side by side.
        Err(error)
            if [Errno::NOSYS, Errno::INVAL, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&error) =>
        {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// Removes a file. A missing file is not an error.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Longest file of Daybook or git that is read inside `.git`, in bytes: an index names every file of the
/// folder.
const PRIVATE_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a file inside `.git`; `None` if it is missing.
pub(super) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    super::reader::read_private(path, PRIVATE_BYTES)
}

/// Writes a private file that is later moved into place. A file or link at `path` is removed first: a link
/// is not written through.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    remove(path)?;
    io::Write::write_all(&mut File::create_new(path)?, bytes)
}

/// Paths of a folder's entries; empty if the folder is missing.
pub(super) fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Removes all entries of a folder.
pub(super) fn empty(folder: &Path) -> io::Result<()> {
    for place in list(folder)? {
        if fs::symlink_metadata(&place)?.is_dir() {
            fs::remove_dir_all(place)?;
        } else {
            fs::remove_file(place)?;
        }
    }
    Ok(())
}

/// Waits until all `paths`, files or folders, are on disk. Read-only files are allowed.
pub(super) fn sync(paths: &[PathBuf]) -> io::Result<()> {
    let share = paths.len().div_ceil(SYNC_THREADS).max(1);
    let sync_share = |paths: &[PathBuf]| paths.iter().try_for_each(|path| sync_one(path));
    if paths.len() < 3 {
        return sync_share(paths);
    }
    std::thread::scope(|scope| {
        let shares = paths
            .chunks(share)
            .map(|share| scope.spawn(move || sync_share(share)));
        let waits: Vec<_> = shares.collect();
        waits.into_iter().try_for_each(|wait| {
            wait.join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

#[cfg(not(windows))]
fn sync_one(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

// Windows has no wait for folders, and flushes only what is open for writing.
#[cfg(windows)]
fn sync_one(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    File::options().write(true).open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_to_a_new_name_never_replaces_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&a, "a").unwrap();
        assert!(rename_new(&a, &b).unwrap());
        fs::write(&a, "new").unwrap();
        assert!(!rename_new(&a, &b).unwrap());
        assert_eq!(
            (fs::read(&a).unwrap(), fs::read(&b).unwrap()),
            (b"new".to_vec(), b"a".to_vec())
        );
    }

    #[test]
    fn an_exchange_loses_neither_file() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&a, "a").unwrap();
        fs::write(&b, "b").unwrap();
        let traded = exchange(&a, &b).unwrap();
        let expected: [&[u8]; 2] = if traded { [b"b", b"a"] } else { [b"a", b"b"] };
        assert_eq!([fs::read(&a).unwrap(), fs::read(&b).unwrap()], expected);
    }
}
