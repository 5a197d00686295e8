//! What was left open: put off in so many words, or filed for later.
//!
//! Not here: the last words of a session, and what the agent asked last, which its digest shows: where a
//! session ends is not known while it goes on.

use daybook_domain::extraction::Said;
use daybook_domain::{Event, ObservationKind as Kind, Origin};

use super::clauses::{shortened, shortened_around};
use super::context::conceded;
use super::deeds::{Aim, Deed};
use super::finds::{COMPOSED, Find};
use super::lexicon::{Cue, english};
use super::sentences::{QUOTE, Sentence, agent_sentences, lowered, one_line};
use super::turns::{Talk, Turn};
use super::verdict::points_elsewhere;
use super::words::content_words;

const PUT_OFF: i32 = 55;
const FILED: i32 = 60;

/// Everything that was left open.
pub(super) fn open_ends(talk: &Talk<'_>) -> Vec<Find> {
    let turns = talk.new_turns();
    let mut finds: Vec<Find> = turns.filter_map(|(_, turn)| put_off(turn)).collect();
    finds.extend(talk.new_deeds().filter_map(filed));
    finds
}

fn put_off(turn: &Turn<'_>) -> Option<Find> {
    let lexicon = turn.lexicon?;
    let later = |s: &&Sentence| {
        lexicon.shows(Cue::Later, &s.low)
            && !lexicon.shows(Cue::NotLater, &s.low)
            && !s.redacted
            && content_words(&s.low, lexicon).len() >= if points(&s.low) { 4 } else { 2 }
    };
    let sentence = turn.prose.iter().find(later)?;
    let words = shortened_around(&sentence.text, QUOTE, |text| {
        lexicon
            .strongest(Cue::Later, &lowered(text))
            .map(|(_, at)| at)
    });
    let find = Find::said(Kind::OpenEnd, PUT_OFF, &[turn.said], &words);
    Some(find.in_context(conceded(turn)))
}

/// Whether the sentence leaves to the talk what it is about.
fn points(low: &str) -> bool {
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
    points_elsewhere(low) || objects.iter().any(|object| low.contains(object))
}

fn filed(deed: &Deed<'_>) -> Option<Find> {
    if !deed.succeeded() {
        return None;
    }
    let title = match &deed.aim {
        Aim::Issue(title) => title.clone(),
        Aim::Run(commands) => commands
            .iter()
            .find(|c| c.files_issue())
            .and_then(|c| c.option(&["--title", "-t"]))?
            .to_owned(),
        Aim::Edit { .. } | Aim::Other => return None,
    };
    let number = issue_number(&deed.output()).map_or(String::new(), |no| format!("{no}: "));
    let on: Vec<&Event> = [Some(deed.call), deed.result]
        .into_iter()
        .flatten()
        .collect();
    Some(Find::shown(
        Kind::OpenEnd,
        FILED,
        &on,
        &format!("filed {number}{title}"),
    ))
}

/// The issue's own name in what the tracker answered: `"identifier":"ABC-12"`, `/issues/12`.
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
pub(super) fn asked_back<'a>(rest: impl DoubleEndedIterator<Item = &'a Event>) -> Option<Said> {
    let mut spoken = rest.rev().filter(|e| e.origin == Origin::Assistant);
    let asked = spoken.find(|e| !e.text.trim().is_empty())?;
    let said = agent_sentences(&asked.text);
    let at = said.iter().rposition(Sentence::asks)?;
    let (question, before) = (&said[at], said[..at].last());
    let choice = question.low.contains(", or ") || question.low.contains("whether");
    let offers = english().shows(Cue::Offer, &question.low) && !choice;
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
    Some(Said {
        text: shortened(&one_line(&text), COMPOSED),
        events: vec![asked.seq],
        lines: vec![asked.line],
    })
}
