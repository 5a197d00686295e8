//! `daybook status`: what is covered, pending, in gaps, and why.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use daybook_domain::eligibility::eligible;
use daybook_domain::seams::{ExtractionStore, JobStore, ScopeState, SessionStore};
use daybook_domain::source::{Import, Source};
use daybook_domain::{Gap, Job, JobKind, Session};
use serde_json::{Value, json};

use super::Common;
use super::sessions::{by_session, day};
use crate::desk::rfc3339;
use crate::output::{bold, count, dim, json as print_json, size, warn};
use crate::root;
use crate::wiring::{Daybook, block_on};

/// Most rows of a list that are shown to people; programs get all.
const ROWS: usize = 20;

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

struct Facts {
    sessions: Vec<Session>,
    extract: Vec<Job>,
    consolidate: Vec<Job>,
    gaps: Vec<Gap>,
    sources: Vec<Source>,
    scopes: Vec<ScopeState>,
    imports: Vec<Import>,
}

impl Status {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let facts = block_on(async {
            let store = &*daybook.store;
            Ok(Facts {
                sessions: store.sessions(&daybook.tenant, usize::MAX).await?,
                extract: JobStore::jobs(store, JobKind::Extract).await?,
                consolidate: JobStore::jobs(store, JobKind::Consolidate).await?,
                gaps: store.gaps().await?,
                sources: store.sources().await?,
                scopes: store.scopes(&daybook.tenant).await?,
                imports: store.imports(ROWS).await?,
            })
        })?;
        if common.json {
            print_json(&facts.as_json())?;
            return Ok(ExitCode::SUCCESS);
        }
        anstream::println!("{}", bold(&root::shown(&daybook.root)));
        facts.say_sessions();
        facts.say_sources();
        facts.say_memory();
        if self.files {
            facts.say_files();
        }
        if self.secrets {
            facts.say_secrets();
        }
        if self.imports {
            facts.say_imports(&daybook);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// How far sessions have been learned from.
#[derive(Default)]
struct Coverage {
    covered: u64,
    pending: u64,
    failing: u64,
    never: BTreeMap<&'static str, u64>,
}

impl Facts {
    fn coverage(&self) -> Coverage {
        let jobs = by_session(self.extract.clone());
        let mut coverage = Coverage::default();
        for session in &self.sessions {
            let job = jobs.get(&session.id);
            match eligible(session) {
                Err(why) => *coverage.never.entry(why.reason()).or_default() += 1,
                Ok(()) => match job {
                    Some(job) if !job.is_ahead() => coverage.covered += 1,
                    Some(job) if job.last_failure.is_some() => coverage.failing += 1,
                    Some(_) | None => coverage.pending += 1,
                },
            }
        }
        coverage
    }

    fn by_format(&self) -> BTreeMap<&str, (u64, u64)> {
        let mut formats: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for source in &self.sources {
            let (files, bytes) = formats.entry(source.format.as_str()).or_default();
            *files += 1;
            *bytes += source.size;
        }
        formats
    }

    fn as_json(&self) -> Value {
        let coverage = self.coverage();
        let events: u64 = self.sessions.iter().map(|session| session.events.0).sum();
        json!({
            "sessions": {
                "all": self.sessions.len(),
                "covered": coverage.covered,
                "pending": coverage.pending,
                "failing": coverage.failing,
                "never": coverage.never,
            },
            "events": events,
            "gaps": self.gaps.iter().map(|gap| json!({
                "job": gap.job.to_string(),
                "from": gap.from,
                "to": gap.to,
                "class": gap.failure.class.word(),
                "why": gap.failure.message,
            })).collect::<Vec<_>>(),
            "files": self.sources.iter().map(file_json).collect::<Vec<_>>(),
            "scopes": self.scopes.iter().map(|state| json!({
                "scope": state.scope.to_string(),
                "observations": state.observations,
                "revision": state.revision,
            })).collect::<Vec<_>>(),
            "waiting_to_be_written": self.unwritten().len(),
            "imports": self.imports.iter().map(|import| json!({
                "no": import.no.0,
                "what": import.what,
                "began": rfc3339(import.began_at),
                "ended": import.ended_at.and_then(rfc3339),
                "events": import.events,
                "files": import.files,
            })).collect::<Vec<_>>(),
        })
    }

    fn unwritten(&self) -> Vec<&Job> {
        self.consolidate
            .iter()
            .filter(|job| job.is_ahead())
            .collect()
    }

    fn say_sessions(&self) {
        let coverage = self.coverage();
        let all = self.sessions.len() as u64;
        let mut parts = vec![format!("{} covered", coverage.covered)];
        if coverage.pending > 0 {
            parts.push(format!("{} pending", coverage.pending));
        }
        if coverage.failing > 0 {
            parts.push(warn(&format!("{} failing", coverage.failing)));
        }
        for (reason, n) in &coverage.never {
            parts.push(format!("{n} not extracted ({reason})"));
        }
        anstream::println!("  sessions   {all}: {}", parts.join(", "));
        for job in self.extract.iter().chain(&self.consolidate) {
            if let (true, Some(failure)) = (job.is_ahead(), &job.last_failure) {
                anstream::println!("    {} {}: {}", warn("failing"), job.key, failure.message);
            }
        }
        if self.gaps.is_empty() {
            anstream::println!("  gaps       none");
        }
        for gap in &self.gaps {
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

    fn say_sources(&self) {
        for (format, (files, bytes)) in self.by_format() {
            let label = if format == "unknown" {
                "not known"
            } else {
                format
            };
            anstream::println!("  {label:<12} {}, {}", count(files, "file"), size(bytes));
        }
        let unknown = self
            .sources
            .iter()
            .filter(|source| source.format == "unknown");
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
        for source in self
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
        let secrets: u64 = self
            .sources
            .iter()
            .map(|source| u64::from(source.secrets))
            .sum();
        if secrets > 0 {
            anstream::println!(
                "  secrets    {} hidden before anything was written  {}",
                secrets,
                dim("daybook status --secrets")
            );
        }
    }

    fn say_memory(&self) {
        for state in self
            .scopes
            .iter()
            .filter(|state| state.observations > 0)
            .take(ROWS)
        {
            let memories = count(state.observations, "memory");
            anstream::println!("  {:<24} {memories}", state.scope.to_string());
        }
        let unwritten = self.unwritten().len() as u64;
        if unwritten > 0 {
            anstream::println!(
                "  files      those of {} wait to be written; `daybook update` does it",
                count(unwritten, "scope")
            );
        }
    }

    fn say_files(&self) {
        for source in &self.sources {
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

    fn say_secrets(&self) {
        for source in self.sources.iter().filter(|source| source.secrets > 0) {
            anstream::println!("  {:>5} hidden in {}", source.secrets, source.path);
        }
    }

    fn say_imports(&self, daybook: &Daybook) {
        for import in &self.imports {
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
    })
}
