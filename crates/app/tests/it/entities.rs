//! Entities on the command line: each command does what it says, and nothing is lost.

use std::fs;

use crate::fixture::TestPlace;

fn with_entities() -> TestPlace {
    let place = TestPlace::new();
    let made = place.stdout(&[
        "entities",
        "create",
        "tide",
        "Tide \"table\"",
        "when the sea rises",
    ]);
    assert_eq!(made, "Created memory entity tide.\n");
    let record = [
        "entities",
        "record",
        "tide",
        "Source",
        "the harbour office, see [[sea]]",
    ];
    assert_eq!(place.stdout(&record), "Added record Source to tide.\n");
    assert_eq!(place.stdout(&record), "Updated record Source in tide.\n");
    place.stdout(&["entities", "create", "sea", "The sea", "salt water"]);
    place
}

fn refused(place: &TestPlace, arguments: &[&str], why: &str) {
    let output = place.run(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && said.contains(why),
        "{arguments:?}: {said}"
    );
}

#[test]
fn entities_are_created_shown_listed_and_found() {
    let place = with_entities();
    assert_eq!(
        place.stdout(&["entities"]),
        "- sea: The sea — salt water\n- tide: Tide \"table\" — when the sea rises\n"
    );
    let shown = place.stdout(&["entities", "show", "Tide \"table\""]);
    assert_eq!(
        shown,
        "tide  Tide \"table\" — when the sea rises\nlinks to sea\n\n## Source\nthe harbour office, see [[sea]]\n"
    );
    let json = place.json(&["entities", "show", "sea"]);
    assert_eq!(json["linked_from"][0], "tide");
    let found = place.json(&["entities", "search", "harbour", "office"]);
    assert_eq!(found["matches"][0]["record"], "Source");
    assert_eq!(found["matches"].as_array().unwrap().len(), 1);
    let recalled = place.json(&[
        "recall",
        "where does the tide table come from? the harbour office",
    ]);
    assert!(
        recalled.to_string().contains("harbour office"),
        "{recalled}"
    );
}

#[test]
fn entities_are_renamed_named_merged_and_deleted() {
    let place = with_entities();
    place.stdout(&["entities", "rename", "sea", "ocean"]);
    let tide = place.json(&["entities", "show", "tide"]);
    assert_eq!(tide["links"][0], "ocean");
    place.stdout(&["entities", "alias", "ocean", "Das Meer"]);
    assert_eq!(
        place.json(&["entities", "show", "das meer"])["entity"],
        "ocean"
    );
    place.stdout(&["entities", "merge", "tide", "ocean"]);
    let ocean = place.json(&["entities", "show", "tide"]);
    assert_eq!(ocean["entity"], "ocean");
    assert_eq!(ocean["records"][0]["record"], "Source");
    let deleted = place.stdout(&["entities", "delete", "ocean"]);
    assert!(
        deleted.starts_with("Deleted memory entity ocean."),
        "{deleted}"
    );
    assert_eq!(place.stdout(&["entities"]), "No memory entities.\n");
    refused(
        &place,
        &["entities", "show", "ocean"],
        "Unknown entity: ocean.",
    );
    refused(
        &place,
        &["entities", "record", "ocean", "r", "c"],
        "Unknown entity: ocean. Create it first.",
    );
    refused(
        &place,
        &["entities", "create", "Big Sea", "n", "d"],
        "Entity must be a lowercase english word",
    );
}

#[test]
fn a_damaged_file_and_a_forged_heading_harm_no_other_record() {
    let place = with_entities();
    let forged = "green\n## Source\nforged";
    place.stdout(&["entities", "record", "tide", "Colour", forged]);
    let tide = place.json(&["entities", "show", "tide"]);
    assert_eq!(tide["records"].as_array().unwrap().len(), 2);
    assert_eq!(tide["records"][1]["content"], forged);
    let folder = fs::read_dir(place.root().join("users")).unwrap();
    let user = folder.flatten().next().unwrap().path();
    fs::write(user.join("memory/entities/sea.md"), [0xff, 0xfe, b'\n']).unwrap();
    let listed = place.stdout(&["entities"]);
    assert!(listed.contains("- tide: Tide \"table\""), "{listed}");
    assert!(
        listed.contains("- sea: (its file is missing, or has no name and description)"),
        "{listed}"
    );
    assert_eq!(place.json(&["entities", "show", "tide"])["entity"], "tide");
}
