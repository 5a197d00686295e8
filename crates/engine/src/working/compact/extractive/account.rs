//! An account under the seed's headings: read from a summary, added to, and written within bounds.

/// Where an item stands.
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
/// Begins the item that says how many were left out.
const LEFT_OUT: &str = "(earlier items left out: ";

/// The account.
#[derive(Debug, Default)]
pub(super) struct Account {
    items: [Vec<String>; 5],
    left_out: [usize; 5],
}

impl Account {
    /// The account that a summary gives; what stands under no heading that is known is key information.
    pub(super) fn of(summary: &str) -> Self {
        let mut account = Self::default();
        let mut section = Section::Key;
        for line in summary.lines().map(str::trim_end) {
            let heading = line.trim();
            if let Some((known, _)) = SECTIONS.iter().find(|(_, title)| *title == heading) {
                section = *known;
            } else if let Some(item) = line.strip_prefix("- ") {
                account.read(section, item);
            } else if !heading.is_empty() && !heading.starts_with('#') {
                account.continue_with(section, heading);
            }
        }
        account
    }

    fn read(&mut self, section: Section, item: &str) {
        let left_out = item
            .strip_prefix(LEFT_OUT)
            .and_then(|rest| rest.strip_suffix(')')?.parse::<usize>().ok());
        match left_out {
            Some(count) => self.left_out[section as usize] += count,
            None if item.trim() == "none" => {}
            None => self.push(section, item.trim().to_owned()),
        }
    }

    /// A line that is no item of its own belongs to the item before.
    fn continue_with(&mut self, section: Section, line: &str) {
        match self.items[section as usize].last_mut() {
            Some(item) => {
                item.push(' ');
                item.push_str(line);
            }
            None => self.push(section, line.to_owned()),
        }
    }

    /// One item more; one that stands there already moves to the end.
    pub(super) fn push(&mut self, section: Section, item: String) {
        let items = &mut self.items[section as usize];
        items.retain(|known| *known != item);
        items.push(item);
    }

    /// Where things stand now; where they stood before was done.
    pub(super) fn set_state(&mut self, state: String) {
        for before in std::mem::take(&mut self.items[Section::State as usize]) {
            self.push(Section::Completed, before);
        }
        self.push(Section::State, state);
    }

    /// The account in at most `room` tokens: the oldest items of the fullest section go first.
    pub(super) fn within(mut self, room: u64, tokens: impl Fn(&str) -> u64) -> String {
        let mut sizes = self.items.each_ref().map(|items| {
            let sizes = items.iter().map(|item| tokens(item) + 2);
            sizes.collect::<std::collections::VecDeque<_>>()
        });
        loop {
            let text = self.written();
            let all = tokens(&text);
            if all <= room {
                return text;
            }
            // As many as are surely too many, before it is written once more.
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

    fn written(&self) -> String {
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
