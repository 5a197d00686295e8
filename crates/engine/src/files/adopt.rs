//! A folder that is given up: a person's own words move to the folder that takes its place, and the
//! rest is set aside, history and all. Nothing is deleted.
//!
//! Not here: when a folder is given up.

use std::fs;
use std::path::{Path, PathBuf};

use super::FilesError;
use super::atomic;
use super::entry::{Block, blocks, unmarked};
use super::layout::CURATED;
use super::lock::WriterLock;
use super::name::FileName;
use super::path::FilePath;
use super::reader::{self, FILE_BYTES, Reader};
use super::refused::refused_now;

/// Copies what a person wrote below `old` into the folder that is held, and says how many lines and
/// files that were. They are the person's there, too: the next writer commits them as theirs. Doing
/// it again adds nothing.
///
/// # Errors
/// What the disk says.
pub fn adopt(held: &WriterLock<'_>, old: &Path, from: &str) -> Result<usize, FilesError> {
    let new = held.folder().root();
    let mut adopted = 0;
    let curated = FilePath::owned(CURATED);
    let words = own_words(&reader::text(old, &curated)?.unwrap_or_default());
    if !words.is_empty() {
        adopted += words.lines().count();
        let path = new.join(CURATED);
        let text = reader::text(new, &curated)?.unwrap_or_default();
        let heading = format!("## From {from}\n\n");
        if !text.contains(&heading) {
            let text = format!("{}\n\n{heading}{words}", text.trim_end());
            let unnamed = path.with_extension("md.new");
            let written = atomic::write_new(&unnamed, text.trim_start().as_bytes());
            written
                .and_then(|()| fs::rename(&unnamed, &path))
                .map_err(FilesError::io("write", &path))?;
        }
    }
    for kind in ["topics", "notes"] {
        adopted += adopt_files(held, old, from, kind)?;
    }
    Ok(adopted)
}

/// Copies the files of the folder `kind`; what is refused there stays behind.
fn adopt_files(
    held: &WriterLock<'_>,
    old: &Path,
    from: &str,
    kind: &str,
) -> Result<usize, FilesError> {
    let new = held.folder().root();
    let mut adopted = 0;
    if [old, new]
        .into_iter()
        .any(|folder| refused_now(folder, Path::new(kind)).is_some())
    {
        return Ok(0);
    }
    for entry in fs::read_dir(old.join(kind)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
        let mut copy = FileName::page(&format!("{from}-{stem}")).to_string();
        if !ending.is_empty() {
            copy = format!("{copy}.{ending}");
        }
        let paths = (
            FilePath::new(format!("{kind}/{name}")),
            FilePath::new(format!("{kind}/{copy}")),
        );
        let (Ok(source), Ok(target)) = paths else {
            continue;
        };
        let Ok(Some(bytes)) = held_reader(old)?.read(&source, FILE_BYTES) else {
            continue;
        };
        let target = target.under(new);
        if fs::symlink_metadata(&target).is_err() {
            fs::create_dir_all(new.join(kind))
                .and_then(|()| atomic::write_new(&target, &bytes))
                .map_err(FilesError::io("write", &target))?;
            adopted += 1;
        }
    }
    Ok(adopted)
}

fn held_reader(folder: &Path) -> Result<Reader, FilesError> {
    let missing = || FilesError::io("read", folder)(std::io::ErrorKind::NotFound.into());
    Reader::open(folder)?.ok_or_else(missing)
}

/// Whether a person wrote anything below a folder that [`adopt`] would copy. What cannot be read counts as theirs.
#[must_use]
pub fn has_own_words(old: &Path) -> bool {
    let page = reader::text(old, &FilePath::owned(CURATED));
    let has_files = |kind: &str| {
        let entries = fs::read_dir(old.join(kind)).into_iter().flatten();
        entries.flatten().any(|entry| entry.path().is_file())
    };
    page.map_or(true, |page| {
        !own_words(&page.unwrap_or_default()).is_empty()
    }) || has_files("topics")
        || has_files("notes")
}

/// The lines of a page that are a person's, without headings and blank lines.
fn own_words(page: &str) -> String {
    let mut words = String::new();
    for block in blocks(page) {
        let lines: Vec<&str> = match block {
            Block::Altered(_, lines) => lines,
            Block::Other(line) if !line.trim().is_empty() => vec![line],
            Block::Other(_) | Block::Ours(..) | Block::Heading(..) => Vec::new(),
        };
        for line in lines {
            words.push_str(unmarked(line).trim_end());
            words.push('\n');
        }
    }
    words
}

/// Moves a folder to `<root>/joined/`, and says where it is now.
///
/// # Errors
/// What the disk says.
pub fn set_aside(root: &Path, old: &Path, from: &str) -> Result<PathBuf, FilesError> {
    let aside = root.join("joined");
    fs::create_dir_all(&aside).map_err(FilesError::io("create", &aside))?;
    let name = FileName::folder(from);
    let mut n = 1;
    let mut target = aside.join(format!("{name}-{n}"));
    while target.exists() {
        n += 1;
        target = aside.join(format!("{name}-{n}"));
    }
    fs::rename(old, &target).map_err(FilesError::io("move", old))?;
    if let Some(parent) = old.parent() {
        // Only when nothing else lies there.
        let _ = fs::remove_dir(parent);
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persons_words_are_what_the_engine_did_not_write() {
        let page = "# tidepool — what we know\n\n## Decisions\n- mine, without a mark\n\nprose\n";
        assert_eq!(own_words(page), "- mine, without a mark\nprose\n");
    }
}
