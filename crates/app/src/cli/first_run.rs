//! What a person is told after an import: what was taken in, what it taught, and what to do next.

use std::collections::BTreeMap;

use anyhow::Result;
use daybook_domain::eligibility::eligible;
use daybook_domain::seams::{ExtractionStore, SessionStore};
use daybook_domain::{ObservationKind, Scope, ScopeKind};
use daybook_engine::files::entry::{Block, blocks, unmarked};
use daybook_engine::files::layout::{CURATED, folder};
use daybook_engine::ingest::import::{FileReport, FileStatus, ImportReport};
use daybook_engine::jobs::UpdateReport;

use super::recall;
use crate::output::{at_cap, bold, count, dim, warn};
use crate::root;
use crate::wiring::Daybook;

/// What happened.
pub(crate) struct Told<'a> {
    pub(crate) report: &'a ImportReport,
    pub(crate) learned: Option<&'a UpdateReport>,
    pub(crate) seconds: f64,
    pub(crate) sample: bool,
}

/// Most files that are named one by one.
const NAMED: usize = 12;

/// Tells it.
pub(crate) async fn tell(daybook: &Daybook, told: &Told<'_>) -> Result<()> {
    let report = told.report;
    let memory = Memory::of(daybook).await?;
    if report.stopped {
        let done = report
            .files
            .iter()
            .filter(|file| file.status != FileStatus::Stopped)
            .count();
        anstream::println!(
            "Stopped after {done} of {}; nothing is lost. Run it again to go on.",
            count(report.files.len() as u64, "file")
        );
        return Ok(());
    }
    let unchanged = report
        .files
        .iter()
        .all(|file| is_settled(&file.status) && file.added == 0);
    if report.added() == 0 && unchanged {
        anstream::println!(
            "Nothing new in {}. {}, {}. {:.2} s",
            count(report.files.len() as u64, "file"),
            count(memory.sessions, "session"),
            count(memory.all(), "memory"),
            told.seconds
        );
        say_unusual(report);
        return Ok(());
    }
    say_files(report, told.seconds);
    say_unusual(report);
    say_learned(told);
    memory.say();
    say_secrets(report);
    anstream::println!();
    say_next(daybook, &memory, told).await
}

fn is_settled(status: &FileStatus) -> bool {
    matches!(
        status,
        FileStatus::Unchanged | FileStatus::Unknown(_) | FileStatus::New | FileStatus::Grew
    )
}

fn say_files(report: &ImportReport, seconds: f64) {
    let read = report
        .files
        .iter()
        .filter(|file| file.added + file.known > 0)
        .count();
    anstream::println!(
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
        anstream::println!(
            "   {} held nothing that another did not hold",
            count(copies, "file")
        );
    }
}

/// Files that are not as one would expect, each with its reason.
fn say_unusual(report: &ImportReport) {
    // Those that failed first: they must not be among those that are only counted.
    let mut files: Vec<&FileReport> = report.files.iter().collect();
    files.sort_by_key(|file| file.status.failure().is_none());
    let mut lines: Vec<String> = files.into_iter().filter_map(unusual).collect();
    let more = lines.len().saturating_sub(NAMED);
    lines.truncate(NAMED);
    for line in lines {
        anstream::println!("   {line}");
    }
    if more > 0 {
        let more = count(more as u64, "more file");
        anstream::println!("   … and {more}; `daybook status --files` lists all");
    }
    let failed = report.failed().count() as u64;
    if failed > 0 {
        anstream::println!(
            "   {} failed; all others were imported. `daybook status` names what failed until a later \
             import of it succeeds",
            count(failed, "file")
        );
    }
}

fn unusual(file: &FileReport) -> Option<String> {
    let path = &file.path;
    let said = match &file.status {
        FileStatus::Unknown(why) => Some(format!("not known: {path} ({why})")),
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

fn say_learned(told: &Told<'_>) {
    let Some(learned) = told.learned else {
        anstream::println!("   not learned from yet: `daybook update` does it");
        return;
    };
    let nothing = learned.read.len() - learned.taught.len().min(learned.read.len());
    anstream::println!(
        "   {} taught something · {nothing} had nothing worth keeping · {} failed",
        learned.taught.len(),
        learned.broken().count()
    );
    if let Some(said) = at_cap(learned.failed.iter().map(|failed| &failed.failure)) {
        anstream::println!("   {said}");
    }
    for failed in learned.broken() {
        anstream::println!(
            "   {} {}: {}",
            warn("failed"),
            failed.job,
            failed.failure.message
        );
    }
}

fn say_secrets(report: &ImportReport) {
    let hidden: u64 = report.secrets.values().sum();
    if hidden > 0 {
        anstream::println!(
            " {} hidden before anything was written   {}",
            bold(&count(hidden, "secret")),
            dim("daybook status --secrets")
        );
    }
}

/// What is remembered in all.
struct Memory {
    sessions: u64,
    projects: BTreeMap<Scope, u64>,
    kinds: BTreeMap<ObservationKind, u64>,
}

impl Memory {
    async fn of(daybook: &Daybook) -> Result<Self> {
        let store = &*daybook.store;
        let sessions = SessionStore::sessions(store, &daybook.tenant, usize::MAX).await?;
        let mut memory = Self {
            sessions: sessions
                .iter()
                .filter(|session| eligible(session, &daybook.switches()).is_ok())
                .count() as u64,
            projects: BTreeMap::new(),
            kinds: BTreeMap::new(),
        };
        for state in store.scopes(&daybook.tenant).await? {
            for observation in ExtractionStore::observations(store, &state.scope).await? {
                *memory.kinds.entry(observation.kind).or_default() += 1;
            }
            if state.scope.kind == ScopeKind::Project {
                memory.projects.insert(state.scope, state.observations);
            }
        }
        Ok(memory)
    }

    fn all(&self) -> u64 {
        self.kinds.values().sum()
    }

    fn largest(&self) -> Option<&Scope> {
        self.projects
            .iter()
            .max_by_key(|(_, memories)| **memories)
            .map(|(scope, _)| scope)
    }

    fn say(&self) {
        let mut projects: Vec<(&Scope, &u64)> = self.projects.iter().collect();
        projects.sort_by_key(|(scope, memories)| (std::cmp::Reverse(**memories), (*scope).clone()));
        let named: Vec<String> = projects
            .iter()
            .take(4)
            .map(|(scope, n)| format!("{} ({n})", scope.name))
            .collect();
        if !named.is_empty() {
            let all = count(self.projects.len() as u64, "project");
            anstream::println!(" {}  {}", bold(&all), named.join(" · "));
        }
        let kinds: Vec<String> = ObservationKind::ALL
            .iter()
            .filter_map(|kind| self.kinds.get(kind).map(|n| count(*n, noun(*kind))))
            .collect();
        anstream::println!(
            " {}  {}",
            bold(&count(self.all(), "memory")),
            kinds.join(" · ")
        );
    }
}

fn noun(kind: ObservationKind) -> &'static str {
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

async fn say_next(daybook: &Daybook, memory: &Memory, told: &Told<'_>) -> Result<()> {
    let Some(largest) = memory.largest() else {
        anstream::println!(
            "{}",
            dim("Nothing was learned, so there is nothing to read yet.")
        );
        return Ok(());
    };
    let path = folder(&daybook.root, largest).join(CURATED);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let mut entries = blocks(&text).into_iter().filter_map(|block| match block {
        Block::Ours(_, held) => held
            .first()
            .map(|line| unmarked(line).trim_start_matches("- ").to_owned()),
        Block::Altered(..) | Block::Heading(..) | Block::Other(_) => None,
    });
    if let Some(first) = entries.next() {
        anstream::println!("{}   {first}", bold("Where you left off"));
    }
    anstream::println!("{}              {}", bold("Read it"), root::shown(&path));
    let flag = if told.sample {
        format!(" --root {}", root::shown(&daybook.root))
    } else {
        String::new()
    };
    let asked = if told.sample {
        SAMPLE_QUESTION
    } else {
        "what did we decide"
    };
    anstream::println!(
        "{}               daybook recall{flag} \"{asked}\"",
        bold("Ask it")
    );
    if told.sample
        && let Some(answer) = recall::best(&*daybook.store, daybook, SAMPLE_QUESTION).await?
    {
        recall::show(daybook, &[answer]);
    }
    anstream::println!("{}          daybook context{flag}", bold("Tell an agent"));
    anstream::println!(
        "{}           daybook import{flag} --undo   {}",
        bold("Not happy?"),
        dim("(removes exactly what this import added)")
    );
    Ok(())
}

/// Asked of the sample.
const SAMPLE_QUESTION: &str = "what is the limit of the cache";
