//! One run of the agent: its copy, its tools and its answer.

use std::collections::BTreeMap;

use daybook_domain::model::{FinishReason, ModelReply, Tool, ToolCall};
use daybook_domain::{AgentLine, AgentPage};

use super::inputs::AgentInputs;
use super::pages::entry_key;
use super::statements::{AgentStatement, AgentStatements};
use super::validation::validate;
use super::workspace::{CopiedFiles, Workspace};
use super::{CURATED, SUMMARY};
use crate::consolidate::phrase::citations;

/// What the model answers when everything is right.
const DONE: &str = "DONE";

/// A run of the agent over a private copy. Nothing of it has an effect until its lines are stored.
#[derive(Debug)]
pub struct AgentSession {
    workspace: Workspace,
    statements: AgentStatements,
    /// Bytes of its lines at the beginning.
    own_bytes: usize,
}

impl AgentSession {
    pub(super) fn new(
        copied: CopiedFiles,
        statements: AgentStatements,
        inputs: &AgentInputs,
        own: &[AgentLine],
    ) -> Self {
        let mut workspace = Workspace::new(copied, &own_texts(&statements, own));
        for (path, file) in inputs.added.iter().chain(&inputs.retained) {
            workspace.add(path, file.text.clone());
        }
        Self {
            workspace,
            statements,
            own_bytes: own.iter().map(|line| line.text.len()).sum(),
        }
    }

    pub(super) fn add_file(&mut self, path: &str, text: String) {
        self.workspace.add(path, text);
    }

    /// The tools that the model is offered: files of the copy, and nothing else.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        super::tools::tools()
    }

    /// Carries out a call on the copy.
    pub fn call(&mut self, call: &ToolCall) -> String {
        let outcome = super::tools::carry_out(&mut self.workspace, call);
        outcome.unwrap_or_else(|refusal| refusal)
    }

    /// The lines to merge after an answer, or why there are none.
    ///
    /// # Errors
    /// What the model can correct.
    pub fn lines(&self, reply: &ModelReply) -> Result<Vec<AgentLine>, String> {
        if reply.finish == FinishReason::Length {
            return Err("Your answer was cut off. Call tools, or answer `DONE`.".to_owned());
        }
        if !reply
            .text
            .trim()
            .trim_matches(['`', '.'])
            .eq_ignore_ascii_case(DONE)
        {
            return Err("Call tools, or answer `DONE` and nothing else.".to_owned());
        }
        validate(&self.workspace, &self.statements, self.own_bytes)
            .map_err(|faults| format!("Nothing is merged yet: {faults}."))
    }

    /// Identifies the entries that lines have on their pages.
    #[must_use]
    pub fn entry_key(line: &AgentLine) -> String {
        entry_key(line)
    }
}

/// The agent's own lines as its files hold them.
fn own_texts(statements: &AgentStatements, own: &[AgentLine]) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for line in own {
        let (path, first) = match &line.page {
            AgentPage::Handbook => (CURATED.to_owned(), String::new()),
            AgentPage::Summary => (SUMMARY.to_owned(), String::new()),
            AgentPage::Skill { name, title } => {
                (format!("skills/{name}/SKILL.md"), format!("# {title}\n\n"))
            }
        };
        let cited: Vec<&AgentStatement> = statements.of_refs(&line.statements);
        let evidence = cited.iter().flat_map(|one| &*one.merged.evidence);
        let item = format!("- {} {}\n", line.text, citations(evidence));
        texts.entry(path).or_insert(first).push_str(&item);
    }
    texts
}
