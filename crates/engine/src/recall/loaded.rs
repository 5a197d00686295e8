//! What a host puts before its agent by itself: `CLAUDE.md`, `AGENTS.md`, its own memory. Telling it
//! again costs tokens and says nothing.
//!
//! Not here: which files a host loads.

/// Fewest words of an entry that must stand in what is loaded, in one piece, for it to be known
/// from there. Fewer stand anywhere by chance.
const WORDS: usize = 4;

/// The texts that an agent has already, ready to be compared with.
#[derive(Debug, Clone, Default)]
pub struct Loaded(String);

impl Loaded {
    /// These texts.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut all = String::from(" ");
        for text in texts {
            all.push_str(&plain(text));
            // No entry stands across two texts.
            all.push_str(" \u{0} ");
        }
        Self(all)
    }

    /// Whether an entry says nothing that is not loaded anyway.
    #[must_use]
    pub fn says(&self, entry: &str) -> bool {
        let entry = plain(without_source(entry));
        entry.split(' ').count() >= WORDS && self.0.contains(&format!(" {entry} "))
    }
}

/// An entry without the citation at its end.
fn without_source(entry: &str) -> &str {
    let entry = entry.trim_end();
    match entry.strip_suffix(']').and_then(|rest| rest.rfind(" [")) {
        Some(at) => &entry[..at],
        None => entry,
    }
}

/// Words alone, in lower case.
fn plain(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_the_host_loads_is_known_however_it_is_set() {
        let loaded = Loaded::of([
            "# Rules\n\n- Run `mise run test`\n  before every commit.\n",
            "x",
        ]);
        assert!(loaded.says("- \"run mise run test before every commit\" [7f78:L3,9]"));
        assert!(!loaded.says("- \"run mise run lint before every commit\" [7f78:L3]"));
        assert!(!loaded.says("- commit [7f78:L3]"), "too short to tell");
        assert!(!Loaded::default().says("- anything at all, really"));
    }
}
