//! Decides where a draft comes from: once, when it is filed, by the events that it rests on.
//!
//! A stated draft is a person's own word; its extractor has checked that against what the person typed. Of any other,
//! the most trusted of the events that state it counts.
//!
//! Not here: what follows from an origin (`domain::trust`); which events a draft may cite (`validation`).

use std::collections::HashSet;

use daybook_domain::{Event, ObservationOrigin, Origin, PollutionRule};
use daybook_text::pasted::split;

use super::ObservationDraft;
use super::extractive::text_analysis::significant_words;

/// The origin of `draft`; `events` are all that its extractor saw, ascending.
pub(crate) fn origin_of_draft(
    draft: &ObservationDraft,
    events: &[Event],
    rule: &PollutionRule,
) -> ObservationOrigin {
    if draft.stated {
        return ObservationOrigin::Typed;
    }
    let words = significant_words(&draft.text);
    let cited = draft.events.iter().filter_map(|seq| {
        let at = events.partition_point(|event| event.seq < *seq);
        events.get(at).filter(|event| event.seq == *seq)
    });
    let cited: Vec<&Event> = cited.collect();
    let stating = cited.iter().filter(|event| overlaps(&event.text, &words));
    let origins = |events: Vec<&&Event>| {
        let origins = events.into_iter();
        origins
            .map(|event| origin_of_event(event, &words, rule))
            .collect::<Vec<_>>()
    };
    let stating = origins(stating.collect());
    match stating.into_iter().max() {
        Some(origin) => origin,
        // None of them holds its words, so the least trusted may have brought it.
        None => origins(cited.iter().collect())
            .into_iter()
            .min()
            .unwrap_or_default(),
    }
}

/// Whether a text holds at least a quarter of these words.
fn overlaps(text: &str, words: &HashSet<String>) -> bool {
    let shared = significant_words(text).intersection(words).count();
    words.is_empty() || (shared > 0 && shared * 4 >= words.len())
}

fn origin_of_event(
    event: &Event,
    words: &HashSet<String>,
    rule: &PollutionRule,
) -> ObservationOrigin {
    match event.origin {
        // Inferred from the person's words, but not stated by them.
        Origin::Human if event.sidechain || overlaps(&split(&event.text).0, words) => {
            ObservationOrigin::Concluded
        }
        Origin::Human => ObservationOrigin::Pasted,
        Origin::Assistant | Origin::ToolCall => ObservationOrigin::Concluded,
        Origin::ToolResult => {
            let tool = event.tool.as_deref().unwrap_or_default();
            ObservationOrigin::of_tool(tool, rule)
        }
        Origin::Harness | Origin::Synthetic | Origin::Recalled => ObservationOrigin::Tool,
        Origin::Retraction => ObservationOrigin::Unknown,
    }
}
