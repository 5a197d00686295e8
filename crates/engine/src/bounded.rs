//! Reads files that other programs own: regular files only, and no more of them than a bound allows.
//!
//! A path may name anything: a pipe without a writer, a device without an end, a file of any size.
//! Invariants: opening never blocks, only a regular file is read, and memory use stays below the caller's
//! bound. Symbolic links are followed, because people link `CLAUDE.md` to `AGENTS.md` and keep transcripts
//! on another disk.
//!
//! Not here: files in memory folders, where no link is followed (`files::reader`).

use std::fmt;
use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// Why a file is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRefusal {
    /// A symbolic link where none is followed.
    Link,
    /// A folder where a file is expected.
    Folder,
    /// Something else where a folder is expected.
    NotAFolder,
    /// A named pipe: reading it may wait for ever.
    Pipe,
    /// A socket.
    Socket,
    /// A device: reading it may never end.
    Device,
    /// Longer than the bound.
    TooLarge {
        /// The bound, in bytes.
        limit: u64,
    },
    /// The system fails to read it.
    Failed(io::ErrorKind),
}

impl fmt::Display for FileRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link => f.write_str("it is a symbolic link"),
            Self::Folder => f.write_str("it is a folder"),
            Self::NotAFolder => f.write_str("it is not a folder"),
            Self::Pipe => f.write_str("it is a pipe"),
            Self::Socket => f.write_str("it is a socket"),
            Self::Device => f.write_str("it is a device"),
            Self::TooLarge { limit } => write!(f, "it is longer than {limit} bytes"),
            Self::Failed(kind) => write!(f, "it cannot be read: {kind}"),
        }
    }
}

impl std::error::Error for FileRefusal {}

impl From<io::Error> for FileRefusal {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.kind())
    }
}

impl From<FileRefusal> for io::Error {
    fn from(refusal: FileRefusal) -> Self {
        match refusal {
            FileRefusal::Failed(kind) => kind.into(),
            FileRefusal::Link
            | FileRefusal::Folder
            | FileRefusal::NotAFolder
            | FileRefusal::Pipe
            | FileRefusal::Socket
            | FileRefusal::Device
            | FileRefusal::TooLarge { .. } => Self::new(io::ErrorKind::InvalidInput, refusal),
        }
    }
}

impl FileRefusal {
    /// Whether the file is missing.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::Failed(io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        )
    }

    /// Why a path of this kind is not a regular file; `None` for one that is.
    pub(crate) fn of_kind(kind: FileType) -> Option<Self> {
        if kind.is_file() {
            None
        } else if kind.is_symlink() {
            Some(Self::Link)
        } else if kind.is_dir() {
            Some(Self::Folder)
        } else {
            Some(special(kind))
        }
    }
}

#[cfg(unix)]
fn special(kind: FileType) -> FileRefusal {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        FileRefusal::Pipe
    } else if kind.is_socket() {
        FileRefusal::Socket
    } else {
        FileRefusal::Device
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> FileRefusal {
    FileRefusal::Device
}

/// Opens the regular file at `path`, following links. Never blocks.
///
/// # Errors
/// When the file is missing, or not a regular file.
pub fn open(path: &Path) -> Result<File, FileRefusal> {
    // The kind is checked first: opening a device can have side effects.
    check(&std::fs::metadata(path)?)?;
    let file = open_at_once(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Reads the whole regular file at `path`.
///
/// # Errors
/// When the file is missing, not a regular file, or longer than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileRefusal> {
    read_whole(open(path)?, limit)
}

/// Reads the whole regular file at `path` as text.
///
/// # Errors
/// Those of [`read`], and [`io::ErrorKind::InvalidData`] for invalid UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String, FileRefusal> {
    String::from_utf8(read(path, limit)?)
        .map_err(|_| FileRefusal::Failed(io::ErrorKind::InvalidData))
}

/// Reads the first bytes of the regular file at `path`, at most `limit`.
///
/// # Errors
/// When the file is missing, or not a regular file.
pub fn read_start(path: &Path, limit: u64) -> Result<Vec<u8>, FileRefusal> {
    let mut bytes = Vec::new();
    open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads an open file, unless it is longer than `limit`.
pub(crate) fn read_whole(file: File, limit: u64) -> Result<Vec<u8>, FileRefusal> {
    // A sparse file of any size is refused before a byte of it is read.
    if file.metadata()?.len() > limit {
        return Err(FileRefusal::TooLarge { limit });
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(FileRefusal::TooLarge { limit });
    }
    Ok(bytes)
}

/// Refuses anything but a regular file.
pub(crate) fn check(metadata: &Metadata) -> Result<(), FileRefusal> {
    FileRefusal::of_kind(metadata.file_type()).map_or(Ok(()), Err)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn open_at_once(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::strange_files_test_support::{in_time, make_pipe, make_sparse};

    #[test]
    fn a_link_to_a_regular_file_is_read() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("AGENTS.md"), "rules").unwrap();
        symlink("AGENTS.md", dir.path().join("CLAUDE.md")).unwrap();
        assert_eq!(
            read_text(&dir.path().join("CLAUDE.md"), 5).unwrap(),
            "rules"
        );
        assert_eq!(
            read_start(&dir.path().join("CLAUDE.md"), 2),
            Ok(b"ru".to_vec())
        );
        assert_eq!(
            read(&dir.path().join("CLAUDE.md"), 4),
            Err(FileRefusal::TooLarge { limit: 4 })
        );
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        make_pipe(&at("pipe"));
        symlink("pipe", at("link to a pipe")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        make_sparse(&at("huge"), 1 << 40);
        let expected = [
            ("pipe", FileRefusal::Pipe),
            ("link to a pipe", FileRefusal::Pipe),
            ("zero", FileRefusal::Device),
            (".", FileRefusal::Folder),
            ("none", FileRefusal::Failed(io::ErrorKind::NotFound)),
            ("huge", FileRefusal::TooLarge { limit: 1000 }),
        ];
        for (name, why) in expected {
            let path = at(name);
            assert_eq!(in_time(move || read(&path, 1000)), Err(why), "{name}");
        }
    }
}
