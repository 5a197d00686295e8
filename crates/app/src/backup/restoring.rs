//! Making a data folder from a backup. Everything is unpacked beside where it goes and checked there,
//! so that a damaged backup leaves nothing behind.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
use tar::{Archive, EntryType};

use super::{FORM, Kept, MANIFEST, Manifest, tables};
use crate::root::{self, shown};
use crate::wiring::{DATABASE, block_on};

/// Longest manifest that is read.
const MOST_MANIFEST: u64 = 1 << 30;

/// Makes the data folder at `root`, which must be empty or not there, from the backup at `path`.
pub(crate) fn restore(path: &Path, root: &Path) -> Result<Manifest> {
    let file = File::open(path).with_context(|| format!("cannot read {}", shown(path)))?;
    if fs::read_dir(root).is_ok_and(|mut inside| inside.next().is_some()) {
        bail!(
            "{} is not empty, and a restore overwrites nothing; move it away, or name another folder \
             with --root",
            shown(root)
        );
    }
    root::create(root)?;
    let failed = || format!("cannot write below {}", shown(root));
    let unpacked = tempfile::Builder::new()
        .prefix(".restoring-")
        .tempdir_in(root)
        .with_context(failed)?;
    let manifest = unpack(file, unpacked.path())
        .and_then(|found| check(&found, unpacked.path()))
        .with_context(|| format!("{} cannot be restored", shown(path)))?;
    let mut parts: Vec<PathBuf> = Vec::new();
    for part in fs::read_dir(unpacked.path()).with_context(failed)? {
        parts.push(part.with_context(failed)?.path());
    }
    // The database last: without it nobody takes the folder for a memory.
    parts.sort_by_key(|part| part.ends_with(DATABASE));
    for part in parts {
        let name = part.file_name().unwrap_or_default();
        fs::rename(&part, root.join(name)).with_context(failed)?;
    }
    Ok(manifest)
}

/// What was found in a backup.
struct Found {
    files: BTreeMap<String, Kept>,
    manifest: Option<Vec<u8>>,
}

fn unpack(file: File, into: &Path) -> Result<Found> {
    let mut found = Found {
        files: BTreeMap::new(),
        manifest: None,
    };
    let mut links = Vec::new();
    for entry in Archive::new(file).entries()? {
        let mut entry = entry.context("it is no backup, or is cut off")?;
        let name = safe(&entry.path()?)?;
        let target = into.join(&name);
        match entry.header().entry_type() {
            EntryType::Directory => {
                fs::create_dir_all(&target)?;
                // Its owner can always go on with it.
                set_mode(&target, entry.header().mode()? | 0o700)?;
            }
            EntryType::Regular if name == MANIFEST => {
                let mut text = Vec::new();
                entry.by_ref().take(MOST_MANIFEST).read_to_end(&mut text)?;
                found.manifest = Some(text);
            }
            EntryType::Regular => {
                let mode = entry.header().mode()?;
                let kept = put(&mut entry, &target, mode)
                    .with_context(|| format!("cannot unpack {name}"))?;
                found.files.insert(name, kept);
            }
            EntryType::Symlink => {
                let to = entry.link_name()?.context("a link leads nowhere")?;
                let kept = Kept::of(to.to_string_lossy().as_bytes());
                links.push((target, to.into_owned()));
                found.files.insert(name, kept);
            }
            _ => bail!("{name} is neither a file nor a folder"),
        }
    }
    // After all files, so that none is written through one.
    for (place, to) in links {
        link(&to, &place).with_context(|| format!("cannot make the link {}", shown(&place)))?;
    }
    Ok(found)
}

/// A name that leads nowhere but into the folder that is made.
fn safe(path: &Path) -> Result<String> {
    let inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    match path.to_str() {
        Some(name) if inside => Ok(name.trim_end_matches('/').to_owned()),
        _ => bail!("{} leads out of the data folder", path.display()),
    }
}

fn put(from: &mut impl Read, to: &Path, mode: u32) -> io::Result<Kept> {
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
    Ok(Kept { bytes, hash })
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

fn check(found: &Found, folder: &Path) -> Result<Manifest> {
    let Some(text) = &found.manifest else {
        bail!("it has no {MANIFEST}: it is no backup of daybook, or it is cut off");
    };
    let form: Form = serde_json::from_slice(text).context("its manifest cannot be read")?;
    if form.form != FORM {
        bail!(
            "it has form {}, and this daybook reads form {FORM}; update daybook",
            form.form
        );
    }
    let manifest: Manifest = serde_json::from_slice(text).context("its manifest cannot be read")?;
    let names = manifest.files.keys().chain(found.files.keys());
    for name in names {
        if manifest.files.get(name) != found.files.get(name) {
            bail!("{name} is not what was backed up: the backup is damaged; use another one");
        }
    }
    let counted = {
        let store = SqliteStore::open(&folder.join(DATABASE), SqliteOptions::default())?;
        store.check()?;
        block_on(tables(&store))?
    };
    for (name, then) in &manifest.tables {
        // A table of a newer schema is there as well; one that is missing is not.
        if counted.get(name).is_none_or(|now| now != then) {
            bail!(
                "the table {name} is not what was backed up: the backup is damaged; use another one"
            );
        }
    }
    Ok(manifest)
}

/// The part of a manifest that every form has.
#[derive(serde::Deserialize)]
struct Form {
    form: u32,
}
