//! The text of an event that is indexed: a person's or an agent's message as a whole, and of tools the
//! beginnings of calls and results.

use daybook_domain::Origin;

use crate::tokens::outlined_text;

/// How much of a tool's call, and of its answer, is indexed, in bytes.
const TOOL: usize = 1024;

/// Tokens joined by one blank; empty for what is not indexed.
#[must_use]
pub fn indexed_tokens(origin: Origin, text: &str) -> String {
    match origin {
        Origin::Human | Origin::Assistant => outlined_text(text),
        Origin::ToolCall | Origin::ToolResult => {
            outlined_text(&text[..text.floor_char_boundary(TOOL)])
        }
        Origin::Harness | Origin::Synthetic | Origin::Recalled | Origin::Retraction => {
            String::new()
        }
    }
}
