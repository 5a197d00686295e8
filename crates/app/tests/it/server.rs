//! Memory on a PostgreSQL server that several machines share: each has a data folder of its own.

use std::fs;
use std::os::unix::fs::DirBuilderExt;

use daybook_testkit::postgres::{self, TestDatabase};
use serde_json::json;

use crate::fixture::TestPlace;

const PAGE: &str = "projects/ada-tidepool/memory/MEMORY.md";

/// A machine whose settings name the database.
fn machine(database: &TestDatabase) -> TestPlace {
    let place = TestPlace::new();
    let private = fs::DirBuilder::new().mode(0o700).create(place.root());
    private.expect("a folder");
    let settings = format!("store = \"{}\"\nperson = \"ada\"\n", database.url());
    fs::write(place.root().join("daybook.toml"), settings).expect("a file");
    place
}

fn read(place: &TestPlace, file: &str) -> String {
    fs::read_to_string(place.root().join(file)).unwrap_or_default()
}

#[test]
fn what_one_machine_took_in_another_one_recalls_reads_and_edits() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let (here, there) = (machine(&database), machine(&database));
    let root = here.root().display().to_string();
    here.stdout(&["import", "--sample", "--root", &root]);
    let question = ["recall", "what is the limit of the cache"];
    assert_eq!(here.json(&question), there.json(&question));
    assert!(!there.root().join("daybook.db").exists());

    there.stdout(&["checkout"]);
    assert_eq!(read(&here, PAGE), read(&there, PAGE));
    assert!(read(&here, PAGE).contains("cache"));
    assert!(there.stdout(&["checkout"]).contains("up to date"));

    let edited = format!("{}\nAda wrote this by hand.\n", read(&there, PAGE));
    fs::write(there.root().join(PAGE), edited).expect("a file");
    let handed_over = there.json(&["checkin"]);
    assert_eq!(handed_over[0]["scope"], json!("project/ada-tidepool"));
    assert!(there.stdout(&["checkin"]).contains("Nothing was edited"));
    here.stdout(&[
        "remember",
        "--scope",
        "project/ada-tidepool",
        "Tides are read hourly.",
    ]);
    here.stdout(&["update", "--all"]);
    for place in [&here, &there] {
        place.stdout(&["checkout"]);
        let page = read(place, PAGE);
        assert!(
            page.contains("by hand") && page.contains("hourly"),
            "{page}"
        );
    }
    assert_eq!(read(&here, PAGE), read(&there, PAGE));
    let found = here.stdout(&["recall", "what did ada write by hand"]);
    assert!(found.contains("by hand"), "{found}");
    here.stdout(&["doctor"]);
}

#[test]
fn a_server_that_is_not_there_is_named_without_its_password() {
    let place = TestPlace::new();
    let store = "postgres://ada:secret@127.0.0.1:1/daybook";
    let output = place.run(&["status", "--store", store]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("postgres://ada:…@127.0.0.1:1/daybook"),
        "{said}"
    );
    assert!(!said.contains("secret"), "{said}");
}

#[test]
fn a_ledger_of_one_machine_and_a_memory_of_several_contradict_each_other() {
    let place = TestPlace::new();
    let arguments = [
        "status",
        "--store",
        "postgres://ada@db/daybook",
        "--set",
        "ledger=json",
    ];
    let output = place.run(&arguments);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("ledger"), "{said}");
}

#[test]
fn folders_of_one_machine_alone_need_no_checkout() {
    let place = TestPlace::new();
    place.stdout(&["remember", "Deploys happen on Tuesdays."]);
    for command in ["checkout", "checkin"] {
        let output = place.run(&[command]);
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("git repositories already"), "{said}");
    }
}
