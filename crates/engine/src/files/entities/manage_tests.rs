//! What a person does to entities loses nothing.

use super::super::{create, list, upsert};
use super::*;
use crate::files::folder_test_support::{TestFolder, lock, stamp};

/// The entities `tide` and `sea`, each with records.
fn two() -> TestFolder {
    let memory = TestFolder::new();
    let redactor = Redactor::standard();
    {
        let held = lock(&memory.folder);
        for (entity, name) in [("tide", "Tide table"), ("sea", "The \"sea\"")] {
            let card = Card {
                name: name.to_owned(),
                description: format!("about {entity}"),
            };
            create(&held, &stamp(), &redactor, entity, &card).unwrap();
        }
        for (entity, record, content) in [
            ("tide", "Source", "the harbour, see [[sea]] [7f78:L3]"),
            ("tide", "Owner", "ada"),
            ("sea", "Owner", "bob\n## and\nada"),
            ("sea", "Colour", "green"),
        ] {
            upsert(&held, &stamp(), &redactor, entity, record, content).unwrap();
        }
    }
    memory
}

fn words(memory: &TestFolder) -> Vec<String> {
    let listed = list(memory.folder.root(), 99);
    listed.into_iter().map(|listed| listed.entity).collect()
}

#[test]
fn an_entity_is_read_by_its_word_and_by_its_other_names() {
    let memory = two();
    add_alias(
        &lock(&memory.folder),
        &stamp(),
        &Redactor::standard(),
        ("tide", "Gezeiten"),
    )
    .unwrap();
    let tide = read(memory.folder.root(), "tide").unwrap();
    assert_eq!(tide.aliases, ["Gezeiten"]);
    assert_eq!(tide.links, ["sea"]);
    assert_eq!(tide.records[1], ("Owner".to_owned(), "ada".to_owned()));
    for name in ["gezeiten", "TIDE TABLE", " tide "] {
        assert_eq!(read(memory.folder.root(), name).unwrap(), tide, "{name}");
    }
    assert_eq!(
        read(memory.folder.root(), "sea").unwrap().linked_from,
        ["tide"]
    );
    let unknown = read(memory.folder.root(), "pier").unwrap_err();
    assert_eq!(unknown.to_string(), "Unknown entity: pier.");
}

#[test]
fn a_renamed_entity_keeps_its_records_and_its_links() {
    let memory = two();
    rename(&lock(&memory.folder), &stamp(), "sea", "ocean").unwrap();
    assert_eq!(words(&memory), ["ocean", "tide"]);
    assert_eq!(memory.read("entities/sea.md"), None);
    let ocean = read(memory.folder.root(), "ocean").unwrap();
    assert_eq!(
        (ocean.records.len(), ocean.linked_from),
        (2, vec!["tide".to_owned()])
    );
    assert_eq!(ocean.card.unwrap().name, "The \"sea\"");
    let taken = rename(&lock(&memory.folder), &stamp(), "ocean", "tide").unwrap_err();
    assert!(taken.to_string().contains("merge ocean into it"), "{taken}");
    memory.assert_settled();
}

#[test]
fn merged_entities_lose_no_record_and_the_old_word_still_finds_them() {
    let memory = two();
    merge(&lock(&memory.folder), &stamp(), "sea", "tide").unwrap();
    assert_eq!(words(&memory), ["tide"]);
    let tide = read(memory.folder.root(), "sea").unwrap();
    assert_eq!(tide.entity, "tide");
    assert_eq!(tide.aliases, ["sea", "The \"sea\""]);
    let records: Vec<(&str, &str)> = tide
        .records
        .iter()
        .map(|(name, body)| (name.as_str(), body.as_str()))
        .collect();
    assert_eq!(
        records,
        [
            ("Source", "the harbour, see [[tide]] [7f78:L3]"),
            ("Owner", "ada"),
            ("Owner (sea)", "bob\n## and\nada"),
            ("Colour", "green"),
        ]
    );
    let same = merge(&lock(&memory.folder), &stamp(), "tide", "tide").unwrap_err();
    assert_eq!(same.to_string(), "tide is that entity already.");
}

#[test]
fn a_deleted_entity_is_gone_and_stays_in_the_history() {
    let memory = two();
    let before = memory.log().len();
    delete(&lock(&memory.folder), &stamp(), "sea").unwrap();
    assert_eq!(words(&memory), ["tide"]);
    assert_eq!(memory.log().len(), before + 1);
    let unknown = delete(&lock(&memory.folder), &stamp(), "sea").unwrap_err();
    assert_eq!(unknown.to_string(), "Unknown entity: sea.");
    memory.assert_settled();
}

#[test]
fn records_and_cards_are_found_by_all_words() {
    let memory = two();
    memory.save("entities/broken.md", "no head");
    let found = |words: &str| -> Vec<(String, Option<String>)> {
        let found = search(memory.folder.root(), words, 9).into_iter();
        found.map(|found| (found.entity, found.record)).collect()
    };
    let owner = Some("Owner".to_owned());
    assert_eq!(
        found("ada owner"),
        [
            ("sea".to_owned(), owner.clone()),
            ("tide".to_owned(), owner)
        ]
    );
    assert_eq!(found("tide table"), [("tide".to_owned(), None)]);
    assert_eq!(found("nothing of it"), []);
    assert_eq!(found(""), []);
}
