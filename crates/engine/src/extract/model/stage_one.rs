//! Parses answers with a required form: Codex's three strings (C53 to C55), and ours, which
//! adds observations.
//!
//! Codex's form is parsed strictly: a missing or additional field is a failure, never an empty
//! answer. Ours has an equally strict frame, within which observations that cannot be parsed are dropped.

use daybook_domain::ObservationKind;
use daybook_domain::model::AnswerSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{ModelAnswer, Suggestion, UnusableAnswer};
use crate::extract::DropReason;

/// Most observations of an answer that are parsed.
const OBSERVATIONS: usize = 200;
/// Most events that one observation cites.
const EVENTS: usize = 40;

/// Codex's form, with its own field names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StageOneAnswer {
    rollout_summary: String,
    #[serde(deserialize_with = "Option::deserialize")]
    rollout_slug: Option<String>,
    raw_memory: String,
}

/// Our form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtractAnswer {
    observations: Vec<Value>,
    summary: String,
    #[serde(deserialize_with = "Option::deserialize")]
    slug: Option<String>,
    raw_memory: String,
}

/// One observation of our form, before its kind is parsed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawObservation {
    kind: String,
    text: String,
    #[serde(default)]
    context: Option<String>,
    #[serde(default)]
    subject: Option<String>,
    events: Vec<usize>,
    #[serde(default)]
    stated: Option<bool>,
    #[serde(default)]
    general: bool,
}

/// The schema of Codex's form: exactly its three fields.
pub(super) fn stage_one_schema() -> AnswerSchema {
    let slug = json!({"type": ["string", "null"]});
    let text = json!({"type": "string"});
    AnswerSchema {
        name: "stage_one".to_owned(),
        schema: object(json!({"rollout_summary": text, "rollout_slug": slug, "raw_memory": text})),
    }
}

/// The schema of our form.
pub(super) fn extract_schema() -> AnswerSchema {
    let text = json!({"type": "string"});
    let maybe = json!({"type": ["string", "null"]});
    let yes = json!({"type": "boolean"});
    let kinds = ObservationKind::ALL.map(ObservationKind::as_str);
    let observation = object(json!({
        "kind": {"type": "string", "enum": kinds},
        "text": text,
        "context": maybe,
        "subject": maybe,
        "events": {"type": "array", "items": {"type": "integer"}},
        "stated": yes,
        "general": yes,
    }));
    AnswerSchema {
        name: "extraction".to_owned(),
        schema: object(json!({
            "observations": {"type": "array", "items": observation},
            "summary": text,
            "slug": maybe,
            "raw_memory": text,
        })),
    }
}

/// The schema of an object with exactly these properties, all required.
fn object(properties: Value) -> Value {
    let required: Vec<&String> = properties
        .as_object()
        .into_iter()
        .flat_map(|p| p.keys())
        .collect();
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}

/// Parses Codex's form. Without raw memory or without a summary, nothing is worth keeping.
pub(super) fn parse_stage_one(answer: Value) -> Result<ModelAnswer, UnusableAnswer> {
    let read: StageOneAnswer = serde_json::from_value(answer)
        .map_err(|_| UnusableAnswer("is not in the demanded form"))?;
    if read.raw_memory.trim().is_empty() || read.rollout_summary.trim().is_empty() {
        return Ok(ModelAnswer::default());
    }
    Ok(ModelAnswer {
        summary: Some(read.rollout_summary),
        slug: read.rollout_slug,
        raw_memory: Some(read.raw_memory),
        ..ModelAnswer::default()
    })
}

/// Parses our form.
pub(super) fn parse_extract(answer: Value) -> Result<ModelAnswer, UnusableAnswer> {
    let mut read: ExtractAnswer = serde_json::from_value(answer)
        .map_err(|_| UnusableAnswer("is not in the demanded form"))?;
    let some = |text: String| Some(text).filter(|text| !text.trim().is_empty());
    let mut answer = ModelAnswer {
        summary: some(read.summary),
        slug: read.slug.and_then(some),
        raw_memory: some(read.raw_memory),
        ..ModelAnswer::default()
    };
    let more = read.observations.len().saturating_sub(OBSERVATIONS);
    read.observations.truncate(OBSERVATIONS);
    let more = u32::try_from(more).unwrap_or(u32::MAX);
    answer.dropped.add(DropReason::TooMany, more);
    for observed in read.observations {
        match suggestion(observed) {
            Some(suggestion) => answer.suggestions.push(suggestion),
            None => answer.dropped.increment(DropReason::Unreadable),
        }
    }
    Ok(answer)
}

fn suggestion(observed: Value) -> Option<Suggestion> {
    let mut observed: RawObservation = serde_json::from_value(observed).ok()?;
    let filled = |text: &String| !text.trim().is_empty();
    observed.events.truncate(EVENTS);
    Some(Suggestion {
        kind: observed.kind.parse::<ObservationKind>().ok()?,
        text: Some(observed.text).filter(filled)?,
        context: observed.context.filter(filled),
        subject: observed.subject.filter(filled),
        events: observed.events,
        stated: observed.stated,
        general: observed.general,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c53_three_fields_are_required_and_no_other_allowed() {
        let schema = stage_one_schema().schema;
        assert_eq!(
            schema["required"],
            json!(["raw_memory", "rollout_slug", "rollout_summary"])
        );
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(
            schema["properties"]["rollout_slug"]["type"],
            json!(["string", "null"])
        );
    }

    #[test]
    fn c54_a_field_too_many_or_too_few_is_a_failure() {
        let whole = json!({"rollout_summary": "s", "rollout_slug": null, "raw_memory": "m"});
        let read = parse_stage_one(whole.clone()).expect("it is in form");
        assert_eq!(
            (read.summary.as_deref(), read.raw_memory.as_deref()),
            (Some("s"), Some("m"))
        );
        let mut more = whole.clone();
        more["note"] = json!("x");
        assert!(parse_stage_one(more).is_err());
        for field in ["rollout_summary", "rollout_slug", "raw_memory"] {
            let mut less = whole.clone();
            less.as_object_mut().expect("an object").remove(field);
            assert!(parse_stage_one(less).is_err(), "{field}");
        }
        assert!(parse_stage_one(json!("text")).is_err());
    }

    #[test]
    fn c55_without_memory_or_without_summary_there_is_nothing() {
        for (summary, memory) in [("", "m"), ("s", ""), ("", " \n")] {
            let answer =
                json!({"rollout_summary": summary, "rollout_slug": "x", "raw_memory": memory});
            assert_eq!(parse_stage_one(answer), Ok(ModelAnswer::default()));
        }
    }

    #[test]
    fn an_observation_that_cannot_be_read_costs_no_other() {
        let good = json!({"kind": "value", "text": "50", "context": null, "subject": "cache limit",
                          "events": [3], "stated": true, "general": false});
        let mut wrong_kind = good.clone();
        wrong_kind["kind"] = json!("mood");
        let mut blank = good.clone();
        blank["text"] = json!(" ");
        let answer = json!({"observations": [good, wrong_kind, blank, 7, {"kind": "fact"}],
                            "summary": "s", "slug": null, "raw_memory": ""});
        let read = parse_extract(answer).expect("its frame is sound");
        assert_eq!(read.suggestions.len(), 1);
        assert_eq!(read.suggestions[0].subject.as_deref(), Some("cache limit"));
        assert_eq!(read.dropped.count_of(DropReason::Unreadable), 4);
        assert_eq!(
            (read.summary.as_deref(), read.raw_memory),
            (Some("s"), None)
        );
    }

    #[test]
    fn of_very_many_the_first_are_read() {
        let one = json!({"kind": "fact", "text": "a", "events": [1]});
        let answer =
            json!({"observations": vec![one; 500], "summary": "", "slug": null, "raw_memory": ""});
        let read = parse_extract(answer).expect("its frame is sound");
        assert_eq!(read.suggestions.len(), OBSERVATIONS);
        assert_eq!(read.dropped.count_of(DropReason::TooMany), 300);
    }
}
