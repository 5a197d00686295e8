//! Fuzz targets: parsers of a model's answer.

use daybook_testkit::mutation::parse_mutated_text;

use super::{no_reply, observations_xml, rollout, stage_one, truncate};

#[test]
fn fuzz_answer_of_a_memory_agent() {
    let seeds = [
        "<observations>\n<observation>\n<text>The cache holds 50 entries</text>\n<context>said after a test failed, events 3, 5-7</context>\n</observation>\n<observation><text>x</text><context>y</context></observation>\n</observations>",
        "- The cache holds 50 entries [3, 5-7]\n- Tests come first\n\nNO_REPLY",
    ];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated_text(&seeds, script, |answer| {
            let _ = observations_xml::parse(answer);
            let _ = observations_xml::numbers(answer);
            let _ = no_reply::parse(answer, no_reply::NO_REPLY);
        });
    });
}

#[test]
fn fuzz_answer_of_stage_one() {
    let seeds = [
        r#"{"raw_memory":"- cache holds 50 entries","rollout_summary":"a cache","rollout_slug":"cache"}"#,
        r#"{"observations":[{"text":"cache holds 50","kind":"decision","events":[3,5],"context":"c"}],"summary":"s","title":"t"}"#,
    ];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated_text(&seeds, script, |answer| {
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(answer) {
                let _ = stage_one::parse_stage_one(value.clone());
                let _ = stage_one::parse_extract(value);
            }
        });
    });
}

#[test]
fn fuzz_text_that_is_cut_for_a_model() {
    let seeds = ["the first\nthe second\n\n```\ncode\n```\n日本語 and more words than fit"];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated_text(&seeds, script, |text| {
            let _ = daybook_text::fence::normalize_lines(text);
            let _ = truncate::keep_ends(text, 20, 20);
            let _ = truncate::keep_ends_and_errors(text, 20, 20);
            let _ = rollout::truncated(text, 7);
            assert_eq!(rollout::chunks(text).concat(), text);
        });
    });
}
