//! Reads sessions of Goose: a description, then a message on each line.
//!
//! What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | the first, with `working_dir` | the session's folder, title and kind |
//! | `role: user` with texts | a person's words; one that the person did not see, and those of a schedule, are the host's |
//! | `role: user` with `toolResponse` | the results of calls |
//! | `role: assistant` | the agent's words and calls; thinking is not kept |
//!
//! A session without an id is named after its file. Versions from 1.10 on keep the same messages in a database, whose rows
//! come as such lines. Checked against `session_manager.rs` of Goose; the wording of refusals is that of older versions.
//! Not here: the database.

use daybook_domain::{Origin, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use super::{json, wrappers};
use daybook_text::lenient::{Content, ContentMember, Object, Text, When};

/// Elements that the host writes into a person's message.
const ELEMENTS: &[&str] = &["info-msg", "system-reminder"];
/// How the result of a refused call begins.
const REFUSED: &str = "The user has declined to run this tool";

/// Sessions of Goose.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Goose {
    /// Whether a schedule, not a person, began the session.
    is_automatic: bool,
}

/// The description, or a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GooseLine<'j> {
    #[serde(borrow)]
    working_dir: Text<'j>,
    description: Text<'j>,
    session_id: Text<'j>,
    session_type: Text<'j>,
    id: Text<'j>,
    role: Text<'j>,
    created: When<'j>,
    content: Content<'j, Part<'j>>,
    metadata: Object<Metadata<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Part<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    text: Text<'j>,
    id: Text<'j>,
    tool_call: Object<Outcome<'j>>,
    tool_result: Object<Outcome<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Outcome<'j> {
    #[serde(borrow)]
    status: Text<'j>,
    #[serde(borrow)]
    value: Option<&'j RawValue>,
    error: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'j> {
    #[serde(borrow)]
    name: Text<'j>,
    #[serde(borrow)]
    arguments: Option<&'j RawValue>,
}

/// What a tool returned: a list of parts, or an object that has one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Returned<'j> {
    #[serde(borrow)]
    text: Text<'j>,
    content: Content<'j, Returned<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata<'j> {
    #[serde(borrow)]
    user_visible: Option<&'j RawValue>,
}

/// Whether a file that begins so holds such a session.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    sketch.has("working_dir") && sketch.has("description") && sketch.role.is_empty()
}

impl SessionFormat for Goose {
    const AGENT: &'static str = "goose";
    type Line<'j> = GooseLine<'j>;

    fn read(&mut self, line: &GooseLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        if !line.working_dir.is_empty() {
            out.set_folder(&line.working_dir, None);
            out.describe(|session| {
                session.host_id = line.session_id.to_string();
                session.is_sub_agent = &*line.session_type == "sub_agent";
            });
            self.is_automatic = matches!(&*line.session_type, "scheduled" | "hidden");
            out.title(&line.description);
            return Ok(());
        }
        out.set_time(&line.created);
        let key = line.id.get().map_or(EventKey::Content, EventKey::InSession);
        let text = texts(&line.content);
        let is_hidden = line
            .metadata
            .0
            .as_ref()
            .and_then(|metadata| metadata.user_visible);
        let is_hidden = is_hidden.is_some_and(|visible| visible.get() == "false");
        let plain = |origin, text| EventContent::plain(key, origin, text);
        match &*line.role {
            "user" => write_results(line, out),
            "assistant" => out.push(plain(Origin::Assistant, text.clone())),
            _ => {}
        }
        match &*line.role {
            "user" if is_hidden || self.is_automatic => out.push(plain(Origin::Harness, text)),
            "user" => {
                let unwrapped = wrappers::unwrap(&text, ELEMENTS);
                let inside = unwrapped.elements.iter().map(|(_, inside)| inside.trim());
                let by_host = inside.collect::<Vec<_>>().join("\n");
                out.push(plain(Origin::Harness, by_host).part("harness"));
                out.push(plain(Origin::Human, unwrapped.rest.into_owned()));
            }
            "assistant" => write_calls(line, out),
            _ => {}
        }
        Ok(())
    }
}

fn texts(content: &Content<'_, Part<'_>>) -> String {
    let texts = parts(content).filter(|part| &*part.kind == "text");
    texts.map(|part| &*part.text).collect::<Vec<_>>().join("\n")
}

fn parts<'c, 'j>(content: &'c Content<'j, Part<'j>>) -> impl Iterator<Item = &'c Part<'j>> {
    let parts = match content {
        Content::Parts(parts) => parts.as_slice(),
        Content::Nothing | Content::Text(_) => &[],
    };
    parts.iter().filter_map(|part| match part {
        ContentMember::Object(part) => Some(part),
        ContentMember::Text(_) | ContentMember::Other => None,
    })
}

fn write_calls(line: &GooseLine<'_>, out: &mut ItemWriter<'_>) {
    for part in parts(&line.content).filter(|part| &*part.kind == "toolRequest") {
        let outcome = part.tool_call.0.as_ref();
        let call = outcome.and_then(|outcome| outcome.value).map(RawValue::get);
        let call = call.and_then(|call| serde_json::from_str::<Object<Call<'_>>>(call).ok());
        if let Some(call) = call.and_then(|call| call.0) {
            let key = part.id.get().map_or(EventKey::Content, EventKey::InSession);
            out.call(key, &part.id, &call.name, &json::as_text(call.arguments));
        }
    }
}

fn write_results(line: &GooseLine<'_>, out: &mut ItemWriter<'_>) {
    for part in parts(&line.content).filter(|part| &*part.kind == "toolResponse") {
        let Some(outcome) = &part.tool_result.0 else {
            continue;
        };
        let returned = outcome.value.map(RawValue::get).unwrap_or("null");
        let returned: Content<'_, Returned<'_>> =
            serde_json::from_str(returned).unwrap_or_default();
        let text = match &*outcome.error {
            "" => returned_text(&returned),
            error => error.to_owned(),
        };
        let status = match &*outcome.status {
            _ if text.starts_with(REFUSED) => Some(ToolStatus::Refused),
            "success" => Some(ToolStatus::Succeeded),
            "error" => Some(ToolStatus::Failed),
            _ => None,
        };
        let key = part.id.get().map_or(EventKey::Content, EventKey::InSession);
        let result = CallResult {
            tool: None,
            text: text.into(),
            status,
        };
        out.result(key, &part.id, result);
    }
}

fn returned_text(returned: &Content<'_, Returned<'_>>) -> String {
    match returned {
        Content::Nothing => String::new(),
        Content::Text(text) => text.to_string(),
        Content::Parts(parts) => {
            let texts = parts.iter().map(|part| match part {
                ContentMember::Text(text) => text.to_string(),
                ContentMember::Object(part) if part.text.is_empty() => returned_text(&part.content),
                ContentMember::Object(part) => part.text.to_string(),
                ContentMember::Other => String::new(),
            });
            texts
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, told};

    const LINES: TranscriptFormat = TranscriptFormat::Goose;
    const SESSION: &str =
        r#"{"working_dir":"/home/ada/tidepool","description":"Geese","session_id":"g1"}"#;

    #[test]
    fn a_conversation_is_read_with_its_calls() {
        assert_eq!(detect(SESSION.as_bytes()), LINES);
        let lines = [
            SESSION,
            r#"{"role":"user","created":1775030400,"content":[{"type":"text","text":"<info-msg>\nit is noon\n</info-msg>\ncount the geese"}]}"#,
            r#"{"role":"assistant","created":1775030401,"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Looking."},{"type":"toolRequest","id":"t1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}}]}"#,
            r#"{"role":"user","created":1775030402,"content":[{"type":"toolResponse","id":"t1","toolResult":{"status":"success","value":[{"type":"text","text":"goose.txt"}]}}]}"#,
            r#"{"role":"user","created":1775030403,"content":[{"type":"toolResponse","id":"t2","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"The user has declined to run this tool."}]}}}]}"#,
            r#"{"role":"user","created":1775030404,"metadata":{"userVisible":false},"content":[{"type":"text","text":"go on"}]}"#,
        ];
        check(
            &LINES,
            &lines,
            "harness | it is noon
             human | count the geese
             assistant | Looking.
             tool_call | ls
             tool_result | succeeded | goose.txt
             tool_result | refused | The user has declined to run this tool.
             harness | go on",
        );
        let expected = [
            "title of g1: Geese",
            "session g1 root in /home/ada/tidepool",
        ];
        assert_eq!(told(&LINES, &lines), expected);
    }

    #[test]
    fn a_schedule_and_an_agent_are_no_person() {
        let words = r#"{"role":"user","content":[{"type":"text","text":"count the geese"}]}"#;
        let of = |kind: &str| {
            format!(r#"{{"working_dir":"/a","description":"","session_type":"{kind}"}}"#)
        };
        check(&LINES, &[&of("user"), words], "human | count the geese");
        check(
            &LINES,
            &[&of("scheduled"), words],
            "harness | count the geese",
        );
        check(
            &LINES,
            &[&of("sub_agent"), words],
            "side assistant | count the geese",
        );
    }
}
