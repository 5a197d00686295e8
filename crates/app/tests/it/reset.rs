//! A reset removes what was learned, and keeps what it was learned from.

use std::collections::BTreeMap;
use std::fs;

use crate::fixture::TestPlace;
use crate::purge::{check_gone, label_of, late_marker, marked_place, marker};

/// The number of rows of each table.
fn rows(place: &TestPlace, tables: &[&str]) -> BTreeMap<String, i64> {
    let database = rusqlite::Connection::open(place.root().join("daybook.db")).unwrap();
    let count = |table: &&str| {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows = database.query_row(&sql, [], |row| row.get(0)).unwrap();
        ((*table).to_owned(), rows)
    };
    tables.iter().map(count).collect()
}

/// How many jobs wait to write memory files, or have written some.
fn consolidations(place: &TestPlace) -> i64 {
    let database = rusqlite::Connection::open(place.root().join("daybook.db")).unwrap();
    let sql = "SELECT count(*) FROM jobs WHERE kind = 'consolidate'";
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Every session, with its switches and its events.
fn sessions(place: &TestPlace) -> Vec<String> {
    let database = rusqlite::Connection::open(place.root().join("daybook.db")).unwrap();
    let mut read = database
        .prepare(
            "SELECT host_id || ' ' || label || ' ' || switched_off || ' ' || kept_on || ' ' || events || ' ' ||
                (SELECT group_concat(text) FROM events WHERE events.session_no = sessions.session_no)
             FROM sessions ORDER BY session_no",
        )
        .unwrap();
    let rows = read.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn c48_and_c92_a_reset_removes_all_that_was_learned_and_keeps_sessions_with_their_switches() {
    let place = marked_place(3, 2);
    place.stdout(&["remember", "the lighthouse opens at nine"]);
    let label = label_of(&place, 2, &place.json(&["sessions"]));
    place.stdout(&["sessions", "--off", &label]);
    place.stdout(&["update"]);
    let (before, memory) = (sessions(&place), place.memory());
    assert!(!memory.is_empty());
    let shown = place.json(&["purge", "--learned", "--dry-run"]);
    assert!(shown["would_reset"]["observations"].as_u64().unwrap() > 4);
    assert_eq!(place.memory(), memory);

    let reset = place.json(&["purge", "--learned", "--yes"]);
    assert!(
        reset["reset"]["observations"].as_u64().unwrap() > 4,
        "{reset}"
    );
    let check_empty = || {
        assert_eq!(place.memory(), []);
        let learned = ["extractions", "observations", "evidence"];
        assert!(rows(&place, &learned).values().all(|rows| *rows == 0));
        assert_eq!(consolidations(&place), 0);
        assert_eq!(sessions(&place), before);
    };
    check_empty();
    assert!(place.root().join("users/ada/memory").is_dir());
    assert!(!place.root().join("users/ada/memory/.git").exists());
    // Only the log has the words.
    let history = place.root().join("projects");
    check_gone(&history, &[marker(0), late_marker(0)]);

    place.stdout(&["update", "--all"]);
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    place.stdout(&["doctor"]);
    check_empty();

    place.stdout(&["update", "--redo"]);
    let again: String = place.memory().into_iter().map(|(_, text)| text).collect();
    assert!(again.contains(&marker(0)) && again.contains(&marker(1)));
    // No session taught it: it was only kept.
    assert!(!again.contains("the lighthouse opens at nine"));
    assert!(!again.contains(&marker(2)), "the session is switched off");
    place.stdout(&["doctor"]);
}

#[cfg(unix)]
#[test]
fn c91_a_link_in_place_of_a_memory_folder_is_refused_and_its_target_is_untouched() {
    let place = marked_place(2, 1);
    let mut projects = fs::read_dir(place.root().join("projects")).unwrap();
    let folder = projects.next().unwrap().unwrap().path();
    let target = place.home().join("target");
    fs::rename(&folder, &target).unwrap();
    std::os::unix::fs::symlink(&target, &folder).unwrap();
    let kept = rows(&place, &["observations", "extractions"]);
    let output = place.run(&["purge", "--learned", "--yes"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && message.contains("is a link"),
        "{message}"
    );
    assert!(target.join("memory/MEMORY.md").exists());
    assert_eq!(rows(&place, &["observations", "extractions"]), kept);
    let projects = place.memory();
    assert!(
        projects
            .iter()
            .any(|(name, _)| name.starts_with("projects"))
    );
}

#[cfg(feature = "postgres")]
#[test]
fn a_memory_on_a_server_is_reset_and_learned_again() {
    let Some(database) = daybook_testkit::postgres::empty() else {
        return;
    };
    let place = TestPlace::sharing(&database.address());
    place.write(
        "a.jsonl",
        &crate::purge::marked_session(&place, 0, 1).text(),
    );
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    let before = place.memory();
    assert!(!before.is_empty());
    let reset = place.json(&["purge", "--learned", "--yes"]);
    assert_eq!(reset["reset"]["sessions"], 1);
    place.stdout(&["update", "--all"]);
    assert_eq!(place.memory(), []);
    let remembered = place.json(&["list"]);
    assert_eq!(remembered["memories"], serde_json::json!([]));
    place.stdout(&["update", "--redo"]);
    let names = |files: &[(String, String)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&place.memory()), names(&before));
    let file = place.home().join("ada.tar").display().to_string();
    let exported = place.json(&["export", &file, "--user", "ada"]);
    assert_eq!(exported["sessions"], 1);
    assert!(
        exported["observations"].as_u64().is_some_and(|all| all > 2),
        "{exported}"
    );
}
