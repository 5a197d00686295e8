//! What was purged stays gone, whatever is brought back: transcripts, states, backups, copies of the database.

use std::fs;

use crate::fixture::TestPlace;
use crate::purge::{check_gone, label_of, late_marker, marked_place, marker, scope_of};

/// Purges session 1 of three, and returns its words.
fn purge_one(place: &TestPlace) -> [String; 2] {
    let label = label_of(place, 1, &place.json(&["sessions"]));
    place.stdout(&["purge", "--session", &label, "--yes"]);
    let texts = [marker(1), late_marker(1)];
    check_gone(&place.root(), &texts);
    texts
}

/// The other sessions are remembered.
#[track_caller]
fn check_rest(place: &TestPlace) {
    for nth in [0, 2] {
        let answer = place.json(&["recall", &marker(nth)]).to_string();
        assert!(answer.contains(&marker(nth)), "{answer}");
    }
}

fn import(place: &TestPlace) {
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    place.stdout(&["update"]);
}

#[test]
fn a_reimport_an_undo_and_an_older_state_bring_back_nothing_of_a_purge() {
    let place = marked_place(3, 1);
    let scope = scope_of(&place, 0, 1);
    let remembered = place.json(&["list", "--scope", &scope, "--query", &late_marker(0)]);
    let id = remembered["memories"][0]["id"].as_str().unwrap().to_owned();
    place.stdout(&["forget", &id]);
    let texts = purge_one(&place);
    import(&place);
    check_gone(&place.root(), &texts);

    // The newest change that can be taken back is the person's.
    place.stdout(&["undo", "--scope", &scope]);
    place.stdout(&["update"]);
    check_gone(&place.root(), &texts);
    let again = place.json(&["list", "--scope", &scope, "--query", &late_marker(0)]);
    assert!(again.to_string().contains(&late_marker(0)), "{again}");

    let history = place.json(&["history", "--scope", &scope]);
    let states = history["commits"].as_array().unwrap();
    assert!(states.len() > 1);
    for state in states {
        let id = state["id"].as_str().unwrap();
        place.stdout(&["restore", "--at", id, "--scope", &scope]);
        check_gone(&place.root(), &texts);
    }
    place.stdout(&[
        "restore",
        "--at",
        states[0]["id"].as_str().unwrap(),
        "--scope",
        &scope,
    ]);
    place.stdout(&["update"]);
    place.stdout(&["rebuild"]);
    place.stdout(&["update"]);
    check_gone(&place.root(), &texts);
    check_rest(&place);
}

#[test]
fn a_backup_from_before_a_purge_that_is_restored_into_the_same_root_lacks_what_was_purged() {
    let place = marked_place(3, 1);
    let backup = place.home().join("before.tar").display().to_string();
    place.stdout(&["backup", &backup]);
    let texts = purge_one(&place);
    let refused = place.run(&["restore", &backup]);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && message.contains("`purged`"),
        "{message}"
    );
    for entry in fs::read_dir(place.root()).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if path.ends_with("purged") => {}
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }
    let printed = place.stdout(&["restore", &backup]);
    assert!(printed.contains("Purged again"), "{printed}");
    assert!(!printed.contains("is not known here"), "{printed}");
    check_gone(&place.root(), &texts);
    import(&place);
    check_gone(&place.root(), &texts);
    check_rest(&place);
}

#[test]
fn an_older_copy_of_the_database_is_purged_by_the_next_command() {
    let place = marked_place(3, 1);
    let copy = place.home().join("older.db");
    fs::copy(place.root().join("daybook.db"), &copy).unwrap();
    let texts = purge_one(&place);
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(place.root().join(format!("daybook.db{suffix}")));
    }
    fs::copy(&copy, place.root().join("daybook.db")).unwrap();
    let answer = place.stdout(&["recall", &texts[0], "--json"]);
    assert!(
        !answer.contains(&format!("moor the {}", texts[0])),
        "{answer}"
    );
    check_gone(&place.root(), &texts);
    check_rest(&place);
}

#[test]
fn a_database_that_was_lost_and_made_again_knows_what_was_purged() {
    let place = marked_place(3, 1);
    let texts = purge_one(&place);
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(place.root().join(format!("daybook.db{suffix}")));
    }
    import(&place);
    check_gone(&place.root(), &texts);
    check_rest(&place);
}
