//! `POST {base}/v1/messages` of Anthropic.
//!
//! It has no mode for answers of a form; a tool that must be called has the answer as its arguments. Those
//! arguments are returned as the text of the reply.

use daybook_domain::model::{FinishReason, Message, Role, Tool, ToolCall};
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{
    Adapter, Form, WireReply, WireRequest, as_object, digits, unreadable, usage, with_ids,
};
use crate::key::Key;
use crate::thoughts;

const VERSION: &str = "2023-06-01";

pub(super) struct Anthropic;

impl Adapter for Anthropic {
    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn headers(&self, key: Option<&Key>) -> Option<Vec<(HeaderName, HeaderValue)>> {
        let version = HeaderName::from_static("anthropic-version");
        let mut headers = vec![(version, HeaderValue::from_static(VERSION))];
        if let Some(key) = key {
            headers.push((HeaderName::from_static("x-api-key"), key.header("")?));
        }
        Some(headers)
    }

    /// There is no form between the tool and the schema as text.
    fn looser(&self, form: Form) -> Option<Form> {
        match form {
            Form::Schema | Form::Json => Some(Form::Prompted),
            Form::Prompted => None,
        }
    }

    fn names_of_form(&self) -> &'static [&'static str] {
        &["tool_choice", "input_schema"]
    }

    fn messages(&self, messages: &[Message]) -> Value {
        let system = messages.iter().filter(|it| it.role == Role::System);
        let system: Vec<&str> = system.map(|it| it.text.as_str()).collect();
        let mut written = json!({"messages": turns(messages)});
        if !system.is_empty() {
            written["system"] = system.join("\n\n").into();
        }
        written
    }

    fn body(&self, question: &WireRequest<'_>) -> Value {
        let mut body = self.messages(question.messages);
        body["model"] = question.model.into();
        body["max_tokens"] = question.max_tokens.into();
        if let Some(temperature) = question.temperature {
            // It is at most 1 here.
            body["temperature"] = digits(temperature.min(1.0));
        }
        let mut tools: Vec<Value> = question.tools.iter().map(tool).collect();
        if let Some((demanded, Form::Schema)) = question.enforced_form {
            body["tool_choice"] = match tools.is_empty() {
                true => json!({"type": "tool", "name": demanded.name}),
                false => json!({"type": "any"}),
            };
            tools.push(json!({
                "name": demanded.name,
                "description": "Gives the answer.",
                "input_schema": demanded.schema,
            }));
        }
        if !tools.is_empty() {
            body["tools"] = tools.into();
        }
        body
    }

    fn read(&self, body: &[u8], question: &WireRequest<'_>) -> Result<WireReply, String> {
        let body: MessagesBody =
            serde_json::from_slice(body).map_err(|error| unreadable(&error))?;
        let answers = match question.enforced_form {
            Some((demanded, Form::Schema)) => Some(demanded.name.as_str()),
            _ => None,
        };
        let finish = finish(body.stop_reason.as_deref());
        let (mut text, mut calls) = (String::new(), Vec::new());
        for block in body.content {
            text.push_str(&block.text.unwrap_or_default());
            let (Some(name), Some(input)) = (block.name, block.input) else {
                continue;
            };
            if Some(name.as_str()) == answers {
                // What the provider made of arguments that were cut off may look whole.
                text = match finish {
                    FinishReason::Length => String::new(),
                    FinishReason::Stop | FinishReason::Tools | FinishReason::Filtered => {
                        input.get().to_owned()
                    }
                };
                break;
            }
            calls.push(ToolCall {
                id: block.id.unwrap_or_default(),
                name,
                arguments: input.get().to_owned(),
            });
        }
        let text = thoughts::without(&text);
        let refused = body.stop_reason.as_deref() == Some("refusal");
        Ok(WireReply {
            refusal: refused.then(|| text.clone()),
            text,
            finish: match finish {
                FinishReason::Tools if calls.is_empty() => FinishReason::Stop,
                other => other,
            },
            calls: with_ids(calls),
            usage: body.usage.and_then(AnthropicUsage::usage),
        })
    }
}

/// The turns after the system's, which alternate: a user's words share one turn with the outcomes of tools
/// before them.
fn turns(messages: &[Message]) -> Vec<Value> {
    let messages: Vec<&Message> = messages
        .iter()
        .filter(|it| it.role != Role::System)
        .collect();
    let turns = messages.chunk_by(|one, next| role(one) == role(next));
    turns.map(turn).collect()
}

fn turn(messages: &[&Message]) -> Value {
    let content: Value = match messages {
        [words] if words.role != Role::Tool && words.calls.is_empty() => words.text.clone().into(),
        messages => messages.iter().flat_map(|it| blocks(it)).collect(),
    };
    json!({"role": role(messages[0]), "content": content})
}

fn role(message: &Message) -> &'static str {
    match message.role {
        Role::Assistant => "assistant",
        Role::System | Role::User | Role::Tool => "user",
    }
}

fn blocks(message: &Message) -> Vec<Value> {
    if message.role == Role::Tool {
        let outcome =
            json!({"type": "tool_result", "tool_use_id": message.answers, "content": message.text});
        return vec![outcome];
    }
    let mut blocks = Vec::new();
    if !message.text.is_empty() {
        blocks.push(json!({"type": "text", "text": message.text}));
    }
    blocks.extend(message.calls.iter().map(|call| {
        let input = as_object(&call.arguments);
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
    }));
    blocks
}

fn tool(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.arguments,
    })
}

fn finish(reason: Option<&str>) -> FinishReason {
    match reason {
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("tool_use") => FinishReason::Tools,
        _ => FinishReason::Stop,
    }
}

#[derive(Deserialize)]
struct MessagesBody {
    content: Vec<ContentBlock>,
    stop_reason: Option<String>,
    usage: Option<AnthropicUsage>,
}

/// Which fields there are depends on `type`. Thoughts have none of these.
#[derive(Deserialize)]
struct ContentBlock {
    text: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct AnthropicUsage {
    input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl AnthropicUsage {
    /// What came from the cache, and what went into it, is not part of `input_tokens`.
    fn usage(self) -> Option<daybook_domain::model::Usage> {
        let cached = self.cache_read_input_tokens.unwrap_or_default();
        let kept = self.cache_creation_input_tokens.unwrap_or_default();
        let input = self
            .input_tokens
            .map(|input| input.saturating_add(cached).saturating_add(kept));
        usage(input, cached, self.output_tokens)
    }
}
