//! The memory of an agent through every store that settings choose: rows, files, and a mem0 server. One contract holds
//! for all three; what only a server can do wrong is shown below.

mod fake_mem0;

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixture::TestPlace;
use crate::serve::DaybookServer;
use fake_mem0::{Behaviour, FakeMem0};

const KEY: &str = "m0-key-of-the-tests-7f31";

/// A server whose settings are `file`.
fn with_settings(file: &str) -> DaybookServer {
    let place = TestPlace::new();
    fs::create_dir_all(place.root()).expect("a folder");
    fs::write(place.root().join("daybook.toml"), file).expect("settings");
    DaybookServer::start_in(place, &["--no-follow"], Stdio::inherit())
}

/// Settings by which the memory of alpha, and of its team, is on `mem0`.
fn in_mem0(mem0: &FakeMem0, more: &str) -> String {
    format!(
        "teams = [\"alpha+beta\"]\n[mem0]\nurl = \"{}\"\nkey = {{ env = \"MEM0_KEY\" }}\n{more}\n\
         [agents.alpha]\nmemory_backend = \"mem0\"\n",
        mem0.url
    )
}

fn with_mem0(mem0: &FakeMem0, more: &str) -> DaybookServer {
    let place = TestPlace::new();
    fs::create_dir_all(place.root()).expect("a folder");
    fs::write(place.root().join("daybook.toml"), in_mem0(mem0, more)).expect("settings");
    let mut command = place.daybook(&["serve", "--listen", "127.0.0.1:0", "--no-follow"]);
    command.env("MEM0_KEY", KEY);
    DaybookServer::spawned(place, command)
}

/// One `daybook` command beside the server, with the key of mem0.
fn run(server: &DaybookServer, arguments: &[&str]) -> (bool, String) {
    let mut command = server.place.daybook(arguments);
    let output = command
        .env("MEM0_KEY", KEY)
        .output()
        .expect("daybook starts");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8(text).expect("UTF-8"),
    )
}

fn add(server: &DaybookServer, agent: &str, text: &str) -> String {
    let scope = format!("agent/{agent}");
    let body = json!({"text": text, "scope": scope, "agent": agent});
    let kept = server.post("/v1/memories", &body);
    assert_eq!(
        (&kept["scope"], &kept["text"]),
        (&json!(scope), &json!(text))
    );
    kept["id"].as_str().expect("an id").to_owned()
}

fn texts(answer: &Value, field: &str) -> Vec<String> {
    let all = answer[field].as_array().expect("a list").iter();
    all.map(|one| one["text"].as_str().expect("a text").to_owned())
        .collect()
}

fn listed(server: &DaybookServer, agent: &str) -> Vec<String> {
    let path = format!("/v1/memories?scope=agent/{agent}&agent={agent}");
    texts(&server.get(&path), "memories")
}

fn recalled(server: &DaybookServer, agent: &str, question: &str) -> Value {
    let scope = format!("agent/{agent}");
    let body =
        json!({"question": question, "agent": agent, "scopes": [scope], "layers": ["observation"]});
    server.post("/v1/recall", &body)
}

/// What holds for an agent's memory, wherever it is.
fn check_contract(server: &DaybookServer) {
    let id = add(server, "alpha", "the harbour opens at seven");
    add(server, "alpha", "the crane lifts nine tons");
    add(server, "beta", "the ferry leaves from pier four");

    let found = recalled(server, "alpha", "when does the harbour open");
    assert_eq!(
        texts(&found, "results")[0],
        "the harbour opens at seven",
        "{found}"
    );
    assert!(!found.to_string().contains("ferry"), "{found}");

    // Words are changed in a file that shows them.
    let (is_updated, shown) = run(server, &["update"]);
    assert!(is_updated, "{shown}");
    let path = format!("/v1/memories/{id}?agent=alpha");
    assert_eq!(server.get(&path)["text"], "the harbour opens at seven");
    let new = json!({"text": "the harbour opens at eight"}).to_string();
    let changed = server.send_request(&format!("PATCH {path}"), &new);
    assert_eq!(
        (changed.status, &changed.body["change"]["scope"]),
        (200, &json!("agent/alpha")),
        "{}",
        changed.body
    );
    assert_eq!(server.get(&path)["text"], "the harbour opens at eight");

    let mut all = listed(server, "alpha");
    all.sort();
    assert_eq!(
        all,
        ["the crane lifts nine tons", "the harbour opens at eight"]
    );
    assert_eq!(listed(server, "beta"), ["the ferry leaves from pier four"]);

    // Another agent neither sees nor changes it.
    let of_beta = format!("/v1/memories/{id}?agent=beta");
    server.check(&format!("GET {of_beta}"), "", 404, "not_found");
    server.check(&format!("PATCH {of_beta}"), &new, 404, "not_found");
    server.check(&format!("DELETE {of_beta}"), "", 404, "not_found");

    let gone = server.send_request(&format!("DELETE {path}"), "");
    assert_eq!(gone.status, 200, "{}", gone.body);
    server.check(&format!("GET {path}"), "", 404, "not_found");
    server.check(&format!("DELETE {path}"), "", 404, "not_found");
    assert_eq!(listed(server, "alpha"), ["the crane lifts nine tons"]);
    let found = recalled(server, "alpha", "when does the harbour open");
    assert!(
        !texts(&found, "results").contains(&"the harbour opens at eight".to_owned()),
        "{found}"
    );
}

#[test]
fn m51_an_agents_memory_in_rows_keeps_the_contract() {
    check_contract(&with_settings(""));
}

#[test]
fn m51_an_agents_memory_in_files_keeps_the_contract() {
    check_contract(&with_settings("profile = \"mindroom\"\n"));
}

#[test]
fn m51_an_agents_memory_in_mem0_keeps_the_contract() {
    let mem0 = FakeMem0::start();
    check_contract(&with_mem0(&mem0, ""));
    assert_eq!(mem0.texts(), ["the crane lifts nine tons"]);
}

#[test]
fn m60_the_server_is_asked_once_for_each_owner_and_answers_are_merged() {
    let mem0 = FakeMem0::start();
    let server = with_mem0(&mem0, "");
    server.post(
        "/v1/remember",
        &json!({"text": "the harbour master is Ada", "scope": "user/ada"}),
    );
    mem0.put("agent_alpha", "the harbour has two gates");
    mem0.put("agent_beta", "the harbour is beta's secret");
    mem0.put("team_alpha+beta", "the harbour has two gates");
    mem0.put("team_alpha+beta", "the harbour closes at ten");
    let body = json!({"question": "the harbour", "agent": "alpha", "limit": 5});
    let found = server.post("/v1/recall", &body);
    let mut all = texts(&found, "results");
    all.sort();
    assert_eq!(
        all,
        [
            "the harbour closes at ten",
            "the harbour has two gates",
            "the harbour master is Ada"
        ],
        "{found}"
    );
    let mut asked: Vec<String> = mem0
        .requests("POST /search")
        .iter()
        .map(|body| format!("{} {}", body["filters"], body["top_k"]))
        .collect();
    asked.sort();
    assert_eq!(
        asked,
        [
            "{\"user_id\":\"agent_alpha\"} 5",
            "{\"user_id\":\"team_alpha+beta\"} 5"
        ]
    );
    assert!(found.get("unanswered").is_none(), "{found}");
    // An agent whose memory is here asks the server for its team's alone.
    let found = server.post(
        "/v1/recall",
        &json!({"question": "the harbour", "agent": "beta"}),
    );
    assert!(
        found.to_string().contains("closes at ten") && !found.to_string().contains("beta's secret"),
        "{found}"
    );
}

#[test]
fn a_server_that_is_down_is_named_and_nothing_is_found_in_its_place() {
    let mem0 = FakeMem0::start();
    let server = with_mem0(&mem0, "");
    server.post(
        "/v1/remember",
        &json!({"text": "the harbour master is Ada", "scope": "user/ada"}),
    );
    add(&server, "alpha", "the harbour opens at seven");
    mem0.behave(Behaviour::Refuses(503));
    let body = json!({"question": "the harbour", "agent": "alpha"});
    let found = server.post("/v1/recall", &body);
    assert_eq!(texts(&found, "results"), ["the harbour master is Ada"]);
    let said = json!([
        "agent/alpha: the mem0 server cannot answer now (HTTP 503)",
        "team/alpha+beta: the mem0 server cannot answer now (HTTP 503)",
    ]);
    assert_eq!(found["unanswered"], said);
    let kept =
        json!({"text": "the crane lifts nine tons", "scope": "agent/alpha", "agent": "alpha"});
    server.check("POST /v1/memories", &kept.to_string(), 503, "unavailable");
    server.check(
        "GET /v1/memories?scope=agent/alpha&agent=alpha",
        "",
        503,
        "unavailable",
    );
    // The server's own words, which repeat the key, are shown nowhere.
    mem0.behave(Behaviour::Refuses(401));
    let refused = server.send_request("POST /v1/memories", &kept.to_string());
    assert_eq!(refused.code(), (503, "unavailable"));
    assert!(!refused.body.to_string().contains(KEY), "{}", refused.body);
    let (_, shown) = run(
        &server,
        &["recall", "--scope", "agent/alpha", "the harbour"],
    );
    assert!(
        shown.contains("refuses the key") && !shown.contains(KEY),
        "{shown}"
    );
    mem0.behave(Behaviour::Answers);
    assert_eq!(listed(&server, "alpha"), ["the harbour opens at seven"]);
    assert_eq!(
        fs::exists(server.place.root().join("agents")).ok(),
        Some(false)
    );
}

fn conversation(agent: &str, more: &Value) -> Value {
    let mut body = json!({
        "agent": agent,
        "session": "pier-1",
        "events": [
            {"id": "1", "role": "user", "text": "please always write the test first"},
            {"id": "2", "role": "assistant", "text": "I will write the test first."},
            {"id": "3", "role": "assistant", "tool": "Bash", "text": "cargo test"},
            {"id": "4", "role": "tool", "tool": "Bash", "text": "test result: ok. 3 passed"},
        ],
    });
    let fields = body.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    body
}

/// The sessions that what was learned of the conversations rests on.
fn sessions_learned_from(server: &DaybookServer) -> BTreeSet<String> {
    let body = json!({"question": "should I write the test first", "layers": ["observation"]});
    let found = server.post("/v1/recall", &body);
    let results = found["results"].as_array().expect("results").iter();
    let sessions = results.filter_map(|one| one["session"].as_str());
    sessions.map(str::to_owned).collect()
}

fn append_and_end(server: &DaybookServer, body: &Value) {
    server.post("/v1/append", body);
    let ended = json!({"agent": body["agent"], "session": body["session"], "what": "reset"});
    server.post("/v1/trigger", &ended);
}

#[test]
fn m62_a_conversation_is_sent_by_roles_once_and_nothing_is_learned_here() {
    let mem0 = FakeMem0::start();
    let server = with_mem0(&mem0, "");
    append_and_end(&server, &conversation("alpha", &json!({})));
    append_and_end(
        &server,
        &conversation("beta", &json!({"session": "pier-2", "team": "alpha+beta"})),
    );
    append_and_end(
        &server,
        &conversation("gamma", &json!({"session": "pier-3"})),
    );
    assert!(run(&server, &["update"]).0);
    assert!(run(&server, &["update", "--all"]).0);
    let sent = mem0.requests("POST /memories");
    let messages = json!([
        {"role": "user", "content": "please always write the test first"},
        {"role": "assistant", "content": "I will write the test first."},
    ]);
    let of_agent = json!({
        "agent": "alpha", "type": "conversation", "session_id": "alpha:pier-1", "daybook_part": "alpha:pier-1:1-4",
    });
    let of_team = json!({
        "is_team": true, "team_members": ["alpha", "beta"], "type": "conversation",
        "session_id": "beta:pier-2", "daybook_part": "beta:pier-2:1-4",
    });
    let mut expected = vec![
        json!({"messages": messages, "user_id": "agent_alpha", "metadata": of_agent}),
        json!({"messages": messages, "user_id": "team_alpha+beta", "metadata": of_team}),
    ];
    let mut sent: Vec<Value> = sent;
    sent.sort_by_key(ToString::to_string);
    expected.sort_by_key(ToString::to_string);
    assert_eq!(sent, expected);
    // Of the agent whose memory is here alone, something was learned.
    let expected = BTreeSet::from(["gamma:pier-3".to_owned()]);
    assert_eq!(sessions_learned_from(&server), expected);
}

#[test]
fn a_conversation_waits_for_a_server_that_is_down_and_is_kept_there_once() {
    let mem0 = FakeMem0::start();
    let server = with_mem0(&mem0, "");
    append_and_end(&server, &conversation("alpha", &json!({})));
    append_and_end(
        &server,
        &conversation("gamma", &json!({"session": "pier-3"})),
    );
    mem0.behave(Behaviour::Refuses(503));
    run(&server, &["update"]);
    let (_, status) = run(&server, &["status"]);
    assert!(
        status.contains("the mem0 server cannot answer now (HTTP 503)"),
        "{status}"
    );
    // Another agent's session waits for no server.
    let expected = BTreeSet::from(["gamma:pier-3".to_owned()]);
    assert_eq!(sessions_learned_from(&server), expected);
    assert_eq!(mem0.texts(), Vec::<String>::new());
    // It learns, and the connection ends before its answer: the next try recognises what it has.
    mem0.behave(Behaviour::HangsUp);
    run(&server, &["update", "--all"]);
    mem0.behave(Behaviour::Answers);
    assert!(run(&server, &["update", "--all"]).0);
    let words = [
        "please always write the test first",
        "I will write the test first.",
    ];
    for _ in 0..2 {
        assert_eq!(mem0.memories().len(), 2, "{:?}", mem0.memories());
        assert_eq!(mem0.texts(), words);
        assert!(run(&server, &["update", "--all"]).0);
    }
    let (_, status) = run(&server, &["status"]);
    assert!(!status.contains("mem0"), "{status}");
}

#[test]
fn both_are_written_where_settings_say_so_and_the_server_is_read() {
    let mem0 = FakeMem0::start();
    let server = with_mem0(&mem0, "also_here = true");
    let id = add(&server, "alpha", "the harbour opens at seven");
    append_and_end(&server, &conversation("alpha", &json!({})));
    assert!(run(&server, &["update"]).0);
    assert_eq!(mem0.memories().len(), 3);
    assert_eq!(listed(&server, "alpha").len(), 3);
    let path = format!("/v1/memories/{id}?agent=alpha");
    assert_eq!(server.get(&path)["text"], "the harbour opens at seven");
    // The person, who looks through their own data folder, finds what is kept here.
    let (_, shown) = run(&server, &["recall", "when does the harbour open"]);
    assert!(shown.contains("the harbour opens at seven"), "{shown}");
    let expected = BTreeSet::from(["alpha:pier-1".to_owned()]);
    assert_eq!(sessions_learned_from(&server), expected);
}

#[test]
fn a_program_of_mem0_is_sent_to_the_server_itself() {
    let mem0 = FakeMem0::start();
    let server = with_mem0(&mem0, "");
    let body = json!({
        "messages": [{"role": "user", "content": "tea"}], "agent_id": "alpha", "infer": false,
    });
    let refused = server.send_request("POST /memories", &body.to_string());
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_eq!(
        refused.body["detail"],
        "the memory of agent/alpha is on the mem0 server that settings name; send this to that server"
    );
    assert!(mem0.texts().is_empty());
}
