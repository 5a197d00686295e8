//! Every way into memory carries the room, the thread and the team of a conversation: threads, chats, hooks.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::fixture::{TestPlace, TestSession};
use crate::mcp::McpClient;

const PIER: &str = "!pier:example.org";

/// A place whose settings name a team.
fn place_with_team() -> TestPlace {
    let place = TestPlace::new();
    fs::create_dir_all(place.root()).expect("a folder");
    let settings = "person = \"ada\"\nteams = [\"crew=tide-bot+harbour-bot\"]\n";
    fs::write(place.root().join("daybook.toml"), settings).expect("settings");
    place
}

/// The venue and the user of a session, as `sessions` lists it.
fn venue(place: &TestPlace, id: &str) -> [Value; 3] {
    let listed = place.json(&["sessions"]);
    let rows = listed["sessions"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["id"] == id);
    let row = row.unwrap_or_else(|| panic!("no {id} in {listed}"));
    ["room_id", "thread_id", "team"].map(|field| row[field].clone())
}

fn memory_file(place: &TestPlace, folder: &str) -> String {
    let path = place.root().join(folder).join("memory/MEMORY.md");
    fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn a_thread_is_held_where_it_was_created_and_so_is_its_fork() {
    let place = place_with_team();
    let create = [
        "threads",
        "create",
        "t1",
        "--agent",
        "harbour-bot",
        "--user",
        "ben",
        "--room",
        PIER,
        "--thread-id",
        "$t1",
        "--team",
        "crew",
    ];
    place.stdout(&create);
    let event =
        json!({"type": "USER_MESSAGE", "content": "We decided to paint the walrus buoy red."});
    let event = place.write("event.jsonl", &event.to_string());
    place.stdout(&[
        "threads",
        "dispatch",
        "harbour-bot:t1",
        event.to_str().expect("a path"),
    ]);
    let fork = place.json(&["threads", "create", "--from", "harbour-bot:t1"]);
    let fork = fork["thread"].as_str().expect("an id");
    let held = [json!(PIER), json!("$t1"), json!("harbour-bot+tide-bot")];
    assert_eq!(venue(&place, "harbour-bot:t1"), held);
    assert_eq!(venue(&place, fork), held);
    place.stdout(&["threads", "end", "harbour-bot:t1"]);
    place.stdout(&["update"]);
    assert!(memory_file(&place, "rooms/%21pier%3Aexample.org").contains("walrus"));
    assert!(!memory_file(&place, "users/ada").contains("walrus"));
    let elsewhere = [
        "threads",
        "create",
        "t1",
        "--agent",
        "harbour-bot",
        "--room",
        "!quay",
    ];
    assert!(!place.run(&elsewhere).status.success(), "another room");
    let outsider = [
        "threads", "create", "t2", "--agent", "gull-bot", "--team", "crew",
    ];
    assert!(!place.run(&outsider).status.success(), "not in the team");
}

#[test]
fn a_chat_that_names_its_room_is_the_rooms() {
    let place = place_with_team();
    let said = |text: &str| json!([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]);
    let red = said("We decided to paint the walrus buoy red.");
    let head = format!(r#""session_id": "c1", "room_id": "{PIER}", "thread_id": "$t1""#);
    place.write("room.json", &format!("{{{head}, \"messages\": {red}}}"));
    let shifts = said("We decided to use the falcon calendar for all shifts.");
    let head = r#""session_id": "c2", "team": "crew""#;
    place.write("team.json", &format!("{{{head}, \"messages\": {shifts}}}"));
    let lines = [
        json!({"role": "user", "content": "We decided to moor the otter ferry at berth nine.", "room": "!quay"}),
        json!({"role": "assistant", "content": "Noted.", "room": "!quay"}),
        json!({"role": "user", "content": "We decided to feed the pelican at noon.", "room": PIER}),
        json!({"role": "assistant", "content": "Noted.", "room": PIER}),
        json!({"role": "user", "content": "We decided to sell the heron skiff.", "room": "!quay"}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    place.write("lines.jsonl", &(lines.join("\n") + "\n"));
    place.stdout(&["import", place.transcripts().to_str().expect("a path")]);
    place.stdout(&["update", "--all"]);
    assert_eq!(
        venue(&place, "chat:c1"),
        [json!(PIER), json!("$t1"), Value::Null]
    );
    assert_eq!(venue(&place, "chat:c2")[2], "harbour-bot+tide-bot");
    let pier = memory_file(&place, "rooms/%21pier%3Aexample.org");
    assert!(
        pier.contains("walrus") && pier.contains("pelican"),
        "{pier}"
    );
    assert!(memory_file(&place, "teams/harbour-bot%2Btide-bot").contains("falcon"));
    let quay = memory_file(&place, "rooms/%21quay");
    assert!(quay.contains("otter") && quay.contains("heron"), "{quay}");
    assert!(!quay.contains("pelican") && !pier.contains("otter"));
    let own = memory_file(&place, "users/ada");
    assert!(
        ["walrus", "falcon", "otter"]
            .iter()
            .all(|word| !own.contains(word)),
        "{own}"
    );
    let again = place.json(&["import", place.transcripts().to_str().expect("a path")]);
    assert_eq!(again["events"], 0, "{again}");
}

/// Runs a session of Claude Code through its hooks, with these fields in each payload and these variables.
fn run_hooked(
    place: &TestPlace,
    session: &TestSession,
    fields: &Value,
    room: Option<&str>,
) -> String {
    let home = place.home().join(".claude/projects/tidepool");
    fs::create_dir_all(&home).expect("a folder");
    let transcript = home.join(format!("{}.jsonl", session.id()));
    let mut given = String::new();
    for event in ["SessionStart", "Stop", "SessionEnd"] {
        let mut payload = json!({
            "hook_event_name": event, "session_id": session.id(), "cwd": place.home(),
            "transcript_path": transcript, "source": "startup",
        });
        for (name, value) in fields.as_object().expect("an object") {
            payload[name] = value.clone();
        }
        let mut hook = place.daybook(&["hook", "claude-code", &payload.to_string()]);
        hook.envs(room.map(|room| ("DAYBOOK_ROOM_ID", room)));
        let answer = hook.output().expect("it ends");
        given.push_str(&String::from_utf8_lossy(&answer.stdout));
        fs::write(&transcript, session.text()).expect("a transcript");
    }
    given
}

#[test]
fn a_session_that_a_hook_reports_in_a_room_is_the_rooms_and_is_given_its_memory_alone() {
    let place = place_with_team();
    place.stdout(&[
        "remember",
        "--everywhere",
        "I always prefer tabs over spaces.",
    ]);
    let session = |n, words: &str| {
        TestSession::new(n)
            .in_folder(Path::new("/srv/none"), "main")
            .human(words)
            .agent("Noted.")
    };
    let named = session(1, "We decided to paint the walrus buoy red.");
    let fields = json!({"room_id": PIER, "thread_id": "$t1"});
    let given = run_hooked(&place, &named, &fields, Some("!quay"));
    assert!(
        !given.contains("tabs"),
        "a room is not given a person's memory: {given}"
    );
    let by_setting = session(2, "We decided to moor the otter ferry at berth nine.");
    run_hooked(&place, &by_setting, &json!({}), Some("!quay"));
    let private = session(3, "We decided to feed the pelican at noon.");
    let given = run_hooked(&place, &private, &json!({}), None);
    assert!(given.contains("tabs"), "{given}");
    // An import that comes before the update may not file a room's words elsewhere.
    let transcripts = place.home().join(".claude/projects");
    place.stdout(&["import", transcripts.to_str().expect("a path")]);
    place.stdout(&["update"]);
    let id = |session: &TestSession| format!("claude-code:{}", session.id());
    assert_eq!(
        venue(&place, &id(&named)),
        [json!(PIER), json!("$t1"), Value::Null]
    );
    assert_eq!(venue(&place, &id(&by_setting))[0], "!quay");
    assert_eq!(venue(&place, &id(&private))[0], Value::Null);
    assert!(memory_file(&place, "rooms/%21pier%3Aexample.org").contains("walrus"));
    assert!(memory_file(&place, "rooms/%21quay").contains("otter"));
    let next = session(4, "What colour is the buoy?");
    let given = run_hooked(&place, &next, &json!({"room_id": PIER}), None);
    assert!(
        given.contains("walrus") && !given.contains("otter"),
        "{given}"
    );
}

#[test]
fn an_agent_whose_host_was_started_in_a_room_is_in_it_over_mcp() {
    let place = place_with_team();
    place.stdout(&[
        "remember",
        "--everywhere",
        "I always prefer tabs over spaces.",
    ]);
    let settings = fs::read_to_string(place.root().join("daybook.toml")).expect("settings");
    let settings = format!("{settings}room_id = \"{PIER}\"\n");
    fs::write(place.root().join("daybook.toml"), settings).expect("settings");
    let mut client = McpClient::connect(&place, &["--tools", "history"]);
    client.call_ok(
        "remember",
        json!({"text": "the lobster pots are behind the pier"}),
    );
    let (_, found) = client.call_ok("recall", json!({"question": "what about tabs?"}));
    let found = found["results"].to_string();
    assert!(
        found.contains("lobster") && !found.contains("spaces"),
        "{found}"
    );
    let (_, listed) = client.call_ok("list", json!({}));
    assert_eq!(listed["scope"], format!("room/{PIER}"));
    client.call_error("list", json!({"scope": "user/ada"}));
}
