//! Conformance of observations, D37 to D43, and where Daycare's scanner goes wrong, D84 to D86.

use proptest::prelude::*;

use super::*;

/// `expected`: the parsed observations as `text | context`; `dropped`: the count of dropped ones.
fn check(answer: &str, expected: &[&str], dropped: u32) {
    let read = scan(answer);
    let shown: Vec<String> = (read.suggestions.iter())
        .map(|s| format!("{} | {}", s.text, s.context.as_deref().unwrap_or("")))
        .collect();
    assert_eq!(shown, expected, "{answer}");
    assert_eq!(read.dropped.total(), dropped, "{answer}");
}

fn one(text: &str, context: &str) -> String {
    format!("<observation><text>{text}</text><context>{context}</context></observation>")
}

#[test]
fn d37_to_d42_observations_are_read_in_order_and_incomplete_ones_dropped() {
    check(
        &format!(
            "<observations>{}\n{}</observations>",
            one("A", "a"),
            one("B", "b")
        ),
        &["A | a", "B | b"],
        0,
    );
    check("nothing here", &[], 0);
    check(
        &[one(" ", "a"), one("B", "\n"), one("C", "c")].concat(),
        &["C | c"],
        2,
    );
    check(&one("  A \n", "\t a "), &["A | a"], 0);
    check(&one("A\n\nB", "a"), &["A\n\nB | a"], 0);
    check("<observation><text>A</text></observation>", &[], 1);
    check(
        "<observation><context>a</context><text>A</text></observation>",
        &["A | a"],
        0,
    );
}

#[test]
fn d43_tags_in_any_case_with_attributes_and_blanks_before_the_bracket() {
    check(
        "<OBSERVATION x='1'><Text a=b>A</TEXT ><context>a</context\n></Observation>",
        &["A | a"],
        0,
    );
    check(
        "<observation><text>A</ text><context>a</context></observation>",
        &[],
        1,
    );
    check(
        "</observation><observation><text>A</text><context>a <b>c</b></context></observation>",
        &["A | a <b>c</b>"],
        0,
    );
    check("<observation>", &[], 1);
    check("```xml\n<observations/>\n```", &[], 0);
}

/// In Daycare's the first block swallows the second.
#[test]
fn a_new_observation_ends_one_that_was_not_closed() {
    check(
        "<observation><text>A</text><context>a</context><observation><text>B</text><context>b</context></observation>",
        &["A | a", "B | b"],
        0,
    );
    check(
        "<observation><text>A<observation><text>B</text><context>b</context></observation>",
        &["B | b"],
        1,
    );
    check(
        "<observations><observation><text>A</text><context>a</context></observations>",
        &["A | a"],
        0,
    );
}

/// Daycare's drops the observation, or one field absorbs the other.
#[test]
fn tags_within_a_field_are_its_text() {
    check(
        &one("close with </observation> here", "a"),
        &["close with </observation> here | a"],
        0,
    );
    check(
        &one("A", "so <text>literal</text> it is"),
        &["A | so <text>literal</text> it is"],
        0,
    );
    check(
        &one("the <text> element", "a"),
        &["the <text> element | a"],
        0,
    );
}

/// In Daycare's entities are not decoded.
#[test]
fn five_entities_are_read_once() {
    check(
        &one(
            "a &lt;b&gt; &amp;lt; &quot;q&quot; &apos;s&apos; &copy; &",
            "x",
        ),
        &["a <b> &lt; \"q\" 's' &copy; & | x"],
        0,
    );
}

#[test]
fn what_breaks_off_is_dropped_and_counted() {
    let read = scan(&format!(
        "{}<observation><text>B</text><context>b",
        one("A", "a")
    ));
    assert_eq!(read.suggestions.len(), 1);
    assert_eq!(read.dropped.count_of(DropReason::CutOff), 1);
}

#[test]
fn of_very_many_the_first_are_read() {
    let read = scan(&one("A", "a").repeat(500));
    assert_eq!(read.suggestions.len(), OBSERVATIONS);
    assert_eq!(read.dropped.count_of(DropReason::TooMany), 300);
}

#[test]
fn what_is_ours_stands_in_attributes_or_elements() {
    let expected = Suggestion {
        kind: ObservationKind::OpenEnd,
        context: Some("a".to_owned()),
        subject: Some("limit > 5".to_owned()),
        events: vec![3, 7, 8, 9],
        stated: Some(true),
        general: true,
        ..Suggestion::fact("A")
    };
    let within = "<text>A</text><context>a</context>";
    for answer in [
        format!(
            "<observation kind=\"open-end\" events='3, 7-9' subject=\"limit > 5\" stated=\"true\" general='yes'>{within}</observation>"
        ),
        format!(
            "<observation><kind>open_end</kind><events>[3, 7-9]</events><subject>limit &gt; 5</subject><stated>true</stated><general>1</general>{within}</observation>"
        ),
    ] {
        let read = scan(&answer).suggestions;
        assert_eq!(read.first(), Some(&expected), "{answer}");
    }
    let plain = &scan(&one("A", "a")).suggestions[0];
    assert_eq!(
        (plain.kind, plain.stated, plain.events.len()),
        (ObservationKind::Fact, None, 0)
    );
}

#[test]
fn an_answer_without_our_elements_is_no_answer() {
    assert_eq!(parse(" \n"), Ok(ModelAnswer::default()));
    assert_eq!(
        parse("I cannot help with that."),
        Err(UnusableAnswer("holds no observations element"))
    );
    assert!(parse("<observation><text>A").is_err());
    assert_eq!(
        parse("Sure!\n<observations></observations>"),
        Ok(ModelAnswer::default())
    );
}

proptest! {
    #[test]
    fn no_answer_makes_it_panic_or_yields_a_blank(pieces in prop::collection::vec(prop_oneof![
        prop::sample::select(vec![
            "<observation>", "</observation>", "<observation kind=\"fact\" events=\"1-99999999999\">", "<text>", "</text>",
            "<context>", "</context >", "<observations>", "</observations>", "<observation/>", "&lt;", "<", ">", "\"", "é",
        ]).prop_map(str::to_owned),
        any::<String>(),
    ], 0..40)) {
        let read = scan(&pieces.concat());
        for suggestion in read.suggestions {
            prop_assert!(!suggestion.text.trim().is_empty());
            prop_assert!(suggestion.events.len() <= EVENTS);
        }
    }

    #[test]
    fn what_was_written_well_is_read_as_it_was_meant(texts in prop::collection::vec("[a-z&<>\"' ]{0,20}[a-z]", 1..6)) {
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let answer: String = texts.iter().map(|text| one(&escaped(text), "c")).collect();
        let read: Vec<String> = scan(&answer).suggestions.into_iter().map(|s| s.text).collect();
        let meant: Vec<&str> = texts.iter().map(|text| text.trim()).collect();
        prop_assert_eq!(read, meant);
    }
}
