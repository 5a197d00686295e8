//! Divides the statements into files that the agent reads, and compares them with those of its last success.

use std::collections::BTreeMap;

use daybook_domain::{AgentRecord, ObservationId, StatementDigest};

use super::statements::{AgentStatement, AgentStatements};

/// Most bytes of one file of statements; one statement alone may be longer.
const FILE_BYTES: usize = 12 * 1024;
/// Most files of retained statements: the latest. What is older was read before, and `search` looks through pages.
const RETAINED_FILES: usize = 32;

/// The files of statements, and how they differ from the last success.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AgentInputs {
    /// The files of new or changed statements, with their numbers, by path.
    pub(super) added: BTreeMap<String, InputFile>,
    /// The files of those that were read before.
    pub(super) retained: BTreeMap<String, InputFile>,
    /// How many statements that were read before hold no more.
    pub(super) removed: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InputFile {
    pub(super) text: String,
    pub(super) statements: usize,
}

impl AgentInputs {
    /// The inputs of a run after the one of `record`.
    pub(super) fn since(record: &AgentRecord, statements: &AgentStatements) -> Self {
        let current = statements.examined();
        let is_retained = |one: &&AgentStatement| {
            let id = &one.statement.id;
            record.examined.contains_key(id) && record.examined.get(id) == current.get(id)
        };
        let (retained, added): (Vec<_>, Vec<_>) = statements.all.iter().partition(is_retained);
        let mut retained = files("retained", &retained);
        while retained.len() > RETAINED_FILES {
            retained.pop_first();
        }
        Self {
            added: files("added", &added),
            retained,
            removed: removed(&record.examined, &current),
        }
    }

    pub(super) fn count(files: &BTreeMap<String, InputFile>) -> usize {
        files.values().map(|file| file.statements).sum()
    }
}

fn removed(
    before: &BTreeMap<ObservationId, StatementDigest>,
    current: &BTreeMap<ObservationId, StatementDigest>,
) -> usize {
    let mut before = before.keys();
    let gone = before.by_ref().filter(|id| !current.contains_key(id));
    gone.count()
}

fn files(name: &str, statements: &[&AgentStatement]) -> BTreeMap<String, InputFile> {
    let mut files: Vec<InputFile> = Vec::new();
    for one in statements {
        let fits = |file: &&mut InputFile| file.text.len() + one.line.len() < FILE_BYTES;
        match files.last_mut().filter(fits) {
            Some(file) => {
                file.text.push_str(&format!("{}\n", one.line));
                file.statements += 1;
            }
            None => files.push(InputFile {
                text: format!("{}\n", one.line),
                statements: 1,
            }),
        }
    }
    let named = (1..).zip(files);
    named
        .map(|(n, file)| (format!("inputs/{name}-{n:03}.md"), file))
        .collect()
}
