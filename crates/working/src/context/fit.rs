//! Fits a context into its budget: leaves units out, and cuts texts, until the rest fits.
//!
//! It removes these, one after another, in an order that depends on the units alone:
//!
//! 1. disposable chunks;
//! 2. details of summaries, while they take more than half of the room;
//! 3. the middle of large outcomes, arguments and other messages to the agent, oldest first;
//! 4. the conversation before the newest request (a message or delegation to the agent), oldest first;
//! 5. recalled memory;
//! 6. the middle of the newest request, while it takes more than half of the room;
//! 7. more details of summaries, while they take more than a quarter; the agent's work since that request, oldest first;
//! 8. summaries and other pinned chunks, by priority; then critical chunks, by priority;
//! 9. the note that lists what is not shown; the rest of the middle of the newest request.
//!
//! What a person decided and demanded in messages that are not shown stands in the note.
//!
//! After each few steps everything is counted as it would be sent, so the budget holds even where the count of
//! joined texts is not the sum of their counts.

use std::cell::OnceCell;
use std::collections::HashSet;

use daybook_domain::model::{Message, Role};
use daybook_domain::working::{ChunkId, WorkingFlowSubType};
use serde_json::json;

use super::unit::{ContextUnit, OmissionRank, UnitMessage, ids, join};
use super::wishes::{lasting_wishes, wish_note};
use super::{ContextError, OmissionReason, OmittedChunk, ThreadContext, cut, rendering, tags};
use crate::compact::account::SummaryAccount;

/// Tokens that providers add around a message; no known provider adds more than four.
const PER_MESSAGE: u32 = 8;
/// Tokens that providers add around a call, and around its outcome.
const PER_CALL: u32 = 16;
/// Where room is short, one text takes at most one part in so many; the outcomes of one message together take half.
const PARTS: u32 = 8;
/// Fewest tokens that remain of a text whose middle is cut out.
const LEAST: u32 = 64;
/// A user's message before a first message of the agent: providers require one.
const OPENING: &str = "[The agent spoke first.]";

/// The tokens of a message, with those that providers add around it.
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

/// One step that makes room.
#[derive(Debug, Clone, Copy)]
enum FitStep {
    Leave(usize),
    /// Cuts the large texts of a unit.
    Trim(usize),
    /// Leaves details out of a summary, to no fewer than this many tokens.
    Condense(usize, u32),
    /// Cuts the unit's text, to no fewer than this many tokens.
    Cut(usize, u32),
    Silence,
}

/// The units, with those that are left out or shortened so far.
pub(super) struct ContextFitter<'a> {
    units: Vec<ContextUnit<'a>>,
    left_out: Vec<bool>,
    shortened: Vec<ChunkId>,
    /// What each unit holds of what a person decided and demanded, where that was needed.
    wishes: Vec<OnceCell<Vec<String>>>,
    silent: bool,
    budget: u32,
    count: &'a dyn Fn(&str) -> u32,
}

impl<'a> ContextFitter<'a> {
    pub(super) fn new(
        units: Vec<ContextUnit<'a>>,
        budget: u32,
        count: &'a dyn Fn(&str) -> u32,
    ) -> Self {
        Self {
            left_out: vec![false; units.len()],
            wishes: units.iter().map(|_| OnceCell::new()).collect(),
            units,
            shortened: Vec::new(),
            silent: false,
            budget,
            count,
        }
    }

    /// Makes room, and returns the context.
    pub(super) fn fit(mut self) -> Result<ThreadContext, ContextError> {
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

    /// All steps, in order.
    fn steps(&self) -> Vec<FitStep> {
        let mut ranked: Vec<usize> = (0..self.units.len()).collect();
        ranked.sort_by_key(|at| self.units[*at].rank);
        let leave = |from: OmissionRank, to: OmissionRank| {
            let units = ranked.iter().filter(move |at| {
                let rank = self.units[**at].rank;
                from <= rank && rank < to
            });
            units.map(|at| FitStep::Leave(*at))
        };
        // The newest request is the last unit that is never left out.
        let asked = self
            .units
            .iter()
            .rposition(|unit| unit.rank == OmissionRank::Never);
        let asked = asked.filter(|at| self.units[*at].role() != Role::System);
        let cut = |least| asked.map(|at| FitStep::Cut(at, least));
        let is_summary = |at: &usize| is_summary(&self.units[*at]);
        let condense = |parts| {
            let summaries = (0..self.units.len()).filter(is_summary);
            summaries.map(move |at| FitStep::Condense(at, self.budget / parts))
        };
        let pinned = OmissionRank::Pinned(false, i32::MIN);
        let mut steps: Vec<FitStep> =
            leave(OmissionRank::Disposable, OmissionRank::Earlier).collect();
        steps.extend(condense(2));
        steps.extend((0..self.units.len()).map(FitStep::Trim));
        steps.extend(leave(OmissionRank::Earlier, OmissionRank::Later));
        steps.extend(cut(LEAST.max(self.budget / 2)));
        steps.extend(condense(4));
        steps.extend(leave(OmissionRank::Later, pinned));
        steps.extend(condense(8));
        steps.extend(leave(pinned, OmissionRank::Never));
        steps.push(FitStep::Silence);
        // Twice: the first cut relies on estimates of the tokens that earlier steps saved.
        steps.extend([cut(LEAST), cut(LEAST)].into_iter().flatten());
        steps
    }

    /// Takes a step that should save `over` tokens. Returns an estimate of the tokens that it saved.
    fn act(&mut self, step: FitStep, over: u32) -> u32 {
        let count = self.count;
        let size = |unit: &ContextUnit<'_>| -> u32 {
            let costs = unit.lines.iter().map(|line| cost(&line.message, count));
            costs.fold(0, u32::saturating_add)
        };
        match step {
            FitStep::Leave(at) => {
                self.left_out[at] = true;
                size(&self.units[at])
            }
            FitStep::Trim(at) if self.left_out[at] => 0,
            FitStep::Trim(at) => {
                let before = size(&self.units[at]);
                self.trim(at);
                before.saturating_sub(size(&self.units[at]))
            }
            FitStep::Condense(at, least) => self.condense(at, over, least),
            FitStep::Cut(at, least) => {
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
            FitStep::Silence => {
                let said = self.note().map_or(0, |note| count(&note));
                self.silent = true;
                said
            }
        }
    }

    /// Leaves details out of a summary, which should save `over` tokens. Returns how many it saved.
    fn condense(&mut self, at: usize, over: u32, least: u32) -> u32 {
        let (count, unit) = (self.count, &mut self.units[at]);
        let before = count(&unit.lines[0].message.text);
        let limit = before.saturating_sub(over).max(least);
        if self.left_out[at] || limit >= before {
            return 0;
        }
        let chunk = unit.chunks[0];
        let account = SummaryAccount::of(&chunk.content.to_text());
        let element = |text: &str| tags::element_around(chunk, text);
        let text = account.render_within(u64::from(limit), |text| u64::from(count(&element(text))));
        let text = element(&text);
        let after = count(&text);
        if after < before {
            unit.lines[0].message.text = text;
            self.shortened.extend(ids(&unit.chunks));
        }
        before.saturating_sub(after)
    }

    /// Cuts the middle out of each text that takes more than its part, except in the agent's own messages and in
    /// pinned units.
    fn trim(&mut self, at: usize) {
        let (count, unit) = (self.count, &mut self.units[at]);
        if !matches!(
            unit.rank,
            OmissionRank::Earlier | OmissionRank::Later | OmissionRank::Newest
        ) {
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

    /// The messages as they would be sent after the steps so far.
    fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        let (note, place) = (self.note(), self.note_position());
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

    /// The place of the note: after the last unit that is left out, but not before the conversation.
    fn note_position(&self) -> usize {
        let left_out = self.left_out.iter().rposition(|left_out| *left_out);
        let head = self
            .units
            .iter()
            .rposition(|unit| unit.role() == Role::System);
        left_out.max(head).unwrap_or_default()
    }

    /// The note that counts what is not shown.
    fn note(&self) -> Option<String> {
        let left_out = || {
            self.units
                .iter()
                .zip(&self.left_out)
                .filter(|(_, left_out)| **left_out)
        };
        let wishes = match self.silent {
            true => return None,
            false => self.wishes(),
        };
        if left_out().next().is_none() {
            return wishes;
        }
        let chunks = |role: fn(Role) -> bool| {
            let units = left_out().filter(move |(unit, _)| role(unit.role()));
            units.flat_map(|(unit, _)| &unit.chunks)
        };
        let mut parts = Vec::new();
        let messages = chunks(|role| role != Role::System).count();
        if messages > 0 {
            let seqs =
                chunks(|role| role != Role::System).filter_map(|chunk| rendering::seq(chunk));
            let (first, last) = (seqs.clone().min(), seqs.max());
            let events = match (first, last) {
                (Some(first), Some(last)) => format!(" (events {first} to {last})"),
                _ => String::new(),
            };
            parts.push(format!("{}{events}", pluralized(messages, "message")));
        }
        let instructions = chunks(|role| role == Role::System).count();
        if instructions > 0 {
            parts.push(pluralized(instructions, "instruction"));
        }
        if left_out().any(|(unit, _)| unit.rank == OmissionRank::Recalled) {
            parts.push("recalled memory".to_owned());
        }
        let mut note = format!("[Not shown, for want of room: {}.]", parts.join(", "));
        join(&mut note, wishes.as_deref().unwrap_or_default());
        Some(note)
    }

    /// What the person decided and demanded in messages that are not shown, or not whole.
    fn wishes(&self) -> Option<String> {
        let shortened: HashSet<&ChunkId> = self.shortened.iter().collect();
        let mut lost = Vec::new();
        for (at, unit) in self.units.iter().enumerate() {
            let Some(chunk) = unit.chunks.first() else {
                continue;
            };
            // A summary that is shown was shortened so that these stay as long as they can.
            let is_cut = !is_summary(unit) && shortened.contains(&chunk.id);
            if self.left_out[at] || is_cut {
                let shown = &unit.lines[0].message.text;
                let found = self.wishes[at].get_or_init(|| lasting_wishes(chunk));
                let is_lost = |text: &&String| self.left_out[at] || !shown.contains(*text);
                lost.extend(found.iter().filter(is_lost));
            }
        }
        wish_note(&lost, self.budget / PARTS, self.count)
    }

    fn context(self, messages: Vec<Message>, tokens: u32) -> ThreadContext {
        let mut context = ThreadContext {
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
                true => context.left_out.extend(chunks.map(|chunk| OmittedChunk {
                    chunk,
                    why: OmissionReason::NoRoom,
                })),
                false => {
                    context.included.extend(chunks);
                    context.recalled |= unit.rank == OmissionRank::Recalled;
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

/// Whether a unit is the summary of a compaction.
fn is_summary(unit: &ContextUnit<'_>) -> bool {
    let chunk = unit.chunks.first();
    chunk.is_some_and(|chunk| chunk.is(WorkingFlowSubType::Compacted))
}

fn pluralized(number: usize, word: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {word}{s}")
}

/// Cuts the middle out of `text`. The note names the event of the line's chunk `number`, which has the whole text.
fn cut_line(
    line: &UnitMessage<'_>,
    number: usize,
    text: &str,
    limit: u32,
    count: &dyn Fn(&str) -> u32,
) -> String {
    let seq = line
        .from
        .get(number)
        .and_then(|chunk| rendering::seq(chunk));
    cut::middle(text, limit, seq, count)
}

/// Appends a message; joins it to the last one where that has the same role.
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
