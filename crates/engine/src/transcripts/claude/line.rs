//! The shape of a Claude Code line, as far as it is read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use daybook_text::lenient::{Content, ContentMember, Flag, Object, Text, When};

/// One line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClaudeLine<'j> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'j>,
    pub(super) uuid: Text<'j>,
    pub(super) session_id: Text<'j>,
    pub(super) agent_id: Text<'j>,
    pub(super) timestamp: When<'j>,
    pub(super) cwd: Text<'j>,
    pub(super) git_branch: Text<'j>,
    pub(super) is_sidechain: Option<Flag>,
    pub(super) is_meta: Flag,
    pub(super) is_compact_summary: Flag,
    pub(super) is_api_error_message: Flag,
    pub(super) message: Object<Message<'j>>,
    pub(super) origin: Object<Origin<'j>>,
    pub(super) forked_from: Object<ForkedFrom<'j>>,
    pub(super) plan_content: Text<'j>,
    pub(super) supersedes_uuids: Content<'j, Block<'j>>,
    pub(super) retracted_message_uuids: Content<'j, Block<'j>>,
    pub(super) tool_denial_kind: Text<'j>,
    #[serde(borrow)]
    pub(super) tool_use_result: Option<&'j RawValue>,
    // `summary`, `custom-title` and `ai-title` lines.
    pub(super) summary: Text<'j>,
    pub(super) leaf_uuid: Text<'j>,
    pub(super) custom_title: Text<'j>,
    pub(super) ai_title: Text<'j>,
    // `queue-operation` lines.
    pub(super) operation: Text<'j>,
    pub(super) content: Content<'j, Block<'j>>,
    // `attachment`, `pr-link` and `worktree-state` lines.
    pub(super) attachment: Object<Attachment<'j>>,
    pub(super) pr_url: Text<'j>,
    pub(super) pr_repository: Text<'j>,
    pub(super) worktree_session: Object<Worktree<'j>>,
}

/// A message to or by the model.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'j> {
    #[serde(borrow)]
    pub(super) model: Text<'j>,
    pub(super) content: Content<'j, Block<'j>>,
}

/// The sender of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Origin<'j> {
    #[serde(borrow)]
    pub(super) kind: Text<'j>,
}

/// The session that a line was copied from.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ForkedFrom<'j> {
    #[serde(borrow)]
    pub(super) session_id: Text<'j>,
}

/// A block of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'j> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'j>,
    pub(super) text: Text<'j>,
    pub(super) id: Text<'j>,
    pub(super) name: Text<'j>,
    pub(super) tool_use_id: Text<'j>,
    pub(super) is_error: Flag,
    pub(super) source: Object<Source<'j>>,
    #[serde(borrow)]
    pub(super) input: Option<&'j RawValue>,
    #[serde(borrow)]
    pub(super) content: Option<&'j RawValue>,
}

/// The data of a block.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Source<'j> {
    #[serde(borrow)]
    pub(super) media_type: Text<'j>,
    pub(super) data: Text<'j>,
    pub(super) url: Text<'j>,
}

/// An attachment that the host added to the conversation.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attachment<'j> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'j>,
    pub(super) prompt: Content<'j, Block<'j>>,
    pub(super) command_mode: Text<'j>,
    pub(super) is_meta: Flag,
    pub(super) origin: Object<Origin<'j>>,
    pub(super) timestamp: When<'j>,
    pub(super) content: Content<'j, Block<'j>>,
}

/// A worktree that the host made for a session.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Worktree<'j> {
    #[serde(borrow)]
    pub(super) original_cwd: Text<'j>,
    pub(super) worktree_path: Text<'j>,
}

impl Origin<'_> {
    /// Whether a person sent it; a person did if the sender is absent.
    pub(super) fn is_person(&self) -> bool {
        matches!(&*self.kind, "" | "human" | "user" | "cli" | "sdk")
    }
}

impl<'j> Block<'j> {
    /// The placeholder for an image or a document.
    pub(super) fn blob(&self) -> Option<String> {
        if !matches!(&*self.kind, "image" | "document") {
            return None;
        }
        Some(match &self.source.0 {
            Some(source) if !source.data.is_empty() => {
                daybook_text::cut::blob(&self.kind, &source.media_type, &source.data)
            }
            Some(source) if !source.url.is_empty() => daybook_text::cut::image_at(&source.url),
            Some(_) | None => format!("[{}]", &*self.kind),
        })
    }

    /// The blocks or the text within the block.
    pub(super) fn inner(&self) -> Content<'j, Block<'j>> {
        self.content
            .and_then(|content| serde_json::from_str(content.get()).ok())
            .unwrap_or_default()
    }
}

/// The text of some content; blobs are named, anything else is left out.
pub(super) fn plain<'c>(content: &'c Content<'_, Block<'_>>) -> Cow<'c, str> {
    match content {
        Content::Nothing => Cow::Borrowed(""),
        Content::Text(text) => Cow::Borrowed(text),
        Content::Parts(parts) => {
            let mut texts = parts.iter().filter_map(|part| match part {
                ContentMember::Text(text) => Some(Cow::Borrowed(&**text)),
                ContentMember::Object(block) => match block.text.get() {
                    Some(text) => Some(Cow::Borrowed(text)),
                    None => block.blob().map(Cow::Owned),
                },
                ContentMember::Other => None,
            });
            let first = texts.next().unwrap_or_default();
            texts.fold(first, |whole, text| Cow::Owned(format!("{whole}\n{text}")))
        }
    }
}
