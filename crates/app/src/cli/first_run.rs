//! Prints the summary of an import: files, sessions and memories.
//!
//! Not here: what to do next (`next_steps`).

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use daybook_domain::eligibility::eligible;
use daybook_domain::page::{read_all, visit_all};
use daybook_domain::seams::{ObservationStore, SessionCatalog};
use daybook_domain::{ObservationKind, Scope, ScopeKind, Session, SessionId};
use daybook_engine::import::{FileReport, FileStatus, ImportReport};
use daybook_engine::jobs::{FailedJob, UpdateReport};

use super::account::OutcomeCounts;
use super::import_summary::ImportSummary;
use super::next_steps;
use crate::service::waits;
use crate::terminal::output::{bold, count, dim, print_line, warn};
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Most files that are named one by one.
const NAMED: usize = 12;

/// Prints the summary.
pub(crate) async fn print_summary(daybook: &Daybook, summary: &ImportSummary<'_>) -> Result<()> {
    let report = summary.report;
    let memory = MemoryTotals::of(daybook).await?;
    if report.stopped {
        let done = report
            .files
            .iter()
            .filter(|file| file.status != FileStatus::Stopped)
            .count();
        print_line!(
            "Stopped after {done} of {}; nothing is lost, {} left. Run it again to continue.",
            count(report.files.len() as u64, "file"),
            match report.files.len() - done {
                1 => "1 is".to_owned(),
                left => format!("{left} are"),
            }
        );
        return Ok(());
    }
    let unchanged = report
        .files
        .iter()
        .all(|file| is_settled(&file.status) && file.added == 0);
    let is_new = report.added() > 0 || !unchanged;
    match is_new {
        true => print_files(report, summary.seconds),
        false => print_line!(
            "Nothing new in {}. {}, {}. {:.2} s",
            count(report.files.len() as u64, "file"),
            count(memory.sessions.len() as u64, "session"),
            count(memory.all(), "memory"),
            summary.seconds
        ),
    }
    print_unusual(report);
    print_learned(daybook, &memory, summary).await?;
    if !is_new && !summary.sample {
        return Ok(());
    }
    memory.print();
    print_secrets(report);
    print_line!();
    next_steps::print_suggestions(daybook, memory.largest(), summary).await
}

fn is_settled(status: &FileStatus) -> bool {
    matches!(
        status,
        FileStatus::Unchanged
            | FileStatus::Unknown(_)
            | FileStatus::Companion(_)
            | FileStatus::New
            | FileStatus::Grew
    )
}

fn print_files(report: &ImportReport, seconds: f64) {
    let read = report
        .files
        .iter()
        .filter(|file| file.added + file.known > 0)
        .count();
    print_line!(
        "{} from {} of {}  {}",
        bold(&count(report.sessions.len() as u64, "session")),
        read,
        count(report.files.len() as u64, "file"),
        dim(&format!(
            "{} in {seconds:.1} s",
            count(report.added(), "event")
        ))
    );
    let copies = report
        .files
        .iter()
        .filter(|file| file.added == 0 && file.known > 0)
        .count() as u64;
    if copies > 0 {
        print_line!(
            "   {} of sessions already imported",
            count(copies, "duplicate")
        );
    }
}

/// Prints files that need attention, each with its reason.
fn print_unusual(report: &ImportReport) {
    // Those that failed first: they must not be among those that are only counted.
    let mut files: Vec<&FileReport> = report.files.iter().collect();
    files.sort_by_key(|file| file.status.failure().is_none());
    let mut lines: Vec<String> = files.into_iter().filter_map(unusual).collect();
    let more = lines.len().saturating_sub(NAMED);
    lines.truncate(NAMED);
    for line in lines {
        print_line!("   {line}");
    }
    if more > 0 {
        let more = count(more as u64, "more file");
        let files = suggest::command("status --files");
        print_line!("   … and {more}; `{files}` lists all");
    }
    let failed = report.failed().count() as u64;
    if failed > 0 {
        print_line!(
            "   {} failed; all others were imported. `{}` names what failed until a later import of it \
             succeeds",
            count(failed, "file"),
            suggest::command("status"),
        );
    }
}

fn unusual(file: &FileReport) -> Option<String> {
    let path = &file.path;
    let said = match &file.status {
        FileStatus::Unknown(why) => Some(format!("not known: {path} ({why})")),
        FileStatus::Companion(why) => Some(format!("no memory of its own: {path} ({why})")),
        FileStatus::Unreadable(why) => Some(warn(&format!("unreadable: {path}: {why}"))),
        FileStatus::Failed(why) => Some(warn(&format!("failed: {path}: {why}"))),
        FileStatus::Rewritten => Some(format!("rewritten since last time: {path}")),
        FileStatus::New | FileStatus::Grew | FileStatus::Unchanged | FileStatus::Stopped => None,
    };
    let bad = file
        .first_bad
        .as_ref()
        .filter(|_| file.bad_lines > 0)
        .map(|(line, why)| {
            let lines = count(u64::from(file.bad_lines), "unreadable line");
            format!("{lines} in {path}, the first is line {line}: {why}")
        });
    let same = file.same_id_as.as_ref().map(|id| {
        format!("another conversation than {id}, whose id it claims; both are kept: {path}")
    });
    let partial = file
        .partial_line
        .then(|| format!("last line not complete yet, taken next time: {path}"));
    said.or(bad).or(same).or(partial)
}

/// Prints the outcome of each session of the import, and of others that were due.
async fn print_learned(
    daybook: &Daybook,
    memory: &MemoryTotals,
    summary: &ImportSummary<'_>,
) -> Result<()> {
    let Some(learned) = summary.learned else {
        let update = suggest::command("update");
        print_line!("   not learned from yet: `{update}` does it once the sessions have rested");
        return Ok(());
    };
    if learned.stopped {
        let update = suggest::command("update --all");
        print_line!("   stopped while learning; nothing is lost, and `{update}` continues");
    }
    let (outcomes, imported) = (learned.outcomes(), &summary.report.sessions);
    let account = OutcomeCounts::of(imported, &outcomes, &memory.never);
    if account.total() > 0 {
        print_line!("   {}", account.line());
    }
    if account.later() > 0 {
        let update = suggest::command("update --all");
        print_line!("   what is not read yet is due later; `{update}` reads it now");
    }
    let others = outcomes
        .keys()
        .copied()
        .filter(|session| !imported.contains(*session));
    let others = OutcomeCounts::of(others, &outcomes, &memory.never);
    if others.total() > 0 {
        let sessions = count(others.total(), "session");
        print_line!("   of {sessions} imported before: {}", others.line());
    }
    print_failures(daybook, learned, "   ").await
}

/// Prints failures: jobs that are retried, one line for each reason, and jobs that were given up.
pub(super) async fn print_failures(
    daybook: &Daybook,
    learned: &UpdateReport,
    indent: &str,
) -> Result<()> {
    if learned.failed.is_empty() {
        return Ok(());
    }
    let waits = waits::load_waits(daybook).await?;
    for line in waits::wait_lines(daybook, &waits) {
        print_line!("{indent}{} {line}", warn("waiting"));
    }
    let is_shown =
        |failed: &&FailedJob| waits.iter().any(|wait| wait.why == failed.failure.message);
    let others: Vec<&FailedJob> = learned
        .broken()
        .filter(|failed| !is_shown(failed))
        .collect();
    for failed in others.iter().take(NAMED) {
        let (job, why) = (&failed.job, &failed.failure.message);
        print_line!("{indent}{} {job}: {why}", warn("failed"));
    }
    if let Some(more) = others.len().checked_sub(NAMED + 1) {
        let more = count(more as u64 + 1, "more job");
        let jobs = suggest::command("jobs");
        print_line!("{indent}… and {more} failed; `{jobs}` lists them");
    }
    Ok(())
}

fn print_secrets(report: &ImportReport) {
    let hidden: u64 = report.secrets.values().sum();
    if hidden > 0 {
        print_line!(
            " {} hidden before anything was written   {}",
            bold(&count(hidden, "secret")),
            dim(&suggest::command("status --secrets"))
        );
    }
}

/// Totals of the whole memory.
struct MemoryTotals {
    /// Sessions that memory is made from.
    sessions: BTreeSet<SessionId>,
    /// Sessions that memory is never made from, and why.
    never: BTreeMap<SessionId, &'static str>,
    /// Memories of each scope.
    scopes: BTreeMap<Scope, u64>,
    kinds: BTreeMap<ObservationKind, u64>,
}

impl MemoryTotals {
    async fn of(daybook: &Daybook) -> Result<Self> {
        let store = &*daybook.store;
        let mut memory = Self {
            sessions: BTreeSet::new(),
            never: BTreeMap::new(),
            scopes: BTreeMap::new(),
            kinds: BTreeMap::new(),
        };
        let switches = daybook.switches();
        let add = |session: Session| match eligible(&session, &switches) {
            Ok(()) => drop(memory.sessions.insert(session.id)),
            Err(why) => drop(memory.never.insert(session.id, why.reason())),
        };
        let sessions = |page| SessionCatalog::sessions(store, &daybook.tenant, page);
        visit_all(sessions, add).await?;
        for state in read_all(|page| store.scopes(&daybook.tenant, page)).await? {
            let observations = ObservationStore::observations(store, &state.scope).await?;
            if observations.is_empty() {
                continue;
            }
            for observation in &observations {
                *memory.kinds.entry(observation.kind).or_default() += 1;
            }
            memory.scopes.insert(state.scope, observations.len() as u64);
        }
        Ok(memory)
    }

    fn all(&self) -> u64 {
        self.kinds.values().sum()
    }

    /// The project with most memories, or any scope where no project has one.
    fn largest(&self) -> Option<&Scope> {
        let most = self.scopes.iter().max_by_key(|(scope, memories)| {
            let is_project = scope.kind == ScopeKind::Project;
            (is_project, **memories, std::cmp::Reverse(*scope))
        });
        most.map(|(scope, _)| scope)
    }

    fn print(&self) {
        let (projects, others): (Vec<_>, Vec<_>) =
            (self.scopes.iter()).partition(|(scope, _)| scope.kind == ScopeKind::Project);
        if !projects.is_empty() {
            let all = count(projects.len() as u64, "project");
            let named = largest_scopes(projects, |scope| scope.name.clone());
            print_line!(" {}  {named}", bold(&all));
        }
        if !others.is_empty() {
            let named = largest_scopes(others, ToString::to_string);
            print_line!(" {}  {named}", bold("elsewhere"));
        }
        let kinds: Vec<String> = ObservationKind::ALL
            .iter()
            .filter_map(|kind| self.kinds.get(kind).map(|n| count(*n, kind_noun(*kind))))
            .collect();
        let all = bold(&count(self.all(), "memory"));
        match kinds.is_empty() {
            true => print_line!(" {all}"),
            false => print_line!(" {all}  {}", kinds.join(" · ")),
        }
    }
}

/// The largest of `scopes` with their memories, and how many more there are.
fn largest_scopes(mut scopes: Vec<(&Scope, &u64)>, name: impl Fn(&Scope) -> String) -> String {
    const SHOWN: usize = 4;
    scopes.sort_by_key(|(scope, memories)| (std::cmp::Reverse(**memories), (*scope).clone()));
    let more = scopes.len().saturating_sub(SHOWN);
    let shown = scopes.iter().take(SHOWN);
    let mut named: Vec<String> = shown
        .map(|(scope, n)| format!("{} ({n})", name(scope)))
        .collect();
    named.extend((more > 0).then(|| format!("{more} more")));
    named.join(" · ")
}

fn kind_noun(kind: ObservationKind) -> &'static str {
    match kind {
        ObservationKind::Correction => "correction",
        ObservationKind::Preference => "preference",
        ObservationKind::Fact => "fact",
        ObservationKind::Decision => "decision",
        ObservationKind::Value => "setting",
        ObservationKind::Fix => "trap",
        ObservationKind::OpenEnd => "open end",
        ObservationKind::Note => "note",
    }
}
