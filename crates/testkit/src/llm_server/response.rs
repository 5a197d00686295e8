//! Renders a scripted provider's answers in the format of each wire.

use daybook_domain::model::{ToolCall, Usage};
use serde_json::{Value, json};

use super::error_responses;
use super::recorded_request::{RecordedRequest, RequestWire, answering_tool, count_words};
use super::script::Behaviour;
use super::scripted_response::{ScriptedResponse, error_response, json_response};

pub(super) fn not_found(path: &str) -> ScriptedResponse {
    error_response(
        404,
        json!({"error": format!("nothing answers at {path}, or the body is no JSON")}),
    )
}

pub(super) fn respond(behaviour: &Behaviour, request: &RecordedRequest) -> ScriptedResponse {
    match behaviour {
        Behaviour::Slow(then) => respond(then, request),
        Behaviour::NoUsage(then) => without_usage(respond(then, request)),
        Behaviour::Answer(text) => render_output(request, ModelOutput::text(text)),
        Behaviour::AnswerJson(value) => {
            render_output(request, ModelOutput::text(&value.to_string()))
        }
        Behaviour::Vectors(vectors) => render_vectors(request, vectors),
        Behaviour::Calls(calls) => render_output(request, ModelOutput::calls(calls)),
        Behaviour::Length(text) => render_output(request, ModelOutput::ending(text, "length")),
        Behaviour::Filtered(text) => {
            render_output(request, ModelOutput::ending(text, "content_filter"))
        }
        Behaviour::Refuse(why) => render_output(request, ModelOutput::ending(why, "refusal")),
        Behaviour::Thinks { thoughts, then } => {
            render_output(request, ModelOutput::thinking(thoughts, then))
        }
        Behaviour::OverLong(bytes) => {
            render_output(request, ModelOutput::text(&"a".repeat(*bytes)))
        }
        Behaviour::CutOff => {
            let whole = render_output(request, ModelOutput::text("an answer that is cut off"));
            let half = whole.body.len() / 2;
            ScriptedResponse {
                sent: Some(half),
                usage: Usage::default(),
                ..whole
            }
        }
        Behaviour::Malformed => json_response(200, b"{\"choices\": oops}".to_vec()),
        Behaviour::RateLimit { retry_after } => error_responses::rate_limit(*retry_after, request),
        Behaviour::ServerError(status) => {
            error_responses::wire_error(*status, request, "api_error", "the server failed")
        }
        Behaviour::Denied => error_responses::denied(request),
        Behaviour::TooLong => error_responses::too_long(request),
        Behaviour::RejectsSchema => error_responses::rejects_schema(request),
        Behaviour::HtmlError(status) => error_responses::html_page(*status),
        Behaviour::HangUp => ScriptedResponse {
            hangs_up: true,
            ..ScriptedResponse::default()
        },
        Behaviour::Raw {
            status,
            headers,
            body,
        } => ScriptedResponse {
            headers: headers.clone(),
            ..json_response(*status, body.clone().into_bytes())
        },
    }
}

fn render_vectors(request: &RecordedRequest, vectors: &[Vec<f32>]) -> ScriptedResponse {
    let tokens = request.count_words(false);
    let vectors = vectors.iter().enumerate().rev();
    let data = vectors.map(|(index, vector)| json!({"index": index, "embedding": vector}));
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    let body = json!({"object": "list", "data": data.collect::<Vec<_>>(), "usage": usage});
    ScriptedResponse {
        usage: Usage {
            input: tokens,
            ..Usage::default()
        },
        ..json_response(200, body.to_string().into_bytes())
    }
}

/// A model's reply, before it is written for a wire.
#[derive(Default)]
struct ModelOutput {
    text: String,
    thoughts: String,
    calls: Vec<ToolCall>,
    /// Why the reply ended, as OpenAI or Anthropic name it; empty when it is complete.
    ending: &'static str,
}

impl ModelOutput {
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

    /// The visible text: the thoughts between tags, then the answer.
    fn visible_text(&self) -> String {
        match self.thoughts.is_empty() {
            true => self.text.clone(),
            false => format!("<think>{}</think>\n\n{}", self.thoughts, self.text),
        }
    }

    fn count_words(&self) -> u64 {
        let calls = self
            .calls
            .iter()
            .map(|call| count_words(&call.arguments))
            .sum::<u64>();
        count_words(&self.text) + count_words(&self.thoughts) + calls
    }
}

fn render_output(request: &RecordedRequest, output: ModelOutput) -> ScriptedResponse {
    let usage = Usage {
        input: request.count_words(false),
        // The system prompt counts as cached; Ollama reports no cached tokens.
        cached: match request.wire {
            RequestWire::OpenAi | RequestWire::Anthropic => request.count_words(true),
            RequestWire::Ollama => 0,
        },
        output: output.count_words(),
    };
    let body = match request.wire {
        RequestWire::OpenAi => render_openai(&output, usage),
        RequestWire::Anthropic => render_anthropic(&output, usage, request),
        RequestWire::Ollama => render_ollama(&output, usage),
    };
    ScriptedResponse {
        usage,
        ..json_response(200, body.to_string().into_bytes())
    }
}

fn render_openai(output: &ModelOutput, usage: Usage) -> Value {
    let finish = match output.ending {
        "" if !output.calls.is_empty() => "tool_calls",
        "" | "refusal" => "stop",
        other => other,
    };
    let mut message = json!({"role": "assistant", "content": output.visible_text()});
    if output.ending == "refusal" {
        message["content"] = Value::Null;
        message["refusal"] = output.text.as_str().into();
    }
    if !output.thoughts.is_empty() {
        message["reasoning_content"] = output.thoughts.as_str().into();
    }
    if !output.calls.is_empty() {
        let call = |call: &ToolCall| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        };
        message["tool_calls"] = output.calls.iter().map(call).collect();
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

fn render_anthropic(output: &ModelOutput, usage: Usage, request: &RecordedRequest) -> Value {
    let mut content = Vec::new();
    if !output.thoughts.is_empty() {
        content.push(json!({"type": "thinking", "thinking": output.thoughts, "signature": "x"}));
    }
    let input: Option<Value> = serde_json::from_str(&output.text)
        .ok()
        .filter(Value::is_object);
    match (answering_tool(&request.body), input) {
        (Some(tool), Some(input)) => {
            content.push(
                json!({"type": "tool_use", "id": "toolu_0", "name": tool["name"], "input": input}),
            );
        }
        _ if output.text.is_empty() => {}
        _ => content.push(json!({"type": "text", "text": output.text})),
    }
    for call in &output.calls {
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        content.push(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input}));
    }
    let stop = match output.ending {
        "length" => "max_tokens",
        "refusal" => "refusal",
        _ if content.iter().any(|block| block["type"] == "tool_use") => "tool_use",
        _ => "end_turn",
    };
    // Reports one of the tokens that were not cached as written to the cache.
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

fn render_ollama(output: &ModelOutput, usage: Usage) -> Value {
    let mut message = json!({"role": "assistant", "content": output.visible_text()});
    if !output.thoughts.is_empty() {
        message["thinking"] = output.thoughts.as_str().into();
    }
    if !output.calls.is_empty() {
        let call = |call: &ToolCall| {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            json!({"function": {"name": call.name, "arguments": arguments}})
        };
        message["tool_calls"] = output.calls.iter().map(call).collect();
    }
    json!({
        "message": message,
        "done": true,
        "done_reason": if output.ending == "length" { "length" } else { "stop" },
        "prompt_eval_count": usage.input,
        "eval_count": usage.output,
    })
}

fn without_usage(mut response: ScriptedResponse) -> ScriptedResponse {
    let mut body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    if let Some(fields) = body.as_object_mut() {
        for field in ["usage", "prompt_eval_count", "eval_count"] {
            fields.remove(field);
        }
        response.body = body.to_string().into_bytes();
    }
    response.usage = Usage::default();
    response
}
