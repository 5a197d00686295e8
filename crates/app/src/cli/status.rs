//! `daybook status`: what is covered, pending, in gaps, and why.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use daybook_domain::source::{Import, Source};
use daybook_domain::{Job, Standing};
use serde_json::{Value, json};

use super::Common;
use super::sessions::day;
use super::update::unended;
use crate::damage::warnings;
use crate::output::{bold, count, dim, json as print_json, rfc3339, size, warn};
use crate::overview::Facts;
use crate::refusals::RefusalShown;
use crate::root;
use crate::suggest;
use crate::waiting;
use crate::wiring::{Daybook, block_on};

/// Most rows of a list that are shown to people; programs get all.
const ROWS: usize = 20;
/// Most past imports that are told of.
const IMPORTS: usize = 20;

/// What is covered, pending, in gaps, and why.
#[derive(Args)]
pub(crate) struct Status {
    /// List every file that was looked at
    #[arg(long)]
    files: bool,
    /// List how many secrets were hidden, by file
    #[arg(long)]
    secrets: bool,
    /// List past imports
    #[arg(long)]
    imports: bool,
}

impl Status {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let facts = block_on(Facts::gather(&daybook, IMPORTS))?;
        let damaged = block_on(warnings(&daybook))?;
        if common.json {
            print_json(&as_json(&facts, &damaged))?;
            return Ok(ExitCode::SUCCESS);
        }
        anstream::println!("{}", bold(&root::shown(&daybook.root)));
        for warning in &damaged {
            anstream::println!("  {}    {warning}", warn("damaged"));
        }
        say_sessions(&facts, &daybook);
        say_sources(&facts);
        say_failing(&facts);
        say_memory(&facts);
        if let Some(line) = unended(&facts.imports) {
            anstream::println!("  {} {line}", warn("imports   "));
        }
        say_refused(&facts);
        if self.files {
            say_files(&facts);
        }
        if self.secrets {
            say_secrets(&facts);
        }
        if self.imports {
            say_imports(&facts, &daybook);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Everything for programs.
fn as_json(facts: &Facts, damaged: &[String]) -> Value {
    let mut all = json!(facts.overview());
    all["damaged"] = damaged.into();
    all["files"] = facts.sources.iter().map(file_json).collect();
    all["imports"] = facts.imports.iter().map(import_json).collect();
    all
}

fn say_sessions(facts: &Facts, daybook: &Daybook) {
    let coverage = facts.coverage();
    let all = facts.sessions.len() as u64;
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
    anstream::println!("  sessions   {all}: {}", parts.join(", "));
    say_waits(facts, daybook);
    if facts.notices > 0 {
        let waiting = count(facts.notices as u64, "notice");
        let update = suggest::command("update");
        anstream::println!("  hooks      {waiting} not taken in yet; `{update}` does it");
    }
    if facts.gaps.is_empty() {
        anstream::println!("  gaps       none");
    }
    for gap in &facts.gaps {
        anstream::println!(
            "  {}        {} events {}–{}: {}",
            warn("gap"),
            gap.job,
            gap.from,
            gap.to,
            gap.failure.message
        );
    }
}

/// What failed: what waits, one line for each reason, and what is due again.
fn say_waits(facts: &Facts, daybook: &Daybook) {
    for line in waiting::lines(daybook, &facts.waits) {
        anstream::println!("    {} {line}", warn("waiting"));
    }
    let jobs = facts.extract.iter().chain(&facts.consolidate);
    let now = daybook.clock.now();
    let is_due = |job: &&Job| !matches!(job.standing(now), Standing::Waiting { .. });
    for job in jobs.filter(|job| job.is_ahead()).filter(is_due) {
        if let Some(failure) = &job.last_failure {
            anstream::println!("    {} {}: {}", warn("failing"), job.key, failure.message);
        }
    }
}

fn by_format(facts: &Facts) -> BTreeMap<&str, (u64, u64)> {
    let mut formats: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for source in &facts.sources {
        let (files, bytes) = formats.entry(source.format.as_str()).or_default();
        *files += 1;
        *bytes += source.size;
    }
    formats
}

fn say_sources(facts: &Facts) {
    for (format, (files, bytes)) in by_format(facts) {
        let label = if format == "unknown" {
            "not known"
        } else {
            format
        };
        anstream::println!("  {label:<12} {}, {}", count(files, "file"), size(bytes));
    }
    let unknown = facts
        .sources
        .iter()
        .filter(|source| source.format == "unknown" && source.failure.is_none());
    let total = unknown.clone().count();
    for source in unknown.take(ROWS) {
        let why = source
            .first_bad
            .as_ref()
            .map_or("", |(_, why)| why.as_str());
        anstream::println!("    {} {}", source.path, dim(why));
    }
    if total > ROWS {
        anstream::println!(
            "    {}",
            dim(&format!("… and {} more; --files lists all", total - ROWS))
        );
    }
    for source in facts
        .sources
        .iter()
        .filter(|s| s.bad_lines > 0 && s.format != "unknown")
    {
        if let Some((line, why)) = &source.first_bad {
            let lines = count(u64::from(source.bad_lines), "unreadable line");
            anstream::println!(
                "    {} {lines}; the first is line {line}: {why}",
                source.path
            );
        }
    }
    let secrets: u64 = facts
        .sources
        .iter()
        .map(|source| u64::from(source.secrets))
        .sum();
    if secrets > 0 {
        anstream::println!(
            "  secrets    {} hidden before anything was written  {}",
            secrets,
            dim(&suggest::command("status --secrets"))
        );
    }
}

/// What could not be taken in, each with its reason.
fn say_failing(facts: &Facts) {
    if facts.failing.is_empty() {
        return;
    }
    let all = count(facts.failing.len() as u64, "file");
    anstream::println!(
        "  {}     {all} not taken in to the end; mend and import it again, or delete it",
        warn("failed")
    );
    for failing in facts.failing.iter().take(ROWS) {
        anstream::println!("    {}: {}", failing.path, failing.why);
    }
    if facts.failing.len() > ROWS {
        let more = facts.failing.len() - ROWS;
        anstream::println!(
            "    {}",
            dim(&format!("… and {more} more; --json lists all"))
        );
    }
}

fn say_memory(facts: &Facts) {
    for state in facts
        .scopes
        .iter()
        .filter(|state| state.observations > 0)
        .take(ROWS)
    {
        let memories = count(state.observations, "memory");
        anstream::println!("  {:<24} {memories}", state.scope.to_string());
    }
    let unwritten = facts.unwritten().len() as u64;
    if unwritten > 0 {
        anstream::println!(
            "  files      those of {} wait to be written; `{}` does it",
            count(unwritten, "scope"),
            suggest::command("update"),
        );
    }
}

fn say_refused(facts: &Facts) {
    for RefusalShown { path, why, .. } in facts.refused.iter().take(ROWS) {
        anstream::println!("  {}     {path}: {why}", warn("not used"));
    }
    if facts.refused.len() > ROWS {
        let more = format!(
            "… and {} more; --json lists all",
            facts.refused.len() - ROWS
        );
        anstream::println!("    {}", dim(&more));
    }
    if !facts.refused.is_empty() {
        let what = "put regular files in their place, or move them out of the memory folders";
        anstream::println!("    {}", dim(what));
    }
}

fn say_files(facts: &Facts) {
    for source in &facts.sources {
        let session = source
            .session
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        anstream::println!(
            "  {:<12} {:>9}  {}  {}",
            source.format,
            size(source.size),
            source.path,
            dim(&session)
        );
    }
}

fn say_secrets(facts: &Facts) {
    for source in facts.sources.iter().filter(|source| source.secrets > 0) {
        anstream::println!("  {:>5} hidden in {}", source.secrets, source.path);
    }
}

fn say_imports(facts: &Facts, daybook: &Daybook) {
    for import in &facts.imports {
        let ended = if import.ended_at.is_some() {
            ""
        } else {
            " (interrupted)"
        };
        anstream::println!(
            "  import {:>3}  {}  {} from {}{ended}  {}",
            import.no.0,
            day(daybook, import.began_at),
            count(import.events, "event"),
            count(import.files, "file"),
            dim(&import.what)
        );
    }
}

fn file_json(source: &Source) -> Value {
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

fn import_json(import: &Import) -> Value {
    json!({
        "no": import.no.0,
        "what": import.what,
        "began": rfc3339(import.began_at),
        "ended": import.ended_at.and_then(rfc3339),
        "events": import.events,
        "files": import.files,
    })
}
