//! Runs cases: each in a memory of its own, through the functions that take in people's sessions.

use std::path::{Path, PathBuf};

use daybook_domain::page::read_all;
use daybook_domain::{
    BoxError, EventSeq, Evidence, Observation, ObservationId, ObservationKind, ObservationOrigin,
    Place, Scope, ScopeKind, SessionId, SessionKind, Tenant, Timestamp,
};
use daybook_engine::append::IngestContext;
use daybook_engine::append::batch::{AppendBatch, ReportedEvent, SpeakerRole, append_batch};
use daybook_engine::consolidate::{MemoryInput, PersonsWords, consolidate};
use daybook_engine::files::layout::folder;
use daybook_engine::jobs::WorkerContext;
use daybook_engine::recall::search::{RecallQuestion, recall};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::cases::{ChangeCases, PairCase};
use super::judge::{Shown, holds};
use super::relations::compare;
use super::report::{ChangesReport, record};
use crate::ask::{RecallOptions, prepare};
use crate::dataset::Split;
use crate::error::EvalError;
use crate::ingest::extract_and_consolidate;

/// What the agent does after each message.
const WORK: &str = "git status --short";

/// A fresh memory with a worker.
pub struct CaseMemory {
    /// Takes messages in.
    pub intake: IngestContext,
    /// Extracts and consolidates them.
    pub worker: WorkerContext,
}

/// Makes a fresh memory for each case.
pub type FreshWorker<'a> = dyn Fn() -> Result<CaseMemory, BoxError> + 'a;

/// Runs the cases of `split`, or all.
///
/// # Errors
/// When a memory cannot be made or fails.
pub async fn run_changes(
    cases: &ChangeCases,
    split: Option<Split>,
    fresh: &FreshWorker<'_>,
    options: &RecallOptions,
) -> Result<ChangesReport, EvalError> {
    let mut report = ChangesReport::default();
    let is_wanted = |of: Split| split.is_none_or(|split| split == of);
    for case in cases.changes.iter().filter(|case| is_wanted(case.split)) {
        let shown = run_sessions(&case.sessions, Some(&case.question), fresh, options).await?;
        let first = shown.answers(&case.current);
        let alone = shown.shows_alone(&case.current, &case.outdated);
        let round = shown.is_right_way_round(&case.current, &case.outdated);
        report.first_in_recall.note(first);
        report.alone_in_files.note(alone);
        if let Some(right) = round {
            report.right_way_round.note(right);
        }
        let failed = [
            (!first).then_some("not first in recall"),
            (!alone).then_some("not alone in MEMORY.md"),
            (round == Some(false)).then_some("the wrong way round"),
        ];
        report
            .cases
            .push(record(&case.name, case.split, &failed, shown));
    }
    ask_in_crowd(cases, split, fresh, options, &mut report).await?;
    for case in cases.keeps.iter().filter(|case| is_wanted(case.split)) {
        let shown = run_sessions(&case.sessions, None, fresh, options).await?;
        let kept = shown.keeps(&case.both);
        report.kept.note(kept);
        let failed = [(!kept).then_some("one of two that hold is gone")];
        report
            .cases
            .push(record(&case.name, case.split, &failed, shown));
    }
    for case in cases.pairs.iter().filter(|case| is_wanted(case.split)) {
        let is_one = is_one_entry(case);
        if is_one {
            report.merge_precision.note(case.same);
        }
        if case.same {
            report.merge_recall.note(is_one);
        }
        let failed = [
            (is_one && !case.same).then_some("merged, and not the same"),
            (!is_one && case.same).then_some("the same, and not merged"),
        ];
        let name = format!("{} / {}", case.one, case.other);
        report
            .cases
            .push(record(&name, case.split, &failed, Shown::default()));
    }
    let relations = cases.relations.iter();
    for case in relations.filter(|case| is_wanted(case.split)) {
        compare(case, &mut report);
    }
    Ok(report)
}

/// Asks all questions again, of one memory that holds the sessions of all cases: a memory is no two statements.
async fn ask_in_crowd(
    cases: &ChangeCases,
    split: Option<Split>,
    fresh: &FreshWorker<'_>,
    options: &RecallOptions,
    report: &mut ChangesReport,
) -> Result<(), EvalError> {
    let is_wanted = |of: Split| split.is_none_or(|split| split == of);
    let changes = cases.changes.iter().filter(|case| is_wanted(case.split));
    let changes: Vec<_> = changes.collect();
    let keeps = cases.keeps.iter().filter(|case| is_wanted(case.split));
    let of_changes = changes.iter().flat_map(|case| &case.sessions);
    let mut sessions: Vec<&Vec<String>> = of_changes
        .chain(keeps.flat_map(|case| &case.sessions))
        .collect();
    sessions.sort_by_key(|session| session.first());
    let memory = fresh().map_err(EvalError::NoMemory)?;
    for (n, session) in sessions.into_iter().enumerate() {
        append_session(&memory.intake, n, session).await?;
    }
    learn(&memory, options).await?;
    for (case, record) in changes.into_iter().zip(&mut report.cases) {
        let answer = first_answer(&memory, &case.question, options).await?;
        let is_first = holds(&answer, &case.current);
        report.first_in_crowd.note(is_first);
        if !is_first {
            record.failed.push("not first among all cases");
            record.crowd_answer = answer;
        }
    }
    Ok(())
}

/// Extracts and consolidates what was appended, and embeds it.
async fn learn(memory: &CaseMemory, options: &RecallOptions) -> Result<(), EvalError> {
    extract_and_consolidate(&memory.worker).await?;
    prepare(&*memory.intake.store, &Tenant::local(), options).await
}

async fn run_sessions(
    sessions: &[Vec<String>],
    question: Option<&String>,
    fresh: &FreshWorker<'_>,
    options: &RecallOptions,
) -> Result<Shown, EvalError> {
    let memory = fresh().map_err(EvalError::NoMemory)?;
    for (n, session) in sessions.iter().enumerate() {
        append_session(&memory.intake, n, session).await?;
    }
    learn(&memory, options).await?;
    let mut shown = Shown {
        lines: memory_lines(&memory).await?,
        answer: String::new(),
    };
    if let Some(question) = question {
        shown.answer = first_answer(&memory, question, options).await?;
    }
    Ok(shown)
}

/// Appends a session of one message a minute. The agent works after each message of the person, as agents do.
async fn append_session(
    intake: &IngestContext,
    n: usize,
    session: &[String],
) -> Result<(), EvalError> {
    let begins = session
        .first()
        .and_then(|day| begins(day))
        .unwrap_or_default();
    let event = |id: String, minute: usize, (role, text): (SpeakerRole, &str)| ReportedEvent {
        id: Some(id),
        role,
        text: text.to_owned(),
        at: Some(Timestamp(begins.0 + 60_000 * minute as i64)),
        tool: None,
        external: false,
    };
    let events = session
        .iter()
        .skip(1)
        .enumerate()
        .flat_map(|(minute, text)| {
            let Some(text) = text.strip_prefix("agent: ") else {
                let work = ReportedEvent {
                    tool: Some("Bash".to_owned()),
                    ..event(
                        format!("{minute}-work"),
                        minute,
                        (SpeakerRole::Assistant, WORK),
                    )
                };
                let said = event(minute.to_string(), minute, (SpeakerRole::User, text));
                return vec![said, work];
            };
            vec![event(
                minute.to_string(),
                minute,
                (SpeakerRole::Assistant, text),
            )]
        });
    let batch = AppendBatch {
        session: session_id(n),
        kind: Some(SessionKind::Root),
        user: None,
        place: Some(Place {
            root: "/home/ada/ledger".to_owned(),
            branch: Some("main".to_owned()),
        }),
        venue: daybook_domain::Venue::default(),
        events: events.collect(),
    };
    append_batch(intake, batch).await?;
    Ok(())
}

/// Nine in the morning of a day.
fn begins(day: &str) -> Option<Timestamp> {
    let morning = day.parse::<Date>().ok()?.at(9, 0, 0, 0);
    let at = morning.to_zoned(TimeZone::UTC).ok()?.timestamp();
    Some(Timestamp(at.as_millisecond()))
}

fn session_id(n: usize) -> SessionId {
    SessionId {
        tenant: Tenant::local(),
        agent: "eval".to_owned(),
        host_id: format!("{n:04x}-case"),
    }
}

/// The lines of all scopes' `MEMORY.md`, without their headings.
async fn memory_lines(memory: &CaseMemory) -> Result<Vec<String>, EvalError> {
    let tenant = Tenant::local();
    let scopes = read_all(|page| memory.intake.store.scopes(&tenant, page)).await?;
    let mut lines = Vec::new();
    for state in scopes {
        lines.extend(lines_of(&folder(&memory.worker.root, &state.scope)));
    }
    Ok(lines)
}

fn lines_of(folder: &Path) -> Vec<String> {
    let file: PathBuf = folder.join("MEMORY.md");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut section = "";
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("## ") {
            Some(title) => section = title,
            // It tells how a session ended, in its last words.
            None if section == "Where we left off" && !line.contains("open:") => {}
            None => lines.extend(line.starts_with("- ").then(|| line.to_owned())),
        }
    }
    lines
}

async fn first_answer(
    memory: &CaseMemory,
    question: &str,
    options: &RecallOptions,
) -> Result<String, EvalError> {
    let question = RecallQuestion {
        text: question,
        reach: daybook_domain::Reach::Everything,
        layers: Vec::new(),
        tools: false,
        limit: 10,
        rare: false,
        embedder: options.vectors.embedder(),
        until: None,
        now: Timestamp::ZERO,
    };
    let found = recall(&*memory.intake.store, &Tenant::local(), &question).await?;
    let first = found.answers.into_iter().next();
    Ok(first.map_or_else(String::new, |first| {
        let context = first.context.unwrap_or_default();
        let now = first.text.split(" (before ").next().unwrap_or_default();
        format!("{now} {context}").trim().to_owned()
    }))
}

/// Whether two statements of different sessions are one entry of `MEMORY.md`.
fn is_one_entry(case: &PairCase) -> bool {
    let scope = Scope {
        tenant: Tenant::local(),
        kind: ScopeKind::User,
        name: "ada".to_owned(),
    };
    let observation = |n: usize, text: &str| Observation {
        id: ObservationId(n as u64),
        scope: scope.clone(),
        kind: ObservationKind::Preference,
        text: text.to_owned(),
        context: None,
        subject: None,
        stated: true,
        origin: ObservationOrigin::Typed,
        quoted: true,
        evidence: vec![Evidence {
            session: session_id(n),
            label: format!("{n:04x}"),
            events: vec![EventSeq(1)],
            lines: vec![1],
            at: Timestamp(86_400_000 * (n as i64 + 1)),
            branch: None,
            root: None,
        }],
        tokens: String::new(),
    };
    let memory = consolidate(&MemoryInput {
        scope: scope.clone(),
        title: "ada".to_owned(),
        person: "ada".to_owned(),
        observations: vec![observation(0, &case.one), observation(1, &case.other)],
        extractions: Vec::new(),
        uses: Vec::new(),
        persons: PersonsWords::default(),
        proposals: Vec::new(),
        zone: TimeZone::UTC,
        layout: daybook_engine::consolidate::FileLayout::Daybook,
    });
    let sections = memory.curated.sections.iter();
    let entries = sections.flat_map(|section| &section.entries);
    let lines: Vec<&String> = entries.flat_map(|entry| &entry.lines).collect();
    lines.len() == 1 && !holds(lines[0], "(before")
}
