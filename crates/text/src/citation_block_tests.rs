//! Blocks in whole texts and in parts.

use proptest::prelude::*;

use super::*;

const ID: &str = "0194f5a6-89ab-7cde-8123-456789abcdef";
const OTHER: &str = "0194f5a6-89ab-7cde-8123-456789abcd00";

/// A block with these entries and ids.
fn block(entries: &[&str], list: &str, ids: &[&str]) -> String {
    let (entries, ids) = (entries.join("\n"), ids.join("\n"));
    format!(
        "<oai-mem-citation>\n<citation_entries>\n{entries}\n</citation_entries>\n<{list}>\n{ids}\n</{list}>\n\
         </oai-mem-citation>"
    )
}

#[track_caller]
fn check(text: &str, visible: &str, entries: &[&str], sessions: &[&str]) {
    let (shown, cited) = split(text);
    let of_entry = |it: &CitedLines| format!("{}:{}-{} {}", it.path, it.first, it.last, it.note);
    let read: Vec<String> = cited.entries.iter().map(of_entry).collect();
    assert_eq!(
        (shown.as_ref(), cited.sessions),
        (
            visible,
            sessions.iter().map(|it| (*it).to_owned()).collect()
        ),
        "{text}"
    );
    assert_eq!(read, entries, "{text}");
}

#[test]
fn c105_entries_are_read_in_order_and_each_id_once() {
    let entries = [
        "MEMORY.md:234-236|note=[the limit]",
        "rollout_summaries/a.md:10|note=[why]",
    ];
    let text = format!(
        "The limit is 50.\n{}",
        block(&entries, "rollout_ids", &[ID, ID])
    );
    let read = [
        "MEMORY.md:234-236 the limit",
        "rollout_summaries/a.md:10-10 why",
    ];
    check(&text, "The limit is 50.\n", &read, &[ID]);
}

#[test]
fn c106_a_malformed_entry_is_passed_over_and_the_others_are_read() {
    let entries = [
        "foo",
        "MEMORY.md:9-3|note=[]",
        "MEMORY.md:0|note=[]",
        ":3|note=[x]",
        "a:b.md:7|note=[x]",
    ];
    check(
        &block(&entries, "rollout_ids", &[]),
        "",
        &["a:b.md:7-7 x"],
        &[],
    );
}

#[test]
fn c107_the_older_name_of_the_list_of_ids_is_read() {
    check(
        &block(&[], "thread_ids", &[ID, OTHER]),
        "",
        &[],
        &[ID, OTHER],
    );
}

#[test]
fn c108_an_id_that_is_none_is_passed_over() {
    let ids = ["7f78", "not-an-id", &ID.replace('4', "g"), "", ID];
    check(&block(&[], "rollout_ids", &ids), "", &[], &[ID]);
}

#[test]
fn c109_an_empty_block_names_nothing() {
    check("a<oai-mem-citation></oai-mem-citation>b", "ab", &[], &[]);
    assert_eq!(split("plain").1, CitationBlock::default());
}

#[test]
fn c110_every_block_is_hidden_and_all_else_is_shown() {
    let one = block(&["MEMORY.md:1|note=[]"], "rollout_ids", &[ID]);
    check(
        &format!("a\n{one}\nb {one}"),
        "a\n\nb ",
        &["MEMORY.md:1-1 ", "MEMORY.md:1-1 "],
        &[ID],
    );
    check(
        "text </oai-mem-citation> text",
        "text </oai-mem-citation> text",
        &[],
        &[],
    );
}

#[test]
fn a_block_that_was_cut_off_is_hidden_and_a_word_about_the_tag_is_not() {
    let cut = format!("Done.\n<oai-mem-citation>\n<rollout_ids>\n{ID}\n</rollo");
    check(&cut, "Done.\n", &[], &[ID]);
    check("Done.\n<oai-mem-citation>\n<cita", "Done.\n", &[], &[]);
    check("Done.<oai-mem-citation>", "Done.", &[], &[]);
    let about = "The tag <oai-mem-citation> opens it; say which lines you used.";
    check(about, about, &[], &[]);
}

#[test]
fn blocks_are_bounded_and_take_little_time() {
    let long = format!(
        "<oai-mem-citation>{}</oai-mem-citation>",
        "x".repeat(BLOCK + 1)
    );
    check(&long, &long, &[], &[]);
    let ids: Vec<String> = (0..2 * ENTRIES)
        .map(|n| format!("0194f5a6-89ab-7cde-8123-{n:012x}"))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    assert_eq!(
        split(&block(&[], "rollout_ids", &ids)).1.sessions.len(),
        ENTRIES
    );
    let mut stream = CitationStream::default();
    let mut shown = stream.push("<oai-mem-citation>");
    for _ in 0..2 * BLOCK / 64 {
        shown += &stream.push(&"y".repeat(64));
        assert!(stream.held.len() <= BLOCK + 2 * CLOSE.len() + 64);
    }
    shown += &stream.finish().0;
    assert_eq!(shown.len(), "<oai-mem-citation>".len() + 2 * BLOCK);
}

/// Takes a text in parts that end at these places.
fn in_parts(text: &str, cuts: &[usize]) -> (String, CitationBlock) {
    let mut cuts: Vec<usize> = cuts
        .iter()
        .map(|cut| text.floor_char_boundary(cut % (text.len() + 1)))
        .collect();
    cuts.sort_unstable();
    let (mut stream, mut shown, mut from) = (CitationStream::default(), String::new(), 0);
    for to in cuts.into_iter().chain([text.len()]) {
        shown += &stream.push(&text[from..to]);
        from = to;
    }
    let (rest, cited) = stream.finish();
    (shown + &rest, cited)
}

#[test]
fn c110_the_block_is_hidden_wherever_a_stream_is_cut() {
    let text = format!(
        "Grüße 世界\n{}\nund <oai-mem weiter",
        block(&["MEMORY.md:1|note=[世]"], "rollout_ids", &[ID])
    );
    let (visible, cited) = split(&text);
    for cut in 0..=text.len() {
        assert_eq!(
            in_parts(&text, &[cut]),
            (visible.clone().into_owned(), cited.clone()),
            "{cut}"
        );
    }
    let each: Vec<usize> = (0..text.len()).collect();
    assert_eq!(in_parts(&text, &each).0, visible);
}

proptest! {
    #[test]
    fn the_parts_of_a_text_give_the_same_as_the_whole(
        pieces in prop::collection::vec(prop_oneof![
            Just(OPEN), Just(CLOSE), Just("<rollout_ids>"), Just("</rollout_ids>"), Just(ID), Just("\n"), Just("<oai"),
            Just("<citation_entries>"), Just("MEMORY.md:3-4|note=[é]"), Just("wörds "),
        ], 0..12),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let text = pieces.concat();
        let (visible, cited) = split(&text);
        prop_assert_eq!(in_parts(&text, &cuts), (visible.into_owned(), cited));
    }
}
