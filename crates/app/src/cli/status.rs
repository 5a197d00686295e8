//! `daybook status`: shows what is covered, pending, in gaps, and why.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use daybook_domain::page::visit_all;
use daybook_domain::source::{ImportRun, TranscriptSource};
use daybook_domain::{Job, JobStatus};
use serde_json::{Value, json};

use super::CommonArgs;
use super::sessions::day;
use super::update::unfinished_import;
use crate::folders::data_folder;
use crate::process::block_on;
use crate::service::damage::find_damage;
use crate::service::hidden_secrets::{HiddenSecrets, count_hidden};
use crate::service::overview::TenantMemoryState;
use crate::service::persons_secrets::{FileSecret, persons_secrets};
use crate::service::refusals::RefusedFile;
use crate::service::waits;
use crate::terminal::output::{
    bold, count, dim, json as print_json, print_line, rfc3339, size, warn,
};
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Most rows of a list that are shown to people; programs get all.
const ROWS: usize = 20;
/// Most past imports that are listed.
const IMPORTS: usize = 20;

/// Show what is covered, pending, in gaps, and why.
#[derive(Args)]
pub(crate) struct StatusCommand {
    /// List every file that was looked at
    #[arg(long)]
    files: bool,
    /// List how many secrets were hidden, by rule and place, and by file
    #[arg(long)]
    secrets: bool,
    /// List past imports
    #[arg(long)]
    imports: bool,
}

impl StatusCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let facts = block_on(TenantMemoryState::load(&daybook, IMPORTS))?;
        let damaged = block_on(find_damage(&daybook))?;
        if common.json {
            let mut all = block_on(as_json(&daybook, &facts, &damaged))?;
            if self.secrets {
                all["hidden_secrets"] = json!(block_on(count_hidden(&daybook))?);
                all["secrets_in_own_files"] = json!(block_on(persons_secrets(&daybook))?);
            }
            print_json(&all)?;
            return Ok(ExitCode::SUCCESS);
        }
        let sources = block_on(SourceSummary::load(&daybook))?;
        print_line!("{}", bold(&data_folder::display_path(&daybook.root)));
        for warning in &damaged {
            print_line!("  {}    {warning}", warn("damaged"));
        }
        print_sessions(&facts, &daybook);
        print_sources(&sources);
        print_failing(&facts);
        print_memory(&facts, &daybook);
        if let Some(line) = unfinished_import(&facts.imports) {
            print_line!("  {} {line}", warn("imports   "));
        }
        print_refused(&facts);
        if self.files {
            block_on(visit_sources(&daybook, print_file))?;
        }
        if self.secrets {
            print_hidden(&block_on(count_hidden(&daybook))?);
            block_on(visit_sources(&daybook, print_secrets))?;
            print_persons(&block_on(persons_secrets(&daybook))?);
        }
        if self.imports {
            print_imports(&facts, &daybook);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The whole status as JSON.
async fn as_json(
    daybook: &Daybook,
    facts: &TenantMemoryState,
    damaged: &[String],
) -> Result<Value> {
    let mut files: Vec<Value> = Vec::new();
    visit_sources(daybook, |source| files.push(file_json(&source))).await?;
    let mut all = json!(facts.overview());
    all["damaged"] = damaged.into();
    all["files"] = files.into();
    all["imports"] = facts.imports.iter().map(import_json).collect();
    Ok(all)
}

/// Hands each file that was looked at to `visit`, by path.
async fn visit_sources(daybook: &Daybook, visit: impl FnMut(TranscriptSource)) -> Result<()> {
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    Ok(visit_all(|page| store.sources(tenant, page), visit).await?)
}

/// What is shown of all files that were looked at.
#[derive(Default)]
struct SourceSummary {
    /// Files and bytes of each format.
    formats: BTreeMap<String, (u64, u64)>,
    /// The first files of no known format that did not fail.
    unknown: Vec<TranscriptSource>,
    /// How many such files there are.
    all_unknown: usize,
    /// Files of a known format with lines that could not be read.
    with_bad_lines: Vec<TranscriptSource>,
    /// Secrets that were hidden in all files.
    secrets: u64,
}

impl SourceSummary {
    async fn load(daybook: &Daybook) -> Result<Self> {
        let mut summary = Self::default();
        visit_sources(daybook, |source| summary.add(source)).await?;
        Ok(summary)
    }

    fn add(&mut self, source: TranscriptSource) {
        let (files, bytes) = self.formats.entry(source.format.clone()).or_default();
        *files += 1;
        *bytes += source.size;
        self.secrets += u64::from(source.secrets);
        if source.format != "unknown" {
            self.with_bad_lines
                .extend(Some(source).filter(|source| source.bad_lines > 0));
        } else if source.failure.is_none() {
            self.all_unknown += 1;
            if self.unknown.len() < ROWS {
                self.unknown.push(source);
            }
        }
    }
}

fn print_sessions(facts: &TenantMemoryState, daybook: &Daybook) {
    let coverage = &facts.coverage;
    let all = coverage.all;
    let mut parts = vec![format!("{} covered", coverage.covered)];
    if coverage.pending > 0 {
        parts.push(format!("{} pending", coverage.pending));
    }
    if coverage.failing > 0 {
        parts.push(warn(&format!("{} failing", coverage.failing)));
    }
    if coverage.stale > 0 {
        let age = crate::settings::spelled(facts.stale_after);
        parts.push(warn(&format!(
            "{} of them for more than {age}",
            coverage.stale
        )));
    }
    for (reason, n) in &coverage.never {
        parts.push(format!("{n} not extracted ({reason})"));
    }
    print_line!("  sessions   {all}: {}", parts.join(", "));
    print_waits(facts, daybook);
    if facts.waiting_hook_events > 0 {
        let waiting = count(facts.waiting_hook_events as u64, "hook event");
        let update = suggest::command("update");
        print_line!("  hooks      {waiting} not processed yet; `{update}` processes them");
    }
    if facts.quarantined > 0 {
        let waiting = count(facts.quarantined as u64, "observation");
        let list = suggest::command("quarantine");
        print_line!("  quarantine {waiting} for you to decide about; `{list}` lists them");
    }
    if facts.gaps.is_empty() {
        print_line!("  gaps       none");
    }
    for gap in &facts.gaps {
        print_line!(
            "  {}        {} events {}–{}: {}",
            warn("gap"),
            gap.job,
            gap.from,
            gap.to,
            gap.failure.message
        );
    }
}

/// Prints failures: jobs that wait, one line for each reason, runs of the consolidation agent, and jobs that are due again.
fn print_waits(facts: &TenantMemoryState, daybook: &Daybook) {
    for line in waits::wait_lines(daybook, &facts.waits) {
        print_line!("    {} {line}", warn("waiting"));
    }
    for run in &facts.agent_failures {
        print_line!(
            "    {} the consolidation agent in {}, which changed nothing: {}",
            warn("failing"),
            run.scope,
            run.why
        );
    }
    let jobs = facts.extract.iter().chain(&facts.consolidate);
    let now = daybook.clock.now();
    let is_due = |job: &&Job| !matches!(job.status(now), JobStatus::Waiting { .. });
    for job in jobs.filter(|job| job.is_ahead()).filter(is_due) {
        if let Some(failure) = &job.last_failure {
            print_line!("    {} {}: {}", warn("failing"), job.key, failure.message);
        }
    }
}

fn print_sources(summary: &SourceSummary) {
    for (format, &(files, bytes)) in &summary.formats {
        let label = if format == "unknown" {
            "not known"
        } else {
            format
        };
        print_line!("  {label:<12} {}, {}", count(files, "file"), size(bytes));
    }
    for source in &summary.unknown {
        let why = source
            .first_bad
            .as_ref()
            .map_or("", |(_, why)| why.as_str());
        print_line!("    {} {}", source.path, dim(why));
    }
    let more = summary.all_unknown - summary.unknown.len();
    if more > 0 {
        print_line!(
            "    {}",
            dim(&format!("… and {more} more; --files lists all"))
        );
    }
    for source in &summary.with_bad_lines {
        if let Some((line, why)) = &source.first_bad {
            let lines = count(u64::from(source.bad_lines), "unreadable line");
            print_line!(
                "    {} {lines}; the first is line {line}: {why}",
                source.path
            );
        }
    }
    if summary.secrets > 0 {
        print_line!(
            "  secrets    {} hidden before anything was written  {}",
            summary.secrets,
            dim(&suggest::command("status --secrets"))
        );
    }
}

/// Prints the files and hook events that could not be imported, each with its reason.
fn print_failing(facts: &TenantMemoryState) {
    if facts.failing.is_empty() {
        return;
    }
    let all = count(facts.failing.len() as u64, "file");
    print_line!(
        "  {}     {all} not imported completely; repair and import it again, or delete it",
        warn("failed")
    );
    for failing in facts.failing.iter().take(ROWS) {
        print_line!("    {}: {}", failing.path, failing.why);
    }
    if facts.failing.len() > ROWS {
        let more = facts.failing.len() - ROWS;
        print_line!(
            "    {}",
            dim(&format!("… and {more} more; --json lists all"))
        );
    }
}

fn print_memory(facts: &TenantMemoryState, daybook: &Daybook) {
    let now = daybook.clock.now();
    for state in facts
        .scopes
        .iter()
        .filter(|state| state.observations > 0)
        .take(ROWS)
    {
        let memories = count(state.observations, "memory");
        print_line!("  {:<24} {memories}", state.scope.to_string());
    }
    if let Some(line) = waits::resting_files(daybook, facts.consolidate.iter()) {
        print_line!("  files      those of {line}");
    }
    let is_resting = |job: &&&Job| matches!(job.status(now), JobStatus::Resting { .. });
    let unwritten = facts.unwritten();
    let resting = unwritten.iter().filter(is_resting).count();
    let unwritten = (unwritten.len() - resting) as u64;
    if unwritten > 0 {
        print_line!(
            "  files      those of {} wait to be written; `{}` writes them",
            count(unwritten, "scope"),
            suggest::command("update"),
        );
    }
}

fn print_refused(facts: &TenantMemoryState) {
    for RefusedFile { path, why, .. } in facts.refused.iter().take(ROWS) {
        print_line!("  {}     {path}: {why}", warn("not used"));
    }
    if facts.refused.len() > ROWS {
        let more = format!(
            "… and {} more; --json lists all",
            facts.refused.len() - ROWS
        );
        print_line!("    {}", dim(&more));
    }
    if !facts.refused.is_empty() {
        let what = "put regular files in their place, or move them out of the memory folders";
        print_line!("    {}", dim(what));
    }
}

fn print_file(source: TranscriptSource) {
    let session = source
        .session
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    print_line!(
        "  {:<12} {:>9}  {}  {}",
        source.format,
        size(source.size),
        source.path,
        dim(&session)
    );
}

/// `password      14, 3 different: tool results 9 · messages of people 5`
fn print_hidden(hidden: &HiddenSecrets) {
    for (rule, by_rule) in hidden {
        let all: u64 = by_rule.places.values().sum();
        let different = match by_rule.different {
            0 => String::new(),
            different => format!(", {different} different"),
        };
        let places = by_rule.places.iter();
        let places: Vec<String> = places.map(|(place, n)| format!("{place} {n}")).collect();
        print_line!(
            "  {rule:<24} {all}{different}: {}",
            dim(&places.join(" · "))
        );
    }
}

/// Secrets in a person's own files, which are never changed.
fn print_persons(secrets: &[FileSecret]) {
    for secret in secrets.iter().take(ROWS) {
        let FileSecret { file, line, rule } = secret;
        print_line!("  {} {file}:{line}  {rule}", warn("your text "));
    }
    if secrets.len() > ROWS {
        print_line!("  {} more; `--json` lists all", secrets.len() - ROWS);
    }
    if !secrets.is_empty() {
        print_line!(
            "  {}",
            dim(
                "Daybook hides these from agents and does not change your text; take them out, and revoke them."
            )
        );
    }
}

fn print_secrets(source: TranscriptSource) {
    if source.secrets > 0 {
        print_line!("  {:>5} hidden in {}", source.secrets, source.path);
    }
}

fn print_imports(facts: &TenantMemoryState, daybook: &Daybook) {
    for import in &facts.imports {
        let ended = if import.ended_at.is_some() {
            ""
        } else {
            " (interrupted)"
        };
        print_line!(
            "  import {:>3}  {}  {} from {}{ended}  {}",
            import.no.0,
            day(daybook, import.began_at),
            count(import.events, "event"),
            count(import.files, "file"),
            dim(&import.what)
        );
    }
}

fn file_json(source: &TranscriptSource) -> Value {
    json!({
        "path": source.path,
        "format": source.format,
        "session": source.session.as_ref().map(ToString::to_string),
        "size": source.size,
        "lines": source.lines,
        "bad_lines": source.bad_lines,
        "first_bad": source.first_bad,
        "secrets": source.secrets,
        "failure": source.failure,
    })
}

fn import_json(import: &ImportRun) -> Value {
    json!({
        "no": import.no.0,
        "what": import.what,
        "began": rfc3339(import.began_at),
        "ended": import.ended_at.and_then(rfc3339),
        "events": import.events,
        "files": import.files,
    })
}
