//! How long it takes to assemble a context, in process, in a scope of 10,000 memories: from files alone, and with lines
//! for a prompt.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use daybook_domain::{Tenant, Timestamp};
use daybook_engine::recall::context::{CurrentWork, ScopeMemory, assemble};
use daybook_engine::recall::host_text::HostText;
use daybook_engine::recall::prompt::{MemoryLine, PROMPT_ANSWERS, SessionKnowledge, select_lines};
use daybook_engine::recall::search::{RecallQuestion, recall};
use daybook_engine::recall::worked_file::WorkedFile;
use daybook_store::sqlite::{SqliteOptions, SqliteStore};

use crate::process::ms;
use crate::recall_scale::append_all;
use crate::recall_scale::corpus::{GeneratedQuestion, NoteCorpus, WordList, questions};

const MEMORIES: usize = 10_000;
const QUESTIONS: usize = 300;
/// Entries of a section of `MEMORY.md`: many more than the engine writes, as a person may.
const ENTRIES: usize = 400;
const SECTIONS: [&str; 6] = [
    "Where we left off",
    "What ada asked to remember",
    "What ada insisted on",
    "Decisions",
    "What changed",
    "Facts that ada stated",
];
const BUDGET: usize = 1_500;

/// Times contexts, each with a different file and branch.
pub(crate) fn assembled() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(&folder.path().join("daybook.db"), SqliteOptions::default())?;
    let words = WordList::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(append_all(&store, NoteCorpus::new(&words, MEMORIES)))?;
    let applies = memory(&words);
    let (mut alone, mut whole) = (Vec::new(), Vec::new());
    for (n, asked) in questions(&words, QUESTIONS).iter().enumerate() {
        let began = Instant::now();
        assemble_context(&applies, n, &[])?;
        alone.push(began.elapsed());
        let began = Instant::now();
        let lines = runtime.block_on(prompt_lines(&store, asked))?;
        assemble_context(&applies, n, &lines)?;
        whole.push(began.elapsed());
    }
    print("files alone", alone);
    print("with recall", whole);
    println!("  wanted: p95 under 5 ms");
    Ok(())
}

fn print(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    let [p50, p95, p99] = [at(0.5), at(0.95), at(0.99)];
    println!("  {name:12} p50 {p50:6.2} ms, p95 {p95:6.2}, p99 {p99:6.2}");
}

/// A memory file with long sections, in the words of the stored notes.
fn memory(words: &WordList) -> Vec<ScopeMemory> {
    let mut corpus = NoteCorpus::new(words, ENTRIES * SECTIONS.len());
    let mut notes = std::iter::from_fn(|| corpus.next_session()).flat_map(|(_, notes)| notes);
    let mut text = String::from("# tidepool\n");
    for section in SECTIONS {
        text.push_str(&format!("\n## {section}\n"));
        for (n, note) in notes.by_ref().take(ENTRIES).enumerate() {
            text.push_str(&format!("- {note} in src/part_{n}.rs [7f78:L{n}]\n"));
        }
    }
    let branches = (0..100).map(|n| format!("\n## branch-{n}\n- what is open on {n} [ca:L{n}]\n"));
    vec![ScopeMemory {
        whose: "Memory of project/tidepool".to_owned(),
        text,
        branches: branches.collect(),
    }]
}

fn assemble_context(applies: &[ScopeMemory], n: usize, prompt: &[MemoryLine]) -> Result<()> {
    let top = Path::new("/home/ada/tidepool");
    let file = format!("src/part_{}.rs", n % ENTRIES);
    let files: Vec<WorkedFile> = WorkedFile::new(Path::new(&file), top, top)
        .into_iter()
        .collect();
    let branch = format!("branch-{}", n % 100);
    let at_hand = CurrentWork {
        branch: Some(&branch),
        files: &files,
        prompt,
    };
    let context = assemble(applies, &at_hand, &HostText::default(), "daybook", BUDGET);
    ensure!(context.tokens <= BUDGET && !context.lines.is_empty());
    Ok(())
}

async fn prompt_lines(
    store: &SqliteStore,
    generated: &GeneratedQuestion,
) -> Result<Vec<MemoryLine>> {
    let question = RecallQuestion {
        text: &generated.text,
        reach: daybook_domain::Reach::Everything,
        layers: Vec::new(),
        tools: false,
        limit: PROMPT_ANSWERS,
        rare: false,
        embedder: None,
        until: None,
        now: Timestamp::ZERO,
    };
    let recalled = recall(store, &Tenant::local(), &question).await?;
    let known = SessionKnowledge {
        session: None,
        prompt: "",
        loaded: &HostText::default(),
        is_shown: &|_| false,
    };
    Ok(select_lines(&recalled, &known, PROMPT_ANSWERS))
}
