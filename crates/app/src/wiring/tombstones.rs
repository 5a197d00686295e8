//! The tombstones of a data folder: their key, and a database that is older than the file of them.
//!
//! A database that was made again from the record, or that an older copy replaced, lacks tombstones that the file beside
//! it has. `purged/newest` names one of the newest, so that each command can notice it without reading them all.
//!
//! Not here: what a purge removes (`purge`).

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use daybook_domain::page::PageRequest;
use daybook_domain::seams::PurgeStore;
use daybook_domain::{PurgeKey, Tenant, Tombstone};
use daybook_engine::bounded;
use daybook_engine::jobs::purge::{PURGED, TombstoneFile};
use tempfile::NamedTempFile;

use super::redaction;
use crate::folders::data_folder::display_path;

/// Derives the key of tombstones from that of the data folder's fingerprints, which every backup has.
const KEY_CONTEXT: &str = "daybook tombstones of purged events 1";
/// Name of the file with the tenant and one tombstone of the newest purge.
const NEWEST: &str = "newest";
/// Longest file of it that is read, in bytes.
const FILE_BYTES: u64 = 4096;

/// The tenant's key of tombstones, which is stored if it is new.
pub(crate) async fn purge_key(
    purges: &dyn PurgeStore,
    root: &Path,
    tenant: &Tenant,
) -> Result<PurgeKey> {
    let Some(folders) = redaction::read_key(root)? else {
        bail!("the data folder has no {}", redaction::KEY_FILE);
    };
    let fresh = PurgeKey(blake3::derive_key(KEY_CONTEXT, &folders.0));
    Ok(purges.purge_key(tenant, &fresh).await?)
}

/// Stores the tombstones of the file in a database that was made again. Returns how many it lacked.
pub(crate) async fn store_tombstones(
    purges: &dyn PurgeStore,
    root: &Path,
    tenant: &Tenant,
) -> Result<u64> {
    if !root.join(PURGED).join("tombstones").exists() {
        return Ok(0);
    }
    let key = purge_key(purges, root, tenant).await?;
    let marks = TombstoneFile::of(root, &key)?.marks;
    let marks: Vec<Tombstone> = marks.into_iter().collect();
    Ok(purges.add_tombstones(tenant, &marks).await?)
}

/// Names one tombstone of a finished purge.
pub(crate) fn note_newest(root: &Path, tenant: &Tenant, mark: Tombstone) -> Result<()> {
    write(root, NEWEST, &format!("{:032x} {}", mark.0, tenant.0))
}

/// Whether the database lacks the tombstones of the newest purge of its data folder.
pub(crate) async fn is_older(
    purges: &dyn PurgeStore,
    root: &Path,
    tenant: &Tenant,
) -> Result<bool> {
    let Some(mark) = newest(root, tenant) else {
        return Ok(false);
    };
    let before = PageRequest {
        after: mark.0.checked_sub(1).map(Tombstone),
        limit: 1,
    };
    let page = purges.tombstones(tenant, before).await?;
    Ok(page.items.first() != Some(&mark))
}

/// Whether the data folder names a newest purge at all.
pub(crate) fn has_newest(root: &Path) -> bool {
    root.join(PURGED).join(NEWEST).exists()
}

/// One that is damaged counts as none: the file of tombstones is read by a restore, and by `purge`.
fn newest(root: &Path, tenant: &Tenant) -> Option<Tombstone> {
    let text = bounded::read_text(&root.join(PURGED).join(NEWEST), FILE_BYTES).ok()?;
    let (mark, of) = text.trim_end().split_once(' ')?;
    let mark = u128::from_str_radix(mark, 16).ok()?;
    (of == tenant.0).then_some(Tombstone(mark))
}

/// Replaces a file of the folder of purges, readable by its owner alone.
fn write(root: &Path, name: &str, text: &str) -> Result<()> {
    let folder = root.join(PURGED);
    let failed = || format!("cannot write {}", display_path(&folder.join(name)));
    std::fs::create_dir_all(&folder).with_context(failed)?;
    let mut file = NamedTempFile::new_in(&folder).with_context(failed)?;
    writeln!(file, "{text}").with_context(failed)?;
    file.as_file().sync_all().with_context(failed)?;
    file.persist(folder.join(name)).with_context(failed)?;
    Ok(())
}
