//! The shape of a rollout's lines, as far as they are read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use daybook_text::lenient::{Content, ContentMember, Flag, Object, Text, When};

/// One line: an envelope, or, in old rollouts, a bare item.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexLine<'j> {
    #[serde(borrow)]
    pub(super) timestamp: When<'j>,
    #[serde(rename = "type")]
    pub(super) kind: Text<'j>,
    #[serde(borrow)]
    pub(super) payload: Option<&'j RawValue>,
    pub(super) record_type: Text<'j>,
}

/// A rollout's description of its session.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Meta<'j> {
    #[serde(borrow)]
    pub(super) id: Text<'j>,
    pub(super) timestamp: When<'j>,
    pub(super) cwd: Text<'j>,
    pub(super) forked_from_id: Text<'j>,
    pub(super) parent_thread_id: Text<'j>,
    pub(super) memory_mode: Text<'j>,
    pub(super) git: Object<Git<'j>>,
    #[serde(borrow)]
    pub(super) source: Option<&'j RawValue>,
}

/// The state of the repository when the session began.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Git<'j> {
    #[serde(borrow)]
    pub(super) branch: Text<'j>,
    pub(super) repository_url: Text<'j>,
}

/// The starter of the session, if that is an object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Source<'j> {
    #[serde(borrow)]
    pub(super) subagent: Option<&'j RawValue>,
    pub(super) internal: Option<&'j RawValue>,
    pub(super) custom: Text<'j>,
}

/// How a sub-agent was started.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SubAgent<'j> {
    #[serde(borrow)]
    pub(super) thread_spawn: Object<Spawn<'j>>,
}

/// The session that spawned it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Spawn<'j> {
    #[serde(borrow)]
    pub(super) parent_thread_id: Text<'j>,
}

/// The circumstances of a turn.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TurnContext<'j> {
    #[serde(borrow)]
    pub(super) cwd: Text<'j>,
}

/// A message to the user interface.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexNotice<'j> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'j>,
    pub(super) num_turns: Count,
}

/// A small number; 0 when it is anything else.
#[derive(Debug, Default)]
pub(super) struct Count(pub(super) usize);

impl<'j> Deserialize<'j> for Count {
    fn deserialize<D: serde::Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        let number = match When::deserialize(deserializer)? {
            When::Number(number) => number,
            When::Unknown | When::Text(_) => 0.0,
        };
        // Out of range means more turns than there can be.
        Ok(Self(number.max(0.0) as usize))
    }
}

/// An item of the conversation with the model.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'j> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'j>,
    pub(super) id: Text<'j>,
    pub(super) role: Text<'j>,
    pub(super) content: Content<'j, CodexPart<'j>>,
    pub(super) name: Text<'j>,
    /// What a function's name is unique in, for a tool of an MCP server `mcp__` and the server's name.
    pub(super) namespace: Text<'j>,
    /// Whether the tool states that its output holds text from outside.
    pub(super) contains_external_context: Flag,
    pub(super) call_id: Text<'j>,
    pub(super) author: Text<'j>,
    pub(super) status: Text<'j>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'j RawValue>,
    pub(super) input: Text<'j>,
    #[serde(borrow)]
    pub(super) action: Option<&'j RawValue>,
    #[serde(borrow)]
    pub(super) output: Option<&'j RawValue>,
    #[serde(borrow)]
    pub(super) tools: Option<&'j RawValue>,
    pub(super) revised_prompt: Text<'j>,
}

/// A part of an item's content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexPart<'j> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'j>,
    pub(super) text: Text<'j>,
    pub(super) image_url: Text<'j>,
    // An older form of an output is an object of these two.
    pub(super) content: Text<'j>,
    pub(super) success: Option<Flag>,
}

impl CodexPart<'_> {
    /// Its text, or a placeholder for an image.
    pub(super) fn shown_text(&self) -> Option<Cow<'_, str>> {
        if let Some(text) = self.text.get().or_else(|| self.content.get()) {
            return Some(Cow::Borrowed(text));
        }
        let image = self.image_url.get()?;
        Some(Cow::Owned(daybook_text::cut::image_at(image)))
    }
}

/// The texts of an item's content.
pub(super) fn part_texts<'c>(content: &'c Content<'_, CodexPart<'_>>) -> Vec<Cow<'c, str>> {
    match content {
        Content::Nothing => Vec::new(),
        Content::Text(text) => vec![Cow::Borrowed(&**text)],
        Content::Parts(parts) => parts
            .iter()
            .filter_map(|part| match part {
                ContentMember::Text(text) => Some(Cow::Borrowed(&**text)),
                ContentMember::Object(piece) => piece.shown_text(),
                ContentMember::Other => None,
            })
            .collect(),
    }
}
