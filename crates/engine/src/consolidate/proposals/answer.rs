//! Reads a model's answer about a window, and keeps the proposals that are sound.
//!
//! The answer is input from outside: numbers that were not shown, kinds that do not go together, words that add something
//! are dropped one by one, and counted. An answer that is no answer gives nothing.
//!
//! Not here: the rules themselves (`checks`, `rewording`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::model::{FinishReason, ModelReply};
use daybook_domain::{Proposal, SupersessionReason};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ProposalWindow;
use super::checks::{may_merge, may_supersede};
use super::drop_reason::ProposalDropReason as Reason;
use super::rewording::may_reword;
use super::window::WindowStatement;

/// Most proposals that are read of one answer.
const PROPOSALS: usize = 128;

/// What is kept of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValidatedProposals {
    /// Sound proposals.
    pub accepted: Vec<Proposal>,
    /// Numbers of the others, by reason.
    pub dropped: BTreeMap<Reason, usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    merge: Vec<Value>,
    reword: Vec<Value>,
    supersede: Vec<Value>,
}

#[derive(Debug, Deserialize)]
struct MergeAnswer {
    ids: Vec<usize>,
}

#[derive(Debug, Deserialize)]
struct RewordAnswer {
    id: usize,
    text: String,
}

#[derive(Debug, Deserialize)]
struct SupersedeAnswer {
    older: usize,
    newer: usize,
    reason: String,
}

impl ProposalWindow {
    /// The sound proposals of a reply about the window.
    #[must_use]
    pub fn validate(&self, reply: &ModelReply) -> ValidatedProposals {
        let mut validated = ValidatedProposals::default();
        let Some(answer) = parse(reply) else {
            validated.dropped.insert(Reason::Unreadable, 1);
            return validated;
        };
        let mut validator = ProposalValidator {
            window: self,
            merged: BTreeSet::new(),
            hidden: BTreeSet::new(),
            reworded: BTreeSet::new(),
        };
        let merges = answer.merge.iter().take(PROPOSALS);
        let merges: Vec<_> = merges
            .map(|it| validator.merge(&read::<MergeAnswer>(it)?))
            .collect();
        let ends = answer.supersede.iter().take(PROPOSALS);
        let ends: Vec<_> = ends.map(|it| validator.supersede(&read(it)?)).collect();
        let words = answer.reword.iter().take(PROPOSALS);
        let words: Vec<_> = words.map(|it| validator.reword(&read(it)?)).collect();
        for proposal in merges.into_iter().chain(ends).chain(words) {
            match proposal {
                Ok(proposal) => validated.accepted.push(proposal),
                Err(reason) => *validated.dropped.entry(reason).or_default() += 1,
            }
        }
        validated
    }
}

fn parse(reply: &ModelReply) -> Option<Answer> {
    match reply.finish {
        FinishReason::Stop => {}
        FinishReason::Length | FinishReason::Filtered | FinishReason::Tools => return None,
    }
    match &reply.answer {
        Some(answer) => serde_json::from_value(answer.clone()).ok(),
        None => serde_json::from_str(reply.text.trim()).ok(),
    }
}

/// One proposal of an answer: a bad one does not take the others with it.
fn read<T: DeserializeOwned>(proposal: &Value) -> Result<T, Reason> {
    T::deserialize(proposal).map_err(|_| Reason::Unreadable)
}

/// Checks the proposals of one answer, in turn.
struct ProposalValidator<'a> {
    window: &'a ProposalWindow,
    /// Numbers of the statements that are merged.
    merged: BTreeSet<usize>,
    /// Numbers of those that are no longer shown by themselves: merged into another, or ended.
    hidden: BTreeSet<usize>,
    reworded: BTreeSet<usize>,
}

impl<'a> ProposalValidator<'a> {
    fn statement(&self, number: usize) -> Result<&'a WindowStatement, Reason> {
        let at = number.checked_sub(1).ok_or(Reason::NotInWindow)?;
        self.window.statements.get(at).ok_or(Reason::NotInWindow)
    }

    fn merge(&mut self, answer: &MergeAnswer) -> Result<Proposal, Reason> {
        let numbers = answer.ids.as_slice();
        let statements: Vec<&WindowStatement> = numbers
            .iter()
            .map(|number| self.statement(*number))
            .collect::<Result<_, _>>()?;
        let distinct: BTreeSet<usize> = numbers.iter().copied().collect();
        if distinct.len() < 2 || distinct.len() < numbers.len() {
            return Err(Reason::Unreadable);
        }
        if !statements.iter().any(|one| one.is_new) {
            return Err(Reason::NotInWindow);
        }
        if !self.merged.is_disjoint(&distinct) {
            return Err(Reason::Conflicting);
        }
        for (at, one) in statements.iter().enumerate() {
            for other in &statements[at + 1..] {
                may_merge(&one.merged, &other.merged)?;
            }
        }
        self.hidden.extend(&numbers[1..]);
        self.merged.extend(distinct);
        Ok(Proposal::Merge(
            statements.iter().map(|one| one.statement).collect(),
        ))
    }

    fn supersede(&mut self, answer: &SupersedeAnswer) -> Result<Proposal, Reason> {
        let (earlier, later) = (self.statement(answer.older)?, self.statement(answer.newer)?);
        let reason: SupersessionReason = answer.reason.parse().map_err(|_| Reason::Unreadable)?;
        if answer.older == answer.newer || !(earlier.is_new || later.is_new) {
            return Err(Reason::NotInWindow);
        }
        if self.merged.contains(&answer.older) || self.hidden.contains(&answer.older) {
            return Err(Reason::Conflicting);
        }
        may_supersede(&earlier.merged, &later.merged, reason)?;
        self.hidden.insert(answer.older);
        Ok(Proposal::Supersede {
            earlier: earlier.statement,
            later: later.statement,
            reason,
        })
    }

    fn reword(&mut self, answer: &RewordAnswer) -> Result<Proposal, Reason> {
        let one = self.statement(answer.id)?;
        let text = answer.text.trim();
        if !one.is_new {
            return Err(Reason::NotInWindow);
        }
        if self.hidden.contains(&answer.id) || self.reworded.contains(&answer.id) {
            return Err(Reason::Conflicting);
        }
        if text == one.merged.text {
            return Err(Reason::Unreadable);
        }
        may_reword(&one.merged.text, text)?;
        self.reworded.insert(answer.id);
        Ok(Proposal::Reword {
            statement: one.statement,
            text: text.to_owned(),
        })
    }
}
