//! The shape of a chat message, as far as it is read.

use std::borrow::Cow;

use daybook_domain::Venue;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::item::BadLine;
use daybook_text::cut::{blob, image_at};
use daybook_text::lenient::{Content, ContentMember, Flag, Object, Text, When};

/// A message, or a document's fields before its first one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'j> {
    #[serde(borrow)]
    pub(super) role: Text<'j>,
    #[serde(rename = "type")]
    pub(super) kind: Text<'j>,
    pub(super) content: Content<'j, ChatPart<'j>>,
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
    // A document's description of its session.
    pub(super) session_id: Text<'j>,
    pub(super) conversation_id: Text<'j>,
    pub(super) id: Text<'j>,
    pub(super) cwd: Text<'j>,
    // Where it is held, in a document's description or on a message.
    pub(super) room_id: Text<'j>,
    pub(super) room: Text<'j>,
    pub(super) thread_id: Text<'j>,
    pub(super) thread: Text<'j>,
    pub(super) team: Text<'j>,
    pub(super) session_start: When<'j>,
}

impl Message<'_> {
    /// The room, the thread of the room and the team that it names.
    pub(super) fn venue(&self) -> Result<Venue, BadLine> {
        let room_id = self.room_id.owned().or(self.room.owned());
        let thread_id = self.thread_id.owned().or(self.thread.owned());
        Venue::named(room_id, thread_id, self.team.owned()).map_err(BadLine)
    }
}

/// A part of a message's content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChatPart<'j> {
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

impl<'j> ChatPart<'j> {
    /// Its text, or a placeholder for an image; `None` for calls and results.
    pub(super) fn shown_text(&self) -> Option<Cow<'_, str>> {
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
                Some(ContentMember::Object(address)) => image_at(&address.url),
                Some(ContentMember::Text(_) | ContentMember::Other) | None => return None,
            },
        };
        Some(Cow::Owned(image))
    }

    /// The prose within the part.
    pub(super) fn inner(&self) -> String {
        let content = self.content.map(RawValue::get).unwrap_or("null");
        let content: Content<'j, ChatPart<'j>> = serde_json::from_str(content).unwrap_or_default();
        prose(&content)
    }
}

/// The prose of a message's content.
pub(super) fn prose(content: &Content<'_, ChatPart<'_>>) -> String {
    match content {
        Content::Nothing => String::new(),
        Content::Text(text) => text.to_string(),
        Content::Parts(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                ContentMember::Text(text) => Some(Cow::Borrowed(&**text)),
                ContentMember::Object(piece) => piece.shown_text(),
                ContentMember::Other => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}
