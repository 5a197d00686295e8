//! What a scripted provider answers, in the words of each wire.

use daybook_domain::model::{ToolCall, Usage};
use serde_json::{Value, json};

use super::asked::{Asked, Spoken, answering_tool, words};
use super::faults;
use super::script::Behaviour;

/// An answer as it goes onto the wire.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    /// After so many bytes the connection ends.
    pub(super) sent: Option<usize>,
    pub(super) hangs_up: bool,
    /// What it says it cost.
    pub(super) usage: Usage,
}

pub(super) fn unknown(path: &str) -> Told {
    fault(
        404,
        json!({"error": format!("nothing answers at {path}, or the body is no JSON")}),
    )
}

pub(super) fn told(behaviour: &Behaviour, asked: &Asked) -> Told {
    match behaviour {
        Behaviour::Slow(then) => told(then, asked),
        Behaviour::NoUsage(then) => without_usage(told(then, asked)),
        Behaviour::Answer(text) => said(asked, Said::text(text)),
        Behaviour::AnswerJson(value) => said(asked, Said::text(&value.to_string())),
        Behaviour::Calls(calls) => said(asked, Said::calls(calls)),
        Behaviour::Length(text) => said(asked, Said::ending(text, "length")),
        Behaviour::Filtered(text) => said(asked, Said::ending(text, "content_filter")),
        Behaviour::Refuse(why) => said(asked, Said::ending(why, "refusal")),
        Behaviour::Thinks { thoughts, then } => said(asked, Said::thinking(thoughts, then)),
        Behaviour::OverLong(bytes) => said(asked, Said::text(&"a".repeat(*bytes))),
        Behaviour::CutOff => {
            let whole = said(asked, Said::text("an answer that is cut off"));
            let half = whole.body.len() / 2;
            Told {
                sent: Some(half),
                usage: Usage::default(),
                ..whole
            }
        }
        Behaviour::Malformed => raw(200, b"{\"choices\": oops}".to_vec()),
        Behaviour::RateLimit { retry_after } => faults::rate_limit(*retry_after, asked),
        Behaviour::ServerError(status) => {
            faults::named(*status, asked, "api_error", "the server failed")
        }
        Behaviour::Denied => faults::denied(asked),
        Behaviour::TooLong => faults::too_long(asked),
        Behaviour::RejectsSchema => faults::rejects_schema(asked),
        Behaviour::HtmlError(status) => faults::page(*status),
        Behaviour::HangUp => Told {
            hangs_up: true,
            ..Told::default()
        },
        Behaviour::Raw {
            status,
            headers,
            body,
        } => Told {
            headers: headers.clone(),
            ..raw(*status, body.clone().into_bytes())
        },
    }
}

/// What the model itself does.
#[derive(Default)]
struct Said {
    text: String,
    thoughts: String,
    calls: Vec<ToolCall>,
    /// Why it ended, in OpenAI's words or Anthropic's; nothing if it was done.
    ending: &'static str,
}

impl Said {
    fn text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    fn calls(calls: &[ToolCall]) -> Self {
        Self {
            calls: calls.to_vec(),
            ..Self::default()
        }
    }

    fn ending(text: &str, ending: &'static str) -> Self {
        Self {
            ending,
            ..Self::text(text)
        }
    }

    fn thinking(thoughts: &str, then: &str) -> Self {
        Self {
            thoughts: thoughts.to_owned(),
            ..Self::text(then)
        }
    }

    /// What is written into the text: thoughts between tags, and then the answer.
    fn aloud(&self) -> String {
        match self.thoughts.is_empty() {
            true => self.text.clone(),
            false => format!("<think>{}</think>\n\n{}", self.thoughts, self.text),
        }
    }

    fn words(&self) -> u64 {
        let calls = self
            .calls
            .iter()
            .map(|call| words(&call.arguments))
            .sum::<u64>();
        words(&self.text) + words(&self.thoughts) + calls
    }
}

fn said(asked: &Asked, said: Said) -> Told {
    let usage = Usage {
        input: asked.words(false),
        // What the system said is taken to have been said before; Ollama does not tell.
        cached: match asked.wire {
            Spoken::OpenAi | Spoken::Anthropic => asked.words(true),
            Spoken::Ollama => 0,
        },
        output: said.words(),
    };
    let body = match asked.wire {
        Spoken::OpenAi => openai(&said, usage),
        Spoken::Anthropic => anthropic(&said, usage, asked),
        Spoken::Ollama => ollama(&said, usage),
    };
    Told {
        usage,
        ..raw(200, body.to_string().into_bytes())
    }
}

fn openai(said: &Said, usage: Usage) -> Value {
    let finish = match said.ending {
        "" if !said.calls.is_empty() => "tool_calls",
        "" | "refusal" => "stop",
        other => other,
    };
    let mut message = json!({"role": "assistant", "content": said.aloud()});
    if said.ending == "refusal" {
        message["content"] = Value::Null;
        message["refusal"] = said.text.as_str().into();
    }
    if !said.thoughts.is_empty() {
        message["reasoning_content"] = said.thoughts.as_str().into();
    }
    if !said.calls.is_empty() {
        let call = |call: &ToolCall| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        };
        message["tool_calls"] = said.calls.iter().map(call).collect();
    }
    json!({
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
        },
    })
}

fn anthropic(said: &Said, usage: Usage, asked: &Asked) -> Value {
    let mut content = Vec::new();
    if !said.thoughts.is_empty() {
        content.push(json!({"type": "thinking", "thinking": said.thoughts, "signature": "x"}));
    }
    let input: Option<Value> = serde_json::from_str(&said.text)
        .ok()
        .filter(Value::is_object);
    match (answering_tool(&asked.body), input) {
        (Some(tool), Some(input)) => {
            content.push(
                json!({"type": "tool_use", "id": "toolu_0", "name": tool["name"], "input": input}),
            );
        }
        _ if said.text.is_empty() => {}
        _ => content.push(json!({"type": "text", "text": said.text})),
    }
    for call in &said.calls {
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        content.push(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input}));
    }
    let stop = match said.ending {
        "length" => "max_tokens",
        "refusal" => "refusal",
        _ if content.iter().any(|block| block["type"] == "tool_use") => "tool_use",
        _ => "end_turn",
    };
    // One token of those that were not cached is, from now on.
    let fresh = usage.input - usage.cached;
    let kept = fresh.min(1);
    json!({
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": stop,
        "usage": {
            "input_tokens": fresh - kept,
            "cache_read_input_tokens": usage.cached,
            "cache_creation_input_tokens": kept,
            "output_tokens": usage.output,
        },
    })
}

fn ollama(said: &Said, usage: Usage) -> Value {
    let mut message = json!({"role": "assistant", "content": said.aloud()});
    if !said.thoughts.is_empty() {
        message["thinking"] = said.thoughts.as_str().into();
    }
    if !said.calls.is_empty() {
        let call = |call: &ToolCall| {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            json!({"function": {"name": call.name, "arguments": arguments}})
        };
        message["tool_calls"] = said.calls.iter().map(call).collect();
    }
    json!({
        "message": message,
        "done": true,
        "done_reason": if said.ending == "length" { "length" } else { "stop" },
        "prompt_eval_count": usage.input,
        "eval_count": usage.output,
    })
}

fn without_usage(mut told: Told) -> Told {
    let mut body: Value = serde_json::from_slice(&told.body).unwrap_or_default();
    if let Some(fields) = body.as_object_mut() {
        for field in ["usage", "prompt_eval_count", "eval_count"] {
            fields.remove(field);
        }
        told.body = body.to_string().into_bytes();
    }
    told.usage = Usage::default();
    told
}

pub(super) fn raw(status: u16, body: Vec<u8>) -> Told {
    Told {
        status,
        headers: vec![("content-type", "application/json".to_owned())],
        body,
        ..Told::default()
    }
}

pub(super) fn fault(status: u16, body: Value) -> Told {
    raw(status, body.to_string().into_bytes())
}
