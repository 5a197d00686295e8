//! Archives: a whole memory in a form that people and other programs read, and from which Daybook makes it again.
//!
//! An archive is a tar file of a text about it, every table as lines of JSON, the memory folders with their histories, and
//! last a manifest. The same memory always gives the same bytes. A backup is smaller and read faster, and belongs to one
//! kind of database; an archive belongs to none.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
#[cfg(feature = "postgres")]
use daybook_engine::jobs::FolderSync;
use daybook_engine::profile::Ledger;
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
#[cfg(feature = "postgres")]
use daybook_store::transfer;
use daybook_store::transfer::{Portable, Row, TABLES, Table, json_lines};
use serde::{Deserialize, Serialize};

use super::restoring::{UnpackedTar, check_tables, make_folder};
use super::writing::TarWriter;
use super::{ABOUT, FileSummary, MANIFEST, PARTS, TableSummary, tables};
use crate::folders::data_folder::display_path;
use crate::process::block_on;
use crate::terminal::suggest;
use crate::wiring::{DATABASE, Daybook, MemoryDatabase};

/// The version of the form of archives.
const FORM: u32 = 1;
const ABOUT_TEXT: &str = include_str!("archive_about.md");
/// The folder of the tables.
const ROWS: &str = "rows";
/// What a backup has of the data folder and an archive does not: settings belong to a machine, and may name its servers.
const LEFT_OUT: [&str; 2] = ["daybook.toml", daybook_store::flush_state::FILE];
/// Rows that are read or written at once.
const PAGE: usize = 500;
/// Longest line of a table that is read, in bytes: an event is far shorter.
const LINE_BYTES: u64 = 1 << 28;

/// The contents of an archive.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ArchiveManifest {
    form: u32,
    pub(crate) tables: BTreeMap<String, TableSummary>,
    /// The last number that each table gave to a row, rows that are gone included.
    numbers: BTreeMap<String, i64>,
    pub(crate) files: BTreeMap<String, FileSummary>,
}

/// Writes a memory to a new archive at `path`. Other writers of a database on a server wait meanwhile.
pub(crate) async fn write_archive(daybook: &Daybook, path: &Path) -> Result<ArchiveManifest> {
    if daybook.settings.profile.ledger == Ledger::Json {
        bail!(
            "ledger = \"json\" keeps jobs in a file beside the database, and an archive would not have them; \
             set ledger = \"database\", run `{}`, then export",
            suggest::command("update"),
        );
    }
    let writing = TarWriter::create(path)?;
    match &daybook.database {
        MemoryDatabase::File(store) => {
            let copy = writing.scratch(DATABASE);
            store.copy_to(&copy)?;
            let copy = SqliteStore::open(&copy, SqliteOptions::default())?;
            write_parts(writing, &copy, &daybook.root).await
        }
        #[cfg(feature = "postgres")]
        MemoryDatabase::Server(store) => {
            bring_folders_up_to_date(daybook).await?;
            let _held = store.hold().await.context(
                "another process writes to this memory; run this again when it has ended",
            )?;
            write_parts(writing, &**store, &daybook.root).await
        }
    }
}

/// Brings the memory folders here to the state that all machines share.
#[cfg(feature = "postgres")]
pub(super) async fn bring_folders_up_to_date(daybook: &Daybook) -> Result<()> {
    let trees = daybook.trees.as_deref();
    let trees = trees.context("the database has no memory files")?;
    let sharing = FolderSync {
        store: &*daybook.store,
        trees,
        root: &daybook.root,
    };
    for tenant in transfer::tenants(daybook.database.portable()).await? {
        let mut worker = daybook.worker_context("export")?;
        worker.tenant = tenant.clone();
        let wait = worker.limits.folder_wait;
        sharing.sync_all(&tenant, &worker.stamp(), wait).await?;
    }
    Ok(())
}

async fn write_parts(
    mut writing: TarWriter<'_>,
    store: &dyn Portable,
    root: &Path,
) -> Result<ArchiveManifest> {
    let about = writing.scratch(ABOUT);
    fs::write(&about, ABOUT_TEXT)?;
    writing.add_private(&about, ABOUT)?;
    let mut numbers = BTreeMap::new();
    for table in &TABLES {
        let name = file_of(table);
        let lines = writing.scratch(table.name);
        let written = write_rows(store, table, &lines).await;
        written.with_context(|| format!("cannot write {name}"))?;
        writing.add_private(&lines, &name)?;
        fs::remove_file(&lines)?;
        if table.numbers.is_some() {
            let last = store.last_number(table).await?;
            numbers.insert(table.name.to_owned(), last);
        }
    }
    for part in PARTS.iter().filter(|part| !LEFT_OUT.contains(part)) {
        writing.add(&root.join(part), part)?;
    }
    let tables = tables(store).await?;
    writing.finish(MANIFEST, |files| ArchiveManifest {
        form: FORM,
        tables,
        numbers,
        files,
    })
}

fn file_of(table: &Table) -> String {
    format!("{ROWS}/{}.jsonl", table.name)
}

async fn write_rows(store: &dyn Portable, table: &Table, to: &Path) -> Result<()> {
    let mut lines = BufWriter::new(File::create_new(to)?);
    let mut after = None;
    loop {
        let page = store.page(table, after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(table.key_of(last));
        for row in &page {
            writeln!(lines, "{}", json_lines::line_of(table, row))?;
        }
    }
    lines.flush()?;
    Ok(())
}

/// Whether a file is an archive, by its first bytes.
pub(crate) fn is_archive(path: &Path) -> bool {
    let mut begin = [0; ABOUT.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *ABOUT.as_bytes()
}

/// Makes the data folder at `root`, which must be empty or missing, from the archive at `path`. A damaged archive leaves
/// nothing behind.
pub(crate) fn read_archive(path: &Path, root: &Path) -> Result<ArchiveManifest> {
    make_folder(path, root, complete)
        .with_context(|| format!("{} cannot be imported", display_path(path)))
}

/// Checks an unpacked archive and makes the database from its tables.
fn complete(found: &UnpackedTar, folder: &Path) -> Result<ArchiveManifest> {
    let manifest: ArchiveManifest = found.manifest(FORM)?;
    found.check_files(&manifest.files)?;
    let store = SqliteStore::open(&folder.join(DATABASE), SqliteOptions::default())?;
    for table in &TABLES {
        let name = file_of(table);
        // A table that came with a later version has no rows yet.
        if manifest.files.contains_key(&name) {
            read_rows(&store, table, &folder.join(&name))
                .with_context(|| format!("cannot read {name}"))?;
        }
        if let Some(last) = manifest.numbers.get(table.name) {
            block_on(async { Ok(store.count_from(table, *last).await?) })?;
        }
    }
    check_tables(&store, &manifest.tables)?;
    fs::remove_dir_all(folder.join(ROWS))?;
    fs::remove_file(folder.join(ABOUT))?;
    Ok(manifest)
}

fn read_rows(store: &SqliteStore, table: &Table, from: &Path) -> Result<()> {
    let mut lines = BufReader::new(File::open(from)?);
    let mut number = 0;
    loop {
        let mut page: Vec<Row> = Vec::new();
        while page.len() < PAGE {
            let mut line = String::new();
            if lines.by_ref().take(LINE_BYTES).read_line(&mut line)? == 0 {
                break;
            }
            number += 1;
            let row = json_lines::row_of(table, &line).with_context(|| format!("line {number}"))?;
            page.push(row);
        }
        if page.is_empty() {
            return Ok(());
        }
        block_on(async { Ok(store.put(table, &page).await?) })?;
    }
}
