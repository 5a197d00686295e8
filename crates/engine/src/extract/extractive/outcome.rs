//! The outcome of work, from the person's verdict, the checks and the commits.
//!
//! Each window records its facts, which are joined with those of the windows before ([`OutcomeFacts::outcome`]).
//! The person's own verdict wins. Without one, the last check decides, together with the
//! commits; a claim of the agent never counts. Without any of these, the outcome is uncertain:
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
//! Not here: learned observations.

use daybook_domain::extraction::OutcomeFacts;
use daybook_domain::{Event, Origin};

use super::actions::{ActionKind, AgentAction};
use super::lexicon::{Cue, english};
use super::sentences::{agent_sentences, lowered};
use super::turns::{HumanTurn, WindowConversation, is_interruption};

/// Whether a person's message was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyStatus {
    /// No answer: interrupted, or the log ends.
    None,
    /// The agent asked back.
    AskedBack,
    /// It was answered.
    Given,
}

/// Whether the message of turn `n` was answered.
pub(super) fn reply_status(talk: &WindowConversation<'_>, n: usize) -> ReplyStatus {
    if talk.turns[n + 1..].iter().any(|t| !has_no_text(t)) {
        return ReplyStatus::Given;
    }
    let turn = &talk.turns[n];
    let rest = &talk.events[turn.at + 1..turn.end];
    let last = rest
        .iter()
        .rposition(|e| e.origin == Origin::Assistant && !e.text.trim().is_empty());
    let interrupted = |events: &[&Event]| events.iter().any(|e| is_interruption(&e.text));
    let acted = |events: &[&Event]| events.iter().any(|e| e.origin == Origin::ToolCall);
    let Some(last) = last else {
        // Work that began is an answer, also when the log ends before its last words.
        return match acted(rest) && !interrupted(rest) {
            true => ReplyStatus::Given,
            false => ReplyStatus::None,
        };
    };
    let after = &rest[last + 1..];
    if interrupted(after) {
        return ReplyStatus::None;
    }
    if acted(after) {
        return ReplyStatus::Given;
    }
    if rest[..last]
        .last()
        .is_some_and(|e| is_interruption(&e.text))
    {
        return ReplyStatus::None;
    }
    let said = agent_sentences(&rest[last].text);
    if said.iter().rev().take(2).any(|s| s.is_question()) {
        ReplyStatus::AskedBack
    } else {
        ReplyStatus::Given
    }
}

/// Whether a message has no text, such as an image alone.
pub(super) fn has_no_text(turn: &HumanTurn<'_>) -> bool {
    turn.message.text.trim().is_empty()
}

/// Number of commits made and pushed, and the index at which the last one ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CommitCounts {
    pub(super) made: u32,
    pub(super) pushed: u32,
    pub(super) pushes: bool,
    pub(super) last_at: Option<usize>,
}

/// Counts commits and pushes by successful commands from index `from` on.
pub(super) fn count_commits(talk: &WindowConversation<'_>, from: usize) -> CommitCounts {
    let mut commits = CommitCounts::default();
    for action in ended_actions(talk, from)
        .into_iter()
        .filter(|d| d.has_succeeded())
    {
        let ActionKind::Run(commands) = &action.kind else {
            continue;
        };
        for command in commands {
            if command.is_commit() {
                commits.made = commits.made.saturating_add(1);
                commits.last_at = Some(action.done);
            } else if command.is_push() {
                commits.pushed = commits.made;
                commits.pushes = true;
            }
        }
    }
    commits
}

/// Actions that ended in the window and began at index `from` or later, in the order of their ends: a later
/// window contains only the ends of actions that began before it.
fn ended_actions<'t, 'e>(
    talk: &'t WindowConversation<'e>,
    from: usize,
) -> Vec<&'t AgentAction<'e>> {
    let mut actions: Vec<&AgentAction<'_>> = talk
        .new_actions()
        .filter(|action| action.at >= from)
        .collect();
    actions.sort_by_key(|action| action.done);
    actions
}

/// The window's facts about the state of the work, from index `from` on.
pub(super) fn course(
    talk: &WindowConversation<'_>,
    from: usize,
    commits: &CommitCounts,
) -> OutcomeFacts {
    let actions = ended_actions(talk, from);
    let turns = || {
        let turns = talk.new_turns().map(|(_, turn)| turn);
        turns.filter(|turn| turn.at >= from)
    };
    let (verdict, is_open) = persons_verdict(turns().rev());
    let last = talk.events.iter().rev().take(3);
    OutcomeFacts {
        verdict,
        is_open,
        spoken: turns().any(|turn| !has_no_text(turn)),
        check: actions
            .iter()
            .rev()
            .find_map(|action| action.check_passed()),
        changed: (actions.iter())
            .any(|d| d.is_successful_edit() && commits.last_at.is_none_or(|last| d.done > last)),
        pushes: commits.pushes,
        broken_off: last.into_iter().any(|e| is_interruption(&e.text)),
    }
}

/// The person's verdict on the work, if the last messages hold one that no newer request supersedes; and whether
/// an earlier verdict is still valid.
fn persons_verdict<'t, 'e: 't>(
    turns: impl Iterator<Item = &'t HumanTurn<'e>>,
) -> (Option<bool>, bool) {
    for turn in turns {
        let whole = lowered(turn.words.trim());
        let lexicon = turn.lexicon.unwrap_or_else(english);
        let low = turn.low();
        let text = if low.is_empty() {
            whole.as_str()
        } else {
            low.as_str()
        };
        let asks = text.ends_with('?');
        if !asks && lexicon.has_cue(Cue::Trouble, text) {
            return (Some(false), false);
        }
        if !asks && lexicon.has_cue(Cue::Praise, text) {
            return (Some(true), false);
        }
        if !turn.is_closing() {
            return (None, false);
        }
    }
    (None, true)
}
