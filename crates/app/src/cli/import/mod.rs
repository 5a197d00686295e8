//! `daybook import`: imports transcripts, and learns from them.
//!
//! Not here: which files there are (`candidates`), archives of `daybook export` (`archive`).

mod archive;
mod candidates;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use daybook_domain::page::read_first;
use daybook_domain::source::ImportNo;
use daybook_engine::hook_events::process::bind_venues;
use daybook_engine::import::{ImportCandidate, ImportReport, import_learned};
use daybook_engine::jobs::{self, UpdateReport, WaitFilter, WorkerContext};
use daybook_engine::stop::Stop;
use serde_json::{Value, json};

pub(super) use candidates::{line, since};

use archive::import_archive;

use super::homes::{HomesToImport, record_databases};
use super::import_summary::ImportSummary;
use super::update::{as_json, count_due_sessions};
use super::{CommonArgs, disclosure, first_run, watch};
use crate::background::host_folders;
use crate::backup::archive::is_archive;
use crate::folders::{data_folder, sample};
use crate::models::embedding::embed_waiting;
use crate::process::{block_on, lower_priority, stop_on_interrupt};
use crate::service::{RequestError, damage};
use crate::settings::Settings;
use crate::terminal::output::{count, dim, eprint_line, json as print_json, print_line, size};
use crate::terminal::progress::{ImportBar, UpdateBar};
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Import the transcripts of your agents, and learn from them.
///
/// Without a path, the sessions of the agents on this machine are imported. `-` reads
/// standard input. Importing again adds only what is new. A file that fails is named, and the others are
/// imported all the same; the exit code is 1 then. An archive that `daybook export` wrote becomes a memory in an empty data
/// folder.
#[derive(Args)]
pub(crate) struct ImportCommand {
    /// Files and folders; `-` for standard input
    paths: Vec<PathBuf>,
    /// Only sessions that were active since then: a date, or an age such as 30d
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only sessions of this project or folder; may be repeated
    #[arg(long, value_name = "NAME")]
    project: Vec<String>,
    /// Exclude sessions whose project, folder or path contains this; may be repeated
    #[arg(long, value_name = "TEXT")]
    exclude: Vec<String>,
    /// Show what would be imported, and import nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Only import; learn later, with `daybook update`
    #[arg(long)]
    no_process: bool,
    /// Import a small sample instead, into a data folder of its own
    #[arg(long, conflicts_with_all = ["paths", "undo"])]
    sample: bool,
    /// Remove exactly what one import added: the last, or the one of this number
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "0")]
    undo: Option<i64>,
    /// Keep importing new events from there, until stopped
    #[arg(long, conflicts_with_all = ["undo", "dry_run", "sample", "no_process"])]
    watch: bool,
    /// With an archive: also purge what this file of tombstones names, `purged/tombstones` of the folder that was exported
    #[arg(long, value_name = "FILE")]
    tombstones: Option<PathBuf>,
}

impl ImportCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        if let Some(number) = self.undo {
            return undo(common, number);
        }
        if let Some(archive) = self.archive()? {
            return match self.dry_run {
                true => archive::dry_run(common, archive),
                false => import_archive(common, archive, self.tombstones.as_deref()),
            };
        }
        let common = &self.with_sample_root(common)?;
        suggest::use_flags(common);
        let (homes, paths) = self.homes();
        let Some(candidates) = self.candidates(common, paths, &homes)? else {
            return Ok(ExitCode::SUCCESS);
        };
        if self.dry_run {
            return self.dry_run(common, &candidates, &homes);
        }
        lower_priority();
        let daybook = Daybook::open_or_create(common)?;
        block_on(damage::warn_of_damage(&daybook))?;
        let was_asked = self.paths.is_empty() && !self.yes && !self.sample;
        if !common.json && daybook.models().extracts_with_model() && !was_asked {
            self.disclose(&daybook.settings, &candidates);
        }
        let stop = stop_on_interrupt()?;
        let began = Instant::now();
        let files = (candidates, &homes);
        let taken = block_on(self.import_changed(common, &daybook, files, &stop));
        let (report, learned) = taken.with_context(|| self.recovery_hint())?;
        if common.json {
            print_json(&json!({
                "import": report.import.map(|import| import.0),
                "events": report.added(),
                "sessions": report.sessions.len(),
                "files": report.files,
                "failed": report.failed().count(),
                "secrets": report.secrets,
                "learned": learned.as_ref().map(as_json),
                "stopped": report.stopped,
                "seconds": began.elapsed().as_secs_f64(),
            }))?;
        } else {
            let summary = ImportSummary {
                report: &report,
                learned: learned.as_ref(),
                seconds: began.elapsed().as_secs_f64(),
                sample: self.sample,
            };
            homes.print_taken_over(&report);
            block_on(first_run::print_summary(&daybook, &summary))?;
        }
        if self.watch && !report.stopped {
            watch::watch(common, daybook, self.watched_folders()?, &stop)?;
        }
        let failed = report.failed().next().is_some()
            || learned.is_some_and(|learned| learned.broken().next().is_some());
        Ok(if report.stopped || failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }

    /// Whether it imports until it is stopped.
    pub(crate) fn watches(&self) -> bool {
        self.watch
    }

    /// The archive, where one is to be imported.
    fn archive(&self) -> Result<Option<&Path>> {
        let archive = self.paths.iter().find(|path| is_archive(path));
        let is_alone = self.paths.len() == 1 && !self.has_filters() && !self.watch;
        match archive {
            Some(_) if !is_alone => bail!(RequestError::Invalid(
                "an archive is a whole memory: import it alone, without filters".to_owned()
            )),
            None if self.tombstones.is_some() => bail!(RequestError::Invalid(
                "--tombstones goes with an archive of `daybook export`".to_owned()
            )),
            archive => Ok(archive.map(PathBuf::as_path)),
        }
    }

    /// The arguments with a data folder of the sample's own, so that it never mixes with a person's memory.
    fn with_sample_root(&self, common: &CommonArgs) -> Result<CommonArgs> {
        let mut common = common.clone();
        if self.sample && common.root.is_none() {
            common.root = Some(sample::root()?);
            // The environment may name a server; the sample does not go there.
            let names_server = std::env::var_os("DAYBOOK_STORE").is_some();
            if names_server && !common.set.iter().any(|set| set.starts_with("store=")) {
                common.set.push("store=sqlite".to_owned());
            }
        }
        Ok(common)
    }

    /// The advice after an import that broke off: what is stored stays, and is not read again.
    fn recovery_hint(&self) -> String {
        let paths = self
            .paths
            .iter()
            .map(|path| path.to_string_lossy().into_owned());
        let mut words = vec!["import".to_owned()];
        words.extend(paths);
        words.extend(self.sample.then(|| "--sample".to_owned()));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let again = suggest::command_of(&words);
        format!(
            "the import broke off, and what it has stored stays; fix the cause, then run `{again}` to continue"
        )
    }

    /// Prints what will be sent to which provider, before the import begins.
    fn disclose(&self, settings: &Settings, candidates: &[ImportCandidate]) {
        let sizes: Vec<u64> = candidates.iter().map(ImportCandidate::size).collect();
        for line in disclosure::lines(settings, &sizes, !self.no_process) {
            eprint_line!("{line}");
        }
    }

    fn dry_run(
        &self,
        common: &CommonArgs,
        candidates: &[ImportCandidate],
        homes: &HomesToImport,
    ) -> Result<ExitCode> {
        let folder = data_folder::locate(common.root.as_deref())?;
        let settings = Settings::load(&folder, &common.set)?;
        let sizes: Vec<u64> = candidates.iter().map(ImportCandidate::size).collect();
        if common.json {
            let asks = disclosure::as_json(&settings, &sizes);
            let vectors = disclosure::vectors_as_json(&settings, &sizes);
            return dry_run_json(candidates, homes, &asks, &vectors);
        }
        let lines = disclosure::lines(&settings, &sizes, !self.no_process);
        homes.print_dry_run();
        dry_run(candidates);
        for line in lines {
            print_line!("{line}");
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn import_changed(
        &self,
        common: &CommonArgs,
        daybook: &Daybook,
        (candidates, homes): (Vec<ImportCandidate>, &HomesToImport),
        stop: &Stop,
    ) -> Result<(ImportReport, Option<UpdateReport>)> {
        let (worker, _present) = daybook.attended_worker().await?;
        let reading = ImportBar::start(common, candidates.iter().map(ImportCandidate::size).sum());
        let intake = daybook.intake();
        bind_venues(&daybook.spool(), &intake).await?;
        let (name, learned) = (self.name(), homes.learned(&candidates));
        let reading_all = import_learned(&intake, &name, candidates, &learned, stop, &reading);
        let mut report = reading_all.await?;
        reading.end();
        record_databases(&worker, &report).await?;
        jobs::settle_projects(&worker).await?;
        if !stop.is_requested() {
            homes.take_over(&worker, &name, &mut report).await?;
        }
        embed_waiting(&daybook.models(), stop).await?;
        if self.no_process || stop.is_requested() {
            return Ok((report, None));
        }
        jobs::retry_waiting(&worker, WaitFilter::Overlong).await?;
        let learned = learn(common, &worker, stop).await?;
        embed_waiting(&daybook.models(), stop).await?;
        Ok((report, Some(learned)))
    }

    /// The folders to watch.
    fn watched_folders(&self) -> Result<Vec<PathBuf>> {
        if self.paths.is_empty() {
            return Ok(host_folders());
        }
        let paths = self.paths.iter().map(std::path::absolute);
        Ok(paths.collect::<std::io::Result<_>>()?)
    }

    fn name(&self) -> String {
        let paths: Vec<String> = self
            .paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        match (self.sample, paths.is_empty()) {
            (true, _) => "the sample".to_owned(),
            (false, true) => "the agents of this machine".to_owned(),
            (false, false) => paths.join(" "),
        }
    }

    /// The homes among the paths, and all other paths; the transcripts of homes are among these.
    fn homes(&self) -> (HomesToImport, Vec<PathBuf>) {
        HomesToImport::split(self.paths.clone())
    }
}

async fn learn(common: &CommonArgs, worker: &WorkerContext, stop: &Stop) -> Result<UpdateReport> {
    let learning = UpdateBar::start(common, count_due_sessions(worker).await?);
    let learned = jobs::work(worker, stop, &learning).await?;
    learning.end();
    Ok(learned)
}

fn undo(common: &CommonArgs, number: i64) -> Result<ExitCode> {
    let daybook = Daybook::open_existing(common)?;
    let stop = stop_on_interrupt()?;
    block_on(async {
        let (store, tenant) = (&daybook.store, &daybook.tenant);
        let newest = read_first(1, |page| store.imports(tenant, page)).await?;
        let import = match (number, newest.first()) {
            (0, Some(last)) => last.no,
            (0, None) => bail!("there is no import to undo"),
            (number, _) => ImportNo(number),
        };
        let (worker, _present) = daybook.attended_worker().await?;
        let undone = daybook
            .store
            .undo_import(&daybook.tenant, import, daybook.clock.now())
            .await?;
        let learned = learn(common, &worker, &stop).await?;
        if common.json {
            print_json(&json!({
                "import": import.0,
                "events": undone.events,
                "sessions": undone.sessions,
                "shortened": undone.shortened,
                "observations": undone.observations,
                "learned": as_json(&learned),
            }))?;
        } else {
            print_line!(
                "Import {} is undone: {} of {} removed, {} withdrawn.",
                import.0,
                count(undone.events, "event"),
                count(undone.sessions + undone.shortened, "session"),
                count(undone.observations, "observation"),
            );
            print_line!(
                "{}",
                dim("Memory files keep what you wrote yourself, and their history.")
            );
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn dry_run_json(
    candidates: &[ImportCandidate],
    homes: &HomesToImport,
    asks: &Value,
    vectors: &Value,
) -> Result<ExitCode> {
    let bytes: u64 = candidates.iter().map(ImportCandidate::size).sum();
    print_json(&json!({
        "files": paths(candidates),
        "bytes": bytes,
        "homes": homes.as_json(),
        "asks": asks,
        "vectors": vectors,
    }))?;
    Ok(ExitCode::SUCCESS)
}

fn dry_run(candidates: &[ImportCandidate]) {
    let bytes: u64 = candidates.iter().map(ImportCandidate::size).sum();
    let paths = paths(candidates);
    for path in &paths {
        print_line!("  {}", data_folder::display_path(path));
    }
    let files = count(paths.len() as u64, "file");
    print_line!("{files}, {}, would be imported. Nothing was.", size(bytes));
}

fn paths(candidates: &[ImportCandidate]) -> Vec<&PathBuf> {
    let paths = candidates.iter().filter_map(|candidate| match candidate {
        ImportCandidate::File { path, .. } | ImportCandidate::Missing(path, _) => Some(path),
        ImportCandidate::Stream { .. } => None,
    });
    paths.collect()
}
