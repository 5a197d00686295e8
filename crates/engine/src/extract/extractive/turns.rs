//! A window as a conversation: each thing a person said, with what came before and after it.
//!
//! What a sentence means depends on its place: said in refusing a call, in answer to a list of
//! options, conceded by the agent afterwards. A turn holds that place.
//!
//! Not here: what the sentences mean (`acts`).

use daybook_domain::{Event, Origin, ToolStatus};

use super::deeds::{Aim, Deed, deeds};
use super::lexicon::{Cue, Lexicon, english, lexicon_of};
use super::outcome::is_interruption;
use super::sentences::{Sentence, agent_sentences, lowered, sentences};
use crate::extract::Window;

/// The agent's messages after a person's that may concede it.
const REPLIES: usize = 2;

/// One thing a person said, and its place.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    /// The person's message.
    pub(super) said: &'a Event,
    /// Its place among the talk's events.
    pub(super) at: usize,
    /// Where the next message of a person begins.
    pub(super) end: usize,
    /// What of it is the person's own, in sentences.
    pub(super) prose: Vec<Sentence>,
    /// The words of its language; `None` when we do not understand it.
    pub(super) lexicon: Option<&'static Lexicon>,
    /// The call that these words refused.
    pub(super) refused: Option<&'a Event>,
    /// The agent's last message before.
    pub(super) before: Option<&'a Event>,
    /// What the agent answered, when it admitted the person right.
    pub(super) conceded: Option<Vec<Sentence>>,
    /// The person had stopped the agent to say this.
    pub(super) interrupting: bool,
}

impl Turn<'_> {
    /// The person's prose as one lower-case line.
    pub(super) fn low(&self) -> String {
        let all: Vec<&str> = self.prose.iter().map(|s| s.low.as_str()).collect();
        all.join(" ")
    }

    /// Asks for nothing new: thanks, assent, "commit this"; or says nothing at all.
    pub(super) fn closes(&self) -> bool {
        let whole = lowered(self.said.text.trim());
        let lexicon = self.lexicon.unwrap_or_else(english);
        self.prose.is_empty()
            || lexicon.shows(Cue::Closing, &whole)
            || english().shows(Cue::Closing, &whole)
    }
}

/// A window's conversation.
#[derive(Debug)]
pub(super) struct Talk<'a> {
    /// The main conversation's events: no side conversation, nothing of ours.
    pub(super) events: Vec<&'a Event>,
    /// What people said.
    pub(super) turns: Vec<Turn<'a>>,
    /// What the agent did.
    pub(super) deeds: Vec<Deed<'a>>,
    /// The window ends where the session ends.
    pub(super) is_last: bool,
}

impl<'a> Talk<'a> {
    pub(super) fn of(window: Window<'a>) -> Self {
        let main =
            |e: &&Event| !e.sidechain && !matches!(e.origin, Origin::Recalled | Origin::Retraction);
        let events: Vec<&Event> = window.events.iter().filter(main).collect();
        let earlier: Vec<&Event> = window.before.iter().filter(main).collect();
        let turns = turns(&events, &earlier);
        let deeds = deeds(&events);
        let last = window.events.last().map(|e| e.seq);
        Self {
            events,
            turns,
            deeds,
            is_last: last.is_none_or(|seq| seq >= window.session.events),
        }
    }

    /// Deeds between two places, the second excluded.
    pub(super) fn deeds_in(&self, from: usize, to: usize) -> impl Iterator<Item = &Deed<'a>> {
        self.deeds.iter().filter(move |d| d.at >= from && d.at < to)
    }

    /// Files changed between two places, in order, each once.
    pub(super) fn files_changed(&self, from: usize, to: usize) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        for deed in self.deeds_in(from, to).filter(|d| d.edited()) {
            if let Aim::Edit { files: named, .. } = &deed.aim {
                files.extend(named.iter().map(String::as_str));
            }
        }
        let mut seen = std::collections::HashSet::new();
        files.retain(|file| !file.is_empty() && seen.insert(*file));
        files
    }
}

fn turns<'a>(events: &[&'a Event], earlier: &[&'a Event]) -> Vec<Turn<'a>> {
    let human = |e: &&&Event| e.origin == Origin::Human && !e.text.trim().is_empty();
    let places: Vec<usize> = (0..events.len()).filter(|i| human(&&events[*i])).collect();
    let mut turns = Vec::with_capacity(places.len());
    let mut spoken = last_words_of_agent(earlier);
    let mut from = 0;
    for (n, at) in places.iter().copied().enumerate() {
        let end = places.get(n + 1).copied().unwrap_or(events.len());
        spoken = last_words_of_agent(&events[from..at]).or(spoken);
        from = at;
        let said = events[at];
        let lexicon = lexicon_of(&own_words(&said.text));
        turns.push(Turn {
            said,
            at,
            end,
            prose: sentences(&said.text, lexicon),
            lexicon,
            refused: refused_call(events, earlier, at),
            before: spoken,
            conceded: conceded(&events[at..end]),
            interrupting: interrupts(events, at),
        });
    }
    turns
}

fn own_words(text: &str) -> String {
    let prose = sentences(text, None);
    prose
        .iter()
        .map(|s| s.low.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

fn last_words_of_agent<'a>(events: &[&'a Event]) -> Option<&'a Event> {
    let spoke = |e: &&&Event| e.origin == Origin::Assistant && !e.text.trim().is_empty();
    events.iter().rfind(spoke).copied()
}

/// What the agent says first in a turn, when it admits the person right there.
fn conceded(turn: &[&Event]) -> Option<Vec<Sentence>> {
    let spoke = |e: &&&Event| e.origin == Origin::Assistant && !e.text.trim().is_empty();
    for reply in turn.iter().filter(spoke).take(REPLIES) {
        let said = agent_sentences(&reply.text);
        let admits = |s: &Sentence| english().shows(Cue::Concession, &s.low);
        if said.iter().take(2).any(admits) {
            return Some(said);
        }
    }
    None
}

/// Whether the person stopped the agent just before.
fn interrupts(events: &[&Event], at: usize) -> bool {
    let before = events[..at].iter().rev();
    let noise = |e: &&&Event| e.origin == Origin::Harness;
    before.take_while(noise).any(|e| is_interruption(&e.text))
}

/// The call that the message at `at` refused: it stands on the refused result's own line, or
/// directly behind it where no lines are known.
fn refused_call<'a>(events: &[&'a Event], earlier: &[&'a Event], at: usize) -> Option<&'a Event> {
    let said = events[at];
    let refused = |e: &&&Event| {
        e.status == Some(ToolStatus::Refused) && (e.line == said.line || said.line == 0)
    };
    let near = events[at.saturating_sub(3)..at]
        .iter()
        .chain(events[at..].iter().skip(1).take(2));
    let result = near
        .copied()
        .find(|e| refused(&e))
        .or_else(|| earlier.last().copied().filter(|e| at == 0 && refused(&e)))?;
    let calls = earlier.iter().chain(events[..at].iter()).rev();
    let made = calls.copied().filter(|e| e.origin == Origin::ToolCall);
    match &result.call {
        Some(call) => made
            .into_iter()
            .find(|e| e.call.as_ref() == Some(call))
            .or(Some(result)),
        None => made.into_iter().next().or(Some(result)),
    }
}
