//! Moving a memory into a PostgreSQL database and back, and backing one up there.

use std::fs;
use std::process::{Child, Command, Stdio};

use daybook_testkit::postgres::{self, Database};
use serde_json::Value;

use crate::fixture::{Place, telling};

/// A place that has learned something.
fn taught() -> Place {
    let place = Place::new();
    place.write("a.jsonl", &telling(1).text());
    place.write("b.jsonl", &telling(2).text());
    let folder = place.transcripts().display().to_string();
    place.say(&["import", &folder]);
    place.say(&["remember", "the pilot boat leaves at nine"]);
    fs::write(
        place.root().join("daybook.toml"),
        "# ada's own\nidle = \"3m\"  # rests\n",
    )
    .unwrap();
    place
}

/// All that commands tell of a memory.
fn seen(place: &Place) -> Vec<Value> {
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

/// Where the histories of memory files stand.
fn heads(place: &Place) -> Vec<Value> {
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

fn setting(place: &Place) -> String {
    fs::read_to_string(place.root().join("daybook.toml")).unwrap()
}

fn fails(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn there_and_back_changes_nothing_that_can_be_seen() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let place = taught();
    let (before, files) = (seen(&place), place.memory());
    assert!(before.len() > 7, "no history: {before:?}");
    let there = place.json(&["move-store", &database.url()]);
    assert_eq!(
        setting(&place),
        format!(
            "# ada's own\nidle = \"3m\"  # rests\nstore = \"{}\"\n",
            database.url()
        )
    );
    assert_eq!(seen(&place), before);
    assert_eq!(place.memory(), files);
    let refused = fails(&place, &["--store", "sqlite", "remember", "to the old one"]);
    assert!(refused.contains("was moved to postgres://"), "{refused}");

    let back = place.json(&["move-store", "sqlite"]);
    assert_eq!(there["tables"], back["tables"]);
    assert_eq!(there["folders"], back["folders"]);
    assert!(setting(&place).ends_with("store = \"sqlite\"\n"));
    assert_eq!(seen(&place), before);
    assert_eq!(place.memory(), files);
    assert!(place.root().join("daybook.db.moved-1").is_file());
    place.say(&["doctor"]);
    place.say(&["remember", "life goes on"]);

    let again = fails(&place, &["move-store", &database.url()]);
    assert!(again.contains("holds another memory"), "{again}");
}

#[test]
fn another_memory_is_not_mixed_in_and_flags_are_left_to_their_owner() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let url = database.url();
    let other = taught();
    let said = other.say(&["move-store", &url, "--store", "sqlite"]);
    assert!(said.contains("write --store postgres://"), "{said}");
    assert!(
        !setting(&other).contains("store"),
        "a flag is not written down"
    );

    let place = taught();
    let before = seen(&place);
    let refused = fails(&place, &["move-store", &url]);
    assert!(refused.contains("holds another memory"), "{refused}");
    assert_eq!(seen(&place), before);
    let refused = fails(&place, &["move-store", "sqlite"]);
    assert!(refused.contains("in sqlite already"), "{refused}");
    let refused = fails(&place, &["move-store", &url, "--set", "ledger=json"]);
    assert!(refused.contains("ledger"), "{refused}");
}

#[test]
fn a_move_that_was_broken_off_goes_on() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let place = taught();
    let mut before = seen(&place);
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
        before = seen(&place);
    }
    if !setting(&place).contains("postgres") {
        place.say(&["move-store", &database.url()]);
    }
    assert_eq!(seen(&place), before);
    assert!(!note.exists());
}

/// The program as docs/operating.md says to run it.
fn run(mut program: Command, arguments: &[&str]) {
    let output = program
        .env("PGOPTIONS", "-c daybook.tenants=all")
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?}: {said}");
}

fn dump(database: &Database, file: &str) {
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
    let place = taught();
    place.say(&["move-store", &database.url()]);
    let before = seen(&place);
    let refused = fails(&place, &["backup", "all.tar"]);
    assert!(
        refused.contains("pg_dump --enable-row-security"),
        "{refused}"
    );
    let file = place.home().join("daybook.dump").display().to_string();
    dump(&database, &file);
    place.say(&["remember", "said after the dump"]);
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
    assert_eq!(seen(&place)[0], before[0]);
    assert_eq!(seen(&place)[4], before[4]);
    place.say(&["remember", "life goes on"]);
    place.say(&["doctor"]);
}
