//! Where observations come from, from the transcript to recall, for each origin and in two formats.

use std::fs;
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::time::Clock;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{Observation, ObservationKind, ObservationOrigin, Origin, Tenant};
use daybook_engine::append::IngestContext;
use daybook_engine::extract::{ExtractError, Extractor, ExtractorOutput, ObservationDraft, Window};
use daybook_engine::import::{import, scan};
use daybook_engine::jobs::quarantine::waiting;
use daybook_engine::jobs::{WorkLimits, WorkerContext, work};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{at, user_scope};
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores;

/// Makes a draft of each event that holds the word `port`: of a person's own words a stated fact.
struct PortExtractor(ObservationKind);

#[async_trait]
impl Extractor for PortExtractor {
    fn name(&self) -> &str {
        "ports/1"
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let about = window.events.iter().filter(|e| e.text.contains("port "));
        let drafts = about.map(|event| {
            let line = event.text.lines().find(|line| line.contains("port "));
            let text = line.unwrap_or_default().trim_start_matches("> ").to_owned();
            let is_typed = event.origin == Origin::Human && !event.text.contains('>');
            ObservationDraft {
                kind: self.0,
                general: true,
                text,
                quoted: false,
                context: None,
                subject: None,
                stated: is_typed,
                events: vec![event.seq],
                lines: vec![event.line],
                at: event.at,
            }
        });
        Ok(ExtractorOutput {
            drafts: drafts.collect(),
            ..ExtractorOutput::default()
        })
    }
}

const TYPED: &str = "the staging port is 8001";
const PASTED: &str =
    r"what does he mean?\n\nOn Tue, Mar 3, 2026 Bob wrote:\n> the office port is 8002";
const CONCLUDED: &str = "So the metrics port is 8003.";
const LOCAL: &str = "the listening port is 8004";
const WEB: &str = "the default port is 8005";
const SERVER: &str = "the wiki port is 8006";

fn claude_code() -> Vec<String> {
    let line = |kind: &str, n: usize, content: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"u{n}","sessionId":"claude-1","timestamp":"2026-10-30T10:00:00Z","message":{{"role":"{kind}","content":{content}}}}}"#
        )
    };
    let mut lines = vec![
        line("user", 1, &format!("\"{TYPED}\"")),
        line("user", 2, &format!("\"{PASTED}\"")),
        line(
            "assistant",
            3,
            &format!(r#"[{{"type":"text","text":"{CONCLUDED}"}}]"#),
        ),
    ];
    for (n, (tool, answer)) in [
        ("Bash", LOCAL),
        ("WebFetch", WEB),
        ("mcp__wiki__read", SERVER),
    ]
    .into_iter()
    .enumerate()
    {
        let call = format!(r#"[{{"type":"tool_use","id":"t{n}","name":"{tool}","input":{{}}}}]"#);
        let result =
            format!(r#"[{{"type":"tool_result","tool_use_id":"t{n}","content":"{answer}"}}]"#);
        lines.push(line("assistant", 10 + 2 * n, &call));
        lines.push(line("user", 11 + 2 * n, &result));
    }
    lines
}

fn codex() -> Vec<String> {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":"2026-10-30T10:00:00Z","type":"{kind}","payload":{payload}}}"#)
    };
    let message = |role: &str, text: &str| {
        let payload = format!(r#"{{"type":"message","role":"{role}","content":"{text}"}}"#);
        line("response_item", &payload)
    };
    let meta = r#"{"id":"codex-1","timestamp":"2026-10-30T10:00:00Z","source":"cli"}"#;
    let mut lines = vec![
        line("session_meta", meta),
        message("user", TYPED),
        message("user", PASTED),
        message("assistant", CONCLUDED),
    ];
    for (n, (name, answer)) in [
        (r#""name":"exec_command""#, LOCAL),
        (r#""name":"web_fetch""#, WEB),
        (r#""namespace":"mcp__wiki","name":"read""#, SERVER),
    ]
    .into_iter()
    .enumerate()
    {
        let call =
            format!(r#"{{"type":"function_call","call_id":"t{n}",{name},"arguments":"{{}}"}}"#);
        let output =
            format!(r#"{{"type":"function_call_output","call_id":"t{n}","output":"{answer}"}}"#);
        lines.push(line("response_item", &call));
        lines.push(line("response_item", &output));
    }
    lines
}

/// What memory holds of a transcript, and what waits for a person, each with its origin.
type Learned = Vec<(String, ObservationOrigin)>;

/// Imports a transcript and extracts it, on each store; gives what was filed and what waits.
fn check(
    lines: &[String],
    kind: ObservationKind,
    filed: &[(&str, ObservationOrigin)],
    quarantined: &[(&str, ObservationOrigin)],
) {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("session.jsonl");
        fs::write(&file, lines.join("\n") + "\n").unwrap();
        let clock = Arc::new(ManualClock::at(at(10_000)));
        let intake = IngestContext {
            teams: Default::default(),
            store: Arc::clone(&made.store),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            tenant: Tenant::local(),
            patience: DueLimits::default(),
            switches: Switches::default(),
            redactor: Arc::new(Redactor::standard()),
            readers: 1,
        };
        let worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            before_files: None,
            root: folder.path().join("root"),
            clock,
            extractor: Arc::new(PortExtractor(kind)),
            consolidation_model: None,
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            redactor: Redactor::standard(),
            limits: WorkLimits::default(),
        };
        run(async {
            let stop = Stop::default();
            import(&intake, "all", scan(&[file]), &stop, &SilentProgress)
                .await
                .unwrap();
            work(&worker, &stop, &SilentProgress).await.unwrap();
            let store = &*made.store;
            let held = store.observations(&user_scope("ada")).await.unwrap();
            assert_eq!(sorted(held.iter()), expected(filed));
            let waits = waiting(store, &Tenant::local()).await.unwrap();
            let waits = waits.iter().map(|one| &one.observation);
            assert_eq!(sorted(waits), expected(quarantined));
        });
    }
}

fn sorted<'o>(observations: impl Iterator<Item = &'o Observation>) -> Learned {
    let mut learned: Learned = observations.map(|o| (o.text.clone(), o.origin)).collect();
    learned.sort();
    learned
}

fn expected(learned: &[(&str, ObservationOrigin)]) -> Learned {
    let mut expected: Learned = learned
        .iter()
        .map(|(text, o)| ((*text).to_owned(), *o))
        .collect();
    expected.sort();
    expected
}

const ALL: [(&str, ObservationOrigin); 6] = [
    (TYPED, ObservationOrigin::Typed),
    ("the office port is 8002", ObservationOrigin::Pasted),
    (CONCLUDED, ObservationOrigin::Concluded),
    (LOCAL, ObservationOrigin::Tool),
    (WEB, ObservationOrigin::External),
    (SERVER, ObservationOrigin::External),
];

#[test]
fn each_origin_of_a_claude_code_session_is_recorded() {
    check(&claude_code(), ObservationKind::Fact, &ALL, &[]);
}

#[test]
fn each_origin_of_a_codex_session_is_recorded() {
    check(&codex(), ObservationKind::Fact, &ALL, &[]);
}

/// Whichever extractor drafts it: what came from outside alone waits for a person.
#[test]
fn no_decision_comes_from_outside_alone() {
    for lines in [claude_code(), codex()] {
        let (filed, waits) = (&[ALL[0], ALL[2]], &[ALL[1], ALL[3], ALL[4], ALL[5]]);
        check(&lines, ObservationKind::Decision, filed, waits);
    }
}
