//! Reading answers in a demanded form: Codex's three strings (seed 002; spec two-phase 2.4), and ours,
//! which adds observations.
//!
//! The seed's form is read strictly: a field too many or too few is a failure, never an answer without
//! content. Of ours the frame is read as strictly, and of the observations those that can be read.

use daybook_domain::ObservationKind;
use daybook_domain::model::AnswerSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, Suggestion, Unusable};
use crate::extract::DropReason;

/// Most observations of an answer that are looked at.
const OBSERVATIONS: usize = 200;
/// Most events that one observation cites.
const EVENTS: usize = 40;

/// The seed's form, by its own names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StageOne {
    rollout_summary: String,
    #[serde(deserialize_with = "Option::deserialize")]
    rollout_slug: Option<String>,
    raw_memory: String,
}

/// Our form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Extract {
    observations: Vec<Value>,
    summary: String,
    #[serde(deserialize_with = "Option::deserialize")]
    slug: Option<String>,
    raw_memory: String,
}

/// One observation of ours.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Observed {
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

/// The seed's form: exactly its three fields.
pub(super) fn stage_one_schema() -> AnswerSchema {
    let slug = json!({"type": ["string", "null"]});
    let text = json!({"type": "string"});
    AnswerSchema {
        name: "stage_one".to_owned(),
        schema: object(json!({"rollout_summary": text, "rollout_slug": slug, "raw_memory": text})),
    }
}

/// Our form.
pub(super) fn extract_schema() -> AnswerSchema {
    let text = json!({"type": "string"});
    let maybe = json!({"type": ["string", "null"]});
    let yes = json!({"type": "boolean"});
    let kinds = ObservationKind::ALL.map(ObservationKind::word);
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

/// An object of these properties, all required and none besides.
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

/// Reads the seed's form. No raw memory, or no summary, is nothing worth keeping.
pub(super) fn read_stage_one(answer: Value) -> Result<Answer, Unusable> {
    let read: StageOne =
        serde_json::from_value(answer).map_err(|_| Unusable("is not in the demanded form"))?;
    if read.raw_memory.trim().is_empty() || read.rollout_summary.trim().is_empty() {
        return Ok(Answer::default());
    }
    Ok(Answer {
        summary: Some(read.rollout_summary),
        slug: read.rollout_slug,
        raw_memory: Some(read.raw_memory),
        ..Answer::default()
    })
}

/// Reads our form.
pub(super) fn read_extract(answer: Value) -> Result<Answer, Unusable> {
    let mut read: Extract =
        serde_json::from_value(answer).map_err(|_| Unusable("is not in the demanded form"))?;
    let some = |text: String| Some(text).filter(|text| !text.trim().is_empty());
    let mut answer = Answer {
        summary: some(read.summary),
        slug: read.slug.and_then(some),
        raw_memory: some(read.raw_memory),
        ..Answer::default()
    };
    let more = read.observations.len().saturating_sub(OBSERVATIONS);
    read.observations.truncate(OBSERVATIONS);
    let more = u32::try_from(more).unwrap_or(u32::MAX);
    answer.dropped.add(DropReason::TooMany, more);
    for observed in read.observations {
        match suggestion(observed) {
            Some(suggestion) => answer.suggestions.push(suggestion),
            None => answer.dropped.count(DropReason::Unreadable),
        }
    }
    Ok(answer)
}

fn suggestion(observed: Value) -> Option<Suggestion> {
    let mut observed: Observed = serde_json::from_value(observed).ok()?;
    let filled = |text: &String| !text.trim().is_empty();
    observed.events.truncate(EVENTS);
    Some(Suggestion {
        kind: ObservationKind::from_word(&observed.kind)?,
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
    fn codex_53_three_fields_are_required_and_no_other_allowed() {
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
    fn codex_54_a_field_too_many_or_too_few_is_a_failure() {
        let whole = json!({"rollout_summary": "s", "rollout_slug": null, "raw_memory": "m"});
        let read = read_stage_one(whole.clone()).expect("it is in form");
        assert_eq!(
            (read.summary.as_deref(), read.raw_memory.as_deref()),
            (Some("s"), Some("m"))
        );
        let mut more = whole.clone();
        more["note"] = json!("x");
        assert!(read_stage_one(more).is_err());
        for field in ["rollout_summary", "rollout_slug", "raw_memory"] {
            let mut less = whole.clone();
            less.as_object_mut().expect("an object").remove(field);
            assert!(read_stage_one(less).is_err(), "{field}");
        }
        assert!(read_stage_one(json!("text")).is_err());
    }

    #[test]
    fn codex_55_without_memory_or_without_summary_there_is_nothing() {
        for (summary, memory) in [("", "m"), ("s", ""), ("", " \n")] {
            let answer =
                json!({"rollout_summary": summary, "rollout_slug": "x", "raw_memory": memory});
            assert_eq!(read_stage_one(answer), Ok(Answer::default()));
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
        let read = read_extract(answer).expect("its frame is sound");
        assert_eq!(read.suggestions.len(), 1);
        assert_eq!(read.suggestions[0].subject.as_deref(), Some("cache limit"));
        assert_eq!(read.dropped.of(DropReason::Unreadable), 4);
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
        let read = read_extract(answer).expect("its frame is sound");
        assert_eq!(read.suggestions.len(), OBSERVATIONS);
        assert_eq!(read.dropped.of(DropReason::TooMany), 300);
    }
}
