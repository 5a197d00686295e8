//! `POST {base}/chat/completions`: OpenAI, and whoever speaks as it does.

use daybook_domain::model::{AnswerSchema, Finish, Message, Role, ToolCall};
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Adapter, Call, Heard, Question, bearer, digits, function, unreadable, usage, with_ids,
};
use crate::answer::Form;
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

    fn body(&self, question: &Question<'_>) -> Value {
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
        match question.held_to {
            Some((demanded, Form::Schema)) => body["response_format"] = strict(demanded),
            Some((_, Form::Json)) => body["response_format"] = json!({"type": "json_object"}),
            Some((_, Form::Told)) | None => {}
        }
        body
    }

    fn read(&self, body: &[u8], _: &Question<'_>) -> Result<Heard, String> {
        let body: Body = serde_json::from_slice(body).map_err(|error| unreadable(&error))?;
        let choice = body.choices.into_iter().next();
        let choice = choice.ok_or("it holds no choice")?;
        let calls = choice.message.tool_calls.unwrap_or_default();
        let calls: Vec<ToolCall> = calls.into_iter().map(Call::named).collect();
        Ok(Heard {
            text: thoughts::without(&choice.message.content.unwrap_or_default()),
            refusal: choice.message.refusal.filter(|why| !why.is_empty()),
            finish: finish(choice.finish_reason.as_deref(), !calls.is_empty()),
            calls: with_ids(calls),
            usage: body.usage.and_then(Used::usage),
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
    let named = json!({"name": demanded.name, "strict": true, "schema": schema});
    json!({"type": "json_schema", "json_schema": named})
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

fn finish(reason: Option<&str>, calls: bool) -> Finish {
    match reason {
        Some("length") => Finish::Length,
        Some("content_filter") => Finish::Filtered,
        _ if calls => Finish::Tools,
        _ => Finish::Stop,
    }
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Used>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

/// `reasoning_content`, and whatever else a vendor adds, is left unread.
#[derive(Deserialize)]
struct Said {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Used {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

impl Used {
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
