//! The meanings of names in settings files: a setting, a setting of another system that is refused with what to write
//! instead, or unknown. No name is accepted without an effect.

use serde_json::Value;

use super::kind::NameUnit;
use super::table::{ALL, Setting};

/// The meaning of a name.
#[derive(Clone, Copy)]
pub(crate) enum NameMeaning {
    Setting(&'static Setting, NameUnit),
    /// What to write instead, as the end of "memory.llm: …".
    Refused(&'static str),
    Unknown,
}

const EMBEDDER: &str = "Daybook keeps memory in files of its own; write vectors = \"provider/model\" and \
                        [providers.<name>], or leave it out: a model for vectors is built in";
const SEARCH: &str = super::agents::SEARCH;
const ONE_PIPELINE: &str =
    "there is one pipeline, whose files profile = \"codex\" lays out as Codex does; leave it out";

/// How alike two names are, of 1, where one is taken for the other mistyped.
const ALIKE: f64 = 0.7;

/// Names of other systems that are refused, each with all names below it, and what to write instead.
static REFUSED: [(&str, &str); 8] = [
    (
        "memories.dedicated_tools",
        "agents have memory tools where `daybook mcp` is set up for their host (`daybook setup`), and none \
         elsewhere; leave it out",
    ),
    ("memories.dual_write", ONE_PIPELINE),
    ("memories.version", ONE_PIPELINE),
    ("memory.embedder", EMBEDDER),
    (
        "memory.file.path",
        "the data folder holds everything; name it with DAYBOOK_HOME or --root",
    ),
    (
        "memory.llm",
        "models are named with their provider: write extract_model = \"provider/model\" and [providers.<name>]",
    ),
    ("memory.search.include", SEARCH),
    ("memory.search.include_entrypoint", SEARCH),
];

/// All known names with their meanings; a setting's own name comes before other systems' names of it.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, NameMeaning)> {
    let settings = ALL.iter().flat_map(|setting| {
        let names = [(setting.name, NameUnit::Own)].into_iter();
        let names = names.chain(setting.also.iter().copied());
        names.map(move |(name, unit)| (name, NameMeaning::Setting(setting, unit)))
    });
    settings.chain(
        REFUSED
            .iter()
            .map(|(name, why)| (*name, NameMeaning::Refused(why))),
    )
}

/// The meaning of `name`, in its form with dots.
pub(crate) fn meaning(name: &str) -> NameMeaning {
    let found = all().find(|(known, meaning)| {
        *known == name || (matches!(meaning, NameMeaning::Refused(_)) && is_below(name, known))
    });
    found.map_or(NameMeaning::Unknown, |(_, meaning)| meaning)
}

/// What to do about an unknown name: the setting whose name is like it, and where all are listed.
pub(crate) fn advice(name: &str) -> String {
    let config = "`daybook config` lists them";
    let like = |setting: &&Setting| strsim::normalized_damerau_levenshtein(setting.name, name);
    let nearest = ALL.iter().max_by(|a, b| like(a).total_cmp(&like(b)));
    match nearest.filter(|setting| like(setting) >= ALIKE) {
        Some(setting) => format!("did you mean {}? {config}", setting.name),
        None => config.to_owned(),
    }
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
    fn names_below_a_refused_one_are_refused() {
        let refused = |name| matches!(meaning(name), NameMeaning::Refused(_));
        assert!(refused("memory.embedder.config.host") && refused("memory.llm"));
        assert!(!refused("memory.llms") && !refused("memory.file"));
    }
}
