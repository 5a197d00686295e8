//! Reads one Rust file as tokens, without its comments and without code that only tests compile.
//!
//! Not here: what a path leads to. [`modules`](super::modules) resolves it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use proc_macro2::TokenStream;

use super::rules::Ban;
use super::tokens::{NamedPath, Reader, Word};

/// A Rust file without comments and test code.
#[derive(Debug)]
pub(super) struct Source {
    /// Where it is, for findings: relative to the workspace.
    pub(super) place: String,
    /// Its module path within its crate; empty for `lib.rs` and `main.rs`.
    pub(super) module: Vec<String>,
    /// Every path in its code.
    pub(super) paths: Vec<NamedPath>,
    words: Vec<Word>,
}

impl Source {
    /// Reads `file` of the crate whose source is in `src`.
    pub(super) fn read(root: &Path, src: &Path, file: &Path) -> anyhow::Result<Self> {
        let place = file.strip_prefix(root).unwrap_or(file);
        let module = module(file.strip_prefix(src).unwrap_or(file));
        let reader = Reader::read(module.clone(), tokens(file)?);
        Ok(Self {
            place: place.display().to_string().replace('\\', "/"),
            module,
            paths: reader.paths,
            words: reader.words,
        })
    }

    /// The places of a banned name in the file.
    pub(super) fn findings(&self, ban: &Ban) -> Vec<String> {
        let mut lines: Vec<usize> = match ban.item.contains("::") {
            true => self
                .paths
                .iter()
                .filter(|named| named.means(ban.item))
                .map(|named| named.line)
                .collect(),
            false => self
                .words
                .iter()
                .filter(|word| contains_word(&word.text, ban.item))
                .map(|word| word.line)
                .collect(),
        };
        lines.dedup();
        lines
            .into_iter()
            .map(|line| {
                let (place, item) = (&self.place, ban.item);
                format!("{place}:{line}: {item} may not be here: {}", ban.reason)
            })
            .collect()
    }
}

/// Files and folders of the modules that `file` declares for tests alone.
pub(super) fn test_modules(file: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("mod" | "lib" | "main") => file.parent().map(Path::to_owned),
        _ => Some(file.with_extension("")),
    };
    let names = Reader::read(Vec::new(), tokens(file)?).test_modules;
    let places = folder.iter().flat_map(|folder| {
        let both = |name: &String| [folder.join(format!("{name}.rs")), folder.join(name)];
        names.iter().flat_map(both)
    });
    Ok(places.collect())
}

fn tokens(file: &Path) -> anyhow::Result<TokenStream> {
    let reading = || format!("cannot read {}", file.display());
    let text = fs::read_to_string(file).with_context(reading)?;
    let tokens = text.parse::<TokenStream>();
    tokens
        .map_err(|error| anyhow::anyhow!("{error}"))
        .with_context(reading)
}

fn module(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> = file
        .with_extension("")
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    let is_its_folder = |name: &String| matches!(name.as_str(), "mod" | "lib" | "main");
    parts.pop_if(|name| is_its_folder(name));
    parts
}

/// Whether `text` contains `what` at the beginning of a word.
fn contains_word(text: &str, what: &str) -> bool {
    text.match_indices(what).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}
