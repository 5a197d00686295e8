//! The agent's actions: tool calls joined with their results, and their outcome.
//!
//! A call that a person refused never ran, so it neither failed nor had an effect. A check whose
//! output shows failures failed, regardless of a pipe's exit code.
//!
//! Not here: conclusions from actions (`fixes`, `outcome`, `values`).

use std::collections::HashMap;

use daybook_domain::{Event, Origin, ToolStatus};
use serde_json::Value;

use super::prose::prefix_of;
use super::shell::{SimpleCommand, simple_commands};

/// Most bytes of a call that are read.
const CALL_BYTES: usize = 256 * 1024;
/// Most bytes of a result's head, and of its tail, that are read.
const RESULT_BYTES: usize = 16 * 1024;

/// What a call was meant to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ActionKind {
    /// Ran commands.
    Run(Vec<SimpleCommand>),
    /// Changed files: their names, and the inserted text.
    Edit { files: Vec<String>, put: String },
    /// Filed an issue for later: its title.
    Issue(String),
    /// Showed a plan to a person, who accepts or refuses it: its text.
    Plan(String),
    /// Anything else: reading, searching, asking.
    Other,
}

/// One tool call and its result.
#[derive(Debug)]
pub(super) struct AgentAction<'a> {
    /// Index of the call among the events.
    pub(super) at: usize,
    /// Index of the result; the call's own if there is none.
    pub(super) done: usize,
    /// The call.
    pub(super) call: &'a Event,
    /// The result, if there is one.
    pub(super) result: Option<&'a Event>,
    /// What the call was meant to do.
    pub(super) kind: ActionKind,
}

impl AgentAction<'_> {
    /// Whether the tool reported success.
    pub(super) fn has_succeeded(&self) -> bool {
        self.status() == Some(ToolStatus::Succeeded)
    }

    pub(super) fn status(&self) -> Option<ToolStatus> {
        self.result.and_then(|r| r.status)
    }

    /// The commands that test, build, lint or run the work.
    pub(super) fn checks(&self) -> Vec<&SimpleCommand> {
        match &self.kind {
            ActionKind::Run(commands) => commands.iter().filter(|c| c.checks()).collect(),
            ActionKind::Edit { .. }
            | ActionKind::Issue(_)
            | ActionKind::Plan(_)
            | ActionKind::Other => Vec::new(),
        }
    }

    /// Whether a check passed; `None` if the action is no check or its outcome is unknown.
    pub(super) fn check_passed(&self) -> Option<bool> {
        if self.checks().is_empty() {
            return None;
        }
        match self.status()? {
            ToolStatus::Succeeded => Some(!shows_failure(&self.output())),
            ToolStatus::Failed => Some(false),
            ToolStatus::Refused => None,
        }
    }

    /// Whether it changed files.
    pub(super) fn is_successful_edit(&self) -> bool {
        matches!(self.kind, ActionKind::Edit { .. }) && self.has_succeeded()
    }

    /// The command line of a shell call.
    pub(super) fn call_text(&self) -> String {
        command_of(&self.call.text)
    }

    /// Head and tail of the tool's output.
    pub(super) fn output(&self) -> String {
        let text = self.result.map_or("", |r| r.text.as_str());
        if text.len() <= 2 * RESULT_BYTES {
            return text.to_owned();
        }
        let mut from = text.len() - RESULT_BYTES;
        while !text.is_char_boundary(from) {
            from += 1;
        }
        format!("{}\n{}", prefix_of(text, RESULT_BYTES), &text[from..])
    }
}

fn shows_failure(output: &str) -> bool {
    const MARKS: [&str; 9] = [
        "--- FAIL",
        "\nFAIL",
        "ERROR task failed",
        "test result: FAILED",
        "error: could not compile",
        "npm ERR!",
        "Traceback (most recent call last)",
        "panicked at",
        "FAILED (failures",
    ];
    MARKS.iter().any(|mark| output.contains(mark)) || output.starts_with("FAIL")
}

/// The actions among `events`, in order of their calls.
pub(super) fn actions_of<'a>(events: &[&'a Event]) -> Vec<AgentAction<'a>> {
    let mut found: Vec<AgentAction<'a>> = Vec::new();
    let mut open: HashMap<&str, usize> = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        match event.origin {
            Origin::ToolCall => {
                if let Some(call) = &event.call {
                    open.insert(call, found.len());
                }
                found.push(AgentAction {
                    at,
                    done: at,
                    call: event,
                    result: None,
                    kind: action_kind(event),
                });
            }
            Origin::ToolResult => {
                let named = event.call.as_deref().map(|call| open.get(call).copied());
                let of = named.unwrap_or_else(|| found.len().checked_sub(1));
                if let Some(action) = of.and_then(|i| found.get_mut(i))
                    && action.result.is_none()
                {
                    action.done = at;
                    action.result = Some(event);
                }
            }
            Origin::Human
            | Origin::Assistant
            | Origin::Harness
            | Origin::Synthetic
            | Origin::Recalled
            | Origin::Retraction => {}
        }
    }
    found
}

const SHELLS: [&str; 12] = [
    "bash",
    "shell",
    "exec_command",
    "local_shell",
    "local_shell_call",
    "run_terminal_cmd",
    "terminal",
    "run_shell_command",
    "execute_command",
    "container.exec",
    "powershell",
    "run_command",
];

const EDITORS: [&str; 14] = [
    "edit",
    "write",
    "multiedit",
    "notebookedit",
    "apply_patch",
    "str_replace_editor",
    "write_file",
    "edit_file",
    "create_file",
    "replace",
    "str_replace",
    "search_replace",
    "insert",
    "patch",
];

fn action_kind(call: &Event) -> ActionKind {
    let tool = call.tool.as_deref().unwrap_or("").to_lowercase();
    if SHELLS.contains(&tool.as_str()) {
        return ActionKind::Run(simple_commands(&command_of(&call.text)));
    }
    if EDITORS.contains(&tool.as_str()) {
        return edit_of(&call.text);
    }
    let last = tool.rsplit("__").next().unwrap_or("");
    if matches!(last, "exitplanmode" | "exit_plan_mode") {
        let plan = field(&call.text, &["plan"]);
        return plan.map_or(ActionKind::Other, ActionKind::Plan);
    }
    if matches!(
        last,
        "create_issue" | "issue_write" | "create_ticket" | "jira_create_issue" | "save_issue"
    ) {
        let title = field(&call.text, &["title", "summary", "name"]);
        return title.map_or(ActionKind::Other, ActionKind::Issue);
    }
    ActionKind::Other
}

fn json(text: &str) -> Option<Value> {
    let text = text.trim();
    (text.starts_with('{') && text.len() <= CALL_BYTES).then(|| serde_json::from_str(text).ok())?
}

fn field(text: &str, names: &[&str]) -> Option<String> {
    let value = json(text)?;
    let found = names.iter().find_map(|name| value.get(name))?;
    found.as_str().map(str::to_owned)
}

/// The command line of a shell call, for each known form of its arguments.
fn command_of(text: &str) -> String {
    let Some(value) = json(text) else {
        return text.to_owned();
    };
    let command = ["command", "cmd", "script"]
        .iter()
        .find_map(|name| value.get(name));
    match command {
        Some(Value::String(line)) => line.clone(),
        Some(Value::Array(words)) => words
            .last()
            .filter(|_| words.len() == 3 && words[1].as_str().is_some_and(|w| w.starts_with('-')))
            .and_then(Value::as_str)
            .map_or_else(
                || {
                    words
                        .iter()
                        .filter_map(Value::as_str)
                        .collect::<Vec<_>>()
                        .join(" ")
                },
                str::to_owned,
            ),
        _ => String::new(),
    }
}

fn edit_of(text: &str) -> ActionKind {
    let patch = |text: &str| -> Vec<String> {
        let marks = ["*** Update File: ", "*** Add File: ", "+++ b/"];
        let named = text
            .lines()
            .filter_map(|l| marks.iter().find_map(|m| l.strip_prefix(m)));
        named.map(|path| base(path).to_owned()).collect()
    };
    let Some(value) = json(text) else {
        let mut files = patch(text);
        if files.is_empty() {
            files.extend(
                text.split_whitespace()
                    .next()
                    .map(|path| base(path).to_owned()),
            );
        }
        return ActionKind::Edit {
            files,
            put: text.to_owned(),
        };
    };
    let paths = [
        "file_path",
        "path",
        "notebook_path",
        "filename",
        "target_file",
    ];
    let named = paths
        .iter()
        .find_map(|name| value.get(name))
        .and_then(Value::as_str);
    let mut files: Vec<String> = named
        .map(|path| base(path).to_owned())
        .into_iter()
        .collect();
    let texts = [
        "new_string",
        "content",
        "new_str",
        "file_text",
        "new_source",
        "patch",
        "input",
    ];
    let mut put: Vec<&str> = texts
        .iter()
        .filter_map(|n| value.get(n))
        .filter_map(Value::as_str)
        .collect();
    if let Some(edits) = value.get("edits").and_then(Value::as_array) {
        put.extend(
            edits
                .iter()
                .filter_map(|e| e.get("new_string"))
                .filter_map(Value::as_str),
        );
    }
    let put = put.join("\n");
    if files.is_empty() {
        files = patch(&put);
    }
    ActionKind::Edit { files, put }
}

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.trim().rsplit(['/', '\\']).next().unwrap_or(path)
}
