//! Secrets in names: of folders, files and sessions. They are hidden, and everything is found by its name all the same.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::fixture::{TestPlace, TestSession, teaching_session};

/// Has the form of a real one.
fn secret(nth: u8) -> String {
    format!("gh{}_{}", 'p', format!("{nth}aB3dE5gH7jK9").repeat(3))
}

/// What `daybook` prints in a folder.
fn json_in(place: &TestPlace, folder: &Path, arguments: &[&str]) -> Value {
    let mut command = place.daybook(arguments);
    let output = command.arg("--json").current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn keys(place: &TestPlace) -> Vec<String> {
    let known = place.json(&["projects", "list"]);
    let keys = known["projects"].as_object().unwrap().keys();
    keys.cloned().collect()
}

/// Everything below a folder that holds one of the first secrets.
fn files_with_secrets(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with_secrets(&path));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let text = format!("{} {}", path.display(), String::from_utf8_lossy(&bytes));
        if (0..4).any(|nth| text.contains(&secret(nth))) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn sessions_of_one_folder_stay_in_one_project_and_the_folder_finds_it() {
    let place = TestPlace::new();
    let [one, other] = [0, 1].map(|nth| place.home().join(secret(nth)).join("harbour"));
    for folder in [&one, &other] {
        fs::create_dir_all(folder).unwrap();
    }
    let text = |n, folder: &Path| teaching_session(n).in_folder(folder, &secret(2)).text();
    place.write("a.jsonl", &text(1, &one));
    place.write("b.jsonl", &text(2, &one));
    place.write("c.jsonl", &text(3, &other));
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder]);
    place.stdout(&["import", &folder]);
    let known = keys(&place);
    assert_eq!(known.len(), 2, "two folders are two projects: {known:?}");
    let scope =
        |folder| json_in(&place, folder, &["remember", "the pilot boat is red"])["scope"].clone();
    let [first, second] = [&one, &other].map(|folder| scope(folder));
    assert_ne!(first, second);
    for scope in [&first, &second] {
        let key = scope.as_str().unwrap().strip_prefix("project/").unwrap();
        assert!(known.iter().any(|known| known == key), "{key} of {known:?}");
    }
    assert_eq!(scope(&one), first);
    assert_eq!(files_with_secrets(&place.root()), [""; 0]);
}

#[test]
fn a_checkout_below_a_secret_belongs_to_the_project_of_its_remote() {
    let place = TestPlace::new();
    let hidden = place.checkout(&format!("{}/tidepool", secret(0)), "main");
    let plain = place.checkout("plain", "main");
    place.write(
        "a.jsonl",
        &teaching_session(1).in_folder(&hidden, "main").text(),
    );
    place.write(
        "b.jsonl",
        &teaching_session(2).in_folder(&plain, "main").text(),
    );
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    let known = keys(&place);
    assert_eq!(
        known.len(),
        1,
        "both are checkouts of one repository: {known:?}"
    );
    assert_eq!(files_with_secrets(&place.root()), [""; 0]);
}

#[test]
fn a_transcript_with_a_secret_in_its_path_is_read_further_by_imports_and_hooks() {
    let place = TestPlace::new();
    let folder = place.transcripts().join(secret(0));
    fs::create_dir(&folder).unwrap();
    let path = folder.join(format!("{}.jsonl", secret(1)));
    let at = Path::new("/nowhere/ada").join(secret(2));
    let session = TestSession::new(1).human("we moor at nine");
    fs::write(&path, session.clone().in_folder(&at, "main").text()).unwrap();
    let import = || place.json(&["import", &place.transcripts().display().to_string()]);
    let added = |report: &Value| report["files"][0]["added"].clone();
    assert_eq!(added(&import()), 1);
    assert_eq!(added(&import()), 0);

    let session = session.agent("Noted.");
    fs::write(&path, session.clone().in_folder(&at, "main").text()).unwrap();
    assert_eq!(added(&import()), 1);

    let session = session.human("and never at ten");
    fs::write(&path, session.clone().in_folder(&at, "main").text()).unwrap();
    let payload = json!({
        "hook_event_name": "Stop", "session_id": session.id(), "cwd": at, "transcript_path": path,
    });
    place.hook("claude-code", &payload.to_string());
    assert_eq!(files_with_secrets(&place.root()), [""; 0]);
    let said = place.stdout(&["update"]);
    assert!(
        said.contains("1 hook event processed, 1 event added."),
        "{said}"
    );
    assert_eq!(added(&import()), 0);
    assert_eq!(files_with_secrets(&place.root()), [""; 0]);
}
