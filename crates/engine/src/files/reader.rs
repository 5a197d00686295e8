//! The only way to read files in a memory folder.
//!
//! A memory folder may hold anything: a link to a file of secrets, a pipe, a device, a terabyte of zeros.
//! Invariants for every caller: below the data folder no symbolic link is followed, only regular files are
//! read, and no more of them than a bound. Each component is opened relative to the folder opened before
//! it, so that it cannot be exchanged meanwhile.
//!
//! Not here: what a refused file means for its caller, and the list of refused files (`refused`).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::{FilesError, SkipReason};
use super::layout;
use super::path::FilePath;
use crate::bounded::{FileRefusal, check, read_whole};

/// Longest memory file, in bytes, unless a folder is configured otherwise.
pub const FILE_BYTES: u64 = 8 * 1024 * 1024;

/// A path in or above a memory folder that is not read, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not read: {why}", .path.display())]
pub struct Refused {
    /// Its path.
    pub path: PathBuf,
    /// The reason.
    pub why: FileRefusal,
}

impl From<Refused> for FilesError {
    fn from(refused: Refused) -> Self {
        let Refused { path, why } = refused;
        match why {
            FileRefusal::Failed(kind) => Self::from_io("read", path, kind.into()),
            FileRefusal::Link
            | FileRefusal::Folder
            | FileRefusal::NotAFolder
            | FileRefusal::Pipe
            | FileRefusal::Socket
            | FileRefusal::Device
            | FileRefusal::TooLarge { .. } => Self::Refused {
                path,
                why: SkipReason::Refused(why),
            },
        }
    }
}

/// An open memory folder.
#[derive(Debug)]
pub struct FolderReader {
    place: PathBuf,
    root: OpenFolder,
}

impl FolderReader {
    /// Opens the memory folder at `memory`; `None` if it does not exist.
    ///
    /// # Errors
    /// When it, or a folder that the engine makes above it, is a link or not a folder.
    pub fn open(memory: &Path) -> Result<Option<Self>, Refused> {
        let (base, below) = layout::split(memory);
        let mut place = base.clone();
        let mut root = match OpenFolder::open(&base) {
            Ok(root) => root,
            Err(why) => return none_if_absent(place, why),
        };
        for name in below {
            place.push(&name);
            root = match root.folder(Path::new(&name)) {
                Ok(folder) => folder,
                Err(why) => return none_if_absent(place, why),
            };
        }
        Ok(Some(Self { place, root }))
    }

    /// Reads a whole file; `None` if it does not exist.
    ///
    /// # Errors
    /// When it is not a regular file, a folder above it is not a folder, or it is longer than `limit`
    /// bytes.
    pub fn read(&self, path: &FilePath, limit: u64) -> Result<Option<Vec<u8>>, Refused> {
        self.with(path, |file| read_whole(file, limit))
    }

    /// Reads the first `limit` bytes of a file; `None` if it does not exist.
    ///
    /// # Errors
    /// When it is not a regular file, or longer than [`FILE_BYTES`].
    pub fn read_start(&self, path: &FilePath, limit: u64) -> Result<Option<Vec<u8>>, Refused> {
        self.with(path, |file| {
            if file.metadata()?.len() > FILE_BYTES {
                return Err(FileRefusal::TooLarge { limit: FILE_BYTES });
            }
            let mut bytes = Vec::new();
            file.take(limit).read_to_end(&mut bytes)?;
            Ok(bytes)
        })
    }

    /// Reads a file as text, with invalid UTF-8 replaced; `None` if it does not exist.
    ///
    /// # Errors
    /// Those of [`FolderReader::read`], with [`FILE_BYTES`].
    pub fn text(&self, path: &FilePath) -> Result<Option<String>, Refused> {
        let bytes = self.read(path, FILE_BYTES)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn with<T>(
        &self,
        path: &FilePath,
        read: impl FnOnce(File) -> Result<T, FileRefusal>,
    ) -> Result<Option<T>, Refused> {
        let (mut place, mut within) = (self.place.clone(), None);
        let mut components = path.components().peekable();
        while let Some(name) = components.next() {
            place.push(name);
            let folder = within.as_ref().unwrap_or(&self.root);
            if components.peek().is_none() {
                return match folder.file(Path::new(name)).and_then(read) {
                    Ok(read) => Ok(Some(read)),
                    Err(why) => none_if_absent(place, why),
                };
            }
            within = match folder.folder(Path::new(name)) {
                Ok(folder) => Some(folder),
                Err(why) => return none_if_absent(place, why),
            };
        }
        Ok(None)
    }
}

/// Reads the file at `path` in the memory folder `memory`; `None` if either does not exist.
///
/// # Errors
/// Those of [`FolderReader::open`] and [`FolderReader::text`].
pub fn text(memory: &Path, path: &FilePath) -> Result<Option<String>, Refused> {
    match FolderReader::open(memory)? {
        Some(reader) => reader.text(path),
        None => Ok(None),
    }
}

/// Reads Daybook's own file at `place`; `None` if it does not exist. A link is not followed.
pub(super) fn read_private(place: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let read = || {
        let folder = OpenFolder::open(place.parent().unwrap_or(place))?;
        let name = place.file_name().unwrap_or_default();
        read_whole(folder.file(Path::new(name))?, limit)
    };
    match read() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(FileRefusal::Failed(io::ErrorKind::NotFound)) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

fn none_if_absent<T>(path: PathBuf, why: FileRefusal) -> Result<Option<T>, Refused> {
    match why {
        FileRefusal::Failed(io::ErrorKind::NotFound) => Ok(None),
        why => Err(Refused { path, why }),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod system {
    use std::os::fd::OwnedFd;

    use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};

    use super::{File, FileRefusal, Path, check, io};

    /// An open folder.
    #[derive(Debug)]
    pub(super) struct OpenFolder(OwnedFd);

    impl OpenFolder {
        /// Opens the folder at `path`, following links.
        pub(super) fn open(path: &Path) -> Result<Self, FileRefusal> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = rustix::fs::open(path, flags, Mode::empty());
            Ok(Self(opened.map_err(io::Error::from)?))
        }

        /// Opens the folder called `name` in this one.
        pub(super) fn folder(&self, name: &Path) -> Result<Self, FileRefusal> {
            match self.kind(name)? {
                rustix::fs::FileType::Directory => {}
                rustix::fs::FileType::Symlink => return Err(FileRefusal::Link),
                _ => return Err(FileRefusal::NotAFolder),
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = openat(&self.0, name, flags, Mode::empty());
            Ok(Self(opened.map_err(io::Error::from)?))
        }

        /// Opens the regular file called `name` in this folder.
        pub(super) fn file(&self, name: &Path) -> Result<File, FileRefusal> {
            use rustix::fs::FileType;
            // The kind is checked first: opening a device can have side effects.
            match self.kind(name)? {
                FileType::RegularFile => {}
                FileType::Symlink => return Err(FileRefusal::Link),
                FileType::Directory => return Err(FileRefusal::Folder),
                FileType::Fifo => return Err(FileRefusal::Pipe),
                FileType::Socket => return Err(FileRefusal::Socket),
                _ => return Err(FileRefusal::Device),
            }
            let flags = OFlags::RDONLY
                | OFlags::NOFOLLOW
                | OFlags::NONBLOCK
                | OFlags::NOCTTY
                | OFlags::CLOEXEC;
            let opened = openat(&self.0, name, flags, Mode::empty());
            let file = File::from(opened.map_err(io::Error::from)?);
            check(&file.metadata()?)?;
            Ok(file)
        }

        fn kind(&self, name: &Path) -> Result<rustix::fs::FileType, FileRefusal> {
            let found = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW);
            let found = found.map_err(io::Error::from)?;
            Ok(rustix::fs::FileType::from_raw_mode(found.st_mode))
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod system {
    use std::fs::symlink_metadata;
    use std::path::PathBuf;

    use super::{File, FileRefusal, Path, check};

    /// A folder whose kind was checked.
    #[derive(Debug)]
    pub(super) struct OpenFolder(PathBuf);

    impl OpenFolder {
        /// Checks the folder at `path`, following links.
        pub(super) fn open(path: &Path) -> Result<Self, FileRefusal> {
            match std::fs::metadata(path)?.is_dir() {
                true => Ok(Self(path.to_owned())),
                false => Err(FileRefusal::NotAFolder),
            }
        }

        /// Checks the folder called `name` in this one.
        pub(super) fn folder(&self, name: &Path) -> Result<Self, FileRefusal> {
            let path = self.0.join(name);
            let kind = symlink_metadata(&path)?.file_type();
            if kind.is_symlink() {
                return Err(FileRefusal::Link);
            }
            if !kind.is_dir() {
                return Err(FileRefusal::NotAFolder);
            }
            Ok(Self(path))
        }

        /// Opens the regular file called `name` in this folder.
        pub(super) fn file(&self, name: &Path) -> Result<File, FileRefusal> {
            let path = self.0.join(name);
            check(&symlink_metadata(&path)?)?;
            let file = File::open(path)?;
            check(&file.metadata()?)?;
            Ok(file)
        }
    }
}

use system::OpenFolder;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::strange_files_test_support::{in_time, make_pipe, make_sparse};

    fn read_in_time(memory: &Path, path: &str) -> Result<Option<String>, FileRefusal> {
        let (memory, path) = (memory.to_owned(), FilePath::new(path).unwrap());
        in_time(move || text(&memory, &path)).map_err(|refused| refused.why)
    }

    #[test]
    fn nothing_in_a_memory_folder_is_followed_and_nothing_hangs() {
        let root = tempfile::tempdir().unwrap();
        let memory = root.path().join("projects/tidepool/memory");
        let at = |name: &str| memory.join(name);
        fs::create_dir_all(at("topics")).unwrap();
        fs::write(at("topics/tides.md"), "tides").unwrap();
        fs::write(root.path().join("secret.md"), "secret").unwrap();
        make_pipe(&at("pipe.md"));
        make_sparse(&at("huge.md"), 1 << 40);
        symlink("../../../secret.md", at("link.md")).unwrap();
        symlink("topics", at("again")).unwrap();
        symlink("/dev/zero", at("zero.md")).unwrap();
        let huge = FileRefusal::TooLarge { limit: FILE_BYTES };
        for (path, read) in [
            ("topics/tides.md", Ok(Some("tides".to_owned()))),
            ("none.md", Ok(None)),
            ("none/x.md", Ok(None)),
            ("pipe.md", Err(FileRefusal::Pipe)),
            ("huge.md", Err(huge)),
            ("link.md", Err(FileRefusal::Link)),
            ("again/tides.md", Err(FileRefusal::Link)),
            ("zero.md", Err(FileRefusal::Link)),
            ("topics", Err(FileRefusal::Folder)),
            ("topics/tides.md/x", Err(FileRefusal::NotAFolder)),
        ] {
            assert_eq!(read_in_time(&memory, path), read, "{path}");
        }
    }

    #[test]
    fn a_linked_memory_folder_is_refused_and_a_linked_data_folder_is_read() {
        let root = tempfile::tempdir().unwrap();
        let memory = |root: &str| root_of(root, &["projects", "tidepool", "memory"]);
        fn root_of(root: &str, below: &[&str]) -> PathBuf {
            below
                .iter()
                .fold(PathBuf::from(root), |path, name| path.join(name))
        }
        let at = |name: &str| root.path().join(name).display().to_string();
        fs::create_dir_all(memory(&at("data"))).unwrap();
        fs::write(memory(&at("data")).join("a.md"), "a").unwrap();
        symlink("data", at("linked")).unwrap();
        assert_eq!(
            read_in_time(&memory(&at("linked")), "a.md"),
            Ok(Some("a".to_owned()))
        );
        fs::create_dir_all(root.path().join("other/projects")).unwrap();
        symlink(at("data/projects/tidepool"), at("other/projects/tidepool")).unwrap();
        assert_eq!(
            read_in_time(&memory(&at("other")), "a.md"),
            Err(FileRefusal::Link)
        );
    }
}
