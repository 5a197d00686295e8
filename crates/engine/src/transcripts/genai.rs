//! The content of messages as Google's interface for models takes them, which several hosts write as it is.
//!
//! Not here: who wrote a message.

use std::borrow::Cow;

use daybook_domain::ToolStatus;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::item_writer::CallResult;
use super::json;
use daybook_text::cut::blob;
use daybook_text::lenient::{Content, ContentMember, Object, Text};

/// A part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Part<'j> {
    #[serde(borrow)]
    pub(super) text: Text<'j>,
    /// True for thoughts; some versions write the thought itself.
    #[serde(borrow)]
    thought: Option<&'j RawValue>,
    inline_data: Object<InlineData<'j>>,
    pub(super) function_call: Object<FunctionCall<'j>>,
    pub(super) function_response: Object<FunctionResponse<'j>>,
}

/// A file within a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct InlineData<'j> {
    #[serde(borrow)]
    mime_type: Text<'j>,
    data: Text<'j>,
}

/// A call of a tool.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionCall<'j> {
    #[serde(borrow)]
    pub(super) id: Text<'j>,
    pub(super) name: Text<'j>,
    #[serde(borrow)]
    pub(super) args: Option<&'j RawValue>,
}

/// The result of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionResponse<'j> {
    #[serde(borrow)]
    pub(super) id: Text<'j>,
    pub(super) name: Text<'j>,
    #[serde(borrow)]
    response: Option<&'j RawValue>,
}

/// The fields that tools answer with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Response<'j> {
    #[serde(borrow)]
    output: Option<&'j RawValue>,
    #[serde(borrow)]
    error: Option<&'j RawValue>,
}

impl Part<'_> {
    pub(super) fn is_thought(&self) -> bool {
        self.thought
            .is_some_and(|thought| !matches!(thought.get(), "false" | "null" | "\"\""))
    }

    /// Its text, or a placeholder for a file; `None` for thoughts, calls and results.
    pub(super) fn shown_text(&self) -> Option<Cow<'_, str>> {
        if self.is_thought() {
            return None;
        }
        if let Some(text) = self.text.get() {
            return Some(Cow::Borrowed(text));
        }
        let data = self.inline_data.0.as_ref()?;
        let what = data
            .mime_type
            .split('/')
            .next()
            .filter(|what| !what.is_empty());
        Some(Cow::Owned(blob(
            what.unwrap_or("file"),
            &data.mime_type,
            &data.data,
        )))
    }
}

impl FunctionResponse<'_> {
    /// The output or the error of the call.
    pub(super) fn result(&self) -> CallResult<'_> {
        let fields = self.response.map(RawValue::get).unwrap_or("null");
        let fields = serde_json::from_str::<Object<Response<'_>>>(fields).ok();
        let fields = fields.and_then(|fields| fields.0).unwrap_or_default();
        let (text, status) = match (fields.error, fields.output) {
            (Some(error), _) => (json::as_text(Some(error)), ToolStatus::Failed),
            (None, Some(output)) => (json::as_text(Some(output)), ToolStatus::Succeeded),
            (None, None) => (json::as_text(self.response), ToolStatus::Succeeded),
        };
        CallResult {
            tool: self.name.get(),
            text,
            status: Some(status),
        }
    }
}

/// How a result reads of a call that a person stopped while it ran.
const STOPPED: &str = "User cancelled tool execution";

/// How a call ended by the word that the host wrote for it.
pub(super) fn status(word: &str, result: &CallResult<'_>) -> Option<ToolStatus> {
    match word {
        "cancelled" if !result.text.contains(STOPPED) => Some(ToolStatus::Refused),
        "cancelled" | "error" => Some(ToolStatus::Failed),
        "success" => result.status.or(Some(ToolStatus::Succeeded)),
        _ => None,
    }
}

/// The texts of a message, in their order.
pub(super) fn texts<'c>(content: &'c Content<'_, Part<'_>>) -> Vec<Cow<'c, str>> {
    match content {
        Content::Nothing => Vec::new(),
        Content::Text(text) => vec![Cow::Borrowed(&**text)],
        Content::Parts(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                ContentMember::Text(text) => Some(Cow::Borrowed(&**text)),
                ContentMember::Object(part) => part.shown_text(),
                ContentMember::Other => None,
            });
            texts.collect()
        }
    }
}

/// The parts of a message that are objects.
pub(super) fn objects<'c, 'j>(
    content: &'c Content<'j, Part<'j>>,
) -> impl Iterator<Item = &'c Part<'j>> {
    let parts = match content {
        Content::Parts(parts) => parts.as_slice(),
        Content::Nothing | Content::Text(_) => &[],
    };
    parts.iter().filter_map(|part| match part {
        ContentMember::Object(part) => Some(part),
        ContentMember::Text(_) | ContentMember::Other => None,
    })
}
