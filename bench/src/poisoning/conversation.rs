//! Conversations, and how each host writes them down.

use serde_json::{Value, json};

/// One step of a conversation.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Human(String),
    Assistant(String),
    Call {
        tool: String,
        arguments: Value,
    },
    /// The result of the last call.
    Outcome {
        /// A text, or blocks.
        content: Value,
        failed: bool,
        /// What the host keeps of it beside the text for the model; Claude Code alone.
        host: Option<Value>,
    },
    /// A line of the host's own, as it is.
    Line(Value),
}

/// The formats that Daybook reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Format {
    ClaudeCode,
    Codex,
    CodexLegacy,
    ChatLines,
    ChatDocument,
    ChatList,
}

impl Format {
    pub(crate) const ALL: [Self; 6] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::CodexLegacy,
        Self::ChatLines,
        Self::ChatDocument,
        Self::ChatList,
    ];

    pub(crate) fn file_name(self, number: usize) -> String {
        let ending = match self {
            Self::ChatDocument | Self::ChatList => "json",
            Self::ClaudeCode | Self::Codex | Self::CodexLegacy | Self::ChatLines => "jsonl",
        };
        match self {
            Self::Codex | Self::CodexLegacy => {
                let id = session_id(number);
                format!("rollout-2026-03-03T08-12-44-{id}.{ending}")
            }
            Self::ClaudeCode | Self::ChatLines | Self::ChatDocument | Self::ChatList => {
                format!("{}.{ending}", session_id(number))
            }
        }
    }

    /// The file of a conversation.
    pub(crate) fn write(self, number: usize, branch: &str, steps: &[Step]) -> String {
        let writer = Writer {
            number,
            branch,
            calls: 0,
            line: 0,
        };
        match self {
            Self::ClaudeCode => lines(writer.claude(steps)),
            Self::Codex => lines(writer.codex(steps)),
            Self::CodexLegacy => lines(writer.codex_legacy(steps)),
            Self::ChatLines => lines(writer.chat(steps)),
            Self::ChatDocument => {
                let id = session_id(number);
                json!({"session_id": id, "messages": writer.chat(steps)}).to_string()
            }
            Self::ChatList => Value::Array(writer.chat(steps)).to_string(),
        }
    }
}

fn lines(values: Vec<Value>) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

pub(crate) fn session_id(number: usize) -> String {
    format!("5e55{number:04x}-0000-4000-8000-{number:012x}")
}

/// The folder in which a conversation took place: a project of its own.
pub(crate) fn folder(number: usize) -> String {
    format!("/home/ada/project-{number}")
}

struct Writer<'a> {
    number: usize,
    branch: &'a str,
    calls: usize,
    line: usize,
}

impl Writer<'_> {
    fn call_id(&self) -> String {
        format!("call_{}_{}", self.number, self.calls)
    }

    fn time(&mut self) -> String {
        self.line += 1;
        let (minute, second) = (self.line / 60 % 60, self.line % 60);
        format!("2026-03-03T08:{minute:02}:{second:02}.000Z")
    }

    fn claude(mut self, steps: &[Step]) -> Vec<Value> {
        let mut written = Vec::new();
        for step in steps {
            let (role, content) = match step {
                Step::Human(text) => ("user", json!(text)),
                Step::Assistant(text) => ("assistant", json!([{"type": "text", "text": text}])),
                Step::Call { tool, arguments } => {
                    self.calls += 1;
                    let id = self.call_id();
                    let call =
                        json!({"type": "tool_use", "id": id, "name": tool, "input": arguments});
                    ("assistant", json!([call]))
                }
                Step::Outcome {
                    content, failed, ..
                } => {
                    let id = self.call_id();
                    let outcome = json!({
                        "type": "tool_result",
                        "tool_use_id": id,
                        "is_error": failed,
                        "content": content,
                    });
                    ("user", json!([outcome]))
                }
                Step::Line(line) => {
                    written.push(self.claude_line(line.clone()));
                    continue;
                }
            };
            let mut line = json!({"type": role, "message": {"role": role, "content": content}});
            if let Step::Outcome {
                host: Some(host), ..
            } = step
            {
                line["toolUseResult"] = host.clone();
            }
            written.push(self.claude_line(line));
        }
        written
    }

    fn claude_line(&mut self, mut line: Value) -> Value {
        let time = self.time();
        let id = session_id(self.number);
        let common = json!({
            "uuid": format!("{id}-{}", self.line),
            "sessionId": id,
            "cwd": folder(self.number),
            "gitBranch": self.branch,
            "timestamp": time,
            "isSidechain": false,
            "userType": "external",
        });
        if let (Value::Object(line), Value::Object(common)) = (&mut line, common) {
            for (name, value) in common {
                line.entry(name).or_insert(value);
            }
        }
        line
    }

    fn codex(mut self, steps: &[Step]) -> Vec<Value> {
        let meta = json!({
            "id": session_id(self.number),
            "cwd": folder(self.number),
            "originator": "codex_cli_rs",
            "source": "cli",
            "git": {"branch": self.branch},
        });
        let mut written =
            vec![json!({"timestamp": self.time(), "type": "session_meta", "payload": meta})];
        for step in steps {
            let line = match step {
                Step::Line(line) => line.clone(),
                Step::Human(_) | Step::Assistant(_) | Step::Call { .. } | Step::Outcome { .. } => {
                    json!({"type": "response_item", "payload": self.codex_item(step)})
                }
            };
            let mut line = line;
            line["timestamp"] = json!(self.time());
            written.push(line);
        }
        written
    }

    fn codex_legacy(mut self, steps: &[Step]) -> Vec<Value> {
        let at = self.time();
        let id = session_id(self.number);
        let git = json!({"branch": self.branch});
        let place = format!(
            "<environment_context>\nCurrent working directory: {}\n</environment_context>",
            folder(self.number)
        );
        let place = self.codex_item(&Step::Human(place));
        let mut written = vec![json!({"id": id, "timestamp": at, "git": git}), place];
        written.extend(steps.iter().map(|step| self.codex_item(step)));
        written
    }

    fn codex_item(&mut self, step: &Step) -> Value {
        match step {
            Step::Human(text) => {
                let content = json!([{"type": "input_text", "text": text}]);
                json!({"type": "message", "role": "user", "content": content})
            }
            Step::Assistant(text) => {
                let content = json!([{"type": "output_text", "text": text}]);
                json!({"type": "message", "role": "assistant", "content": content})
            }
            Step::Call { tool, arguments } => {
                self.calls += 1;
                json!({
                    "type": "function_call",
                    "name": tool,
                    "arguments": arguments.to_string(),
                    "call_id": self.call_id(),
                })
            }
            Step::Outcome {
                content, failed, ..
            } => {
                let output = json!({
                    "output": text_of(content),
                    "metadata": {"exit_code": i32::from(*failed)},
                });
                json!({
                    "type": "function_call_output",
                    "call_id": self.call_id(),
                    "output": output.to_string(),
                })
            }
            Step::Line(line) => line["payload"].clone(),
        }
    }

    fn chat(mut self, steps: &[Step]) -> Vec<Value> {
        let mut written = Vec::new();
        for step in steps {
            let message = match step {
                Step::Human(text) => json!({"role": "user", "content": text, "name": "ada"}),
                Step::Assistant(text) => json!({"role": "assistant", "content": text}),
                Step::Call { tool, arguments } => {
                    self.calls += 1;
                    let function = json!({"name": tool, "arguments": arguments.to_string()});
                    let call =
                        json!({"id": self.call_id(), "type": "function", "function": function});
                    json!({"role": "assistant", "content": null, "tool_calls": [call]})
                }
                Step::Outcome { content, .. } => {
                    let text = text_of(content);
                    json!({"role": "tool", "tool_call_id": self.call_id(), "content": text})
                }
                Step::Line(line) => line.clone(),
            };
            let mut message = message;
            message["timestamp"] = json!(self.time());
            written.push(message);
        }
        written
    }
}

/// The words of a result.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}
