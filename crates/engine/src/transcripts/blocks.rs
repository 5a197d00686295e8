//! The content of messages in blocks: texts, images, calls and results, which several hosts write in nearly the same way.
//!
//! Not here: who wrote a message.

use std::borrow::Cow;

use daybook_domain::ToolStatus;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::item_writer::{CallResult, EventKey, ItemWriter};
use super::json;
use daybook_text::cut::{blob, image_at};
use daybook_text::lenient::{Content, ContentMember, Flag, Object, Text};

/// A block of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    text: Text<'j>,
    // An image.
    source: Object<ImageSource<'j>>,
    data: Text<'j>,
    #[serde(rename = "mimeType")]
    mime_type: Text<'j>,
    url: Text<'j>,
    // A call.
    id: Text<'j>,
    name: Text<'j>,
    #[serde(borrow)]
    input: Option<&'j RawValue>,
    #[serde(borrow)]
    arguments: Option<&'j RawValue>,
    // A result.
    tool_use_id: Text<'j>,
    #[serde(borrow)]
    content: Option<&'j RawValue>,
    is_error: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ImageSource<'j> {
    #[serde(borrow)]
    media_type: Text<'j>,
    data: Text<'j>,
}

/// The content of a message.
pub(super) type Blocks<'j> = Content<'j, Block<'j>>;

impl<'j> Block<'j> {
    /// Its text, or a placeholder for an image; `None` for thoughts, calls and results.
    fn shown_text(&self) -> Option<Cow<'_, str>> {
        match &*self.kind {
            "text" => Some(Cow::Borrowed(&*self.text)),
            "image" => Some(Cow::Owned(match &self.source.0 {
                Some(source) => blob("image", &source.media_type, &source.data),
                None if self.url.is_empty() => blob("image", &self.mime_type, &self.data),
                None => image_at(&self.url),
            })),
            _ => None,
        }
    }

    fn is_call(&self) -> bool {
        matches!(&*self.kind, "tool_use" | "toolCall" | "tool_call")
    }

    fn is_result(&self) -> bool {
        matches!(&*self.kind, "tool_result" | "tool-result")
    }

    /// The texts within a result.
    fn inner(&self) -> String {
        let content = self.content.map(RawValue::get).unwrap_or("null");
        let content: Blocks<'j> = serde_json::from_str(content).unwrap_or_default();
        texts(&content)
    }
}

/// The texts of a message, in their order.
pub(super) fn texts(content: &Blocks<'_>) -> String {
    match content {
        Content::Nothing => String::new(),
        Content::Text(text) => text.to_string(),
        Content::Parts(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                ContentMember::Text(text) => Some(Cow::Borrowed(&**text)),
                ContentMember::Object(block) => block.shown_text(),
                ContentMember::Other => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

/// Yields the calls of a message. A call without an id is identified by the message's.
pub(super) fn write_calls(content: &Blocks<'_>, key: EventKey<'_>, out: &mut ItemWriter<'_>) {
    for call in objects(content).filter(|block| block.is_call()) {
        let key = call.id.get().map_or(key, EventKey::InSession);
        let arguments = json::as_text(call.input.or(call.arguments));
        out.call(key, &call.id, &call.name, &arguments);
    }
}

/// Yields the results of a message.
pub(super) fn write_results(content: &Blocks<'_>, key: EventKey<'_>, out: &mut ItemWriter<'_>) {
    for result in objects(content).filter(|block| block.is_result()) {
        let id = result.tool_use_id.get();
        out.result(
            id.map_or(key, EventKey::InSession),
            id.unwrap_or_default(),
            CallResult {
                tool: result.name.get(),
                text: result.inner().into(),
                status: result.is_error.0.then_some(ToolStatus::Failed),
            },
        );
    }
}

fn objects<'c, 'j>(content: &'c Blocks<'j>) -> impl Iterator<Item = &'c Block<'j>> {
    let parts = match content {
        Content::Parts(parts) => parts.as_slice(),
        Content::Nothing | Content::Text(_) => &[],
    };
    parts.iter().filter_map(|part| match part {
        ContentMember::Object(block) => Some(block),
        ContentMember::Text(_) | ContentMember::Other => None,
    })
}
