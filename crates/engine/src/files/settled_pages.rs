//! Remembers which pages a merge leaves as they are, so that they are not read and merged again.
//!
//! A merge depends on the page, the file's present content, a person's choices for the file, and the rule for entries
//! that the page no longer has. The list holds one number for each combination of these that changed nothing. It is
//! derived: a lost or torn list costs time, and nothing else.

use std::collections::HashSet;
use std::path::Path;

use daybook_domain::EventId;
use gix::ObjectId;

use super::error::FilesError;
use super::lock::WriterLock;
use super::page::{Orphans, PageChoices};
use crate::bounded;
use crate::consolidate::PlannedPage;

/// Path of the list below a memory folder.
const LIST: &str = ".git/daybook/settled";
const NAME: &str = "settled";
/// Longest list that is read, in bytes.
const LIST_BYTES: u64 = 256 * 1024 * 1024;
/// Raised when pages are merged or rendered in another way: what an older engine left as it was is merged once more.
const MERGE: u8 = 3;

/// A page with the file that a merge leaves as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SettledPage(u128);

impl SettledPage {
    /// The number of a page, merged into the content `file`.
    pub(super) fn of(
        page: PlannedPage<'_>,
        file: ObjectId,
        choices: &PageChoices,
        orphans: Orphans,
    ) -> Self {
        let orphans = match orphans {
            Orphans::Remove => 0,
            Orphans::Disown => 1,
            Orphans::Keep => 2,
        };
        let (number, rules) = (page.number().to_le_bytes(), [MERGE, orphans]);
        let mut parts: Vec<&[u8]> = vec![file.as_slice(), &number, &rules];
        // Each list ends with a part that no text is: texts are UTF-8.
        const END: &[u8] = &[0xff];
        for markers in [&choices.withheld, &choices.kept] {
            parts.extend(markers.iter().map(|marker| marker.as_str().as_bytes()));
            parts.push(END);
        }
        Self(EventId::of(&parts).0)
    }
}

/// The settled pages of a folder: those of its last write, and those of the present one.
#[derive(Debug, Default)]
pub(super) struct SettledPages {
    last: HashSet<SettledPage>,
    present: HashSet<SettledPage>,
}

impl SettledPages {
    pub(super) fn load(folder: &Path) -> Self {
        let bytes = bounded::read(&folder.join(LIST), LIST_BYTES).unwrap_or_default();
        let (numbers, _) = bytes.as_chunks::<16>();
        let numbers = numbers.iter().map(|number| u128::from_le_bytes(*number));
        Self {
            last: numbers.map(SettledPage).collect(),
            present: HashSet::new(),
        }
    }

    /// Whether the page was settled at the last write; it then stays so.
    pub(super) fn keep(&mut self, page: SettledPage) -> bool {
        let is_known = self.last.contains(&page);
        if is_known {
            self.present.insert(page);
        }
        is_known
    }

    pub(super) fn add(&mut self, page: SettledPage) {
        self.present.insert(page);
    }

    /// Replaces the list by that of the present write.
    pub(super) fn save(self, lock: &WriterLock<'_>) -> Result<(), FilesError> {
        if self.present == self.last {
            return Ok(());
        }
        let mut numbers: Vec<SettledPage> = self.present.into_iter().collect();
        numbers.sort_unstable();
        let bytes: Vec<u8> = numbers
            .iter()
            .flat_map(|page| page.0.to_le_bytes())
            .collect();
        lock.save_derived(NAME, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consolidate::{MemoryEntry, MemoryPage, MemorySection};

    fn page(heading: &str, sections: &[(&str, &[&[&str]])]) -> MemoryPage {
        let entry = |lines: &&[&str]| MemoryEntry {
            key: lines[0].to_owned(),
            lines: lines[1..].iter().map(|line| (*line).to_owned()).collect(),
            observations: Vec::new(),
        };
        let sections = sections.iter().map(|(title, entries)| MemorySection {
            title: (*title).to_owned(),
            entries: entries.iter().map(entry).collect(),
        });
        MemoryPage {
            heading: heading.to_owned(),
            sections: sections.collect(),
        }
    }

    #[test]
    fn pages_that_differ_anywhere_have_numbers_of_their_own() {
        let file = ObjectId::null(gix::hash::Kind::Sha1);
        let other = ObjectId::empty_blob(gix::hash::Kind::Sha1);
        let marker = super::super::entry::Marker::parse("abcdefghij").expect("ten letters");
        let withheld = PageChoices {
            withheld: [marker.clone()].into(),
            ..PageChoices::default()
        };
        let kept = PageChoices {
            kept: [marker].into(),
            ..PageChoices::default()
        };
        let pages = [
            page("a", &[]),
            page("", &[("a", &[])]),
            page("", &[("", &[&["a"]])]),
            page("", &[("", &[&["a", "b"]])]),
            page("", &[("", &[&["a"], &["b"]])]),
            page("", &[("", &[&["a"]]), ("b", &[])]),
            page("", &[("", &[&["a"]]), ("", &[&["b"]])]),
        ];
        let mut numbers = HashSet::new();
        let mut count = 0;
        for page in &pages {
            for file in [file, other] {
                for choices in [&PageChoices::default(), &withheld, &kept] {
                    for orphans in [Orphans::Remove, Orphans::Disown, Orphans::Keep] {
                        let page = PlannedPage::Made(page);
                        numbers.insert(SettledPage::of(page, file, choices, orphans));
                        count += 1;
                    }
                }
            }
        }
        assert_eq!(numbers.len(), count);
    }
}
