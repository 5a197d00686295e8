//! `daybook export`: the whole memory in a form that other programs read, or what it has of one user.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;

use super::CommonArgs;
use super::handback::HandBackArgs;
use crate::backup::archive::{ArchiveManifest, write_archive};
use crate::backup::user_archive::{UserManifest, write_user_archive};
use crate::backup::vault::{VaultSummary, write_vault};
use crate::folders::data_folder::display_path;
use crate::process::block_on;
use crate::terminal::output::{bold, count, json as print_json, print_line};
use crate::wiring::Daybook;

/// Write the whole memory to one file that other programs read: Markdown, and every table as JSON.
///
/// `daybook import FILE --root FOLDER` makes the memory again from it, on any machine, with its history. The same memory
/// always gives the same bytes. daybook.toml is not in it. The file is readable by its owner alone.
///
/// With --user it holds what the memory has of one user, with a README.md to read first, as an access request asks for. No
/// memory is made from that.
///
/// With --vault it is a folder of linked pages to read; a citation leads to the page of its session.
///
/// With --profile the files of Codex, MindRoom or Daycare are written into a folder instead. A home that `daybook import`
/// took over is handed back: what nothing changed in is the same bytes, a memory that you edited has your words, one that you
/// forgot is left out, and what was learned since is added in that system's form. The home itself is only read. Files of the
/// home that are no part of its memory are left out and named.
#[derive(Args)]
pub(crate) struct ExportCommand {
    /// The file to write, which must not exist
    #[arg(
        value_name = "FILE",
        required_unless_present_any = ["profile", "vault"],
        conflicts_with_all = ["profile", "vault"]
    )]
    file: Option<PathBuf>,
    /// Only what the memory has of this user: their sessions, what was learned from these, and what names them
    #[arg(long, value_name = "USER", conflicts_with = "profile")]
    user: Option<String>,
    /// Instead of a file, a folder of linked Markdown pages, for Obsidian and for hosts of git repositories: a new or empty
    /// one, or an earlier one, whose pages are replaced
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["profile", "user"])]
    vault: Option<PathBuf>,
    /// With --vault: begin each page with its scope, kind, session and day as properties
    #[arg(long, requires = "vault")]
    frontmatter: bool,
    #[command(flatten)]
    hand_back: HandBackArgs,
}

impl ExportCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        if let Some(code) = self.hand_back.run(common)? {
            return Ok(code);
        }
        let daybook = Daybook::open_existing(common)?;
        if let Some(vault) = &self.vault {
            let written = write_vault(&daybook.root, &daybook.tenant, vault, self.frontmatter)?;
            return print_vault(common, vault, &written);
        }
        let file = self.file.as_deref().context("name the file to write")?;
        if let Some(user) = &self.user {
            let manifest = block_on(write_user_archive(&daybook, user, file))?;
            return print_user_summary(common, &display_path(file), &manifest);
        }
        let manifest = block_on(write_archive(&daybook, file))?;
        print_summary(common, "exported to", &display_path(file), &manifest)
    }
}

fn print_vault(common: &CommonArgs, vault: &Path, written: &VaultSummary) -> Result<ExitCode> {
    let VaultSummary { pages, links } = written;
    if common.json {
        print_json(&json!({ "place": vault, "pages": pages, "links": links }))?;
    } else {
        print_line!(
            "{} with {} written to {}; README.md links them. They are a copy: edit the memory folders themselves.",
            bold(&count(*pages as u64, "page")),
            bold(&count(*links as u64, "link")),
            display_path(vault),
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what an archive of one user holds.
fn print_user_summary(
    common: &CommonArgs,
    place: &str,
    manifest: &UserManifest,
) -> Result<ExitCode> {
    let rows = |table: &str| manifest.rows.get(table).copied().unwrap_or_default();
    if common.json {
        print_json(&json!({
            "place": place,
            "user": manifest.user,
            "sessions": rows("sessions"),
            "events": rows("events"),
            "observations": rows("observations"),
        }))?;
    } else {
        print_line!(
            "{}, {} and {} of {} exported to {place}. Begin with README.md in it.",
            bold(&count(rows("sessions"), "session")),
            bold(&count(rows("events"), "event")),
            bold(&count(rows("observations"), "memory")),
            manifest.user,
        );
    }
    Ok(ExitCode::SUCCESS)
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
