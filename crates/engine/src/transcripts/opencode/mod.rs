//! Reads sessions of OpenCode: a file for the session, one for each message, and one for each of its parts.
//!
//! The session's file is the transcript; its messages and parts stand beside it (`beside`), in the order of their ids,
//! which ascend. What a file becomes:
//!
//! | file | becomes |
//! |---|---|
//! | the session | the session, its folder and title; with a `parentID` it is a sub-agent's |
//! | a message | what its parts have in common: who wrote them, and when |
//! | part `text` of a user | a person's words; a `synthetic` one is the host's |
//! | part `text` of the assistant | the agent's words; of a `summary` message, a summary |
//! | part `tool` | a call and its result; answers to `question` and the reason of a refusal are a person's words |
//! | part `file` | the file's name |
//! | any other part | nothing: reasoning, steps, snapshots, patches |
//! | a message at or behind the session's `revert` | nothing: it was taken back |
//!
//! Newer versions keep the same objects in a database, whose lines stand in the same order. Checked against samples of
//! versions 0.1 to 1.3 and the tables of `session.sql.ts`, but for the wording of refusals and answers. Not here: the database.

use daybook_domain::{Origin, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::format::SessionFormat;
use super::item::{BadLine, Via};
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::json;
use super::sketch::Sketch;
use daybook_text::lenient::{Flag, Object, Text, When};

/// How the result of a refused call begins, and what precedes the person's reason.
const REFUSED: &str = "The user rejected permission to use this specific tool call";
const REASON: &str = "with the following feedback: ";
/// The tool that asks a person, and how its result begins and ends.
const ASK: &str = "question";
const ANSWERS: &str = "User has answered your questions: ";
const BEHIND_ANSWERS: &str = ". You can now continue";

/// Sessions of OpenCode.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OpenCode {
    /// The role of the present message; empty while its parts are passed over.
    role: String,
    /// Whether the present message sums up what came before.
    is_summary: bool,
    /// The first message that was taken back.
    reverted_from: Option<String>,
}

/// A session, a message or a part.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpenCodeFile<'j> {
    #[serde(borrow)]
    id: Text<'j>,
    time: Object<Times<'j>>,
    // A session.
    #[serde(rename = "projectID")]
    project_id: Text<'j>,
    #[serde(rename = "parentID")]
    parent_id: Text<'j>,
    directory: Text<'j>,
    title: Text<'j>,
    revert: Object<Revert<'j>>,
    // A message.
    role: Text<'j>,
    /// True for a summary; an object elsewhere.
    summary: Flag,
    // A part.
    #[serde(rename = "type")]
    kind: Text<'j>,
    text: Text<'j>,
    synthetic: Flag,
    ignored: Flag,
    filename: Text<'j>,
    #[serde(rename = "callID")]
    call_id: Text<'j>,
    tool: Text<'j>,
    state: Object<CallState<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Times<'j> {
    #[serde(borrow)]
    created: When<'j>,
    start: When<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Revert<'j> {
    #[serde(rename = "messageID", borrow)]
    message_id: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallState<'j> {
    #[serde(borrow)]
    status: Text<'j>,
    #[serde(borrow)]
    input: Option<&'j RawValue>,
    output: Text<'j>,
    error: Text<'j>,
}

/// Whether a file that begins so describes such a session.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    sketch.has("id") && sketch.has("projectID") && sketch.has("directory")
}

impl SessionFormat for OpenCode {
    const AGENT: &'static str = "opencode";
    type Line<'j> = OpenCodeFile<'j>;

    fn read(&mut self, file: &OpenCodeFile<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        if !file.project_id.is_empty() {
            self.describe(file, out);
        } else if !file.role.is_empty() {
            self.begin_message(file, out);
        } else if !file.kind.is_empty() && !self.role.is_empty() {
            self.read_part(file, out);
        }
        Ok(())
    }
}

impl OpenCode {
    fn describe(&mut self, session: &OpenCodeFile<'_>, out: &mut ItemWriter<'_>) {
        let revert = session.revert.0.as_ref();
        self.reverted_from = revert.and_then(|revert| revert.message_id.owned());
        if let Some(time) = &session.time.0 {
            out.set_time(&time.created);
        }
        out.set_folder(&session.directory, None);
        out.describe(|fields| {
            fields.host_id = session.id.to_string();
            fields.parent = session.parent_id.owned();
            fields.is_sub_agent = fields.parent.is_some();
        });
        out.title(&session.title);
    }

    fn begin_message(&mut self, message: &OpenCodeFile<'_>, out: &mut ItemWriter<'_>) {
        if let Some(time) = &message.time.0 {
            out.set_time(&time.created);
        }
        let reverted = self.reverted_from.as_deref();
        self.role = match reverted.is_some_and(|first| &*message.id >= first) {
            true => String::new(),
            false => message.role.to_string(),
        };
        self.is_summary = message.summary.0;
        out.begin_record(&message.id);
    }

    fn read_part(&self, part: &OpenCodeFile<'_>, out: &mut ItemWriter<'_>) {
        if let Some(time) = &part.time.0 {
            out.set_time(&time.start);
        }
        let key = part.id.get().map_or(EventKey::Content, EventKey::InSession);
        match &*part.kind {
            "text" if !part.ignored.0 => {
                let origin = match &*self.role {
                    "user" if part.synthetic.0 => Origin::Harness,
                    "user" => Origin::Human,
                    _ if self.is_summary => Origin::Synthetic,
                    "assistant" => Origin::Assistant,
                    _ => Origin::Harness,
                };
                out.push(EventContent::plain(key, origin, &*part.text));
            }
            "tool" => read_call(part, out),
            "file" if !part.filename.is_empty() => {
                let name = format!("[file: {}]", &*part.filename);
                out.push(EventContent::plain(key, Origin::Harness, name));
            }
            _ => {}
        }
    }
}

fn read_call(part: &OpenCodeFile<'_>, out: &mut ItemWriter<'_>) {
    let Some(state) = &part.state.0 else {
        return;
    };
    let id = part.call_id.get().unwrap_or(&part.id);
    let key = EventKey::InSession(id);
    out.call(key, id, &part.tool, &json::as_text(state.input));
    let is_refused = state.error.starts_with(REFUSED);
    let status = match &*state.status {
        _ if is_refused => ToolStatus::Refused,
        "completed" | "success" => ToolStatus::Succeeded,
        "error" => ToolStatus::Failed,
        // A call that runs, or never ended, has no result yet.
        _ => return,
    };
    let reason = state.error.split_once(REASON).filter(|_| is_refused);
    let reason = reason.map(|(_, reason)| (reason.to_owned(), Via::Refusal));
    let answers = answers(&part.tool, &state.output).map(|answers| (answers, Via::Answer));
    let words = reason.or(answers);
    let text = match (&words, &*state.error) {
        (Some(_), _) => "",
        (None, "") => &*state.output,
        (None, error) => error,
    };
    out.result(
        key,
        id,
        CallResult {
            tool: part.tool.get(),
            text: text.into(),
            status: Some(status),
        },
    );
    if let Some((words, via)) = words {
        out.push(EventContent {
            via,
            part: "words",
            ..EventContent::plain(key, Origin::Human, words)
        });
    }
}

/// A person's answers: `"question"="answer", "question"="answer"`.
fn answers(tool: &str, output: &str) -> Option<String> {
    let pairs = output.strip_prefix(ANSWERS).filter(|_| tool == ASK)?;
    let pairs = &pairs[..pairs.rfind(BEHIND_ANSWERS).unwrap_or(pairs.len())];
    let lines =
        pairs
            .trim_matches('"')
            .split("\", \"")
            .map(|pair| match pair.split_once("\"=\"") {
                Some((question, answer)) => format!("Q: {question}\nA: {answer}"),
                None => pair.to_owned(),
            });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{ChatShape, TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, told};

    const FILES: TranscriptFormat = TranscriptFormat::OpenCode(ChatShape::Lines);
    const SESSION: &str = r#"{"id":"ses_1","projectID":"p","directory":"/home/ada/tidepool","title":"Gulls","time":{"created":1}}"#;
    const USER: &str = r#"{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1}}"#;
    const AGENT: &str =
        r#"{"id":"msg_2","sessionID":"ses_1","role":"assistant","time":{"created":1}}"#;

    #[test]
    fn parts_are_their_messages() {
        let document = TranscriptFormat::OpenCode(ChatShape::Document);
        assert_eq!(detect(SESSION.as_bytes()), document);
        assert_eq!(detect(format!("{SESSION}\n{USER}").as_bytes()), FILES);
        let lines = [
            SESSION,
            USER,
            r#"{"id":"prt_1","type":"text","text":"count the gulls"}"#,
            r#"{"id":"prt_2","type":"text","text":"Called the Read tool","synthetic":true}"#,
            AGENT,
            r#"{"id":"prt_3","type":"reasoning","text":"hm"}"#,
            r#"{"id":"prt_4","type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"gull.txt"}}"#,
            r#"{"id":"prt_5","type":"text","text":"One gull."}"#,
        ];
        check(
            &FILES,
            &lines,
            "human | count the gulls
             harness | Called the Read tool
             tool_call | ls
             tool_result | succeeded | gull.txt
             assistant | One gull.",
        );
        let expected = [
            "title of ses_1: Gulls",
            "session ses_1 root in /home/ada/tidepool",
        ];
        assert_eq!(told(&FILES, &lines), expected);
    }

    #[test]
    fn answers_and_refusals_hold_a_persons_words() {
        check(
            &FILES,
            &[
                SESSION,
                AGENT,
                r#"{"id":"prt_1","type":"tool","callID":"c1","tool":"bash","state":{"status":"error","input":{"command":"rm x"},"error":"The user rejected permission to use this specific tool call with the following feedback: keep x"}}"#,
                r#"{"id":"prt_2","type":"tool","callID":"c2","tool":"question","state":{"status":"completed","input":{},"output":"User has answered your questions: \"Which gull?\"=\"the grey one\". You can now continue with the user's answers in mind."}}"#,
            ],
            "tool_call | rm x
             tool_result | refused |
             human | keep x
             tool_call | {}
             tool_result | succeeded |
             human | Q: Which gull?⏎A: the grey one",
        );
    }

    #[test]
    fn what_was_taken_back_is_passed_over() {
        let session = SESSION.replacen('{', r#"{"revert":{"messageID":"msg_2"},"#, 1);
        check(
            &FILES,
            &[
                &session,
                USER,
                r#"{"id":"prt_1","type":"text","text":"one"}"#,
                AGENT,
                r#"{"id":"prt_2","type":"text","text":"1"}"#,
            ],
            "human | one",
        );
    }

    #[test]
    fn a_session_with_a_parent_is_a_sub_agents() {
        let session = SESSION.replacen('{', r#"{"parentID":"ses_0","#, 1);
        let lines = [
            &session,
            USER,
            r#"{"id":"prt_1","type":"text","text":"count"}"#,
        ];
        check(&FILES, &lines, "side assistant | count");
    }
}
