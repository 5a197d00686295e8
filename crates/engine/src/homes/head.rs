//! The head of a Markdown file: fields between two lines of dashes, before its text.
//!
//! Not here: what a field means.

use daybook_domain::Timestamp;

use super::entry::lines;
use crate::transcripts::time_of;

/// Fields that name when it was written.
const TIMES: [&str; 4] = ["modified", "updated", "created", "date"];

/// The fields at a note's beginning, between lines of `---`.
#[derive(Debug, Default)]
pub(super) struct Head {
    fields: Vec<(String, String)>,
    /// The first byte behind it.
    pub(super) end: usize,
}

impl Head {
    /// Reads the head of a note; one without has no fields.
    pub(super) fn of(text: &str) -> Self {
        let mut head = Self::default();
        for (nth, line) in lines(text).enumerate() {
            match (nth, line.text.trim_end()) {
                (0, "---") => {}
                (0, _) => return Self::default(),
                (_, "---") => {
                    head.end = line.end;
                    return head;
                }
                (_, field) => {
                    if let Some((key, value)) = field.split_once(':') {
                        let value = value.trim().trim_matches(['"', '\'']);
                        head.fields
                            .push((key.trim().to_lowercase(), value.to_owned()));
                    }
                }
            }
        }
        // A line of dashes that nothing closes is no head.
        Self::default()
    }

    /// The value of a field; `None` where it is empty.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let field = self
            .fields
            .iter()
            .find(|(key, value)| key == name && !value.is_empty());
        field.map(|(_, value)| value.as_str())
    }

    /// When the file was written, where a field names it.
    pub(super) fn time(&self) -> Option<Timestamp> {
        let times = TIMES.iter().filter_map(|name| self.field(name));
        times
            .filter_map(|time| time_of(time).or_else(|| time_of(&format!("{time}T00:00:00Z"))))
            .next()
    }
}
