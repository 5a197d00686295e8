//! Fills a memory with a person's sessions, and compares what it shows with their key.

use std::path::Path;

use daybook_domain::Timestamp;
use daybook_domain::page::read_all;
use daybook_engine::files::layout::folder;

use super::cases::{KeyQuestion, Person};
use super::judge::now;
use super::report::{MissingLine, PeopleReport, PersonReport, PersonScore, WrongAnswer};
use super::transcripts::write_transcripts;
use crate::ask::{MemoryFiles, RecallOptions, RetrievalResult, ask, prepare};
use crate::changes::{CaseMemory, FreshWorker};
use crate::dataset::Split;
use crate::error::EvalError;
use crate::ingest::{extract_and_consolidate, import_transcripts};

/// Results of a question that are looked at.
const RESULTS: usize = 10;
/// Days after the last session, when questions are asked.
const LATER: i64 = 3;

/// Runs the people of `split`, or all, each in a memory of their own.
///
/// # Errors
/// When a memory cannot be made, or fails.
pub async fn run_people(
    people: &[Person],
    split: Option<Split>,
    fresh: &FreshWorker<'_>,
    options: &RecallOptions,
) -> Result<PeopleReport, EvalError> {
    let mut report = PeopleReport::default();
    let is_wanted = |of: Split| split.is_none_or(|split| split == of);
    for person in people.iter().filter(|person| is_wanted(person.split)) {
        let memory = fresh().map_err(EvalError::NoMemory)?;
        report
            .people
            .push(run_person(person, &memory, options).await?);
    }
    Ok(report)
}

async fn run_person(
    person: &Person,
    memory: &CaseMemory,
    options: &RecallOptions,
) -> Result<PersonReport, EvalError> {
    fill(person, memory, options).await?;
    let mut report = PersonReport {
        name: person.name.clone(),
        split: person.split,
        score: PersonScore::default(),
        wrong: Vec::new(),
        missing: Vec::new(),
        misleading: Vec::new(),
        unnamed: Vec::new(),
    };
    let last = person.sessions.iter().map(|session| session.began).max();
    let asked_at = Timestamp(last.unwrap_or_default() + LATER * 86_400_000);
    let options = RecallOptions {
        limit: RESULTS,
        layers: Vec::new(),
        files: Some(MemoryFiles::of(&memory.worker)),
        ..options.clone()
    };
    let (store, tenant) = (&*memory.intake.store, &memory.intake.tenant);
    for question in &person.questions {
        let asked = (question.question.as_str(), asked_at);
        let result = ask(store, tenant, asked, &options).await?;
        judge_answer(question, &result, &mut report);
    }
    let (lines, learned) = memory_lines(memory).await?;
    judge_lines(person, &lines, &learned, &mut report);
    Ok(report)
}

async fn fill(
    person: &Person,
    memory: &CaseMemory,
    options: &RecallOptions,
) -> Result<(), EvalError> {
    let folder = memory.worker.root.join("written-transcripts");
    write_transcripts(person, &folder).map_err(|source| EvalError::Unreadable {
        path: folder.clone(),
        source,
    })?;
    import_transcripts(&memory.intake, &folder).await?;
    extract_and_consolidate(&memory.worker).await?;
    prepare(&*memory.intake.store, &memory.intake.tenant, options).await
}

fn judge_answer(question: &KeyQuestion, result: &RetrievalResult, report: &mut PersonReport) {
    let score = &mut report.score;
    if question.was_never_discussed() {
        score.never += 1;
        score.likely += usize::from(result.is_likely);
        return;
    }
    let shows = |rank: usize| {
        let found = result.results.get(rank);
        found.is_some_and(|found| question.is_answered_by(&found.excerpt))
    };
    let mut texts = result.results.iter();
    let rank = texts.position(|found| question.is_answered_by(&found.text));
    let first = result.results.first();
    score.questions += 1;
    score.first += usize::from(shows(0));
    score.in_three += usize::from((0..3).any(shows));
    score.in_ten += usize::from(rank.is_some());
    let is_outdated = first.is_some_and(|first| question.is_outdated(&first.excerpt));
    score.outdated += usize::from(is_outdated);
    if !shows(0) {
        report.wrong.push(WrongAnswer {
            question: question.question.clone(),
            class: question.class.clone(),
            rank: rank.map(|rank| rank + 1),
            shown: first.map_or_else(String::new, |first| first.excerpt.clone()),
            right: rank.map(|rank| result.results[rank].excerpt.clone()),
        });
    }
}

fn judge_lines(person: &Person, lines: &[String], learned: &[String], report: &mut PersonReport) {
    for wanted in &person.lines {
        let is_shown = lines.iter().any(|line| wanted.is_said_by(line));
        let is_learned = is_shown || learned.iter().any(|line| wanted.is_said_by(line));
        report.score.wanted += wanted.weight;
        report.score.learned += if is_learned { wanted.weight } else { 0 };
        match is_shown {
            true => report.score.found += wanted.weight,
            false => report.missing.push(MissingLine {
                says: wanted.says.clone(),
                is_learned,
            }),
        }
    }
    for line in lines {
        let says = now(line);
        report.score.lines += 1;
        let mut misleading = person.misleading.iter();
        if let Some(misled) = misleading.find(|key| key.is_said_by(&says)) {
            report.score.misleading += 1;
            report.misleading.push((line.clone(), misled.says.clone()));
        } else if person.lines.iter().any(|key| key.is_said_by(line)) {
            report.score.useful += 1;
        } else {
            report.unnamed.push(line.clone());
        }
    }
}

/// The lines of all scopes' `MEMORY.md`, without headings, and all that was learned.
async fn memory_lines(memory: &CaseMemory) -> Result<(Vec<String>, Vec<String>), EvalError> {
    let (store, tenant) = (&memory.intake.store, &memory.intake.tenant);
    let (mut lines, mut learned) = (Vec::new(), Vec::new());
    for state in read_all(|page| store.scopes(tenant, page)).await? {
        lines.extend(lines_of(&folder(&memory.worker.root, &state.scope)));
        let observations = store.observations(&state.scope).await?;
        learned.extend(observations.into_iter().map(|observation| {
            let context = observation.context.clone().unwrap_or_default();
            format!("{} {context}", observation.statement())
        }));
    }
    Ok((lines, learned))
}

fn lines_of(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("MEMORY.md")).unwrap_or_default();
    let lines = text.lines().filter(|line| line.starts_with("- "));
    lines.map(str::to_owned).collect()
}
