//! Keeps the parsed texts of a folder's memory between consolidations: in the process, and in `.git/daybook` for the
//! next one.
//!
//! They are derived from the store's texts, and checked when they are read: a list that is lost, torn or of another
//! version costs time, and nothing else.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use super::error::FilesError;
use super::lock::WriterLock;
use crate::bounded;
use crate::consolidate::ParsedTexts;

/// Path of the list below a memory folder.
const LIST: &str = ".git/daybook/texts";
const NAME: &str = "texts";
/// Longest list that is read, in bytes.
const LIST_BYTES: u64 = 512 * 1024 * 1024;
/// Most folders whose texts a process keeps in memory.
const FOLDERS: usize = 16;

static KEPT: LazyLock<Mutex<HashMap<PathBuf, FolderTexts>>> = LazyLock::new(Mutex::default);

/// The parsed texts of one folder's memory.
#[derive(Debug, Clone, Default)]
pub struct FolderTexts(Arc<Mutex<ParsedTexts>>);

impl FolderTexts {
    /// Those of the memory folder at `path`.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        // A folder has one list, however its path is written.
        let path = &std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(path) {
            return known.clone();
        }
        if kept.len() >= FOLDERS {
            kept.clear();
        }
        let bytes = bounded::read(&path.join(LIST), LIST_BYTES);
        let texts = ParsedTexts::decode(&bytes.unwrap_or_default());
        let texts = Self(Arc::new(Mutex::new(texts)));
        kept.insert(path.clone(), texts.clone());
        texts
    }

    /// The texts themselves, for one consolidation.
    pub fn lock(&self) -> MutexGuard<'_, ParsedTexts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores them for the next process, if they have changed.
    ///
    /// # Errors
    /// When the disk cannot be written.
    pub fn save(&self, lock: &WriterLock<'_>) -> Result<(), FilesError> {
        match self.lock().encode_changed() {
            Some(bytes) => lock.save_derived(NAME, &bytes),
            None => Ok(()),
        }
    }
}
