//! The same over `serve`, and tenant isolation.

use std::process::Stdio;

use daybook_domain::working::{NewThread, ThreadStore};
use daybook_domain::{RulesRevision, SessionId, SessionKind, SessionMeta, Tenant, Timestamp};
use daybook_store::{SqliteOptions, SqliteStore};
use serde_json::{Map, Value, json};

use super::{lines, parts, wish};
use crate::fixture::TestPlace;
use crate::serve::DaybookServer;

const EVENTS: &str = "POST /v1/threads/agent:tides/events";

#[test]
fn a_thread_is_made_fed_condensed_and_read_over_http() {
    let server = DaybookServer::start();
    let created = server.post("/v1/threads", &json!({"name": "tides"}));
    assert_eq!(created["thread"], "agent:tides");
    let one = server.send_request(EVENTS, &wish(1).to_string());
    assert_eq!(one.body["results"][0]["seq"], 1);
    let several: Vec<Value> = (2..=10).map(wish).collect();
    let several = server.send_request(EVENTS, &json!(several).to_string());
    assert_eq!(several.body["results"].as_array().map(Vec::len), Some(9));
    let stored = server.send_request(&format!("{EVENTS}?wait=false"), &lines((11..=24).map(wish)));
    assert_eq!(stored.body["results"][0], json!({"seq": 11}));

    server.send_request(EVENTS, &wish(25).to_string());
    server.post("/v1/threads/tides/compact", &json!({}));
    let state = server.get("/v1/threads/tides/state");
    assert_eq!(parts(&state), ["COMPACTED", "USER"], "{state}");
    let history = server.get("/v1/threads/tides/state?history=true");
    assert!(history["states"].as_array().map_or(0, Vec::len) > 25);
    let context = json!({"max_tokens": 2_000, "wire": "anthropic", "system": "Be brief."});
    let context = server.post("/v1/threads/tides/context", &context);
    assert!(
        context["tokens"]
            .as_u64()
            .is_some_and(|tokens| tokens < 976)
    );
    assert_eq!(context["system"], "Be brief.");

    server.post("/v1/threads/tides/pause", &json!({}));
    let late = server.send_request(EVENTS, &wish(26).to_string());
    assert_eq!(late.body["results"][0]["waits"], "PAUSED");
    let refused = server.send_request("POST /v1/threads/tides/pause", "");
    assert_eq!(refused.code(), (409, "conflict"), "{}", refused.body);
    let resumed = server.post("/v1/threads/tides/resume", &json!({}));
    assert_eq!(resumed["was_paused"], true);
    server.post("/v1/threads/tides/end", &json!({}));
    let state = server.get("/v1/threads/tides/state");
    let listed = server.get("/v1/threads");
    assert_eq!(listed["threads"][0]["thread"], "agent:tides");

    // Another server on the same folder answers the same; then the thread is deleted.
    let server = DaybookServer::start_in(server.end(), &[], Stdio::inherit());
    assert_eq!(server.get("/v1/threads/tides/state"), state);
    let deleted = server.send_request("DELETE /v1/threads/tides", "");
    assert_eq!(deleted.body["deleted"], true, "{}", deleted.body);
    let gone = server.send_request("GET /v1/threads/tides/state", "");
    assert_eq!(gone.code(), (404, "not_found"));
}

#[test]
fn a_bad_event_names_its_field_and_stores_nothing_of_its_request_and_a_strange_one_is_noted() {
    let server = DaybookServer::start();
    server.post("/v1/threads", &json!({"name": "tides"}));
    let check = |body: &str, expected: &str| {
        let answer = server.send_request(EVENTS, body);
        assert_eq!(answer.code(), (400, "invalid_request"), "{}", answer.body);
        let message = answer.body["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(expected), "{message}");
    };
    let call = json!({"type": "LLM_TOOL_CALL", "callId": "c1"});
    let both = json!([wish(1), call]).to_string();
    check(&both, "events[1]: LLM_TOOL_CALL: missing field `toolName`");
    check("{\"type\": \"USER_MESSAGE\"", "events[0]: EOF");
    check("[]", "1 to 512 events");
    let unknown = server.send_request("POST /v1/threads/agent:ebb/events", &wish(1).to_string());
    assert_eq!(unknown.code(), (404, "not_found"));
    let message = unknown.body["error"]["message"]
        .as_str()
        .unwrap_or_default();
    assert!(message.contains("agent:ebb"), "{message}");
    let misspelt = server.send_request(EVENTS, "{\"type\": \"USER_MESAGE\", \"content\": \"b\"}");
    let note = misspelt.body["results"][0]["note"].as_str();
    assert!(note.is_some_and(|note| note.contains("USER_MESAGE is not a type")));
    let state = server.get("/v1/threads/tides/state");
    assert_eq!(state["chunkIds"], json!([]));
}

#[test]
fn a_tenant_sees_no_thread_of_another() {
    let place = TestPlace::new();
    place.stdout(&["threads", "create", "tides"]);
    let id = SessionId {
        tenant: Tenant("harbour".to_owned()),
        agent: "agent".to_owned(),
        host_id: "ebb".to_owned(),
    };
    let theirs = NewThread {
        session: SessionMeta {
            id: id.clone(),
            kind: SessionKind::Root,
            memory_off: false,
            forked_from: None,
            user: None,
            surface: None,
            venue: daybook_domain::Venue::default(),
        },
        custom: Map::new(),
        rules: RulesRevision::UNKNOWN,
        now: Timestamp(1_772_452_800_000),
    };
    let path = place.root().join("daybook.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("a store");
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime");
    runtime
        .block_on(store.create_thread(&theirs))
        .expect("a thread");

    let server = DaybookServer::start_in(place, &[], Stdio::inherit());
    let listed = server.get("/v1/threads")["threads"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    for (what, body) in [
        ("GET /v1/threads/agent:ebb/state", ""),
        ("GET /v1/threads/ebb/state", ""),
        ("POST /v1/threads/agent:ebb/pause", ""),
        ("POST /v1/threads/agent:ebb/end", ""),
        ("POST /v1/threads/ebb/context", "{\"max_tokens\": 2000}"),
        ("POST /v1/threads", "{\"from\": \"agent:ebb\"}"),
        ("DELETE /v1/threads/agent:ebb", ""),
    ] {
        let answer = server.send_request(what, body);
        assert_eq!(answer.status, 404, "{what}: {}", answer.body);
    }
    let own = server.post("/v1/threads", &json!({"name": "ebb"}));
    assert_eq!(own["thread"], "agent:ebb");
    server.send_request("POST /v1/threads/ebb/events", &wish(1).to_string());
    let thread = runtime.block_on(store.thread(&id));
    let thread = thread.expect("it is asked").expect("it stands");
    assert_eq!((thread.last.0, thread.block), (0, None));
}
