//! Context that makes a person's words understandable next month.
//!
//! A refusal needs the refused call; conceded words need the agent's concession;
//! a short decision needs the agent's sentence that it answers, and a short answer its question. The agent's words are used as
//! context only, marked as its own, and never as an observation.
//!
//! Not here: whether the words are worth keeping (`speech_acts`).

use std::collections::HashSet;

use daybook_domain::{ObservationKind as Kind, Origin};

use super::actions::{ActionKind, AgentAction};
use super::clauses::shorten;
use super::done::plan_title;
use super::lexicon::{Cue, english, lexicon_of};
use super::sentences::{MAX_QUOTE, Sentence, agent_sentences, lowered, one_line};
use super::turns::{HumanTurn, WindowConversation};
use super::words::{content_words, is_concrete};

/// Number of leading sentences of a reply that are searched for the conceded point.
const ANSWER: usize = 5;
/// Words of a decision above which it explains itself.
const SHORT: usize = 12;
/// Fewest content words that a sentence of the agent must share with the answer to it, and with one that speaks of something
/// as "it", which only that sentence names.
const SHARED: usize = 2;
const SHARED_WITH_PRONOUN: usize = 1;
/// Most bytes of an answer that needs its question.
const SHORT_ANSWER: usize = 80;
/// Words of a sentence before the answer that says nothing: "hmm.", "no."
const NOTHING: usize = 2;
/// Fewest content words of a question that says what it is about: "how early?" does not.
const SUBJECT_WORDS: usize = 2;
const MARK: &str = "agent: ";
/// How the context of words against a plan begins.
pub(crate) const REFUSED_PLAN: &str = "refused the plan";

/// The context of a person's words, from the sentence at `at`, if they need one.
pub(super) fn find_context(
    talk: &WindowConversation<'_>,
    turn: &HumanTurn<'_>,
    kind: Kind,
    (at, words): (usize, &str),
) -> Option<String> {
    if let Some(call) = turn.refused_call {
        let action = talk.actions.iter().find(|d| d.call.seq == call.seq);
        return Some(refusal(action, call.tool.as_deref()));
    }
    let asked = || answered_question(talk, turn, (at, words));
    let sentence = match kind {
        Kind::Correction | Kind::Decision => conceded_point(turn)
            .or_else(asked)
            .or_else(|| answered_sentence(turn, kind, words)),
        Kind::Preference | Kind::Fact => asked(),
        Kind::Value | Kind::Fix | Kind::OpenEnd | Kind::Note => None,
    };
    sentence.map(|text| mark_as_agent(&text))
}

/// The agent's words, marked as such.
pub(super) fn mark_as_agent(text: &str) -> String {
    format!("{MARK}{}", shorten(text, MAX_QUOTE - MARK.len()))
}

fn refusal(action: Option<&AgentAction<'_>>, tool: Option<&str>) -> String {
    match action.map(|d| &d.kind) {
        Some(ActionKind::Run(commands)) if !commands.is_empty() => {
            let label = commands.last().map(|c| c.label()).unwrap_or_default();
            format!("refused `{label}`")
        }
        Some(ActionKind::Edit { files, .. }) if !files.is_empty() => {
            format!("refused an edit of {}", files[0])
        }
        Some(ActionKind::Plan(plan)) => match plan_title(plan) {
            Some(title) => format!("{REFUSED_PLAN} “{}”", shorten(&title, MAX_QUOTE / 2)),
            None => REFUSED_PLAN.to_owned(),
        },
        Some(
            ActionKind::Run(_) | ActionKind::Edit { .. } | ActionKind::Issue(_) | ActionKind::Other,
        )
        | None => {
            format!("refused a call of {}", tool.unwrap_or("a tool"))
        }
    }
}

/// The point that the agent conceded, marked as the agent's words.
pub(super) fn find_concession(turn: &HumanTurn<'_>) -> Option<String> {
    conceded_point(turn).map(|text| mark_as_agent(&text))
}

fn conceded_point(turn: &HumanTurn<'_>) -> Option<String> {
    let said = turn.concession.as_ref()?;
    said.iter().take(ANSWER).find_map(point)
}

/// The point of the agent's sentence, without "you're right" and announcements of its next step.
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

/// The agent's sentence that a short decision answers.
fn answered_sentence(turn: &HumanTurn<'_>, kind: Kind, words: &str) -> Option<String> {
    if kind != Kind::Decision || words.split(' ').count() > SHORT {
        return None;
    }
    let low = lowered(words);
    let taken: HashSet<&str> = content_words(&low, english()).into_iter().collect();
    let said = agent_sentences(&turn.previous_reply?.text);
    let shared = |s: &Sentence| {
        content_words(&s.low, english())
            .iter()
            .filter(|w| taken.contains(*w))
            .count()
    };
    let least = match has_pronoun(&low) {
        true => SHARED_WITH_PRONOUN,
        false => SHARED,
    };
    let best = said
        .iter()
        .rev()
        .filter(|s| shared(s) >= least)
        .max_by_key(|s| shared(s))?;
    (is_concrete(&best.text) || best.text.split(' ').count() > 5)
        .then(|| best.text.trim_end_matches(':').to_owned())
}

/// The open question that the sentence at `at` of a person's message answers, quoted as `words`.
pub(super) fn answered_question(
    talk: &WindowConversation<'_>,
    turn: &HumanTurn<'_>,
    (at, words): (usize, &str),
) -> Option<String> {
    let mut before = turn.prose[..at].iter();
    let is_first = before.all(|s| s.low.split_whitespace().count() <= NOTHING);
    (is_first && words.len() <= SHORT_ANSWER)
        .then(|| open_question(talk, turn))
        .flatten()
}

/// The open question that ends the agent's message right before a person's.
fn open_question(talk: &WindowConversation<'_>, turn: &HumanTurn<'_>) -> Option<String> {
    let before = talk.events[..turn.at].iter();
    let reply = turn.previous_reply?;
    let spoke_since = before
        .rev()
        .take_while(|event| event.seq > reply.seq)
        .any(|event| event.origin == Origin::Human);
    let said = agent_sentences(&reply.text);
    let (question, before) = said.split_last()?;
    let lexicon = lexicon_of(&question.low).unwrap_or_else(english);
    if spoke_since || !question.is_question() || !lexicon.has_cue(Cue::AsksOpenly, &question.low) {
        return None;
    }
    let says_subject = content_words(&question.low, lexicon).len() >= SUBJECT_WORDS;
    let before = before.last().filter(|_| !says_subject);
    Some(match before {
        Some(before) => one_line(&format!("{} {}", before.text, question.text)),
        None => question.text.clone(),
    })
}

/// Whether a decision speaks of something that it does not name: "let's store it in the metadata".
fn has_pronoun(low: &str) -> bool {
    let mut words = low.split(|c: char| !c.is_alphanumeric());
    words.any(|word| matches!(word, "it" | "them" | "these" | "those"))
}
