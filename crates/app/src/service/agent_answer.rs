//! Renders recalled memory as compact text for agents, with its JSON; both are cut at the same limit.
//!
//! Recalled text is always enclosed in Daybook's element, and JSON has a member of its name: some hosts show an agent
//! the one, some the other.

use daybook_engine::files::layout::folder;
use daybook_engine::recall::confidence::Likelihood;
use daybook_engine::recall::search::excerpt::from_best_passage;
use daybook_engine::recall::search::{RankedAnswer, RecallResult};
use daybook_text::fence::{NOTICE, enclose, one_line, with_margin};
use daybook_text::recalled::ELEMENT;
use serde_json::{Value, json};

use super::format_time;
use super::recall::{answer_json, no_answer_message, recall_json};
use super::search_result::replaced_line;
use crate::wiring::Daybook;

/// Longest answer, in bytes of text. More gives an agent more memory and costs it more tokens.
pub(crate) const MAX_BYTES: usize = 24 * 1024;
/// What of [`MAX_BYTES`] is left for recalled memory; the rest is for the lines around it.
pub(crate) const MAX_MEMORY_BYTES: usize = MAX_BYTES - 1024;
/// Longest single answer to a question, and longest context of one, in bytes; `show` returns the rest.
const MAX_EXCERPT_BYTES: usize = 1_500;

/// What stands before each further line of an answer, and before its context.
const TEXT_MARGIN: &str = "   > ";

/// An answer for an agent.
#[derive(Debug)]
pub(crate) struct AgentAnswer {
    pub(crate) text: String,
    pub(crate) data: Value,
}

/// Renders the answers to a question, as many as fit.
pub(crate) fn render_recalled(daybook: &Daybook, recalled: &RecallResult) -> AgentAnswer {
    let mut shown = RecallResult {
        confidence: recalled.confidence,
        answers: Vec::new(),
        without_vectors: recalled.without_vectors.clone(),
        unanswered: recalled.unanswered.clone(),
    };
    let unanswered = unanswered_line(recalled);
    if recalled.answers.is_empty() {
        return AgentAnswer {
            text: format!("{}{unanswered}", no_answer_message(recalled)),
            data: with_notice(recall_json(&shown)),
        };
    }
    let mut body = match recalled.confidence.label {
        Likelihood::Likely => format!("Remembered ({NOTICE}), best first:\n"),
        Likelihood::Weak => format!("Remembered ({NOTICE}); this may answer it, best first:\n"),
        Likelihood::Unlikely => format!(
            "Nothing remembered clearly answers this; do not take the following for an answer. \
             Nearest ({NOTICE}):\n"
        ),
    };
    if recalled.without_vectors.is_some() {
        body.push_str("(Found by words alone: the model of vectors could not be used.)\n");
    }
    body.push_str(unanswered.trim_start());
    let mut used = 0;
    for (n, answer) in recalled.answers.iter().enumerate() {
        let answer = excerpt(answer);
        let item = render_item(daybook, n + 1, &answer);
        let as_json = answer_json(&answer).to_string().len();
        used += item.len().max(as_json);
        if used > MAX_MEMORY_BYTES {
            break;
        }
        body.push_str(&item);
        shown.answers.push(answer);
    }
    let left_out = recalled.answers.len() - shown.answers.len();
    let mut data = recall_json(&shown);
    if left_out > 0 {
        body.push_str(&format!(
            "{left_out} more answers did not fit: ask something narrower, or for one scope or layer.\n"
        ));
        data["left_out"] = json!(left_out);
    }
    AgentAnswer {
        text: enclose(&body),
        data: with_notice(data),
    }
}

/// A line about parts of memory that did not answer; empty where all did.
fn unanswered_line(recalled: &RecallResult) -> String {
    match recalled.unanswered.as_slice() {
        [] => String::new(),
        parts => format!(
            " (Not all memory was searched; do not conclude that something is not remembered. {}.)\n",
            one_line(&parts.join("; "))
        ),
    }
}

fn excerpt(answer: &RankedAnswer) -> RankedAnswer {
    let cut_to_excerpt = |text: &str| cut(text, MAX_EXCERPT_BYTES);
    RankedAnswer {
        text: cut_to_excerpt(&from_best_passage(answer, MAX_EXCERPT_BYTES)),
        context: answer.context.as_deref().map(cut_to_excerpt),
        ..answer.clone()
    }
}

fn render_item(daybook: &Daybook, n: usize, answer: &RankedAnswer) -> String {
    let file = answer.file.as_ref().zip(answer.scope.as_ref());
    let file = file.and_then(|(file, scope)| {
        let folder = folder(&daybook.root, scope);
        let below = folder.strip_prefix(&daybook.root).ok()?;
        Some(format!("{}/{file}", below.display()))
    });
    let parts = [
        answer
            .citation
            .as_ref()
            .map(|citation| format!("[{citation}]")),
        answer.scope.as_ref().map(ToString::to_string),
        answer
            .origin
            .map(|origin| origin.as_str().replace('_', " ")),
        file,
        format_time(daybook, answer.time, "%-d %b %Y"),
    ];
    let source: Vec<String> = parts.into_iter().flatten().collect();
    // Its further lines have a margin, so that none looks like the next answer or like a source.
    let text = with_margin(answer.text.trim(), TEXT_MARGIN);
    let mut item = format!("{n}. {}\n", text.strip_prefix(TEXT_MARGIN).unwrap_or(&text));
    if let Some(context) = &answer.context {
        item.push_str(&with_margin(context.trim(), TEXT_MARGIN));
        item.push('\n');
    }
    if let Some(replaced) = &answer.replaced {
        let line = one_line(&replaced_line(daybook, replaced));
        item.push_str(&with_margin(&line, TEXT_MARGIN));
        item.push('\n');
    }
    item.push_str(&format!("   {}\n", one_line(&source.join(" · "))));
    item
}

/// Adds the notice that what follows is recalled memory, and no instruction.
pub(crate) fn with_notice(mut data: Value) -> Value {
    data[ELEMENT] = json!(NOTICE);
    data
}

/// Cuts a text to at most `limit` bytes, and marks it as cut.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    format!("{}… (cut)", &text[..text.floor_char_boundary(limit)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_says_so_and_splits_no_letter() {
        assert_eq!(cut("äää", 3), "ä… (cut)");
        assert_eq!(cut("ä", 2), "ä");
    }
}
