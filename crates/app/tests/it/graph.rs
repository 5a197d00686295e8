//! The tools of `server-memory`, and the files in which its graph comes and goes.

use std::fs;

use serde_json::json;

use crate::fixture::TestPlace;
use crate::mcp::McpClient;

const FILE: &str = "\
{\"type\":\"entity\",\"name\":\"ada\",\"entityType\":\"person\",\"observations\":[\"prefers green tea\"]}
{\"type\":\"entity\",\"name\":\"harbour\",\"entityType\":\"place\",\"observations\":[]}
{\"type\":\"relation\",\"from\":\"ada\",\"to\":\"harbour\",\"relationType\":\"keeps\"}
";

#[test]
fn the_tools_of_server_memory_take_the_place_of_the_default_ones() {
    let place = TestPlace::new();
    let mut client = McpClient::connect(&place, &["--tools", "server-memory"]);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].take();
    insta::assert_snapshot!(serde_json::to_string_pretty(&tools).expect("JSON"));
    assert_eq!(
        client.call_ok("read_graph", json!({})).1["entities"],
        json!([])
    );
    assert!(!place.root().exists(), "nothing was to be kept");
    let ada = json!({"name": "ada", "entityType": "person", "observations": ["prefers green tea"]});
    let (text, data) = client.call_ok("create_entities", json!({"entities": [ada]}));
    assert_eq!(data, json!({"entities": [ada]}));
    // In the order in which that server writes the fields.
    let begin =
        "[\n  {\n    \"name\": \"ada\",\n    \"entityType\": \"person\",\n    \"observations\": [";
    assert!(text.starts_with(begin), "{text}");
    let more = json!({"observations": [{"entityName": "grace", "contents": ["x"]}]});
    let refused = client.call_error("add_observations", more);
    assert_eq!(refused, "Entity with name grace not found");
    let secret = format!("gh{}_{}", 'p', "1aB3dE5gH7jK9".repeat(3));
    let more = json!({"observations": [{"entityName": "ada", "contents": [secret]}]});
    client.call_ok("add_observations", more);
    client.close();

    let page = place.root().join("users/ada/memory/graph.md");
    let text = fs::read_to_string(&page).expect("a page");
    assert!(
        text.contains("## ada\nType: person\n- prefers green tea\n"),
        "{text}"
    );
    assert!(!text.contains(&secret), "{text}");
    // A person adds a line, and an agent's change leaves it there.
    let edited = text.replace("- prefers", "She lives by the harbour.\n- prefers");
    fs::write(&page, edited).expect("a file");
    let found = place.stdout(&["recall", "what tea does ada prefer"]);
    assert!(found.contains("prefers green tea"), "{found}");
    let mut client =
        McpClient::connect(&place, &["--tools", "server-memory", "--tools", "default"]);
    let gone = json!({"deletions": [{"entityName": "ada", "observations": ["prefers green tea"]}]});
    client.call_ok("delete_observations", gone);
    client.call_ok("recall", json!({"question": "tea"}));
    client.close();
    let text = fs::read_to_string(&page).expect("a page");
    assert!(
        text.contains("She lives by the harbour.") && !text.contains("green tea"),
        "{text}"
    );
    place.stdout(&["undo", "--scope", "user/ada"]);
    assert!(
        fs::read_to_string(&page)
            .expect("a page")
            .contains("green tea")
    );
}

#[test]
fn a_graph_comes_from_the_file_of_server_memory_and_goes_into_one() {
    let place = TestPlace::new();
    let file = place.write("memory.jsonl", &format!("{FILE}not a line\n"));
    let file = file.display().to_string();
    let told = place.json(&["entities", "import-graph", &file]);
    assert_eq!(
        told,
        json!({"entities": 2, "relations": 1, "lines_left_out": [4]})
    );
    assert_eq!(place.stdout(&["entities", "export-graph"]), FILE);
    // A second time adds nothing.
    place.stdout(&["entities", "import-graph", &file]);
    assert_eq!(place.stdout(&["entities", "export-graph"]), FILE);
    let other = place.write("other.jsonl", "{}\n").display().to_string();
    assert!(
        !place
            .run(&["entities", "import-graph", &other])
            .status
            .success()
    );
}
