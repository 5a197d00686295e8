//! The three languages that providers speak, and what is common to them.
//!
//! An adapter turns a request into a body, and a response body into a [`WireReply`]. It sends nothing,
//! stores nothing and decides nothing.

mod anthropic;
mod embeddings;
mod form;
mod ollama;
mod openai;

use daybook_domain::model::{AnswerSchema, FinishReason, Message, Tool, ToolCall, Usage};
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::config::Wire;
use crate::key::Key;
pub(crate) use form::Form;

/// The content of one request.
#[derive(Debug)]
pub(crate) struct WireRequest<'a> {
    /// As the provider calls the model.
    pub(crate) model: &'a str,
    pub(crate) messages: &'a [Message],
    pub(crate) tools: &'a [Tool],
    /// The demanded form, if the provider is to hold the model to it.
    pub(crate) enforced_form: Option<(&'a AnswerSchema, Form)>,
    pub(crate) temperature: Option<f32>,
    pub(crate) max_tokens: u32,
    /// Whether `max_tokens` goes by the newer of its two names.
    pub(crate) newer_limit: bool,
    pub(crate) context_tokens: u32,
}

/// A provider's answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WireReply {
    /// Thoughts removed.
    pub(crate) text: String,
    /// Why the model will not answer.
    pub(crate) refusal: Option<String>,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) finish: FinishReason,
    /// `None` if the provider did not report it.
    pub(crate) usage: Option<Usage>,
}

/// One language.
pub(crate) trait Adapter: Send + Sync {
    /// What is appended to the base.
    fn path(&self) -> &'static str;

    /// What every request carries besides its content type.
    fn headers(&self, key: Option<&Key>) -> Option<Vec<(HeaderName, HeaderValue)>>;

    /// The next looser way to demand a form.
    fn looser(&self, form: Form) -> Option<Form> {
        form.looser()
    }

    /// Words by which a fault names the demand of a form.
    fn names_of_form(&self) -> &'static [&'static str];

    /// The part of a body that holds the conversation.
    fn messages(&self, messages: &[Message]) -> Value;

    /// The body of a request.
    fn body(&self, question: &WireRequest<'_>) -> Value;

    /// Reads the body of a 2xx.
    ///
    /// # Errors
    /// What is wrong with it, in words that quote none of it.
    fn read(&self, body: &[u8], question: &WireRequest<'_>) -> Result<WireReply, String>;
}

impl Wire {
    /// `messages` as a body on this wire has them: an object of `messages`, for Anthropic of `system` too.
    /// For hosts that call their models themselves; the rest of the body is theirs.
    ///
    /// ```
    /// use daybook_domain::model::{Message, Role};
    /// use daybook_llm::Wire;
    ///
    /// let messages = [Message::new(Role::System, "Be brief."), Message::new(Role::User, "Hello!")];
    /// assert_eq!(
    ///     Wire::Anthropic.messages(&messages).to_string(),
    ///     r#"{"messages":[{"content":"Hello!","role":"user"}],"system":"Be brief."}"#,
    /// );
    /// ```
    #[must_use]
    pub fn messages(self, messages: &[Message]) -> Value {
        self.adapter().messages(messages)
    }

    /// The adapter for vectors; `None` where the wire has none.
    pub(crate) fn embeddings(self) -> Option<&'static dyn Adapter> {
        match self {
            Self::OpenAi => Some(&embeddings::OPENAI),
            Self::Ollama => Some(&embeddings::OLLAMA),
            Self::Anthropic => None,
        }
    }

    pub(crate) fn adapter(self) -> &'static dyn Adapter {
        match self {
            Self::OpenAi => &openai::OpenAi,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Ollama => &ollama::Ollama,
        }
    }
}

/// `Authorization: Bearer …`, if there is a key. Nothing if no header can carry it.
fn bearer(key: Option<&Key>) -> Option<Vec<(HeaderName, HeaderValue)>> {
    match key {
        Some(key) => Some(vec![(
            reqwest::header::AUTHORIZATION,
            key.header("Bearer ")?,
        )]),
        None => Some(Vec::new()),
    }
}

/// A tool, as OpenAI and Ollama write it.
fn function(tool: &Tool) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.arguments,
        },
    })
}

/// Arguments for a wire that takes objects alone. What the model wrote and is none goes along as text.
fn as_object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(object @ Value::Object(_)) => object,
        _ => {
            let text = Value::from(arguments);
            Value::Object(Map::from_iter([("arguments".to_owned(), text)]))
        }
    }
}

/// A number with the digits that it was given with; as an `f64` it would have more.
fn digits(number: f32) -> Value {
    number.to_string().parse::<f64>().unwrap_or_default().into()
}

/// Gives every call an id of its own.
fn with_ids(mut calls: Vec<ToolCall>) -> Vec<ToolCall> {
    for number in 0..calls.len() {
        let (before, rest) = calls.split_at_mut(number);
        let call = &mut rest[0];
        let taken = |id: &str| before.iter().any(|earlier| earlier.id == id);
        if call.id.is_empty() || taken(&call.id) {
            let ids = (number + 1..).map(|number| format!("call_{number}"));
            call.id = ids
                .into_iter()
                .find(|id| !taken(id))
                .expect("there are more numbers than calls");
        }
    }
    calls
}

/// A call of a tool, as OpenAI and Ollama write it.
#[derive(Deserialize)]
struct FunctionCall {
    id: Option<String>,
    function: CalledFunction,
}

#[derive(Deserialize)]
struct CalledFunction {
    name: String,
    /// Text that holds JSON, or the JSON itself.
    arguments: Option<Box<RawValue>>,
}

impl FunctionCall {
    fn into_tool_call(self) -> ToolCall {
        let arguments = self
            .function
            .arguments
            .as_deref()
            .map_or("{}", RawValue::get);
        ToolCall {
            id: self.id.unwrap_or_default(),
            name: self.function.name,
            arguments: serde_json::from_str(arguments).unwrap_or_else(|_| arguments.to_owned()),
        }
    }
}

/// Usage of nothing at all is none: every question has tokens.
fn usage(input: Option<u64>, cached: u64, output: Option<u64>) -> Option<Usage> {
    let (input, output) = (input.filter(|input| *input > 0)?, output?);
    Some(Usage {
        input,
        cached: cached.min(input),
        output,
    })
}

fn unreadable(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    if error.is_eof() {
        return "its body ends before it is whole".to_owned();
    }
    format!("its body is not what this wire answers with (line {line}, column {column})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            name: "find".to_owned(),
            arguments: "{}".to_owned(),
        }
    }

    #[test]
    fn calls_get_ids_of_their_own() {
        let calls = with_ids(vec![call(""), call("call_2"), call(""), call("call_2")]);
        let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call_1", "call_2", "call_3", "call_4"]);
    }

    #[test]
    fn arguments_that_are_no_object_go_along_as_text() {
        assert_eq!(as_object(r#"{"a":1}"#), json!({"a": 1}));
        assert_eq!(as_object("oops"), json!({"arguments": "oops"}));
    }
}
