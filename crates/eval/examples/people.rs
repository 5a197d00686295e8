//! Measures what memory shows of the whole histories of invented people (`docs/evaluation.md`):
//!
//! ```text
//! cargo run --release -p daybook-eval --example people -- evaluation/people [tune|report] [--misses]
//! ```
//!
//! It is no command of the program, which has no room for it.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program takes arguments and prints"
)]

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Embedder;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{BoxError, Tenant, Timestamp};
use daybook_embed::StaticModel;
use daybook_engine::append::IngestContext;
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::jobs::{WorkLimits, WorkerContext};
use daybook_eval::changes::CaseMemory;
use daybook_eval::people::{PeopleReport, PersonReport, PersonScore, load_people, run_people};
use daybook_eval::{RecallOptions, Split, VectorOption};
use daybook_store::MemoryStore;
use daybook_testkit::ManualClock;
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;

fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, words): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|word| word.starts_with("--"));
    let path = words
        .first()
        .ok_or("name a person's file, or a folder of them")?;
    let split = match words.get(1).map(|word| word.as_str()) {
        None => None,
        Some("tune") => Some(Split::Tune),
        Some("report") => Some(Split::Report),
        Some(other) => return Err(format!("{other} is neither tune nor report").into()),
    };
    let people = load_people(Path::new(path))?;
    let folder = tempfile::tempdir()?;
    let made = Cell::new(0_usize);
    let fresh = || {
        made.set(made.get() + 1);
        let root = folder.path().join(made.get().to_string());
        std::fs::create_dir_all(&root)?;
        memory(root)
    };
    let options = RecallOptions {
        limit: 10,
        layers: Vec::new(),
        vectors: VectorOption::Of(Arc::new(BuiltIn)),
        files: None,
    };
    let report = daybook_testkit::run(run_people(&people, split, &fresh, &options))?;
    show(&report);
    if flags.iter().any(|flag| flag.as_str() == "--misses") {
        report.people.iter().for_each(show_misses);
    }
    Ok(())
}

/// The model in the binary.
struct BuiltIn;

#[async_trait]
impl Embedder for BuiltIn {
    fn id(&self) -> &str {
        StaticModel::built_in().id()
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn near(&self, word: &str, floor: f32) -> Vec<(String, f32)> {
        StaticModel::built_in().near(word, floor)
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        Embedder::embed(StaticModel::built_in(), texts).await
    }
}

/// An empty memory with default settings, in `root`, long after all sessions.
fn memory(root: PathBuf) -> Result<CaseMemory, BoxError> {
    let now: jiff::Timestamp = "2026-12-01T00:00:00Z".parse()?;
    let redactor = Redactor::standard();
    let intake = IngestContext {
        teams: Default::default(),
        store: Arc::new(MemoryStore::new()),
        clock: Arc::new(ManualClock::at(Timestamp(now.as_millisecond()))),
        tenant: Tenant::local(),
        patience: DueLimits::default(),
        switches: Switches::default(),
        redactor: Arc::new(redactor.clone()),
        readers: 1,
    };
    let worker = WorkerContext {
        store: Arc::clone(&intake.store),
        trees: None,
        before_files: None,
        root,
        clock: Arc::clone(&intake.clock),
        extractor: Arc::new(Extractive),
        consolidation_model: None,
        holder: "eval".to_owned(),
        person: "ada".to_owned(),
        zone: TimeZone::UTC,
        tenant: Tenant::local(),
        switches: Switches::default(),
        redactor,
        limits: WorkLimits::default(),
    };
    Ok(CaseMemory { intake, worker })
}
fn show(report: &PeopleReport) {
    println!(
        "{:<10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "",
        "first",
        "in three",
        "in ten",
        "outdated",
        "unknown",
        "learned",
        "kept",
        "useful",
        "misleads"
    );
    let people = report.people.iter();
    for person in people {
        show_score(&person.name, &person.score);
    }
    show_score("all", &report.total());
}

fn show_score(name: &str, score: &PersonScore) {
    let answers = score.questions;
    let columns = [
        (score.first, answers),
        (score.in_three, answers),
        (score.in_ten, answers),
        (score.outdated, answers),
        (score.never - score.likely, score.never),
        (score.learned as usize, score.wanted as usize),
        (score.found as usize, score.wanted as usize),
        (score.useful, score.lines),
        (score.misleading, score.lines),
    ];
    let columns = columns.map(|(n, of)| format!("{:>9}", format!("{n}/{of}")));
    println!("{name:<10} {}", columns.join(" "));
}

fn show_misses(person: &PersonReport) {
    println!("\n{}", person.name);
    for wrong in &person.wrong {
        let rank = match wrong.rank {
            Some(rank) => format!("at rank {rank}"),
            None => "not among ten".to_owned(),
        };
        println!("\n{} ({}, {rank})", wrong.question, wrong.class);
        println!("  shown: {}", wrong.shown.replace('\n', " "));
        if let Some(right) = &wrong.right {
            println!("  right: {}", right.replace('\n', " "));
        }
    }
    println!();
    let misleading = person.misleading.iter();
    misleading.for_each(|(line, says)| println!("misleads ({says}): {line}"));
    let missing = person.missing.iter();
    missing.for_each(|line| {
        let what = if line.is_learned {
            "not shown"
        } else {
            "missing"
        };
        println!("{what}: {}", line.says);
    });
    let unnamed = person.unnamed.iter();
    unnamed.for_each(|line| println!("not in the key: {line}"));
}
