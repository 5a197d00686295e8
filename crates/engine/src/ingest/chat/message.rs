//! The shape of a chat message, as far as it is read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::ingest::kept::{blob, image_at};
use crate::ingest::lenient::{Content, Flag, Object, Part, Text, When};

/// A message, or what a document says before its first one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'j> {
    #[serde(borrow)]
    pub(super) role: Text<'j>,
    #[serde(rename = "type")]
    pub(super) kind: Text<'j>,
    pub(super) content: Content<'j, Piece<'j>>,
    /// Some write a message's text under this name.
    pub(super) message: Text<'j>,
    pub(super) name: Text<'j>,
    pub(super) tool_calls: Content<'j, Call<'j>>,
    pub(super) function_call: Object<Function<'j>>,
    pub(super) tool_call_id: Text<'j>,
    pub(super) is_error: Flag,
    pub(super) timestamp: When<'j>,
    pub(super) created_at: When<'j>,
    // A call or its result on a line of its own.
    pub(super) function: Object<Function<'j>>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'j RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'j RawValue>,
    // What a document says of its session.
    pub(super) session_id: Text<'j>,
    pub(super) conversation_id: Text<'j>,
    pub(super) id: Text<'j>,
    pub(super) cwd: Text<'j>,
    pub(super) session_start: When<'j>,
}

/// A piece of content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Piece<'j> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'j>,
    pub(super) text: Text<'j>,
    pub(super) image_url: Content<'j, Address<'j>>,
    pub(super) source: Object<Source<'j>>,
    pub(super) id: Text<'j>,
    pub(super) name: Text<'j>,
    #[serde(borrow)]
    pub(super) input: Option<&'j RawValue>,
    pub(super) tool_use_id: Text<'j>,
    #[serde(borrow)]
    pub(super) content: Option<&'j RawValue>,
    pub(super) is_error: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Address<'j> {
    #[serde(borrow)]
    pub(super) url: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Source<'j> {
    #[serde(borrow)]
    pub(super) media_type: Text<'j>,
    pub(super) data: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Call<'j> {
    #[serde(borrow)]
    pub(super) id: Text<'j>,
    pub(super) function: Object<Function<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function<'j> {
    #[serde(borrow)]
    pub(super) name: Text<'j>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'j RawValue>,
}

impl<'j> Piece<'j> {
    /// What it says, or what stands for it; `None` for calls and answers.
    pub(super) fn said(&self) -> Option<Cow<'_, str>> {
        if let Some(text) = self.text.get() {
            return Some(Cow::Borrowed(text));
        }
        let image = match &self.image_url {
            Content::Nothing => match &self.source.0 {
                Some(source) => blob("image", &source.media_type, &source.data),
                None => return None,
            },
            Content::Text(address) => image_at(address),
            Content::Parts(parts) => match parts.first() {
                Some(Part::Object(address)) => image_at(&address.url),
                Some(Part::Text(_) | Part::Other) | None => return None,
            },
        };
        Some(Cow::Owned(image))
    }

    /// The prose within the piece.
    pub(super) fn inner(&self) -> String {
        let content = self.content.map(RawValue::get).unwrap_or("null");
        let content: Content<'j, Piece<'j>> = serde_json::from_str(content).unwrap_or_default();
        prose(&content)
    }
}

/// The prose of some content.
pub(super) fn prose(content: &Content<'_, Piece<'_>>) -> String {
    match content {
        Content::Nothing => String::new(),
        Content::Text(text) => text.to_string(),
        Content::Parts(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(Cow::Borrowed(&**text)),
                Part::Object(piece) => piece.said(),
                Part::Other => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}
