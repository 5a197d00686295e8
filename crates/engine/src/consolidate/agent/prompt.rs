//! The question to the agent: what is new, what changed, and in which mode it works.

use daybook_domain::model::{Message, ModelRequest, Role};
use daybook_domain::{AgentLine, ProposalRecord};
use daybook_text::fence::{one_line, visible};
use daybook_text::prompt::Prompt;
use strum::IntoStaticStr;

use super::inputs::{AgentInputs, InputFile};
use super::session::AgentSession;
use super::statements::AgentStatements;
use super::workspace::CopiedFiles;

const PROMPT: &str = include_str!("../prompts/agent.md");
/// The file of the copy that holds the workspace diff.
const WORKSPACE_DIFF: &str = "phase2_workspace_diff.md";
/// Most lines of sessions that the question lists; more are counted.
const SESSION_LINES: usize = 64;

/// Whether the agent has read anything of the memory before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum AgentMode {
    /// It never succeeded here.
    Init,
    /// It did; it changes what has changed.
    Incremental,
}

impl AgentMode {
    /// The variant's name in the question.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A session of the selection, and how that differs from the last success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionChange {
    /// `added`, `retained` or `removed`.
    pub change: &'static str,
    /// The session.
    pub thread_id: String,
}

/// What a run of the agent begins with.
#[derive(Debug)]
pub struct AgentQuestion {
    /// Sent first; its tools are those of the session.
    pub request: ModelRequest,
    /// The run.
    pub session: AgentSession,
    /// The mode.
    pub mode: AgentMode,
}

impl AgentQuestion {
    /// The question after the last success in `record`. `diff` is what changed in the folder since then, `selection` how
    /// the selected sessions differ, where sessions are selected. The answer has at most `max_tokens`.
    #[must_use]
    pub fn new(
        record: &ProposalRecord,
        statements: AgentStatements,
        (copied, diff): (CopiedFiles, Option<String>),
        selection: &[SelectionChange],
        max_tokens: u32,
    ) -> Self {
        let inputs = AgentInputs::since(&record.agent, &statements);
        let own: Vec<AgentLine> = record.agent_lines().cloned().collect();
        let mode = match record.agent.examined.is_empty() && own.is_empty() {
            true => AgentMode::Init,
            false => AgentMode::Incremental,
        };
        let mut text = format!("Mode: {}\n\n{}", mode.as_str(), counts(&inputs));
        text.push_str(&files("added", inputs.added.iter()));
        text.push_str(&files("retained", inputs.retained.iter()));
        text.push_str(&sessions(selection));
        let mut session = AgentSession::new(copied, statements, &inputs, &own);
        match diff {
            Some(diff) => {
                text.push_str(&format!(
                    "\nWhat changed in the folder since then: {WORKSPACE_DIFF} ({} bytes)\n",
                    diff.len()
                ));
                session.add_file(WORKSPACE_DIFF, diff);
            }
            None => text.push_str("\nWhat changed in the folder since then: not known\n"),
        }
        let messages = vec![
            Message::new(Role::System, Prompt::of(PROMPT).text),
            Message::new(Role::User, text),
        ];
        Self {
            request: ModelRequest {
                temperature: Some(0.0),
                ..ModelRequest::new(messages, max_tokens)
            },
            session,
            mode,
        }
    }
}

fn counts(inputs: &AgentInputs) -> String {
    let (added, retained) = (
        AgentInputs::count(&inputs.added),
        AgentInputs::count(&inputs.retained),
    );
    format!(
        "- selected inputs this run: {}\n\
         - newly added since the last success: {added}\n\
         - retained from the last success: {retained}\n\
         - removed since the last success: {}\n",
        added + retained,
        inputs.removed
    )
}

fn files<'a>(change: &str, files: impl Iterator<Item = (&'a String, &'a InputFile)>) -> String {
    let lines =
        files.map(|(path, file)| format!("- [{change}] {path}: {} statements\n", file.statements));
    let lines: String = lines.collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n{lines}"),
    }
}

fn sessions(selection: &[SelectionChange]) -> String {
    if selection.is_empty() {
        return String::new();
    }
    let mut text = "\nSelected sessions:\n".to_owned();
    for SelectionChange { change, thread_id } in selection.iter().take(SESSION_LINES) {
        let thread_id = visible(&one_line(thread_id)).into_owned();
        text.push_str(&format!("- [{change}] thread_id={thread_id}\n"));
    }
    match selection.len().saturating_sub(SESSION_LINES) {
        0 => {}
        more => text.push_str(&format!("- and {more} more\n")),
    }
    text
}
