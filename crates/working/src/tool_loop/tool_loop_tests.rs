//! Every bound of a loop, with a scripted model and a task that keeps notes.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use daybook_domain::model::{
    FailureCost, FinishReason, Message, ModelError, ModelReply, Role, ToolCall,
};
use daybook_testkit::ManualClock;

use super::*;

/// Replies in order; afterwards it calls `read` for ever.
struct ScriptedReplies {
    replies: Mutex<VecDeque<ModelReply>>,
    requests: Mutex<Vec<ModelRequest>>,
    context: u32,
}

#[async_trait]
impl Model for ScriptedReplies {
    fn name(&self) -> &str {
        "test/scripted"
    }

    fn context_tokens(&self) -> u32 {
        self.context
    }

    fn count_tokens(&self, text: &str) -> u32 {
        u32::try_from(text.len()).unwrap_or(u32::MAX)
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        self.requests.lock().unwrap().push(request.clone());
        let next = self.replies.lock().unwrap().pop_front();
        let reply = next.unwrap_or_else(|| calls(&["read"]));
        match reply.text.as_str() {
            "FAIL" => Err(ModelFailure {
                error: ModelError::Refused {
                    model: "test/scripted".to_owned(),
                    message: "no".to_owned(),
                },
                spent: FailureCost::Nothing,
            }),
            "STALL" => std::future::pending().await,
            _ => Ok(reply),
        }
    }
}

fn says(text: &str) -> ModelReply {
    ModelReply {
        text: text.to_owned(),
        answer: None,
        calls: Vec::new(),
        finish: FinishReason::Stop,
        usage: None,
        requests: 1,
    }
}

fn calls(names: &[&str]) -> ModelReply {
    let calls = names.iter().enumerate().map(|(n, name)| ToolCall {
        id: format!("c{n}"),
        name: (*name).to_owned(),
        arguments: "{}".to_owned(),
    });
    ModelReply {
        calls: calls.collect(),
        finish: FinishReason::Tools,
        ..says("")
    }
}

/// Reads a text; accepts the answer "yes"; may continue a number of times.
struct Reading {
    text: String,
    continues: usize,
    read: usize,
}

#[async_trait]
impl ToolTask for Reading {
    type Answer = String;

    fn tools(&self) -> Vec<Tool> {
        vec![Tool {
            name: "read".to_owned(),
            description: "Reads.".to_owned(),
            arguments: serde_json::json!({"type": "object", "properties": {}}),
        }]
    }

    async fn call(&mut self, _: &ToolCall) -> String {
        self.read += 1;
        self.text.clone()
    }

    fn answer(&mut self, reply: &ModelReply) -> AnswerVerdict<String> {
        match reply.text.as_str() {
            "yes" => AnswerVerdict::Accepted("yes".to_owned()),
            other => AnswerVerdict::Rejected(format!("{other} is not yes")),
        }
    }

    async fn may_continue(&mut self) -> bool {
        self.continues = self.continues.saturating_sub(1);
        self.continues > 0
    }
}

struct Outcome {
    end: String,
    spent: LoopSpending,
    read: usize,
    requests: Vec<ModelRequest>,
}

struct Setup {
    replies: Vec<ModelReply>,
    text: &'static str,
    continues: usize,
    context: u32,
    limits: ToolLoopLimits,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            replies: Vec::new(),
            text: "some text",
            continues: usize::MAX,
            context: 100_000,
            limits: ToolLoopLimits::default(),
        }
    }
}

fn run(setup: Setup) -> Outcome {
    let model = ScriptedReplies {
        replies: Mutex::new(setup.replies.into()),
        requests: Mutex::default(),
        context: setup.context,
    };
    let clock = ManualClock::at(Timestamp(0));
    let mut task = Reading {
        text: setup.text.to_owned(),
        continues: setup.continues,
        read: 0,
    };
    let question = vec![
        Message::new(Role::System, "Read."),
        Message::new(Role::User, "Is it so?"),
    ];
    let tools = ToolLoop::new(&model, &clock, setup.limits);
    let running = tools.run(ModelRequest::new(question, 100), &mut task);
    let report = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(running);
    let end = match report.end {
        LoopEnd::Answered(answer) => format!("answered {answer}"),
        LoopEnd::Rejected(reason) => format!("rejected: {reason}"),
        LoopEnd::Stopped(bound) => format!("stopped: {}", bound.as_str()),
        LoopEnd::Cancelled => "cancelled".to_owned(),
        LoopEnd::Failed(failure) => format!("failed: {failure}"),
    };
    Outcome {
        end,
        spent: report.spent,
        read: task.read,
        requests: model.requests.into_inner().unwrap(),
    }
}

fn limited(change: impl Fn(&mut ToolLoopLimits)) -> ToolLoopLimits {
    let mut limits = ToolLoopLimits::default();
    change(&mut limits);
    limits
}

#[test]
fn calls_are_carried_out_until_the_model_answers() {
    let replies = vec![calls(&["read", "read"]), says("yes")];
    let outcome = run(Setup {
        replies,
        ..Setup::default()
    });
    assert_eq!((outcome.end.as_str(), outcome.read), ("answered yes", 2));
    let last = &outcome.requests[1].messages;
    let roles: Vec<Role> = last.iter().map(|message| message.role).collect();
    use Role::{Assistant, System, Tool, User};
    assert_eq!(roles, [System, User, Assistant, Tool, Tool]);
    assert_eq!(last[4].answers.as_deref(), Some("c1"));
    assert_eq!((outcome.spent.requests, outcome.spent.calls), (2, 2));
}

#[test]
fn a_rejected_answer_is_corrected_within_the_bound() {
    let check = |corrections, expected: &str, requests| {
        let outcome = run(Setup {
            replies: vec![says("no"), says("never"), says("yes")],
            limits: limited(|limits| limits.corrections = corrections),
            ..Setup::default()
        });
        assert_eq!(
            (outcome.end.as_str(), outcome.requests.len()),
            (expected, requests)
        );
    };
    check(0, "rejected: no is not yes", 1);
    check(1, "rejected: never is not yes", 2);
    check(2, "answered yes", 3);
}

#[test]
fn a_model_that_calls_for_ever_is_stopped_by_each_bound() {
    let check = |expected: &str, change: &dyn Fn(&mut ToolLoopLimits)| {
        let outcome = run(Setup {
            limits: limited(change),
            ..Setup::default()
        });
        assert_eq!(outcome.end, expected);
        outcome
    };
    let turns = check("stopped: turns", &|limits| limits.turns = 3);
    assert_eq!((turns.requests.len(), turns.read), (3, 3));
    check("stopped: bytes", &|limits| limits.bytes = 30);
    check("stopped: call_tokens", &|limits| limits.call_tokens = 50);
    let sent = check("stopped: sent_tokens", &|limits| limits.sent_tokens = 400);
    assert!(sent.spent.sent_tokens <= 400 && sent.requests.len() > 1);
    check("stopped: time", &|limits| limits.time = Duration::ZERO);
    let context = run(Setup {
        context: 150,
        ..Setup::default()
    });
    assert_eq!(
        (context.end.as_str(), context.read),
        ("stopped: context", 0)
    );
}

#[test]
fn a_model_that_does_not_reply_ends_with_the_time() {
    let outcome = run(Setup {
        replies: vec![says("STALL")],
        ..Setup::default()
    });
    assert_eq!(
        (outcome.end.as_str(), outcome.spent.requests),
        ("stopped: time", 1)
    );
}

#[test]
fn a_failure_of_the_model_is_returned() {
    let outcome = run(Setup {
        replies: vec![calls(&["read"]), says("FAIL")],
        ..Setup::default()
    });
    let expected = "failed: test/scripted refuses to answer: no";
    assert_eq!((outcome.end.as_str(), outcome.read), (expected, 1));
}

#[test]
fn a_task_that_may_not_continue_ends_before_the_next_request_or_call() {
    let check = |continues, requests, read| {
        let outcome = run(Setup {
            continues,
            ..Setup::default()
        });
        assert_eq!(outcome.end, "cancelled");
        assert_eq!((outcome.requests.len(), outcome.read), (requests, read));
    };
    check(1, 0, 0);
    check(2, 1, 0);
    check(3, 1, 1);
}

#[test]
fn a_tool_that_is_not_offered_is_not_called() {
    let outcome = run(Setup {
        replies: vec![calls(&["shell"]), says("yes")],
        ..Setup::default()
    });
    assert_eq!((outcome.end.as_str(), outcome.read), ("answered yes", 0));
    let refusal = &outcome.requests[1].messages[3].text;
    assert_eq!(refusal, "There is no such tool. There are: read.");
}

#[test]
fn calls_beyond_the_bound_and_long_outcomes_are_cut_and_the_model_is_told() {
    let outcome = run(Setup {
        replies: vec![calls(&["read", "read", "read"]), says("yes")],
        text: "größer",
        limits: limited(|limits| (limits.calls_per_turn, limits.outcome_bytes) = (2, 3)),
        ..Setup::default()
    });
    let texts: Vec<&str> = outcome.requests[1].messages[3..]
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    let cut = "gr\n[6 bytes more are left out]";
    let last = format!("{cut}\n1 more calls were not carried out: at most 2 at once.");
    assert_eq!(texts, [cut, &last]);
    assert_eq!(outcome.read, 2);
}

#[test]
fn old_turns_are_left_out_with_one_line_in_their_place() {
    let text: &str = "word ".repeat(200).leak();
    let mut replies = vec![calls(&["read"]); 9];
    replies.push(calls(&["shell"]));
    replies.extend(vec![calls(&["read"]); 2]);
    replies.push(says("yes"));
    let outcome = run(Setup {
        replies,
        text,
        limits: limited(|limits| limits.kept_tokens = 1_500),
        ..Setup::default()
    });
    assert_eq!(outcome.end, "answered yes");
    assert_eq!(outcome.spent.turns_left_out, 11);
    let last = &outcome.requests.last().unwrap().messages;
    assert_eq!(
        last[1].text,
        "Is it so?\n\n[11 earlier turns (calls: read 10, unknown tools 1) and their outcomes are left out here. What \
         they changed is changed. Call a tool again for what is still needed.]"
    );
    assert_eq!(last.len(), 4);
    // Each outcome is sent once, and the one before the small turn twice, however long the conversation.
    let sent = outcome
        .requests
        .iter()
        .flat_map(|request| &request.messages);
    let outcomes = sent.filter(|message| message.text == text).count();
    assert_eq!(outcomes, 12);
}
