//! The sample of `import --sample`: a few small transcripts written for the project.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::data_folder::home;
use crate::compressed::compressed_text;

/// A file of the sample: its name and its text, which the build compressed.
macro_rules! sample {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!(env!("OUT_DIR"), "/sample/", $name, ".zlib")),
        )
    };
}

const FILES: [(&str, &[u8]); 6] = [
    sample!("chat/spring-outing.jsonl"),
    sample!("claude-code/1d93b7f4-20ce-4f6e-8b15-7a0e4c9d2f66.jsonl"),
    sample!("claude-code/5e7a1c02-6b1d-4c0e-9a41-2f8d60b3c7e1.jsonl"),
    sample!("claude-code/5e7a1c02-6b1d-4c0e-9a41-2f8d60b3c7e1/subagents/agent-a3c9e21.jsonl"),
    sample!("claude-code/b41f9d3e-8c57-4e2a-b0d6-91c2a4e7f508.jsonl"),
    sample!("codex/rollout-2026-03-03T08-12-44-019cb28a-c2ba-71ad-9975-670b7e449272.jsonl"),
];

/// The sample's own data folder: below the person's home, so that no other user can create it beforehand and the next
/// run finds it again.
pub(crate) fn root() -> Result<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = match named.filter(|folder| folder.is_absolute()) {
        Some(folder) => folder,
        None => home()?.join(".cache"),
    };
    Ok(cache.join("daybook").join("sample"))
}

/// Writes the sample below `root`, and returns its folder.
pub(crate) fn unpack(root: &Path) -> Result<PathBuf> {
    let folder = root.join("sample");
    for (name, compressed) in FILES {
        let text = compressed_text(compressed);
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(&folder);
        std::fs::create_dir_all(parent)
            .and_then(|()| match std::fs::read_to_string(&path) {
                // Unchanged files keep their times, so that a second import finds nothing new.
                Ok(present) if present == text => Ok(()),
                _ => replace_file(&path, &text),
            })
            .with_context(|| format!("the sample cannot be written to {}", path.display()))?;
    }
    Ok(folder)
}

/// Replaces a file by a new one: a link is replaced, never followed.
fn replace_file(path: &Path, text: &str) -> std::io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(parent)?;
    std::fs::write(file.path(), text)?;
    file.persist(path)?;
    Ok(())
}
