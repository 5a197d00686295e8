//! Keeps the parsed texts of a folder's memory between consolidations: in the process, and in `.git/daybook` for the
//! next one.
//!
//! They are derived from the store's texts, and checked when they are read: a list that is lost, torn or of another
//! version costs time, and nothing else.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use super::error::FilesError;
use super::lock::WriterLock;
use crate::bounded;
use crate::consolidate::{ParsedTexts, prepare_parser};

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
pub struct FolderTexts(Arc<KeptTexts>);

/// Texts, and the thread that reads them for the first time: meanwhile the caller asks the store for the observations.
#[derive(Debug, Default)]
struct KeptTexts {
    texts: Mutex<ParsedTexts>,
    loading: Mutex<Option<JoinHandle<ParsedTexts>>>,
}

impl FolderTexts {
    /// Those of the memory folder at `path`.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        Self::kept_or(path, read_list)
    }

    /// [`FolderTexts::of`] a memory that has changed: new texts will be parsed, too.
    #[must_use]
    pub fn of_changed(path: &Path) -> Self {
        Self::kept_or(path, |list| {
            let texts = read_list(list);
            prepare_parser();
            texts
        })
    }

    fn kept_or(path: &Path, read: fn(&Path) -> ParsedTexts) -> Self {
        // A folder has one list, however its path is written.
        let path = &std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(path) {
            return known.clone();
        }
        if kept.len() >= FOLDERS {
            kept.clear();
        }
        let texts = Self(Arc::new(KeptTexts::loading(path.join(LIST), read)));
        kept.insert(path.clone(), texts.clone());
        texts
    }

    /// The texts themselves, for one consolidation.
    pub fn lock(&self) -> MutexGuard<'_, ParsedTexts> {
        let mut texts = self.0.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut loading = self
            .0
            .loading
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(loading) = loading.take() {
            // A list that cannot be read costs time, and nothing else.
            *texts = loading.join().unwrap_or_default();
        }
        texts
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

impl KeptTexts {
    fn loading(list: PathBuf, read: fn(&Path) -> ParsedTexts) -> Self {
        let thread = thread::Builder::new().name("parsed-texts".to_owned());
        // Without a thread the texts are parsed once more.
        let loading = thread.spawn(move || read(&list)).ok();
        Self {
            texts: Mutex::default(),
            loading: Mutex::new(loading),
        }
    }
}

fn read_list(list: &Path) -> ParsedTexts {
    let bytes = bounded::read(list, LIST_BYTES);
    ParsedTexts::decode(&bytes.unwrap_or_default())
}
