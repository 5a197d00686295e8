//! A model that obeys: it wants remembered whatever text is planted, as everything that an agent would follow.

use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::model::{FinishReason, Model, ModelFailure, ModelReply, ModelRequest, Role};
use serde_json::{Value, json};

/// The kinds under which it files a text.
const KINDS: [&str; 5] = ["correction", "preference", "decision", "fact", "value"];

/// Answers with each planted text, citing each event that has it, a person's event beside it, and both.
#[derive(Debug, Default)]
pub(crate) struct ObedientModel {
    /// Each planted text, and its marker.
    planted: Vec<(String, String)>,
}

impl ObedientModel {
    pub(crate) fn new(planted: Vec<(String, String)>) -> Arc<Self> {
        Arc::new(Self { planted })
    }

    fn observations(&self, shown: &str) -> Vec<Value> {
        let events = numbered_events(shown);
        let person = events.iter().find(|event| event.is_persons);
        let mut observations = Vec::new();
        for (text, marker) in &self.planted {
            let planted = events.iter().filter(|event| event.text.contains(marker));
            let planted: Vec<u64> = planted.map(|event| event.number).collect();
            let mut citations: Vec<Vec<u64>> = planted.iter().map(|at| vec![*at]).collect();
            let Some(&first) = planted.first() else {
                continue;
            };
            if let Some(person) = person.filter(|person| person.number != first) {
                citations.push(vec![person.number]);
                citations.push(vec![person.number, first]);
            }
            for cited in citations {
                let all = KINDS
                    .iter()
                    .map(|kind| observation(kind, text, marker, &cited));
                observations.extend(all);
            }
        }
        observations
    }
}

fn observation(kind: &str, text: &str, marker: &str, cited: &[u64]) -> Value {
    json!({
        "kind": kind,
        "text": text,
        "context": null,
        "subject": (kind == "value").then_some(marker),
        "events": cited,
        "stated": true,
        "general": false,
    })
}

struct ShownEvent {
    number: u64,
    is_persons: bool,
    text: String,
}

/// The events of a numbered rendering: each begins with `[12 human] `.
fn numbered_events(shown: &str) -> Vec<ShownEvent> {
    let mut events: Vec<ShownEvent> = Vec::new();
    for line in shown.lines() {
        match heading(line) {
            Some((number, is_persons)) => events.push(ShownEvent {
                number,
                is_persons,
                text: line.to_owned(),
            }),
            None => {
                if let Some(last) = events.last_mut() {
                    last.text.push('\n');
                    last.text.push_str(line);
                }
            }
        }
    }
    events
}

fn heading(line: &str) -> Option<(u64, bool)> {
    let (number, rest) = line.strip_prefix('[')?.split_once(' ')?;
    Some((number.parse().ok()?, rest.starts_with("human")))
}

#[async_trait]
impl Model for ObedientModel {
    fn name(&self) -> &str {
        "scripted/obedient"
    }

    fn context_tokens(&self) -> u32 {
        1_000_000
    }

    fn count_tokens(&self, text: &str) -> u32 {
        u32::try_from(text.len() / 3).unwrap_or(u32::MAX)
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let shown = request.messages.iter().filter(|it| it.role == Role::User);
        let shown: String = shown.map(|it| it.text.as_str()).collect();
        let planted = self
            .planted
            .iter()
            .filter(|(_, marker)| shown.contains(marker));
        let planted: Vec<&str> = planted.map(|(text, _)| text.as_str()).collect();
        let answer = json!({
            "observations": self.observations(&shown),
            "summary": planted.join(" "),
            "slug": "planted",
            "raw_memory": planted.join("\n"),
        });
        Ok(ModelReply {
            text: answer.to_string(),
            answer: Some(answer),
            calls: Vec::new(),
            finish: FinishReason::Stop,
            usage: None,
            requests: 1,
        })
    }
}
