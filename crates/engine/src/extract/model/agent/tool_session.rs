//! Executes the tool calls of an agent during one delivery.
//!
//! A failing call is an outcome for the agent, never a failed job. A write is validated before
//! it is staged; a rejected one is counted, and its reason returned to the agent.
//!
//! Not here: the list of allowed tools (`tools`), the validation of writes (`write_validation`).

use daybook_domain::model::{Message, Role, ToolCall};
use daybook_domain::{EntityChange, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::tools::{AgentKind, refusal_message};
use super::write_validation::rejection_reason;
use crate::extract::entity_tools::{EntityRepository, MAX_LISTED_ENTITIES};
use crate::extract::model::Guidance;
use crate::extract::model::transcript::TokenCounter;
use crate::extract::model::truncate::keep_ends;
use crate::extract::{DropCounts, ExtractorOutput, Window};

/// Most bytes of a tool's outcome.
pub(super) const MAX_OUTCOME_BYTES: usize = 8 * 1024;

/// Executes the tool calls of one delivery, and records their outcomes.
pub(super) struct ToolSession {
    kind: AgentKind,
    repository: Box<dyn EntityRepository>,
    now: Timestamp,
    dropped: DropCounts,
    /// The tools' names and outcomes, in order.
    outcomes: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    limit: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    entity: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateArguments {
    entity: String,
    name: String,
    description: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpsertArguments {
    entity: String,
    record: String,
    content: String,
}

impl ToolSession {
    pub(super) fn new(
        kind: AgentKind,
        repository: Box<dyn EntityRepository>,
        now: Timestamp,
    ) -> Self {
        Self {
            kind,
            repository,
            now,
            dropped: DropCounts::default(),
            outcomes: Vec::new(),
        }
    }

    /// Executes one call.
    pub(super) fn carry_out(
        &mut self,
        call: &ToolCall,
        window: Window<'_>,
        shown: &[usize],
        guidance: &Guidance,
    ) -> String {
        let outcome = self.outcome(call, window, shown, guidance);
        let outcome = keep_ends(&outcome.unwrap_or_else(|error| error), MAX_OUTCOME_BYTES, 0);
        self.outcomes.push((call.name.clone(), outcome.clone()));
        outcome
    }

    fn outcome(
        &mut self,
        call: &ToolCall,
        window: Window<'_>,
        shown: &[usize],
        guidance: &Guidance,
    ) -> Result<String, String> {
        if let Some(message) = refusal_message(self.kind, &call.name) {
            return Err(message);
        }
        let (entity, change) = match call.name.as_str() {
            "now" => {
                return parse_arguments::<NoArguments>(call)
                    .map(|NoArguments {}| format_time(self.now));
            }
            "memory_list_entities" => return self.list(&parse_arguments(call)?),
            "memory_read_entity" => {
                let arguments: ReadArguments = parse_arguments(call)?;
                return Ok(fenced(&self.repository.read(&arguments.entity)?));
            }
            "memory_create_entity" => {
                let CreateArguments {
                    entity,
                    name,
                    description,
                } = parse_arguments(call)?;
                (entity, EntityChange::Card { name, description })
            }
            _ => {
                let UpsertArguments {
                    entity,
                    record,
                    content,
                } = parse_arguments(call)?;
                if content.is_empty() {
                    return Err("Content is required.".to_owned());
                }
                (entity, EntityChange::Record { record, content })
            }
        };
        let proposed = self.repository.propose(&entity, &change)?;
        if let Some(reason) = rejection_reason(&proposed, window, shown, guidance) {
            self.dropped.increment(reason);
            return Err(format!(
                "Not written: {}. Write only what the transcript or the entity itself says.",
                reason.phrase()
            ));
        }
        self.repository.stage(proposed)
    }

    fn list(&self, arguments: &ListArguments) -> Result<String, String> {
        let limit = match arguments.limit {
            None => MAX_LISTED_ENTITIES,
            Some(limit)
                if limit.fract() == 0.0 && (1.0..=MAX_LISTED_ENTITIES as f64).contains(&limit) =>
            {
                limit as usize
            }
            Some(limit) => {
                return Err(format!("limit is {limit}; give 1 to {MAX_LISTED_ENTITIES}"));
            }
        };
        match self.repository.list(limit) {
            none if none.is_empty() => Ok("No memory entities.".to_owned()),
            lines => Ok(lines.join("\n")),
        }
    }

    /// A message that asks for the answer, with the newest of the tools' outcomes that fit `budget` tokens.
    pub(super) fn final_question(&self, budget: u32, count: TokenCounter<'_>) -> Message {
        let mut left = budget;
        let mut texts = Vec::new();
        for (name, outcome) in self.outcomes.iter().rev() {
            let name = name.escape_default().take(40).collect::<String>();
            let text = format!(" {name}:\n{}", indented(outcome));
            let tokens = count(&text).saturating_add(1);
            if tokens > left {
                break;
            }
            left -= tokens;
            texts.push(text);
        }
        texts.reverse();
        let texts = match texts.is_empty() {
            true => String::new(),
            false => format!("<tools>\n{}\n</tools>\n", texts.join("\n")),
        };
        let ask = "There are no more tools. Answer now with `<observations>` and nothing else.";
        Message::new(Role::User, format!("{texts}{ask}"))
    }

    /// Adds the staged writes and the counts of dropped ones to an answer's result.
    pub(super) fn finish(self, extracted: ExtractorOutput) -> ExtractorOutput {
        let mut dropped = extracted.dropped;
        dropped.merge(&self.dropped);
        ExtractorOutput {
            writes: self.repository.staged(),
            dropped,
            ..extracted
        }
    }
}

fn parse_arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, String> {
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

fn format_time(now: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(now.0) {
        Ok(now) => now.to_string(),
        Err(_) => "The time is not known.".to_owned(),
    }
}

/// An entity as material: no line of it can begin like a tag.
fn fenced(text: &str) -> String {
    format!(
        "<entity>\n{}\n</entity>",
        indented(&keep_ends(text, MAX_OUTCOME_BYTES - 1024, 0))
    )
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!(" {line}")).collect();
    lines.join("\n")
}
