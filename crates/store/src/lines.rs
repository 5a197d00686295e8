//! Numbers of events in citations.
//!
//! An event is cited by its line in the file that holds its session. A session that was joined from several
//! files still counts upwards, so that a range of lines is a range of events: lines of a later file are moved
//! behind the existing ones, keeping their distances.

use daybook_domain::NewEvent;

/// Numbers the events of one append, in order.
#[derive(Debug)]
pub(crate) struct Numbering {
    last: u32,
    shift: u32,
    first: bool,
    own_file: bool,
}

impl Numbering {
    /// Continues behind `last`; `own_file` when the events come from the session's first file.
    pub(crate) fn after(last: u32, own_file: bool) -> Self {
        Self {
            last,
            shift: 0,
            first: true,
            own_file,
        }
    }

    /// The number of the next event that is added.
    pub(crate) fn number(&mut self, event: &NewEvent) -> u32 {
        let line = event.line.saturating_add(self.shift);
        // A line of the session's own file may yield several events, which share its number; the
        // same number from another file is a coincidence.
        let goes_on = line > self.last || (line == self.last && (self.own_file || !self.first));
        let next = self.last.saturating_add(1);
        if event.line == 0 {
            self.last = next;
        } else if goes_on {
            self.last = line;
        } else {
            self.shift = next.saturating_sub(event.line);
            self.last = next;
        }
        self.first = false;
        self.last
    }
}
