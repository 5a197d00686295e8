//! Making room: what goes, and what is cut, until the rest fits.
//!
//! One step after another, in an order that depends on the units alone:
//!
//! 1. what is disposable;
//! 2. the middle of large outcomes, arguments and whatever else the agent was told, oldest first;
//! 3. the conversation before the newest message that asks for something, oldest first;
//! 4. what was recalled;
//! 5. the middle of that newest message, while it takes more than half of the room;
//! 6. what the agent did since, oldest first;
//! 7. summaries, and what else shall stay, by priority; then what must stay, by priority;
//! 8. the line that says what is not shown; the rest of that newest message's middle.
//!
//! After each few steps everything is counted as it would be sent, so the budget holds whatever the count
//! makes of texts that are put together.

use std::collections::HashSet;

use daybook_domain::model::{Message, Role};
use daybook_domain::working::ChunkId;
use serde_json::json;

use super::unit::{Line, Rank, Unit, ids, join};
use super::{Context, ContextError, LeftOut, Why, cut, spoken};

/// Tokens that providers add around a message; of those known, none adds more than four.
const PER_MESSAGE: u32 = 8;
/// Tokens that providers add around a call, and around its outcome.
const PER_CALL: u32 = 16;
/// Where room is short, one text takes at most this part of it; outcomes of one message take half of it.
const PARTS: u32 = 8;
/// Least tokens that are left of a text whose middle is cut out.
const LEAST: u32 = 64;
/// What comes before a first message that is the agent's: providers want a user's.
const OPENING: &str = "[The agent spoke first.]";

/// Tokens of a message, and of what is added around it.
pub(super) fn cost(message: &Message, count: &dyn Fn(&str) -> u32) -> u32 {
    let text = PER_MESSAGE.saturating_add(count(&message.text));
    let calls = message.calls.iter().map(|call| {
        let written = [&call.id, &call.name, &call.arguments];
        written
            .into_iter()
            .fold(PER_CALL, |sum, text| sum.saturating_add(count(text)))
    });
    let answers = message
        .answers
        .iter()
        .map(|id| PER_CALL.saturating_add(count(id)));
    calls.chain(answers).fold(text, u32::saturating_add)
}

/// One way to make room.
#[derive(Debug, Clone, Copy)]
enum Step {
    Leave(usize),
    /// Cut what is large in a unit.
    Trim(usize),
    /// Cut the unit's text, to this many tokens at the least.
    Cut(usize, u32),
    Silence,
}

/// Units, and what has become of them so far.
pub(super) struct Draft<'a> {
    units: Vec<Unit<'a>>,
    left_out: Vec<bool>,
    shortened: Vec<ChunkId>,
    silent: bool,
    budget: u32,
    count: &'a dyn Fn(&str) -> u32,
}

impl<'a> Draft<'a> {
    pub(super) fn new(units: Vec<Unit<'a>>, budget: u32, count: &'a dyn Fn(&str) -> u32) -> Self {
        Self {
            left_out: vec![false; units.len()],
            units,
            shortened: Vec::new(),
            silent: false,
            budget,
            count,
        }
    }

    /// The context, once there is room for it.
    pub(super) fn fitted(mut self) -> Result<Context, ContextError> {
        let mut steps = self.steps().into_iter();
        loop {
            let messages = self.messages();
            let costs = messages.iter().map(|it| cost(it, self.count));
            let tokens = costs.fold(0, u32::saturating_add);
            if tokens <= self.budget {
                return Ok(self.context(messages, tokens));
            }
            let over = tokens - self.budget;
            let mut saved = 0;
            while saved < over {
                let Some(step) = steps.next() else { break };
                saved = saved.saturating_add(self.act(step, over - saved));
            }
            if saved == 0 {
                return Err(ContextError {
                    needed: tokens,
                    available: self.budget,
                });
            }
        }
    }

    /// All steps, in their order.
    fn steps(&self) -> Vec<Step> {
        let mut ranked: Vec<usize> = (0..self.units.len()).collect();
        ranked.sort_by_key(|at| self.units[*at].rank);
        let leave = |from: Rank, to: Rank| {
            let units = ranked.iter().filter(move |at| {
                let rank = self.units[**at].rank;
                from <= rank && rank < to
            });
            units.map(|at| Step::Leave(*at))
        };
        // The newest message that asks for something is the last unit that never goes.
        let asked = self.units.iter().rposition(|unit| unit.rank == Rank::Never);
        let asked = asked.filter(|at| self.units[*at].role() != Role::System);
        let cut = |least| asked.map(|at| Step::Cut(at, least));
        let mut steps: Vec<Step> = leave(Rank::Disposable, Rank::Earlier).collect();
        steps.extend((0..self.units.len()).map(Step::Trim));
        steps.extend(leave(Rank::Earlier, Rank::Later));
        steps.extend(cut(LEAST.max(self.budget / 2)));
        steps.extend(leave(Rank::Later, Rank::Never));
        steps.push(Step::Silence);
        // Twice: how much the first must save rests on what the steps before it saved, about.
        steps.extend([cut(LEAST), cut(LEAST)].into_iter().flatten());
        steps
    }

    /// Takes a step that is to save `over` tokens; says how many it saved, about.
    fn act(&mut self, step: Step, over: u32) -> u32 {
        let count = self.count;
        let size = |unit: &Unit<'_>| -> u32 {
            let costs = unit.lines.iter().map(|line| cost(&line.message, count));
            costs.fold(0, u32::saturating_add)
        };
        match step {
            Step::Leave(at) => {
                self.left_out[at] = true;
                size(&self.units[at])
            }
            Step::Trim(at) if self.left_out[at] => 0,
            Step::Trim(at) => {
                let before = size(&self.units[at]);
                self.trim(at);
                before.saturating_sub(size(&self.units[at]))
            }
            Step::Cut(at, least) => {
                let line = &mut self.units[at].lines[0];
                let before = count(&line.message.text);
                let limit = before.saturating_sub(over).max(least);
                if limit >= before {
                    return 0;
                }
                line.message.text = cut_line(line, 0, &line.message.text, limit, count);
                let after = count(&line.message.text);
                self.shortened.extend(ids(&self.units[at].chunks));
                before.saturating_sub(after)
            }
            Step::Silence => {
                let said = self.note().map_or(0, |note| count(&note));
                self.silent = true;
                said
            }
        }
    }

    /// Cuts the middle out of whatever takes more than its part, but for the agent's own words, and what
    /// shall stay.
    fn trim(&mut self, at: usize) {
        let (count, unit) = (self.count, &mut self.units[at]);
        if !matches!(unit.rank, Rank::Earlier | Rank::Later | Rank::Newest) {
            return;
        }
        let lines = u32::try_from(unit.lines.len()).unwrap_or(u32::MAX);
        let limit = self.budget / PARTS.max(lines.saturating_mul(2));
        let limit = limit.max(LEAST);
        for line in &mut unit.lines {
            for number in 0..line.message.calls.len() {
                let arguments = &line.message.calls[number].arguments;
                if count(arguments) > limit {
                    let cut = cut_line(line, number, arguments, limit, count);
                    line.message.calls[number].arguments = json!({"shortened": cut}).to_string();
                    self.shortened.push(line.from[number].id.clone());
                }
            }
            if line.message.role != Role::Assistant && count(&line.message.text) > limit {
                line.message.text = cut_line(line, 0, &line.message.text, limit, count);
                self.shortened.extend(ids(&line.from));
            }
        }
    }

    /// The messages as they would be sent now.
    fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        let (note, place) = (self.note(), self.place_of_note());
        for (at, unit) in self.units.iter().enumerate() {
            if !self.left_out[at] {
                unit.lines
                    .iter()
                    .for_each(|line| push(&mut messages, &line.message));
            }
            if let (true, Some(note)) = (at == place, &note) {
                push(&mut messages, &Message::new(Role::User, note));
            }
        }
        messages
    }

    /// The last unit that is left out, but not before the conversation.
    fn place_of_note(&self) -> usize {
        let left_out = self.left_out.iter().rposition(|left_out| *left_out);
        let head = self
            .units
            .iter()
            .rposition(|unit| unit.role() == Role::System);
        left_out.max(head).unwrap_or_default()
    }

    /// The line that says what is not shown.
    fn note(&self) -> Option<String> {
        let left_out = || {
            self.units
                .iter()
                .zip(&self.left_out)
                .filter(|(_, left_out)| **left_out)
        };
        if self.silent || left_out().next().is_none() {
            return None;
        }
        let chunks = |role: fn(Role) -> bool| {
            let units = left_out().filter(move |(unit, _)| role(unit.role()));
            units.flat_map(|(unit, _)| &unit.chunks)
        };
        let mut parts = Vec::new();
        let messages = chunks(|role| role != Role::System).count();
        if messages > 0 {
            let seqs = chunks(|role| role != Role::System).filter_map(|chunk| spoken::seq(chunk));
            let (first, last) = (seqs.clone().min(), seqs.max());
            let events = match (first, last) {
                (Some(first), Some(last)) => format!(" (events {first} to {last})"),
                _ => String::new(),
            };
            parts.push(format!("{}{events}", counted(messages, "message")));
        }
        let instructions = chunks(|role| role == Role::System).count();
        if instructions > 0 {
            parts.push(counted(instructions, "instruction"));
        }
        if left_out().any(|(unit, _)| unit.rank == Rank::Recalled) {
            parts.push("recalled memory".to_owned());
        }
        Some(format!(
            "[Not shown, for want of room: {}.]",
            parts.join(", ")
        ))
    }

    fn context(self, messages: Vec<Message>, tokens: u32) -> Context {
        let mut context = Context {
            messages,
            tokens,
            included: Vec::new(),
            shortened: Vec::new(),
            left_out: Vec::new(),
            recalled: false,
        };
        for (unit, left_out) in self.units.iter().zip(self.left_out) {
            let chunks = ids(&unit.chunks);
            match left_out {
                true => context.left_out.extend(chunks.map(|chunk| LeftOut {
                    chunk,
                    why: Why::NoRoom,
                })),
                false => {
                    context.included.extend(chunks);
                    context.recalled |= unit.rank == Rank::Recalled;
                }
            }
        }
        let shortened: HashSet<ChunkId> = self.shortened.into_iter().collect();
        let included = context.included.iter();
        context.shortened = included
            .filter(|id| shortened.contains(id))
            .cloned()
            .collect();
        context
    }
}

fn counted(number: usize, word: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {word}{s}")
}

/// `text` of the line without its middle; what has all of it is the event of the chunk with that number.
fn cut_line(
    line: &Line<'_>,
    number: usize,
    text: &str,
    limit: u32,
    count: &dyn Fn(&str) -> u32,
) -> String {
    let seq = line.from.get(number).and_then(|chunk| spoken::seq(chunk));
    cut::middle(text, limit, seq, count)
}

/// Appends a message; to the last one where the same one speaks on.
fn push(messages: &mut Vec<Message>, message: &Message) {
    if message.role == Role::System && message.text.trim().is_empty() {
        return;
    }
    match messages.last_mut() {
        Some(last) if last.role == message.role && message.role != Role::Tool => {
            join(&mut last.text, &message.text);
            last.calls.extend(message.calls.iter().cloned());
        }
        last => {
            let begins = last.is_none_or(|last| last.role == Role::System);
            if begins && message.role == Role::Assistant {
                messages.push(Message::new(Role::User, OPENING));
            }
            messages.push(message.clone());
        }
    }
}
