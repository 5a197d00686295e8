//! What the index keeps of an event: all that a person or an agent said, and of tools what they
//! were asked and how their answer began.

use daybook_domain::Origin;

use crate::recall::tokens::outlined_text;

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
