//! The most that one question can cost, in tokens.
//!
//! How a provider wraps a request is not known here, so there is a margin for each message and each
//! request. A bound that is too wide makes calls wait at a cap; one too narrow would let it be passed.

use daybook_domain::model::{Model, ModelRequest, Usage};

/// Tokens that a provider may put around each message, tool and call of a tool.
pub const PER_MESSAGE: u64 = 16;
/// Tokens that may be added to each request: a provider's instructions on tools and answer schemas, and
/// a repair's account of an answer.
pub const PER_REQUEST: u64 = 1_024;
/// How often one request may hold the schema of its answer: for the provider, in a message, in a repair.
pub const SCHEMA_COPIES: u64 = 3;

/// The expected usage of a question whose first try succeeds: its tokens as the model counts them, and
/// the longest answer.
#[must_use]
pub fn expected_usage(model: &dyn Model, request: &ModelRequest) -> Usage {
    Usage {
        input: message_tokens(model, request) + schema_tokens(model, request),
        cached: 0,
        output: u64::from(request.max_tokens),
    }
}

/// The most that a question can cost: every request that may be sent, each with all that may be added to
/// it. A request after the first may carry an answer that was wrong.
#[must_use]
pub fn worst_case(model: &dyn Model, request: &ModelRequest) -> Usage {
    let requests = u64::from(model.most_requests().max(1));
    let answer = u64::from(request.max_tokens);
    let calls: usize = request.messages.iter().map(|it| it.calls.len()).sum();
    let parts = (request.messages.len() + request.tools.len() + calls) as u64;
    let each = message_tokens(model, request)
        + SCHEMA_COPIES * schema_tokens(model, request)
        + PER_MESSAGE * parts
        + PER_REQUEST;
    let repeated = answer.saturating_mul(requests - 1);
    Usage {
        input: each.saturating_mul(requests).saturating_add(repeated),
        cached: 0,
        output: answer.saturating_mul(requests),
    }
}

/// The tokens of messages and tools.
fn message_tokens(model: &dyn Model, request: &ModelRequest) -> u64 {
    let count = |text: &str| u64::from(model.count_tokens(text));
    let messages = request.messages.iter().map(|message| {
        let calls = message.calls.iter();
        let calls = calls.map(|call| count(&call.id) + count(&call.name) + count(&call.arguments));
        let answers = message.answers.as_deref().map_or(0, count);
        count(&message.text) + answers + calls.sum::<u64>()
    });
    let tools = request.tools.iter().map(|tool| {
        let arguments = count(&tool.arguments.to_string());
        count(&tool.name) + count(&tool.description) + arguments
    });
    messages.sum::<u64>() + tools.sum::<u64>()
}

/// The tokens of the schema that the answer must fit.
fn schema_tokens(model: &dyn Model, request: &ModelRequest) -> u64 {
    let count = |text: &str| u64::from(model.count_tokens(text));
    let answer = request.answer.as_ref();
    answer.map_or(0, |answer| {
        count(&answer.name) + count(&answer.schema.to_string())
    })
}
