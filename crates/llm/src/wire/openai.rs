//! `POST {base}/chat/completions` of OpenAI and compatible services.

use daybook_domain::model::{AnswerSchema, FinishReason, Message, Role, ToolCall};
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Adapter, Form, FunctionCall, WireReply, WireRequest, bearer, digits, function, unreadable,
    usage, with_ids,
};
use crate::key::Key;
use crate::thoughts;

pub(super) struct OpenAi;

impl Adapter for OpenAi {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn headers(&self, key: Option<&Key>) -> Option<Vec<(HeaderName, HeaderValue)>> {
        bearer(key)
    }

    fn names_of_form(&self) -> &'static [&'static str] {
        &["response_format", "json_schema", "json_object"]
    }

    fn messages(&self, messages: &[Message]) -> Value {
        json!({"messages": messages.iter().map(message).collect::<Vec<_>>()})
    }

    fn body(&self, question: &WireRequest<'_>) -> Value {
        let limit = match question.newer_limit {
            true => "max_completion_tokens",
            false => "max_tokens",
        };
        let mut body = self.messages(question.messages);
        body["model"] = question.model.into();
        body[limit] = question.max_tokens.into();
        if !question.tools.is_empty() {
            body["tools"] = question.tools.iter().map(function).collect();
        }
        if let Some(temperature) = question.temperature {
            body["temperature"] = digits(temperature);
        }
        match question.enforced_form {
            Some((demanded, Form::Schema)) => body["response_format"] = strict(demanded),
            Some((_, Form::Json)) => body["response_format"] = json!({"type": "json_object"}),
            Some((_, Form::Prompted)) | None => {}
        }
        body
    }

    fn read(&self, body: &[u8], _: &WireRequest<'_>) -> Result<WireReply, String> {
        let body: CompletionBody =
            serde_json::from_slice(body).map_err(|error| unreadable(&error))?;
        let choice = body.choices.into_iter().next();
        let choice = choice.ok_or("it holds no choice")?;
        let calls = choice.message.tool_calls.unwrap_or_default();
        let calls: Vec<ToolCall> = calls
            .into_iter()
            .map(FunctionCall::into_tool_call)
            .collect();
        Ok(WireReply {
            text: thoughts::without(&choice.message.content.unwrap_or_default()),
            refusal: choice.message.refusal.filter(|why| !why.is_empty()),
            finish: finish(choice.finish_reason.as_deref(), !calls.is_empty()),
            calls: with_ids(calls),
            usage: body.usage.and_then(OpenAiUsage::usage),
        })
    }
}

fn message(message: &Message) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let mut written = json!({"role": role, "content": message.text});
    if let Some(id) = &message.answers {
        written["tool_call_id"] = id.as_str().into();
    }
    if !message.calls.is_empty() {
        let call = |call: &ToolCall| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        };
        written["tool_calls"] = message.calls.iter().map(call).collect();
    }
    written
}

fn strict(demanded: &AnswerSchema) -> Value {
    let schema = without_lengths(&demanded.schema);
    let into_tool_call = json!({"name": demanded.name, "strict": true, "schema": schema});
    json!({"type": "json_schema", "json_schema": into_tool_call})
}

/// OpenAI's strict mode refuses a whole schema for one `maxLength`; it is checked here all the same.
fn without_lengths(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else {
        return schema.clone();
    };
    let kept = keywords.iter().filter(|(word, _)| *word != "maxLength");
    let kept = kept.map(|(word, value)| {
        let value = match (word.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                let fields = fields.iter();
                fields
                    .map(|(name, field)| (name.clone(), without_lengths(field)))
                    .collect()
            }
            ("items", each) => without_lengths(each),
            _ => value.clone(),
        };
        (word.clone(), value)
    });
    kept.collect()
}

fn finish(reason: Option<&str>, calls: bool) -> FinishReason {
    match reason {
        Some("length") => FinishReason::Length,
        Some("content_filter") => FinishReason::Filtered,
        _ if calls => FinishReason::Tools,
        _ => FinishReason::Stop,
    }
}

#[derive(Deserialize)]
struct CompletionBody {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<OpenAiUsage>,
}

#[derive(Deserialize)]
struct Choice {
    message: OpenAiMessage,
    finish_reason: Option<String>,
}

/// `reasoning_content`, and whatever else a vendor adds, is left unread.
#[derive(Deserialize)]
struct OpenAiMessage {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<FunctionCall>>,
}

#[derive(Deserialize)]
struct OpenAiUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptTokenDetails>,
}

#[derive(Deserialize)]
struct PromptTokenDetails {
    cached_tokens: Option<u64>,
}

impl OpenAiUsage {
    fn usage(self) -> Option<daybook_domain::model::Usage> {
        let cached = self
            .prompt_tokens_details
            .and_then(|details| details.cached_tokens);
        usage(
            self.prompt_tokens,
            cached.unwrap_or_default(),
            self.completion_tokens,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strict_schema_travels_without_lengths() {
        let schema = json!({
            "type": "object",
            "properties": {"maxLength": {"type": "string", "maxLength": 5}},
            "required": ["maxLength"],
        });
        let expected = json!({
            "type": "object",
            "properties": {"maxLength": {"type": "string"}},
            "required": ["maxLength"],
        });
        assert_eq!(without_lengths(&schema), expected);
    }
}
