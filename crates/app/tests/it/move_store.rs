//! Moving a memory into a PostgreSQL database and back, and backing one up there.

use std::fs;
use std::process::{Child, Command, Stdio};

use daybook_testkit::postgres::{self, TestDatabase};
use serde_json::Value;

use crate::fixture::{TestPlace, teaching_session};

/// A place that has learned something.
fn learned_place() -> TestPlace {
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    place.write("b.jsonl", &teaching_session(2).text());
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder]);
    place.stdout(&["remember", "the pilot boat leaves at nine"]);
    fs::write(
        place.root().join("daybook.toml"),
        "# ada's own\nidle = \"3m\"  # rests\n",
    )
    .unwrap();
    place
}

/// The output of commands about a memory.
fn command_outputs(place: &TestPlace) -> Vec<Value> {
    let mut seen: Vec<Value> = [
        &["sessions"][..],
        &["projects", "list"],
        &["jobs", "list"],
        &["recall", "cache limit survives restart"],
        &["recall", "pilot boat"],
        &["recall", "push"],
    ]
    .map(|command| place.json(command))
    .into();
    assert!(
        seen[4].to_string().contains("leaves at nine"),
        "{}",
        seen[4]
    );
    seen.extend(heads(place));
    seen
}

/// The newest commits of the histories of memory files.
fn heads(place: &TestPlace) -> Vec<Value> {
    let mut heads = Vec::new();
    for kind in ["users", "projects"] {
        let folders = fs::read_dir(place.root().join(kind));
        for folder in folders.into_iter().flatten().flatten() {
            let head = folder.path().join("memory/.git/refs/heads/main");
            let head = fs::read_to_string(head).expect("a memory folder has a history");
            heads.push(format!("{} {head}", folder.path().display()).into());
        }
    }
    heads.sort_by_key(Value::to_string);
    heads
}

fn setting(place: &TestPlace) -> String {
    fs::read_to_string(place.root().join("daybook.toml")).unwrap()
}

fn run_failing(place: &TestPlace, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    String::from_utf8(output.stderr).unwrap()
}

/// What was moved of each table, but uses: to look at a memory is to use it.
fn tables(moved: &Value) -> Vec<&Value> {
    let tables = moved["tables"].as_array().unwrap().iter();
    tables.filter(|table| table["table"] != "uses").collect()
}

#[test]
fn there_and_back_changes_nothing_that_can_be_seen() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let place = learned_place();
    let (before, files) = (command_outputs(&place), place.memory());
    assert!(before.len() > 7, "no history: {before:?}");
    let there = place.json(&["move-store", &database.url()]);
    assert_eq!(
        setting(&place),
        format!(
            "# ada's own\nidle = \"3m\"  # rests\nstore = \"{}\"\n",
            database.url()
        )
    );
    assert_eq!(command_outputs(&place), before);
    assert_eq!(place.memory(), files);
    let refused = run_failing(&place, &["--store", "sqlite", "remember", "to the old one"]);
    assert!(refused.contains("was moved to postgres://"), "{refused}");

    let back = place.json(&["move-store", "sqlite"]);
    assert_eq!(tables(&there), tables(&back));
    assert_eq!(there["folders"], back["folders"]);
    assert!(setting(&place).ends_with("store = \"sqlite\"\n"));
    assert_eq!(command_outputs(&place), before);
    assert_eq!(place.memory(), files);
    assert!(place.root().join("daybook.db.moved-1").is_file());
    place.stdout(&["doctor"]);
    place.stdout(&["remember", "life goes on"]);

    let again = run_failing(&place, &["move-store", &database.url()]);
    assert!(again.contains("holds another memory"), "{again}");
}

#[test]
fn another_memory_is_not_mixed_in_and_flags_are_left_to_their_owner() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let url = database.url();
    let other = learned_place();
    let said = other.stdout(&["move-store", &url, "--store", "sqlite"]);
    assert!(said.contains("pass --store postgres://"), "{said}");
    assert!(
        !setting(&other).contains("store"),
        "a flag is not written down"
    );

    let place = learned_place();
    let before = command_outputs(&place);
    let refused = run_failing(&place, &["move-store", &url]);
    assert!(refused.contains("holds another memory"), "{refused}");
    assert_eq!(command_outputs(&place), before);
    let refused = run_failing(&place, &["move-store", "sqlite"]);
    assert!(refused.contains("in sqlite already"), "{refused}");
    let refused = run_failing(&place, &["move-store", &url, "--set", "ledger=json"]);
    assert!(refused.contains("ledger"), "{refused}");
}

#[test]
fn a_move_that_was_broken_off_goes_on() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let place = learned_place();
    let mut before = command_outputs(&place);
    let note = place.root().join("run/moving");
    for patience in [0, 20_000, 100_000, 400_000] {
        let mut child = place
            .daybook(&["move-store", &database.url()])
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let is_running = |child: &mut Child| child.try_wait().unwrap().is_none();
        while !note.exists() && is_running(&mut child) {}
        for _ in 0..patience {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        if setting(&place).contains("postgres") {
            break;
        }
        // A change that a copy which only went on would miss; refused once the source is closed.
        place.run(&["remember", &format!("the boat was late {patience} times")]);
        before = command_outputs(&place);
    }
    // A process that is killed right behind the change of the setting leaves its note, which the next move overwrites.
    if !setting(&place).contains("postgres") {
        place.stdout(&["move-store", &database.url()]);
        assert!(!note.exists());
    }
    assert_eq!(command_outputs(&place), before);
}

/// Runs a program as docs/operating.md describes.
fn run(mut program: Command, arguments: &[&str]) {
    let output = program
        .env("PGOPTIONS", "-c daybook.tenants=all")
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?}: {said}");
}

fn dump(database: &TestDatabase, file: &str) {
    let url = database.url();
    let options = [
        "--enable-row-security",
        "--format=custom",
        "--file",
        file,
        &url,
    ];
    run(database.program("pg_dump"), &options);
}

#[test]
fn a_dump_of_postgresql_is_restored_with_its_own_programs() {
    let (Some(database), Some(other)) = (postgres::empty(), postgres::empty()) else {
        return;
    };
    let place = learned_place();
    place.stdout(&["move-store", &database.url()]);
    let before = command_outputs(&place);
    let refused = run_failing(&place, &["backup", "all.tar"]);
    assert!(
        refused.contains("pg_dump --enable-row-security"),
        "{refused}"
    );
    let file = place.home().join("daybook.dump").display().to_string();
    dump(&database, &file);
    place.stdout(&["remember", "said after the dump"]);
    let url = other.url();
    let options = ["--no-owner", "--exit-on-error", &file, "--dbname", &url];
    run(other.program("pg_restore"), &options);
    fs::write(
        place.root().join("daybook.toml"),
        format!("store = \"{url}\"\n"),
    )
    .unwrap();
    // Another machine, which has no files yet.
    for folder in ["users", "projects"] {
        fs::remove_dir_all(place.root().join(folder)).unwrap();
    }
    assert_eq!(command_outputs(&place)[0], before[0]);
    assert_eq!(command_outputs(&place)[4], before[4]);
    place.stdout(&["remember", "life goes on"]);
    place.stdout(&["doctor"]);
}
