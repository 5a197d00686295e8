//! `daybook support-bundle`: writes what others need to help with a problem, and nothing that a person or an agent wrote.
//!
//! Each part names what may go into it: numbers, times, and words of a fixed set. Whatever a person, an agent or a file
//! system names (sessions, scopes, paths, messages of errors) is left out, or is a number in its place.

mod parts;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use daybook_domain::Job;
use serde_json::json;
use tar::{Builder, Header};
use tempfile::NamedTempFile;

use super::CommonArgs;
use crate::folders::data_folder::display_path;
use crate::process::block_on;
use crate::terminal::output::{dim, json as print_json, print_line, size};
use crate::wiring::Daybook;
use parts::{ABOUT, BundlePart, JobNames};

/// Write a file that helps others find a problem, without any content
///
/// It holds versions, settings without texts, counts, states of jobs, classes of errors, timings, metrics and the results of the
/// checks of `daybook doctor`. No words of transcripts or memories, no names, no paths. Jobs are named by numbers that only this
/// data folder can resolve, with `--job`.
#[derive(Args)]
pub(crate) struct SupportBundleCommand {
    /// The file to write, where none may be
    #[arg(value_name = "FILE", default_value = "daybook-support.tar")]
    file: PathBuf,
    /// Print the job that a bundle of this data folder calls so, and write nothing
    #[arg(long, value_name = "NUMBER")]
    job: Option<String>,
}

impl SupportBundleCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        if let Some(number) = &self.job {
            return print_job(common, number);
        }
        let parts = parts::collect(common);
        write(&self.file, &parts)?;
        let sizes = parts.iter().map(|part| (part.name, part.text.len() as u64));
        if common.json {
            let sizes = sizes.map(|(name, bytes)| json!({"name": name, "bytes": bytes}));
            print_json(&json!({"file": self.file, "parts": sizes.collect::<Vec<_>>()}))?;
            return Ok(ExitCode::SUCCESS);
        }
        print_line!("Wrote {}:", display_path(&self.file));
        for (part, (name, bytes)) in parts.iter().zip(sizes) {
            print_line!("  {name:<16} {:>8}  {}", size(bytes), dim(part.about));
        }
        print_line!(
            "It holds no words of transcripts or memories, no names and no paths. Look into it before you send it."
        );
        Ok(ExitCode::SUCCESS)
    }
}

fn print_job(common: &CommonArgs, number: &str) -> Result<ExitCode> {
    let daybook = Daybook::open_existing(common)?;
    let names = JobNames::of(&daybook)?;
    let jobs = block_on(parts::all_jobs(&daybook))?;
    let found = jobs.iter().find(|job| names.number(&job.key) == number);
    let Some(Job { key, .. }) = found else {
        bail!("no job has the number {number} in a bundle of this data folder");
    };
    match common.json {
        true => print_json(&json!({"job": key.to_string()}))?,
        false => print_line!("{key}"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a tar file that is there whole or not at all, readable by its owner alone.
fn write(path: &Path, parts: &[BundlePart]) -> Result<()> {
    if path.exists() {
        bail!("{} exists already; name a new file", display_path(path));
    }
    let failed = || format!("cannot write {}", display_path(path));
    let beside = path.parent().filter(|it| !it.as_os_str().is_empty());
    let file = NamedTempFile::new_in(beside.unwrap_or(Path::new("."))).with_context(failed)?;
    let mut tar = Builder::new(file);
    let about = BundlePart::about(ABOUT);
    for part in std::iter::once(&about).chain(parts) {
        let mut header = Header::new_gnu();
        header.set_size(part.text.len() as u64);
        header.set_mode(0o600);
        tar.append_data(&mut header, part.name, part.text.as_bytes())
            .with_context(failed)?;
    }
    let mut file = tar.into_inner().with_context(failed)?;
    file.flush().with_context(failed)?;
    file.persist_noclobber(path).with_context(failed)?;
    Ok(())
}
