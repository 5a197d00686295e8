//! The requests that a scripted provider received, in one shape for all wires.

use daybook_domain::model::{Message, Role, Tool, ToolCall};
use hyper::HeaderMap;
use serde_json::Value;

/// The wire over which a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestWire {
    /// `/chat/completions`, or `/embeddings`, whose texts are messages of the user
    OpenAi,
    /// `/v1/messages`
    Anthropic,
    /// `/api/chat`
    Ollama,
}

/// The form in which an answer was demanded.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestedForm {
    /// None, as far as the request shows.
    Free,
    /// Any JSON.
    Json,
    /// This schema.
    Schema(Value),
}

/// One request that the provider received.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// The wire over which it came.
    pub wire: RequestWire,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The model's name.
    pub model: String,
    /// The conversation. Calls of a wire without ids have none.
    pub messages: Vec<Message>,
    /// Offered tools, without the one that stands for the answer.
    pub tools: Vec<Tool>,
    /// The demanded form.
    pub form: RequestedForm,
    /// The most tokens that the answer may have.
    pub max_tokens: Option<u64>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The body as it came.
    pub body: Value,
}

impl RecordedRequest {
    pub(super) fn read(path: &str, headers: &HeaderMap, body: &[u8]) -> Option<Self> {
        let ends = |end: &str| path.ends_with(end);
        let wire = match () {
            () if ends("/chat/completions") || ends("/embeddings") => RequestWire::OpenAi,
            () if ends("/v1/messages") => RequestWire::Anthropic,
            () if ends("/api/chat") => RequestWire::Ollama,
            () => return None,
        };
        let body: Value = serde_json::from_slice(body).ok()?;
        let value = |value: &hyper::header::HeaderValue| {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        };
        let headers = headers
            .iter()
            .map(|(name, it)| (name.to_string(), value(it)));
        let (options, limit) = match wire {
            RequestWire::Ollama => (&body["options"], "num_predict"),
            RequestWire::OpenAi | RequestWire::Anthropic => (&body, "max_tokens"),
        };
        let max_tokens = options[limit].as_u64();
        let form = form(wire, &body);
        Some(Self {
            wire,
            headers: headers.collect(),
            model: text(&body["model"]),
            messages: messages(wire, &body),
            tools: tools(wire, &body, &form),
            form,
            max_tokens: max_tokens.or(options["max_completion_tokens"].as_u64()),
            temperature: options["temperature"].as_f64(),
            body,
        })
    }

    /// The value of a header, named in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|header| header.0 == name)
            .map(|header| header.1.as_str())
    }

    /// The texts of all messages, one after another.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.messages.iter().map(|it| it.text.as_str()).collect();
        texts.join("\n")
    }

    /// Counts the words of all messages, or of the system's messages alone.
    pub(super) fn count_words(&self, of_system: bool) -> u64 {
        let messages = self.messages.iter();
        let counted = messages.filter(|it| !of_system || it.role == Role::System);
        counted.map(|it| count_words(&it.text)).sum()
    }
}

/// Counts words: this provider counts a token for each.
pub(super) fn count_words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn form(wire: RequestWire, body: &Value) -> RequestedForm {
    match wire {
        RequestWire::OpenAi => match body["response_format"]["type"].as_str() {
            Some("json_schema") => {
                RequestedForm::Schema(body["response_format"]["json_schema"]["schema"].clone())
            }
            Some(_) => RequestedForm::Json,
            None => RequestedForm::Free,
        },
        RequestWire::Ollama => match &body["format"] {
            Value::Null => RequestedForm::Free,
            schema @ Value::Object(_) => RequestedForm::Schema(schema.clone()),
            _ => RequestedForm::Json,
        },
        RequestWire::Anthropic => match answering_tool(body) {
            Some(tool) => RequestedForm::Schema(tool["input_schema"].clone()),
            None => RequestedForm::Free,
        },
    }
}

/// The tool whose call carries the answer: the last one, where a tool must be called.
pub(super) fn answering_tool(body: &Value) -> Option<&Value> {
    body.get("tool_choice")?;
    body["tools"].as_array()?.last()
}

fn tools(wire: RequestWire, body: &Value, form: &RequestedForm) -> Vec<Tool> {
    let read = |tool: &Value| match wire {
        RequestWire::OpenAi | RequestWire::Ollama => Tool {
            name: text(&tool["function"]["name"]),
            description: text(&tool["function"]["description"]),
            arguments: tool["function"]["parameters"].clone(),
        },
        RequestWire::Anthropic => Tool {
            name: text(&tool["name"]),
            description: text(&tool["description"]),
            arguments: tool["input_schema"].clone(),
        },
    };
    let mut tools: Vec<Tool> = list(&body["tools"]).map(read).collect();
    if wire == RequestWire::Anthropic && *form != RequestedForm::Free {
        tools.pop();
    }
    tools
}

fn messages(wire: RequestWire, body: &Value) -> Vec<Message> {
    let mut messages = Vec::new();
    if let Some(system) = body["system"].as_str() {
        messages.push(Message::new(Role::System, system));
    }
    let texts = list(&body["input"]).map(|input| Message::new(Role::User, text(input)));
    messages.extend(texts);
    for message in list(&body["messages"]) {
        match wire {
            RequestWire::OpenAi | RequestWire::Ollama => messages.push(plain(message)),
            RequestWire::Anthropic => blocks(message, &mut messages),
        }
    }
    messages
}

fn plain(message: &Value) -> Message {
    let role = match message["role"].as_str() {
        Some("system") => Role::System,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => Role::User,
    };
    let call = |call: &Value| ToolCall {
        id: text(&call["id"]),
        name: text(&call["function"]["name"]),
        arguments: match &call["function"]["arguments"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        },
    };
    let answered = [&message["tool_call_id"], &message["tool_name"]];
    Message {
        calls: list(&message["tool_calls"]).map(call).collect(),
        answers: answered
            .into_iter()
            .find_map(Value::as_str)
            .map(str::to_owned),
        ..Message::new(role, text(&message["content"]))
    }
}

fn blocks(message: &Value, messages: &mut Vec<Message>) {
    let role = match message["role"].as_str() {
        Some("assistant") => Role::Assistant,
        _ => Role::User,
    };
    let mut said = Message::new(role, text(&message["content"]));
    let mut outcomes = Vec::new();
    for block in list(&message["content"]) {
        match block["type"].as_str() {
            Some("tool_use") => said.calls.push(ToolCall {
                id: text(&block["id"]),
                name: text(&block["name"]),
                arguments: block["input"].to_string(),
            }),
            Some("tool_result") => {
                let (id, outcome) = (text(&block["tool_use_id"]), text(&block["content"]));
                outcomes.push(Message::outcome(id, outcome));
            }
            _ => said.text.push_str(&text(&block["text"])),
        }
    }
    let is_silent = !outcomes.is_empty() && said.text.is_empty();
    messages.append(&mut outcomes);
    if !is_silent {
        messages.push(said);
    }
}
