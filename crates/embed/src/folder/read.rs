//! Reads single files of a model's folder, each of bounded size.
//!
//! Not here: what the files must contain.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// Most bytes of a file. The weights of the largest sentence models of this shape take 1.3 GB.
const FILE_BYTES: u64 = 2 << 30;

/// Why a folder holds no model that can be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file cannot be read.
    #[error(
        "cannot read {file}: a model's folder holds config.json, model.safetensors, and vocab.txt or \
         tokenizer.json"
    )]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file does not have the form that its name promises.
    #[error("{file} is damaged or of another format, fetch it again: {why}")]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The model is sound, and of a kind that is not computed here.
    #[error("{file} describes a model that cannot be run, use one such as all-MiniLM-L6-v2: {why}")]
    Unsupported {
        /// The file.
        file: PathBuf,
        /// What is not supported.
        why: String,
    },
}

pub(super) fn exists(folder: &Path, name: &str) -> bool {
    folder.join(name).exists()
}

pub(super) fn json<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T, FolderError> {
    serde_json::from_slice(&bytes(folder, name)?).map_err(|error| FolderError::Damaged {
        file: folder.join(name),
        why: error.to_string(),
    })
}

pub(super) fn bytes(folder: &Path, name: &str) -> Result<Vec<u8>, FolderError> {
    let file = folder.join(name);
    let read = || {
        let mut content = Vec::new();
        File::open(&file)?
            .take(FILE_BYTES + 1)
            .read_to_end(&mut content)?;
        match content.len() as u64 > FILE_BYTES {
            true => Err(io::Error::other(format!(
                "it has more than {FILE_BYTES} bytes"
            ))),
            false => Ok(content),
        }
    };
    read().map_err(|source| FolderError::Read { file, source })
}
