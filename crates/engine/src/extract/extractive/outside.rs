//! Recognises words of the agent that it has from outside: from a tool's output, a page, a listing.
//!
//! An option that a person accepts is the agent's, unless a tool's output holds the same words. Then an outsider may
//! have written it, and it waits in quarantine for a person who reads it.
//!
//! A sub-agent's report is the agent's own work, and not from outside.
//!
//! Not here: which words were accepted (`choices`).

use daybook_domain::{Event, Origin};

use super::actions::AgentAction;
use super::prose::prefix_of;
use super::turns::WindowConversation;

/// Words in a row that both texts hold. Fewer are shared by chance: names of code, of files, of commands.
const RUN: usize = 6;
/// Tools that run a sub-agent, as hosts call them.
const SUB_AGENTS: [&str; 4] = ["Task", "Agent", "spawn_agent", "delegate_task"];
/// Most bytes of one output that are compared.
const OUTPUT: usize = 256 * 1024;

/// Whether an output before the event at index `at` holds `RUN` words of `text` in a row, or all of a shorter one.
pub(super) fn is_from_outside(talk: &WindowConversation<'_>, at: usize, text: &str) -> bool {
    let words = plain_words(text);
    let words: Vec<&str> = words.split(' ').collect();
    let runs: Vec<String> = words
        .windows(RUN.min(words.len()))
        .map(|run| format!(" {} ", run.join(" ")))
        .collect();
    talk.events[talk.look_back_start(at)..at]
        .iter()
        .filter(|event| event.origin == Origin::ToolResult && !is_report(talk, event))
        .any(|event| {
            let output = format!(" {} ", plain_words(prefix_of(&event.text, OUTPUT)));
            runs.iter().any(|run| output.contains(run))
        })
}

/// Whether a sub-agent answered. Not every host repeats the tool's name with its result.
fn is_report(talk: &WindowConversation<'_>, event: &Event) -> bool {
    let is_result = |action: &&AgentAction<'_>| {
        let result = action.result.map(|result| result.seq);
        result == Some(event.seq)
    };
    let call = talk.actions.iter().find(is_result);
    let tool = event.tool.as_deref();
    let tool = tool.or_else(|| call?.call.tool.as_deref());
    SUB_AGENTS
        .iter()
        .any(|name| tool.is_some_and(|tool| name.eq_ignore_ascii_case(tool)))
}

/// The words of a text in lower case, one blank apart.
fn plain_words(text: &str) -> String {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}
