//! `daybook import` of an archive: a whole memory into an empty data folder.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use daybook_engine::files::reindex::reindex_all;
use daybook_engine::jobs::purge::PURGED;
use daybook_engine::jobs::rebuild_index;
use daybook_store::transfer;

use crate::backup::archive::read_archive;
use crate::cli::CommonArgs;
use crate::cli::export::print_summary;
use crate::folders::data_folder::{self, display_path};
use crate::models::embedding::embed_waiting;
use crate::process::{block_on, stop_on_interrupt};
use crate::purge;
use crate::service::RequestError;
use crate::settings::{MemoryPlace, Settings};
use crate::terminal::output::print_line;
use crate::terminal::progress::PurgeBar;
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Makes the data folder from an archive, and its index.
pub(super) fn import_archive(
    common: &CommonArgs,
    file: &Path,
    tombstones: Option<&Path>,
) -> Result<ExitCode> {
    let root = data_folder::locate(common.root.as_deref())?;
    refuse_server(&root, common)?;
    let had_tombstones = root.join(PURGED).join("tombstones").exists();
    let manifest = read_archive(file, &root)?;
    let daybook = Daybook::open_existing(common)?;
    let stop = stop_on_interrupt()?;
    block_on(async {
        for tenant in transfer::tenants(daybook.database.portable()).await? {
            let mut worker = daybook.worker_context("import")?;
            worker.tenant = tenant.clone();
            rebuild_index(&worker).await?;
            reindex_all(&*worker.store, &worker.root, &tenant, worker.clock.now()).await?;
        }
        embed_waiting(&daybook.models(), &stop).await
    })
    .context("the memory is there, and its index is not complete; run `daybook rebuild`")?;
    purge::join_tombstones(&daybook)?;
    if let Some(tombstones) = tombstones {
        block_on(purge::add_tombstones(&daybook, tombstones))?;
    }
    if had_tombstones || tombstones.is_some() {
        let bar = PurgeBar::start(common);
        let purged = purge::purge_older(&daybook, (&stop, &bar));
        bar.end();
        if let (Some(purged), false) = (purged?, common.json) {
            print_line!("Purged again: {}.", purge::summary(&purged));
        }
    }
    let code = print_summary(common, "imported to", &display_path(&root), &manifest)?;
    if tombstones.is_none() && !had_tombstones && !common.json {
        print_line!(
            "What was purged after this archive was written is not known here. If purged/tombstones of the old folder \
             exists, remove this folder and import with --tombstones FILE."
        );
    }
    Ok(code)
}

/// Reads an archive into a folder that is removed again, and says what is in it.
pub(super) fn dry_run(common: &CommonArgs, file: &Path) -> Result<ExitCode> {
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    let manifest = read_archive(file, &scratch.path().join("root"))?;
    let root = data_folder::locate(common.root.as_deref())?;
    print_summary(
        common,
        "would be imported to",
        &display_path(&root),
        &manifest,
    )
}

/// An archive becomes a data folder; from there a memory moves to a server.
fn refuse_server(root: &Path, common: &CommonArgs) -> Result<()> {
    if let MemoryPlace::Server { .. } = Settings::load(root, &common.set)?.store {
        bail!(RequestError::Invalid(format!(
            "an archive is imported into a data folder first: set store=sqlite, import, then move it with `{}`",
            suggest::command("move-store"),
        )));
    }
    Ok(())
}
