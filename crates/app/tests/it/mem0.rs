//! The routes of mem0, beside those of Daybook. `tests/interop/mem0_client.py` calls them by mem0's own client.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixture::TestPlace;
use crate::mcp::McpClient;
use crate::serve::{DaybookServer, HttpAnswer};

fn added(server: &DaybookServer, body: &Value) -> String {
    let answer = server.post("/v3/memories/add/", body);
    assert_eq!(answer["status"], "SUCCEEDED", "{answer}");
    let id = answer["results"][0]["id"].as_str();
    id.expect("an id").to_owned()
}

fn tea() -> Value {
    json!({
        "messages": [{"role": "user", "content": "Ada prefers green tea"}],
        "user_id": "ada", "run_id": "trip-1", "metadata": {"source": "chat"}, "infer": false,
    })
}

fn detail(answer: &HttpAnswer) -> (u16, &str) {
    (
        answer.status,
        answer.body["detail"].as_str().unwrap_or_default(),
    )
}

#[test]
fn a_memory_of_mem0_is_one_of_daybook_and_the_other_way_round() {
    let server = DaybookServer::start();
    let id = added(&server, &tea());
    let own = server.get(&format!("/v1/memories/{id}"));
    assert_eq!(
        (&own["scope"], &own["text"]),
        (&json!("user/ada"), &json!("Ada prefers green tea"))
    );
    let found = server.post(
        "/v1/recall",
        &json!({"question": "which tea does Ada prefer"}),
    );
    assert_eq!(found["results"][0]["text"], "Ada prefers green tea");
    let noted = server.post(
        "/v1/remember",
        &json!({"text": "deploys happen on Tuesdays"}),
    );
    let noted = noted["id"].as_str().expect("an id");
    let theirs = server.get(&format!("/v1/memories/{noted}/"));
    assert_eq!(
        (&theirs["user_id"], &theirs["memory"]),
        (&json!("ada"), &json!("deploys happen on Tuesdays"))
    );
    let listed = server.post("/v3/memories/", &json!({"filters": {"user_id": "ada"}}));
    assert_eq!(listed["count"], 2);
    // What mem0 keeps beside the text is a file of the memory, and goes with it.
    let file = server.place.root().join("users/ada/memory/mem0.jsonl");
    let kept = fs::read_to_string(&file).expect("a file");
    assert_eq!(
        kept,
        format!("{{\"of\":\"{id}\",\"run_id\":\"trip-1\",\"metadata\":{{\"source\":\"chat\"}}}}\n")
    );
    let gone = server.send_request(&format!("DELETE /v1/memories/{id}/"), "");
    assert_eq!(gone.status, 200, "{}", gone.body);
    assert_eq!(fs::read_to_string(&file).expect("a file"), "");
    server.check(&format!("GET /v1/memories/{id}"), "", 404, "not_found");
}

#[test]
fn errors_have_the_body_that_its_clients_read() {
    let server = DaybookServer::start();
    let nobody = json!({"messages": "tea", "infer": false}).to_string();
    for (what, body, status, says) in [
        (
            "POST /v3/memories/add/",
            nobody.as_str(),
            400,
            "At least one identifier",
        ),
        (
            "POST /v3/memories/add/",
            "{\"messages\": 7, \"user_id\": \"ada\"}",
            400,
            "messages is a list",
        ),
        (
            "POST /v3/memories/add/",
            "{\"messages\": [], \"user_id\": \"ada\"}",
            400,
            "messages",
        ),
        ("POST /v3/memories/add/", "{", 400, "JSON"),
        (
            "POST /v3/memories/search/",
            "{\"query\": \"tea\"}",
            400,
            "At least one identifier",
        ),
        (
            "POST /v3/memories/search/",
            "{\"query\": \"\", \"filters\": {\"user_id\": \"ada\"}}",
            400,
            "query",
        ),
        (
            "POST /search",
            "{\"query\": \"tea\", \"filters\": {\"AND\": 7}}",
            400,
            "AND is a list",
        ),
        (
            "GET /v1/memories/0123456789abcdef/",
            "",
            404,
            "0123456789abcdef",
        ),
        (
            "PUT /v1/memories/0123456789abcdef/",
            "{}",
            400,
            "nothing is to be changed",
        ),
        ("DELETE /v1/memories/", "", 400, "At least one identifier"),
        ("DELETE /v2/entities/user/nobody/", "", 404, "no memory"),
        (
            "DELETE /v2/entities/planet/mars/",
            "",
            400,
            "a user, an agent",
        ),
        ("GET /v1/event/mem0:0123/", "", 404, "no event"),
        ("GET /v1/events/?page_size=0", "", 400, "page_size"),
    ] {
        let answer = server.send_request(what, body);
        let (found, message) = detail(&answer);
        assert!(
            found == status && message.contains(says),
            "{what} {body}: {answer:?}"
        );
    }
    let bad_day =
        json!({"messages": "tea", "user_id": "ada", "infer": false, "expiration_date": "soon"});
    let answer = server.send_request("POST /memories", &bad_day.to_string());
    assert_eq!(answer.status, 400, "{answer:?}");
}

#[test]
fn its_keys_are_tokens_and_tenants_are_walls() {
    let place = TestPlace::new();
    let tokens = place.root().join("tokens");
    fs::create_dir_all(&tokens).expect("a folder");
    let theirs = "token-of-harbour-0123456789abcdef0123456789";
    fs::write(tokens.join("harbour"), theirs).expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(tokens.join("harbour"), private).expect("permissions");
    }
    let server = DaybookServer::start_in(place, &["--no-follow"], Stdio::inherit());
    let id = added(&server, &tea());
    let host = format!("Host: {}\r\n", server.address);
    for (key, status) in [
        (format!("Authorization: Token {}", server.token), 200),
        (format!("X-API-Key: {}", server.token), 200),
        (format!("Authorization: Basic {}", server.token), 401),
        ("X-API-Key: 0123456789".to_owned(), 401),
        ("X-Nothing: 1".to_owned(), 401),
    ] {
        for path in [
            "/v1/ping/",
            "/memories?user_id=ada",
            "/entities",
            "/v1/entities/",
            "/v1/events/",
        ] {
            let answer = server.send(&format!("GET {path}"), &format!("{host}{key}\r\n"), "");
            assert_eq!(answer.status, status, "{key} {path}: {}", answer.body);
        }
    }
    let seen = server.send_request_as(theirs, &format!("GET /v1/memories/{id}/"), "");
    assert_eq!(seen.status, 404, "{}", seen.body);
    let all = json!({"filters": {"user_id": "*"}}).to_string();
    let listed = server.send_request_as(theirs, "POST /v3/memories/", &all);
    assert_eq!(listed.body["count"], 0, "{}", listed.body);
    server.send_request_as(theirs, "POST /reset", "{}");
    assert_eq!(
        server.get(&format!("/v1/memories/{id}/"))["memory"],
        "Ada prefers green tea"
    );
    assert_eq!(
        server.post("/reset", &json!({})),
        json!({"message": "All memories reset"})
    );
    assert_eq!(
        server.post("/v3/memories/", &json!({"filters": {"user_id": "*"}}))["count"],
        0
    );
}

#[test]
fn the_tools_of_mem0_take_the_place_of_the_default_ones() {
    let place = TestPlace::new();
    let mut client = McpClient::connect(&place, &["--tools", "mem0"]);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].take();
    insta::assert_snapshot!(serde_json::to_string_pretty(&tools).expect("JSON"));
    let (nothing, _) = client.call_ok("search_memories", json!({"query": "tea"}));
    assert_eq!(nothing, "Nothing is remembered yet.");
    let tea = json!({"text": "Ada prefers green tea", "metadata": {"source": "chat"}});
    let (_, added) = client.call_ok("add_memory", tea);
    let id = added["results"][0]["id"].clone();
    let other = json!({"text": "The crane is out of order", "agent_id": "harbour-bot"});
    client.call_ok("add_memory", other);
    let (text, found) = client.call_ok(
        "search_memories",
        json!({"query": "which tea does Ada prefer"}),
    );
    assert_eq!(found["results"][0]["id"], id, "{text}");
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), found);
    let (_, all) = client.call_ok(
        "get_memories",
        json!({"filters": {"OR": [{"user_id": "*"}, {"agent_id": "*"}]}}),
    );
    assert_eq!(all["count"], 2);
    client.call_ok(
        "update_memory",
        json!({"memory_id": id, "text": "Ada prefers black tea"}),
    );
    let (_, memory) = client.call_ok("get_memory", json!({"memory_id": id}));
    assert_eq!(
        (&memory["memory"], &memory["metadata"]["source"]),
        (&json!("Ada prefers black tea"), &json!("chat"))
    );
    let dialog = json!([{"role": "user", "content": "please always write the test first"}]);
    let (_, pending) = client.call_ok("add_memory", json!({"messages": dialog}));
    let event = json!({"event_id": pending["event_id"]});
    let (_, before) = client.call_ok("get_event_status", event.clone());
    assert!(
        ["PENDING", "RUNNING", "SUCCEEDED"]
            .iter()
            .any(|it| before["status"] == *it),
        "{before}"
    );
    place.run(&["update"]);
    let (_, after) = client.call_ok("get_event_status", event);
    assert_eq!(after["status"], "SUCCEEDED");
    assert!(after.to_string().contains("test first"), "{after}");
    let (_, events) = client.call_ok("list_events", json!({"page_size": 1}));
    assert_eq!(
        (&events["count"], &events["results"][0]),
        (&json!(1), &after)
    );
    client.call_error("list_events", json!({"page": 0}));
    client.call_error("delete_all_memories", json!({}));
    client.call_ok("delete_memory", json!({"memory_id": id}));
    client.call_error("get_memory", json!({"memory_id": id}));
    client.call_ok("delete_entities", json!({"agent_id": "harbour-bot"}));
    let (_, left) = client.call_ok("list_entities", json!({}));
    assert_eq!(left["count"], 1, "{left}");
    client.close();
}
