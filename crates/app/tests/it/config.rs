//! `daybook config`: each setting with its source, and the import of other systems' settings.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixture::TestPlace;

const BLOCK: &str =
    "memory:\n  backend: file\n  auto_flush:\n    idle_seconds: 75\n    no_such_thing: 1\n";

fn setting(explained: &Value, name: &str) -> Value {
    let all = explained["settings"].as_array().expect("a list");
    let found = all.iter().find(|setting| setting["name"] == name);
    found.cloned().unwrap_or_default()
}

fn file(place: &TestPlace) -> String {
    fs::read_to_string(place.root().join("daybook.toml")).unwrap_or_default()
}

fn write_file(place: &TestPlace, text: &str) {
    fs::create_dir_all(place.root()).expect("a folder");
    fs::write(place.root().join("daybook.toml"), text).expect("a file");
}

#[track_caller]
fn refusal(place: &TestPlace, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    assert!(!output.status.success(), "{arguments:?} is refused");
    String::from_utf8(output.stderr).expect("output is UTF-8")
}

#[test]
fn a_value_comes_from_the_flag_before_the_environment_before_the_file() {
    let place = TestPlace::new();
    write_file(
        &place,
        "profile = \"codex\"\nidle = \"3h\"\nlease = \"7m\"\n",
    );
    let mut command = place.daybook(&["config", "--json", "--set", "idle=1h"]);
    let output = command
        .env("DAYBOOK_IDLE", "2h")
        .env("DAYBOOK_LEASE", "8m")
        .output()
        .expect("daybook starts");
    let explained: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let say = |name| {
        let setting = setting(&explained, name);
        json!([setting["value"], setting["source"], setting["from"]])
    };
    assert_eq!(say("idle"), json!(["1h", "flag", "idle"]));
    assert_eq!(say("lease"), json!(["8m", "environment", "DAYBOOK_LEASE"]));
    assert_eq!(say("profile"), json!(["codex", "file", "profile"]));
    assert_eq!(say("turn_limit"), json!(["none", "profile", "codex"]));
    assert_eq!(say("context_tokens"), json!([1500, "default", ""]));
    assert_eq!(
        say("person"),
        json!(["ada", "environment", "DAYBOOK_PERSON"])
    );
}

#[test]
fn a_setting_is_explained_under_any_of_its_names() {
    let place = TestPlace::new();
    let own = place.stdout(&["config", "idle"]);
    assert_eq!(
        own,
        place.stdout(&["config", "memory.auto_flush.idle_seconds"])
    );
    for said in [
        "idle = \"2m\"",
        "default",
        "allowed: a duration",
        "memory.auto_flush.idle_seconds",
    ] {
        assert!(own.contains(said), "{said}: {own}");
    }
    assert!(!own.contains("lease"), "{own}");
    let error = refusal(&place, &["config", "idel"]);
    assert!(error.contains("idel: there is no such setting"), "{error}");
    let error = refusal(&place, &["config", "memories.version"]);
    assert!(
        error.contains("memories.version: there is one pipeline"),
        "{error}"
    );
}

#[test]
fn every_command_refuses_settings_that_make_no_sense() {
    let place = TestPlace::new();
    let error = refusal(&place, &["config", "--set", "batch=0"]);
    assert!(error.contains("--set batch=0: out of range"), "{error}");
    write_file(&place, "[memory.auto_flush]\nidle_seconds = -5\n");
    for command in [&["config"][..], &["remember", "x"]] {
        let error = refusal(&place, command);
        assert!(
            error.contains("daybook.toml: memory.auto_flush.idle_seconds = -5"),
            "{error}"
        );
    }
}

#[test]
fn a_flag_holds_for_one_command() {
    let place = TestPlace::new();
    place.stdout(&[
        "remember",
        "the tide table is cached",
        "--set",
        "person=grace",
    ]);
    assert!(place.root().join("users/grace").is_dir());
    assert!(!place.root().join("users/ada").exists());
}

#[test]
fn a_setting_of_another_system_that_has_no_effect_is_refused_with_what_to_write() {
    let place = TestPlace::new();
    write_file(&place, "[memory.llm]\nprovider = \"openai\"\n");
    let error = refusal(&place, &["config"]);
    let expected =
        "daybook.toml: memory.llm: models are named with their provider: write extract_model =";
    assert!(error.contains(expected), "{error}");
    // A hook goes on without memory.
    assert!(place.run(&["hook", "codex", "{}"]).status.success());
}

#[test]
fn profiles_stand_side_by_side() {
    let place = TestPlace::new();
    let said = place.stdout(&["config", "profiles"]);
    let row = said
        .lines()
        .find(|line| line.trim().starts_with("sweep_claims"));
    let cells: Vec<&str> = row.unwrap_or_default().split_whitespace().collect();
    assert_eq!(cells, ["sweep_claims", "16", "–", "16", "–"]);
    let profiles = place.json(&["config", "profiles"]);
    assert_eq!(profiles["mindroom"]["batch_per_agent"], 3);
    assert_eq!(profiles["daycare"]["sweep_claims"], Value::Null);
}

#[test]
fn the_schema_and_the_page_are_printed_as_they_are_committed() {
    let place = TestPlace::new();
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/");
    let committed = |name: &str| fs::read_to_string(format!("{docs}{name}")).expect("it is there");
    assert_eq!(
        place.stdout(&["config", "schema"]),
        committed("daybook.schema.json")
    );
    let page = place.stdout(&["config", "profiles", "--markdown"]);
    assert_eq!(page, committed("profiles.md"));
}

#[test]
fn a_block_is_taken_over_once_and_keeps_what_is_there() {
    let place = TestPlace::new();
    write_file(&place, "# mine\nperson = \"ada\"\n");
    let block = place.write("block.yaml", BLOCK);
    let import = ["config", "import", &block.display().to_string()];
    let said = place.stdout(&[&import[..], &["--dry-run"]].concat());
    assert!(said.contains("Nothing was changed"), "{said}");
    assert_eq!(file(&place), "# mine\nperson = \"ada\"\n");

    let said = place.stdout(&import);
    for part in [
        "taken as idle = \"75s\"",
        "no_such_thing",
        "unknown",
        "profile = \"mindroom\"",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let written = file(&place);
    assert!(
        written.starts_with("# mine\nperson = \"ada\"\n"),
        "{written}"
    );
    let explained = place.json(&["config"]);
    assert_eq!(setting(&explained, "idle")["value"], "75s");
    assert_eq!(setting(&explained, "profile")["value"], "mindroom");

    let said = place.stdout(&import);
    assert!(said.contains("already so: idle = \"75s\""), "{said}");
    assert_eq!(file(&place), written);
}

#[test]
fn a_block_comes_from_standard_input_and_is_told_to_programs() {
    let place = TestPlace::new();
    let mut child = place
        .daybook(&["config", "import", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("daybook starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(BLOCK.as_bytes()).expect("it is read");
    drop(input);
    let output = child.wait_with_output().expect("daybook ends");
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(said["changed"], true);
    let line = |name| json!({"name": name, "became": "unknown"});
    let lines = said["lines"].as_array().expect("a list");
    assert!(
        lines.contains(&line("memory.auto_flush.no_such_thing")),
        "{said}"
    );
    let taken =
        json!({"name": "memory.backend", "became": "taken", "setting": "memory", "value": "on"});
    assert!(lines.contains(&taken), "{said}");
    assert!(file(&place).contains("idle = \"75s\""));
}

#[test]
fn what_a_block_asks_in_vain_is_named_and_the_rest_is_taken() {
    let place = TestPlace::new();
    let block = place.write("block.yaml", &BLOCK.replace("file", "mem0"));
    let said = place.stdout(&["config", "import", &block.display().to_string()]);
    assert!(
        said.contains("refused: memory.backend = \"mem0\" (it sets memory): a mem0 server keeps the memory of single agents"),
        "{said}"
    );
    assert!(file(&place).contains("idle = \"75s\"") && !file(&place).contains("memory"));
}
