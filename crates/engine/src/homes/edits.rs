//! Changes single entries of a memory file, and leaves every other byte.

use std::collections::BTreeMap;

use super::entry::{HomeEntry, one_line};

/// Separates facts that share one line.
const SEPARATOR: &str = " | ";

/// What becomes of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryChange {
    /// Its bytes stay.
    Unchanged,
    /// It gets these words.
    Reworded(String),
    /// It is removed.
    Removed,
}

/// The text with the changes of its entries. Without changes it is the same bytes.
#[must_use]
pub fn edited(text: &str, changes: &[(HomeEntry, EntryChange)]) -> String {
    let mut groups: BTreeMap<(usize, usize), Vec<&(HomeEntry, EntryChange)>> = BTreeMap::new();
    for change in changes {
        let whole = &change.0.whole;
        groups
            .entry((whole.start, whole.end))
            .or_default()
            .push(change);
    }
    let (mut new, mut done) = (String::with_capacity(text.len()), 0);
    for ((start, end), group) in groups {
        new.push_str(&text[done..start]);
        push_group(&mut new, text, (start, end), &group);
        done = end;
    }
    new.push_str(&text[done..]);
    new
}

/// Adds the entries that share the bytes from `start` to `end`.
fn push_group(
    new: &mut String,
    text: &str,
    (start, end): (usize, usize),
    group: &[&(HomeEntry, EntryChange)],
) {
    let is = |change: EntryChange| group.iter().all(|(_, one)| *one == change);
    if is(EntryChange::Unchanged) {
        return new.push_str(&text[start..end]);
    }
    if is(EntryChange::Removed) {
        return;
    }
    let (Some((first, _)), Some((last, _))) = (group.first(), group.last()) else {
        return;
    };
    new.push_str(&text[start..first.words.start]);
    let words: Vec<String> = group
        .iter()
        .filter_map(|(entry, change)| match change {
            EntryChange::Unchanged => Some(text[entry.words.clone()].to_owned()),
            EntryChange::Reworded(words) => Some(one_line(words)),
            EntryChange::Removed => None,
        })
        .collect();
    new.push_str(&words.join(SEPARATOR));
    new.push_str(&text[last.words.end..end]);
}
