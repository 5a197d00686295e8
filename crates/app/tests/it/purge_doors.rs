//! A user's own words are purged over HTTP, and handed out with `daybook export --user`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixture::TestPlace;
use crate::purge::check_gone;
use crate::serve::DaybookServer;

/// A session of `user`, with a rule that all users state, and words of their own.
fn session(user: &str, own: &str) -> Value {
    json!({
        "agent": "harbour-bot",
        "session": format!("tides-of-{user}"),
        "user": user,
        "folder": "/nowhere/ada/tidepool",
        "branch": "main",
        "events": [
            {"id": "1", "role": "user", "text": "please always write the test first"},
            {"id": "2", "role": "assistant", "text": "I will write the test first."},
            {"id": "3", "role": "user", "text": own},
            {"id": "4", "role": "assistant", "text": "It is noted."},
        ],
    })
}

/// A server whose memory has a session of ada and one of bob.
fn shared_server() -> DaybookServer {
    let server = DaybookServer::start_in(TestPlace::new(), &[], Stdio::inherit());
    for (user, own) in [
        ("ada", "please always ask bob before the zqada lamp is lit"),
        (
            "bob",
            "please always moor the zqbob cutter at the northern quay",
        ),
    ] {
        server.post("/v1/append", &session(user, own));
        let ended =
            json!({"agent": "harbour-bot", "session": format!("tides-of-{user}"), "what": "reset"});
        server.post("/v1/trigger", &ended);
    }
    server.place.stdout(&["update", "--all"]);
    server
}

fn status(server: &DaybookServer, body: &Value) -> u16 {
    server
        .send_request("POST /v1/purge", &body.to_string())
        .status
}

#[test]
fn a_user_purges_over_http_what_is_theirs_alone() {
    let server = shared_server();
    let projects = server.place.json(&["projects"]);
    let project = projects["projects"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap()
        .clone();
    let scope = format!("project/{project}");
    let rule = server
        .place
        .json(&["list", "--scope", &scope, "--query", "test first"]);
    let rule = rule["memories"][0]["id"].as_str().unwrap();
    // It rests on a session of each.
    let of_both = json!({"memory": rule, "user": "ada", "project": project});
    assert_eq!(status(&server, &of_both), 409);
    let of_another = json!({"session": "tides-of-bob", "user": "ada"});
    assert_eq!(status(&server, &of_another), 404);
    assert_eq!(status(&server, &json!({"user": "ada"})), 400);

    let own = json!({"session": "tides-of-bob", "user": "bob", "dry_run": true});
    let planned = server.post("/v1/purge", &own);
    assert_eq!(
        (&planned["purged"], &planned["events"]),
        (&json!(false), &json!(4))
    );
    let own = json!({"session": "tides-of-bob", "user": "bob"});
    let purged = server.post("/v1/purge", &own);
    assert_eq!(
        (&purged["purged"], &purged["events"]),
        (&json!(true), &json!(4))
    );
    assert_eq!(
        (&purged["sessions"], &purged["receipt"]),
        (&json!(1), &json!(1))
    );

    let again = server.post(
        "/v1/append",
        &session("bob", "please always moor the zqbob cutter"),
    );
    assert_eq!(again["added"], 0);
    let found = server.post(
        "/v1/recall",
        &json!({"question": "zqada lamp", "user": "ada", "project": project}),
    );
    assert!(found.to_string().contains("zqada"), "{found}");
    let place = server.end();
    check_gone(&place.root(), &["zqbob".to_owned()]);

    let server = DaybookServer::start_in(place, &[], Stdio::inherit());
    let all = server.post("/v1/purge", &json!({"everything": true, "user": "ada"}));
    assert_eq!(all["purged"], true);
    let place = server.end();
    check_gone(&place.root(), &["zqada".to_owned()]);
}

/// The files of an archive, in order.
fn files_of(archive: &Path) -> BTreeMap<String, String> {
    let mut tar = tar::Archive::new(fs::File::open(archive).unwrap());
    let entries = tar.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        (name, text)
    });
    entries.collect()
}

#[test]
fn an_export_of_one_user_has_what_is_theirs_and_what_names_them() {
    let place = shared_server().end();
    let [first, second] = ["first.tar", "second.tar"].map(|name| place.home().join(name));
    let export = |file: &Path, user: &str| {
        place.run(&["export", &file.display().to_string(), "--user", user])
    };
    assert!(export(&first, "bob").status.success());
    assert!(export(&second, "bob").status.success());
    assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap());

    let files = files_of(&first);
    let readme = &files["README.md"];
    assert!(readme.contains("zqbob cutter"), "{readme}");
    // What another user's memory says about them.
    assert!(readme.contains("ask bob before the zqada lamp"), "{readme}");
    let sessions: Vec<&String> = files
        .keys()
        .filter(|name| name.starts_with("sessions/"))
        .collect();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    assert!(files[sessions[0]].contains("please always moor the zqbob cutter"));
    let events = &files["rows/events.jsonl"];
    assert_eq!(events.lines().count(), 4);
    assert!(!events.contains("zqada"), "{events}");
    assert!(!files.contains_key("rows/purge_keys.jsonl"));
    let manifest: Value = serde_json::from_str(&files["manifest.json"]).unwrap();
    assert_eq!(manifest["rows"]["events"], 4);
    for (name, text) in files.iter().filter(|(name, _)| *name != "manifest.json") {
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        assert_eq!(manifest["files"][name]["hash"], hash.as_str(), "{name}");
    }

    let nobody = export(&place.home().join("third.tar"), "nobody");
    assert!(String::from_utf8_lossy(&nobody.stderr).contains("of a user nobody"));
    assert!(!nobody.status.success() && !place.home().join("third.tar").exists());
}
