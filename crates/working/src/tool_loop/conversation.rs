//! The messages of a loop, and what of them is sent with the next request.
//!
//! A turn, a reply with the outcomes of its calls, is sent whole or not at all: providers refuse a call without an outcome.
//! The line that stands for the turns that are left out ends the question, so that no provider sees two messages of the
//! user in a row.

use std::collections::{BTreeMap, VecDeque};

use daybook_domain::model::{Message, Model, ModelReply, ModelRequest, Role};

use super::limits::ToolLoopLimits;

/// Tokens that a message takes beside its text, reckoned for each.
const MESSAGE_TOKENS: u32 = 4;

pub(super) struct Conversation {
    /// The question, without what followed.
    question: ModelRequest,
    question_tokens: u32,
    turns: VecDeque<Turn>,
    left_out: LeftOut,
    /// Tokens of all turns, those that are left out included.
    turn_tokens: u64,
}

/// A reply, and what followed it.
struct Turn {
    messages: Vec<Message>,
    tokens: u32,
}

/// The turns that are not sent any more.
#[derive(Default)]
struct LeftOut {
    turns: usize,
    /// How often each tool was called in them.
    calls: BTreeMap<String, usize>,
}

impl Conversation {
    pub(super) fn new(model: &dyn Model, question: ModelRequest) -> Self {
        let tools = question.tools.iter().map(|tool| {
            let (name, about, arguments) = (&tool.name, &tool.description, &tool.arguments);
            model.count_tokens(&format!("{name} {about} {arguments}"))
        });
        let tools = tools.fold(0, u32::saturating_add);
        Self {
            question_tokens: tokens_of(model, &question.messages).saturating_add(tools),
            question,
            turns: VecDeque::new(),
            left_out: LeftOut::default(),
            turn_tokens: 0,
        }
    }

    pub(super) fn offers(&self, tool: &str) -> bool {
        self.question.tools.iter().any(|it| it.name == tool)
    }

    pub(super) fn turns_left_out(&self) -> usize {
        self.left_out.turns
    }

    pub(super) fn turn_tokens(&self) -> u64 {
        self.turn_tokens
    }

    /// Adds a reply with the outcomes of its calls, in their order.
    pub(super) fn add_turn(&mut self, model: &dyn Model, reply: ModelReply, outcomes: Vec<String>) {
        let calls = reply.calls.iter().zip(&outcomes);
        let outcomes: Vec<Message> = calls
            .map(|(call, outcome)| Message::outcome(&call.id, outcome))
            .collect();
        let spoken = Message {
            calls: reply.calls,
            ..Message::new(Role::Assistant, reply.text)
        };
        self.push(model, std::iter::once(spoken).chain(outcomes).collect());
    }

    /// Adds an answer that was rejected for `reason`.
    pub(super) fn add_correction(&mut self, model: &dyn Model, answer: String, reason: String) {
        let spoken = Message::new(Role::Assistant, answer);
        self.push(model, vec![spoken, Message::new(Role::User, reason)]);
    }

    fn push(&mut self, model: &dyn Model, messages: Vec<Message>) {
        let tokens = tokens_of(model, &messages);
        self.turn_tokens = self.turn_tokens.saturating_add(tokens.into());
        self.turns.push_back(Turn { messages, tokens });
    }

    /// The next request and its tokens, once the turns that exceed the bounds are left out. `None` if even the question
    /// with the newest turn and the longest answer exceeds `most` tokens.
    pub(super) fn request(
        &mut self,
        model: &dyn Model,
        limits: ToolLoopLimits,
        most: u32,
    ) -> Option<(ModelRequest, u32)> {
        let room = most.saturating_sub(self.question.max_tokens);
        loop {
            let line = self.left_out.line();
            let line_tokens = line.as_deref().map_or(0, |line| model.count_tokens(line));
            let turns = self.turns.iter().map(|turn| turn.tokens);
            let kept = turns.fold(line_tokens, u32::saturating_add);
            let tokens = self.question_tokens.saturating_add(kept);
            if (kept <= limits.kept_tokens && tokens <= room) || self.turns.len() <= 1 {
                return (tokens <= room).then(|| (self.with_turns(line), tokens));
            }
            let oldest = self.turns.pop_front()?;
            self.leave_out(&oldest);
        }
    }

    fn leave_out(&mut self, turn: &Turn) {
        self.left_out.turns += 1;
        for call in turn.messages.iter().flat_map(|message| &message.calls) {
            // A model may invent any number of names, of any length.
            let name = match self.offers(&call.name) {
                true => call.name.as_str(),
                false => "unknown tools",
            };
            *self.left_out.calls.entry(name.to_owned()).or_default() += 1;
        }
    }

    fn with_turns(&self, line: Option<String>) -> ModelRequest {
        let mut request = self.question.clone();
        if let (Some(last), Some(line)) = (request.messages.last_mut(), line) {
            last.text.push_str("\n\n");
            last.text.push_str(&line);
        }
        let kept = self.turns.iter().flat_map(|turn| &turn.messages);
        request.messages.extend(kept.cloned());
        request
    }
}

impl LeftOut {
    /// One line that says what is not there any more.
    fn line(&self) -> Option<String> {
        if self.turns == 0 {
            return None;
        }
        let calls = self.calls.iter();
        let calls: Vec<String> = calls
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let calls = match calls.is_empty() {
            true => String::new(),
            false => format!(" (calls: {})", calls.join(", ")),
        };
        Some(format!(
            "[{} earlier turns{calls} and their outcomes are left out here. What they changed is changed. Call a tool \
             again for what is still needed.]",
            self.turns
        ))
    }
}

fn tokens_of(model: &dyn Model, messages: &[Message]) -> u32 {
    let tokens = messages.iter().map(|message| {
        let calls = message.calls.iter();
        let calls =
            calls.map(|call| model.count_tokens(&format!("{} {}", call.name, call.arguments)));
        let text = model
            .count_tokens(&message.text)
            .saturating_add(MESSAGE_TOKENS);
        calls.fold(text, u32::saturating_add)
    });
    tokens.fold(0, u32::saturating_add)
}
