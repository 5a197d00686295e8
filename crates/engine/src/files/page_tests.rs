//! The text of a file after the engine has written, beside a person's text.

use std::collections::BTreeSet;

use super::*;
use crate::files::entry::{Marker, without_marker};

fn entry(key: &str, line: &str) -> MemoryEntry {
    MemoryEntry {
        key: key.to_owned(),
        lines: vec![line.to_owned()],
        observations: Vec::new(),
    }
}

fn page(sections: &[(&str, &[(&str, &str)])]) -> MemoryPage {
    let section = |(title, entries): &(&str, &[(&str, &str)])| MemorySection {
        title: (*title).to_owned(),
        entries: entries.iter().map(|(key, line)| entry(key, line)).collect(),
    };
    MemoryPage {
        heading: "tidepool — what we know".to_owned(),
        sections: sections.iter().map(section).collect(),
    }
}

fn rules() -> MemoryPage {
    page(&[(
        "Rules",
        &[
            ("a", "test first [7f78:L1]"),
            ("b", "push when told [7f78:L2]"),
        ],
    )])
}

/// The text without markers, for reading.
fn read(text: &str) -> String {
    text.lines()
        .map(without_marker)
        .collect::<Vec<_>>()
        .join("\n")
}

fn write(page: &MemoryPage, current: &str) -> String {
    merge_page(page, current, &PageChoices::default(), Orphans::Remove)
}

#[test]
fn a_fresh_page_reads_like_a_person_wrote_it() {
    let text = render_page(&rules(), &BTreeSet::new());
    let expected =
        "# tidepool — what we know\n\n## Rules\n- test first [7f78:L1]\n- push when told [7f78:L2]";
    assert_eq!(read(&text), expected);
}

#[test]
fn writing_the_same_page_again_changes_nothing() {
    let text = render_page(&rules(), &BTreeSet::new());
    assert_eq!(write(&rules(), &text), text);
    let edited = format!("{text}\nmine\n");
    assert_eq!(write(&rules(), &edited), edited);
}

#[test]
fn what_a_person_wrote_stays_byte_for_byte() {
    let written = render_page(&rules(), &BTreeSet::new());
    let edited = format!(
        "{}\n\n  mine, without an end of line\t ",
        written.replace("## Rules", "intro\r\n## Rules")
    );
    let later = page(&[(
        "Rules",
        &[
            ("a", "test first [7f78:L1]"),
            ("c", "one idea per commit [ca:L3]"),
        ],
    )]);
    let text = write(&later, &edited);
    assert!(text.contains("intro\r\n## Rules\n"));
    assert!(text.ends_with("\n\n  mine, without an end of line\t "));
    assert!(read(&text).contains("- test first [7f78:L1]\n- one idea per commit [ca:L3]"));
    assert!(!text.contains("push when told"));
}

#[test]
fn a_line_with_another_end_changes_no_other_line() {
    let written = render_page(&rules(), &BTreeSet::new());
    let one_of_windows = format!("{written}mine\r\n");
    assert_eq!(write(&rules(), &one_of_windows), one_of_windows);
    let all_but_one = format!("{}mine\n", written.replace('\n', "\r\n"));
    assert_eq!(write(&rules(), &all_but_one), all_but_one);
}

#[test]
fn an_entry_that_a_person_changed_is_theirs() {
    let written = render_page(&rules(), &BTreeSet::new());
    let edited = written.replace("test first", "test first, always");
    let later = page(&[(
        "Rules",
        &[
            ("a", "test first [7f78:L1,9]"),
            ("b", "push when told [7f78:L2]"),
        ],
    )]);
    let text = write(&later, &edited);
    assert_eq!(text, edited);
}

#[test]
fn an_entry_that_a_person_deleted_is_known_and_can_be_withheld() {
    let written = render_page(&rules(), &BTreeSet::new());
    let edited: String = written
        .lines()
        .filter(|line| !line.contains("test first"))
        .map(|line| format!("{line}\n"))
        .collect();
    let gone = deleted_markers(&edited, &written);
    assert_eq!(gone, [Marker::of(&entry("a", "test first [7f78:L1]"))]);
    let choices = PageChoices {
        withheld: gone.into_iter().collect(),
        ..PageChoices::default()
    };
    let text = merge_page(&rules(), &edited, &choices, Orphans::Remove);
    assert_eq!(text, edited);
    // Brought back by hand, it stands as it was; a newer version of it is written all the same.
    let text = merge_page(&rules(), &written, &choices, Orphans::Remove);
    assert_eq!(text, written);
    let newer = page(&[("Rules", &[("a", "test first, twice [7f78:L1,9]")])]);
    let text = merge_page(&newer, &edited, &choices, Orphans::Remove);
    assert!(text.contains("test first, twice"), "{text}");
}

#[test]
fn an_earlier_version_that_a_person_brought_back_stays_until_there_is_a_newer_one() {
    let old = page(&[(
        "Rules",
        &[("a", "cache: 20 [7f78:L1]"), ("b", "mine [7f78:L2]")],
    )]);
    let new = page(&[("Rules", &[("a", "cache: 50 [7f78:L1]")])]);
    let written = render_page(&old, &BTreeSet::new());
    let versions = |page: &MemoryPage| own_markers(&render_page(page, &BTreeSet::new()));
    let restored = PageChoices {
        withheld: versions(&new),
        kept: versions(&old),
    };
    assert_eq!(
        merge_page(&new, &written, &restored, Orphans::Remove),
        written
    );
    let newest = page(&[("Rules", &[("a", "cache: 100 [7f78:L1]")])]);
    let text = merge_page(&newest, &written, &restored, Orphans::Remove);
    assert!(
        text.contains("cache: 100") && text.contains("mine"),
        "{text}"
    );
    assert!(!text.contains("cache: 20"), "{text}");
}

#[test]
fn a_pinned_entry_comes_first_stays_when_it_is_outranked_and_shows_the_newest_value() {
    let written = render_page(&rules(), &BTreeSet::new());
    for pinned in [
        written.replace("L2] ^", "L2] #pinned ^"),
        written
            .lines()
            .map(|line| match line.contains("push") {
                true => format!("{line} #pinned\n"),
                false => format!("{line}\n"),
            })
            .collect(),
    ] {
        let text = write(&rules(), &pinned);
        let first = text.lines().position(|line| line.contains("push")).unwrap();
        let second = text.lines().position(|line| line.contains("test")).unwrap();
        assert!(first < second && text.contains("#pinned ^"), "{text}");
        assert_eq!(read(&text), read(&text).replace(" #pinned", ""));
        let without = page(&[("Rules", &[("a", "test first [7f78:L1]")])]);
        assert!(write(&without, &text).contains("push when told [7f78:L2] #pinned"));
        let newer = page(&[("Rules", &[("b", "push when asked [7f78:L2,9]")])]);
        let updated = write(&newer, &text);
        assert!(
            updated.contains("push when asked [7f78:L2,9] #pinned ^"),
            "{updated}"
        );
        let unpinned = updated.replace(" #pinned", "");
        assert!(
            !write(&rules(), &unpinned).contains("when asked"),
            "the engine owns it again"
        );
    }
}

#[test]
fn a_changed_entry_is_not_reported_as_deleted() {
    let written = render_page(&rules(), &BTreeSet::new());
    assert_eq!(
        deleted_markers(&written.replace("test first", "tests"), &written),
        []
    );
}

#[test]
fn new_entries_join_their_section_wherever_a_person_moved_it() {
    let written = render_page(&rules(), &BTreeSet::new());
    let edited = format!(
        "# mine\n\n{}\n## Mine too\n- my line\n",
        &written[written.find("## ").unwrap_or(0)..]
    );
    let later = page(&[
        (
            "Rules",
            &[
                ("a", "test first [7f78:L1]"),
                ("b", "push when told [7f78:L2]"),
                ("c", "new rule [ca:L3]"),
            ],
        ),
        ("Decisions", &[("d", "cache of 100 [ca:L4]")]),
    ]);
    let expected = "# mine\n\n## Rules\n- test first [7f78:L1]\n- push when told [7f78:L2]\n- new rule [ca:L3]\n\n\
                    ## Mine too\n- my line\n\n## Decisions\n- cache of 100 [ca:L4]";
    assert_eq!(read(&write(&later, &edited)), expected);
}

#[test]
fn entries_of_a_lost_database_are_left_to_the_person() {
    let written = render_page(&rules(), &BTreeSet::new());
    let only = page(&[("Rules", &[("a", "test first [7f78:L1]")])]);
    let text = merge_page(&only, &written, &PageChoices::default(), Orphans::Disown);
    assert!(text.contains("\n- push when told [7f78:L2]\n"));
    let again = merge_page(&only, &text, &PageChoices::default(), Orphans::Remove);
    assert_eq!(again, text);
}

#[test]
fn lines_below_an_entry_belong_to_it() {
    let diary = MemoryEntry {
        key: "s".to_owned(),
        lines: vec![
            "09:00–10:00 tides [7f78]".to_owned(),
            "decided: 100 [7f78:L3]".to_owned(),
        ],
        observations: Vec::new(),
    };
    let page = MemoryPage {
        heading: "tidepool · 2026-03-02".to_owned(),
        sections: vec![MemorySection {
            title: String::new(),
            entries: vec![diary],
        }],
    };
    let written = render_page(&page, &BTreeSet::new());
    let edited = written.replace("decided: 100", "decided: 200");
    assert_eq!(write(&page, &edited), edited);
    assert!(deleted_markers(&edited, &written).is_empty());
}

proptest::proptest! {
    #[test]
    fn no_line_of_a_person_is_ever_lost(
        mine in proptest::collection::vec("[ -~äß\\t]{0,20}(\r\n|\n)", 0..12),
        cut in 0_usize..12,
        drop_b in proptest::bool::ANY,
    ) {
        let written = render_page(&rules(), &BTreeSet::new());
        let lines: Vec<&str> = written.split_inclusive('\n').collect();
        let cut = cut.min(lines.len());
        let current = format!("{}{}{}", lines[..cut].concat(), mine.concat(), lines[cut..].concat());
        let later = if drop_b { page(&[("Rules", &[("a", "test first [7f78:L1]")])]) } else { rules() };
        let text = write(&later, &current);
        let mut rest = text.as_str();
        for line in &mine {
            let at = rest.find(line.as_str());
            proptest::prop_assert!(at.is_some(), "{line:?} is gone from {text:?}");
            rest = &rest[at.unwrap_or(0) + line.len()..];
        }
        proptest::prop_assert_eq!(write(&later, &text), text);
    }
}

/// The first write of a folder may end before it is recorded, and the next one has more to write.
#[test]
fn a_page_of_the_engine_alone_comes_out_in_its_order_whether_or_not_a_write_was_recorded() {
    let later = page(&[("", &[("b", "in the evening [1111:L1]")])]);
    let both = page(&[(
        "",
        &[
            ("a", "in the morning [0000:L1]"),
            ("b", "in the evening [1111:L1]"),
        ],
    )]);
    let none = BTreeSet::new();
    let merge = |orphans| {
        let written = render_page(&later, &none);
        merge_page(&both, &written, &PageChoices::default(), orphans)
    };
    assert_eq!(merge(Orphans::Disown), render_page(&both, &none));
    assert_eq!(merge(Orphans::Remove), render_page(&both, &none));
    assert_ne!(merge(Orphans::Keep), render_page(&both, &none));
}
