//! Merges two versions of a file made from one base, so that no side's text is lost.
//!
//! What one side alone changed is as that side has it. Where both changed the same piece, our version comes
//! first and their additions follow; what our side removed stays removed. Pieces are those of
//! [`parse_blocks`]: an entry with the lines under it is one. Where the engine wrote on both sides, our
//! version is enough: the engine rewrites its entries at the next look at the page.
//!
//! Not here: which files both sides changed (`merge`).

use std::collections::BTreeSet;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::files::entry::{EntryId, PageBlock, is_own_heading, parse_blocks, without_line_end};
use crate::files::page::deleted_markers;

/// One place where a side differs from the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::files) struct Hunk {
    /// Pieces of the base that it replaces; empty where it only adds.
    pub(in crate::files) base: Range<usize>,
    /// Pieces of the side that replace them.
    pub(in crate::files) new: Range<usize>,
}

/// Merges `ours` and `theirs`.
pub(in crate::files) fn union(base: &str, ours: &str, theirs: &str) -> String {
    let withdrawn: BTreeSet<EntryId> = deleted_markers(ours, base).iter().map(|m| m.id()).collect();
    let (base, ours, theirs) = (pieces(base), pieces(ours), pieces(theirs));
    let our_hunks = hunks(&base, &ours);
    let their_hunks = hunks(&base, &theirs);
    let (mut our_hunks, mut their_hunks) = (our_hunks.as_slice(), their_hunks.as_slice());
    let known = EngineParts::of(&ours);
    let mut text = MergedText::default();
    let mut place = 0;
    while !(our_hunks.is_empty() && their_hunks.is_empty()) {
        let starts = [our_hunks, their_hunks].map(|hunks| hunks.first().map(|h| h.base.start));
        let start = starts.into_iter().flatten().min().unwrap_or(place);
        text.add(&base[place..start]);
        let (mut region, mut our_count, mut their_count) = (start..start, 0, 0);
        // A region grows as long as a hunk of either side touches it.
        loop {
            let before = (our_count, their_count);
            our_count += count_touching(&our_hunks[our_count..], &mut region);
            their_count += count_touching(&their_hunks[their_count..], &mut region);
            if before == (our_count, their_count) {
                break;
            }
        }
        let (here, there) = (&our_hunks[..our_count], &their_hunks[..their_count]);
        if here.is_empty() {
            text.add_side(&base, &theirs, there, &region);
        } else {
            text.add_side(&base, &ours, here, &region);
            let is_ours = |added: &[String]| here.iter().any(|h| ours[h.new.clone()] == *added);
            for hunk in there.iter().filter(|h| !is_ours(&theirs[h.new.clone()])) {
                let added = theirs[hunk.new.clone()].iter();
                let kept =
                    added.filter(|piece| !names_one_of(piece, &withdrawn) && !known.is_here(piece));
                text.add_theirs(&kept.cloned().collect::<Vec<_>>(), &known);
            }
        }
        place = region.end;
        our_hunks = &our_hunks[our_count..];
        their_hunks = &their_hunks[their_count..];
    }
    text.add(&base[place..]);
    text.joined()
}

/// A text of ours without the entries that the engine added to `base`.
pub(super) fn without_new_entries(base: &str, ours: &str) -> String {
    let known = EngineParts::of(&pieces(base)).entries;
    let is_new = |piece: &String| match block(piece) {
        Some(PageBlock::Ours(marker, _)) => !known.contains(&marker.id()),
        _ => false,
    };
    pieces(ours)
        .into_iter()
        .filter(|piece| !is_new(piece))
        .collect()
}

/// The engine's pieces of one side.
#[derive(Default)]
struct EngineParts {
    entries: BTreeSet<EntryId>,
    has_heading: bool,
    /// Heading lines of the second level.
    titles: BTreeSet<String>,
}

impl EngineParts {
    fn of(pieces: &[String]) -> Self {
        let mut known = Self::default();
        for piece in pieces {
            match block(piece) {
                Some(PageBlock::Ours(marker, _) | PageBlock::Pinned(marker, _)) => {
                    known.entries.insert(marker.id());
                }
                Some(PageBlock::Heading(1, line)) => known.has_heading |= is_own_heading(line),
                Some(PageBlock::Heading(_, line)) => {
                    known.titles.insert(without_line_end(line).to_owned());
                }
                Some(PageBlock::Altered(..) | PageBlock::Other(_)) | None => {}
            }
        }
        known
    }

    /// Whether a piece of the other side is the engine's, and this side has its counterpart.
    fn is_here(&self, piece: &str) -> bool {
        match block(piece) {
            Some(PageBlock::Ours(marker, _)) => self.entries.contains(&marker.id()),
            Some(PageBlock::Heading(1, line)) => self.has_heading && is_own_heading(line),
            Some(
                PageBlock::Heading(..)
                | PageBlock::Pinned(..)
                | PageBlock::Altered(..)
                | PageBlock::Other(_),
            )
            | None => false,
        }
    }

    /// Whether a piece only separates entries: a title that this side has, too, or an empty line.
    fn is_frame(&self, piece: &str) -> bool {
        match block(piece) {
            Some(PageBlock::Heading(2, line)) => self.titles.contains(without_line_end(line)),
            Some(PageBlock::Other(line)) => without_line_end(line).trim().is_empty(),
            Some(
                PageBlock::Heading(..)
                | PageBlock::Pinned(..)
                | PageBlock::Altered(..)
                | PageBlock::Ours(..),
            )
            | None => false,
        }
    }
}

fn block(piece: &str) -> Option<PageBlock<'_>> {
    parse_blocks(piece).into_iter().next()
}

fn is_entry(piece: &str) -> bool {
    matches!(block(piece), Some(PageBlock::Ours(..)))
}

/// Counts the leading hunks that touch the region, and grows the region by them.
fn count_touching(hunks: &[Hunk], region: &mut Range<usize>) -> usize {
    let touching = hunks.iter().take_while(|hunk| {
        let touches = hunk.base.start <= region.end;
        if touches {
            region.end = region.end.max(hunk.base.end);
        }
        touches
    });
    touching.count()
}

fn names_one_of(piece: &str, ids: &BTreeSet<EntryId>) -> bool {
    parse_blocks(piece).iter().any(|block| match block {
        PageBlock::Ours(marker, _)
        | PageBlock::Pinned(marker, _)
        | PageBlock::Altered(marker, _) => ids.contains(&marker.id()),
        PageBlock::Heading(..) | PageBlock::Other(_) => false,
    })
}

/// The pieces of a text.
pub(in crate::files) fn pieces(text: &str) -> Vec<String> {
    let piece = |block: PageBlock<'_>| match block {
        PageBlock::Ours(_, lines) | PageBlock::Pinned(_, lines) | PageBlock::Altered(_, lines) => {
            lines.concat()
        }
        PageBlock::Heading(_, line) | PageBlock::Other(line) => line.to_owned(),
    };
    parse_blocks(text).into_iter().map(piece).collect()
}

/// The differing runs between the runs of equal pieces.
pub(in crate::files) fn hunks(base: &[String], side: &[String]) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let (mut base_at, mut side_at) = (0, 0);
    let mut close = |base_to: usize, side_to: usize, len: usize| {
        if base_at < base_to || side_at < side_to {
            hunks.push(Hunk {
                base: base_at..base_to,
                new: side_at..side_to,
            });
        }
        (base_at, side_at) = (base_to + len, side_to + len);
    };
    for operation in capture_diff_slices(Algorithm::Patience, base, side) {
        if let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = operation
        {
            close(old_index, new_index, len);
        }
    }
    close(base.len(), side.len(), 0);
    hunks
}

/// A text that grows by whole pieces.
#[derive(Default)]
pub(in crate::files) struct MergedText(Vec<String>);

impl MergedText {
    /// The whole text.
    pub(in crate::files) fn joined(&self) -> String {
        self.0.concat()
    }

    pub(in crate::files) fn add(&mut self, pieces: &[String]) {
        for piece in pieces {
            // The last line of a file may lack its end.
            if let Some(last) = self.0.last_mut().filter(|last| !last.ends_with('\n')) {
                last.push('\n');
            }
            self.0.push(piece.clone());
        }
    }

    /// Adds their additions that our side lacks. Where all of them are the engine's, its entries follow the
    /// last entry so far, so that the page still looks as if only the engine had written it.
    fn add_theirs(&mut self, added: &[String], known: &EngineParts) {
        let is_persons = |piece: &String| !is_entry(piece) && !known.is_frame(piece);
        let last = self.0.iter().rposition(|piece| is_entry(piece));
        match last {
            Some(last) if !added.iter().any(is_persons) => {
                let after = self.0.split_off(last + 1);
                let entries: Vec<String> = added.iter().filter(|p| is_entry(p)).cloned().collect();
                self.add(&entries);
                self.add(&after);
            }
            Some(_) | None => self.add(added),
        }
    }

    /// Adds a region as one side has it.
    fn add_side(
        &mut self,
        base: &[String],
        side: &[String],
        hunks: &[Hunk],
        region: &Range<usize>,
    ) {
        let mut place = region.start;
        for hunk in hunks {
            self.add(&base[place..hunk.base.start]);
            self.add(&side[hunk.new.clone()]);
            place = hunk.base.end;
        }
        self.add(&base[place..region.end]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consolidate::{MemoryEntry, MemoryPage, MemorySection};
    use crate::files::entry::render;
    use crate::files::page::{is_untouched, render_page};

    fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
        let lined = |text: &str| {
            text.split_terminator(' ')
                .map(|l| format!("{l}\n"))
                .collect::<String>()
        };
        let together = union(&lined(base), &lined(ours), &lined(theirs));
        assert_eq!(together, lined(expected), "{base} → {ours} | {theirs}");
    }

    #[test]
    fn what_one_side_changed_is_as_that_side_has_it() {
        check("a b c", "a b c", "a x c", "a x c");
        check("a b c", "a x c", "a b c", "a x c");
        check("a b c d", "x b c d", "a b c y", "x b c y");
        check("a b c d e", "a c d e", "a b c d e f", "a c d e f");
        check("", "a", "", "a");
    }

    #[test]
    fn where_both_changed_ours_comes_first_and_theirs_follows() {
        check("a b c", "a x c", "a y c", "a x y c");
        check("a c", "a x c", "a y c", "a x y c");
        check("a c", "a x c", "a x c", "a x c");
        check("a b c", "a c", "a y c", "a y c");
        check("a b c", "x", "a b c y", "x y");
    }

    #[test]
    fn what_we_took_out_stays_out_however_they_put_it_since() {
        let entry = |words: &str| {
            let entry = MemoryEntry {
                key: "one".to_owned(),
                lines: vec![words.to_owned()],
                observations: Vec::new(),
            };
            render(&entry).join("\n") + "\n"
        };
        let base = format!("## Rules\n{}", entry("old words"));
        let theirs = format!("## Rules\n{}", entry("new words"));
        assert_eq!(union(&base, "## Rules\n", &theirs), "## Rules\n");
        let altered = base.replace("old", "my");
        let both = union(&base, &altered, &theirs);
        assert!(
            both.contains("my words") && both.contains("new words"),
            "{both}"
        );
    }

    #[test]
    fn what_the_engine_wrote_on_both_sides_is_kept_once() {
        let page = |heading: &str, keys: &[&str]| {
            let entries = keys.iter().map(|key| MemoryEntry {
                key: (*key).to_owned(),
                lines: vec![format!("{key} of {heading}")],
                observations: Vec::new(),
            });
            MemoryPage {
                heading: heading.to_owned(),
                sections: vec![MemorySection {
                    title: "Rules".to_owned(),
                    entries: entries.collect(),
                }],
            }
        };
        let written = |page: &MemoryPage| render_page(page, &BTreeSet::new());
        let ours = page("2 sessions", &["one", "two"]);
        let theirs = page("3 sessions", &["two", "three"]);
        for base in [String::new(), written(&page("1 session", &["one"]))] {
            let together = union(&base, &written(&ours), &written(&theirs));
            assert!(is_untouched(&ours, &together), "{together}");
            let ids = |text: &str| deleted_markers("", text).len();
            assert_eq!(ids(&together), 3, "{together}");
        }
        let edited = written(&theirs) + "My own line.\n";
        let together = union("", &written(&ours), &edited);
        assert!(together.contains("My own line."), "{together}");
        assert_eq!(together.matches("sessions").count(), 4, "{together}");
    }

    #[test]
    fn a_last_line_without_an_end_gets_one_when_something_follows() {
        assert_eq!(union("a\n", "a\nours", "a\ntheirs"), "a\nours\ntheirs");
    }

    proptest! {
        #[test]
        fn no_line_that_a_side_added_is_lost(
            base in proptest::collection::vec(0..6_u8, 0..8),
            ours in proptest::collection::vec(0..12_u8, 0..8),
            theirs in proptest::collection::vec(0..12_u8, 0..8),
        ) {
            let text = |lines: &[u8]| lines.iter().map(|n| format!("line {n}\n")).collect::<String>();
            let together = union(&text(&base), &text(&ours), &text(&theirs));
            for added in ours.iter().chain(&theirs).filter(|n| !base.contains(n)) {
                let line = format!("line {added}\n");
                prop_assert!(together.contains(&line), "{line} is lost in:\n{together}");
            }
            prop_assert_eq!(union(&text(&base), &text(&ours), &text(&base)), text(&ours));
            prop_assert_eq!(union(&text(&base), &text(&base), &text(&theirs)), text(&theirs));
            prop_assert_eq!(union(&text(&base), &text(&ours), &text(&ours)), text(&ours));
        }
    }
}
