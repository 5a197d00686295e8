//! Shared histories that lack objects, here or on the server.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use daybook_testkit::postgres;

use super::histories;
use crate::fixture::TestPlace;

/// The one memory folder of a place.
fn folder(place: &TestPlace) -> PathBuf {
    let all = fs::read_dir(place.root().join("users")).expect("a folder");
    let user = all.map(|user| user.expect("an entry").path()).next();
    user.expect("there is one user").join("memory")
}

#[test]
fn doctor_finds_what_a_shared_history_lacks_and_checkin_mends_it() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let [here, there] = [(); 2].map(|()| TestPlace::sharing(&database.address()));
    here.stdout(&["remember", "Deploys happen on Tuesdays."]);
    here.stdout(&["update", "--all"]);
    here.stdout(&["remember", "Backups are taken at night."]);
    here.stdout(&["update", "--all"]);
    there.stdout(&["checkout"]);
    assert_eq!(histories(&here), histories(&there));
    assert!(there.stdout(&["doctor"]).contains("shared histories"));

    let mut git = Command::new("git");
    git.arg("-C").arg(folder(&there));
    let oldest = git.args(["rev-list", "--max-parents=0", "HEAD"]).output();
    let oldest = String::from_utf8(oldest.expect("git is installed").stdout).expect("a name");
    let (first, rest) = oldest.trim().split_at(2);
    fs::remove_file(folder(&there).join(".git/objects").join(first).join(rest))
        .expect("it is there");
    let _ = database.ask("DELETE FROM tree_objects WHERE nth = 1");

    let doctor = there.run(&["doctor"]);
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(!doctor.status.success(), "{said}");
    assert!(
        said.contains("1 object of its history is missing"),
        "{said}"
    );
    assert!(said.contains("checkin --repair"), "{said}");
    there.stdout(&["checkin", "--repair"]);
    there.stdout(&["doctor"]);
    here.stdout(&["doctor"]);
    assert_eq!(histories(&here), histories(&there));
    assert_eq!(
        database.ask("SELECT count(*) FROM tree_objects WHERE nth = 1"),
        "0"
    );
}
