//! The prompts of extraction: files beside this folder.

/// Daybook's own (schema of `stage_one::extract_schema`).
pub(super) const EXTRACT: &str = include_str!("../prompts/extract.md");
/// Daycare's observations.
pub(super) const OBSERVE: &str = include_str!("../prompts/observe.md");
/// Codex's first stage.
pub(super) const STAGE_ONE: &str = include_str!("../prompts/stage_one.md");
/// MindRoom's silent turn.
pub(super) const SILENT_TURN: &str = include_str!("../prompts/silent_turn.md");
/// Daycare's memory agent: the whole system prompt, which replaces every other section (D52).
pub(super) const MEMORY_AGENT: &str = include_str!("../prompts/memory/MEMORY_AGENT.md");

#[cfg(test)]
mod tests {
    use daybook_text::prompt::Prompt;

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
    fn d52_a_memory_agents_prompt_is_the_file() {
        let prompt = Prompt::of(MEMORY_AGENT);
        assert!(MEMORY_AGENT.ends_with(&format!("{}\n", prompt.text)));
    }
}
