//! One answer of recall, as programs are shown it.

use daybook_engine::recall::rank::Parts;
use daybook_engine::recall::search::Answer;
use serde::Serialize;
use utoipa::ToSchema;

use crate::output::rfc3339;

/// One thing that is remembered, with its source.
#[derive(Serialize, ToSchema)]
pub(crate) struct Found {
    /// What is remembered.
    text: String,
    /// What makes it understandable.
    context: Option<String>,
    /// How well it answers, from 0 to 1; comparable within one question only.
    #[schema(minimum = 0.0, maximum = 1.0)]
    score: f64,
    /// Whose memory it is from, such as `project/tidepool`.
    #[schema(example = "project/tidepool")]
    scope: Option<String>,
    /// Where it was found: `entry` (a memory file), `observation` or `event` (the original words).
    layer: &'static str,
    /// Who said it, for events.
    origin: Option<&'static str>,
    /// The memory file that it stands in, for entries.
    file: Option<String>,
    /// What to hand to `/v1/words`.
    #[schema(example = "7f78:L382,476-480")]
    citation: Option<String>,
    /// The session that it is from, as `agent:session`.
    session: Option<String>,
    /// Sequence numbers of the events that it rests on.
    events: Vec<u64>,
    /// When it was said, RFC 3339; `null` when unknown.
    #[schema(format = DateTime)]
    time: Option<String>,
    /// What the score is made of, when it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    parts: Option<Parts>,
}

impl Found {
    /// Shows what the score is made of.
    pub(crate) fn explain(&mut self, answer: &Answer) {
        self.parts = Some(answer.parts);
    }
}

impl From<&Answer> for Found {
    fn from(answer: &Answer) -> Self {
        Self {
            text: answer.text.clone(),
            context: answer.context.clone(),
            score: answer.score,
            scope: answer.scope.as_ref().map(ToString::to_string),
            layer: answer.layer.word(),
            origin: answer.origin.map(|origin| origin.word()),
            file: answer.file.clone(),
            citation: answer.citation.clone(),
            session: answer.session.as_ref().map(ToString::to_string),
            events: answer.events.iter().map(|seq| seq.0).collect(),
            time: rfc3339(answer.time),
            parts: None,
        }
    }
}
