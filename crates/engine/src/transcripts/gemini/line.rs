//! The shape of a line of Gemini CLI's sessions, as far as it is read.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::transcripts::genai::Part;
use daybook_text::lenient::{Content, Object, Text, When};

/// A message, the session's description, or a change of either.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::transcripts) struct GeminiLine<'j> {
    // The session's description.
    #[serde(borrow)]
    pub(super) session_id: Text<'j>,
    pub(super) start_time: When<'j>,
    pub(super) kind: Text<'j>,
    pub(super) summary: Text<'j>,
    pub(super) directories: Content<'j, NoObject>,
    /// The project's folder, which stands in a file beside the sessions.
    pub(super) project_root: Text<'j>,
    // A message.
    pub(super) id: Text<'j>,
    #[serde(rename = "type")]
    pub(super) author: Text<'j>,
    pub(super) timestamp: When<'j>,
    pub(super) content: Content<'j, Part<'j>>,
    pub(super) parts: Content<'j, Part<'j>>,
    /// The words as the person typed them, where the host sent others.
    pub(super) display_content: Content<'j, Part<'j>>,
    pub(super) tool_calls: Content<'j, ToolCall<'j>>,
    // A change.
    #[serde(rename = "$set")]
    pub(super) set: Object<GeminiChange<'j>>,
    #[serde(rename = "$rewindTo")]
    pub(super) rewind_to: Text<'j>,
}

/// A change of the session's description, or all its messages anew.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct GeminiChange<'j> {
    #[serde(borrow)]
    pub(super) session_id: Text<'j>,
    pub(super) summary: Text<'j>,
    pub(super) messages: Content<'j, GeminiLine<'j>>,
}

/// A call of a tool, with its result.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolCall<'j> {
    #[serde(borrow)]
    pub(super) id: Text<'j>,
    pub(super) name: Text<'j>,
    pub(super) status: Text<'j>,
    pub(super) timestamp: When<'j>,
    #[serde(borrow)]
    pub(super) args: Option<&'j RawValue>,
    pub(super) result: Content<'j, Part<'j>>,
    pub(super) result_display: Text<'j>,
}

/// The members of a list in which no object is expected.
#[derive(Debug, Deserialize)]
pub(super) struct NoObject {}
