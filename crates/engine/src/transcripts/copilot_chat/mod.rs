//! Reads chats of Copilot in VS Code: a document, or a log of changes to one.
//!
//! A document lists `requests`, each with its response. A log begins with the whole document, and then has a line for
//! each change: a value that was set, or members that were appended to a list behind a place in it. What becomes of them:
//!
//! | line | becomes |
//! |---|---|
//! | a request | a person's words; one that the host made, or a button, is the host's |
//! | a request that was undone | nothing |
//! | texts of its response | the agent's words, those in a row as one event; thinking is not kept |
//! | `toolInvocationSerialized` | a call and its result |
//! | `questionCarousel` | the agent's questions and a person's answers |
//! | requests cut off in a log | a retraction |
//! | parts of the newest response that changed in a log | a retraction of the old part, and the new one |
//! | any other change | nothing |
//!
//! The session is named after its file, and its folder by the file of its workspace (`beside`). Checked against
//! `chatModel.ts`, `chatService.ts`, `chatSessionOperationLog.ts` and `objectMutationLog.ts` of VS Code. Not here: parts
//! (`part`), and changes of requests before the newest, which VS Code does not make but to mark them.

mod part;

use std::borrow::Cow;

use daybook_domain::Origin;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use self::part::{Part, runs};
use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use super::{file_uri, json};
use daybook_text::lenient::{Content, ContentMember, Flag, Text, When};

/// Most runs of the newest response whose changes are recognised.
const RUNS: usize = 4096;

/// Chats of Copilot.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CopilotChat {
    /// Requests so far, in a log.
    requests: usize,
    /// The id of the newest.
    newest: String,
    /// Where each run of its response begins, and a fingerprint of it.
    runs: Vec<(usize, String)>,
    /// Parts of its response.
    parts: usize,
}

/// A request, a change, or what stands beside the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CopilotChatLine<'j> {
    #[serde(borrow)]
    request_id: Text<'j>,
    #[serde(borrow)]
    message: Option<&'j RawValue>,
    timestamp: When<'j>,
    response: Content<'j, Part<'j>>,
    confirmation: Text<'j>,
    is_system_initiated: Flag,
    is_hidden: Flag,
    #[serde(borrow)]
    should_be_removed_on_send: Option<&'j RawValue>,
    // A change: what it does, where, with which value, and behind which member of a list.
    #[serde(borrow)]
    kind: Option<&'j RawValue>,
    #[serde(borrow)]
    k: Option<&'j RawValue>,
    #[serde(borrow)]
    v: Option<&'j RawValue>,
    #[serde(borrow)]
    i: Option<&'j RawValue>,
    // Beside the file.
    session: Text<'j>,
    folder: Text<'j>,
}

type Requests<'j> = Content<'j, CopilotChatLine<'j>>;

/// The document, as a log begins with it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Session<'j> {
    #[serde(borrow)]
    session_id: Text<'j>,
    custom_title: Text<'j>,
    creation_date: When<'j>,
    requests: Requests<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'j> {
    #[serde(borrow)]
    text: Text<'j>,
}

/// Whether a file that begins so holds such a chat.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    let is_chat = |chat: &Sketch| {
        chat.has("requests") && (chat.has("responderUsername") || chat.has("sessionId"))
    };
    // A log's first line may be cut off within its requests, before the rest of its fields.
    let is_log = sketch.has("kind")
        && sketch
            .value
            .as_deref()
            .is_some_and(|chat| chat.has("requests"));
    is_chat(sketch) || is_log
}

impl SessionFormat for CopilotChat {
    const AGENT: &'static str = "copilot-chat";
    type Line<'j> = CopilotChatLine<'j>;

    fn read(
        &mut self,
        line: &CopilotChatLine<'_>,
        out: &mut ItemWriter<'_>,
    ) -> Result<(), BadLine> {
        if let Some(session) = line.session.get() {
            out.describe(|fields| fields.host_id = session.to_owned());
            if let Some(folder) = file_uri::folder(&line.folder) {
                out.set_folder(&folder, None);
            }
        }
        match line.kind.map(RawValue::get) {
            Some(kind) => self.change(kind, line, out),
            None if !line.request_id.is_empty() => {
                self.read_request(line, out);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl CopilotChat {
    /// Reads a change: 0 is the whole document, 1 sets a value, 2 appends to a list.
    fn change(
        &mut self,
        kind: &str,
        line: &CopilotChatLine<'_>,
        out: &mut ItemWriter<'_>,
    ) -> Result<(), BadLine> {
        let value = line.v.map_or("null", RawValue::get);
        let path: Vec<Value> = parse(line.k.map_or("[]", RawValue::get))?;
        let names: Vec<&str> = path
            .iter()
            .map(|name| name.as_str().unwrap_or_default())
            .collect();
        let place = |value: &Value| value.as_u64().and_then(|place| usize::try_from(place).ok());
        let from = line.i.and_then(|from| from.get().parse().ok());
        match (kind, names.as_slice()) {
            ("0", _) => self.begin(&parse(value)?, out),
            ("1", ["customTitle"]) => out.title(&parse::<Text<'_>>(value)?),
            ("1", ["requests"]) => self.read_requests(0, &parse(value)?, out),
            ("2", ["requests"]) => {
                self.read_requests(from.unwrap_or(self.requests), &parse(value)?, out);
            }
            ("1" | "2", ["requests", "", "response"])
                if place(&path[1]) == self.requests.checked_sub(1) =>
            {
                let from = match kind {
                    "1" => 0,
                    _ => from.unwrap_or(self.parts),
                };
                self.read_response(from, &parse(value)?, out);
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, session: &Session<'_>, out: &mut ItemWriter<'_>) {
        *self = Self::default();
        out.set_time(&session.creation_date);
        if let Some(id) = session.session_id.get() {
            out.describe(|fields| fields.host_id = id.to_owned());
        }
        out.title(&session.custom_title);
        self.read_requests(0, &session.requests, out);
    }

    /// Reads requests that stand at `from` and behind it. Those that stood there are taken back.
    fn read_requests(&mut self, from: usize, requests: &Requests<'_>, out: &mut ItemWriter<'_>) {
        if from < self.requests {
            out.retract_from(&from.to_string());
            self.requests = from;
        }
        if let Content::Parts(requests) = requests {
            for request in requests {
                if let ContentMember::Object(request) = request {
                    self.read_request(request, out);
                }
            }
        }
    }

    fn read_request(&mut self, request: &CopilotChatLine<'_>, out: &mut ItemWriter<'_>) {
        out.begin_record(&self.requests.to_string());
        self.requests += 1;
        self.newest = request.request_id.to_string();
        (self.runs, self.parts) = (Vec::new(), 0);
        let was_undone = request.should_be_removed_on_send;
        if request.is_hidden.0 || was_undone.is_some_and(|undone| undone.get() != "null") {
            return;
        }
        out.set_time(&request.timestamp);
        let origin = match request.is_system_initiated.0 || !request.confirmation.is_empty() {
            true => Origin::Harness,
            false => Origin::Human,
        };
        let key = EventKey::InSession(&request.request_id);
        out.push(EventContent::plain(key, origin, words(request.message)));
        self.read_response(0, &request.response, out);
    }

    /// Reads parts of the newest response that stand at `from` and behind it. What stood there before is taken back,
    /// unless it is the same.
    fn read_response(
        &mut self,
        from: usize,
        parts: &Content<'_, Part<'_>>,
        out: &mut ItemWriter<'_>,
    ) {
        let nth = self.requests.saturating_sub(1);
        let record = |start: usize| format!("{nth}.{start}");
        let kept = self.runs.iter().position(|(start, _)| *start >= from);
        let before = self.runs.split_off(kept.unwrap_or(self.runs.len()));
        let (runs, end) = runs(from, parts);
        for run in runs {
            let mark = (run.start, run.fingerprint());
            if !before.contains(&mark) {
                if before.iter().any(|(start, _)| *start == run.start) {
                    out.retract_record(&record(run.start));
                }
                out.begin_record(&record(run.start));
                run.write(&format!("{}/{}/{}", self.newest, mark.0, mark.1), out);
            }
            if self.runs.len() < RUNS {
                self.runs.push(mark);
            }
        }
        for (start, _) in before.iter().filter(|(start, _)| *start >= end) {
            out.retract_record(&record(*start));
        }
        self.parts = end;
    }
}

/// What a person wrote in a request: an object with a text, or in old versions a text.
fn words<'r>(message: Option<&'r RawValue>) -> Cow<'r, str> {
    let object = message
        .map(RawValue::get)
        .filter(|message| message.starts_with('{'));
    match object.and_then(|object| serde_json::from_str::<Message<'r>>(object).ok()) {
        Some(message) => message.text.0,
        None => json::as_text(message),
    }
}

fn parse<'j, T: Deserialize<'j>>(value: &'j str) -> Result<T, BadLine> {
    serde_json::from_str(value).map_err(|error| json::bad(&error))
}

#[cfg(test)]
#[path = "copilot_chat_tests.rs"]
mod tests;
