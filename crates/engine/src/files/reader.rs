//! The one way to read what lies in a memory folder.
//!
//! Anybody may put anything there: a link to a file of secrets, a pipe, a device, a terabyte of
//! nothing. What holds for every door: from the data folder on no symbolic link is followed, only
//! regular files are read, and of those no more than a bound. Each component is opened in the folder
//! that was opened before it, so that nothing can be put in its place meanwhile.
//!
//! Not here: what a refused file means for its caller, and where refusals are listed (`refused`).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::layout;
use super::path::FilePath;
use crate::bounded::{Refusal, check, read_whole};

/// Longest memory file, in bytes, unless a folder is configured otherwise.
pub const FILE_BYTES: u64 = 8 * 1024 * 1024;

/// Something in or above a memory folder that is not read, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not read: {why}", .path.display())]
pub struct Refused {
    /// Where it stands.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: Refusal,
}

/// An open memory folder.
#[derive(Debug)]
pub struct Reader {
    place: PathBuf,
    root: Folder,
}

impl Reader {
    /// Opens the memory folder at `memory`; nothing if there is none.
    ///
    /// # Errors
    /// When it, or a folder that the engine makes above it, is a link or no folder.
    pub fn open(memory: &Path) -> Result<Option<Self>, Refused> {
        let (base, below) = layout::split(memory);
        let mut place = base.clone();
        let mut root = match Folder::open(&base) {
            Ok(root) => root,
            Err(why) => return absent(place, why),
        };
        for name in below {
            place.push(&name);
            root = match root.folder(Path::new(&name)) {
                Ok(folder) => folder,
                Err(why) => return absent(place, why),
            };
        }
        Ok(Some(Self { place, root }))
    }

    /// The bytes of a file; nothing if there is none.
    ///
    /// # Errors
    /// When it, or a folder above it, is something else, or it is longer than `limit` bytes.
    pub fn read(&self, path: &FilePath, limit: u64) -> Result<Option<Vec<u8>>, Refused> {
        self.with(path, |file| read_whole(file, limit))
    }

    /// The first `limit` bytes of a file; nothing if there is none.
    ///
    /// # Errors
    /// When it is something else than a file, or longer than [`FILE_BYTES`].
    pub fn read_start(&self, path: &FilePath, limit: u64) -> Result<Option<Vec<u8>>, Refused> {
        self.with(path, |file| {
            if file.metadata()?.len() > FILE_BYTES {
                return Err(Refusal::TooLarge { limit: FILE_BYTES });
            }
            let mut bytes = Vec::new();
            file.take(limit).read_to_end(&mut bytes)?;
            Ok(bytes)
        })
    }

    /// The text of a file, what is no UTF-8 in it replaced; nothing if there is none.
    ///
    /// # Errors
    /// Those of [`Reader::read`], with [`FILE_BYTES`].
    pub fn text(&self, path: &FilePath) -> Result<Option<String>, Refused> {
        let bytes = self.read(path, FILE_BYTES)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn with<T>(
        &self,
        path: &FilePath,
        read: impl FnOnce(File) -> Result<T, Refusal>,
    ) -> Result<Option<T>, Refused> {
        let (mut place, mut within) = (self.place.clone(), None);
        let mut components = path.components().peekable();
        while let Some(name) = components.next() {
            place.push(name);
            let folder = within.as_ref().unwrap_or(&self.root);
            if components.peek().is_none() {
                return match folder.file(Path::new(name)).and_then(read) {
                    Ok(read) => Ok(Some(read)),
                    Err(why) => absent(place, why),
                };
            }
            within = match folder.folder(Path::new(name)) {
                Ok(folder) => Some(folder),
                Err(why) => return absent(place, why),
            };
        }
        Ok(None)
    }
}

/// Reads the file at `path` in the memory folder `memory`; nothing if either is not there.
///
/// # Errors
/// Those of [`Reader::open`] and [`Reader::text`].
pub fn text(memory: &Path, path: &FilePath) -> Result<Option<String>, Refused> {
    match Reader::open(memory)? {
        Some(reader) => reader.text(path),
        None => Ok(None),
    }
}

/// The file at `place`, which is ours and not followed when it is a link; nothing if there is none.
pub(super) fn read_private(place: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let read = || {
        let folder = Folder::open(place.parent().unwrap_or(place))?;
        let name = place.file_name().unwrap_or_default();
        read_whole(folder.file(Path::new(name))?, limit)
    };
    match read() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Refusal::Failed(io::ErrorKind::NotFound)) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

fn absent<T>(path: PathBuf, why: Refusal) -> Result<Option<T>, Refused> {
    match why {
        Refusal::Failed(io::ErrorKind::NotFound) => Ok(None),
        why => Err(Refused { path, why }),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod system {
    use std::os::fd::OwnedFd;

    use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};

    use super::{File, Path, Refusal, check, io};

    /// An open folder.
    #[derive(Debug)]
    pub(super) struct Folder(OwnedFd);

    impl Folder {
        /// Opens the folder at `path`, wherever links lead.
        pub(super) fn open(path: &Path) -> Result<Self, Refusal> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = rustix::fs::open(path, flags, Mode::empty());
            Ok(Self(opened.map_err(io::Error::from)?))
        }

        /// Opens the folder called `name` in this one.
        pub(super) fn folder(&self, name: &Path) -> Result<Self, Refusal> {
            match self.kind(name)? {
                rustix::fs::FileType::Directory => {}
                rustix::fs::FileType::Symlink => return Err(Refusal::Link),
                _ => return Err(Refusal::NotAFolder),
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = openat(&self.0, name, flags, Mode::empty());
            Ok(Self(opened.map_err(io::Error::from)?))
        }

        /// Opens the regular file called `name` in this folder.
        pub(super) fn file(&self, name: &Path) -> Result<File, Refusal> {
            use rustix::fs::FileType;
            // Looked at first: opening a device can have effects of its own.
            match self.kind(name)? {
                FileType::RegularFile => {}
                FileType::Symlink => return Err(Refusal::Link),
                FileType::Directory => return Err(Refusal::Folder),
                FileType::Fifo => return Err(Refusal::Pipe),
                FileType::Socket => return Err(Refusal::Socket),
                _ => return Err(Refusal::Device),
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

        fn kind(&self, name: &Path) -> Result<rustix::fs::FileType, Refusal> {
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

    use super::{File, Path, Refusal, check};

    /// A folder that was looked at.
    #[derive(Debug)]
    pub(super) struct Folder(PathBuf);

    impl Folder {
        /// Looks at the folder at `path`, wherever links lead.
        pub(super) fn open(path: &Path) -> Result<Self, Refusal> {
            match std::fs::metadata(path)?.is_dir() {
                true => Ok(Self(path.to_owned())),
                false => Err(Refusal::NotAFolder),
            }
        }

        /// Looks at the folder called `name` in this one.
        pub(super) fn folder(&self, name: &Path) -> Result<Self, Refusal> {
            let path = self.0.join(name);
            let kind = symlink_metadata(&path)?.file_type();
            if kind.is_symlink() {
                return Err(Refusal::Link);
            }
            if !kind.is_dir() {
                return Err(Refusal::NotAFolder);
            }
            Ok(Self(path))
        }

        /// Opens the regular file called `name` in this folder.
        pub(super) fn file(&self, name: &Path) -> Result<File, Refusal> {
            let path = self.0.join(name);
            check(&symlink_metadata(&path)?)?;
            let file = File::open(path)?;
            check(&file.metadata()?)?;
            Ok(file)
        }
    }
}

use system::Folder;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::strange_files_test_support::{in_time, make_pipe, make_sparse};

    fn read_in_time(memory: &Path, path: &str) -> Result<Option<String>, Refusal> {
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
        let huge = Refusal::TooLarge { limit: FILE_BYTES };
        for (path, read) in [
            ("topics/tides.md", Ok(Some("tides".to_owned()))),
            ("none.md", Ok(None)),
            ("none/x.md", Ok(None)),
            ("pipe.md", Err(Refusal::Pipe)),
            ("huge.md", Err(huge)),
            ("link.md", Err(Refusal::Link)),
            ("again/tides.md", Err(Refusal::Link)),
            ("zero.md", Err(Refusal::Link)),
            ("topics", Err(Refusal::Folder)),
            ("topics/tides.md/x", Err(Refusal::NotAFolder)),
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
            Err(Refusal::Link)
        );
    }
}
