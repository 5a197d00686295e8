//! How a window's work ended, from what the person said and what the checks showed.
//!
//! The person's own verdict wins. Without one, the last check speaks, together with what was
//! committed; a claim of the agent never does. Where nothing speaks, the outcome is uncertain:
//!
//! | last verdict | last check | commits | changed since the last commit | outcome |
//! |---|---|---|---|---|
//! | works | | | | success |
//! | broken | | | | fail, or partial when something was committed |
//! | none | failed | none / some | | fail / partial |
//! | none | passed or none | some | no | success |
//! | none | any | some | yes, or broken off | partial |
//! | none | any | none | | uncertain |
//!
//! Not here: what was learned.

use daybook_domain::{Origin, Outcome};

use super::deeds::{Aim, Deed};
use super::lexicon::{Cue, english};
use super::sentences::{agent_sentences, lowered};
use super::turns::{Talk, Turn};

/// Messages at the end that may hold the person's verdict.
const VERDICT_TURNS: usize = 3;

/// What became of a person's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing: broken off, or the log ends.
    None,
    /// The agent asked back.
    AskedBack,
    /// It was answered.
    Given,
}

/// Whether the message of turn `n` was answered.
pub(super) fn answer(talk: &Talk<'_>, n: usize) -> Answer {
    if talk.turns[n + 1..].iter().any(|t| !is_silent(t)) {
        return Answer::Given;
    }
    let rest = &talk.events[talk.turns[n].at + 1..];
    let last = rest
        .iter()
        .rposition(|e| e.origin == Origin::Assistant && !e.text.trim().is_empty());
    let Some(last) = last else {
        return Answer::None;
    };
    let after = &rest[last + 1..];
    if after
        .iter()
        .any(|e| is_interruption(&e.text) || e.origin == Origin::ToolCall)
    {
        return Answer::None;
    }
    if rest[..last]
        .last()
        .is_some_and(|e| is_interruption(&e.text))
    {
        return Answer::None;
    }
    let said = agent_sentences(&rest[last].text);
    if said.iter().rev().take(2).any(|s| s.asks()) {
        Answer::AskedBack
    } else {
        Answer::Given
    }
}

/// A message whose words we cannot see, such as a pasted log.
fn is_silent(turn: &Turn<'_>) -> bool {
    turn.said.text.trim().is_empty()
}

/// The marker that a host leaves where a person stopped the agent.
pub(super) fn is_interruption(text: &str) -> bool {
    text.trim_start()
        .starts_with("[Request interrupted by user")
        || text.trim_start().starts_with("<turn_aborted>")
}

/// Commits made, how many of them were published, and the place of the last.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Commits {
    pub(super) made: u32,
    pub(super) pushed: u32,
    pub(super) last_at: Option<usize>,
}

/// What was committed and pushed by commands that succeeded.
pub(super) fn commits(talk: &Talk<'_>) -> Commits {
    let mut commits = Commits::default();
    for deed in talk.deeds.iter().filter(|d| d.succeeded()) {
        let Aim::Run(commands) = &deed.aim else {
            continue;
        };
        for command in commands {
            if command.commits() {
                commits.made = commits.made.saturating_add(1);
                commits.last_at = Some(deed.at);
            } else if command.pushes() {
                commits.pushed = commits.made;
            }
        }
    }
    commits
}

/// How the work ended; `None` when no work was done and no verdict given.
pub(super) fn outcome(talk: &Talk<'_>, commits: &Commits) -> Outcome {
    let some = commits.made > 0;
    match verdict(talk) {
        Some(true) => return Outcome::Success,
        Some(false) if some => return Outcome::Partial,
        Some(false) => return Outcome::Fail,
        None => {}
    }
    let last_check = talk.deeds.iter().rev().find_map(Deed::passed);
    let committed = commits.last_at.unwrap_or(0);
    let changed = talk.deeds.iter().any(|d| d.edited() && d.at > committed);
    let broken_off = talk
        .events
        .iter()
        .rev()
        .take(3)
        .any(|e| is_interruption(&e.text));
    match (some, last_check) {
        (false, Some(false)) => Outcome::Fail,
        (false, _) => Outcome::Uncertain,
        (true, Some(false)) => Outcome::Partial,
        (true, _) if changed || broken_off => Outcome::Partial,
        (true, _) => Outcome::Success,
    }
}

/// The person's verdict on the work, when the last words hold one that nothing newer undoes.
fn verdict(talk: &Talk<'_>) -> Option<bool> {
    for turn in talk.turns.iter().rev().take(VERDICT_TURNS) {
        let whole = lowered(turn.said.text.trim());
        let lexicon = turn.lexicon.unwrap_or_else(english);
        let low = turn.low();
        let text = if low.is_empty() {
            whole.as_str()
        } else {
            low.as_str()
        };
        let asks = text.ends_with('?');
        if !asks && lexicon.shows(Cue::Trouble, text) {
            return Some(false);
        }
        if !asks && lexicon.shows(Cue::Praise, text) {
            return Some(true);
        }
        if !turn.closes() {
            return None;
        }
    }
    None
}
