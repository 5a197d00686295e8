//! Which memory a statement is filed in, and which callers see it: two agents, two rooms, a team, people and a project
//! each get a statement of their own, and each caller asks over HTTP and from the command line.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixture::TestPlace;
use crate::mcp::McpClient;
use crate::serve::{DaybookServer, HttpAnswer};

/// The scope of each statement, by a word that only this statement has.
const TOLD: [(&str, &str); 9] = [
    ("short", "agent/harbour-bot"),
    ("heron", "agent/tide-bot"),
    ("walrus", "room/!pier:example.org"),
    ("otter", "room/!quay:example.org"),
    ("falcon", "team/harbour-bot+tide-bot"),
    ("tabs", "user/ada"),
    ("espresso", "user/ben"),
    ("badger", "project/ada-tidepool"),
    ("lobster", "room/!pier:example.org"),
];

fn post(server: &DaybookServer, path: &str, body: &Value) -> HttpAnswer {
    server.send_request(&format!("POST {path}"), &body.to_string())
}

fn say(server: &DaybookServer, session: &str, agent: &str, text: &str, more: Value) {
    let mut body = json!({
        "agent": agent,
        "session": session,
        "events": [{"role": "user", "text": text}, {"role": "assistant", "text": "Understood."}],
    });
    merge(&mut body, &more);
    let answer = post(server, "/v1/append", &body);
    assert_eq!(answer.status, 200, "{session}: {answer:?}");
    let end = json!({"agent": agent, "session": session, "what": "end"});
    assert_eq!(post(server, "/v1/trigger", &end).status, 200);
}

/// Updates until nothing waits: the server's own worker may be in the middle of a session, which an update leaves to it.
fn settle(server: &DaybookServer) {
    for _ in 0..200 {
        server.place.stdout(&["update"]);
        let state = server.place.json(&["status"]);
        if (
            &state["sessions"]["pending"],
            &state["waiting_to_be_written"],
        ) == (&json!(0), &json!(0))
        {
            return;
        }
    }
    panic!("the memory does not come to rest");
}

fn merge(body: &mut Value, more: &Value) {
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
}

/// A server whose memory has learned every statement of [`TOLD`], and the folder of its project.
fn told() -> (DaybookServer, String) {
    let place = TestPlace::new();
    fs::create_dir_all(place.root()).expect("a folder");
    let settings = "person = \"ada\"\nteams = [\"crew=tide-bot+harbour-bot\"]\n";
    fs::write(place.root().join("daybook.toml"), settings).expect("settings");
    let folder = place.checkout("tidepool", "main").display().to_string();
    let server = DaybookServer::start_in(place, &[], Stdio::inherit());
    let (harbour, tide) = ("harbour-bot", "tide-bot");
    let pier = json!({"room_id": "!pier:example.org", "thread_id": "$t1", "user": "ben"});
    let crew = json!({"team": "crew"});
    say(
        &server,
        "a1",
        harbour,
        "You should always answer in short paragraphs.",
        json!({"user": "carl"}),
    );
    say(
        &server,
        "a2",
        tide,
        "As the tide bot, never mention the heron survey to visitors.",
        json!({"user": "dora"}),
    );
    say(
        &server,
        "r1",
        harbour,
        "We decided to paint the walrus buoy red.",
        pier.clone(),
    );
    say(
        &server,
        "r2",
        tide,
        "We decided to moor the otter ferry at berth nine.",
        json!({"room_id": "!quay:example.org"}),
    );
    say(
        &server,
        "t1",
        harbour,
        "We decided to use the falcon calendar for all shifts.",
        crew,
    );
    say(
        &server,
        "u1",
        "claude-code",
        "I always prefer tabs over spaces, in every project.",
        json!({}),
    );
    say(
        &server,
        "u2",
        harbour,
        "I prefer espresso over tea in the morning, in general.",
        json!({"user": "ben"}),
    );
    say(
        &server,
        "p1",
        "claude-code",
        "We decided to use the badger queue for uploads.",
        json!({"folder": folder.clone()}),
    );
    let note = json!({"text": "the lobster pots are behind the pier", "agent": harbour,
        "room_id": "!pier:example.org", "scope": "room/!pier:example.org"});
    let kept = post(&server, "/v1/remember", &note);
    assert_eq!(
        (kept.status, &kept.body["scope"]),
        (200, &json!("room/!pier:example.org"))
    );
    settle(&server);
    (server, folder)
}

/// The words of [`TOLD`] that a caller's recall shows, in any layer.
fn recalled(server: &DaybookServer, caller: &Value) -> Vec<&'static str> {
    let shows = |word: &str| {
        let mut body = json!({"question": format!("what about {word}?"), "limit": 20});
        merge(&mut body, caller);
        let answer = post(server, "/v1/recall", &body);
        assert_eq!(answer.status, 200, "{caller}: {answer:?}");
        answer.body["results"].to_string().contains(word)
    };
    TOLD.iter()
        .map(|(word, _)| *word)
        .filter(|word| shows(word))
        .collect()
}

/// The words of [`TOLD`] that a caller's context shows, as the command line prints it.
fn in_context(server: &DaybookServer, arguments: &[&str]) -> Vec<&'static str> {
    let shown = server
        .place
        .stdout(&[&["context", "--folder", "/"], arguments].concat());
    TOLD.iter()
        .map(|(word, _)| *word)
        .filter(|word| shown.contains(word))
        .collect()
}

#[test]
fn each_caller_is_given_what_applies_to_it_and_nothing_leaks() {
    let (server, _) = told();
    let (pier, quay) = ("!pier:example.org", "!quay:example.org");
    for (caller, expected) in [
        (
            json!({"agent": "harbour-bot"}),
            vec!["short", "falcon", "tabs"],
        ),
        (
            json!({"agent": "tide-bot"}),
            vec!["heron", "falcon", "tabs"],
        ),
        (
            json!({"agent": "harbour-bot", "user": "ben"}),
            vec!["short", "falcon", "espresso"],
        ),
        (json!({"agent": "stranger"}), vec!["tabs"]),
        (json!({"user": "ben"}), vec!["espresso"]),
        (json!({"room_id": pier}), vec!["walrus", "lobster"]),
        (json!({"room_id": quay}), vec!["otter"]),
        (
            json!({"agent": "tide-bot", "room_id": pier, "user": "ben"}),
            vec!["heron", "walrus", "falcon", "lobster"],
        ),
        (json!({"team": "crew"}), vec!["falcon"]),
        (
            json!({"agent": "stranger", "project": "ada-tidepool"}),
            vec!["tabs", "badger"],
        ),
        (json!({}), vec!["tabs", "badger"]),
    ] {
        assert_eq!(recalled(&server, &caller), expected, "{caller}");
    }
    assert_eq!(
        in_context(&server, &["--agent", "harbour-bot"]),
        ["short", "falcon", "tabs"]
    );
    assert_eq!(in_context(&server, &["--room", quay]), ["otter"]);
    assert_eq!(
        in_context(&server, &["--team", "tide-bot+harbour-bot"]),
        ["falcon"]
    );
    assert_eq!(in_context(&server, &["--user", "ben"]), ["espresso"]);
    assert_eq!(
        in_context(&server, &["--project", "ada-tidepool"]),
        ["tabs", "badger"]
    );
}

#[test]
fn every_scope_has_its_memory_file() {
    let (server, _) = told();
    let root = server.place.root();
    let page = |folder: &str| {
        let path = root.join(folder).join("memory/MEMORY.md");
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    for (word, folder) in [
        ("short", "agents/harbour-bot"),
        ("heron", "agents/tide-bot"),
        ("walrus", "rooms/%21pier%3Aexample.org"),
        ("otter", "rooms/%21quay%3Aexample.org"),
        ("falcon", "teams/harbour-bot%2Btide-bot"),
        ("espresso", "users/ben"),
    ] {
        let text = page(folder);
        let others = TOLD
            .iter()
            .filter(|(other, _)| *other != word && *other != "lobster");
        assert!(text.contains(word), "{folder}: {text}");
        assert!(
            others.clone().all(|(other, _)| !text.contains(other)),
            "{folder}: {text}"
        );
    }
    assert!(page("rooms/%21pier%3Aexample.org").contains("lobster"));
}

#[test]
fn a_session_stays_in_its_room_and_lists_it() {
    let (server, _) = told();
    let moved = json!({
        "agent": "harbour-bot", "session": "r1", "room_id": "!quay:example.org",
        "events": [{"role": "user", "text": "and another thing"}],
    });
    assert_ne!(post(&server, "/v1/append", &moved).status, 200);
    let private = json!({
        "agent": "harbour-bot", "session": "a1", "room_id": "!quay:example.org",
        "events": [{"role": "user", "text": "and another thing"}],
    });
    assert_ne!(post(&server, "/v1/append", &private).status, 200);
    let listed = server.place.json(&["sessions"]);
    let rows = listed["sessions"].as_array().expect("rows");
    let row = rows
        .iter()
        .find(|row| row["id"] == "harbour-bot:r1")
        .expect("the room's");
    assert_eq!(row["room_id"], "!pier:example.org");
    assert_eq!(row["thread_id"], "$t1");
    let team = rows
        .iter()
        .find(|row| row["id"] == "harbour-bot:t1")
        .expect("the team's");
    assert_eq!(team["team"], "harbour-bot+tide-bot");
}

#[test]
fn a_callers_word_files_where_it_takes_part_and_nowhere_else() {
    let (server, _) = told();
    let append = |session: &str, scope: &str| {
        let body = json!({
            "agent": "harbour-bot", "session": session, "scope": scope,
            "events": [{"role": "user", "text": "We decided to feed the pelican at noon."}],
        });
        post(&server, "/v1/append", &body).status
    };
    assert_eq!(append("w1", "team:crew"), 200);
    for refused in [
        "agent:tide-bot",
        "room:!pier:example.org",
        "user:ben",
        "team:nobody",
    ] {
        assert_ne!(append("w2", refused), 200, "{refused}");
    }
    let end = json!({"agent": "harbour-bot", "session": "w1", "what": "end"});
    assert_eq!(post(&server, "/v1/trigger", &end).status, 200);
    settle(&server);
    let shows = |caller: Value| {
        let mut body = json!({"question": "when is the pelican fed?", "limit": 20});
        merge(&mut body, &caller);
        let answer = post(&server, "/v1/recall", &body);
        answer.body["results"].to_string().contains("pelican")
    };
    assert!(shows(json!({"agent": "tide-bot"})) && shows(json!({"team": "crew"})));
    assert!(
        !shows(json!({"agent": "stranger"})) && !shows(json!({"room_id": "!pier:example.org"}))
    );
    let asked = json!({"question": "pelican", "agent": "stranger", "scopes": ["team/harbour-bot+tide-bot"]});
    assert_ne!(post(&server, "/v1/recall", &asked).status, 200);
    let outsider = json!({"question": "pelican", "agent": "stranger", "team": "crew"});
    assert_ne!(post(&server, "/v1/recall", &outsider).status, 200);
    let note = json!({"text": "mine", "agent": "tide-bot", "scope": "agent/harbour-bot"});
    assert_ne!(post(&server, "/v1/remember", &note).status, 200);
}

/// The label of a session of [`told`].
fn label(server: &DaybookServer, id: &str) -> String {
    let listed = server.place.json(&["sessions"]);
    let rows = listed["sessions"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["id"] == id).expect("a session");
    row["label"].as_str().expect("a label").to_owned()
}

#[test]
fn no_door_shows_a_caller_what_does_not_apply_to_it() {
    let (server, _) = told();
    let cited = format!("{}:L1", label(&server, "harbour-bot:r1"));
    let pier = "room%2F!pier:example.org";
    let doors = [
        format!("/v1/show?citation={cited}"),
        format!("/v1/memories?scope={pier}"),
        "/v1/why?line=walrus".to_owned(),
        format!("/v1/history?scope={pier}"),
        format!("/v1/diff?scope={pier}"),
    ];
    for door in doors {
        let get = |caller: &str| server.send_request(&format!("GET {door}{caller}"), "");
        for stranger in [
            "",
            "&agent=harbour-bot",
            "&user=ben",
            "&team=crew",
            "&agent=tide-bot&room_id=!quay:example.org",
        ] {
            let answer = get(stranger);
            let text = answer.body.to_string();
            assert_ne!(answer.status, 200, "{door}{stranger}: {text}");
            assert!(!text.contains("walrus buoy"), "{door}{stranger}: {text}");
        }
        let answer = get("&agent=tide-bot&room_id=!pier:example.org");
        let text = answer.body.to_string();
        assert_eq!(answer.status, 200, "{door}: {text}");
    }
    for (change, body) in [
        ("forget", json!({"memory": "walrus"})),
        ("edit", json!({"line": "walrus", "words": "no buoy"})),
    ] {
        let mut body = body;
        merge(&mut body, &json!({"agent": "harbour-bot"}));
        assert_eq!(post(&server, &format!("/v1/{change}"), &body).status, 404);
    }
}

#[test]
fn a_command_that_names_a_caller_shows_what_applies_to_it_and_the_owner_sees_all() {
    let (server, _) = told();
    let place = &server.place;
    let cited = format!("{}:L1", label(&server, "harbour-bot:r1"));
    let room = "room/!pier:example.org";
    for command in [
        vec!["show", &cited],
        vec!["list", "--scope", room],
        vec!["why", "walrus"],
        vec!["history", "--scope", room],
        vec!["diff", "--scope", room],
    ] {
        let with = |caller: &[&'static str]| {
            let run = place.run(&[command.as_slice(), caller].concat());
            run.status.success()
        };
        assert!(with(&[]), "{command:?}: the owner sees everything");
        assert!(with(&["--room", "!pier:example.org"]), "{command:?}");
        assert!(!with(&["--agent", "harbour-bot"]), "{command:?}");
        assert!(!with(&["--room", "!quay:example.org"]), "{command:?}");
    }
    let ids = |caller: &[&str]| -> Vec<String> {
        let listed = place.json(&[&["sessions"], caller].concat());
        let rows = listed["sessions"].as_array().expect("rows").iter();
        let mut ids: Vec<String> = rows
            .map(|row| row["id"].as_str().expect("an id").to_owned())
            .filter(|id| !id.starts_with("daybook:"))
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&[]).len(), 8);
    assert_eq!(ids(&["--room", "!pier:example.org"]), ["harbour-bot:r1"]);
    assert_eq!(ids(&["--team", "crew"]), ["harbour-bot:t1"]);
    assert_eq!(ids(&["--user", "ben"]), ["harbour-bot:u2"]);
    assert_eq!(
        ids(&["--agent", "tide-bot"]),
        ["claude-code:u1", "harbour-bot:t1"]
    );
}

#[test]
fn a_tool_shows_an_agent_the_files_and_sources_of_its_own_scopes() {
    let (server, _) = told();
    let cited = format!("{}:L1", label(&server, "harbour-bot:r1"));
    let place = server.end();
    let mut client = McpClient::connect(&place, &["--tools", "history"]);
    let pier = json!({"room_id": "!pier:example.org"});
    let file = "rooms/%21pier%3Aexample.org/memory/MEMORY.md";
    for (tool, arguments) in [
        ("show", json!({"target": file})),
        ("show", json!({"target": cited})),
        ("list", json!({"scope": "room/!pier:example.org"})),
        ("why", json!({"line": "walrus"})),
        ("history", json!({"scope": "room/!pier:example.org"})),
        ("diff", json!({"scope": "room/!pier:example.org"})),
    ] {
        for stranger in [
            json!({}),
            json!({"agent": "tide-bot"}),
            json!({"user": "ben"}),
        ] {
            let mut asked = arguments.clone();
            merge(&mut asked, &stranger);
            let refused = client.call_error(tool, asked);
            assert!(!refused.contains("buoy"), "{tool}: {refused}");
        }
        let mut asked = arguments.clone();
        merge(&mut asked, &pier);
        client.call_ok(tool, asked);
    }
}

#[test]
fn a_rule_for_one_agent_stays_with_it_and_what_is_about_the_person_is_theirs() {
    let place = TestPlace::new();
    let server = DaybookServer::start_in(place, &[], Stdio::inherit());
    let ben = json!({"user": "ben"});
    let mixed = "You should always answer like a parrot. I prefer espresso over tea in the morning, in general.";
    say(&server, "a1", "harbour-bot", mixed, ben.clone());
    let rule = "As the harbour bot, never promise a pelican to visitors.";
    say(&server, "a2", "harbour-bot", rule, ben);
    settle(&server);
    let root = server.place.root();
    let pages = |folder: &str| {
        let files = server.place.memory().into_iter();
        let own = files.filter(|(file, _)| file.starts_with(folder));
        own.map(|(_, text)| text).collect::<String>()
    };
    let (own, agents) = (pages("users/ben"), pages("agents/harbour-bot"));
    assert!(
        own.contains("espresso") && !own.contains("pelican"),
        "{own}"
    );
    assert!(
        agents.contains("pelican") && agents.contains("parrot"),
        "{agents}"
    );
    let memory = root.join("agents/harbour-bot/memory/MEMORY.md");
    let memory = fs::read_to_string(memory).expect("the agent's file");
    assert!(!memory.contains("espresso"), "{memory}");
    let shows = |word: &str, caller: Value| {
        let mut body = json!({"question": format!("what about the {word}?"), "limit": 20});
        merge(&mut body, &caller);
        let answer = post(&server, "/v1/recall", &body);
        answer.body["results"].to_string().contains(word)
    };
    let (harbour, tide) = (
        json!({"agent": "harbour-bot", "user": "ben"}),
        json!({"agent": "tide-bot", "user": "ben"}),
    );
    assert!(shows("pelican", harbour.clone()) && shows("espresso", harbour.clone()));
    assert!(!shows("pelican", tide.clone()) && shows("espresso", tide));
    assert!(shows(
        "pelican",
        json!({"agent": "harbour-bot", "user": "carl"})
    ));
    let cited = |session: &str, agent: &str| {
        let line = label(&server, session);
        let path = format!("GET /v1/show?citation={line}:L1&user=ben&agent={agent}");
        server.send_request(&path, "").status
    };
    assert_eq!(cited("harbour-bot:a2", "harbour-bot"), 200);
    assert_ne!(cited("harbour-bot:a2", "tide-bot"), 200);
    assert_eq!(
        cited("harbour-bot:a1", "tide-bot"),
        200,
        "it resolves what is theirs"
    );
}

#[test]
fn a_conversation_of_a_room_in_a_projects_folder_is_on_none_of_the_projects_pages() {
    for profile in ["daybook", "codex", "mindroom"] {
        let place = TestPlace::new();
        fs::create_dir_all(place.root()).expect("a folder");
        let settings = format!("profile = \"{profile}\"\n");
        fs::write(place.root().join("daybook.toml"), settings).expect("settings");
        let folder = place.checkout("tidepool", "main").display().to_string();
        let server = DaybookServer::start_in(place, &[], Stdio::inherit());
        let said = "We decided to paint the walrus buoy red.";
        let held = json!({"room_id": "!pier", "folder": folder.clone()});
        say(&server, "r1", "harbour-bot", said, held);
        let said = "We decided to use the badger queue for uploads.";
        say(
            &server,
            "p1",
            "claude-code",
            said,
            json!({"folder": folder}),
        );
        settle(&server);
        let pages = server.place.memory();
        let shows = |folder: &str, word: &str| {
            let mut own = pages.iter().filter(|(file, _)| file.starts_with(folder));
            own.any(|(_, text)| text.contains(word))
        };
        assert!(
            shows("projects/", "badger") && shows("rooms/", "walrus"),
            "{profile}"
        );
        assert!(
            !shows("projects/", "walrus") && !shows("users/", "walrus"),
            "{profile}"
        );
    }
}
