//! Reads conversations that ChatGPT exported: a list in `conversations.json`, each with a tree of messages.
//!
//! The messages on the path to the current node are the conversation; a message's id is its own in every export. What a
//! node becomes:
//!
//! | node | becomes |
//! |---|---|
//! | of a `user` | a person's words; a hidden one, and their custom instructions, are the host's |
//! | of the `assistant`, to all | the agent's words; thoughts are not kept |
//! | of the `assistant`, to a tool | a call of that tool |
//! | of a `tool` | the result of the call |
//! | of the `system` | the host's text |
//! | off the path | nothing: a message that was edited, or an answer that was generated again |
//!
//! Each conversation is a session. One is held in memory at a time, its long texts cut as those of lines are. Checked
//! against public descriptions of the export: the service has no public source. Not here: the archive (`zip`).

use std::collections::HashMap;

use daybook_domain::Origin;
use serde::{Deserialize, Serialize};

use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use daybook_text::lenient::{Content, ContentMember, Flag, Object, Pairs, Text, When};

/// Conversations of ChatGPT.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ChatGpt {}

/// One conversation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Conversation<'j> {
    #[serde(borrow)]
    conversation_id: Text<'j>,
    id: Text<'j>,
    title: Text<'j>,
    create_time: When<'j>,
    current_node: Text<'j>,
    is_do_not_remember: Flag,
    mapping: Pairs<'j, Object<Node<'j>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Node<'j> {
    #[serde(borrow)]
    parent: Text<'j>,
    message: Object<Message<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'j> {
    #[serde(borrow)]
    id: Text<'j>,
    author: Object<Author<'j>>,
    create_time: When<'j>,
    recipient: Text<'j>,
    content: Object<MessageContent<'j>>,
    metadata: Object<Metadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Author<'j> {
    #[serde(borrow)]
    role: Text<'j>,
    name: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageContent<'j> {
    #[serde(borrow)]
    content_type: Text<'j>,
    parts: Content<'j, PartObject<'j>>,
    text: Text<'j>,
    result: Text<'j>,
    user_instructions: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PartObject<'j> {
    #[serde(borrow)]
    content_type: Text<'j>,
    text: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    is_visually_hidden_from_conversation: Flag,
}

/// Whether an object is such a conversation.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    sketch.has("mapping") && (sketch.has("create_time") || sketch.has("current_node"))
}

impl SessionFormat for ChatGpt {
    const AGENT: &'static str = "chatgpt";
    type Line<'j> = Conversation<'j>;

    fn read(&mut self, line: &Conversation<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        out.begin_session();
        out.set_time(&line.create_time);
        out.describe(|session| {
            let id = line.conversation_id.get().unwrap_or(&line.id);
            session.host_id = id.to_owned();
            session.memory_off = line.is_do_not_remember.0;
        });
        out.title(&line.title);
        for message in path(line) {
            read_message(message, out);
        }
        Ok(())
    }
}

/// The messages on the path to the current node, first to last.
fn path<'c>(conversation: &'c Conversation<'_>) -> Vec<&'c Message<'c>> {
    let nodes = &conversation.mapping.0;
    let by_id: HashMap<&str, &Node<'_>> = nodes
        .iter()
        .filter_map(|(id, node)| Some((&**id, node.0.as_ref()?)))
        .collect();
    let last = nodes.last().map_or("", |(id, _)| id);
    let current = &*conversation.current_node;
    let mut id = if by_id.contains_key(current) {
        current
    } else {
        last
    };
    let mut path = Vec::new();
    // A tree that leads back to itself ends when every node was met.
    for _ in 0..nodes.len() {
        let Some(node) = by_id.get(id) else {
            break;
        };
        path.extend(node.message.0.as_ref());
        id = &node.parent;
    }
    path.reverse();
    path
}

fn read_message(message: &Message<'_>, out: &mut ItemWriter<'_>) {
    let (Some(author), Some(content)) = (&message.author.0, &message.content.0) else {
        return;
    };
    out.set_time(&message.create_time);
    let key = message.id.get().map_or(EventKey::Content, EventKey::Global);
    let text = text(content);
    let is_hidden = message.metadata.0.as_ref();
    let is_hidden = is_hidden.is_some_and(|of| of.is_visually_hidden_from_conversation.0);
    let is_instructions = &*content.content_type == "user_editable_context";
    match (&*author.role, &*message.recipient) {
        ("user", _) => {
            let origin = match is_hidden || is_instructions {
                true => Origin::Harness,
                false => Origin::Human,
            };
            out.push(EventContent::plain(key, origin, text));
        }
        ("assistant", "" | "all") => {
            out.push(EventContent::plain(key, Origin::Assistant, text));
        }
        ("assistant", tool) => out.call(key, "", tool, &text),
        ("tool", _) => out.result(
            key,
            "",
            CallResult {
                tool: author.name.get(),
                text: text.into(),
                status: None,
            },
        ),
        _ => out.push(EventContent::plain(key, Origin::Harness, text)),
    }
}

/// The text of a message; empty for thoughts.
fn text(content: &MessageContent<'_>) -> String {
    if matches!(&*content.content_type, "thoughts" | "reasoning_recap") {
        return String::new();
    }
    let mut texts: Vec<&str> = vec![&content.text, &content.result, &content.user_instructions];
    let image = |part: &PartObject<'_>| part.content_type.ends_with("image_asset_pointer");
    if let Content::Parts(parts) = &content.parts {
        texts.extend(parts.iter().filter_map(|part| match part {
            ContentMember::Text(text) => Some(&**text),
            ContentMember::Object(part) if image(part) => Some("[image]"),
            ContentMember::Object(part) => Some(&*part.text),
            ContentMember::Other => None,
        }));
    }
    texts.retain(|text| !text.is_empty());
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{ChatShape, TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, events, told};

    const LIST: TranscriptFormat = TranscriptFormat::ChatGpt(ChatShape::Document);

    /// A node of the tree.
    fn node(id: &str, parent: &str, role: &str, rest: &str) -> String {
        format!(
            r#""{id}":{{"parent":"{parent}","message":{{"id":"{id}","author":{{"role":"{role}"}},{rest}}}}}"#
        )
    }

    fn said(id: &str, parent: &str, role: &str, text: &str) -> String {
        let content = format!(r#""content":{{"content_type":"text","parts":["{text}"]}}"#);
        node(id, parent, role, &content)
    }

    fn conversation(current: &str, nodes: &[String]) -> String {
        format!(
            r#"{{"title":"Bees","create_time":1775030400.5,"conversation_id":"x1","current_node":"{current}","mapping":{{{}}}}}"#,
            nodes.join(",")
        )
    }

    #[test]
    fn a_conversation_is_the_path_to_its_current_node() {
        let text = conversation(
            "m4",
            &[
                said("m1", "", "user", "how many bees?"),
                said("m2", "m1", "assistant", "Many."),
                said("m3", "m1", "assistant", "About 40,000."),
                said("m4", "m3", "user", "thanks"),
            ],
        );
        assert_eq!(detect(format!("[{text}]").as_bytes()), LIST);
        check(
            &LIST,
            &[&text],
            "human | how many bees?
             assistant | About 40,000.
             human | thanks",
        );
        assert_eq!(
            told(&LIST, &[&text]),
            ["title of x1: Bees", "session x1 root"]
        );
    }

    #[test]
    fn calls_results_and_hidden_messages_are_told_apart() {
        let nodes = [
            node(
                "m1",
                "",
                "user",
                r#""metadata":{"is_visually_hidden_from_conversation":true},"content":{"content_type":"text","parts":["Original image"]}"#,
            ),
            node(
                "m2",
                "m1",
                "user",
                r#""content":{"content_type":"user_editable_context","user_instructions":"be brief"}"#,
            ),
            node(
                "m3",
                "m2",
                "user",
                r#""content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer"},"which bee?"]}"#,
            ),
            node(
                "m4",
                "m3",
                "assistant",
                r#""recipient":"all","content":{"content_type":"thoughts","text":"hm"}"#,
            ),
            node(
                "m5",
                "m4",
                "assistant",
                r#""recipient":"python","content":{"content_type":"code","text":"bee()"}"#,
            ),
            node(
                "m6",
                "m5",
                "tool",
                r#""content":{"content_type":"execution_output","text":"a drone"}"#,
            ),
        ];
        check(
            &LIST,
            &[&conversation("m6", &nodes)],
            "harness | Original image
             harness | be brief
             human | [image]⏎which bee?
             tool_call | bee()
             tool_result | a drone",
        );
    }

    #[test]
    fn the_same_conversation_in_two_exports_is_one() {
        let first = conversation("m1", &[said("m1", "", "user", "one")]);
        let longer = [
            said("m1", "", "user", "one"),
            said("m2", "m1", "user", "two"),
        ];
        let ids = |text: &str| {
            let read = events(&LIST, &[text]);
            read.iter().map(|event| event.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(&first), ids(&conversation("m2", &longer))[..1]);
    }

    #[test]
    fn a_tree_that_leads_back_to_itself_ends() {
        let text = conversation("m1", &[said("m1", "m1", "user", "one")]);
        check(&LIST, &[&text], "human | one");
    }
}
