//! The consolidation agent, from transcripts to memory files, over HTTP.

use std::fs;

use daybook_domain::model::ToolCall;
use daybook_testkit::llm_server::{Behaviour, LlmServer, RecordedRequest, Script};
use serde_json::{Value, json};

use super::{KEY, place};
use crate::fixture::{TestPlace, TestSession};
use crate::purge::check_gone;

const RULE: &str = "from now on always write short answers about Wendelmoor, please";
const LINE: &str = "Always write short answers about Wendelmoor.";

fn settings(server: &LlmServer, agent: &str) -> String {
    let url = server.url();
    format!(
        "consolidation_model = \"home/small-2\"\nconsolidation_agent = \"{agent}\"\n\
         [providers.home]\nwire = \"openai\"\nbase_url = \"{url}/v1\"\nkey = {{ env = \"HOME_KEY\" }}\ntries = 1\n\
         [prices]\n\"home/*\" = {{ input = 1, output = 4 }}\n"
    )
}

fn run(place: &TestPlace, arguments: &[&str]) -> (String, bool) {
    let output = place.daybook(arguments).env("HOME_KEY", KEY).output();
    let output = output.expect("daybook starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    (printed, output.status.success())
}

fn call(name: &str, arguments: &Value) -> Behaviour {
    Behaviour::Calls(vec![ToolCall {
        id: "c1".to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_string(),
    }])
}

fn is_for_agent(asked: &RecordedRequest) -> bool {
    !asked.tools.is_empty()
}

/// Reads what is new, writes `line` with the citation that it read, and is done.
fn agent(line: &'static str) -> impl Fn(&RecordedRequest) -> Behaviour {
    move |asked| {
        let text = asked.text();
        if !is_for_agent(asked) {
            return Behaviour::AnswerJson(json!({"merge": [], "reword": [], "supersede": []}));
        }
        let Some(read) = text
            .lines()
            .find(|it| it.trim().starts_with("- [") && it.contains(RULE))
        else {
            return call("read", &json!({"path": "inputs/added-001.md"}));
        };
        if text.contains("Done.") {
            return Behaviour::Answer("DONE".to_owned());
        }
        let (from, to) = (read.find('[').unwrap(), read.find(']').unwrap());
        let cited = &read[from..=to];
        let new = format!("## Handbook\n- {line} {cited}\n");
        let arguments = json!({"path": "MEMORY.md", "old": "## Handbook\n", "new": new});
        call("replace", &arguments)
    }
}

fn one_session(server: &LlmServer, agent: &str) -> TestPlace {
    let place = place(&settings(server, agent));
    let session = TestSession::new(1).human(RULE).agent("Understood.");
    let file = place.write("a.jsonl", &session.text());
    let file = file.display().to_string();
    assert!(run(&place, &["import", &file, "--no-process"]).1);
    place
}

fn handbook(place: &TestPlace) -> Option<String> {
    let path = place.root().join("projects/tidepool/memory/MEMORY.md");
    let text = fs::read_to_string(path).expect("a file");
    text.split_once("## Handbook\n")
        .map(|(_, lines)| lines.to_owned())
}

#[test]
fn an_agents_line_is_written_charged_and_leads_to_the_transcript() {
    let server = LlmServer::start(Script::answering(agent(LINE)));
    let place = one_session(&server, "on");
    let (printed, _) = run(&place, &["update", "--all"]);
    assert!(
        printed.contains("project/tidepool has 1 line of the consolidation agent"),
        "{printed}"
    );
    assert!(handbook(&place).expect("a section").contains(LINE));
    let (spent, _) = run(&place, &["spend", "--by", "stage", "--json"]);
    assert!(spent.contains("\"consolidate\""), "{spent}");
    let (why, _) = run(&place, &["why", LINE, "--project", "tidepool"]);
    assert!(why.contains(RULE), "{why}");
    let (found, _) = run(&place, &["doctor"]);
    assert!(found.contains("no run failed"), "{found}");
    let asked = server.requests();
    run(&place, &["update", "--all"]);
    assert_eq!(server.requests(), asked, "nothing is new");
}

#[test]
fn an_agent_that_invents_changes_nothing_and_status_and_doctor_say_why() {
    let server = LlmServer::start(Script::answering(agent(
        "Always write answers of 50 words.",
    )));
    let place = one_session(&server, "on");
    let (printed, _) = run(&place, &["update", "--all"]);
    let why = "the consolidation agent changed nothing, because its text was refused";
    assert!(printed.contains(why), "{printed}");
    assert_eq!(handbook(&place), None);
    let (found, is_sound) = run(&place, &["doctor"]);
    let reason = "names what the cited statements do not name";
    assert!(!is_sound && found.contains(reason), "{found}");
    let (state, _) = run(&place, &["status"]);
    let failing = "the consolidation agent in project/tidepool, which changed nothing";
    assert!(state.contains(failing) && state.contains(reason), "{state}");
}

#[test]
fn a_line_that_rests_on_what_is_purged_is_nowhere() {
    let server = LlmServer::start(Script::answering(agent(LINE)));
    let place = one_session(&server, "on");
    run(&place, &["update", "--all"]);
    assert!(handbook(&place).expect("a section").contains(LINE));
    let (sessions, _) = run(&place, &["sessions", "--json"]);
    let sessions: Value = serde_json::from_str(&sessions).expect("JSON");
    let id = first_text(&sessions, "label").expect("a session has a label");
    let (purged, is_done) = run(&place, &["purge", "--session", &id, "--yes"]);
    assert!(is_done, "{purged}");
    check_gone(
        &place.root(),
        &["Wendelmoor".to_owned(), "## Handbook".to_owned()],
    );
    // Nothing is left to write about.
    let asked = server.requests();
    run(&place, &["update", "--all"]);
    assert_eq!(server.requests(), asked);
}

/// The first text of this name, at any depth.
fn first_text(value: &Value, name: &str) -> Option<String> {
    match value {
        Value::Object(fields) => match fields.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            _ => fields.values().find_map(|it| first_text(it, name)),
        },
        Value::Array(items) => items.iter().find_map(|it| first_text(it, name)),
        _ => None,
    }
}

#[test]
fn without_the_setting_no_agent_is_asked() {
    let server = LlmServer::start(Script::answering(agent(LINE)));
    let place = one_session(&server, "off");
    run(&place, &["update", "--all"]);
    let asked = server.recorded_requests();
    assert!(!asked.is_empty() && !asked.iter().any(is_for_agent));
    assert_eq!(handbook(&place), None);
}
