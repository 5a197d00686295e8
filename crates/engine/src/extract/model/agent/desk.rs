//! Carrying out what an agent calls during one delivery.
//!
//! Whatever goes wrong is an outcome that the agent is told, never a failed job. A write is judged before
//! it is staged; what is not believed is counted, and the agent hears of it.
//!
//! Not here: which tools it may call (`tools`), what is believed (`judge`).

use daybook_domain::model::{Message, Role, ToolCall};
use daybook_domain::{EntityChange, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::CALLS;
use super::judge::doubt;
use super::tools::{AgentKind, refusal};
use crate::extract::entity_tools::{LISTED, Shelf};
use crate::extract::model::Guidance;
use crate::extract::model::cut::ends;
use crate::extract::model::transcript::Count;
use crate::extract::{Dropped, Extracted, Window};

/// Most bytes of a tool's outcome.
const OUTCOME: usize = 8 * 1024;

/// What an agent works at during one delivery.
pub(super) struct Desk {
    kind: AgentKind,
    shelf: Box<dyn Shelf>,
    now: Timestamp,
    dropped: Dropped,
    /// What tools said, with their names.
    heard: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    limit: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    entity: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    entity: String,
    name: String,
    description: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Upsert {
    entity: String,
    record: String,
    content: String,
}

impl Desk {
    pub(super) fn new(kind: AgentKind, shelf: Box<dyn Shelf>, now: Timestamp) -> Self {
        Self {
            kind,
            shelf,
            now,
            dropped: Dropped::default(),
            heard: Vec::new(),
        }
    }

    /// Carries out calls in their order. `beyond` more were not even looked at.
    pub(super) fn carry_out(
        &mut self,
        calls: &[ToolCall],
        beyond: usize,
        window: Window<'_>,
        shown: &[usize],
        guidance: &Guidance,
    ) -> Vec<Message> {
        let mut outcomes = Vec::new();
        for (n, call) in calls.iter().enumerate() {
            let outcome = self.outcome(call, window, shown, guidance);
            let mut outcome = ends(&outcome.unwrap_or_else(|error| error), OUTCOME, 0);
            if n + 1 == calls.len() && beyond > 0 {
                outcome.push_str(&format!(
                    "\n{beyond} more calls were not carried out: at most {CALLS} at once."
                ));
            }
            outcomes.push(Message::outcome(&call.id, &outcome));
            self.heard.push((call.name.clone(), outcome));
        }
        outcomes
    }

    fn outcome(
        &mut self,
        call: &ToolCall,
        window: Window<'_>,
        shown: &[usize],
        guidance: &Guidance,
    ) -> Result<String, String> {
        if let Some(refusal) = refusal(self.kind, &call.name) {
            return Err(refusal);
        }
        let (entity, change) = match call.name.as_str() {
            "now" => return given::<Nothing>(call).map(|Nothing {}| moment(self.now)),
            "memory_list_entities" => return self.list(&given(call)?),
            "memory_read_entity" => {
                let asked: Read = given(call)?;
                return Ok(fenced(&self.shelf.read(&asked.entity)?));
            }
            "memory_create_entity" => {
                let Create {
                    entity,
                    name,
                    description,
                } = given(call)?;
                (entity, EntityChange::Card { name, description })
            }
            _ => {
                let Upsert {
                    entity,
                    record,
                    content,
                } = given(call)?;
                if content.is_empty() {
                    return Err("Content is required.".to_owned());
                }
                (entity, EntityChange::Record { record, content })
            }
        };
        let proposed = self.shelf.propose(&entity, &change)?;
        if let Some(reason) = doubt(&proposed, window, shown, guidance) {
            self.dropped.count(reason);
            return Err(format!(
                "Not written: {}. Write only what the transcript or the entity itself says.",
                reason.words()
            ));
        }
        self.shelf.stage(proposed)
    }

    fn list(&self, asked: &List) -> Result<String, String> {
        let limit = match asked.limit {
            None => LISTED,
            Some(limit) if limit.fract() == 0.0 && (1.0..=LISTED as f64).contains(&limit) => {
                limit as usize
            }
            Some(limit) => return Err(format!("limit is {limit}; give 1 to {LISTED}")),
        };
        match self.shelf.list(limit) {
            none if none.is_empty() => Ok("No memory entities.".to_owned()),
            lines => Ok(lines.join("\n")),
        }
    }

    /// Asks for the answer, with what tools have said as far as it fits `budget` tokens, the newest of it.
    pub(super) fn farewell(&self, budget: u32, count: Count<'_>) -> Message {
        let mut left = budget;
        let mut said = Vec::new();
        for (name, outcome) in self.heard.iter().rev() {
            let name = name.escape_default().take(40).collect::<String>();
            let text = format!(" {name}:\n{}", indented(outcome));
            let tokens = count(&text).saturating_add(1);
            if tokens > left {
                break;
            }
            left -= tokens;
            said.push(text);
        }
        said.reverse();
        let said = match said.is_empty() {
            true => String::new(),
            false => format!("<tools>\n{}\n</tools>\n", said.join("\n")),
        };
        let ask = "There are no more tools. Answer now with `<observations>` and nothing else.";
        Message::new(Role::User, format!("{said}{ask}"))
    }

    /// What an answer comes to together with what was staged and not believed on the way.
    pub(super) fn cleared(self, extracted: Extracted) -> Extracted {
        let mut dropped = extracted.dropped;
        dropped.join(&self.dropped);
        Extracted {
            writes: self.shelf.staged(),
            dropped,
            ..extracted
        }
    }
}

fn given<T: DeserializeOwned>(call: &ToolCall) -> Result<T, String> {
    let arguments = match call.arguments.trim() {
        "" => "{}",
        arguments => arguments,
    };
    let mut value: Value = serde_json::from_str(arguments)
        .map_err(|error| format!("These arguments are no JSON: {error}"))?;
    // Models write null for what they leave out.
    if let Value::Object(fields) = &mut value {
        fields.retain(|_, value| !value.is_null());
    }
    serde_json::from_value(value).map_err(|error| format!("These arguments do not fit: {error}"))
}

fn moment(now: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(now.0) {
        Ok(now) => now.to_string(),
        Err(_) => "The time is not known.".to_owned(),
    }
}

/// An entity as material: no line of it begins as a tag does.
fn fenced(text: &str) -> String {
    format!(
        "<entity>\n{}\n</entity>",
        indented(&ends(text, OUTCOME - 1024, 0))
    )
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!(" {line}")).collect();
    lines.join("\n")
}
