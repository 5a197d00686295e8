//! How work ended, from what the person said and what the checks showed. A window notes the facts, which
//! are joined with those of the windows before ([`Course::outcome`]):
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

use daybook_domain::Origin;
use daybook_domain::extraction::Course;

use super::deeds::{Aim, Deed};
use super::lexicon::{Cue, english};
use super::sentences::{agent_sentences, lowered};
use super::turns::{Talk, Turn};

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
    let turn = &talk.turns[n];
    let rest = &talk.events[turn.at + 1..turn.end];
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
pub(super) fn is_silent(turn: &Turn<'_>) -> bool {
    turn.said.text.trim().is_empty()
}

/// The marker that a host leaves where a person stopped the agent.
pub(super) fn is_interruption(text: &str) -> bool {
    text.trim_start()
        .starts_with("[Request interrupted by user")
        || text.trim_start().starts_with("<turn_aborted>")
}

/// Commits made, how many of them were published, and the place where the last one ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Commits {
    pub(super) made: u32,
    pub(super) pushed: u32,
    pub(super) pushes: bool,
    pub(super) last_at: Option<usize>,
}

/// What was committed and pushed from place `from` on by commands that succeeded.
pub(super) fn commits(talk: &Talk<'_>, from: usize) -> Commits {
    let mut commits = Commits::default();
    for deed in ended_deeds(talk, from)
        .into_iter()
        .filter(|d| d.succeeded())
    {
        let Aim::Run(commands) = &deed.aim else {
            continue;
        };
        for command in commands {
            if command.commits() {
                commits.made = commits.made.saturating_add(1);
                commits.last_at = Some(deed.done);
            } else if command.pushes() {
                commits.pushed = commits.made;
                commits.pushes = true;
            }
        }
    }
    commits
}

/// What ended in the window and began at place `from` or later, in the order of the ends: a later window
/// sees only the ends of what began before it.
fn ended_deeds<'t, 'e>(talk: &'t Talk<'e>, from: usize) -> Vec<&'t Deed<'e>> {
    let mut deeds: Vec<&Deed<'_>> = talk.new_deeds().filter(|deed| deed.at >= from).collect();
    deeds.sort_by_key(|deed| deed.done);
    deeds
}

/// What the window shows from place `from` on of how the work stands.
pub(super) fn course(talk: &Talk<'_>, from: usize, commits: &Commits) -> Course {
    let deeds = ended_deeds(talk, from);
    let turns = || {
        let turns = talk.new_turns().map(|(_, turn)| turn);
        turns.filter(|turn| turn.at >= from)
    };
    let (verdict, is_open) = verdict(turns().rev());
    let last = talk.events.iter().rev().take(3);
    Course {
        verdict,
        is_open,
        spoken: turns().any(|turn| !is_silent(turn)),
        check: deeds.iter().rev().find_map(|deed| deed.passed()),
        changed: (deeds.iter())
            .any(|d| d.edited() && commits.last_at.is_none_or(|last| d.done > last)),
        pushes: commits.pushes,
        broken_off: last.into_iter().any(|e| is_interruption(&e.text)),
    }
}

/// The person's verdict on the work, when the last words hold one that nothing newer undoes; and whether
/// an earlier one still stands.
fn verdict<'t, 'e: 't>(turns: impl Iterator<Item = &'t Turn<'e>>) -> (Option<bool>, bool) {
    for turn in turns {
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
            return (Some(false), false);
        }
        if !asks && lexicon.shows(Cue::Praise, text) {
            return (Some(true), false);
        }
        if !turn.closes() {
            return (None, false);
        }
    }
    (None, true)
}
