//! A window as a conversation: each human message with its surroundings.
//!
//! The meaning of a sentence depends on its surroundings: it may refuse a call, answer a list of
//! options, or be conceded by the agent afterwards. A turn holds these.
//!
//! Not here: the meaning of sentences (`speech_acts`).

use daybook_domain::{Event, EventSeq, Origin, ToolStatus};
use daybook_text::pasted::split;

use super::actions::{ActionKind, AgentAction, actions_of};
use super::host_question::question_and_answer;
use super::lexicon::{Cue, Lexicon, english, lexicon_of};
use super::sentences::{Sentence, agent_sentences, lowered, sentences};
use super::words::content_words;
use super::worth::ConversationKind;
use crate::extract::{BY, Window};

/// Number of agent messages after a person's that are searched for a concession.
const REPLIES: usize = 2;

/// Events before a turn that its drafts may rest on or take as context. Counted from
/// the turn, so that the start of the window has no influence.
pub(super) const LOOK_BACK: u64 = 256;

/// Fewest content words of a pasted text that is worked on.
const PASTED_WORDS: usize = 8;

/// Longest name of a speaker, in bytes and in words.
const SPEAKER: usize = 40;
const SPEAKER_WORDS: usize = 3;

/// One human message and its surroundings.
#[derive(Debug)]
pub(super) struct HumanTurn<'a> {
    /// The person's message.
    pub(super) message: &'a Event,
    /// Who speaks, where a room's messages begin with their speakers.
    pub(super) speaker: Option<&'a str>,
    /// The message without its speaker.
    pub(super) words: &'a str,
    /// Its index among the conversation's events.
    pub(super) at: usize,
    /// The index of the next human message, or the number of events.
    pub(super) end: usize,
    /// The sentences of the person's own prose.
    pub(super) prose: Vec<Sentence>,
    /// The lexicon of its language; `None` if the language is not supported.
    pub(super) lexicon: Option<&'static Lexicon>,
    /// The call that this message refused.
    pub(super) refused_call: Option<&'a Event>,
    /// The agent's last message before it.
    pub(super) previous_reply: Option<&'a Event>,
    /// The agent's reply, if it concedes that the person is right.
    pub(super) concession: Option<Vec<Sentence>>,
    /// The person interrupted the agent to send this.
    pub(super) interrupting: bool,
}

impl HumanTurn<'_> {
    /// A draft's context, with the speaker where a room's messages have one.
    pub(super) fn said_by(&self, context: Option<String>) -> Option<String> {
        let Some(speaker) = self.speaker else {
            return context;
        };
        Some(match context {
            Some(context) => format!("{BY}{speaker}, {context}"),
            None => format!("{BY}{speaker}"),
        })
    }

    /// The prose as one line in lower case.
    pub(super) fn low(&self) -> String {
        let all: Vec<&str> = self.prose.iter().map(|s| s.low.as_str()).collect();
        all.join(" ")
    }

    /// Whether another's text was pasted, and nothing typed.
    pub(super) fn is_pasted(&self) -> bool {
        let (typed, pasted) = split(self.words);
        typed.trim().is_empty() && content_words(&lowered(&pasted), english()).len() >= PASTED_WORDS
    }

    /// Whether it asks for nothing new: thanks, assent, "commit this", or no prose at all.
    pub(super) fn is_closing(&self) -> bool {
        let whole = lowered(self.words.trim());
        let lexicon = self.lexicon.unwrap_or_else(english);
        self.prose.is_empty()
            || lexicon.has_cue(Cue::Closing, &whole)
            || english().has_cue(Cue::Closing, &whole)
    }
}

/// A window's main conversation, with the events before the window.
#[derive(Debug)]
pub(super) struct WindowConversation<'a> {
    /// The main conversation's events: no side conversations, no recalled memory, no retractions.
    pub(super) events: Vec<&'a Event>,
    /// Index of the window's first event. Earlier windows read the events before it.
    pub(super) first: usize,
    /// The human messages.
    pub(super) turns: Vec<HumanTurn<'a>>,
    /// The agent's actions.
    pub(super) actions: Vec<AgentAction<'a>>,
    /// The events begin at the session's start.
    pub(super) from_start: bool,
}

impl<'a> WindowConversation<'a> {
    pub(super) fn of(window: Window<'a>) -> Self {
        let main =
            |e: &&Event| !e.sidechain && !matches!(e.origin, Origin::Recalled | Origin::Retraction);
        let mut events: Vec<&Event> = window.before.iter().filter(main).collect();
        let first = events.len();
        events.extend(window.events.iter().filter(main));
        let begins = window.events.first().map_or(0, |event| event.seq.0);
        Self {
            first,
            turns: split_turns(&events, window.session.id.has_speakers()),
            actions: actions_of(&events),
            from_start: begins <= LOOK_BACK + 1,
            events,
        }
    }

    /// The window's own turns, each with its index among all.
    pub(super) fn new_turns(&self) -> impl DoubleEndedIterator<Item = (usize, &HumanTurn<'a>)> {
        let turns = self.turns.iter().enumerate();
        turns.filter(|(_, turn)| turn.at >= self.first)
    }

    /// The agent's actions that ended in the window.
    pub(super) fn new_actions(&self) -> impl DoubleEndedIterator<Item = &AgentAction<'a>> {
        self.actions
            .iter()
            .filter(|action| action.done >= self.first)
    }

    /// Index of the first event that may bear on the one at `at`: [`LOOK_BACK`] before the turn that it
    /// belongs to.
    pub(super) fn look_back_start(&self, at: usize) -> usize {
        let turn = self.turns.partition_point(|turn| turn.at <= at);
        let begins = match turn.checked_sub(1) {
            Some(n) => self.turns[n].at,
            None => at,
        };
        look_back_start(&self.events, begins)
    }

    /// Index at which work begins, with the session's first request. `None` while no message has
    /// asked for anything.
    pub(super) fn work_from(&self, asks: impl Fn(&HumanTurn<'a>) -> bool) -> Option<usize> {
        if !self.from_start {
            return Some(0);
        }
        self.turns
            .iter()
            .find(|turn| asks(turn))
            .map(|turn| turn.at)
    }

    /// The events of a turn.
    pub(super) fn events_of_turn(&self, n: usize) -> &[&'a Event] {
        &self.events[self.turns[n].at..self.turns[n].end]
    }

    /// The turn that an event belongs to.
    pub(super) fn turn_at(&self, seq: EventSeq) -> usize {
        self.turns.partition_point(|turn| turn.message.seq <= seq)
    }

    /// Whether the agent acted between two indices, the second excluded.
    pub(super) fn has_actions_in(&self, from: usize, to: usize) -> bool {
        self.actions.iter().any(|d| d.at >= from && d.at < to)
    }

    /// Whether an agent works around a message: in a folder, or with tools. What comes after its turn does not count, so that
    /// a log teaches the same however it is cut.
    pub(super) fn kind_at(&self, turn: &HumanTurn<'_>) -> ConversationKind {
        let is_in_folder = turn.message.place.is_some();
        match is_in_folder || self.has_actions_in(self.look_back_start(turn.at), turn.end) {
            true => ConversationKind::Work,
            false => ConversationKind::Chat,
        }
    }

    /// Actions that began and ended between two indices, the second excluded. Of others the outcome is
    /// unknown there.
    pub(super) fn actions_in(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = &AgentAction<'a>> {
        self.actions
            .iter()
            .filter(move |d| d.at >= from && d.done < to)
    }

    /// Files changed between two indices, in order, each once.
    pub(super) fn files_changed(&self, from: usize, to: usize) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        for action in self.actions_in(from, to).filter(|d| d.is_successful_edit()) {
            if let ActionKind::Edit { files: named, .. } = &action.kind {
                files.extend(named.iter().map(String::as_str));
            }
        }
        let mut seen = std::collections::HashSet::new();
        files.retain(|file| !file.is_empty() && seen.insert(*file));
        files
    }
}

fn look_back_start(events: &[&Event], at: usize) -> usize {
    let seq = events.get(at).map_or(0, |event| event.seq.0);
    events[..at].partition_point(|event| event.seq.0 + LOOK_BACK < seq)
}

fn split_turns<'a>(events: &[&'a Event], has_speakers: bool) -> Vec<HumanTurn<'a>> {
    let human = |i: &usize| events[*i].origin == Origin::Human;
    let begins: Vec<usize> = (0..events.len()).filter(human).collect();
    let mut turns = Vec::with_capacity(begins.len());
    for (n, at) in begins.iter().copied().enumerate() {
        let end = begins.get(n + 1).copied().unwrap_or(events.len());
        // A message without text still ends the turn before it: a window may begin with it.
        if events[at].text.trim().is_empty() {
            continue;
        }
        let earlier = look_back_start(events, at);
        let message = events[at];
        let (speaker, words) = match has_speakers.then(|| spoken(&message.text)).flatten() {
            Some((speaker, words)) => (Some(speaker), words),
            None => (None, message.text.as_str()),
        };
        let lexicon = lexicon_of(&own_words(words));
        turns.push(HumanTurn {
            message,
            speaker,
            words,
            at,
            end,
            // A question that the host put to the person is the agent's, and its answer is a choice.
            prose: match question_and_answer(&message.text) {
                Some(_) => Vec::new(),
                None => sentences(words, lexicon),
            },
            lexicon,
            refused_call: refused_call(&events[earlier..end], at - earlier),
            previous_reply: last_agent_message(&events[earlier..at]),
            concession: find_concession_reply(&events[at..end]),
            interrupting: follows_interruption(&events[earlier..], at - earlier),
        });
    }
    turns
}

/// The speaker before a message of a room, and the words: "ada: the tide is late".
fn spoken(text: &str) -> Option<(&str, &str)> {
    let (speaker, words) = text.split_once(": ")?;
    let is_name = speaker.starts_with(char::is_alphabetic)
        && speaker.len() <= SPEAKER
        && speaker.split(' ').count() <= SPEAKER_WORDS
        && !speaker.contains(|c: char| c.is_control() || "?!,;\"".contains(c));
    (is_name && !words.trim().is_empty()).then_some((speaker, words))
}

fn own_words(text: &str) -> String {
    let prose = sentences(text, None);
    prose
        .iter()
        .map(|s| s.low.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

fn last_agent_message<'a>(events: &[&'a Event]) -> Option<&'a Event> {
    let spoke = |e: &&&Event| e.origin == Origin::Assistant && !e.text.trim().is_empty();
    events.iter().rfind(spoke).copied()
}

/// The agent's first reply in a turn that concedes a point, in sentences.
fn find_concession_reply(turn: &[&Event]) -> Option<Vec<Sentence>> {
    let spoke = |e: &&&Event| e.origin == Origin::Assistant && !e.text.trim().is_empty();
    for reply in turn.iter().filter(spoke).take(REPLIES) {
        let said = agent_sentences(&reply.text);
        let admits = |s: &Sentence| english().has_cue(Cue::Concession, &s.low);
        if said.iter().take(2).any(admits) {
            return Some(said);
        }
    }
    None
}

/// Whether the person interrupted the agent just before.
fn follows_interruption(events: &[&Event], at: usize) -> bool {
    let before = events[..at].iter().rev();
    let noise = |e: &&&Event| e.origin == Origin::Harness;
    before.take_while(noise).any(|e| is_interruption(&e.text))
}

/// The call that the message at `at` refused: the message has the refused result's line number, or
/// directly follows it where line numbers are unknown.
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

/// Whether the text is the marker that a host writes where a person interrupted the agent.
pub(super) fn is_interruption(text: &str) -> bool {
    text.trim_start()
        .starts_with("[Request interrupted by user")
        || text.trim_start().starts_with("<turn_aborted>")
}
