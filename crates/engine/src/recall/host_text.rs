//! Texts that a host shows its agent by itself: `CLAUDE.md`, `AGENTS.md`, its own memory. Repeating them costs
//! tokens and adds nothing.
//!
//! Not here: which files a host loads.

/// Fewest words of an entry that can be looked up in the host's texts. Shorter runs of words match by chance.
const FEWEST_WORDS: usize = 4;

/// The words of all texts that the host has loaded, for comparison with entries.
#[derive(Debug, Clone, Default)]
pub struct HostText(String);

impl HostText {
    /// Reads the texts that the host has loaded.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut all = String::from(" ");
        for text in texts {
            all.push_str(&plain(text));
            // No entry matches across two texts.
            all.push_str(" \u{0} ");
        }
        Self(all)
    }

    fn is_empty(&self) -> bool {
        !self.0.contains(char::is_alphanumeric)
    }

    /// Whether the host has loaded the whole entry, without its citation, in one piece.
    #[must_use]
    pub fn contains_entry(&self, entry: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let entry = plain(without_citation(entry));
        entry.split(' ').count() >= FEWEST_WORDS && self.0.contains(&format!(" {entry} "))
    }
}

/// An entry without the citation at its end.
fn without_citation(entry: &str) -> &str {
    let entry = entry.trim_end();
    match entry.strip_suffix(']').and_then(|rest| rest.rfind(" [")) {
        Some(at) => &entry[..at],
        None => entry,
    }
}

/// The words of a text in lower case, with single spaces and without punctuation.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut is_within = false;
    for c in text.chars() {
        if !c.is_alphanumeric() {
            is_within = false;
            continue;
        }
        if !is_within && !plain.is_empty() {
            plain.push(' ');
        }
        is_within = true;
        plain.extend(c.to_lowercase());
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_the_host_loads_is_known_however_it_is_set() {
        let loaded = HostText::of([
            "# Rules\n\n- Run `mise run test`\n  before every commit.\n",
            "x",
        ]);
        assert!(loaded.contains_entry("- \"run mise run test before every commit\" [7f78:L3,9]"));
        assert!(!loaded.contains_entry("- \"run mise run lint before every commit\" [7f78:L3]"));
        assert!(
            !loaded.contains_entry("- commit [7f78:L3]"),
            "too short to tell"
        );
        assert!(!HostText::default().contains_entry("- anything at all, really"));
    }
}
