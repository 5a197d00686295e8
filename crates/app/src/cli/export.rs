//! `daybook export`: the whole memory in a form that other programs read, or what it has of one user.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::CommonArgs;
use crate::backup::archive::{ArchiveManifest, write_archive};
use crate::folders::data_folder::display_path;
use crate::process::block_on;
use crate::terminal::output::{bold, count, json as print_json, print_line};
use crate::wiring::Daybook;

/// Write the whole memory to one file that other programs read: Markdown, and every table as JSON.
///
/// `daybook import FILE --root FOLDER` makes the memory again from it, on any machine, with its history. The same memory
/// always gives the same bytes. daybook.toml is not in it. The file is readable by its owner alone.
#[derive(Args)]
pub(crate) struct ExportCommand {
    /// The file to write, which must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl ExportCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let manifest = block_on(write_archive(&daybook, &self.file))?;
        print_summary(common, "exported to", &display_path(&self.file), &manifest)
    }
}

/// Prints what an archive holds.
pub(crate) fn print_summary(
    common: &CommonArgs,
    did: &str,
    place: &str,
    manifest: &ArchiveManifest,
) -> Result<ExitCode> {
    let rows = |table: &str| manifest.tables.get(table).map_or(0, |table| table.rows);
    let files = manifest.files.keys().filter(|name| name.ends_with(".md"));
    let files = files.count() as u64 - 1;
    if common.json {
        print_json(&json!({
            "place": place,
            "events": rows("events"),
            "observations": rows("observations"),
            "memory_files": files,
        }))?;
    } else {
        print_line!(
            "{}, {} and {} {did} {place}.",
            bold(&count(rows("events"), "event")),
            bold(&count(rows("observations"), "memory")),
            count(files, "memory file"),
        );
    }
    Ok(ExitCode::SUCCESS)
}
