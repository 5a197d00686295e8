//! A fuzz target of entity files and `INDEX.md`, which people edit as they like.

use daybook_testkit::mutation::parse_mutated_text;

use super::format::{Card, card, parse_index, record, with_card, with_entity, with_record};

#[test]
fn fuzz_entity_file() {
    let own = Card {
        name: "The \"Pier\"".to_owned(),
        description: "where the ferry leaves".to_owned(),
    };
    let (written, _) = with_record(
        &with_card(None, "pier", &own),
        "Hours",
        "from nine\n## not a record",
    );
    let index = with_entity(&with_entity("", "pier"), "ferry");
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated_text(&[&written, &index], script, |text| {
            assert_eq!(
                card(&with_card(Some(text), "pier", &own)).as_ref(),
                Some(&own)
            );
            let (changed, _) = with_record(text, "Hours", "until six");
            assert_eq!(record(&changed, "Hours").as_deref(), Some("until six"));
            assert!(
                parse_index(&with_entity(text, "pier"))
                    .iter()
                    .any(|entity| entity == "pier")
            );
        });
    });
}
