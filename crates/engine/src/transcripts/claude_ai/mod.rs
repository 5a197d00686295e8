//! Reads conversations that Claude.ai exported: a list in `conversations.json`, each with its messages.
//!
//! A message's id is its own in every export. Where messages name the ones before them, those on the path to the last one
//! are the conversation. What a message becomes:
//!
//! | message | becomes |
//! |---|---|
//! | of a `human` | a person's words; the text of attachments is the host's |
//! | of the `assistant` | the agent's words; thoughts are not kept |
//! | block `tool_use`, `tool_result` | a call, and its result |
//! | off the path | nothing: a message that was edited, or an answer that was generated again |
//!
//! Each conversation is a session. One is held in memory at a time, its long texts cut as those of lines are. Checked
//! against public descriptions of the export: the service has no public source. Not here: the archive (`zip`).

use std::collections::HashMap;

use daybook_domain::Origin;
use serde::{Deserialize, Serialize};

use super::blocks::{self, Blocks};
use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use daybook_text::lenient::{Content, ContentMember, Text, When};

/// The parent of a first message.
const NO_PARENT: &str = "00000000-0000-4000-8000-000000000000";

/// Conversations of Claude.ai.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ClaudeAi {}

/// One conversation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Conversation<'j> {
    #[serde(borrow)]
    uuid: Text<'j>,
    name: Text<'j>,
    created_at: When<'j>,
    current_leaf_message_uuid: Text<'j>,
    chat_messages: Content<'j, Message<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'j> {
    #[serde(borrow)]
    uuid: Text<'j>,
    parent_message_uuid: Text<'j>,
    sender: Text<'j>,
    created_at: When<'j>,
    text: Text<'j>,
    content: Blocks<'j>,
    attachments: Content<'j, Attachment<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Attachment<'j> {
    #[serde(borrow)]
    file_name: Text<'j>,
    extracted_content: Text<'j>,
}

/// Whether an object is such a conversation.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    sketch.has("uuid") && sketch.has("chat_messages")
}

impl SessionFormat for ClaudeAi {
    const AGENT: &'static str = "claude-ai";
    type Line<'j> = Conversation<'j>;

    fn read(&mut self, line: &Conversation<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        out.begin_session();
        out.set_time(&line.created_at);
        out.describe(|session| session.host_id = line.uuid.to_string());
        out.title(&line.name);
        for message in path(line) {
            read_message(message, out);
        }
        Ok(())
    }
}

/// The messages of the conversation, first to last, without those that were edited away.
fn path<'c>(conversation: &'c Conversation<'_>) -> Vec<&'c Message<'c>> {
    let Content::Parts(members) = &conversation.chat_messages else {
        return Vec::new();
    };
    let messages = members.iter().filter_map(|member| match member {
        ContentMember::Object(message) => Some(message),
        ContentMember::Text(_) | ContentMember::Other => None,
    });
    let messages: Vec<&Message<'_>> = messages.collect();
    if messages
        .iter()
        .any(|message| message.parent_message_uuid.is_empty())
    {
        return messages;
    }
    let by_id: HashMap<&str, &Message<'_>> = messages
        .iter()
        .map(|message| (&*message.uuid, *message))
        .collect();
    let leaf = &*conversation.current_leaf_message_uuid;
    let last = messages.last().map_or("", |message| &message.uuid);
    let mut id = if by_id.contains_key(leaf) { leaf } else { last };
    let mut path: Vec<&Message<'_>> = Vec::new();
    while let Some(message) = by_id.get(id).filter(|_| path.len() < messages.len()) {
        path.push(message);
        id = &message.parent_message_uuid;
    }
    // A parent that is not there means that the export is not whole: then all of it counts.
    if !id.is_empty() && id != NO_PARENT {
        return messages;
    }
    path.reverse();
    path
}

fn read_message(message: &Message<'_>, out: &mut ItemWriter<'_>) {
    out.set_time(&message.created_at);
    let key = message
        .uuid
        .get()
        .map_or(EventKey::Content, EventKey::Global);
    let text = match blocks::texts(&message.content) {
        text if text.trim().is_empty() => message.text.to_string(),
        text => text,
    };
    let plain = |origin, text: String| EventContent::plain(key, origin, text);
    match &*message.sender {
        "human" => {
            if let Content::Parts(attachments) = &message.attachments {
                let texts = attachments
                    .iter()
                    .filter_map(|attachment| match attachment {
                        ContentMember::Object(file) => {
                            let text =
                                format!("{}\n{}", &*file.file_name, &*file.extracted_content);
                            Some(text.trim().to_owned())
                        }
                        ContentMember::Text(_) | ContentMember::Other => None,
                    });
                let texts = texts.collect::<Vec<_>>().join("\n\n");
                out.push(plain(Origin::Harness, texts).part("attachments"));
            }
            out.push(plain(Origin::Human, text));
        }
        "assistant" => {
            blocks::write_calls(&message.content, key, out);
            blocks::write_results(&message.content, key, out);
            out.push(plain(Origin::Assistant, text));
        }
        _ => out.push(plain(Origin::Harness, text)),
    }
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{ChatShape, TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, told};

    const LIST: TranscriptFormat = TranscriptFormat::ClaudeAi(ChatShape::Document);

    fn conversation(messages: &[&str]) -> String {
        format!(
            r#"{{"uuid":"k1","name":"Bees","created_at":"2026-03-02T08:00:00Z","chat_messages":[{}]}}"#,
            messages.join(",")
        )
    }

    #[test]
    fn a_conversation_is_read_with_its_attachments_and_calls() {
        let text = conversation(&[
            r#"{"uuid":"m1","sender":"human","text":"how many bees?","attachments":[{"file_name":"hive.txt","extracted_content":"a photo"}]}"#,
            r#"{"uuid":"m2","sender":"assistant","text":"","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","name":"count","input":{"of":"bees"}},{"type":"tool_result","name":"count","content":[{"type":"text","text":"40000"}]},{"type":"text","text":"About 40,000."}]}"#,
        ]);
        assert_eq!(detect(format!("[{text}]").as_bytes()), LIST);
        check(
            &LIST,
            &[&text],
            r#"harness | hive.txt⏎a photo
            human | how many bees?
            tool_call | {"of":"bees"}
            tool_result | 40000
            assistant | About 40,000."#,
        );
        assert_eq!(
            told(&LIST, &[&text]),
            ["title of k1: Bees", "session k1 root"]
        );
    }

    #[test]
    fn an_edited_message_replaces_the_one_before() {
        let root = super::NO_PARENT;
        let message = |id: &str, parent: &str, text: &str| {
            format!(
                r#"{{"uuid":"{id}","parent_message_uuid":"{parent}","sender":"human","text":"{text}"}}"#
            )
        };
        let messages = [
            message("m1", root, "one"),
            message("m2", "m1", "tow"),
            message("m3", "m1", "two"),
        ];
        let texts: Vec<&str> = messages.iter().map(String::as_str).collect();
        check(&LIST, &[&conversation(&texts)], "human | one\n human | two");
        check(
            &LIST,
            &[&conversation(&texts[1..])],
            "human | tow\n human | two",
        );
    }
}
