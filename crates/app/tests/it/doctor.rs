//! Damage of every kind: found by `doctor`, repaired by `doctor --repair`, and the same answers as before for
//! all that was sound.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::fixture::{TestPlace, TestSession, teaching_session};

/// The questions before and after the damage.
const QUESTIONS: [&str; 5] = [
    "file survives a restart",
    "push without asking",
    "cache of past days",
    "table of station 3",
    "harbour is deep",
];

fn database(place: &TestPlace) -> PathBuf {
    place.root().join("daybook.db")
}

fn memory_of(place: &TestPlace, scope: &str) -> PathBuf {
    place.root().join(scope).join("memory")
}

/// Three sessions, learned from, and a person's own page and line.
fn filled() -> TestPlace {
    let place = TestPlace::new();
    for n in 1..=3 {
        place.write(&format!("{n}.jsonl"), &teaching_session(n).text());
    }
    let transcripts = place.transcripts();
    place.stdout(&["import", transcripts.to_str().unwrap()]);
    place.stdout(&["update", "--all"]);
    let project = project(&place);
    fs::create_dir_all(project.join("topics")).unwrap();
    fs::write(
        project.join("topics/harbour.md"),
        "- the harbour is deep at night\n",
    )
    .unwrap();
    place.stdout(&["rebuild"]);
    place.stdout(&["doctor"]);
    place
}

fn project(place: &TestPlace) -> PathBuf {
    let projects = fs::read_dir(place.root().join("projects"))
        .unwrap()
        .flatten();
    let mut projects: Vec<PathBuf> = projects.map(|entry| entry.path().join("memory")).collect();
    assert_eq!(projects.len(), 1, "one project: {projects:?}");
    projects.remove(0)
}

/// The answers, without the times at which files were indexed.
fn answers(place: &TestPlace) -> Vec<Vec<(String, String, String)>> {
    let field = |answer: &Value, name: &str| answer[name].to_string();
    let ask = |question: &&str| {
        let found = place.json(&["recall", "--limit", "20", question]);
        let found = found["results"].as_array().cloned().expect("a list");
        let mut found: Vec<_> = found
            .iter()
            .map(|answer| {
                (
                    field(answer, "text"),
                    field(answer, "citation"),
                    field(answer, "layer"),
                )
            })
            .collect();
        found.sort();
        found
    };
    let answers: Vec<Vec<_>> = QUESTIONS.iter().map(ask).collect();
    assert!(
        answers.iter().any(|found| !found.is_empty()),
        "nothing is answered"
    );
    answers
}

/// The content of memory files, and the sessions.
fn state(place: &TestPlace) -> (Vec<(String, String)>, Value) {
    (place.memory(), place.json(&["sessions"]))
}

/// Findings that are not fine.
fn wrong(place: &TestPlace) -> Vec<Value> {
    let output = place.run(&["doctor", "--json"]);
    let findings: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let wrong: Vec<Value> = findings
        .as_array()
        .expect("a list")
        .iter()
        .filter(|finding| finding["fine"] == false)
        .cloned()
        .collect();
    assert_eq!(output.status.success(), wrong.is_empty(), "{wrong:?}");
    wrong
}

fn repair(place: &TestPlace) -> String {
    let output = place.run(&["doctor", "--repair", "--yes"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the repair failed:\n{text}\n{error}"
    );
    assert_eq!(wrong(place), Vec::<Value>::new());
    text
}

/// Changes bytes of every occurrence of `text` in the database: pages that are free may hold it, too.
fn damage(place: &TestPlace, text: &str, change: impl Fn(&mut [u8])) {
    let path = database(place);
    let mut bytes = fs::read(&path).unwrap();
    let places: Vec<usize> = (0..bytes.len() - text.len())
        .filter(|&at| bytes[at..].starts_with(text.as_bytes()))
        .collect();
    assert!(!places.is_empty(), "{text:?} stands nowhere");
    for at in places {
        change(&mut bytes[at..at + text.len()]);
    }
    fs::write(&path, bytes).unwrap();
}

fn flip(bytes: &mut [u8]) {
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x80;
}

#[test]
fn text_that_is_no_text_any_more_is_named_and_read_again_from_its_transcript() {
    let place = filled();
    let (before, asked) = (state(&place), answers(&place));
    damage(&place, "Step 7 of session 1 is done", flip);
    let found = wrong(&place);
    assert!(
        found.iter().any(|f| f["where"]
            .as_str()
            .is_some_and(|at| at.starts_with("events ") && at.ends_with(" text"))
            && f["repairable"] == true),
        "{found:?}"
    );
    place.stdout(&["status"]);
    place.stdout(&["import", place.transcripts().to_str().unwrap()]);
    let copies = |place: &TestPlace| {
        let entries = fs::read_dir(place.root()).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names
            .filter(|name| name.starts_with("repair-"))
            .collect::<Vec<_>>()
    };
    let planned = place.stdout(&["doctor", "--repair", "--dry-run"]);
    assert!(planned.contains("save every readable row"), "{planned}");
    assert_eq!(
        copies(&place),
        Vec::<String>::new(),
        "a dry run changes nothing"
    );

    let said = repair(&place);
    assert!(
        said.contains("1 event read again from transcripts"),
        "{said}"
    );
    assert!(
        place
            .root()
            .join(&copies(&place)[0])
            .join("daybook.db")
            .is_file()
    );
    assert_eq!(state(&place), before);
    assert_eq!(answers(&place), asked);
}

#[test]
fn what_no_transcript_holds_any_more_is_kept_as_far_as_it_can_be_read() {
    let place = filled();
    let asked = answers(&place);
    fs::remove_dir_all(place.transcripts()).unwrap();
    damage(&place, "Step 7 of session 1 is done", flip);
    let said = repair(&place);
    assert!(said.contains("kept in part: events "), "{said}");
    let left = place.stdout(&[
        "recall",
        "--limit",
        "50",
        "session 1 table of station 7 cached",
    ]);
    assert!(left.contains('\u{fffd}'), "{left}");
    // All but the one that is damaged, and what came up in its place.
    let sound = |answers: &[Vec<(String, String, String)>]| -> Vec<Vec<String>> {
        let sound = |list: &Vec<(String, String, String)>| {
            let cited = list.iter().map(|(_, cited, _)| cited.clone());
            cited.filter(|cited| !cited.contains("9e37:L24")).collect()
        };
        answers.iter().map(sound).collect()
    };
    let (left, asked) = (sound(&answers(&place)), sound(&asked));
    for (left, asked) in left.iter().zip(&asked).take(2) {
        let kept = asked.iter().filter(|cited| left.contains(cited)).count();
        assert!(kept + 1 >= asked.len(), "{left:?}: {asked:?}");
    }
}

#[test]
fn a_damaged_row_of_one_session_does_not_keep_the_others_from_being_listed() {
    let place = filled();
    let count = |place: &TestPlace| place.json(&["status"])["sessions"]["all"].as_u64();
    assert_eq!(count(&place), Some(3));
    let before = (state(&place), answers(&place));
    // Name, label and kind are adjacent in a session's row, and nowhere else.
    let id = teaching_session(2).id().to_owned();
    damage(&place, &format!("{id}{}root", &id[..4]), flip);
    assert_eq!(count(&place), Some(2));
    let status = place.stdout(&["status"]);
    assert!(status.contains("cannot be read and left out"), "{status}");
    assert_ne!(wrong(&place), Vec::<Value>::new());
    repair(&place);
    assert_eq!((state(&place), answers(&place)), before);
}

#[test]
fn a_destroyed_page_costs_no_answer_while_transcripts_are_there() {
    let place = filled();
    let (before, asked) = (state(&place), answers(&place));
    let path = database(&place);
    let mut bytes = fs::read(&path).unwrap();
    // The page that holds the text of an event.
    let text = b"the table of station 5 is cached";
    let at = bytes
        .windows(text.len())
        .position(|window| window == text)
        .expect("an event");
    let page = at / 4096 * 4096;
    bytes[page..page + 4096].fill(0);
    fs::write(&path, bytes).unwrap();
    assert_ne!(wrong(&place), Vec::<Value>::new());
    repair(&place);
    assert_eq!(answers(&place), asked);
    assert_eq!(state(&place), before);
}

#[test]
fn a_database_that_is_none_any_more_is_made_anew_and_memory_files_are_kept() {
    let place = filled();
    let files = place.memory();
    let mut bytes = fs::read(database(&place)).unwrap();
    bytes[..4096].fill(0xff);
    fs::write(database(&place), bytes).unwrap();
    assert_ne!(wrong(&place), Vec::<Value>::new());
    repair(&place);
    for (name, text) in files {
        let now = fs::read_to_string(place.root().join(&name)).unwrap();
        for line in text.lines().filter(|line| line.starts_with("- ")) {
            let words = line.split(" ^").next().unwrap_or(line);
            assert!(now.contains(words), "{name} lost {line}");
        }
    }
    let found = place.stdout(&["recall", "harbour deep"]);
    assert!(found.contains("the harbour is deep at night"), "{found}");
}

#[test]
fn an_empty_database_beside_memory_files_is_said_wherever_it_would_mislead() {
    let place = filled();
    fs::remove_file(database(&place)).unwrap();
    // With its record, the database would be made again.
    fs::remove_dir_all(place.root().join("record")).unwrap();
    let output = place.run(&["status"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && said.contains("no database"),
        "{said}"
    );
    assert_ne!(wrong(&place), Vec::<Value>::new());
    // What opens the folder to write makes an empty database.
    place.run(&["update", "--for", "1s"]);
    for command in [&["status"][..], &["recall", "harbour"]] {
        let output = place.run(command);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(
            said.contains("the database is empty beside memory files"),
            "{said}"
        );
    }
    repair(&place);
    let found = place.stdout(&["recall", "harbour deep"]);
    assert!(found.contains("the harbour is deep at night"), "{found}");
    let transcripts = place.transcripts();
    place.stdout(&["import", transcripts.to_str().unwrap()]);
    assert_eq!(wrong(&place), Vec::<Value>::new());
}

#[test]
fn a_folder_that_is_missing_with_its_history_is_damage_and_a_missing_file_is_a_persons_deletion() {
    let place = filled();
    let project = project(&place);
    let before = answers(&place);
    let curated = fs::read_to_string(project.join("MEMORY.md")).unwrap();
    fs::remove_file(project.join("topics/harbour.md")).unwrap();
    assert_eq!(
        wrong(&place),
        Vec::<Value>::new(),
        "a person may delete a file"
    );
    assert_ne!(answers(&place), before);

    fs::remove_dir_all(&project).unwrap();
    let missing = "missing together with its history";
    assert!(
        wrong(&place)
            .iter()
            .any(|f| f["says"].to_string().contains(missing))
    );
    let status = place.stdout(&["status"]);
    assert!(status.contains(missing), "{status}");
    let rebuilt = place.run(&["rebuild"]);
    assert!(!rebuilt.status.success(), "only a repair makes it again");
    assert!(!project.exists());
    let said = repair(&place);
    assert!(said.contains("its folder was made again"), "{said}");
    let made = fs::read_to_string(project.join("MEMORY.md")).unwrap();
    assert_eq!(made, curated);
}

#[test]
fn words_that_only_lived_in_a_lost_folder_are_said_to_be_lost_with_what_the_index_had() {
    let place = filled();
    fs::remove_dir_all(project(&place)).unwrap();
    let said = repair(&place);
    assert!(said.contains("that you wrote there are lost"), "{said}");
    let kept = said
        .split(" are in ")
        .nth(1)
        .and_then(|rest| rest.lines().next())
        .expect("a path");
    let kept = kept.replace('~', place.home().to_str().unwrap());
    let kept = fs::read_to_string(Path::new(&kept)).unwrap();
    assert!(kept.contains("the harbour is deep at night"), "{kept}");
}

#[test]
fn a_broken_history_begins_anew_and_no_file_changes() {
    let place = filled();
    let (before, asked) = (state(&place), answers(&place));
    let head = project(&place).join(".git/refs/heads/main");
    let id = fs::read_to_string(&head).unwrap();
    let (folder, name) = id.trim().split_at(2);
    let object = project(&place).join(".git/objects").join(folder).join(name);
    fs::remove_file(object).unwrap();
    assert!(wrong(&place).iter().any(|f| f["what"] == "history"));
    let said = repair(&place);
    assert!(
        said.contains("a new history was begun; the broken one is"),
        "{said}"
    );
    place.stdout(&["rebuild"]);
    assert_eq!(state(&place), before);
    assert_eq!(answers(&place), asked);
}

#[test]
fn a_failed_rebuild_leaves_every_answer() {
    let place = filled();
    damage(&place, "Step 11 of session 1 is done", flip);
    let asked = answers(&place);
    let output = place.run(&["rebuild"]);
    assert!(
        !output.status.success(),
        "it says that a session was not read"
    );
    assert_eq!(answers(&place), asked);
}

#[test]
fn a_data_folder_that_cannot_be_read_is_not_one_without_a_memory() {
    let place = TestPlace::new();
    fs::write(place.root(), "a file").unwrap();
    let output = place.run(&["status"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && said.contains("cannot be read"),
        "{said}"
    );
}

#[test]
fn everything_at_once_is_found_and_mended_and_what_was_sound_answers_as_before() {
    let place = filled();
    let (before, asked) = (state(&place), answers(&place));
    damage(&place, "the table of station 7 is cached", flip);
    damage(&place, "done: the table of station 8 is cached", flip);
    damage(&place, "the table of station 9 looks like", flip);
    let path = database(&place);
    let mut bytes = fs::read(&path).unwrap();
    let text = b"step 2 of session 3 is done";
    let find = |bytes: &[u8]| {
        bytes
            .windows(text.len())
            .position(|window| window.eq_ignore_ascii_case(text))
    };
    let page = find(&bytes).expect("an event") / 4096 * 4096;
    bytes[page..page + 4096].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    let user = memory_of(&place, "users/ada");
    if user.exists() {
        fs::remove_dir_all(&user).unwrap();
    }
    let object = fs::read_dir(project(&place).join(".git/objects"))
        .unwrap()
        .flatten()
        .find(|entry| entry.file_name().len() == 2)
        .expect("an object");
    fs::remove_dir_all(object.path()).unwrap();
    let bad = TestSession::new(77)
        .human("a session that breaks off")
        .text();
    place.write("bad.jsonl", &bad[..bad.len() / 2]);
    assert!(wrong(&place).len() >= 3);

    repair(&place);
    place.stdout(&["update"]);
    assert_eq!(answers(&place), asked);
    let lines = |files: &[(String, String)]| -> Vec<(String, String)> { files.to_vec() };
    assert_eq!(lines(&state(&place).0), lines(&before.0));
    assert_eq!(state(&place).1, before.1);
}

/// Offsets are drawn by a fixed rule, so that a failure is found again.
#[test]
fn whatever_byte_is_flipped_it_is_found_or_every_answer_is_as_before() {
    const FLIPS: u64 = 40;
    let place = filled();
    let (before, asked) = (state(&place), answers(&place));
    let sound = fs::read(database(&place)).unwrap();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut found = 0;
    for _ in 0..FLIPS {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(seed >> 33).unwrap() % sound.len();
        let mut bytes = sound.clone();
        bytes[at] ^= 0x80;
        fs::write(database(&place), &bytes).unwrap();
        let is_found = !place.run(&["doctor"]).status.success();
        found += u64::from(is_found);
        if !is_found {
            assert_eq!(answers(&place), asked, "byte {at}");
            assert_eq!(state(&place), before, "byte {at}");
        }
        for log in ["daybook.db-wal", "daybook.db-shm"] {
            let _ = fs::remove_file(place.root().join(log));
        }
    }
    fs::write(database(&place), &sound).unwrap();
    assert!(found > 0, "no flip hit anything that matters");
}
