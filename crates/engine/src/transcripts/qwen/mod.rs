//! Reads sessions of Qwen Code: a record on each line, whose messages are those of Google's interface for models.
//!
//! A record's id is its own in every copy: a branch of a session repeats the records of its parent. What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | any | the session, its folder and branch; `forkedFrom` and `parent_session` name another one |
//! | `user`, without a subtype | a person's words, apart from what the host adds to them (`gemini::person`) |
//! | `user`, `mid_turn_user_message` | a person's words, typed while the agent worked |
//! | `user`, any other subtype or provenance | the host's text: notifications, scheduled prompts, goals |
//! | `assistant` | the agent's words and calls; thoughts are not kept |
//! | `tool_result` | the result of a call, and the answers of a person to `ask_user_question` |
//! | `system`, `slash_command` | a command with words behind it is a person's, a bare one the host's |
//! | `system`, `rewind` | a retraction of all behind its parent |
//! | `system`, `custom_title` | the session's title |
//! | `system`, any other subtype | nothing: telemetry, snapshots, compacted copies of what is read |
//!
//! Checked against `chatRecordingService.ts` of QwenLM/qwen-code. Not here: the host's own index of sessions.

use daybook_domain::{Origin, ToolStatus};
use serde::{Deserialize, Serialize};

use super::format::SessionFormat;
use super::gemini::person;
use super::genai::{self, Part};
use super::item::{BadLine, Via};
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::json;
use super::sketch::Sketch;
use daybook_text::lenient::{Content, Flag, Object, Text, When};

/// How the result begins that holds a person's answers.
const ANSWERS: &str = "User has provided the following answers:";
/// The tool that asks a person.
const ASK: &str = "ask_user_question";

/// Sessions of Qwen Code.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Qwen {
    /// Whether a record of the session itself was read, and not only a sub-agent's.
    has_root: bool,
}

/// One record.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct QwenLine<'j> {
    #[serde(borrow)]
    uuid: Text<'j>,
    parent_uuid: Text<'j>,
    session_id: Text<'j>,
    timestamp: When<'j>,
    #[serde(rename = "type")]
    author: Text<'j>,
    subtype: Text<'j>,
    provenance: Text<'j>,
    cwd: Text<'j>,
    git_branch: Text<'j>,
    is_sidechain: Flag,
    forked_from: Object<SessionReference<'j>>,
    message: Object<Message<'j>>,
    tool_call_result: Object<Outcome<'j>>,
    system_payload: Object<Payload<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'j> {
    #[serde(borrow)]
    parts: Content<'j, Part<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SessionReference<'j> {
    #[serde(borrow)]
    session_id: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Outcome<'j> {
    #[serde(borrow)]
    status: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Payload<'j> {
    /// The words as the person typed them.
    #[serde(borrow)]
    display_text: Content<'j, Part<'j>>,
    custom_title: Text<'j>,
    parent_session_id: Text<'j>,
    phase: Text<'j>,
    raw_command: Text<'j>,
}

/// Whether a file that begins so holds such a session.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    let is_message = sketch
        .message
        .as_ref()
        .is_some_and(|message| message.has("parts"));
    let is_system = sketch.kind == "system" && sketch.has("subtype") && sketch.has("parentUuid");
    sketch.has("uuid")
        && sketch.has("sessionId")
        && (is_message || is_system)
        && !sketch
            .message
            .as_ref()
            .is_some_and(|message| message.has("content"))
}

impl SessionFormat for Qwen {
    const AGENT: &'static str = "qwen-code";
    type Line<'j> = QwenLine<'j>;

    fn read(&mut self, line: &QwenLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        out.set_time(&line.timestamp);
        out.set_folder(&line.cwd, line.git_branch.get());
        self.has_root |= !line.is_sidechain.0;
        describe(line, !self.has_root, out);
        out.begin_record(&line.uuid);
        let content = match &line.message.0 {
            Some(message) => &message.parts,
            None => &Content::Nothing,
        };
        match &*line.author {
            "user" => read_user(line, content, out),
            "assistant" => read_assistant(line, content, out),
            "tool_result" => read_results(line, content, out),
            "system" => read_system(line, out),
            _ => {}
        }
        Ok(())
    }
}

fn describe(line: &QwenLine<'_>, is_sub_agent: bool, out: &mut ItemWriter<'_>) {
    let forked_from = line.forked_from.0.as_ref();
    let forked_from = forked_from.and_then(|from| from.session_id.owned());
    out.describe(|session| {
        if session.host_id.is_empty() {
            session.host_id = line.session_id.to_string();
        }
        session.is_sub_agent = is_sub_agent;
        session.forked_from = forked_from.or(session.forked_from.take());
    });
}

/// Content of this record.
fn plain<'t>(line: &'t QwenLine<'_>, origin: Origin, text: String) -> EventContent<'t> {
    EventContent {
        sidechain: line.is_sidechain.0,
        ..EventContent::plain(key(line), origin, text)
    }
}

fn key<'t>(line: &'t QwenLine<'_>) -> EventKey<'t> {
    line.uuid.get().map_or(EventKey::Content, EventKey::Global)
}

fn read_user(line: &QwenLine<'_>, content: &Content<'_, Part<'_>>, out: &mut ItemWriter<'_>) {
    let shown = match &line.system_payload.0 {
        Some(payload) => &payload.display_text,
        None => &Content::Nothing,
    };
    let is_persons = matches!(&*line.provenance, "" | "real_user");
    match &*line.subtype {
        _ if line.is_sidechain.0 => {
            out.push(plain(line, Origin::Human, genai::texts(content).join("\n")));
        }
        "" | "realtime_message" if is_persons => person::read(key(line), content, shown, out),
        "mid_turn_user_message" if is_persons => {
            let typed = match genai::texts(shown).join("") {
                typed if typed.is_empty() => genai::texts(content).join("\n"),
                typed => typed,
            };
            out.push(EventContent {
                via: Via::Queue,
                ..plain(line, Origin::Human, typed)
            });
        }
        _ => out.push(plain(
            line,
            Origin::Harness,
            genai::texts(content).join("\n"),
        )),
    }
}

fn read_assistant(line: &QwenLine<'_>, content: &Content<'_, Part<'_>>, out: &mut ItemWriter<'_>) {
    let text = genai::texts(content).join("");
    // Records of one message share its id, so that the text tells them apart.
    let words = plain(line, Origin::Assistant, text.clone());
    out.push(words.part(&text));
    for call in genai::objects(content).filter_map(|part| part.function_call.0.as_ref()) {
        let key = call.id.get().map_or(key(line), EventKey::InSession);
        out.call(key, &call.id, &call.name, &json::as_text(call.args));
    }
}

fn read_results(line: &QwenLine<'_>, content: &Content<'_, Part<'_>>, out: &mut ItemWriter<'_>) {
    let ended = line.tool_call_result.0.as_ref();
    for response in genai::objects(content).filter_map(|part| part.function_response.0.as_ref()) {
        let result = response.result();
        let status = match ended {
            Some(ended) => genai::status(&ended.status, &result),
            None => result.status.filter(|status| *status == ToolStatus::Failed),
        };
        let key = response.id.get().map_or(key(line), EventKey::InSession);
        let answers = answers(&response.name, &result.text);
        out.result(
            key,
            &response.id,
            CallResult {
                status,
                text: match answers {
                    Some(_) => "".into(),
                    None => result.text,
                },
                tool: result.tool,
            },
        );
        if let Some(answers) = answers {
            out.push(EventContent {
                via: Via::Answer,
                part: "answers",
                ..plain(line, Origin::Human, answers)
            });
        }
    }
}

/// A person's answers, each behind the heading of its question.
fn answers(tool: &str, result: &str) -> Option<String> {
    let answers = result.strip_prefix(ANSWERS).filter(|_| tool == ASK)?.trim();
    let lines = answers.lines().map(|line| {
        let pair = line
            .strip_prefix("**")
            .and_then(|rest| rest.split_once("**: "));
        pair.map_or(line.to_owned(), |(question, answer)| {
            format!("Q: {question}\nA: {answer}")
        })
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn read_system(line: &QwenLine<'_>, out: &mut ItemWriter<'_>) {
    if &*line.subtype == "rewind" {
        return out.retract_behind(&line.parent_uuid);
    }
    let Some(payload) = &line.system_payload.0 else {
        return;
    };
    match &*line.subtype {
        "custom_title" => out.title(&payload.custom_title),
        "parent_session" => {
            let parent = payload.parent_session_id.owned();
            out.describe(|session| session.parent = parent);
        }
        "slash_command" if &*payload.phase != "result" => {
            let origin = match payload.raw_command.trim().contains(char::is_whitespace) {
                true => Origin::Human,
                false => Origin::Harness,
            };
            out.push(plain(line, origin, payload.raw_command.to_string()));
        }
        _ => {}
    }
}

#[cfg(test)]
#[path = "qwen_tests.rs"]
mod tests;
