//! Takes the change of a text back, where the text was changed again since.
//!
//! Unlike the union of two machines' texts, in which nothing that stands on one side may be lost, what the change added
//! goes, also beside later additions; and what it removed comes back, except where it was changed again since. Pieces
//! are those of [`parse_blocks`].

use std::collections::BTreeSet;

use super::entry::{EntryId, PageBlock, parse_blocks};
use super::shared::{Hunk, MergedText, hunks, pieces};

/// `now` without the change from `was` to `made`.
pub(super) fn revert(was: &str, made: &str, now: &str) -> String {
    let present: BTreeSet<EntryId> = entries(now);
    let kept: BTreeSet<EntryId> = entries(made);
    // An entry that came back since, or was changed, is not put beside itself.
    let is_new = |piece: &String| {
        let ids = entries(piece);
        ids.is_empty()
            || !ids
                .iter()
                .any(|id| present.contains(id) && !kept.contains(id))
    };
    let (was, made, now) = (pieces(was), pieces(made), pieces(now));
    let back = hunks(&made, &was);
    let since = hunks(&made, &now);
    let is_in = |hunks: &[Hunk], place: usize| hunks.iter().any(|hunk| hunk.base.contains(&place));
    let mut text = MergedText::default();
    for place in 0..=made.len() {
        for hunk in back.iter().filter(|hunk| hunk.base.start == place) {
            let mut replaced = hunk.base.clone();
            let is_changed_since =
                !hunk.base.is_empty() && replaced.all(|place| is_in(&since, place));
            if !is_changed_since {
                let added = was[hunk.new.clone()].iter().filter(|piece| is_new(piece));
                text.add(&added.cloned().collect::<Vec<_>>());
            }
        }
        for hunk in since.iter().filter(|hunk| hunk.base.start == place) {
            text.add(&now[hunk.new.clone()]);
        }
        if place < made.len() && !is_in(&back, place) && !is_in(&since, place) {
            text.add(&made[place..=place]);
        }
    }
    text.joined()
}

fn entries(text: &str) -> BTreeSet<EntryId> {
    let blocks = parse_blocks(text).into_iter();
    let ids = blocks.filter_map(|block| match block {
        PageBlock::Ours(marker, _)
        | PageBlock::Pinned(marker, _)
        | PageBlock::Altered(marker, _) => Some(marker.id()),
        PageBlock::Heading(..) | PageBlock::Other(_) => None,
    });
    ids.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(was: &str, made: &str, now: &str, expected: &str) {
        let lines = |text: &str| text.replace(' ', "\n");
        let after = revert(&lines(was), &lines(made), &lines(now));
        assert_eq!(after, lines(expected), "{was} → {made} → {now}");
    }

    #[test]
    fn a_change_is_taken_back_and_what_came_since_stays() {
        check("a b ", "a x b ", "a x b ", "a b ");
        check("a b ", "a x b ", "a x b mine ", "a b mine ");
        check("a b ", "a b x ", "a b x mine ", "a b mine ");
        check("a old b ", "a new b ", "mine a new b ", "mine a old b ");
        check("a b c ", "a c ", "a c mine ", "a b c mine ");
        check("", "a b ", "a b mine ", "mine ");
        check("a ", "a x ", "a x mine", "a mine");
    }

    #[test]
    fn what_was_changed_again_since_stays_as_it_is() {
        check("a old b ", "a new b ", "a mine b ", "a mine b ");
        check("a b ", "a x b ", "a y b ", "a y b ");
        check("a b ", "a x b ", "a b ", "a b ");
    }

    #[test]
    fn an_entry_that_a_person_changed_since_is_not_put_beside_itself() {
        let (old, new) = ("- old ^abcdefghij\n", "- new ^abcdefghik\n");
        let mine = "- mine ^abcdefghik\n";
        assert_eq!(revert(old, new, new), old);
        assert_eq!(revert(old, new, mine), mine);
        assert_eq!(revert(old, "", mine), mine);
        assert_eq!(revert(old, mine, mine), old);
    }

    proptest! {
        #[test]
        fn without_later_changes_the_text_is_as_it_was(
            was in proptest::collection::vec(0..6_u8, 0..8),
            made in proptest::collection::vec(0..6_u8, 0..8),
        ) {
            let text = |lines: &[u8]| lines.iter().map(|n| format!("line {n}\n")).collect::<String>();
            let (was, made) = (text(&was), text(&made));
            prop_assert_eq!(revert(&was, &made, &made), was.clone());
            prop_assert_eq!(revert(&made, &made, &was), was);
        }
    }
}
