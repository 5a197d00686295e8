//! Makes a data folder from a backup. Everything is unpacked into a temporary folder and checked there, so that a damaged
//! backup leaves nothing behind.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use daybook_engine::jobs::purge::PURGED;
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
use serde::de::DeserializeOwned;
use tar::{Archive, EntryType};

use super::{ABOUT, FORM, FileSummary, MANIFEST, Manifest, TableSummary, tables};
use crate::folders::data_folder::{self, display_path};
use crate::process::block_on;
use crate::wiring::DATABASE;

/// Name of a backup's tombstones beside those of the folder into which it was restored, until both are joined.
pub(crate) const BACKED_UP_TOMBSTONES: &str = "tombstones.backup";
/// Longest manifest that is read, in bytes.
const MOST_MANIFEST: u64 = 1 << 30;

/// Makes the data folder at `root`, which must be missing or hold nothing but what purges left there, from the backup at
/// `path`.
pub(crate) fn restore(path: &Path, root: &Path) -> Result<Manifest> {
    make_folder(path, root, |found, folder| {
        if found.files.contains_key(ABOUT) {
            bail!("it is an archive: `daybook import` reads it");
        }
        check(found, folder)
    })
    .with_context(|| format!("{} cannot be restored", display_path(path)))
}

/// Unpacks the tar file at `path`, has it completed and checked, and puts its parts into `root`.
pub(super) fn make_folder<M>(
    path: &Path,
    root: &Path,
    check: impl FnOnce(&UnpackedTar, &Path) -> Result<M>,
) -> Result<M> {
    let file = File::open(path).with_context(|| format!("cannot read {}", display_path(path)))?;
    if has_more_than_purges(root) {
        bail!(
            "{} is not empty, and nothing in it is overwritten; move everything in it but the folder `{PURGED}` \
             away, or name another folder with --root",
            display_path(root)
        );
    }
    data_folder::create(root)?;
    let failed = || format!("cannot write below {}", display_path(root));
    let unpacked = tempfile::Builder::new()
        .prefix(".restoring-")
        .tempdir_in(root)
        .with_context(failed)?;
    let manifest = check(&unpack(file, unpacked.path())?, unpacked.path())?;
    let mut parts: Vec<PathBuf> = Vec::new();
    for part in fs::read_dir(unpacked.path()).with_context(failed)? {
        parts.push(part.with_context(failed)?.path());
    }
    // The database last: without it the folder does not count as a memory.
    parts.sort_by_key(|part| part.ends_with(DATABASE));
    for part in parts {
        let name = part.file_name().unwrap_or_default();
        match name == PURGED && root.join(PURGED).exists() {
            true => keep_beside(&part, &root.join(PURGED)).with_context(failed)?,
            false => fs::rename(&part, root.join(name)).with_context(failed)?,
        }
    }
    Ok(manifest)
}

/// Whether a data folder holds anything beside what purges left there, which a restore respects.
fn has_more_than_purges(root: &Path) -> bool {
    let inside = fs::read_dir(root).into_iter().flatten().flatten();
    inside.into_iter().any(|entry| entry.file_name() != PURGED)
}

/// Keeps the tombstones of a backup beside those of the folder, which are newer. Its receipts are older ones of the same.
fn keep_beside(part: &Path, purged: &Path) -> io::Result<()> {
    for name in ["tombstones", "receipts.jsonl"] {
        let (from, to) = (part.join(name), purged.join(name));
        match (from.exists(), to.exists()) {
            (false, _) => {}
            (true, false) => fs::rename(&from, &to)?,
            (true, true) if name == "tombstones" => {
                fs::rename(&from, purged.join(BACKED_UP_TOMBSTONES))?;
            }
            (true, true) => {}
        }
    }
    Ok(())
}

/// The unpacked contents of a tar file.
pub(super) struct UnpackedTar {
    files: BTreeMap<String, FileSummary>,
    manifest: Option<Vec<u8>>,
}

impl UnpackedTar {
    /// Its manifest, once its form is known to be `form`.
    pub(super) fn manifest<M: DeserializeOwned>(&self, form: u32) -> Result<M> {
        let Some(text) = &self.manifest else {
            bail!("it has no {MANIFEST}: it was not written by daybook, or it is cut off");
        };
        let header: ManifestHeader =
            serde_json::from_slice(text).context("its manifest cannot be read")?;
        if header.form != form {
            bail!(
                "it has form {}, and this daybook reads form {form}; update daybook",
                header.form
            );
        }
        serde_json::from_slice(text).context("its manifest cannot be read")
    }

    /// Checks that there is exactly what a manifest lists, unchanged.
    pub(super) fn check_files(&self, listed: &BTreeMap<String, FileSummary>) -> Result<()> {
        for name in listed.keys().chain(self.files.keys()) {
            if listed.get(name) != self.files.get(name) {
                bail!("{name} is not what was written: the file is damaged; use another one");
            }
        }
        Ok(())
    }
}

/// Checks that the tables of a store have the rows that a manifest lists.
pub(super) fn check_tables(
    store: &SqliteStore,
    listed: &BTreeMap<String, TableSummary>,
) -> Result<()> {
    let counted = block_on(tables(store))?;
    for (name, then) in listed {
        // Tables of a newer schema are accepted; a missing table is not.
        if counted.get(name).is_none_or(|now| now != then) {
            bail!("the table {name} is not what was written: the file is damaged; use another one");
        }
    }
    Ok(())
}

fn unpack(file: File, into: &Path) -> Result<UnpackedTar> {
    let mut found = UnpackedTar {
        files: BTreeMap::new(),
        manifest: None,
    };
    let mut links = Vec::new();
    for entry in Archive::new(file).entries()? {
        let mut entry = entry.context("it is no file of daybook, or is cut off")?;
        let name = check_name(&entry.path()?)?;
        let target = into.join(&name);
        match entry.header().entry_type() {
            EntryType::Directory => {
                fs::create_dir_all(&target)?;
                // The owner gets all permissions, so that the folder can be filled and used.
                set_mode(&target, entry.header().mode()? | 0o700)?;
            }
            EntryType::Regular if name == MANIFEST => {
                let mut text = Vec::new();
                entry.by_ref().take(MOST_MANIFEST).read_to_end(&mut text)?;
                found.manifest = Some(text);
            }
            EntryType::Regular => {
                let mode = entry.header().mode()?;
                let kept = write_file(&mut entry, &target, mode)
                    .with_context(|| format!("cannot unpack {name}"))?;
                found.files.insert(name, kept);
            }
            EntryType::Symlink => {
                let to = entry.link_name()?.context("a link leads nowhere")?;
                let kept = FileSummary::of(to.to_string_lossy().as_bytes());
                links.push((target, to.into_owned()));
                found.files.insert(name, kept);
            }
            _ => bail!("{name} is neither a file nor a folder"),
        }
    }
    // Links come after all files, so that no file is written through one.
    for (place, to) in links {
        link(&to, &place)
            .with_context(|| format!("cannot make the link {}", display_path(&place)))?;
    }
    Ok(found)
}

/// Checks that a name stays inside the folder that is made.
fn check_name(path: &Path) -> Result<String> {
    let inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    match path.to_str() {
        Some(name) if inside => Ok(name.trim_end_matches('/').to_owned()),
        _ => bail!("{} leads out of the data folder", path.display()),
    }
}

fn write_file(from: &mut impl Read, to: &Path, mode: u32) -> io::Result<FileSummary> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::options().write(true).create_new(true).open(to)?;
    let mut hash = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        file.write_all(&buffer[..read])?;
        bytes += read as u64;
    }
    file.sync_all()?;
    set_mode(to, mode)?;
    let hash = hash.finalize().to_hex().to_string();
    Ok(FileSummary { bytes, hash })
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o777))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn link(to: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, place)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::other("there are no symbolic links here"))
}

fn check(found: &UnpackedTar, folder: &Path) -> Result<Manifest> {
    let manifest: Manifest = found.manifest(FORM)?;
    found.check_files(&manifest.files)?;
    let store = SqliteStore::open(&folder.join(DATABASE), SqliteOptions::default())?;
    store.check()?;
    check_tables(&store, &manifest.tables)?;
    Ok(manifest)
}

/// The part of a manifest that every version has.
#[derive(serde::Deserialize)]
struct ManifestHeader {
    form: u32,
}
