//! `POST {base}/api/chat` of Ollama.
//!
//! Ollama makes room for a few thousand tokens by default, and silently drops the beginning of a longer
//! question; so each request sets how much room to make, and to refuse instead of dropping.

use daybook_domain::model::{FinishReason, Message, Role, ToolCall};
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Adapter, Form, FunctionCall, WireReply, WireRequest, as_object, bearer, digits, function,
    unreadable, usage, with_ids,
};
use crate::key::Key;
use crate::thoughts;

pub(super) struct Ollama;

impl Adapter for Ollama {
    fn path(&self) -> &'static str {
        "/api/chat"
    }

    fn headers(&self, key: Option<&Key>) -> Option<Vec<(HeaderName, HeaderValue)>> {
        bearer(key)
    }

    fn names_of_form(&self) -> &'static [&'static str] {
        &["format", "json schema", "grammar"]
    }

    fn messages(&self, messages: &[Message]) -> Value {
        let written = messages.iter().map(|it| message(it, messages));
        json!({"messages": written.collect::<Vec<_>>()})
    }

    fn body(&self, question: &WireRequest<'_>) -> Value {
        let mut options = json!({
            "num_ctx": question.context_tokens,
            "num_predict": question.max_tokens,
        });
        if let Some(temperature) = question.temperature {
            options["temperature"] = digits(temperature);
        }
        let mut body = self.messages(question.messages);
        body["model"] = question.model.into();
        body["stream"] = false.into();
        body["truncate"] = false.into();
        body["options"] = options;
        if !question.tools.is_empty() {
            body["tools"] = question.tools.iter().map(function).collect();
        }
        match question.enforced_form {
            Some((demanded, Form::Schema)) => body["format"] = demanded.schema.clone(),
            Some((_, Form::Json)) => body["format"] = "json".into(),
            Some((_, Form::Prompted)) | None => {}
        }
        body
    }

    fn read(&self, body: &[u8], _: &WireRequest<'_>) -> Result<WireReply, String> {
        let body: ChatBody = serde_json::from_slice(body).map_err(|error| unreadable(&error))?;
        let calls = body.message.tool_calls.unwrap_or_default();
        let calls: Vec<ToolCall> = calls
            .into_iter()
            .map(FunctionCall::into_tool_call)
            .collect();
        Ok(WireReply {
            text: thoughts::without(&body.message.content),
            refusal: None,
            finish: finish(body.done_reason.as_deref(), !calls.is_empty()),
            calls: with_ids(calls),
            usage: usage(body.prompt_eval_count, 0, body.eval_count),
        })
    }
}

fn message(message: &Message, all: &[Message]) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let mut written = json!({"role": role, "content": message.text});
    if let Some(id) = &message.answers {
        // Calls have no ids here; an outcome names its tool.
        let mut calls = all.iter().flat_map(|earlier| &earlier.calls);
        let name = calls
            .find(|call| call.id == *id)
            .map_or("", |call| &call.name);
        written["tool_name"] = name.into();
    }
    if !message.calls.is_empty() {
        let call = |call: &ToolCall| {
            let arguments = as_object(&call.arguments);
            json!({"function": {"name": call.name, "arguments": arguments}})
        };
        written["tool_calls"] = message.calls.iter().map(call).collect();
    }
    written
}

fn finish(reason: Option<&str>, calls: bool) -> FinishReason {
    match reason {
        Some("length") => FinishReason::Length,
        _ if calls => FinishReason::Tools,
        _ => FinishReason::Stop,
    }
}

#[derive(Deserialize)]
struct ChatBody {
    message: OllamaMessage,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
}

#[derive(Deserialize)]
struct OllamaMessage {
    #[serde(default)]
    content: String,
    tool_calls: Option<Vec<FunctionCall>>,
}
