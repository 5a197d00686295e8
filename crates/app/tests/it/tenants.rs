//! Two tenants on one data folder: through no interface does one see anything of the other.

use std::fs;
use std::io::BufRead;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixture::{TestPlace, teaching_session};
use crate::serve::DaybookServer;

const OURS: &str = "local";
const THEIRS: &str = "harbour";
/// A word that only the other tenant's memory holds.
const SECRET: &str = "zephyrine";

/// Writes the token of a tenant as a person does, and returns it.
fn token(root: &Path, tenant: &str) -> String {
    let folder = root.join("tokens");
    fs::create_dir_all(&folder).expect("a folder");
    let token = format!("token-of-{tenant}-0123456789abcdef0123456789");
    let file = folder.join(tenant);
    fs::write(&file, &token).expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permissions");
    }
    token
}

/// A place where the other tenant has imported a session, and remembered something.
fn place() -> TestPlace {
    let place = TestPlace::new();
    let text = teaching_session(3).text().replace("cache", SECRET);
    place.write("a.jsonl", &text);
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder, "--tenant", THEIRS]);
    place.stdout(&["remember", SECRET, "is our boat", "--tenant", THEIRS]);
    place
}

#[track_caller]
fn is_apart(what: &str, text: &str) {
    assert!(
        !text.contains(SECRET),
        "{what} shows the other tenant's memory: {text}"
    );
}

#[test]
fn commands_see_the_memory_of_their_own_tenant_alone() {
    let place = place();
    let theirs = place.stdout(&["recall", SECRET, "--tenant", THEIRS]);
    assert!(theirs.contains(SECRET), "{theirs}");
    let citation = place.json(&["recall", SECRET, "--tenant", THEIRS])["results"]
        .as_array()
        .and_then(|all| {
            all.iter()
                .find_map(|one| one["citation"].as_str().map(str::to_owned))
        })
        .expect("a citation");
    for command in [
        vec!["recall", SECRET],
        vec!["context", "--project", "tidepool"],
        vec!["status", "--files"],
        vec!["sessions"],
        vec!["jobs", "list", "--all"],
        vec!["threads"],
        vec!["projects"],
        vec!["spend"],
    ] {
        let output = place.run(&command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        is_apart(&format!("{command:?}"), &text);
        assert!(!text.contains("tidepool"), "{command:?}: {text}");
    }
    assert!(!place.run(&["show", &citation]).status.success());
    assert_eq!(place.json(&["status"])["sessions"]["all"], 0);
    assert_eq!(place.json(&["jobs", "list", "--all"])["jobs"], json!([]));
    let folder = place
        .root()
        .join("tenants")
        .join(THEIRS)
        .join("projects/tidepool/memory");
    assert!(folder.join("MEMORY.md").is_file());
    assert!(place.memory().is_empty(), "{:?}", place.memory());
}

#[test]
fn the_setting_comes_from_flag_environment_or_file_and_names_are_checked() {
    let place = place();
    let by_set = place.json(&["status", "--set", &format!("tenant={THEIRS}")]);
    assert_eq!(by_set["sessions"]["all"], 2);
    let by_environment = place
        .daybook(&["status", "--json"])
        .env("DAYBOOK_TENANT", THEIRS)
        .output();
    let status: Value =
        serde_json::from_slice(&by_environment.expect("it runs").stdout).expect("JSON");
    assert_eq!(status["sessions"]["all"], 2);
    fs::write(
        place.root().join("daybook.toml"),
        format!("tenant = \"{THEIRS}\"\n"),
    )
    .expect("a file");
    assert_eq!(place.json(&["status"])["sessions"]["all"], 2);
    for name in ["", "../up", "Ada", "a/b", "a b", &"x".repeat(65)] {
        let output = place.run(&["status", "--tenant", name]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && error.contains("tenant"),
            "{name}: {error}"
        );
    }
}

#[test]
fn what_a_hook_leaves_reaches_its_own_tenant_alone() {
    let place = TestPlace::new();
    place.stdout(&["remember", "tides turn", "--tenant", THEIRS]);
    let path = place.write("a.jsonl", &teaching_session(4).text());
    let payload = json!({
        "session_id": teaching_session(4).id(),
        "transcript_path": path,
        "cwd": "/nowhere/ada/tidepool",
        "hook_event_name": "SessionEnd",
    });
    let mut hook = place
        .daybook(&["hook", "claude-code", &payload.to_string()])
        .env("DAYBOOK_TENANT", THEIRS)
        .stdout(Stdio::null())
        .spawn()
        .expect("daybook starts");
    assert!(hook.wait().expect("it ends").success());
    place.run(&["update"]);
    assert_eq!(place.json(&["status", "--tenant", THEIRS])["notices"], 1);
    place.stdout(&["update", "--tenant", THEIRS]);
    let status = place.json(&["status", "--tenant", THEIRS]);
    assert_eq!(
        (&status["notices"], &status["sessions"]["all"]),
        (&0.into(), &2.into()),
        "{status}"
    );
    assert_eq!(place.json(&["status"])["sessions"]["all"], 0);
}

#[test]
fn a_token_opens_the_memory_of_its_tenant_alone() {
    let place = place();
    let theirs = token(&place.root(), THEIRS);
    let server = DaybookServer::start_in(place, &[], Stdio::inherit());
    let events = json!({
        "agent": "harbour-bot", "session": "one", "folder": "/nowhere/ada/pier", "branch": "main",
        "events": [
            {"id": "1", "role": "user", "text": format!("the {SECRET} sails on Mondays")},
            {"id": "2", "role": "assistant", "text": "Noted."},
        ],
    });
    let append = server.send_request_as(&theirs, "POST /v1/append", &events.to_string());
    assert_eq!(append.status, 200, "{}", append.body);
    let thread = json!({"name": format!("{SECRET}-thread"), "agent": "harbour-bot"}).to_string();
    assert_eq!(
        server
            .send_request_as(&theirs, "POST /v1/threads", &thread)
            .status,
        200
    );
    let question = json!({"question": SECRET}).to_string();
    let view = json!({"command": "view", "path": "/memories/boat.md"}).to_string();
    let asked = [
        ("POST /v1/recall", question.as_str()),
        ("GET /v1/status", ""),
        ("GET /v1/threads", ""),
        ("GET /v1/context?project=tidepool", ""),
        ("GET /v1/memories", ""),
        ("GET /v1/sessions", ""),
        ("GET /v1/jobs?all=true", ""),
        ("GET /v1/files", ""),
        ("GET /v1/files/boat.md", ""),
        ("GET /v1/files/boat.md/history", ""),
        ("GET /v1/entities", ""),
        ("GET /v1/entities/boat", ""),
        ("POST /v1/memory-tool", view.as_str()),
    ];
    let file = json!({"text": format!("the {SECRET} is ours\n")}).to_string();
    let card = json!({"name": SECRET, "description": "our boat"}).to_string();
    for (what, body) in [
        ("PUT /v1/files/boat.md", &file),
        ("PUT /v1/entities/boat", &card),
    ] {
        let written = server.send_request_as(&theirs, what, body);
        assert_eq!(written.status, 200, "{what}: {}", written.body);
    }
    let memory = server.send_request_as(&theirs, "GET /v1/memories", "");
    let memory = memory.body["memories"][0]["id"].clone();
    let memory = memory.as_str().expect("an id");
    for (method, path, body) in [
        ("GET", format!("/v1/memories/{memory}"), ""),
        ("GET", format!("/v1/memories/{memory}/history"), ""),
        (
            "PATCH",
            format!("/v1/memories/{memory}"),
            "{\"text\": \"x\"}",
        ),
        ("DELETE", format!("/v1/memories/{memory}"), ""),
        ("DELETE", "/v1/files/boat.md".to_owned(), ""),
        ("DELETE", "/v1/entities/boat".to_owned(), ""),
    ] {
        server.check(&format!("{method} {path}"), body, 404, "not_found");
    }
    for (what, body) in asked {
        let theirs = server.send_request_as(&theirs, what, body);
        assert_eq!(theirs.status, 200, "{what}: {}", theirs.body);
        let ours = server.send_request(what, body);
        assert!([200, 404].contains(&ours.status), "{what}: {}", ours.body);
        is_apart(what, &ours.body.to_string());
        assert_ne!(ours.body, theirs.body, "{what}");
    }
    // Nothing of theirs is in our stream of changes.
    let mut stream = server.stream("/v1/changes");
    let mut line = String::new();
    while !line.starts_with(": ") {
        line.clear();
        stream.read_line(&mut line).expect("a line");
        assert!(!line.starts_with("data"), "{line}");
    }
    let seen = server.send_request_as(&theirs, "POST /v1/recall", &question);
    assert!(seen.body.to_string().contains(SECRET), "{}", seen.body);
    let note = json!({"text": "ours alone: quixotic"}).to_string();
    assert_eq!(server.send_request("POST /v1/remember", &note).status, 200);
    let question = json!({"question": "quixotic"}).to_string();
    let theirs_of_ours = server.send_request_as(&theirs, "POST /v1/recall", &question);
    assert!(
        !theirs_of_ours.body.to_string().contains("quixotic"),
        "{}",
        theirs_of_ours.body
    );
    let stranger =
        server.send_request_as("no-token-of-anybody-0123456789abcdef", "GET /v1/status", "");
    assert_eq!(stranger.status, 401);

    let place = server.end();
    let own = place.json(&["sessions", "--tenant", THEIRS]).to_string();
    assert!(own.contains("harbour-bot"), "{own}");
    assert!(
        !place
            .json(&["sessions"])
            .to_string()
            .contains("harbour-bot"),
        "{OURS}"
    );
}

#[test]
fn a_server_refuses_tokens_that_would_open_two_memories() {
    let place = place();
    let same = token(&place.root(), THEIRS);
    fs::copy(
        place.root().join("tokens").join(THEIRS),
        place.root().join("tokens/other"),
    )
    .expect("a copy");
    let output = place.run(&["serve", "--listen", "127.0.0.1:0"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && error.contains("the same token"),
        "{error}"
    );
    assert!(!error.contains(&same), "{error}");
    fs::rename(
        place.root().join("tokens/other"),
        place.root().join("tokens/Other"),
    )
    .expect("a move");
    let error = place.run(&["serve", "--listen", "127.0.0.1:0"]).stderr;
    assert!(String::from_utf8_lossy(&error).contains("is not named for a tenant"));
}
