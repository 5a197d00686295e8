use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{BoxError, Tenant, Timestamp};
use daybook_engine::append::IngestContext;
use daybook_store::MemoryStore;
use daybook_testkit::ManualClock;
use daybook_text::redact::Redactor;

use super::{ThreadMemory, ThreadsReport, load_insisted, run_threads};
use crate::ask::{RecallOptions, VectorOption};
use crate::error::EvalError;

fn fresh() -> Result<ThreadMemory, BoxError> {
    let store = Arc::new(MemoryStore::new());
    Ok(ThreadMemory {
        intake: IngestContext {
            teams: Default::default(),
            store: Arc::clone(&store) as _,
            clock: Arc::new(ManualClock::at(Timestamp(2_000_000_000_000))),
            tenant: Tenant::local(),
            patience: DueLimits::default(),
            switches: Switches::default(),
            redactor: Arc::new(Redactor::standard()),
            readers: 1,
        },
        threads: store,
    })
}

/// A session in which a person forbids something, and then asks much.
fn transcript() -> String {
    let mut text = String::new();
    for number in 1..=60 {
        let words = match number {
            2 => "Please never deploy on Fridays".to_owned(),
            number => format!("what about part {number}"),
        };
        let line = |kind: &str, id: usize, content: &str| {
            let role = if kind == "user" { "user" } else { "assistant" };
            serde_json::json!({"type": kind, "uuid": format!("u{id}"), "sessionId": "s1", "cwd": "/w",
                "timestamp": "2026-01-02T03:04:05.000Z", "version": "2.0.0",
                "message": {"role": role, "content": content}})
        };
        writeln!(text, "{}", line("user", 2 * number, &words)).expect("a line");
        let answer = format!("Part {number} is fine.");
        writeln!(text, "{}", line("assistant", 2 * number + 1, &answer)).expect("a line");
    }
    text
}

fn run(folder: &Path, words: &str) -> Result<ThreadsReport, EvalError> {
    std::fs::write(folder.join("one.jsonl"), transcript()).expect("a file");
    let labels = format!(
        "[[session]]\nfile = \"one.jsonl\"\nsplit = \"tune\"\n[[session.insisted]]\nline = 3\n\
         about = \"no deploys\"\nwords = \"{words}\"\nquestion = \"When must nothing be deployed?\"\n"
    );
    let path = folder.join("insisted.toml");
    std::fs::write(&path, labels).expect("a file");
    let cases = load_insisted(&path)?;
    let options = RecallOptions {
        limit: 20,
        layers: Vec::new(),
        vectors: VectorOption::Off,
        files: None,
    };
    daybook_testkit::run(run_threads(&cases, None, folder, &fresh, &options))
}

#[test]
fn what_was_insisted_on_is_looked_for_in_the_context_and_in_recall() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = run(folder.path(), "never deploy on fridays").expect("a report");
    assert_eq!((report.tune.all, report.tune.in_context), (1, 1));
    assert_eq!(report.report.all, 0);
    let session = &report.sessions[0];
    assert_eq!(session.events, 120);
    assert!(session.compactions > 3, "{session:?}");
}

#[test]
fn a_label_whose_line_does_not_hold_its_words_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = run(folder.path(), "never deploy on Mondays").expect_err("a refusal");
    assert!(
        refused.to_string().contains("does not hold the words"),
        "{refused}"
    );
}
