//! Finds open ends: work that a person postponed, or that was filed as an issue.
//!
//! Not here: the last words of a session and the agent's last question, which its digest shows: the end of a
//! session is unknown while it continues.

use std::sync::LazyLock;

use daybook_domain::extraction::CitedText;
use daybook_domain::{Event, ObservationKind as Kind, Origin};
use daybook_text::lazy_pattern::LazyPattern;

use super::actions::{ActionKind, AgentAction};
use super::classify::refers_elsewhere;
use super::clauses::{lacks_its_clause, shorten, shorten_around};
use super::context::find_concession;
use super::lexicon::{Cue, english};
use super::scored_draft::{MAX_COMPOSED, ScoredDraft};
use super::sentences::{MAX_QUOTE, Sentence, agent_sentences, lowered, one_line};
use super::turns::{HumanTurn, WindowConversation};
use super::words::content_words;

const PUT_OFF: i32 = 55;
const FILED: i32 = 60;

/// The open ends of the window.
pub(super) fn find_open_ends(talk: &WindowConversation<'_>) -> Vec<ScoredDraft> {
    let turns = talk.new_turns();
    let mut finds: Vec<ScoredDraft> = turns.filter_map(|(_, turn)| find_postponed(turn)).collect();
    finds.extend(talk.new_actions().filter_map(find_filed_issue));
    finds
}

fn find_postponed(turn: &HumanTurn<'_>) -> Option<ScoredDraft> {
    let lexicon = turn.lexicon?;
    let later = |s: &&Sentence| {
        lexicon.has_cue(Cue::Later, &s.low)
            && !lexicon.has_cue(Cue::NotLater, &s.low)
            && !s.redacted
            && content_words(&s.low, lexicon).len() >= if refers_to_context(&s.low) { 4 } else { 2 }
    };
    let sentence = turn.prose.iter().find(later)?;
    let words = shorten_around(&sentence.text, MAX_QUOTE, |text| {
        lexicon
            .strongest(Cue::Later, &lowered(text))
            .map(|(_, at)| at)
    });
    if lacks_its_clause(&words) {
        return None;
    }
    let find = ScoredDraft::from_quote(Kind::OpenEnd, PUT_OFF, &[turn.message], &words);
    Some(find.with_context(turn.said_by(find_concession(turn))))
}

/// Whether only the conversation explains what the sentence is about.
fn refers_to_context(low: &str) -> bool {
    let objects = [
        "do that",
        "do this",
        "do it",
        "fix that",
        "fix this",
        "fix it",
        "leave it",
        "leave that",
    ];
    refers_elsewhere(low) || objects.iter().any(|object| low.contains(object))
}

/// Whether a sentence is no more than the order to file an issue that the work after it filed: what is left of it is the issue.
pub(super) fn is_carried_out(
    sentence: &Sentence,
    talk: &WindowConversation<'_>,
    turn: &HumanTurn<'_>,
) -> bool {
    let mut after = talk.actions_in(turn.at, turn.end);
    ORDERS_ISSUE.is_match(&sentence.low) && after.any(|action| find_filed_issue(action).is_some())
}

static ORDERS_ISSUE: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"^(?:(?:please|then|and|also|now|ok|okay|yes|let's|can you|could you),? )*(?:log|file|create|open|write|raise|add|make)(?: \S+){0,4} (?:issue|ticket|bug)\b|\b(?:leg|erstell|mach)\w*(?: \S+){0,4} (?:issue|ticket)\b|\b(?:crea|abre|registra|añade)\w*(?: \S+){0,4} (?:issue|ticket|incidencia)\b|(?:建|开|提|记)(?:一个|个)?\S{0,4}(?:issue|工单|问题单)",
    )
});

fn find_filed_issue(action: &AgentAction<'_>) -> Option<ScoredDraft> {
    if !action.has_succeeded() {
        return None;
    }
    let title = match &action.kind {
        ActionKind::Issue(title) => title.clone(),
        ActionKind::Run(commands) => commands
            .iter()
            .find(|c| c.is_issue_creation())
            .and_then(|c| c.option(&["--title", "-t"]))?
            .to_owned(),
        ActionKind::Edit { .. } | ActionKind::Plan(_) | ActionKind::Other => return None,
    };
    let number = issue_number(&action.output()).map_or(String::new(), |no| format!("{no}: "));
    let on: Vec<&Event> = [Some(action.call), action.result]
        .into_iter()
        .flatten()
        .collect();
    Some(ScoredDraft::composed(
        Kind::OpenEnd,
        FILED,
        &on,
        &format!("filed {number}{title}"),
    ))
}

/// The issue's identifier in the tracker's answer: `"identifier":"ABC-12"`, `/issues/12`.
fn issue_number(output: &str) -> Option<String> {
    let after = |mark: &str| output.split_once(mark).map(|(_, rest)| rest);
    let word = |rest: &str| -> String {
        rest.chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
            .collect()
    };
    let named = [
        "\"identifier\":\"",
        "\"identifier\": \"",
        "\"key\":\"",
        "\"key\": \"",
    ];
    let name = named.iter().find_map(|mark| after(mark)).map(word);
    let name = name.or_else(|| after("/issues/").map(|rest| format!("#{}", word(rest))));
    name.filter(|n| n.len() > 1 && n.chars().any(|c| c.is_ascii_digit()))
}

/// The agent's last question, when it asks how something should be; a polite offer is none.
pub(super) fn asked_back<'a>(
    rest: impl DoubleEndedIterator<Item = &'a Event>,
) -> Option<CitedText> {
    let mut spoken = rest.rev().filter(|e| e.origin == Origin::Assistant);
    let asked = spoken.find(|e| !e.text.trim().is_empty())?;
    let said = agent_sentences(&asked.text);
    let at = said.iter().rposition(Sentence::is_question)?;
    let (question, before) = (&said[at], said[..at].last());
    let choice = question.low.contains(", or ") || question.low.contains("whether");
    let offers = english().has_cue(Cue::Offer, &question.low) && !choice;
    let weighs = |s: &Sentence| {
        let low = &s.low;
        ["could", "should", "either", "option", "trade"]
            .iter()
            .any(|word| low.contains(word))
    };
    let before = before.filter(|s| weighs(s));
    if offers || (before.is_none() && !choice) {
        return None;
    }
    let text = match before {
        Some(before) => format!("{} {}", before.text, question.text),
        None => question.text.clone(),
    };
    Some(CitedText {
        text: shorten(&one_line(&text), MAX_COMPOSED),
        events: vec![asked.seq],
        lines: vec![asked.line],
    })
}
