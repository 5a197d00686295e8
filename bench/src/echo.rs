//! Whether memory grows from its own words.
//!
//! One session teaches five things. Then, for twenty rounds, a new session is given the context, reads `MEMORY.md` with a
//! tool, and its agent repeats both: word for word, in other words, and as a summary; the person states nothing new.
//! After each round the session is learned from. What is remembered must stay what the first session stated, and a
//! repetition must not count as evidence.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use daybook_domain::Observation;
use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_engine::extract::Extractor;
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::extract::model::{Dialect, ModelExtractor};
use daybook_engine::jobs::work;
use daybook_engine::recall::context::{CurrentWork, ScopeMemory, assemble};
use daybook_engine::recall::host_text::HostText;
use daybook_engine::stop::Stop;
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::{ManualClock, run};
use serde_json::json;

use crate::poisoning::conversation::{Format, Step, folder};
use crate::poisoning::model::ObedientModel;
use crate::poisoning::{NOW, memory_files, observations, take_in, worker};
use crate::transcripts::DiscardProgress;

/// Sessions after the first.
const ROUNDS: usize = 20;
/// Tokens of a context.
const BUDGET: usize = 1_500;

/// What the first session teaches: what the person says, a word that is in nothing else, and it in other words.
const TAUGHT: [(&str, &str, &str); 5] = [
    (
        "please always run the harbour tests with --release from now on",
        "harbour",
        "Your rule is that the harbour tests run in release mode, so I do that.",
    ),
    (
        "we decided to keep the tide tables in SQLite instead of JSON files",
        "tide",
        "Since tide tables live in SQLite by decision, and no longer in JSON files, I open the database.",
    ),
    (
        "I prefer short commit messages without any emoji, like a lighthouse",
        "lighthouse",
        "Short messages without emoji are what you like, as a lighthouse, so I write one.",
    ),
    (
        "the staging server is called pelican and has 4 GB of memory",
        "pelican",
        "Staging runs on pelican, with its 4 GB of memory.",
    ),
    (
        "never push to the buoy branch without asking me first",
        "buoy",
        "I must ask before anything is pushed to the buoy branch.",
    ),
];

/// Memory after one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MemorySize {
    observations: usize,
    /// Sessions that observations rest on, added up.
    sessions: usize,
    /// Lines of `MEMORY.md` that stand under what was taught.
    lines: usize,
    bytes: usize,
}

/// `daybook-bench echo`.
pub(crate) fn repeat() -> Result<()> {
    let model = || {
        let taught = TAUGHT
            .iter()
            .map(|(said, word, _)| ((*said).to_owned(), (*word).to_owned()));
        let model = ObedientModel::new(taught.collect());
        Arc::new(ModelExtractor::new(model, Dialect::Extract)) as Arc<dyn Extractor>
    };
    let grown = [
        grow("without a model", Arc::new(Extractive))?,
        grow("with a model that repeats", model())?,
    ];
    if grown.contains(&true) {
        bail!("memory has grown from its own words");
    }
    Ok(())
}

/// Prints memory's size after each round. Returns whether it has grown.
fn grow(name: &str, extractor: Arc<dyn Extractor>) -> Result<bool> {
    let place = tempfile::tempdir()?;
    let root = place.path().join("root");
    fs::create_dir_all(&root)?;
    let options = SqliteOptions::default();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&root.join("daybook.db"), options)?);
    let clock = Arc::new(ManualClock::at(NOW));
    println!("\n  {name}");
    println!(
        "  round  observations  sessions they rest on  lines of MEMORY.md  bytes of memory files"
    );
    let mut sizes = Vec::new();
    for round in 0..=ROUNDS {
        let transcripts = place.path().join(format!("round-{round}"));
        fs::create_dir_all(&transcripts)?;
        let steps = match round {
            0 => first_session(),
            _ => echoing_session(&root, round)?,
        };
        let format = Format::ALL[round % 2];
        let text = format.write(round, "main", &steps);
        // All in the first one's folder, so that they are of one project.
        let text = text.replace(&folder(round), &folder(0));
        fs::write(transcripts.join(format.file_name(round)), text)?;
        let size = run(async {
            take_in(&store, &clock, &transcripts, 1).await?;
            clock.advance(Duration::from_secs(86_400));
            let clock = Arc::clone(&clock) as Arc<dyn Clock>;
            let worker = worker(&store, &root, clock, Arc::clone(&extractor));
            let report = work(&worker, &Stop::default(), &DiscardProgress).await?;
            if let Some(failed) = report.failed.first() {
                bail!("{}: {}", failed.job, failed.failure.message);
            }
            size(&observations(&*store).await?, &root)
        })?;
        if round < 3 || round % 5 == 0 {
            println!(
                "  {round:5}  {:12}  {:21}  {:18}  {:21}",
                size.observations, size.sessions, size.lines, size.bytes
            );
        }
        sizes.push(size);
    }
    let (first, last) = (sizes[0], sizes[ROUNDS]);
    if first.observations == 0 {
        bail!("the first session taught nothing");
    }
    Ok(last.observations > first.observations
        || last.sessions > first.sessions
        || last.lines > first.lines)
}

fn first_session() -> Vec<Step> {
    let taught = TAUGHT.iter().flat_map(|(said, ..)| {
        let answered = Step::Assistant("Understood.".to_owned());
        [Step::Human((*said).to_owned()), answered]
    });
    taught.collect()
}

/// A session that is given the memory so far, and repeats it.
fn echoing_session(root: &Path, round: usize) -> Result<Vec<Step>> {
    let memory = memory_page(root)?;
    let scope = ScopeMemory {
        whose: "this project".to_owned(),
        text: memory.clone(),
        branches: String::new(),
    };
    let nothing = HostText::default();
    let context = assemble(
        &[scope],
        &CurrentWork::default(),
        &nothing,
        "daybook",
        BUDGET,
    );
    let task = format!("{}\nplease look at the build once more", context.text);
    let told = Step::Assistant(format!(
        "I remember from earlier sessions:\n{}",
        context
            .lines
            .iter()
            .map(|line| format!("- {line}\n"))
            .collect::<String>()
    ));
    let read = Step::Call {
        tool: "Bash".to_owned(),
        arguments: json!({"command": "cat ~/.daybook/projects/project-0/memory/MEMORY.md"}),
    };
    let page = Step::Outcome {
        content: json!(memory),
        failed: false,
        host: None,
    };
    let mut steps = vec![Step::Human(task), told, read, page];
    for (said, _, otherwise) in TAUGHT {
        steps.push(Step::Assistant(format!("You told me: {said}.")));
        steps.push(Step::Assistant(otherwise.to_owned()));
    }
    steps.push(Step::Human(format!("fine, that was run {round}")));
    steps.push(Step::Assistant("The build passes.".to_owned()));
    Ok(steps)
}

/// The text of the one `MEMORY.md`.
fn memory_page(root: &Path) -> Result<String> {
    let projects = fs::read_dir(root.join("projects"))?;
    let pages = projects
        .flatten()
        .map(|project| project.path().join("memory/MEMORY.md"));
    let page = pages.into_iter().find(|page| page.is_file());
    Ok(fs::read_to_string(page.context("there is no MEMORY.md")?)?)
}

fn size(observations: &[Observation], root: &Path) -> Result<MemorySize> {
    let sessions = observations.iter().map(|observation| {
        let mut labels: Vec<&str> = observation
            .evidence
            .iter()
            .map(|it| it.label.as_str())
            .collect();
        labels.sort_unstable();
        labels.dedup();
        labels.len()
    });
    let page = memory_page(root)?;
    let is_taught = |line: &&str| {
        let low = line.to_lowercase();
        TAUGHT.iter().any(|(_, word, _)| low.contains(word))
    };
    Ok(MemorySize {
        observations: observations.len(),
        sessions: sessions.sum(),
        lines: page.lines().filter(is_taught).count(),
        bytes: memory_files(root)?.iter().map(String::len).sum(),
    })
}
