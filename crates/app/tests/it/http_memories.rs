//! Memories, memory files, entities and lists over HTTP, and what of them stays a person's.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixture::{TestPlace, teaching_session};
use crate::serve::DaybookServer;

const PAGE: &str = "users/ada/memory/MEMORY.md";

/// A server of a memory with a note that its files show.
fn with_a_note(text: &str) -> (DaybookServer, String) {
    let server = DaybookServer::start();
    let kept = server.post("/v1/memories", &json!({ "text": text }));
    let id = kept["id"].as_str().expect("an id").to_owned();
    (server, id)
}

fn patch(server: &DaybookServer, path: &str, body: &Value) -> Value {
    let answer = server.send_request(&format!("PATCH {path}"), &body.to_string());
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

fn put(server: &DaybookServer, path: &str, body: &Value) -> Value {
    let answer = server.send_request(&format!("PUT {path}"), &body.to_string());
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

fn page(server: &DaybookServer) -> String {
    fs::read_to_string(server.place.root().join(PAGE)).unwrap_or_default()
}

#[test]
fn a_memory_is_added_read_changed_and_forgotten_by_its_id() {
    let (server, id) = with_a_note("deploys happen on Tuesdays");
    let path = format!("/v1/memories/{id}");
    let found = server.get(&path);
    assert_eq!(
        (&found["id"], &found["text"], &found["scope"]),
        (
            &json!(id),
            &json!("deploys happen on Tuesdays"),
            &json!("user/ada")
        )
    );
    // No file shows it yet: the change writes the files first.
    let changed = patch(
        &server,
        &path,
        &json!({"text": "deploys happen on Wednesdays"}),
    );
    assert!(changed["change"]["commit"].is_string(), "{changed}");
    assert_eq!(server.get(&path)["text"], "deploys happen on Wednesdays");
    assert!(page(&server).contains("Wednesdays"));
    let question = json!({"question": "when do deploys happen"});
    let recalled = server.post("/v1/recall", &question);
    assert!(
        recalled["results"][0]["text"]
            .as_str()
            .is_some_and(|text| text.contains("Wednesdays")),
        "{recalled}"
    );
    let past = server.get(&format!("{path}/history"));
    let changes = past["changes"].as_array().expect("changes");
    let changes: Vec<&str> = changes
        .iter()
        .filter_map(|one| one["change"].as_str())
        .collect();
    assert_eq!(changes, ["changed", "added"], "{past}");
    assert!(
        past["changes"][0]["before"]
            .as_str()
            .is_some_and(|it| it.contains("Tuesdays"))
    );

    let gone = server.send_request(&format!("DELETE {path}"), "");
    assert_eq!(gone.body["forgotten"], json!([id]), "{}", gone.body);
    server.check(&format!("GET {path}"), "", 404, "not_found");
    assert!(!page(&server).contains("Wednesdays"));
    let place = server.end();
    place.stdout(&["undo"]);
    let server = DaybookServer::start_in(place, &[], Stdio::inherit());
    assert_eq!(server.get(&path)["id"], id);
}

#[test]
fn memories_are_listed_page_by_page() {
    let server = DaybookServer::start();
    for day in ["Mondays", "Tuesdays", "Fridays"] {
        let text = format!("the ferry sails on {day}");
        server.post("/v1/memories", &json!({ "text": text }));
    }
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/memories?limit=1{after}"));
        assert_eq!(page["total"], 3);
        seen.push(page["memories"][0]["text"].to_string());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 3);
}

#[test]
fn a_file_is_written_read_listed_and_brought_back() {
    let server = DaybookServer::start();
    let path = "/v1/files/notes%2Fpier.md";
    let first = put(&server, path, &json!({"text": "the pier is wet\n"}));
    let commit = first["change"]["commit"].as_str().expect("a commit");
    let read = server.get(path);
    assert_eq!(
        (&read["file"], &read["text"]),
        (&json!("notes/pier.md"), &json!("the pier is wet\n"))
    );
    put(
        &server,
        path,
        &json!({"text": "the pier is dry\n", "since": commit}),
    );
    let stale = json!({"text": "the pier is gone\n", "since": commit}).to_string();
    server.check(&format!("PUT {path}"), &stale, 409, "conflict");
    assert_eq!(
        server.get(&format!("{path}?at={commit}"))["text"],
        "the pier is wet\n"
    );
    let past = server.get(&format!("{path}/history"));
    assert_eq!(
        past["commits"][0]["author"], "ada (through an agent)",
        "{past}"
    );
    assert_eq!(past["commits"].as_array().map(Vec::len), Some(2));
    let page = server.get("/v1/history?file=notes/pier.md&limit=1");
    assert_eq!(page["commits"][0], past["commits"][0]);
    let next = page["next"].as_str().expect("another page");
    let rest = server.get(&format!(
        "/v1/history?file=notes/pier.md&limit=1&after={next}"
    ));
    assert_eq!(
        (&rest["commits"][0], &rest["next"]),
        (&past["commits"][1], &Value::Null)
    );
    let files = server.get("/v1/files?limit=1");
    assert_eq!(files["files"][0]["file"], "notes/pier.md");
    server.post(&format!("{path}/restore"), &json!({ "at": commit }));
    assert_eq!(server.get(path)["text"], "the pier is wet\n");
    let gone = server.send_request(&format!("DELETE {path}"), "");
    assert_eq!(gone.status, 200, "{}", gone.body);
    server.check(&format!("GET {path}"), "", 404, "not_found");
    server.check(&format!("DELETE {path}"), "", 404, "not_found");
    server.post(&format!("{path}/restore"), &json!({ "at": commit }));
    assert_eq!(server.get(path)["text"], "the pier is wet\n");
}

#[test]
fn paths_out_of_the_memory_are_refused() {
    let server = DaybookServer::start();
    put(&server, "/v1/files/tides.md", &json!({"text": "high\n"}));
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        server.place.root().join("token"),
        server.place.root().join("users/ada/memory/link.md"),
    )
    .expect("a link");
    for name in [
        "..%2F..%2F..%2Ftoken",
        "%2e%2e%2f%2e%2e%2ftoken",
        "%2Fetc%2Fpasswd",
        ".git%2Fconfig",
        "notes%2F..%2F..%2Ftoken",
        "a%5Cb.md",
        "link.md",
    ] {
        for (method, body) in [("GET", ""), ("PUT", "{\"text\": \"x\"}"), ("DELETE", "")] {
            let answer = server.send_request(&format!("{method} /v1/files/{name}"), body);
            let (status, _) = answer.code();
            assert!(
                [400, 404, 409].contains(&status),
                "{method} {name}: {}",
                answer.body
            );
            assert!(!answer.body.to_string().contains(&server.token));
        }
    }
    let token = fs::read_to_string(server.place.root().join("token")).expect("a token");
    assert_eq!(token.trim(), server.token);
}

#[test]
fn a_persons_words_survive_an_agent_that_writes_their_file() {
    let server = DaybookServer::start();
    put(&server, "/v1/files/mine.md", &json!({"text": "- one\n"}));
    let file = server.place.root().join("users/ada/memory/mine.md");
    let secret = "export DB_PASSWORD='Tr0ub4dor&3xyz'";
    fs::write(&file, format!("- typed by hand\n- {secret}\n")).expect("a file");
    let read = server.get("/v1/files/mine.md");
    let shown = read["text"].as_str().expect("a text");
    assert!(
        shown.contains("typed by hand") && !shown.contains("Tr0ub4dor"),
        "{shown}"
    );
    // The agent sends back what it was shown, with a line of its own.
    put(
        &server,
        "/v1/files/mine.md",
        &json!({"text": format!("{shown}- added\n")}),
    );
    let kept = fs::read_to_string(&file).expect("a file");
    assert_eq!(kept, format!("- typed by hand\n- {secret}\n- added\n"));
    // What the agent removes is in the history.
    put(&server, "/v1/files/mine.md", &json!({"text": "- added\n"}));
    let diff = server.get("/v1/diff?file=mine.md");
    assert!(diff.to_string().contains("typed by hand"), "{diff}");
    let place = server.end();
    place.stdout(&["undo"]);
    assert!(
        fs::read_to_string(&file)
            .expect("a file")
            .contains("typed by hand")
    );
}

#[test]
fn entities_are_written_read_and_deleted() {
    let server = DaybookServer::start();
    let card = json!({"name": "Tidepool", "description": "draws tide charts"});
    let made = put(&server, "/v1/entities/tidepool", &card);
    assert_eq!(
        made,
        json!({"entity": "tidepool", "created": true, "secrets_hidden": 0})
    );
    put(
        &server,
        "/v1/entities/tidepool/records/deploys",
        &json!({"content": "on Tuesdays"}),
    );
    let read = server.get("/v1/entities/Tidepool");
    assert_eq!(
        (&read["entity"], &read["records"]),
        (
            &json!("tidepool"),
            &json!([{"record": "deploys", "content": "on Tuesdays"}])
        )
    );
    let listed = server.get("/v1/entities");
    assert_eq!(listed["entities"][0]["name"], "Tidepool");
    server.check("GET /v1/entities/pier", "", 404, "not_found");
    let unfit = card.to_string();
    server.check(
        "PUT /v1/entities/Two%20words",
        &unfit,
        400,
        "invalid_request",
    );
    let gone = server.send_request("DELETE /v1/entities/tidepool", "");
    assert_eq!(gone.body, json!({"deleted": "tidepool"}));
    server.check("GET /v1/entities/tidepool", "", 404, "not_found");
}

#[test]
fn sessions_jobs_and_spending_are_listed() {
    let place = TestPlace::new();
    for n in 1..4 {
        place.write(&format!("{n}.jsonl"), &teaching_session(n).text());
    }
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder]);
    let expected = place.json(&["spend"]);
    let server = DaybookServer::start_in(place, &[], Stdio::inherit());
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/sessions?limit=2{after}"));
        let ids = page["sessions"].as_array().expect("sessions").iter();
        seen.extend(ids.map(|one| one["id"].to_string()));
        match page["next"].as_str() {
            Some(next) => after = format!("&after={}", next.replace('~', "%7E")),
            None => break,
        }
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
    server.check("GET /v1/sessions?after=nothing", "", 400, "invalid_request");
    let jobs = server.get("/v1/jobs?all=true&limit=1");
    assert!(jobs["jobs"][0]["state"].is_string(), "{jobs}");
    assert!(jobs["next"].is_string(), "{jobs}");
    let spend = server.get("/v1/spend?by=model");
    assert_eq!(spend["spent"], expected["spent"]);
    server.check("GET /v1/spend?since=whenever", "", 400, "invalid_request");
    server.check("GET /v1/spend?by=tides", "", 400, "invalid_request");
}

#[test]
fn a_caller_changes_only_the_memory_that_it_takes_part_in() {
    let server = DaybookServer::start();
    let text = json!({"text": "mine\n"}).to_string();
    let own = "PUT /v1/files/own.md?agent=harbour-bot&scope=agent%2Fharbour-bot";
    assert_eq!(server.send_request(own, &text).status, 200);
    let strange = "PUT /v1/files/own.md?agent=harbour-bot&scope=agent%2Fpier-bot";
    server.check(strange, &text, 400, "invalid_request");
    let read = "GET /v1/files/own.md?agent=pier-bot&scope=agent%2Fharbour-bot";
    server.check(read, "", 400, "invalid_request");
}

#[test]
fn the_memory_tool_works_on_the_memory_folder_over_http() {
    let server = DaybookServer::start();
    let run = |query: &str, command: Value| {
        let answer = server.post(&format!("/v1/memory-tool{query}"), &command);
        let content = answer["content"].as_str().expect("content").to_owned();
        (content, answer["is_error"] == json!(true))
    };
    let create = json!({"command": "create", "path": "/memories/pier.md", "file_text": "- wet\n"});
    let made = run("", create.clone());
    assert_eq!(
        made,
        (
            "File created successfully at: /memories/pier.md".to_owned(),
            false
        )
    );
    let again = "Error: File /memories/pier.md already exists".to_owned();
    assert_eq!(run("", create.clone()), (again, true));
    let again = "File /memories/pier.md already exists".to_owned();
    assert_eq!(run("?flavour=python_sdk", create), (again, true));
    let view = json!({"command": "view", "path": "/memories/pier.md"});
    assert!(run("", view.clone()).0.contains("     1\t- wet"));
    // Another scope has a folder of its own, which a question does not create.
    assert!(run("?agent=harbour-bot", view).1);
    assert!(!server.place.root().join("agents").exists());
    let past = server.get("/v1/history?file=pier.md");
    let commit = &past["commits"][0];
    assert_eq!(
        (&commit["author"], &commit["subject"]),
        (
            &json!("ada (through an agent)"),
            &json!("Memory tool: create /memories/pier.md")
        )
    );
    let unfit = json!({"command": "chmod", "path": "/memories"}).to_string();
    server.check("POST /v1/memory-tool", &unfit, 400, "invalid_request");
    let escape = json!({"command": "view", "path": "/memories/../../../token"});
    assert!(run("", escape).1);
    let recalled = server.post("/v1/recall", &json!({"question": "is the pier wet"}));
    assert!(
        recalled["results"].to_string().contains("wet"),
        "{recalled}"
    );
    let place = server.end();
    place.stdout(&["undo"]);
    assert!(!place.root().join("users/ada/memory/pier.md").exists());
}

#[test]
fn a_line_that_an_agent_takes_out_of_a_page_stays_away_and_its_words_are_kept() {
    let (server, _) = with_a_note("deploys happen on Tuesdays");
    server.post(
        "/v1/memories",
        &json!({"text": "the ferry sails on Mondays"}),
    );
    let place = server.end();
    place.stdout(&["update", "--all"]);
    let server = DaybookServer::start_in(place, &[], Stdio::inherit());
    let before = page(&server);
    let line = before.lines().find(|line| line.contains("Tuesdays"));
    let line = line.expect("it is shown").to_owned();
    let ferry = before.lines().find(|line| line.contains("Mondays"));
    let ferry = ferry.expect("it is shown").to_owned();
    let edit = |old: &str, new: &str| {
        let command = json!({
            "command": "str_replace", "path": "/memories/MEMORY.md",
            "old_str": old, "new_str": new,
        });
        let answer = server.post("/v1/memory-tool", &command);
        assert_eq!(answer["is_error"], false, "{answer}");
    };
    edit(&format!("{line}\n"), "");
    edit(&ferry, &ferry.replace("Mondays", "Fridays"));
    server.post(
        "/v1/memories",
        &json!({"text": "the harbour opens at noon"}),
    );
    let place = server.end();
    place.stdout(&["update", "--all"]);
    let after = fs::read_to_string(place.root().join(PAGE)).expect("a page");
    assert!(!after.contains("Tuesdays"), "{after}");
    assert!(
        after.contains("Fridays") && !after.contains("Mondays"),
        "{after}"
    );
    assert!(after.contains("at noon"), "{after}");
    let found = place.stdout(&["recall", "when do deploys happen"]);
    assert!(!found.contains("Tuesdays"), "{found}");
}

#[test]
fn a_list_of_threads_goes_on_where_the_page_before_ended() {
    let server = DaybookServer::start();
    for name in ["a", "b", "c", "d", "e"] {
        let thread = json!({"agent": "harbour-bot", "name": format!("thread-{name}")});
        server.post("/v1/threads", &thread);
    }
    let whole = server.get("/v1/threads?limit=5");
    assert_eq!(whole["next"], Value::Null);
    let (mut listed, mut after) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/threads?limit=2{after}"));
        listed.extend(page["threads"].as_array().expect("threads").clone());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!((listed.len(), &json!(listed)), (5, &whole["threads"]));
    server.check(
        "GET /v1/threads?after=harbour-bot:gone",
        "",
        404,
        "not_found",
    );
}
