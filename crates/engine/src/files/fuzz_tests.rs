//! Fuzz targets of what is read from memory files, which people edit as they like.

use std::collections::BTreeSet;

use daybook_testkit::mutation::parse_mutated_text;

use super::entry::{blocks, is_own_heading, unmarked};
use super::page::{Orphans, deleted, fresh, is_untouched, merged};
use crate::consolidate::{Entry, Page, Section};

fn page() -> Page {
    let entry = |key: &str, line: &str| Entry {
        key: key.to_owned(),
        lines: vec![line.to_owned()],
        observations: Vec::new(),
    };
    Page {
        heading: "tidepool — what we know".to_owned(),
        sections: vec![Section {
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
    let written = fresh(&page, &BTreeSet::new());
    let edited =
        format!("{written}\n## Mine\n- a line of my own\n  and more\n\n```\n## no heading\n```\n");
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated_text(&[&written, &edited], script, |current| {
            let _ = blocks(current).len() + deleted(current, &written).len();
            let _ = is_untouched(&page, current);
            for line in current.lines() {
                let _ = (unmarked(line), is_own_heading(line));
            }
            let write = |text: &str| merged(&page, text, &BTreeSet::new(), Orphans::Remove);
            // The first write may leave nothing of a person's; the second then brings the page into its own form.
            let twice = write(&write(current));
            assert_eq!(twice, write(&twice), "writing again changes nothing");
        });
    });
}
