//! Staged writes in the form that a column holds.

use daybook_domain::EntityWrite;

/// The column's text; `None` when nothing is staged.
pub(crate) fn staged_text(writes: &[EntityWrite]) -> Result<Option<String>, String> {
    if writes.is_empty() {
        return Ok(None);
    }
    let text = serde_json::to_string(writes);
    text.map(Some)
        .map_err(|error| format!("staged writes cannot be written: {error}"))
}

pub(crate) fn staged_of(text: &str) -> Result<Vec<EntityWrite>, String> {
    serde_json::from_str(text).map_err(|error| format!("staged writes cannot be read: {error}"))
}
