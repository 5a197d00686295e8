//! A bounded conversation with a model that calls tools.
//!
//! [`ToolLoop::run`] asks a model, carries out what it calls, and asks again, until it answers, a bound is reached, the
//! task is cancelled or the model fails. Everything has a bound: requests, calls, the tokens of all that is sent, the
//! bytes of outcomes, time. The answer is validated by the task, and may be corrected a bounded number of times. Old
//! turns are left out of what is sent again, with one line in their place, so that the cost of a long conversation
//! grows with its length and not with its square.
//!
//! Not here: the tools themselves, prompts, leases, what a call costs.

mod conversation;
mod limits;
#[cfg(test)]
mod tool_loop_tests;

use async_trait::async_trait;
use daybook_domain::Timestamp;
use daybook_domain::model::{Model, ModelFailure, ModelReply, ModelRequest, Tool, ToolCall, Usage};
use daybook_domain::time::Clock;

use conversation::Conversation;
pub use limits::{LoopBound, ToolLoopLimits};

/// A task that a model performs with tools.
///
/// A call that fails is an outcome for the model like any other; nothing that a model writes may panic.
///
/// ```
/// use daybook_domain::model::{ModelReply, Tool, ToolCall};
/// use daybook_working::tool_loop::{AnswerVerdict, ToolTask};
///
/// /// Counts the lines of one note.
/// struct CountLines;
///
/// #[async_trait::async_trait]
/// impl ToolTask for CountLines {
///     type Answer = usize;
///
///     fn tools(&self) -> Vec<Tool> {
///         let arguments = serde_json::json!({"type": "object", "properties": {}});
///         vec![Tool { name: "read".into(), description: "Reads the note.".into(), arguments }]
///     }
///
///     async fn call(&mut self, _: &ToolCall) -> String {
///         "milk\nbread".into()
///     }
///
///     fn answer(&mut self, reply: &ModelReply) -> AnswerVerdict<usize> {
///         match reply.text.parse() {
///             Ok(lines) => AnswerVerdict::Accepted(lines),
///             Err(_) => AnswerVerdict::Rejected("Answer with a number alone.".into()),
///         }
///     }
/// }
/// assert_eq!(CountLines.tools()[0].name, "read");
/// ```
#[async_trait]
pub trait ToolTask: Send {
    /// What the task results in.
    type Answer: Send;

    /// The tools that the model is offered.
    fn tools(&self) -> Vec<Tool>;

    /// Carries out one call and returns its outcome for the model. Only offered tools are called here.
    async fn call(&mut self, call: &ToolCall) -> String;

    /// Validates a reply without calls.
    fn answer(&mut self, reply: &ModelReply) -> AnswerVerdict<Self::Answer>;

    /// The outcome of a call of a tool that is not offered.
    fn refusal(&self, _: &ToolCall) -> String {
        let tools = self.tools();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        format!("There is no such tool. There are: {}.", names.join(", "))
    }

    /// Whether to go on. Called before each request and each call, so that a task whose lease was lost, or that a person
    /// stopped, ends there.
    async fn may_continue(&mut self) -> bool {
        true
    }
}

/// What a task makes of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerVerdict<A> {
    /// It is sound: the loop ends with it.
    Accepted(A),
    /// It is not, for this reason. The model gets the reason and is asked again, while corrections are left.
    Rejected(String),
}

/// What ended a loop.
#[must_use]
#[derive(Debug)]
pub enum LoopEnd<A> {
    /// An answer that the task accepted.
    Answered(A),
    /// The last answer was rejected for this reason, and no correction was left.
    Rejected(String),
    /// A bound was reached.
    Stopped(LoopBound),
    /// The task was not to go on.
    Cancelled,
    /// The model failed. Its error has its class, and what it may have cost.
    Failed(ModelFailure),
}

/// How a loop ended, and what it took.
#[derive(Debug)]
pub struct LoopReport<A> {
    /// What ended it.
    pub end: LoopEnd<A>,
    /// What it took.
    pub spent: LoopSpending,
}

/// What a loop took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoopSpending {
    /// Requests to the model.
    pub requests: usize,
    /// Calls that were carried out, those of tools that are not offered included.
    pub calls: usize,
    /// Tokens of all requests together by the model's own count: messages, calls and offered tools, with everything
    /// that was sent again.
    pub sent_tokens: u64,
    /// Bytes of all outcomes.
    pub outcome_bytes: usize,
    /// Turns that were left out of later requests.
    pub turns_left_out: usize,
    /// Tokens as the provider counted them, where it reports them.
    pub usage: Usage,
}

/// Runs tasks with one model, within bounds.
///
/// ```
/// # use std::sync::atomic::{AtomicUsize, Ordering};
/// # use daybook_domain::model::{FinishReason, ModelFailure, ModelReply};
/// use daybook_domain::Timestamp;
/// use daybook_domain::model::{Message, Model, ModelRequest, Role, Tool, ToolCall};
/// use daybook_domain::time::Clock;
/// use daybook_working::tool_loop::{
///     AnswerVerdict, LoopEnd, ToolLoop, ToolLoopLimits, ToolTask,
/// };
/// # struct Scripted(AtomicUsize);
/// # #[async_trait::async_trait]
/// # impl Model for Scripted {
/// #     fn name(&self) -> &str { "scripted" }
/// #     fn context_tokens(&self) -> u32 { 8_192 }
/// #     fn count_tokens(&self, text: &str) -> u32 { text.len() as u32 }
/// #     async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
/// #         let (text, calls) = match self.0.fetch_add(1, Ordering::Relaxed) {
/// #             0 => {
/// #                 let call = ToolCall { id: "c1".into(), name: "read".into(), arguments: "{}".into() };
/// #                 ("", vec![call])
/// #             }
/// #             1 => ("There are two lines.", vec![]),
/// #             _ => {
/// #                 assert_eq!(request.messages.last().unwrap().text, "Answer with a number alone.");
/// #                 ("2", vec![])
/// #             }
/// #         };
/// #         let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::Tools };
/// #         Ok(ModelReply { text: text.into(), answer: None, calls, finish, usage: None, requests: 1 })
/// #     }
/// # }
/// # struct Noon;
/// # impl Clock for Noon {
/// #     fn now(&self) -> Timestamp { Timestamp(43_200_000) }
/// # }
/// # struct CountLines;
/// # #[async_trait::async_trait]
/// # impl ToolTask for CountLines {
/// #     type Answer = usize;
/// #     fn tools(&self) -> Vec<Tool> {
/// #         let arguments = serde_json::json!({"type": "object", "properties": {}});
/// #         vec![Tool { name: "read".into(), description: "Reads the note.".into(), arguments }]
/// #     }
/// #     async fn call(&mut self, _: &ToolCall) -> String { "milk\nbread".into() }
/// #     fn answer(&mut self, reply: &ModelReply) -> AnswerVerdict<usize> {
/// #         match reply.text.parse() {
/// #             Ok(lines) => AnswerVerdict::Accepted(lines),
/// #             Err(_) => AnswerVerdict::Rejected("Answer with a number alone.".into()),
/// #         }
/// #     }
/// # }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let (model, clock) = (Scripted(AtomicUsize::new(0)), Noon);
/// // `model` is any model, `clock` any clock, `CountLines` a task with one tool, `read`.
/// let limits = ToolLoopLimits { turns: 4, corrections: 1, ..ToolLoopLimits::default() };
/// let question = vec![Message::new(Role::User, "How many lines has the note?")];
/// let tools = ToolLoop::new(&model, &clock, limits);
/// let report = tools.run(ModelRequest::new(question, 256), &mut CountLines).await;
/// assert!(matches!(report.end, LoopEnd::Answered(2)));
/// // The question, the outcome of the call, and one correction.
/// assert_eq!((report.spent.requests, report.spent.calls), (3, 1));
/// # });
/// ```
pub struct ToolLoop<'a> {
    model: &'a dyn Model,
    clock: &'a dyn Clock,
    limits: ToolLoopLimits,
}

/// Either a reply, or what ended the loop in its place.
type Step<T, A> = Result<T, LoopEnd<A>>;

impl<'a> ToolLoop<'a> {
    /// A loop that asks `model` and measures its time by `clock`.
    #[must_use]
    pub fn new(model: &'a dyn Model, clock: &'a dyn Clock, limits: ToolLoopLimits) -> Self {
        Self {
            model,
            clock,
            limits,
        }
    }

    /// Performs a task that begins with `question`, whose last message is the user's. Its tools are those of the task.
    ///
    /// Needs a runtime with time. Dropping the future ends the task; what was sent by then may be billed.
    pub async fn run<T: ToolTask>(
        &self,
        question: ModelRequest,
        task: &mut T,
    ) -> LoopReport<T::Answer> {
        let request = ModelRequest {
            tools: task.tools(),
            ..question
        };
        let mut run = LoopRun {
            model: self.model,
            clock: self.clock,
            limits: self.limits,
            started_at: self.clock.now(),
            conversation: Conversation::new(self.model, request),
            spent: LoopSpending::default(),
        };
        let end = match run.until_answer(task).await {
            Ok(answer) => LoopEnd::Answered(answer),
            Err(end) => end,
        };
        LoopReport {
            end,
            spent: LoopSpending {
                turns_left_out: run.conversation.turns_left_out(),
                ..run.spent
            },
        }
    }
}

/// One task while it runs.
struct LoopRun<'a> {
    model: &'a dyn Model,
    clock: &'a dyn Clock,
    limits: ToolLoopLimits,
    started_at: Timestamp,
    conversation: Conversation,
    spent: LoopSpending,
}

impl LoopRun<'_> {
    async fn until_answer<T: ToolTask>(&mut self, task: &mut T) -> Step<T::Answer, T::Answer> {
        let (mut turns, mut corrections) = (0, 0);
        loop {
            let reply = self.ask(task).await?;
            let reason = match reply.calls.is_empty() {
                true => match task.answer(&reply) {
                    AnswerVerdict::Accepted(answer) => return Ok(answer),
                    AnswerVerdict::Rejected(reason) => reason,
                },
                false => {
                    self.carry_out(task, reply).await?;
                    turns += 1;
                    if turns >= self.limits.turns {
                        return Err(LoopEnd::Stopped(LoopBound::Turns));
                    }
                    continue;
                }
            };
            if corrections >= self.limits.corrections {
                return Err(LoopEnd::Rejected(reason));
            }
            corrections += 1;
            self.conversation
                .add_correction(self.model, reply.text, reason);
        }
    }

    /// Sends the conversation, if its bounds allow it.
    async fn ask<T: ToolTask>(&mut self, task: &mut T) -> Step<ModelReply, T::Answer> {
        if !task.may_continue().await {
            return Err(LoopEnd::Cancelled);
        }
        let most = self.model.context_tokens();
        let Some((request, tokens)) = self.conversation.request(self.model, self.limits, most)
        else {
            return Err(LoopEnd::Stopped(LoopBound::Context));
        };
        let sent = self.spent.sent_tokens.saturating_add(tokens.into());
        if sent > self.limits.sent_tokens {
            return Err(LoopEnd::Stopped(LoopBound::SentTokens));
        }
        let elapsed = self.clock.now().since(self.started_at);
        let Some(left) = self
            .limits
            .time
            .checked_sub(elapsed)
            .filter(|it| !it.is_zero())
        else {
            return Err(LoopEnd::Stopped(LoopBound::Time));
        };
        (self.spent.sent_tokens, self.spent.requests) = (sent, self.spent.requests + 1);
        let reply = match tokio::time::timeout(left, self.model.ask(&request)).await {
            Err(_) => return Err(LoopEnd::Stopped(LoopBound::Time)),
            Ok(Err(failure)) => return Err(LoopEnd::Failed(failure)),
            Ok(Ok(reply)) => reply,
        };
        self.spent.usage += reply.usage.unwrap_or_default();
        Ok(reply)
    }

    /// Carries out the calls of a reply, in order, and adds them to the conversation.
    async fn carry_out<T: ToolTask>(
        &mut self,
        task: &mut T,
        mut reply: ModelReply,
    ) -> Step<(), T::Answer> {
        let most = self.limits.calls_per_turn.max(1);
        let beyond = reply.calls.split_off(reply.calls.len().min(most)).len();
        let mut outcomes = Vec::new();
        for (n, call) in reply.calls.iter().enumerate() {
            if !task.may_continue().await {
                return Err(LoopEnd::Cancelled);
            }
            let outcome = match self.conversation.offers(&call.name) {
                true => task.call(call).await,
                false => task.refusal(call),
            };
            let mut outcome = limits::shortened(outcome, self.limits.outcome_bytes);
            if n + 1 == reply.calls.len() && beyond > 0 {
                outcome.push_str(&format!(
                    "\n{beyond} more calls were not carried out: at most {most} at once."
                ));
            }
            self.spent.outcome_bytes = self.spent.outcome_bytes.saturating_add(outcome.len());
            self.spent.calls += 1;
            outcomes.push(outcome);
        }
        self.conversation.add_turn(self.model, reply, outcomes);
        if self.spent.outcome_bytes > self.limits.bytes {
            return Err(LoopEnd::Stopped(LoopBound::Bytes));
        }
        match self.conversation.turn_tokens() > self.limits.call_tokens {
            true => Err(LoopEnd::Stopped(LoopBound::CallTokens)),
            false => Ok(()),
        }
    }
}
