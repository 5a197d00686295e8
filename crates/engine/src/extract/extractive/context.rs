//! What makes a person's words understandable next month.
//!
//! Words that refuse a call need the call; words that the agent conceded need what it conceded;
//! a short decision needs the agent's sentence that it answers. The agent's words stand here as
//! context only, marked as its own, and never as something known.
//!
//! Not here: whether the words are worth keeping (`acts`).

use std::collections::HashSet;

use daybook_domain::ObservationKind as Kind;

use super::clauses::shortened;
use super::deeds::{Aim, Deed};
use super::lexicon::{Cue, english};
use super::sentences::{QUOTE, Sentence, agent_sentences, lowered};
use super::turns::{Talk, Turn};
use super::words::{content_words, is_concrete};

/// Sentences of an answer that may say what was conceded.
const ANSWER: usize = 5;
/// Words of a decision above which it explains itself.
const SHORT: usize = 12;
/// Words that a sentence of the agent must share with what answers it.
const SHARED: usize = 2;
const MARK: &str = "agent: ";

/// The context of what a person said, when the words need one.
pub(super) fn context(talk: &Talk<'_>, turn: &Turn<'_>, kind: Kind, words: &str) -> Option<String> {
    if let Some(call) = turn.refused {
        let deed = talk.deeds.iter().find(|d| d.call.seq == call.seq);
        return Some(refusal(deed, call.tool.as_deref()));
    }
    let said = match kind {
        Kind::Correction | Kind::Decision => admitted(turn).or_else(|| answered(turn, kind, words)),
        Kind::Preference | Kind::Fact | Kind::Value | Kind::Fix | Kind::OpenEnd | Kind::Note => {
            None
        }
    };
    said.map(|text| marked(&text))
}

/// The agent's words, marked as such.
pub(super) fn marked(text: &str) -> String {
    format!("{MARK}{}", shortened(text, QUOTE - MARK.len()))
}

fn refusal(deed: Option<&Deed<'_>>, tool: Option<&str>) -> String {
    match deed.map(|d| &d.aim) {
        Some(Aim::Run(commands)) if !commands.is_empty() => {
            let label = commands.last().map(|c| c.label()).unwrap_or_default();
            format!("refused `{label}`")
        }
        Some(Aim::Edit { files, .. }) if !files.is_empty() => {
            format!("refused an edit of {}", files[0])
        }
        Some(Aim::Run(_) | Aim::Edit { .. } | Aim::Issue(_) | Aim::Other) | None => {
            format!("refused a call of {}", tool.unwrap_or("a tool"))
        }
    }
}

/// What the agent conceded to the person's words, marked as the agent's.
pub(super) fn conceded(turn: &Turn<'_>) -> Option<String> {
    admitted(turn).map(|text| marked(&text))
}

fn admitted(turn: &Turn<'_>) -> Option<String> {
    let said = turn.conceded.as_ref()?;
    said.iter().take(ANSWER).find_map(point)
}

/// What the agent's sentence says beyond "you're right" and beyond what it does next.
fn point(sentence: &Sentence) -> Option<String> {
    let text = sentence.text.as_str();
    let low = lowered(text);
    let end = english()
        .find(Cue::Concession, &low)
        .filter(|(start, _)| *start == 0);
    let rest = match end {
        Some((_, end)) if low.len() == text.len() && text.is_char_boundary(end) => &text[end..],
        _ => text,
    };
    let rest = rest.trim_start_matches(|c: char| !(c.is_alphanumeric() || c == '`'));
    let rest = match rest.strip_suffix(':') {
        Some(open) => open.rsplit_once(", ").map_or("", |(said, _)| said),
        None => rest,
    };
    let starts = lowered(rest);
    let acts = [
        "let me",
        "i'll",
        "i will",
        "i need to",
        "i'm going",
        "now ",
        "looking",
        "here",
        "let's",
        "good ",
        "that's a",
        "this is a much",
    ];
    let empty = acts.iter().any(|act| starts.starts_with(act));
    let content = content_words(&starts, english()).len();
    (!empty && content >= 4 && !rest.ends_with('?')).then(|| rest.to_owned())
}

/// The agent's sentence that a short decision takes up.
fn answered(turn: &Turn<'_>, kind: Kind, words: &str) -> Option<String> {
    if kind != Kind::Decision || words.split(' ').count() > SHORT {
        return None;
    }
    let low = lowered(words);
    let taken: HashSet<&str> = content_words(&low, english()).into_iter().collect();
    let said = agent_sentences(&turn.before?.text);
    let shared = |s: &Sentence| {
        content_words(&s.low, english())
            .iter()
            .filter(|w| taken.contains(*w))
            .count()
    };
    let best = said
        .iter()
        .rev()
        .filter(|s| shared(s) >= SHARED)
        .max_by_key(|s| shared(s))?;
    (is_concrete(&best.text) || best.text.split(' ').count() > 5)
        .then(|| best.text.trim_end_matches(':').to_owned())
}
