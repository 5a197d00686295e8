//! Asks recall a question. The only place that knows the signature of recall.

use std::fmt;
use std::sync::Arc;

use daybook_domain::index::Layer;
use daybook_domain::seams::{Embedder, Store};
use daybook_domain::{StoreError, Tenant, Timestamp};
use daybook_engine::recall::confidence::{Likelihood, Signs};
use daybook_engine::recall::embedding::embed_all;
use daybook_engine::recall::search::{Answer, Question, recall};
use serde::{Serialize, Serializer};

use crate::dataset::EventRef;
use crate::error::EvalError;

/// How questions are asked.
#[derive(Debug, Clone, Serialize)]
pub struct Asking {
    /// Results for each question. Recall at more results than these counts those that there are.
    pub limit: usize,
    /// Only these layers; empty for all.
    pub layers: Vec<Layer>,
    /// Whether vectors take part.
    pub vectors: Vectors,
}

/// Whether vectors take part in recall. In JSON it is the model's identity, or `off`.
#[derive(Clone, Default)]
pub enum Vectors {
    /// Words alone.
    #[default]
    Off,
    /// Those of a model.
    Of(Arc<dyn Embedder>),
}

impl Vectors {
    fn name(&self) -> &str {
        match self {
            Self::Off => "off",
            Self::Of(model) => model.id(),
        }
    }

    pub(crate) fn embedder(&self) -> Option<&dyn Embedder> {
        match self {
            Self::Off => None,
            Self::Of(model) => Some(&**model),
        }
    }
}

impl fmt::Debug for Vectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Vectors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Gives everything its vectors, where any take part.
pub(crate) async fn prepare(
    store: &dyn Store,
    tenant: &Tenant,
    asking: &Asking,
) -> Result<(), EvalError> {
    if let Some(model) = asking.vectors.embedder() {
        embed_all(store, tenant, model, |_| ()).await?;
    }
    Ok(())
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
        embedder: asking.vectors.embedder(),
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
