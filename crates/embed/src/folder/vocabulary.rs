//! The vocabulary of a model's folder, from `vocab.txt` or else `tokenizer.json`.
//!
//! Not here: how text is cut into tokens.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::read::{FolderError, bytes, exists, json};
use crate::wordpiece::Tokens;

const VOCABULARY: &str = "vocab.txt";
const TOKENIZER: &str = "tokenizer.json";

/// The vocabulary: tokens that begin words and tokens that continue them, by name.
#[derive(Debug)]
pub(super) struct FolderVocabulary {
    beginnings: HashMap<String, usize>,
    continuations: HashMap<String, usize>,
    count: usize,
    longest: usize,
    digest: [u8; 32],
    unknown: usize,
    /// Opens each text.
    pub(super) opening: usize,
    /// Ends each text.
    pub(super) ending: usize,
}

impl FolderVocabulary {
    pub(super) fn open(folder: &Path) -> Result<Self, FolderError> {
        let (file, content) = match exists(folder, VOCABULARY) {
            true => (VOCABULARY, bytes(folder, VOCABULARY)?),
            false => (TOKENIZER, bytes(folder, TOKENIZER)?),
        };
        let names = match file {
            VOCABULARY => names_of_lines(&content),
            _ => names_of_tokenizer(&content),
        };
        let lowercase = is_lowercase(folder)?;
        if !lowercase {
            return Err(FolderError::Unsupported {
                file: folder.join(TOKENIZER),
                why: "its vocabulary tells capital letters apart".to_owned(),
            });
        }
        names
            .and_then(|names| Self::new(names, *blake3::hash(&content).as_bytes()))
            .map_err(|why| FolderError::Damaged {
                file: folder.join(file),
                why,
            })
    }

    fn new(names: Vec<(String, usize)>, digest: [u8; 32]) -> Result<Self, String> {
        let mut beginnings = HashMap::new();
        let mut continuations = HashMap::new();
        let count = names.len();
        for (name, token) in names {
            if token >= count {
                return Err(format!("token {token} of {count} has too large a number"));
            }
            match name.strip_prefix("##").filter(|rest| !rest.is_empty()) {
                Some(rest) => continuations.insert(rest.to_owned(), token),
                None => beginnings.insert(name, token),
            };
        }
        let special = |name: &str| {
            let token = beginnings.get(name).copied();
            token.ok_or_else(|| format!("it has no token {name}"))
        };
        let all = beginnings.keys().chain(continuations.keys());
        Ok(Self {
            longest: all.map(String::len).max().unwrap_or_default(),
            unknown: special("[UNK]")?,
            opening: special("[CLS]")?,
            ending: special("[SEP]")?,
            beginnings,
            continuations,
            count,
            digest,
        })
    }

    /// A hash of the file.
    pub(super) fn digest(&self) -> &[u8] {
        &self.digest
    }

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }
}

impl Tokens for FolderVocabulary {
    fn longest(&self, rest: &str, is_continuation: bool) -> Option<(usize, usize)> {
        let tokens = match is_continuation {
            true => &self.continuations,
            false => &self.beginnings,
        };
        (1..=rest.len().min(self.longest))
            .rev()
            .filter_map(|len| Some((rest.get(..len)?, len)))
            .find_map(|(name, len)| Some((*tokens.get(name)?, len)))
    }

    fn unknown(&self) -> Option<usize> {
        Some(self.unknown)
    }
}

/// `vocab.txt`: a token on each line.
fn names_of_lines(content: &[u8]) -> Result<Vec<(String, usize)>, String> {
    let text = str::from_utf8(content).map_err(|error| error.to_string())?;
    let names = text
        .lines()
        .map(|line| line.trim_end_matches('\r').to_owned());
    Ok(names.zip(0..).collect())
}

/// `tokenizer.json`: the tokens of the model in it.
fn names_of_tokenizer(content: &[u8]) -> Result<Vec<(String, usize)>, String> {
    let tokenizer: Value = serde_json::from_slice(content).map_err(|error| error.to_string())?;
    let tokens = tokenizer["model"]["vocab"].as_object();
    let tokens = tokens.ok_or("it has no model.vocab that names tokens")?;
    let number = |token: &Value| usize::try_from(token.as_u64()?).ok();
    tokens
        .iter()
        .map(|(name, token)| Some((name.clone(), number(token)?)))
        .collect::<Option<_>>()
        .ok_or_else(|| "a token of model.vocab has no number".to_owned())
}

/// Whether the vocabulary has small letters alone. Without `tokenizer.json` it is taken to.
fn is_lowercase(folder: &Path) -> Result<bool, FolderError> {
    if !exists(folder, TOKENIZER) {
        return Ok(true);
    }
    let tokenizer: Value = json(folder, TOKENIZER)?;
    Ok(tokenizer["normalizer"]["lowercase"].as_bool() != Some(false))
}
