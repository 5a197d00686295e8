//! Asks recall a question. The only place that knows the signature of recall.

use daybook_domain::index::Layer;
use daybook_domain::seams::Store;
use daybook_domain::{StoreError, Tenant, Timestamp};
use daybook_engine::recall::confidence::{Likelihood, Signs};
use daybook_engine::recall::search::{Answer, Question, recall};
use serde::Serialize;

use crate::dataset::EventRef;

/// How questions are asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asking {
    /// Results for each question. Recall at more results than these counts those that there are.
    pub limit: usize,
    /// Only these layers; empty for all.
    pub layers: Vec<Layer>,
    /// Whether vectors take part.
    pub vectors: Vectors,
}

/// Whether vectors take part in recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Vectors {
    /// As recall does by default.
    #[default]
    Default,
    /// Words alone.
    Off,
}

/// What a system returned for a question, best first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Retrieved {
    pub(crate) results: Vec<Hit>,
    /// How certain the system is that the first result answers the question.
    pub(crate) confidence: f64,
    /// Whether the system presents its results as a likely answer.
    pub(crate) is_likely: bool,
    /// What the confidence was judged by, where the system says.
    pub(crate) signs: Option<Signs>,
}

/// One result.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    /// The events that it shows.
    pub(crate) events: Vec<EventRef>,
    pub(crate) text: String,
    pub(crate) at: Timestamp,
}

/// Asks Daybook's recall.
pub(crate) async fn ask(
    store: &dyn Store,
    tenant: &Tenant,
    text: &str,
    asking: &Asking,
) -> Result<Retrieved, StoreError> {
    let question = Question {
        text,
        scopes: None,
        layers: asking.layers.clone(),
        tools: false,
        limit: asking.limit,
        rare: false,
        embedder: None,
        now: Timestamp::ZERO,
    };
    let recalled = recall(store, tenant, &question).await?;
    Ok(Retrieved {
        confidence: recalled.confidence.score,
        is_likely: recalled.confidence.label == Likelihood::Likely,
        signs: Some(recalled.confidence.signs),
        results: recalled.answers.into_iter().map(hit).collect(),
    })
}

fn hit(answer: Answer) -> Hit {
    let session = answer.session;
    let event = |seq| {
        let session = session.clone()?;
        Some(EventRef { session, seq })
    };
    let text = match answer.context {
        Some(context) => format!("{context}\n{}", answer.text),
        None => answer.text,
    };
    Hit {
        events: answer.events.into_iter().filter_map(event).collect(),
        text,
        at: answer.time,
    }
}
