//! The shape of a rollout's lines, as far as they are read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::ingest::lenient::{Content, Flag, Object, Part, Text, When};

/// One line: an envelope, or, in old rollouts, a bare item.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line<'j> {
    #[serde(borrow)]
    pub(super) timestamp: When<'j>,
    #[serde(rename = "type")]
    pub(super) kind: Text<'j>,
    #[serde(borrow)]
    pub(super) payload: Option<&'j RawValue>,
    pub(super) record_type: Text<'j>,
}

/// What a rollout says of its session.
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

/// Who started the session, where that is an object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Source<'j> {
    #[serde(borrow)]
    pub(super) subagent: Option<&'j RawValue>,
    pub(super) internal: Option<&'j RawValue>,
    pub(super) custom: Text<'j>,
}

/// How a sub-agent came to be.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SubAgent<'j> {
    #[serde(borrow)]
    pub(super) thread_spawn: Object<Spawn<'j>>,
}

/// Which session spawned it.
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

/// A notice to the interface.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Notice<'j> {
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

/// An item that was said to or by the model.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'j> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'j>,
    pub(super) id: Text<'j>,
    pub(super) role: Text<'j>,
    pub(super) content: Content<'j, Piece<'j>>,
    pub(super) name: Text<'j>,
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

/// A piece of content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Piece<'j> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'j>,
    pub(super) text: Text<'j>,
    pub(super) image_url: Text<'j>,
    // An older form of an output is an object of these two.
    pub(super) content: Text<'j>,
    pub(super) success: Option<Flag>,
}

impl Piece<'_> {
    /// What it says, or what stands for it.
    pub(super) fn said(&self) -> Option<Cow<'_, str>> {
        if let Some(text) = self.text.get().or_else(|| self.content.get()) {
            return Some(Cow::Borrowed(text));
        }
        let image = self.image_url.get()?;
        Some(Cow::Owned(crate::ingest::kept::image_at(image)))
    }
}

/// The pieces of some content.
pub(super) fn pieces<'c>(content: &'c Content<'_, Piece<'_>>) -> Vec<Cow<'c, str>> {
    match content {
        Content::Nothing => Vec::new(),
        Content::Text(text) => vec![Cow::Borrowed(&**text)],
        Content::Parts(parts) => parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(Cow::Borrowed(&**text)),
                Part::Object(piece) => piece.said(),
                Part::Other => None,
            })
            .collect(),
    }
}
