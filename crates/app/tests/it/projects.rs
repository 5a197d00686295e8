//! Joining and renaming projects: what was learned moves, and nothing that a person wrote is lost.

use std::fs;
use std::path::Path;

use crate::fixture::{TestPlace, TestSession, teaching_session};

fn other(n: u32) -> TestSession {
    TestSession::new(n)
        .human("we decided to serve the harbour charts from a second host, please never cache them")
        .agent("Done: the charts come from the second host.")
        .human("always name the harbour in the log line")
        .in_folder(Path::new("/nowhere/ada/harbour"), "charts")
}

fn two_projects() -> TestPlace {
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    place.write("b.jsonl", &other(2).text());
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder]);
    place
}

fn curated(place: &TestPlace, project: &str) -> String {
    let path = place
        .root()
        .join("projects")
        .join(project)
        .join("memory/MEMORY.md");
    fs::read_to_string(path).unwrap_or_default()
}

fn keys(place: &TestPlace) -> Vec<String> {
    let known = place.json(&["projects", "list"]);
    let keys = known["projects"].as_object().unwrap().keys();
    keys.cloned().collect()
}

#[test]
fn projects_are_listed_with_their_checkouts_and_branches() {
    let place = two_projects();
    let said = place.stdout(&["projects"]);
    assert!(
        said.contains("harbour  1 checkout, 1 of them gone · 1 branch"),
        "{said}"
    );
    assert_eq!(keys(&place), ["harbour", "tidepool"]);
}

#[test]
fn a_merged_project_brings_what_was_learned_and_a_persons_own_words() {
    let place = two_projects();
    let folder = place.root().join("projects/harbour/memory");
    let mut text = curated(&place, "harbour");
    text.push_str("- ada's own line about the pilot boat\n");
    fs::write(folder.join("MEMORY.md"), text).unwrap();
    fs::create_dir_all(folder.join("topics")).unwrap();
    fs::write(folder.join("topics/pilots.md"), "# Pilots\n").unwrap();

    let said = place.stdout(&["projects", "merge", "harbour", "tidepool"]);
    assert!(
        said.starts_with("harbour is tidepool now: 1 checkout moved."),
        "{said}"
    );
    let joined = curated(&place, "tidepool");
    for words in ["always write the test first", "always name the harbour"] {
        assert!(joined.contains(words), "{words} is missing from {joined}");
    }
    assert_eq!(joined.matches("own line about the pilot boat").count(), 1);
    let topics = place
        .root()
        .join("projects/tidepool/memory/topics/harbour-pilots.md");
    assert_eq!(fs::read_to_string(topics).unwrap(), "# Pilots\n");
    assert!(place.root().join("joined/harbour-1/.git").is_dir());
    assert!(!folder.exists(), "the old files are still in the way");
    assert_eq!(keys(&place), ["tidepool"]);

    let found = place.json(&["recall", "what must the log line name?"]);
    assert_eq!(found["results"][0]["scope"], "project/tidepool", "{found}");

    // What happens later in the old folder belongs to the joined project.
    place.write(
        "c.jsonl",
        &other(3)
            .human("always greet the pilot boat by radio")
            .text(),
    );
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder]);
    assert_eq!(keys(&place), ["tidepool"]);
    assert!(curated(&place, "tidepool").contains("greet the pilot boat"));
}

#[test]
fn a_renamed_project_keeps_everything_under_its_new_name() {
    let place = two_projects();
    place.stdout(&["projects", "rename", "harbour", "port"]);
    let text = curated(&place, "port");
    assert!(text.starts_with("# port — what we know"), "{text}");
    assert!(text.contains("always name the harbour"), "{text}");
    assert_eq!(keys(&place), ["port", "tidepool"]);
    let told = place.stdout(&["context", "--project", "port"]);
    assert!(told.contains("always name the harbour"), "{told}");
}

#[test]
fn what_cannot_be_joined_is_said_and_changes_nothing() {
    let place = two_projects();
    let before = place.memory();
    for (arguments, why) in [
        (
            ["projects", "merge", "nothing", "tidepool"],
            "no project nothing",
        ),
        (
            ["projects", "merge", "tidepool", "nothing"],
            "there are: harbour, tidepool",
        ),
        (
            ["projects", "merge", "tidepool", "tidepool"],
            "that project already",
        ),
        (
            ["projects", "rename", "harbour", "tidepool"],
            "projects merge harbour tidepool",
        ),
        (["projects", "rename", "harbour", "../up"], "not a name"),
    ] {
        let output = place.run(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains(why),
            "{arguments:?}: {said}"
        );
    }
    assert_eq!(place.memory(), before);
}

#[test]
fn a_checkout_that_was_split_off_has_a_project_of_its_own() {
    let place = two_projects();
    place.stdout(&["projects", "merge", "harbour", "tidepool"]);
    let said = place.stdout(&["projects", "split", "tidepool", "/nowhere/ada/harbour"]);
    assert!(
        said.starts_with("1 checkout of tidepool belongs to harbour now."),
        "{said}"
    );
    assert!(said.contains("projects merge harbour tidepool"), "{said}");
    assert_eq!(keys(&place), ["harbour", "tidepool"]);
    assert!(curated(&place, "harbour").contains("always name the harbour"));
    assert!(!curated(&place, "tidepool").contains("always name the harbour"));
    for (arguments, why) in [
        (vec!["tidepool", "/elsewhere"], "no checkout of tidepool"),
        (
            vec!["tidepool", "/nowhere/ada/harbour", "--as", "harbour"],
            "already",
        ),
        (vec!["nothing", "/nowhere"], "no project nothing"),
        (
            vec!["harbour", "/nowhere/ada/harbour", "--as", "port"],
            "rename it instead",
        ),
    ] {
        let output = place.run(&[vec!["projects", "split"], arguments.clone()].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains(why),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn a_session_that_was_moved_takes_along_what_was_learned_from_it() {
    let place = two_projects();
    let session = format!("{:08x}", 2_u32.wrapping_mul(0x9e37_79b9));
    let said = place.stdout(&["sessions", "move", &session, "tidepool"]);
    assert!(said.contains("belongs to tidepool now."), "{said}");
    assert!(curated(&place, "tidepool").contains("always name the harbour"));
    assert!(!curated(&place, "harbour").contains("always name the harbour"));
    let said = place.stdout(&["projects"]);
    assert!(
        said.contains("(moved here from /nowhere/ada/harbour)"),
        "{said}"
    );
    let output = place.run(&["sessions", "move", &session, "nothing"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("there are: tidepool"), "{said}");
}
