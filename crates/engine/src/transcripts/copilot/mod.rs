//! Reads sessions of GitHub Copilot CLI: an event on each line, with its data in an object.
//!
//! What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | `session.start`, `session.resume`, `session.context_changed` | the session, its folder, branch and repository |
//! | `user.message` | a person's words; with a `source`, or of the autopilot, the host's |
//! | `assistant.message` | the agent's words and calls; reasoning is not kept |
//! | `tool.execution_start` | the call, where no message held it |
//! | `tool.execution_complete` | its result; answers to `ask_user` and the reason of a refusal are a person's words |
//! | `system.message`, `system.notification` | the host's text |
//! | `session.snapshot_rewind` | a retraction of that event and all behind it |
//! | `session.title_changed` | the session's title |
//! | anything else | nothing: hooks, usage, turns, parts of answers that follow whole |
//!
//! An event of a sub-agent names its agent, or the call that started it. Fields are checked against the generated
//! session events of github/copilot-sdk; the wording of refusals and answers is not public. Not here: `workspace.yaml` beside the events, which names the session again.

use daybook_domain::{Origin, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::format::SessionFormat;
use super::item::{BadLine, Via};
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use super::{json, wrappers};
use crate::places::folding::normalised_remote;
use daybook_text::lenient::{Content, ContentMember, Flag, Object, Text, When};

/// Elements that the host writes into a person's message.
const ELEMENTS: &[&str] = &[
    "system-reminder",
    "system_reminder",
    "reminder",
    "current_datetime",
    "agent_instructions",
    "skill-context",
];
/// The tool that asks a person, and how its results begin.
const ASK: &str = "ask_user";
const ANSWERS: [&str; 2] = ["User selected: ", "User responded: "];
/// How the error of a refused call begins, and what precedes the person's reason in it.
const REFUSED: &str = "The user rejected this tool call";
const REASON: &str = "User feedback: ";

/// Sessions of Copilot CLI.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Copilot {}

/// One event.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CopilotLine<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    id: Text<'j>,
    timestamp: When<'j>,
    agent_id: Text<'j>,
    data: Object<EventData<'j>>,
}

/// The data of an event, of whichever kind.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EventData<'j> {
    #[serde(borrow)]
    session_id: Text<'j>,
    context: Object<Context<'j>>,
    cwd: Text<'j>,
    branch: Text<'j>,
    title: Text<'j>,
    up_to_event_id: Text<'j>,
    content: Text<'j>,
    source: Text<'j>,
    is_autopilot_continuation: Flag,
    delivery: Text<'j>,
    tool_requests: Content<'j, ToolRequest<'j>>,
    tool_call_id: Text<'j>,
    tool_name: Text<'j>,
    parent_tool_call_id: Text<'j>,
    #[serde(borrow)]
    arguments: Option<&'j RawValue>,
    #[serde(borrow)]
    success: Option<&'j RawValue>,
    result: Object<Output<'j>>,
    error: Object<Failure<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Context<'j> {
    #[serde(borrow)]
    cwd: Text<'j>,
    branch: Text<'j>,
    repository: Text<'j>,
    repository_host: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolRequest<'j> {
    #[serde(borrow)]
    tool_call_id: Text<'j>,
    name: Text<'j>,
    #[serde(borrow)]
    arguments: Option<&'j RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Output<'j> {
    #[serde(borrow)]
    content: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Failure<'j> {
    #[serde(borrow)]
    code: Text<'j>,
    message: Text<'j>,
}

/// Whether a file that begins so holds such a session.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    const FAMILIES: [&str; 5] = ["session.", "user.", "assistant.", "tool.", "hook."];
    sketch.has("data")
        && sketch.has("id")
        && sketch.has("timestamp")
        && FAMILIES
            .iter()
            .any(|family| sketch.kind.starts_with(family))
}

impl SessionFormat for Copilot {
    const AGENT: &'static str = "copilot-cli";
    type Line<'j> = CopilotLine<'j>;

    fn read(&mut self, line: &CopilotLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        let Some(data) = &line.data.0 else {
            return Ok(());
        };
        out.set_time(&line.timestamp);
        out.begin_record(&line.id);
        let event = Event { line, data };
        match &*line.kind {
            "session.start" | "session.resume" | "session.context_changed" => event.describe(out),
            "session.title_changed" => out.title(&data.title),
            "session.snapshot_rewind" => out.retract_from(&data.up_to_event_id),
            "user.message" => event.user(out),
            "assistant.message" => event.assistant(out),
            "tool.execution_start" | "tool.user_requested" => {
                let arguments = json::as_text(data.arguments);
                let key = event.call_key(&data.tool_call_id);
                out.call(key, &data.tool_call_id, &data.tool_name, &arguments);
            }
            "tool.execution_complete" => event.result(out),
            "system.message" | "system.notification" => {
                out.push(event.plain(Origin::Harness, data.content.to_string()));
            }
            _ => {}
        }
        Ok(())
    }
}

/// An event, with its data.
struct Event<'e> {
    line: &'e CopilotLine<'e>,
    data: &'e EventData<'e>,
}

impl<'e> Event<'e> {
    fn plain(&self, origin: Origin, text: String) -> EventContent<'e> {
        let key = self
            .line
            .id
            .get()
            .map_or(EventKey::Content, EventKey::InSession);
        EventContent {
            sidechain: !self.line.agent_id.is_empty() || !self.data.parent_tool_call_id.is_empty(),
            ..EventContent::plain(key, origin, text)
        }
    }

    fn call_key<'t>(&self, id: &'t str) -> EventKey<'t>
    where
        'e: 't,
    {
        match id {
            "" => self
                .line
                .id
                .get()
                .map_or(EventKey::Content, EventKey::InSession),
            id => EventKey::InSession(id),
        }
    }

    fn describe(&self, out: &mut ItemWriter<'_>) {
        let context = self.data.context.0.as_ref();
        let of = |field: fn(&'e Context<'e>) -> &'e str, own: &'e str| match own {
            "" => context.map_or("", field),
            own => own,
        };
        let branch = of(|context| &context.branch, &self.data.branch);
        let branch = Some(branch).filter(|branch| !branch.is_empty());
        out.set_folder(of(|context| &context.cwd, &self.data.cwd), branch);
        let remote = context.filter(|context| !context.repository.is_empty());
        let remote = remote.and_then(|context| {
            let host = context.repository_host.get().unwrap_or("github.com");
            normalised_remote(&format!("https://{host}/{}", &*context.repository))
        });
        out.describe(|session| {
            if session.host_id.is_empty() {
                session.host_id = self.data.session_id.to_string();
            }
            session.remote = remote.or(session.remote.take());
        });
    }

    fn user(&self, out: &mut ItemWriter<'_>) {
        let is_hosts = !matches!(&*self.data.source, "" | "user");
        if is_hosts || self.data.is_autopilot_continuation.0 {
            return out.push(self.plain(Origin::Harness, self.data.content.to_string()));
        }
        let unwrapped = wrappers::unwrap(&self.data.content, ELEMENTS);
        let elements = unwrapped.elements.iter().map(|(_, inside)| inside.trim());
        let by_host = elements.collect::<Vec<_>>().join("\n");
        out.push(self.plain(Origin::Harness, by_host).part("harness"));
        out.push(EventContent {
            via: match &*self.data.delivery {
                "steering" | "queued" => Via::Queue,
                _ => Via::Message,
            },
            ..self.plain(Origin::Human, unwrapped.rest.into_owned())
        });
    }

    fn assistant(&self, out: &mut ItemWriter<'_>) {
        out.push(self.plain(Origin::Assistant, self.data.content.to_string()));
        let Content::Parts(requests) = &self.data.tool_requests else {
            return;
        };
        for request in requests {
            if let ContentMember::Object(request) = request {
                let key = self.call_key(&request.tool_call_id);
                let arguments = json::as_text(request.arguments);
                out.call(key, &request.tool_call_id, &request.name, &arguments);
            }
        }
    }

    fn result(&self, out: &mut ItemWriter<'_>) {
        let id = &*self.data.tool_call_id;
        let output = self
            .data
            .result
            .0
            .as_ref()
            .map_or("", |output| &*output.content);
        let failure = self.data.error.0.as_ref();
        let message = failure.map_or("", |failure| &*failure.message);
        let is_refused = message.starts_with(REFUSED)
            || failure.is_some_and(|failure| matches!(&*failure.code, "rejected" | "denied"));
        let status = match self.data.success.map(RawValue::get) {
            _ if is_refused => Some(ToolStatus::Refused),
            Some("true") => Some(ToolStatus::Succeeded),
            Some("false") => Some(ToolStatus::Failed),
            Some(_) | None => None,
        };
        let is_answer = out.open_tool(id) == Some(ASK) || &*self.data.tool_name == ASK;
        let answer = ANSWERS
            .iter()
            .find_map(|beginning| output.strip_prefix(beginning));
        let reason = message
            .split_once(REASON)
            .map(|(_, reason)| reason)
            .filter(|_| is_refused);
        let words = match (answer.filter(|_| is_answer), reason) {
            (Some(answer), _) => Some((answer, Via::Answer)),
            (None, Some(reason)) => Some((reason, Via::Refusal)),
            (None, None) => None,
        };
        let text = match (words, output) {
            (Some(_), _) => "",
            (None, "") => message,
            (None, output) => output,
        };
        let key = self.call_key(id);
        out.result(
            key,
            id,
            CallResult {
                tool: self.data.tool_name.get(),
                text: text.into(),
                status,
            },
        );
        if let Some((words, via)) = words {
            let words = words.trim().to_owned();
            out.push(EventContent {
                via,
                part: "words",
                ..self.plain(Origin::Human, words)
            });
        }
    }
}

#[cfg(test)]
#[path = "copilot_tests.rs"]
mod tests;
