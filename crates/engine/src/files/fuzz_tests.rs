//! Fuzz targets of the parsers of memory files, which people edit as they like.

use std::collections::BTreeSet;

use daybook_testkit::mutation::parse_mutated_text;

use super::entry::{is_own_heading, parse_blocks, without_marker};
use super::page::{Orphans, PageChoices, deleted_markers, is_untouched, merge_page, render_page};
use crate::consolidate::{MemoryEntry, MemoryPage, MemorySection};

fn page() -> MemoryPage {
    let entry = |key: &str, line: &str| MemoryEntry {
        key: key.to_owned(),
        lines: vec![line.to_owned()],
        observations: Vec::new(),
    };
    MemoryPage {
        heading: "tidepool — what we know".to_owned(),
        sections: vec![MemorySection {
            title: "Rules".to_owned(),
            entries: vec![
                entry("a", "test first [7f78:L1]"),
                entry("b", "push when told [7f78:L2]"),
            ],
        }],
    }
}

#[test]
fn fuzz_memory_page() {
    let page = page();
    let written = render_page(&page, &BTreeSet::new());
    let edited =
        format!("{written}\n## Mine\n- a line of my own\n  and more\n\n```\n## no heading\n```\n");
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated_text(&[&written, &edited], script, |current| {
            let _ = parse_blocks(current).len() + deleted_markers(current, &written).len();
            let _ = is_untouched(&page, current);
            for line in current.lines() {
                let _ = (without_marker(line), is_own_heading(line));
            }
            let write =
                |text: &str| merge_page(&page, text, &PageChoices::default(), Orphans::Remove);
            // The first write may remove all of a person's text; the second then brings the page into its
            // own form.
            let twice = write(&write(current));
            assert_eq!(twice, write(&twice), "writing again changes nothing");
        });
    });
}
