//! Remembers that a folder was made for its first consolidation, until that is complete.
//!
//! A process can be killed between writing the files and completing the job. The next one finds files by a database
//! that has completed nothing, and has to know whether all of them are its own: in a folder that it made itself they are,
//! and in a restored one they may be another database's, which it has no record of.
//!
//! Not here: what happens to entries that no record is of (`page`).

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::error::FilesError;
use super::lock::WriterLock;

const NAME: &str = "first_write";

impl WriterLock<'_> {
    /// Marks the folder before its first file is written. One that holds files stays as it is.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn begin_first_write(&self) -> Result<(), FilesError> {
        let root = self.folder().root();
        let names = fs::read_dir(root).map_err(FilesError::io("list", root))?;
        let has_files = names.flatten().any(|entry| entry.file_name() != ".git");
        match has_files {
            true => Ok(()),
            false => self.save_private(NAME, ""),
        }
    }

    /// Whether the folder is marked.
    #[must_use]
    pub fn has_begun_first_write(&self) -> bool {
        self.folder().private_path(NAME).is_file()
    }
}

/// Removes the mark from the folder at `path`: its first consolidation is complete.
///
/// # Errors
/// When the disk fails.
pub fn end_first_write(path: &Path) -> Result<(), FilesError> {
    let mark = path.join(".git/daybook").join(NAME);
    match fs::remove_file(&mark) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(FilesError::io("remove", mark)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
