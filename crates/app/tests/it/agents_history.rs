//! History and changes of memory as agents request them, over HTTP and MCP; and on a server that machines share.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixture::{TestPlace, teaching_session};
use crate::mcp::McpClient;
use crate::serve::DaybookServer;

const NOTE: &str = "the pier of Saint-Malo is closed on Mondays";
const SCOPE: &str = "project/tidepool";

fn place_with_note() -> TestPlace {
    let place = TestPlace::new();
    let file = place.write("a.jsonl", &teaching_session(1).text());
    place.stdout(&["import", &file.display().to_string()]);
    place.stdout(&["remember", "--scope", SCOPE, NOTE]);
    place
}

fn listed(place: &TestPlace) -> Value {
    place.json(&["list", "--scope", SCOPE, "--query", "Saint-Malo"])
}

fn author(place: &TestPlace) -> String {
    let history = place.json(&["history", "--scope", SCOPE]);
    let author = history["commits"][0]["author"].as_str();
    author.expect("an author").to_owned()
}

#[test]
fn agents_have_history_and_changes_over_mcp_on_request_alone() {
    let place = place_with_note();
    let mut client = McpClient::connect(&place, &[]);
    let refused = client.request("tools/call", json!({"name": "history", "arguments": {}}));
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no tool history")
    );
    client.close();
    let mut client = McpClient::connect(&place, &["--tools", "history"]);
    let scoped = |mut arguments: Value| {
        arguments["scope"] = json!(SCOPE);
        arguments
    };
    let (text, data) = client.call_ok("history", scoped(json!({})));
    assert!(
        text.starts_with("<daybook-memory>\n") && text.contains("Daybook: Post"),
        "{text}"
    );
    assert_eq!(
        data["commits"],
        place.json(&["history", "--scope", SCOPE])["commits"]
    );
    let (text, _) = client.call_ok("diff", scoped(json!({"file": "MEMORY.md"})));
    assert!(text.contains(&format!("+ - \"{NOTE}\"")), "{text}");
    let (_, data) = client.call_ok("list", scoped(json!({"query": "saint-malo"})));
    assert_eq!(data["memories"], listed(&place)["memories"]);
    let id = data["memories"][0]["id"].clone();
    let (text, data) = client.call_ok("why", json!({"line": id}));
    assert!(text.contains(NOTE), "{text}");
    assert_eq!(data["sources"][0]["text"], NOTE);

    client.call_ok(
        "edit",
        scoped(json!({"line": id, "words": "the pier is open"})),
    );
    assert_eq!(listed(&place)["total"], 0);
    assert_eq!(author(&place), "ada (through an agent)");
    let near = client.call_error("forget", json!({"memory": "pier is"}));
    assert!(
        near.contains("ask the person") && near.contains("the pier is open"),
        "{near}"
    );
    client.call_ok("forget", json!({"memory": id}));
    let all = place.json(&["list", "--scope", SCOPE, "--query", "pier"]);
    assert_eq!(all["total"], 0);
    place.stdout(&["undo", "--scope", SCOPE]);
    place.stdout(&["undo", "--scope", SCOPE, "--json"]);
    client.close();
}

#[test]
fn programs_have_history_and_changes_over_http() {
    let server = DaybookServer::start_in(place_with_note(), &[], Stdio::inherit());
    let place = &server.place;
    let history = server.get(&format!("/v1/history?scope={SCOPE}&file=MEMORY.md"));
    assert_eq!(history["commits"][0]["author"], "Daybook");
    let diff = server.get(&format!("/v1/diff?scope={SCOPE}&file=MEMORY.md"));
    assert_eq!(diff, place.json(&["diff", "MEMORY.md", "--scope", SCOPE]));
    let list = server.get(&format!("/v1/memories?scope={SCOPE}&query=Saint-Malo"));
    assert_eq!(list, listed(place));
    let id = list["memories"][0]["id"].as_str().unwrap();
    assert_eq!(
        server.get(&format!("/v1/why?line={id}"))["sources"][0]["text"],
        NOTE
    );
    let edit = json!({"line": id, "words": "the pier is open"});
    let changed = server.post("/v1/edit", &edit);
    assert_eq!(changed["change"]["scope"], SCOPE);
    assert_eq!(author(place), "ada (through an agent)");
    let near = json!({"memory": "pier is"}).to_string();
    let refused = server.send_request("POST /v1/forget", &near);
    assert_eq!(refused.code(), (409, "conflict"), "{refused:?}");
    let forgotten = server.post("/v1/forget", &json!({"memory": id}));
    assert_eq!(forgotten["forgotten"], json!([id]));
    let missing = server.send_request("POST /v1/forget", &json!({"memory": id}).to_string());
    assert_eq!(missing.status, 404, "{missing:?}");
    let unknown = server.send_request("GET /v1/history?scope=project/none", "");
    assert_eq!(unknown.status, 404, "{unknown:?}");
    let wrong = server.send_request("GET /v1/memories?limit=0", "");
    assert_eq!(wrong.status, 400, "{wrong:?}");
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn what_is_forgotten_and_undone_on_one_machine_is_so_on_all() {
    let Some(database) = daybook_testkit::postgres::empty() else {
        return;
    };
    let address = &database.address();
    let (here, there) = (TestPlace::sharing(address), TestPlace::sharing(address));
    let file = here.write("a.jsonl", &teaching_session(1).text());
    here.stdout(&["import", &file.display().to_string()]);
    here.stdout(&["remember", "--scope", SCOPE, NOTE]);
    let memory = |place: &TestPlace| {
        place.stdout(&["checkout"]);
        let path = place.root().join("projects/tidepool/memory/MEMORY.md");
        std::fs::read_to_string(path).expect("a file")
    };
    let before = memory(&there);
    assert!(before.contains(NOTE), "{before}");
    there.stdout(&["forget", NOTE, "--scope", SCOPE]);
    assert!(!memory(&here).contains(NOTE));
    assert_eq!(listed(&here)["total"], 0);
    there.stdout(&["undo", "--scope", SCOPE]);
    assert_eq!(memory(&here), before);
    here.stdout(&["update"]);
    assert_eq!(memory(&there), before);
    assert_eq!(listed(&here)["total"], 1);
    here.stdout(&["edit", NOTE, "the pier is open", "--scope", SCOPE]);
    assert!(memory(&there).contains("- the pier is open"));
    let history = there.json(&["history", "--scope", SCOPE]);
    let first = history["commits"].as_array().unwrap().last().unwrap();
    there.stdout(&[
        "restore",
        "--scope",
        SCOPE,
        "--at",
        first["id"].as_str().unwrap(),
    ]);
    let restored = memory(&there);
    assert!(!restored.contains("pier"), "{restored}");
    here.stdout(&["update"]);
    assert_eq!(memory(&here), restored);
}

#[test]
fn the_memory_tool_is_offered_over_mcp_on_request_and_answers_in_the_documented_words() {
    let place = TestPlace::new();
    let mut client = McpClient::connect(&place, &["--tools", "memory-tool"]);
    let create = json!({"command": "create", "path": "/memories/pier.md", "file_text": "- wet\n"});
    let (text, _) = client.call_ok("memory", create.clone());
    assert_eq!(text, "File created successfully at: /memories/pier.md");
    let again = client.call_error("memory", create);
    assert_eq!(again, "Error: File /memories/pier.md already exists");
    let view = json!({"command": "view", "path": "/memories/pier.md", "scope": "agent/pier-bot"});
    let strange = client.call_error("memory", view);
    assert!(strange.contains("pier-bot"), "{strange}");
    let unfit = client.call_error("memory", json!({"command": "chmod", "path": "/memories"}));
    assert!(unfit.contains("str_replace"), "{unfit}");
    let file = place.root().join("users/ada/memory/pier.md");
    assert_eq!(std::fs::read_to_string(file).expect("a file"), "- wet\n");
}
