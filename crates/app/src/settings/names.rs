//! The meanings of names in settings files: a setting, a setting of another system that Daybook has no use
//! for yet, or unknown.

use serde_json::Value;

use super::kind::NameUnit;
use super::table::{ALL, Setting};

/// The meaning of a name.
#[derive(Clone, Copy)]
pub(crate) enum NameMeaning {
    Setting(&'static Setting, NameUnit),
    /// The reason, as the end of "nothing here uses it yet: …".
    Unused(&'static str),
    Unknown,
}

const NAMED: &str = "models are named with their provider, in extract_model";
const CONTEXT: &str = "a model is shown the last 80 lines and 5 snippets of 400 characters";
const MEM0: &str = "memory is kept in files of our own";
const SEARCH: &str = "recall searches everything, by words";
const TOOLS: &str = "tools come over MCP, `daybook mcp`";

/// Names of other systems, each with all names below it, and why nothing here uses them.
static UNUSED: [(&str, &str); 18] = [
    ("memories.dedicated_tools", TOOLS),
    ("memories.dual_write", "there is one pipeline"),
    ("memories.extract_model", NAMED),
    (
        "memories.min_rate_limit_remaining_percent",
        "each provider has its own: min_remaining_percent in [providers.<name>]",
    ),
    ("memories.phase_1_model", NAMED),
    (
        "memories.use_memories",
        "the context of an agent is bounded by context_tokens",
    ),
    ("memories.version", "there is one pipeline"),
    (
        "memory.auto_flush.extractor.include_memory_context.daily_tail_lines",
        CONTEXT,
    ),
    (
        "memory.auto_flush.extractor.include_memory_context.memory_snippets",
        CONTEXT,
    ),
    (
        "memory.auto_flush.extractor.include_memory_context.snippet_max_chars",
        CONTEXT,
    ),
    (
        "memory.auto_flush.extractor.max_extraction_seconds",
        "a provider's own timeout bounds each answer",
    ),
    (
        "memory.auto_flush.extractor.no_reply_token",
        "the token is NO_REPLY",
    ),
    ("memory.embedder", MEM0),
    (
        "memory.file.path",
        "the data folder is DAYBOOK_HOME, or --root",
    ),
    ("memory.llm", NAMED),
    ("memory.search.include", SEARCH),
    ("memory.search.include_entrypoint", SEARCH),
    ("memory.search.mode", SEARCH),
];

/// All known names with their meanings; a setting's own name comes before other systems' names of it.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, NameMeaning)> {
    let settings = ALL.iter().flat_map(|setting| {
        let names = [(setting.name, NameUnit::Own)].into_iter();
        let names = names.chain(setting.also.iter().copied());
        names.map(move |(name, unit)| (name, NameMeaning::Setting(setting, unit)))
    });
    settings.chain(
        UNUSED
            .iter()
            .map(|(name, why)| (*name, NameMeaning::Unused(why))),
    )
}

/// The meaning of `name`, in its form with dots.
pub(crate) fn meaning(name: &str) -> NameMeaning {
    let found = all().find(|(known, meaning)| {
        *known == name || (matches!(meaning, NameMeaning::Unused(_)) && is_below(name, known))
    });
    found.map_or(NameMeaning::Unknown, |(_, meaning)| meaning)
}

/// The environment's spelling of a name.
pub(crate) fn variable(name: &str) -> String {
    format!("DAYBOOK_{}", name.replace('.', "_").to_uppercase())
}

/// The names with their values in a file's tables. An unknown table is one name with all that it holds. A
/// name with an empty value is not set.
pub(crate) fn leaves(file: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    if let Value::Object(table) = file {
        for (name, value) in table {
            // In place of its table, MindRoom's `memory` may be the name of a backend.
            let is_backend =
                name == "memory" && matches!(value.as_str(), Some("file" | "none" | "mem0"));
            let name = if is_backend { "memory.backend" } else { name };
            descend(name.to_owned(), value, &mut found);
        }
    }
    found
}

fn descend(name: String, value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Null => {}
        Value::Object(table) if all().any(|(known, _)| is_below(known, &name)) => {
            for (inner, value) in table {
                descend(format!("{name}.{inner}"), value, found);
            }
        }
        other => found.push((name, other.clone())),
    }
}

fn is_below(name: &str, table: &str) -> bool {
    name.strip_prefix(table)
        .is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_names_are_one_in_the_environment() {
        let names: BTreeSet<String> = all().map(|(name, _)| variable(name)).collect();
        assert_eq!(names.len(), all().count());
        assert!(!names.contains("DAYBOOK_HOME"), "it names the data folder");
    }

    #[test]
    fn names_below_an_unused_one_are_unused() {
        let unused = |name| matches!(meaning(name), NameMeaning::Unused(_));
        assert!(unused("memory.embedder.config.host") && unused("memory.llm"));
        assert!(!unused("memory.llms") && !unused("memory.file"));
    }
}
