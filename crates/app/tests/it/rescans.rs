//! What was stored under weaker rules is redacted by newer ones: rows, index, memory files and their history.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::fixture::TestPlace;

/// Rules that find codes of doors, which the standard rules leave alone.
const DOOR_CODE: &str = "[[rules]]\nid = \"door-code\"\nregex = 'DC-([0-9]{6})'\n";
/// A code that the engine stored, and one that a person wrote into a file of their own.
const STORED: &str = "481516";
const OWN: &str = "234215";

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => files.push(path),
            }
        }
    }
    files
}

/// The content of an object of git, for the path of its file.
fn object_at(path: &Path) -> Option<Vec<u8>> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent()?;
    let id = format!("{}{name}", folder.file_name()?.to_str()?);
    let git = folder.parent()?.parent()?;
    let repository = gix::open_opts(git, gix::open::Options::isolated().open_path_as_is(true));
    let object = repository
        .ok()?
        .find_object(id.parse::<gix::ObjectId>().ok()?)
        .ok()?
        .detach();
    Some(object.data)
}

/// The files below the data folder that hold a text, objects of git inflated.
fn files_with(place: &TestPlace, text: &str) -> Vec<PathBuf> {
    let holds = |bytes: &[u8]| {
        let mut windows = bytes.windows(text.len());
        windows.any(|window| window == text.as_bytes())
    };
    let mut found = files_below(&place.root());
    found.retain(|path| {
        let is_object = object_at(path).is_some_and(|object| holds(&object));
        is_object || holds(&fs::read(path).unwrap())
    });
    found
}

/// A memory with a code in its sessions, its notes, its pages, its history, and in a file of a person's own.
fn stored_under_weaker_rules() -> (TestPlace, PathBuf) {
    let place = TestPlace::new();
    let chat = json!([
        {"role": "user", "content": format!("Always use the code DC-{STORED} for the harbour's gate.")},
        {"role": "assistant", "content": format!("I will use DC-{STORED}.")},
        {"role": "user", "content": format!("The lamp's code is DC-{STORED}, remember that. Is it right?")},
    ]);
    let file = place.write("chat.json", &chat.to_string());
    place.stdout(&["import", &file.display().to_string()]);
    place.stdout(&["remember", &format!("the gate has the code DC-{STORED}")]);
    place.stdout(&["update"]);
    place.stdout(&["remember", "the harbour opens at nine"]);
    let memory = files_below(&place.root());
    let page = memory
        .iter()
        .find(|path| path.ends_with("memory/MEMORY.md"));
    let folder = page.expect("a page").parent().unwrap().to_owned();
    let own = folder.join("topics/mine.md");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(
        &own,
        format!("# Tides\n\nthe crane has the code DC-{OWN}\n"),
    )
    .unwrap();
    place.stdout(&["update"]);
    assert!(files_with(&place, STORED).len() > 3);
    (place, own)
}

#[test]
fn what_newer_rules_find_is_nowhere_in_the_data_folder() {
    let (place, own) = stored_under_weaker_rules();
    fs::write(place.root().join("redaction.toml"), DOOR_CODE).unwrap();
    place.stdout(&["update"]);
    assert_eq!(files_with(&place, STORED), [] as [PathBuf; 0]);
    // A second run has nothing to do, and nothing waits.
    let before = place.memory();
    place.stdout(&["update"]);
    assert_eq!(place.memory(), before);
    let jobs = place.json(&["jobs", "list", "--all"]);
    let rescans = jobs["jobs"].as_array().unwrap().iter();
    let rescans: Vec<_> = rescans
        .filter(|job| {
            job["job"]
                .as_str()
                .is_some_and(|name| name.starts_with("redact/"))
        })
        .collect();
    assert!(!rescans.is_empty(), "{jobs}");
    let recalled = place.json(&["recall", "gate code"]).to_string();
    assert!(recalled.contains("[REDACTED:door-code:"), "{recalled}");
    assert!(!recalled.contains(STORED));
    // What a person wrote stays theirs, and agents are shown a marker.
    let written = fs::read_to_string(&own).unwrap();
    assert!(written.contains(OWN), "{written}");
    let recalled = place.json(&["recall", "crane code"]).to_string();
    assert!(!recalled.contains(OWN), "{recalled}");
    let status = place.stdout(&["status", "--secrets"]);
    assert!(status.contains("mine.md:3  door-code"), "{status}");
    let doctor = place.run(&["doctor"]);
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(
        doctor.contains("line 3 holds a secret (door-code)"),
        "{doctor}"
    );
}

#[test]
fn a_secret_in_a_persons_own_words_is_masked_in_the_context() {
    let (place, own) = stored_under_weaker_rules();
    let page = own.parent().unwrap().parent().unwrap().join("MEMORY.md");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(
        &page,
        format!("{text}\n## Facts\n- my own code is DC-{OWN}\n"),
    )
    .unwrap();
    fs::write(place.root().join("redaction.toml"), DOOR_CODE).unwrap();
    place.stdout(&["update"]);
    let written = fs::read_to_string(&page).unwrap();
    assert!(written.contains(&format!("- my own code is DC-{OWN}")));
    assert!(!written.contains(STORED));
    let context = place.stdout(&["context"]);
    assert!(
        context.contains("my own code is DC-[REDACTED:door-code:"),
        "{context}"
    );
    assert!(!context.contains(OWN), "{context}");
}

#[test]
fn an_update_that_is_killed_is_finished_by_the_next() {
    let (place, _) = stored_under_weaker_rules();
    fs::write(place.root().join("redaction.toml"), DOOR_CODE).unwrap();
    for _ in 0..3 {
        let mut update: Command = place.daybook(&["update"]);
        let mut running = update.spawn().unwrap();
        // Whatever it has reached by now.
        running.kill().unwrap();
        running.wait().unwrap();
    }
    place.stdout(&["update"]);
    assert_eq!(files_with(&place, STORED), [] as [PathBuf; 0]);
}
