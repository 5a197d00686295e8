//! Answers of tools: compact text with sources for models, and JSON for programs. Both are cut
//! at a limit, and state that they were.
//!
//! All memory is enclosed in our element, in the text and in the JSON: some hosts show an agent the
//! one, some the other.

use anyhow::{Error, Result, bail};
use daybook_domain::Event;
use daybook_engine::files::entities::EntityError;
use daybook_text::fence::{NOTICE, enclose, one_line, with_margin};
use daybook_text::redact::Redactor;
use serde_json::{Value, json};

use crate::service::agent_answer::{AgentAnswer, MAX_MEMORY_BYTES, cut, with_notice};
use crate::service::context::{AgentContext, context_json};
use crate::service::notes::{SavedNote, note_json};
use crate::service::show::{MAX_EVENTS, byline};
use crate::wiring::Daybook;

/// Most tokens of a context; an answer holds no more.
pub(super) const BUDGET: usize = 7_500;
/// What stands before each line of an event.
const TEXT_MARGIN: &str = "> ";
/// Longest message of a failure, in bytes.
const FAILURE: usize = 2_000;

/// The answer while the data folder holds no memory.
pub(super) fn nothing_yet(data: Value) -> AgentAnswer {
    AgentAnswer {
        text: "Nothing is remembered yet.".to_owned(),
        data,
    }
}

/// A failure in words that a model knows, which are shown as they are.
#[derive(Debug)]
pub(super) struct VerbatimFailure(pub(super) String);

impl std::fmt::Display for VerbatimFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for VerbatimFailure {}

/// The message of a tool's failure. A refused entity's reason is already worded for agents.
pub(super) fn failure(tool: &str, error: &Error) -> String {
    let why = match (
        error.downcast_ref::<EntityError>(),
        error.downcast_ref::<VerbatimFailure>(),
    ) {
        (Some(EntityError::Refused(why)), _) | (_, Some(VerbatimFailure(why))) => why.clone(),
        (Some(EntityError::Files(_)) | None, None) => format!("{tool} failed: {error:#}"),
    };
    // It may quote an argument.
    cut(&Redactor::current().redact(&why).text, FAILURE)
}

/// The answer to `remember`.
pub(super) fn saved_note(note: &SavedNote) -> AgentAnswer {
    let mut text = format!("Remembered in {}.", note.scope);
    if note.secrets > 0 {
        text.push_str(" A secret in it was hidden before it was kept.");
    }
    AgentAnswer {
        text,
        data: note_json(note),
    }
}

/// The answer to `context`: the memory that applies where the agent works.
pub(super) fn context(context: &AgentContext) -> AgentAnswer {
    let place = &context.at.place.root;
    let text = match context.assembled.text.is_empty() {
        true => format!("Nothing is remembered that applies in {place}."),
        false => context.assembled.text.clone(),
    };
    AgentAnswer {
        text,
        data: with_notice(context_json(context)),
    }
}

/// Joins the text of events into one text for [`page`]. Their lines have a margin, so that none looks like the line that
/// names a speaker.
pub(super) fn events_text(daybook: &Daybook, events: &[Event]) -> String {
    let mut text: String = events
        .iter()
        .map(|event| {
            let byline = one_line(&byline(daybook, event));
            format!("{byline}\n{}\n\n", with_margin(&event.text, TEXT_MARGIN))
        })
        .collect();
    if events.len() == MAX_EVENTS {
        text.push_str("More lines follow: cite a range of lines to read them.\n");
    }
    text
}

/// A page of `text` from `offset` on.
pub(super) fn page(target: &str, text: &str, offset: usize) -> Result<AgentAnswer> {
    let bytes = text.len();
    if offset > 0 && offset >= bytes {
        bail!("offset {offset} lies behind the end of {target}, which has {bytes} bytes");
    }
    let from = text.floor_char_boundary(offset);
    let mut to = text.floor_char_boundary((from + MAX_MEMORY_BYTES).min(bytes));
    if to < bytes {
        // Whole lines, unless one line fills the page.
        let end = text[from..to].rfind('\n').map_or(to, |end| from + end + 1);
        to = if end > from + MAX_MEMORY_BYTES / 2 {
            end
        } else {
            to
        };
    }
    let rest = (to < bytes).then_some(to);
    let page = &text[from..to];
    let mut body = format!("{} ({NOTICE}):\n\n{}\n", cut(target, 300), page.trim_end());
    if let Some(next) = rest {
        body.push_str(&format!(
            "\nCut after byte {next} of {bytes}: `show` it with offset {next} for the rest.\n"
        ));
    }
    let data = json!({
        "target": target,
        "text": page,
        "offset": from,
        "bytes": bytes,
        "next_offset": rest,
    });
    Ok(AgentAnswer {
        text: enclose(&body),
        data: with_notice(data),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::agent_answer::MAX_BYTES;

    fn pages(text: &str) -> Vec<String> {
        let mut pages = Vec::new();
        let mut offset = Some(0);
        while let Some(at) = offset {
            let answer = page("x", text, at).unwrap();
            assert!(answer.text.len() <= MAX_BYTES, "{}", answer.text.len());
            assert_eq!(
                answer.text.contains("Cut after"),
                !answer.data["next_offset"].is_null()
            );
            pages.push(answer.data["text"].as_str().unwrap().to_owned());
            offset = answer.data["next_offset"]
                .as_u64()
                .map(|next| next as usize);
        }
        pages
    }

    #[test]
    fn pages_make_up_the_whole() {
        for text in [
            "",
            "short\n",
            &"line of ä\n".repeat(9_000),
            &"ä".repeat(40_000),
        ] {
            assert_eq!(pages(text).concat(), text);
        }
        assert_eq!(pages("short\n").len(), 1);
        assert!(page("x", "short", 5).is_err());
    }
}
