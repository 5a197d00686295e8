//! An account under Team9's headings: parsed from a summary, extended, and written within bounds.

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

/// An account: the items of each section, and how many were left out.
#[derive(Debug, Default)]
pub(super) struct SummaryAccount {
    items: [Vec<String>; 5],
    left_out: [usize; 5],
}

impl SummaryAccount {
    /// Parses an account from a summary. Text under no known heading becomes key information.
    pub(super) fn of(summary: &str) -> Self {
        let mut account = Self::default();
        let mut section = Section::Key;
        for line in summary.lines().map(str::trim_end) {
            let heading = line.trim();
            if let Some((known, _)) = SECTIONS.iter().find(|(_, title)| *title == heading) {
                section = *known;
            } else if let Some(item) = line.strip_prefix("- ") {
                account.parse_item(section, item);
            } else if !heading.is_empty() && !heading.starts_with('#') {
                account.continue_with(section, heading);
            }
        }
        account
    }

    fn parse_item(&mut self, section: Section, item: &str) {
        let left_out = item
            .strip_prefix(LEFT_OUT)
            .and_then(|rest| rest.strip_suffix(')')?.parse::<usize>().ok());
        match left_out {
            Some(count) => self.left_out[section as usize] += count,
            None if item.trim() == "none" => {}
            None => self.push(section, item.trim().to_owned()),
        }
    }

    /// Appends a line that is no item of its own to the item before.
    fn continue_with(&mut self, section: Section, line: &str) {
        match self.items[section as usize].last_mut() {
            Some(item) => {
                item.push(' ');
                item.push_str(line);
            }
            None => self.push(section, line.to_owned()),
        }
    }

    /// Adds an item at the end. If the section has it already, it moves to the end.
    pub(super) fn push(&mut self, section: Section, item: String) {
        let items = &mut self.items[section as usize];
        items.retain(|known| *known != item);
        items.push(item);
    }

    /// Replaces the current state; the previous one becomes a completed item.
    pub(super) fn set_state(&mut self, state: String) {
        for before in std::mem::take(&mut self.items[Section::State as usize]) {
            self.push(Section::Completed, before);
        }
        self.push(Section::State, state);
    }

    /// Writes the account in at most `room` tokens: the oldest items of the fullest section are removed first.
    pub(super) fn render_within(mut self, room: u64, tokens: impl Fn(&str) -> u64) -> String {
        let mut sizes = self.items.each_ref().map(|items| {
            let sizes = items.iter().map(|item| tokens(item) + 2);
            sizes.collect::<std::collections::VecDeque<_>>()
        });
        loop {
            let text = self.render();
            let all = tokens(&text);
            if all <= room {
                return text;
            }
            // Removes items of as many tokens as are surely too many, before the account is written again.
            let mut over = all - room;
            while over > 0 {
                let fullest = (0..sizes.len()).max_by_key(|at| sizes[*at].iter().sum::<u64>());
                let gone = fullest.and_then(|at| Some((at, sizes[at].pop_front()?)));
                let Some((at, size)) = gone else {
                    return text;
                };
                self.items[at].remove(0);
                self.left_out[at] += 1;
                over = over.saturating_sub(size);
            }
        }
    }

    fn render(&self) -> String {
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
                text.push_str(item);
            }
        }
        text
    }
}
