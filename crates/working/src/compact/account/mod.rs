//! An account of what happened, under Team9's headings: read from a summary, extended, and written within bounds.
//!
//! Not here: which chunks become which items (`extractive`).

mod item;
mod shorten;

use daybook_text::wishes::WishKind;

pub(super) use item::Item;
use item::ItemKind;

/// The section of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Completed,
    Attempted,
    State,
    Key,
    Next,
}

const SECTIONS: [(Section, &str); 5] = [
    (Section::Completed, "### Completed Actions"),
    (Section::Attempted, "### Attempted Approaches"),
    (Section::State, "### Current State"),
    (Section::Key, "### Key Information"),
    (Section::Next, "### Next Steps"),
];
const TITLE: &str = "## Progress Summary";
/// The beginning of the item that counts the items left out.
const LEFT_OUT: &str = "(earlier items left out: ";
/// What further lines of an item begin with.
const INDENT: &str = "  ";

/// An account: the items of each section, and how many were left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct SummaryAccount {
    items: [Vec<Item>; 5],
    left_out: [usize; 5],
}

impl SummaryAccount {
    /// Reads an account from a summary, whichever compactor wrote it. Text under no known heading becomes key
    /// information.
    pub(crate) fn of(summary: &str) -> Self {
        let mut account = Self::default();
        let mut section = Section::Key;
        for line in summary.lines().map(str::trim_end) {
            if let Some((known, _)) = SECTIONS.iter().find(|(_, title)| *title == line) {
                section = *known;
            } else if let Some(item) = line.strip_prefix("- ") {
                account.read_item(section, item);
            } else if let Some(more) = line.strip_prefix(INDENT) {
                account.continue_with(section, "\n", more);
            } else if !line.is_empty() && !line.starts_with('#') {
                account.continue_with(section, " ", line);
            }
        }
        account
    }

    fn read_item(&mut self, section: Section, item: &str) {
        let left_out = item
            .strip_prefix(LEFT_OUT)
            .and_then(|rest| rest.strip_suffix(')')?.parse::<usize>().ok());
        match left_out {
            Some(count) => self.left_out[section as usize] += count,
            None if item.trim() == "none" => {}
            None => self.push(section, Item::note(item.trim().to_owned())),
        }
    }

    /// Appends a line that is no item of its own to the item before.
    fn continue_with(&mut self, section: Section, join: &str, line: &str) {
        match self.items[section as usize].last_mut() {
            Some(item) => item.0.extend([join, line]),
            None => self.push(section, Item::note(line.trim().to_owned())),
        }
    }

    /// Adds an item at the end. If the section has it already, it moves to the end; calls each count, and those of one
    /// tool that follow each other become one item.
    pub(super) fn push(&mut self, section: Section, item: Item) {
        let items = &mut self.items[section as usize];
        match (item.kind(), items.last()) {
            (ItemKind::Call, Some(last)) => match last.joined(&item) {
                Some(joined) => *items.last_mut().expect("it has a last item") = joined,
                None => items.push(item),
            },
            (ItemKind::Call, None) => items.push(item),
            (ItemKind::Person | ItemKind::Agent | ItemKind::Failure | ItemKind::Note, _) => {
                items.retain(|known| *known != item);
                items.push(item);
            }
        }
    }

    /// Adds key information before all other.
    pub(super) fn push_first(&mut self, item: Item) {
        self.items[Section::Key as usize].insert(0, item);
    }

    /// Makes what was the current state a completed item.
    pub(super) fn complete_state(&mut self) {
        for before in std::mem::take(&mut self.items[Section::State as usize]) {
            self.push(Section::Completed, before);
        }
    }

    /// What the person decided and demanded, in their words, the oldest first.
    pub(crate) fn decisions(&self) -> impl Iterator<Item = String> {
        let items = self.items[Section::Key as usize].iter();
        items.flat_map(|item| item.wishes(WishKind::Decision))
    }

    /// Writes the account in at most `room` tokens, if that can be.
    pub(crate) fn render_within(mut self, room: u64, tokens: impl Fn(&str) -> u64) -> String {
        self.shorten(room, &tokens);
        self.render()
    }

    pub(super) fn render(&self) -> String {
        let mut text = String::from(TITLE);
        for (section, title) in SECTIONS {
            let at = section as usize;
            if self.items[at].is_empty() && self.left_out[at] == 0 {
                continue;
            }
            text.push_str("\n\n");
            text.push_str(title);
            text.push('\n');
            if self.left_out[at] > 0 {
                text.push_str(&format!("\n- {LEFT_OUT}{})", self.left_out[at]));
            }
            for item in &self.items[at] {
                text.push_str("\n- ");
                text.push_str(&item.0.replace('\n', &format!("\n{INDENT}")));
            }
        }
        text
    }
}
