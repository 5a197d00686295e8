//! Moves a person's own text out of a retired memory folder into the folder that replaces it.
//!
//! The rest of the retired folder is moved aside with its history. Nothing is deleted.
//!
//! Not here: when a folder is retired.

use std::fs;
use std::path::{Path, PathBuf};

use super::FilesError;
use super::atomic;
use super::entry::{PageBlock, parse_blocks, without_marker};
use super::layout::CURATED;
use super::lock::WriterLock;
use super::name::FileName;
use super::path::FilePath;
use super::reader::{self, FILE_BYTES, FolderReader};
use super::skipped::find_refused;

/// Copies what a person wrote below `old` into the locked folder, and returns how many lines and files that
/// were.
///
/// The next writer commits them as the person's. Calling it again adds nothing.
///
/// # Errors
/// When the disk cannot be read or written.
pub fn adopt(lock: &WriterLock<'_>, old: &Path, from: &str) -> Result<usize, FilesError> {
    let new = lock.folder().root();
    let mut adopted = 0;
    let curated = FilePath::engine_file(CURATED);
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
        adopted += adopt_files(lock, old, from, kind)?;
    }
    Ok(adopted)
}

/// Copies the files of the folder `kind`. What the reader refuses there is left behind.
fn adopt_files(
    lock: &WriterLock<'_>,
    old: &Path,
    from: &str,
    kind: &str,
) -> Result<usize, FilesError> {
    let new = lock.folder().root();
    let mut adopted = 0;
    if [old, new]
        .into_iter()
        .any(|folder| find_refused(folder, Path::new(kind)).is_some())
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
        let Ok(Some(bytes)) = open_reader(old)?.read(&source, FILE_BYTES) else {
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

fn open_reader(folder: &Path) -> Result<FolderReader, FilesError> {
    let missing = || FilesError::io("read", folder)(std::io::ErrorKind::NotFound.into());
    FolderReader::open(folder)?.ok_or_else(missing)
}

/// Whether [`adopt`] would copy anything from a folder. A page that cannot be read counts as the person's.
#[must_use]
pub fn has_own_words(old: &Path) -> bool {
    let page = reader::text(old, &FilePath::engine_file(CURATED));
    let has_files = |kind: &str| {
        let entries = fs::read_dir(old.join(kind)).into_iter().flatten();
        entries.flatten().any(|entry| entry.path().is_file())
    };
    page.map_or(true, |page| {
        !own_words(&page.unwrap_or_default()).is_empty()
    }) || has_files("topics")
        || has_files("notes")
}

/// The lines of a page that a person wrote, without headings and blank lines.
fn own_words(page: &str) -> String {
    let mut words = String::new();
    for block in parse_blocks(page) {
        let lines: Vec<&str> = match block {
            PageBlock::Altered(_, lines) | PageBlock::Pinned(_, lines) => lines,
            PageBlock::Other(line) if !line.trim().is_empty() => vec![line],
            PageBlock::Other(_) | PageBlock::Ours(..) | PageBlock::Heading(..) => Vec::new(),
        };
        for line in lines {
            words.push_str(without_marker(line).trim_end());
            words.push('\n');
        }
    }
    words
}

/// Moves a folder to `<root>/joined/`, and returns its new path. It is locked, so that nobody is writing it meanwhile.
///
/// # Errors
/// When the disk cannot be read or written.
pub fn set_aside(root: &Path, lock: WriterLock<'_>, from: &str) -> Result<PathBuf, FilesError> {
    let old = lock.folder().root().to_owned();
    let aside = root.join("joined");
    fs::create_dir_all(&aside).map_err(FilesError::io("create", &aside))?;
    let name = FileName::folder(from);
    let mut n = 1;
    let mut target = aside.join(format!("{name}-{n}"));
    while target.exists() {
        n += 1;
        target = aside.join(format!("{name}-{n}"));
    }
    // Windows moves no folder in which a file is open.
    let _held = (!cfg!(windows)).then_some(lock);
    fs::rename(&old, &target).map_err(FilesError::io("move", &old))?;
    if let Some(parent) = old.parent() {
        // Succeeds only if the folder is empty.
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
