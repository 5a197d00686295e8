//! One answer of recall, as JSON.

use daybook_engine::recall::ScoreParts;
use daybook_engine::recall::search::{RankedAnswer, Replacement};
use serde::Serialize;
use utoipa::ToSchema;

use super::format_time;
use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// One thing that is remembered, with its source.
#[derive(Serialize, ToSchema)]
pub(crate) struct SearchResult {
    /// What is remembered.
    text: String,
    /// Context that makes it understandable.
    context: Option<String>,
    /// How well it answers, from 0 to 1; comparable within one question only.
    #[schema(minimum = 0.0, maximum = 1.0)]
    score: f64,
    /// Whose memory it is from, such as `project/tidepool`.
    #[schema(example = "project/tidepool")]
    scope: Option<String>,
    /// Where it was found: `entry` (a memory file), `observation` or `event` (the original words).
    layer: &'static str,
    /// The origin, for events: `human`, `assistant`, `tool_call`, `tool_result` and so on.
    origin: Option<&'static str>,
    /// Where it was learned from, for observations: `typed` or `pasted` by the person, `concluded` by the agent,
    /// from a `tool`, `external` (the web, an MCP server), or `unknown` (stored before this was recorded).
    #[serde(skip_serializing_if = "Option::is_none")]
    learned_from: Option<&'static str>,
    /// How far it is trusted, which follows from where it was learned: `full`, `medium`, `low` or `untrusted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<&'static str>,
    /// The memory file that contains it, for entries.
    file: Option<String>,
    /// The citation, for `/v1/show`.
    #[schema(example = "7f78:L382,476-480")]
    citation: Option<String>,
    /// The session that it is from, as `agent:session`.
    session: Option<String>,
    /// Sequence numbers of the events that it rests on.
    events: Vec<u64>,
    /// The time of its source, RFC 3339; `null` when unknown.
    #[schema(format = DateTime)]
    time: Option<String>,
    /// What took its place, if it no longer holds. That comes before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<ReplacedBy>,
    /// The parts of the score, when they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    parts: Option<ScoreParts>,
}

/// What took the place of an answer that no longer holds.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ReplacedBy {
    /// The statement that holds.
    text: String,
    /// Its citation, for `/v1/show`.
    citation: Option<String>,
    /// Why: `updated`, `replaced`, `reversed`, `withdrawn` or `closed`.
    reason: &'static str,
    /// Since when, RFC 3339.
    #[schema(format = DateTime)]
    since: Option<String>,
}

impl From<&Replacement> for ReplacedBy {
    fn from(replaced: &Replacement) -> Self {
        Self {
            text: replaced.text.clone(),
            citation: replaced.citation.clone(),
            reason: replaced.reason.as_str(),
            since: rfc3339(replaced.since),
        }
    }
}

/// `replaced on 4 Feb 2026: use spaces [5e7a:L12]`, for people and agents.
pub(crate) fn replaced_line(daybook: &Daybook, replaced: &Replacement) -> String {
    let since = format_time(daybook, replaced.since, "%-d %b %Y");
    let since = since.map_or_else(String::new, |day| format!(" on {day}"));
    let citation = replaced.citation.as_ref();
    let citation = citation.map_or_else(String::new, |citation| format!(" [{citation}]"));
    let (reason, text) = (replaced.reason.as_str(), &replaced.text);
    format!("{reason}{since}: {text}{citation}")
}

impl SearchResult {
    /// Adds the parts of the score.
    pub(crate) fn explain(&mut self, answer: &RankedAnswer) {
        self.parts = Some(answer.parts);
    }
}

impl From<&RankedAnswer> for SearchResult {
    fn from(answer: &RankedAnswer) -> Self {
        Self {
            text: answer.text.clone(),
            context: answer.context.clone(),
            score: answer.score,
            scope: answer.scope.as_ref().map(ToString::to_string),
            layer: answer.layer.as_str(),
            origin: answer.origin.map(|origin| origin.as_str()),
            learned_from: answer.learned_from.map(|origin| origin.as_str()),
            trust: answer.learned_from.map(|origin| origin.trust().as_str()),
            file: answer.file.clone(),
            citation: answer.citation.clone(),
            session: answer.session.as_ref().map(ToString::to_string),
            events: answer.events.iter().map(|seq| seq.0).collect(),
            time: rfc3339(answer.time),
            replaced: answer.replaced.as_ref().map(ReplacedBy::from),
            parts: None,
        }
    }
}
