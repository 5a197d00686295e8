//! Archives: the whole memory in a form that others read, and made again from it byte for byte.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use daybook_testkit::postgres;
use serde_json::Value;

use crate::fixture::{TestPlace, daybook, teaching_session};

/// A memory with sessions, a person's words and edits, and something purged.
fn taught_place() -> TestPlace {
    let place = TestPlace::new();
    teach(&place);
    place
}

fn teach(place: &TestPlace) {
    for n in 1..4 {
        place.write(&format!("{n}.jsonl"), &teaching_session(n).text());
    }
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder]);
    place.stdout(&["remember", "the pilot boat leaves at nine"]);
    place.stdout(&["remember", "the harbour master is called Ada"]);
    place.stdout(&["purge", "--session", teaching_session(3).id(), "--yes"]);
}

fn exported(place: &TestPlace, name: &str, root: &Path) -> PathBuf {
    let file = place.home().join(name);
    let at = root.display().to_string();
    place.stdout(&["export", &file.display().to_string(), "--root", &at]);
    file
}

fn imported(place: &TestPlace, file: &Path, name: &str) -> PathBuf {
    let root = place.home().join(name);
    let at = root.display().to_string();
    place.stdout(&["import", &file.display().to_string(), "--root", &at]);
    root
}

/// The names of an archive's files, and the text of one of them.
fn entry(file: &Path, wanted: &str) -> (Vec<String>, String) {
    let mut names = Vec::new();
    let mut text = String::new();
    let mut tar = tar::Archive::new(fs::File::open(file).unwrap());
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        if name == wanted {
            entry.read_to_string(&mut text).unwrap();
        }
        names.push(name);
    }
    (names, text)
}

#[test]
fn a_memory_made_from_an_archive_gives_the_same_archive() {
    let place = taught_place();
    let first = exported(&place, "first.tar", &place.root());
    let elsewhere = imported(&place, &first, "elsewhere");
    let second = exported(&place, "second.tar", &elsewhere);
    assert!(
        fs::read(&first).unwrap() == fs::read(&second).unwrap(),
        "the bytes differ: {} {}",
        first.display(),
        second.display()
    );
    let (names, events) = entry(&first, "rows/events.jsonl");
    assert!(
        names.iter().any(|name| name.ends_with("/MEMORY.md")),
        "{names:?}"
    );
    assert!(!names.iter().any(|name| name == "daybook.toml"));
    let told = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert!(told.filter(|event| event["origin"] == "human").count() > 3);
}

#[test]
fn a_memory_made_from_an_archive_answers_and_goes_on() {
    let place = taught_place();
    let file = exported(&place, "all.tar", &place.root());
    let root = imported(&place, &file, "elsewhere").display().to_string();
    let here = |command: &[&str]| place.json(command);
    let there = |command: &[&str]| {
        let mut all = command.to_vec();
        all.extend(["--root", &root]);
        place.json(&all)
    };
    let scope = here(&["list", "--query", "pilot boat"])["memories"][0]["scope"].clone();
    let scope = scope.as_str().unwrap().to_owned();
    for command in [
        &["sessions"][..],
        &["list"],
        &["recall", "when does the pilot boat leave"],
        &["recall", "cache limit"],
        &["history", "--scope", &scope],
    ] {
        assert_eq!(there(command), here(command), "{command:?}");
    }
    // What was imported is known, and what was purged stays away.
    let again = there(&["import", &place.transcripts().display().to_string()]);
    assert_eq!(again["events"], 0);
    assert_eq!(there(&["sessions"]), here(&["sessions"]));
    // Its own lines are its own: a new state of a memory replaces the old one.
    let id = there(&["list", "--query", "pilot boat"])["memories"][0]["id"].clone();
    there(&[
        "edit",
        id.as_str().unwrap(),
        "the pilot boat leaves at ten",
        "--scope",
        &scope,
    ]);
    let answer = there(&["recall", "when does the pilot boat leave"]).to_string();
    assert!(
        answer.contains("at ten") && !answer.contains("at nine"),
        "{answer}"
    );
    place.stdout(&["doctor", "--root", &root]);
}

#[test]
fn a_damaged_archive_is_refused_whole() {
    let place = taught_place();
    let file = exported(&place, "all.tar", &place.root());
    let whole = fs::read(&file).unwrap();
    let root = place.home().join("elsewhere");
    let refused = |bytes: &[u8], says: &str| {
        fs::write(&file, bytes).unwrap();
        let arguments = ["import", &file.display().to_string()];
        let output = daybook(&root, place.home(), &arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(says), "{said}");
        let left = fs::read_dir(&root).map_or(0, Iterator::count);
        assert_eq!(left, 0, "something is left");
    };
    let place_of = |words: &[u8]| {
        let mut windows = whole.windows(words.len());
        windows
            .position(|part| part == words)
            .expect("text is readable")
    };
    let changed = |at: usize, by: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at..at + by.len()].copy_from_slice(by);
        bytes
    };
    refused(
        &changed(place_of(b"pilot boat leaves"), b"q"),
        "is not what was written",
    );
    refused(&whole[..whole.len() / 2], "cannot be imported");
    let manifest = place_of(b"\"form\": 1");
    refused(&changed(manifest, b"\"form\": 9"), "update daybook");
    // A file that leads out of the folder.
    let mut more = tar::Builder::new(whole[..whole.len() - 1024].to_vec());
    let mut header = tar::Header::new_gnu();
    header.set_size(4);
    header.as_mut_bytes()[..10].copy_from_slice(b"../outside");
    header.set_cksum();
    more.append(&header, &b"evil"[..]).unwrap();
    refused(&more.into_inner().unwrap(), "leads out of the data folder");
    assert!(!place.home().join("outside").exists());
}

#[test]
fn an_archive_is_imported_alone_and_into_an_empty_folder() {
    let place = taught_place();
    let file = exported(&place, "all.tar", &place.root())
        .display()
        .to_string();
    let fails = |arguments: &[&str], says: &str| {
        let output = place.run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(says), "{said}");
    };
    let before = place.json(&["list"]);
    fails(&["import", &file], "is not empty");
    assert_eq!(place.json(&["list"]), before);
    let transcripts = place.transcripts().display().to_string();
    fails(&["import", &file, &transcripts], "import it alone");
    fails(&["import", &file, "--since", "30d"], "import it alone");
    fails(
        &["import", &transcripts, "--tombstones", &file],
        "goes with an archive",
    );
    fails(&["export", &file], "exists already");
    let dry = place.json(&["import", &file, "--dry-run"]);
    assert!(dry["events"].as_u64().unwrap() > 10 && dry["memory_files"] != 0);
    assert_eq!(place.json(&["list"]), before);
}

/// What was purged after the archive was written is taken out again, where the tombstones are at hand.
#[test]
fn tombstones_are_applied_to_an_older_archive() {
    let place = taught_place();
    let file = exported(&place, "all.tar", &place.root());
    place.stdout(&["purge", "--session", teaching_session(2).id(), "--yes"]);
    let tombstones = place.root().join("purged/tombstones").display().to_string();
    let root = place.home().join("elsewhere").display().to_string();
    let said = place.stdout(&[
        "import",
        &file.display().to_string(),
        "--tombstones",
        &tombstones,
        "--root",
        &root,
    ]);
    assert!(said.contains("Purged again"), "{said}");
    let sessions = place.json(&["sessions", "--root", &root]).to_string();
    assert!(sessions.contains(teaching_session(1).id()));
    assert!(!sessions.contains(teaching_session(2).id()));
}

#[test]
fn an_archive_of_a_memory_on_a_server_is_made_again_in_a_folder() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let place = TestPlace::sharing(&database.address());
    teach(&place);
    let file = exported(&place, "all.tar", &place.root());
    let root = place.home().join("elsewhere").display().to_string();
    let path = file.display().to_string();
    place.stdout(&["import", &path, "--root", &root, "--set", "store=sqlite"]);
    let question = "when does the pilot boat leave";
    let there = ["recall", question, "--root", &root, "--set", "store=sqlite"];
    let texts = |answer: Value| {
        let results = answer["results"].as_array().unwrap().clone();
        let texts = results.iter().map(|one| one["text"].clone());
        texts.collect::<Vec<_>>()
    };
    assert_eq!(
        texts(place.json(&there)),
        texts(place.json(&["recall", question]))
    );
}
