//! Reads calls of tools in Codex, their results, and a person's answers to an agent's question.
//!
//! Outputs have had many shapes: text, lists of parts, objects, text that is JSON again, text with a
//! heading. Only some of them record how a call ended.
//!
//! Not here: how a call is shown, see `calls.rs`.

use std::borrow::Cow;

use daybook_domain::{Origin, ToolStatus};
use serde::Deserialize;

use super::item::{CodexPart, Item, part_texts};
use super::{Call, CodexContent, CodexReader, IdentityBasis};
use crate::transcripts::item::{TranscriptItem, Via};
use crate::transcripts::json;
use daybook_text::calls;
use daybook_text::lenient::{Content, ContentMember, Flag, Object, Pairs, Text, When};

/// The tool that asks a person.
const ASK: &str = "request_user_input";
/// The text of a result whose words became events of their own.
const ANSWERED: &str = "User has answered your questions";

/// How the output of a call begins that a person refused or stopped.
const REFUSALS: &[&str] = &[
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
    "user rejected MCP tool call",
    "user cancelled MCP tool call",
    "aborted by user",
];
/// How the output of a call begins that failed without an exit code.
const FAILURES: &[&str] = &[
    "apply_patch verification failed",
    "failed to parse function arguments",
    "unsupported call:",
    "unsupported custom tool call:",
    "execution error:",
    "command timed out",
    "tool call error:",
    "err: ",
];

/// A shell command's arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Action<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    query: Text<'j>,
    url: Text<'j>,
    pattern: Text<'j>,
    workdir: Text<'j>,
    working_directory: Text<'j>,
}

/// The questions to a person.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked<'j> {
    #[serde(borrow)]
    questions: Content<'j, Question<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Question<'j> {
    #[serde(borrow)]
    id: Text<'j>,
    question: Text<'j>,
    is_secret: Flag,
    #[serde(rename = "isSecret")]
    is_secret_too: Flag,
}

/// The person's answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answered<'j> {
    #[serde(borrow)]
    answers: Pairs<'j, Object<Answer<'j>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer<'j> {
    #[serde(borrow)]
    answers: Content<'j, CodexPart<'j>>,
}

/// An output that is JSON again.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Shell<'j> {
    #[serde(borrow)]
    output: Option<Text<'j>>,
    metadata: Object<Metadata<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata<'j> {
    #[serde(borrow)]
    exit_code: When<'j>,
}

impl CodexReader<'_> {
    pub(super) fn call(&mut self, number: u32, item: &Item<'_>, out: &mut Vec<TranscriptItem>) {
        let (tool, text) = shown(item);
        let text = self.with_folder(item, text);
        let content = CodexContent {
            key: key(item),
            tool: Some(&tool),
            call: item.call_id.get(),
            reports_external: is_completed_search(item),
            ..CodexContent::plain(Origin::ToolCall, text)
        };
        self.push_event(number, &content, out);
        let call = Call {
            tool: tool.into_owned(),
            questions: questions(item),
        };
        self.state.calls.open(&item.call_id, call);
    }

    /// A command that is to run in another folder than the session's says so, as it would be typed.
    fn with_folder(&self, item: &Item<'_>, text: String) -> String {
        let arguments = match &*item.kind {
            "local_shell_call" => json::as_text(item.action),
            _ => json::as_text(item.arguments),
        };
        let action = serde_json::from_str::<Object<Action<'_>>>(&arguments).ok();
        let action = action.and_then(|action| action.0).unwrap_or_default();
        let folder = action
            .workdir
            .get()
            .or_else(|| action.working_directory.get());
        match folder.filter(|folder| self.state.places.cwd() != Some(*folder)) {
            Some(folder) => format!("{} && {text}", calls::command_line(&["cd", folder])),
            None => text,
        }
    }

    pub(super) fn output(&mut self, number: u32, item: &Item<'_>, out: &mut Vec<TranscriptItem>) {
        let call = self.state.calls.close(&item.call_id).unwrap_or_default();
        let (text, status) = ended(item);
        let answered = words(&call, &text);
        let content = CodexContent {
            key: key(item),
            tool: (!call.tool.is_empty()).then_some(&*call.tool),
            call: item.call_id.get(),
            reports_external: item.contains_external_context.0,
            status: match answered {
                Some(_) => Some(ToolStatus::Succeeded),
                None => status,
            },
            ..CodexContent::plain(
                Origin::ToolResult,
                match answered {
                    Some(_) => ANSWERED,
                    None => &*text,
                },
            )
        };
        self.push_event(number, &content, out);
        for (question, words) in answered.iter().flatten() {
            let content = CodexContent {
                key: key(item),
                part: question,
                via: Via::Answer,
                ..CodexContent::plain(Origin::Human, words.as_str())
            };
            self.push_event(number, &content, out);
        }
    }
}

/// The basis of the identity of a call or an output.
fn key<'t>(item: &'t Item<'_>) -> IdentityBasis<'t> {
    match (item.call_id.get(), item.id.get()) {
        (Some(call), _) => IdentityBasis::Call(call, &item.kind),
        (None, Some(id)) => IdentityBasis::Item(id),
        (None, None) => IdentityBasis::Content,
    }
}

/// A call's tool, and its text.
fn shown<'t>(item: &'t Item<'_>) -> (Cow<'t, str>, String) {
    let action = || json::as_text(item.action);
    match &*item.kind {
        "local_shell_call" => (
            Cow::Borrowed("local_shell"),
            calls::render("local_shell", &action()),
        ),
        "web_search_call" => (Cow::Borrowed("web_search"), searched(&action())),
        "tool_search_call" => {
            let arguments = json::as_text(item.arguments);
            (
                Cow::Borrowed("tool_search"),
                calls::render("tool_search", &arguments),
            )
        }
        "image_generation_call" => (
            Cow::Borrowed("image_generation"),
            item.revised_prompt.to_string(),
        ),
        _ => {
            let arguments = match item.input.get() {
                Some(input) => Cow::Borrowed(input),
                None => json::as_text(item.arguments),
            };
            (tool_name(item), calls::render(&item.name, &arguments))
        }
    }
}

/// A tool's name; `mcp__server__tool` for a tool of an MCP server, as in other hosts. Newer versions write `mcp__server`
/// as the namespace, older ones `server__tool` as the name.
fn tool_name<'t>(item: &'t Item<'_>) -> Cow<'t, str> {
    let name = &*item.name;
    match item.namespace.get() {
        Some(namespace) if namespace.starts_with("mcp__") => {
            Cow::Owned(format!("{}__{name}", namespace.trim_end_matches('_')))
        }
        None if is_qualified(name) && !name.starts_with("mcp__") => {
            Cow::Owned(format!("mcp__{name}"))
        }
        Some(_) | None => Cow::Borrowed(name),
    }
}

/// Whether a name is a server's and a tool's, `server__tool`. Names of tools have no other marks.
fn is_qualified(name: &str) -> bool {
    let is_mark = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    name.contains("__") && !name.contains(is_mark)
}

/// Whether an item is a search of the web that has ended. Its results are in no item of their own.
fn is_completed_search(item: &Item<'_>) -> bool {
    &*item.kind == "web_search_call" && matches!(&*item.status, "" | "completed")
}

/// The query of a web search.
fn searched(action: &str) -> String {
    let read = serde_json::from_str::<Object<Action<'_>>>(action);
    let of = read.ok().and_then(|action| action.0).unwrap_or_default();
    let parts = [&of.kind, &of.query, &of.pattern, &of.url];
    let parts: Vec<&str> = parts.into_iter().filter_map(|part| part.get()).collect();
    parts.join(" ")
}

/// An output's text, and how the call ended, if the output records it.
fn ended(item: &Item<'_>) -> (String, Option<ToolStatus>) {
    if &*item.kind == "tool_search_output" {
        return (json::as_text(item.tools).into_owned(), None);
    }
    let Some(output) = item.output else {
        return (String::new(), None);
    };
    let content: Content<'_, CodexPart<'_>> =
        serde_json::from_str(output.get()).unwrap_or_default();
    let text = part_texts(&content).join("\n");
    let success = match &content {
        Content::Parts(parts) => parts.iter().find_map(|part| match part {
            ContentMember::Object(piece) => piece.success,
            ContentMember::Text(_) | ContentMember::Other => None,
        }),
        Content::Nothing | Content::Text(_) => None,
    };
    let (text, code) = shell(text);
    let status = status(&text, code).or(success.map(|success| match success.0 {
        true => ToolStatus::Succeeded,
        false => ToolStatus::Failed,
    }));
    (text, status)
}

fn status(text: &str, code: Option<i64>) -> Option<ToolStatus> {
    let begins = |beginnings: &[&str]| {
        beginnings
            .iter()
            .any(|beginning| text.starts_with(beginning))
    };
    match code {
        _ if begins(REFUSALS) => Some(ToolStatus::Refused),
        Some(0) => Some(ToolStatus::Succeeded),
        Some(_) => Some(ToolStatus::Failed),
        None if begins(FAILURES) => Some(ToolStatus::Failed),
        None => None,
    }
}

/// A command's output, and its exit code.
fn shell(text: String) -> (String, Option<i64>) {
    if text.starts_with('{')
        && let Ok(Object(Some(shell))) = serde_json::from_str::<Object<Shell<'_>>>(&text)
        && let (Some(output), Some(metadata)) = (&shell.output, &shell.metadata.0)
        && let When::Number(code) = metadata.exit_code
    {
        let code = code as i64;
        let output = match code {
            0 => output.to_string(),
            code => format!("Exit code: {code}\n{}", &**output),
        };
        return (output, Some(code));
    }
    let code = heading(&text)
        .find_map(|line| {
            line.strip_prefix("Exit code: ")
                .or_else(|| line.strip_prefix("Process exited with code "))
        })
        .and_then(|code| code.trim().parse().ok());
    (text, code)
}

/// The host's lines before the command's own output.
fn heading(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take(8).take_while(|line| *line != "Output:")
}

/// The questions that a call asks a person.
fn questions(item: &Item<'_>) -> Vec<(String, String)> {
    if &*item.name != ASK {
        return Vec::new();
    }
    let arguments = json::as_text(item.arguments);
    let asked = serde_json::from_str::<Object<Asked<'_>>>(&arguments);
    let Some(Content::Parts(parts)) = asked
        .ok()
        .and_then(|asked| asked.0)
        .map(|asked| asked.questions)
    else {
        return Vec::new();
    };
    parts
        .iter()
        .filter_map(|part| match part {
            // The answer to a secret question is not stored.
            ContentMember::Object(question)
                if !question.is_secret.0 && !question.is_secret_too.0 =>
            {
                Some((question.id.to_string(), question.question.to_string()))
            }
            ContentMember::Object(_) | ContentMember::Text(_) | ContentMember::Other => None,
        })
        .take(16)
        .collect()
}

/// A person's answers: each question's id, and the words. `None` if the output holds no answers.
fn words(call: &Call, text: &str) -> Option<Vec<(String, String)>> {
    if call.tool != ASK {
        return None;
    }
    let answered = serde_json::from_str::<Object<Answered<'_>>>(text).ok()?.0?;
    let mut words = Vec::new();
    for (id, question) in &call.questions {
        let given = answered.answers.0.iter().find(|(about, _)| about == id);
        let Some(answer) = given.and_then(|(_, answer)| answer.0.as_ref()) else {
            continue;
        };
        let chosen = part_texts(&answer.answers);
        let chosen: Vec<&str> = chosen
            .iter()
            .map(|choice| choice.strip_prefix("user_note: ").unwrap_or(choice).trim())
            .filter(|choice| !choice.is_empty())
            .collect();
        if !chosen.is_empty() {
            words.push((
                id.clone(),
                format!("Q: {}\nA: {}", question.trim(), chosen.join(", ")),
            ));
        }
    }
    Some(words)
}
