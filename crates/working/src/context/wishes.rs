//! What a person decided and demanded in messages for which a context has no room.

use daybook_domain::working::{Chunk, WorkingFlowSubType};
use daybook_text::wishes::{WishKind, wishes};

use crate::compact::account::SummaryAccount;

use super::rendering;

/// Most characters of one sentence.
const SENTENCE: usize = 240;

/// The decisions and demands of a person's message, or of a summary.
pub(super) fn lasting_wishes(chunk: &Chunk) -> Vec<String> {
    match chunk.sub_type {
        Some(WorkingFlowSubType::User) => {
            let found = wishes(&rendering::message_text(&chunk.content)).into_iter();
            let lasting = found.filter(|wish| wish.kind >= WishKind::Decision);
            lasting.map(|wish| wish.text).collect()
        }
        Some(WorkingFlowSubType::Compacted) => {
            let account = SummaryAccount::of(&chunk.content.to_text());
            account.decisions().collect()
        }
        _ => Vec::new(),
    }
}

/// The sentences as a note of at most `most` tokens, the newest of them if all do not fit.
pub(super) fn wish_note(
    found: &[&String],
    most: u32,
    count: &dyn Fn(&str) -> u32,
) -> Option<String> {
    let mut room = most;
    let mut lines = Vec::new();
    for text in found.iter().rev() {
        let head: String = text.chars().take(SENTENCE).collect();
        let line = format!("- \"{}\"", head.replace('\n', " "));
        let Some(left) = room.checked_sub(count(&line).saturating_add(1)) else {
            break;
        };
        room = left;
        lines.push(line);
    }
    lines.reverse();
    (!lines.is_empty()).then(|| {
        format!(
            "The person said there, among other things:\n{}",
            lines.join("\n")
        )
    })
}
