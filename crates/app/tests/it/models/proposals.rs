//! Consolidation with a model, from transcripts to memory files, over HTTP.

use std::fs;

use daybook_testkit::llm_server::{Behaviour, LlmServer, RecordedRequest, Script};
use serde_json::{Value, json};

use super::{KEY, place};
use crate::fixture::{TestPlace, TestSession};

/// Two rules that say the same without a common word, and what the model makes of the second one.
const BRIEF: &str = "always keep replies brief";
const SHORT: &str = "from now on always write short answers, please";
const CLEAR: &str = "Always write short answers.";

fn settings(server: &LlmServer) -> String {
    let url = server.url();
    format!(
        "consolidation_model = \"home/small-2\"\nretry_first = \"1h\"\nretry_most = \"1h\"\n\
         [providers.home]\nwire = \"openai\"\nbase_url = \"{url}/v1\"\nkey = {{ env = \"HOME_KEY\" }}\ntries = 1\n\
         [prices]\n\"home/*\" = {{ input = 1, output = 4 }}\n"
    )
}

/// The number of the statement that holds these words, as the question shows it.
fn number_of(question: &str, words: &str) -> Option<u64> {
    let line = question.lines().find(|line| line.contains(words))?;
    let (_, number) = line.split_once('[')?;
    number.split(' ').next()?.parse().ok()
}

/// Merges the two rules, rewords one, and proposes what no transcript holds.
fn propose(asked: &RecordedRequest) -> Behaviour {
    let question = asked.text();
    let (Some(brief), Some(short)) = (
        number_of(&question, "replies brief"),
        number_of(&question, "short answers"),
    ) else {
        return Behaviour::AnswerJson(json!({"merge": [], "reword": [], "supersede": []}));
    };
    Behaviour::AnswerJson(json!({
        "merge": [{"ids": [short, brief]}],
        "reword": [
            {"id": short, "text": CLEAR},
            {"id": brief, "text": "Keep replies below 50 words."},
        ],
        "supersede": [],
    }))
}

fn run(place: &TestPlace, arguments: &[&str]) -> String {
    let output = place.daybook(arguments).env("HOME_KEY", KEY).output();
    let output = output.expect("daybook starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {printed}{errors}");
    printed
}

fn run_json(place: &TestPlace, arguments: &[&str]) -> Value {
    let printed = run(place, &[arguments, &["--json"]].concat());
    serde_json::from_str(&printed).expect("JSON")
}

fn import(place: &TestPlace, name: &str, session: &TestSession) {
    let file = place.write(name, &session.text());
    run(
        place,
        &["import", &file.display().to_string(), "--no-process"],
    );
}

/// A session in which ada states a rule.
fn stating(n: u32, rule: &str) -> TestSession {
    TestSession::new(n).human(rule).agent("Understood.")
}

fn two_sessions(server: &LlmServer) -> TestPlace {
    let place = place(&settings(server));
    import(&place, "a.jsonl", &stating(1, BRIEF));
    import(&place, "b.jsonl", &stating(2, SHORT));
    place
}

fn rules(place: &TestPlace) -> Vec<String> {
    let path = place.root().join("projects/tidepool/memory/MEMORY.md");
    let text = fs::read_to_string(path).expect("a file");
    let section = text
        .split("## What ada insisted on")
        .nth(1)
        .unwrap_or_default();
    let section = section.split("## ").next().unwrap_or_default();
    let lines = section.lines().filter(|line| line.starts_with("- "));
    let is_rule = |line: &&str| line.contains("brief") || line.contains("short answers");
    lines.filter(is_rule).map(str::to_owned).collect()
}

#[test]
fn accepted_proposals_are_written_paid_once_and_lead_to_the_transcript() {
    let server = LlmServer::start(Script::answering(propose));
    let place = two_sessions(&server);
    let report = run_json(&place, &["update", "--all"]);
    assert_eq!(report["proposals"]["accepted"], 2, "{report}");
    assert_eq!(report["proposals"]["dropped"]["conflicting"], 1, "{report}");
    let written = rules(&place);
    assert_eq!(written.len(), 1, "{written:?}");
    assert!(written[0].contains(CLEAR), "{written:?}");
    let asked = server.requests();
    let spent = run_json(&place, &["spend", "--by", "stage"]);
    assert!(spent.to_string().contains("\"consolidate\""), "{spent}");
    // Both sessions' own words are behind the line.
    let why = run_json(&place, &["why", CLEAR, "--project", "tidepool"]).to_string();
    assert!(why.contains(BRIEF) && why.contains(SHORT), "{why}");
    run(&place, &["update", "--all"]);
    run(&place, &["consolidate"]);
    assert_eq!(server.requests(), asked, "nothing is new");
    // What was accepted stays without the setting.
    let file = place.root().join("daybook.toml");
    let without = fs::read_to_string(&file).expect("a file");
    let without = without.replace("consolidation_model = \"home/small-2\"\n", "");
    fs::write(&file, without).expect("a file");
    run(&place, &["consolidate"]);
    assert_eq!((rules(&place), server.requests()), (written, asked));
}

#[test]
fn an_outage_leaves_the_rules_files_and_is_reported_until_an_update_asks_again() {
    let server = LlmServer::start(Script::answering(|_| Behaviour::ServerError(503)));
    let place = two_sessions(&server);
    let printed = run(&place, &["update", "--all"]);
    assert_eq!(rules(&place).len(), 2);
    assert!(
        printed.contains("project/tidepool is written without a model, which is asked again later"),
        "{printed}"
    );
    let asked = server.requests();
    let status = run(&place, &["status"]);
    assert!(status.contains("their model gave no answer"), "{status}");
    run(&place, &["consolidate", "--scope", "project/tidepool"]);
    run(&place, &["update"]);
    assert!(server.requests() > asked);
}
