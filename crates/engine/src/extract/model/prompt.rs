//! The prompts of extraction: files beside this folder.

use crate::prompt::Prompt;

/// Daybook's own (schema of `stage_one::extract_schema`).
pub(super) const EXTRACT: &str = include_str!("../prompts/extract.md");
/// Seed 001's observations.
pub(super) const OBSERVE: &str = include_str!("../prompts/observe.md");
/// Seed 002's first stage.
pub(super) const STAGE_ONE: &str = include_str!("../prompts/stage_one.md");
/// Seed 004's silent turn.
pub(super) const SILENT_TURN: &str = include_str!("../prompts/silent_turn.md");
/// Seed 001's memory agent.
pub(super) const MEMORY_AGENT: &str = include_str!("../prompts/memory/MEMORY_AGENT.md");

impl Prompt {
    /// The whole system prompt of a memory agent (seed 001, `memory/MEMORY_AGENT.md`; spec D.4): it
    /// replaces every other section.
    #[must_use]
    pub fn memory_agent() -> Self {
        Self::of(MEMORY_AGENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that a token stands for, as a cautious estimate for English prose.
    const BYTES_PER_TOKEN: usize = 4;

    #[test]
    fn every_prompt_has_a_version_and_is_short() {
        for file in [EXTRACT, OBSERVE, STAGE_ONE, SILENT_TURN, MEMORY_AGENT] {
            let prompt = Prompt::of(file);
            assert!(prompt.version > 0, "{}", prompt.text);
            assert!(!prompt.text.contains("---"), "{}", prompt.text);
            assert!(
                prompt.text.len() <= 620 * BYTES_PER_TOKEN,
                "{}",
                prompt.text.len()
            );
        }
    }

    #[test]
    fn dc52_a_memory_agents_prompt_is_the_file() {
        let prompt = Prompt::memory_agent();
        assert!(MEMORY_AGENT.ends_with(&format!("{}\n", prompt.text)));
    }
}
