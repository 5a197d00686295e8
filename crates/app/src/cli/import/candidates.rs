//! Which files an import reads: those that were named, or what the agents of this machine left, as far as the person chooses.
//!
//! Not here: reading them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use daybook_domain::Timestamp;
use daybook_domain::time::Clock;
use daybook_engine::import::{ImportCandidate, scan};
use daybook_engine::transcripts::peek::peek;
use jiff::tz::TimeZone;

use super::ImportCommand;
use crate::cli::homes::HomesToImport;
use crate::cli::{CommonArgs, can_ask, disclosure};
use crate::clock::SystemClock;
use crate::folders::hosts::{TranscriptFile, transcripts_in};
use crate::folders::transcript_places::{TranscriptFolder, files_in_projects, transcript_folders};
use crate::folders::{data_folder, sample};
use crate::service::moment::beginning;
use crate::settings::Settings;
use crate::settings::zone::local_zone;
use crate::terminal::output::{count, dim, eprint_line, size, warn};
use crate::terminal::wrap::short_path;

impl ImportCommand {
    /// The files to import; `None` when the person declined, or there are none.
    pub(super) fn candidates(
        &self,
        common: &CommonArgs,
        paths: Vec<PathBuf>,
        homes: &HomesToImport,
    ) -> Result<Option<Vec<ImportCandidate>>> {
        if self.sample {
            let folder = data_folder::locate(common.root.as_deref())?;
            data_folder::create(&folder)?;
            return Ok(Some(scan(&[sample::unpack(&folder)?])));
        }
        if self.paths.is_empty() {
            let found = self.discovered(common)?;
            return Ok(found.map(|found| homes.read_databases(found)));
        }
        let (streams, paths): (Vec<PathBuf>, Vec<PathBuf>) =
            paths.into_iter().partition(|path| path.as_os_str() == "-");
        let mut candidates = homes.read_databases(scan(&paths));
        // A missing file among several is that file's failure; where none exists, the command line is wrong.
        if let [ImportCandidate::Missing(path, error)] = candidates.as_slice()
            && homes.is_empty()
            && self.paths.len() == 1
        {
            bail!("{} cannot be read: {error}", path.display());
        }
        if self.has_filters() {
            let filter = self.filter()?;
            candidates.retain(|candidate| match candidate {
                ImportCandidate::File { path, size, .. } => filter.keeps(&TranscriptFile {
                    path: path.clone(),
                    size: *size,
                    peek: peek(path).unwrap_or_default(),
                }),
                ImportCandidate::Stream { .. } | ImportCandidate::Missing(..) => true,
            });
        }
        if !streams.is_empty() {
            candidates.push(ImportCandidate::Stream {
                name: "-".to_owned(),
                input: Box::new(std::io::stdin()),
            });
        }
        Ok(Some(candidates))
    }

    pub(super) fn has_filters(&self) -> bool {
        self.since.is_some() || !self.project.is_empty() || !self.exclude.is_empty()
    }

    fn filter(&self) -> Result<TranscriptFilter> {
        let zone = local_zone();
        let since = |text| since(text, SystemClock.now(), zone);
        Ok(TranscriptFilter {
            since: self.since.as_deref().map(since).transpose()?,
            projects: self.project.clone(),
            excluded: self.exclude.clone(),
        })
    }

    fn discovered(&self, common: &CommonArgs) -> Result<Option<Vec<ImportCandidate>>> {
        if !self.yes && !self.dry_run && !can_ask(common) {
            bail!(
                "there is no terminal to ask on; name the files or folders to import, \
                 or pass --yes to import the sessions of the agents on this machine"
            );
        }
        let filter = self.filter()?;
        let say = !common.json;
        if say {
            eprint_line!("Looking where agents keep their sessions …");
        }
        let look_in = |folder: &TranscriptFolder| {
            let mut found = transcripts_in(folder);
            found.retain(|found| filter.keeps(found));
            if say && !found.is_empty() {
                let place = data_folder::display_path(&folder.path);
                eprint_line!("  {}", found_line(folder.name, &place, &found));
            }
            found
        };
        let mut all: Vec<TranscriptFile> = Vec::new();
        for folder in transcript_folders() {
            all.extend(look_in(&folder));
        }
        let folders = all.iter().filter_map(|found| found.peek.folder.as_deref());
        for file in files_in_projects(folders) {
            all.extend(look_in(&file));
        }
        if all.is_empty() {
            eprint_line!(
                "No sessions of agents were found. Name files or folders to import, \
                 or try `daybook import --sample`."
            );
            return Ok(None);
        }
        if say {
            eprint_line!("  {}", dim(&projects_line(&all)));
        }
        if !self.yes && !self.dry_run {
            let into = data_folder::display_path(&data_folder::locate(common.root.as_deref())?);
            let settings =
                Settings::load(&data_folder::locate(common.root.as_deref())?, &common.set)?;
            let sizes: Vec<u64> = all.iter().map(|found| found.size).collect();
            for line in disclosure::lines(&settings, &sizes, !self.no_process) {
                eprint_line!("{line}");
            }
            match ask(&into, &all)? {
                Some(chosen) => all.retain(|found| chosen.contains(found.project())),
                None => return Ok(None),
            }
        }
        let paths: Vec<PathBuf> = all.into_iter().map(|found| found.path).collect();
        Ok(Some(scan(&paths)))
    }
}

/// Selects the transcripts to import.
struct TranscriptFilter {
    since: Option<Timestamp>,
    projects: Vec<String>,
    excluded: Vec<String>,
}

impl TranscriptFilter {
    fn keeps(&self, found: &TranscriptFile) -> bool {
        let folder = found.peek.folder.as_deref().unwrap_or_default();
        let path = found.path.to_string_lossy();
        let named = |name: &String| {
            found.project() == name || folder == name || path.contains(&format!("/{name}/"))
        };
        let holds = |text: &String| folder.contains(text.as_str()) || path.contains(text.as_str());
        self.since.is_none_or(|since| found.last_at() >= since)
            && (self.projects.is_empty() || self.projects.iter().any(named))
            && !self.excluded.iter().any(holds)
    }
}

/// A date, which begins at midnight in `zone`, or an age.
pub(in crate::cli) fn since(text: &str, now: Timestamp, zone: TimeZone) -> Result<Timestamp> {
    beginning(text, now, zone).with_context(|| {
        format!("--since {text} is neither a date such as 2026-01-31 nor an age such as 30d")
    })
}

/// Columns of the folder in which an agent's sessions were found.
const PLACE: usize = 28;

fn found_line(host: &str, folder: &str, found: &[TranscriptFile]) -> String {
    let bytes = found.iter().map(|found| found.size).sum();
    let days = |at: Option<Timestamp>| {
        at.and_then(|at| jiff::Timestamp::from_millisecond(at.0).ok())
            .map(|at| at.strftime("%-d %b %Y").to_string())
    };
    let first = days(found.iter().filter_map(|found| found.peek.first_at).min());
    let last = days(found.iter().filter_map(|found| found.peek.last_at).max());
    let span = match (first, last) {
        (Some(first), Some(last)) if first == last => first,
        (Some(first), Some(last)) => format!("{first} – {last}"),
        _ => String::new(),
    };
    let files = count(found.len() as u64, "file");
    format!(
        "{host:<13} {:<PLACE$} {files:>9}  {:>9}   {span}",
        short_path(folder, PLACE),
        size(bytes)
    )
}

fn by_project(found: &[TranscriptFile]) -> BTreeMap<&str, (usize, u64)> {
    let mut projects: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for one in found {
        let (files, bytes) = projects.entry(one.project()).or_default();
        *files += 1;
        *bytes += one.size;
    }
    projects
}

fn projects_line(found: &[TranscriptFile]) -> String {
    let mut projects: Vec<(&str, usize)> = by_project(found)
        .into_iter()
        .map(|(name, (files, _))| (name, files))
        .collect();
    projects.sort_by_key(|(name, files)| (std::cmp::Reverse(*files), *name));
    let shown: Vec<String> = projects
        .iter()
        .take(6)
        .map(|(name, files)| format!("{name} ({files})"))
        .collect();
    let more = match projects.len().saturating_sub(6) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("in {}{more}", shown.join(", "))
}

/// The projects to import; `None` for none.
fn ask(into: &str, found: &[TranscriptFile]) -> Result<Option<BTreeSet<String>>> {
    let projects = by_project(found);
    let all = || projects.keys().map(|name| (*name).to_owned()).collect();
    loop {
        let answer = line(&format!(
            "Import into {into}?  [Y]es / [c]hoose projects / [n]o   "
        ))?;
        match answer.to_lowercase().as_str() {
            "" | "y" | "yes" => return Ok(Some(all())),
            "n" | "no" => return Ok(None),
            "c" | "choose" => break,
            _ => eprint_line!("Please answer y, c or n."),
        }
    }
    let mut chosen = BTreeSet::new();
    for (name, (files, bytes)) in &projects {
        let files = count(*files as u64, "file");
        let answer = line(&format!(
            "  {name}  ({files}, {})  [Y]es / [n]o   ",
            size(*bytes)
        ))?;
        if !answer.to_lowercase().starts_with('n') {
            chosen.insert((*name).to_owned());
        }
    }
    if chosen.is_empty() {
        eprint_line!("{}", warn("Nothing was chosen, so nothing is imported."));
        return Ok(None);
    }
    Ok(Some(chosen))
}

/// Prints a question, and reads one line of the answer.
pub(in crate::cli) fn line(question: &str) -> Result<String> {
    let mut out = anstream::stderr();
    write!(out, "{question}")?;
    out.flush()?;
    let mut answer = String::new();
    if std::io::stdin().read_line(&mut answer)? == 0 && std::io::stdin().is_terminal() {
        // The end of input counts as no, which changes nothing.
        return Ok("n".to_owned());
    }
    Ok(answer.trim().to_owned())
}
