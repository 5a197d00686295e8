//! A window as a conversation: each thing a person said, with what came before and after it.
//!
//! What a sentence means depends on its place: said in refusing a call, in answer to a list of
//! options, conceded by the agent afterwards. A turn holds that place.
//!
//! Not here: what the sentences mean (`acts`).

use daybook_domain::{Event, EventSeq, Origin, ToolStatus};

use super::deeds::{Aim, Deed, deeds};
use super::lexicon::{Cue, Lexicon, english, lexicon_of};
use super::outcome::is_interruption;
use super::sentences::{Sentence, agent_sentences, lowered, sentences};
use crate::extract::Window;

/// The agent's messages after a person's that may concede it.
const REPLIES: usize = 2;

/// Events before a turn that what is found in it may rest on, or be understood by. It is counted from
/// the turn, so that where a window begins decides nothing.
pub(super) const LOOK_BACK: u64 = 256;

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

/// A window's conversation, with what came before it.
#[derive(Debug)]
pub(super) struct Talk<'a> {
    /// The main conversation's events: no side conversation, nothing of ours.
    pub(super) events: Vec<&'a Event>,
    /// Place of the window's first event. What lies before was read by earlier windows.
    pub(super) first: usize,
    /// What people said.
    pub(super) turns: Vec<Turn<'a>>,
    /// What the agent did.
    pub(super) deeds: Vec<Deed<'a>>,
    /// What is shown begins where the session begins.
    pub(super) from_start: bool,
}

impl<'a> Talk<'a> {
    pub(super) fn of(window: Window<'a>) -> Self {
        let main =
            |e: &&Event| !e.sidechain && !matches!(e.origin, Origin::Recalled | Origin::Retraction);
        let mut events: Vec<&Event> = window.before.iter().filter(main).collect();
        let first = events.len();
        events.extend(window.events.iter().filter(main));
        let begins = window.events.first().map_or(0, |event| event.seq.0);
        Self {
            first,
            turns: turns(&events),
            deeds: deeds(&events),
            from_start: begins <= LOOK_BACK + 1,
            events,
        }
    }

    /// The window's own turns, each with its place among all.
    pub(super) fn new_turns(&self) -> impl DoubleEndedIterator<Item = (usize, &Turn<'a>)> {
        let turns = self.turns.iter().enumerate();
        turns.filter(|(_, turn)| turn.at >= self.first)
    }

    /// What the agent did that came to its end in the window.
    pub(super) fn new_deeds(&self) -> impl DoubleEndedIterator<Item = &Deed<'a>> {
        self.deeds.iter().filter(|deed| deed.done >= self.first)
    }

    /// Place from which on events may tell something of the one at `at`: so many before the turn that it
    /// belongs to.
    pub(super) fn horizon(&self, at: usize) -> usize {
        let turn = self.turns.partition_point(|turn| turn.at <= at);
        let begins = match turn.checked_sub(1) {
            Some(n) => self.turns[n].at,
            None => at,
        };
        horizon(&self.events, begins)
    }

    /// Where work begins: what a session holds before its first request is none. `None` while no message has
    /// asked for anything so far.
    pub(super) fn work_from(&self, asks: impl Fn(&Turn<'a>) -> bool) -> Option<usize> {
        if !self.from_start {
            return Some(0);
        }
        self.turns
            .iter()
            .find(|turn| asks(turn))
            .map(|turn| turn.at)
    }

    /// The events of a turn.
    pub(super) fn of_turn(&self, n: usize) -> &[&'a Event] {
        &self.events[self.turns[n].at..self.turns[n].end]
    }

    /// The turn that an event belongs to.
    pub(super) fn turn_at(&self, seq: EventSeq) -> usize {
        self.turns.partition_point(|turn| turn.said.seq <= seq)
    }

    /// Whether the agent did anything between two places, the second excluded.
    pub(super) fn works_in(&self, from: usize, to: usize) -> bool {
        self.deeds.iter().any(|d| d.at >= from && d.at < to)
    }

    /// Deeds between two places, the second excluded, that came to their end there: of others it is not
    /// known yet what came of them.
    pub(super) fn deeds_in(&self, from: usize, to: usize) -> impl Iterator<Item = &Deed<'a>> {
        self.deeds
            .iter()
            .filter(move |d| d.at >= from && d.done < to)
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

fn horizon(events: &[&Event], at: usize) -> usize {
    let seq = events.get(at).map_or(0, |event| event.seq.0);
    events[..at].partition_point(|event| event.seq.0 + LOOK_BACK < seq)
}

fn turns<'a>(events: &[&'a Event]) -> Vec<Turn<'a>> {
    let human = |i: &usize| events[*i].origin == Origin::Human;
    let begins: Vec<usize> = (0..events.len()).filter(human).collect();
    let mut turns = Vec::with_capacity(begins.len());
    for (n, at) in begins.iter().copied().enumerate() {
        let end = begins.get(n + 1).copied().unwrap_or(events.len());
        // Words that we cannot see end the turn before all the same: a window may begin with them.
        if events[at].text.trim().is_empty() {
            continue;
        }
        let earlier = horizon(events, at);
        let said = events[at];
        let lexicon = lexicon_of(&own_words(&said.text));
        turns.push(Turn {
            said,
            at,
            end,
            prose: sentences(&said.text, lexicon),
            lexicon,
            refused: refused_call(&events[earlier..end], at - earlier),
            before: last_words_of_agent(&events[earlier..at]),
            conceded: conceded(&events[at..end]),
            interrupting: interrupts(&events[earlier..], at - earlier),
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
fn refused_call<'a>(events: &[&'a Event], at: usize) -> Option<&'a Event> {
    let said = events[at];
    let refused = |e: &&&Event| {
        e.status == Some(ToolStatus::Refused) && (e.line == said.line || said.line == 0)
    };
    let near = events[at.saturating_sub(3)..at]
        .iter()
        .chain(events[at..].iter().skip(1).take(2));
    let result = near.copied().find(|e| refused(&e))?;
    let calls = events[..at].iter().rev();
    let made = calls.copied().filter(|e| e.origin == Origin::ToolCall);
    match &result.call {
        Some(call) => made
            .into_iter()
            .find(|e| e.call.as_ref() == Some(call))
            .or(Some(result)),
        None => made.into_iter().next().or(Some(result)),
    }
}
