//! Asks recall a question. No other module of this crate calls recall.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use daybook_domain::index::MemoryLayer;
use daybook_domain::seams::{Embedder, Store};
use daybook_domain::{Scope, ScopeKind, SessionId, StoreError, Tenant, Timestamp};
use daybook_engine::jobs::WorkerContext;
use daybook_engine::recall::confidence::{ConfidenceSignals, Likelihood};
use daybook_engine::recall::embedding::embed_all;
use daybook_engine::recall::from_files::{PersonsFiles, use_files};
use daybook_engine::recall::search::excerpt::from_best_passage;
use daybook_engine::recall::search::{RankedAnswer, RecallQuestion, recall};
use jiff::tz::TimeZone;
use serde::{Serialize, Serializer};

use crate::dataset::EventRef;
use crate::error::EvalError;

/// Bytes of a result that are shown in a terminal.
const EXCERPT: usize = 320;

/// Options of every question.
#[derive(Debug, Clone, Serialize)]
pub struct RecallOptions {
    /// Most results of each question. Recall at a higher rank counts only these.
    pub limit: usize,
    /// Only these layers; empty for all.
    pub layers: Vec<MemoryLayer>,
    /// Whether recall uses vectors.
    pub vectors: VectorOption,
    /// The memory files that answer, too; `None` for what the store finds alone.
    #[serde(skip)]
    pub files: Option<MemoryFiles>,
}

/// The memory files of the person who asks.
#[derive(Debug, Clone)]
pub struct MemoryFiles {
    /// The data folder that they are in.
    pub root: PathBuf,
    /// The person.
    pub person: Scope,
    /// Where days begin for them.
    pub zone: TimeZone,
}

impl MemoryFiles {
    /// The memory files that a worker writes.
    #[must_use]
    pub fn of(worker: &WorkerContext) -> Self {
        Self {
            root: worker.root.clone(),
            person: Scope {
                tenant: worker.tenant.clone(),
                kind: ScopeKind::User,
                name: worker.person.clone(),
            },
            zone: worker.zone.clone(),
        }
    }
}

/// Whether recall uses vectors. Serialized as the model's identity, or `off`.
#[derive(Clone, Default)]
pub enum VectorOption {
    /// Recall by words alone.
    #[default]
    Off,
    /// Recall with vectors of this model.
    Of(Arc<dyn Embedder>),
}

impl VectorOption {
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

impl fmt::Debug for VectorOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for VectorOption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Embeds all documents, if recall uses vectors.
pub(crate) async fn prepare(
    store: &dyn Store,
    tenant: &Tenant,
    options: &RecallOptions,
) -> Result<(), EvalError> {
    if let Some(model) = options.vectors.embedder() {
        embed_all(store, tenant, model, |_| ()).await?;
    }
    Ok(())
}

/// A system's results for a question, best first.
#[derive(Debug, Clone, Default)]
pub(crate) struct RetrievalResult {
    pub(crate) results: Vec<RetrievedText>,
    /// The system's confidence in its first result.
    pub(crate) confidence: f64,
    /// Whether the system presents its results as a likely answer.
    pub(crate) is_likely: bool,
    /// The signals of the confidence, where the system has them.
    pub(crate) signals: Option<ConfidenceSignals>,
}

/// One result.
#[derive(Debug, Clone)]
pub(crate) struct RetrievedText {
    /// The events that it covers.
    pub(crate) events: Vec<EventRef>,
    /// The session that it is about as a whole; `None` where it names events.
    pub(crate) session: Option<SessionId>,
    pub(crate) text: String,
    /// What of it is shown in a terminal.
    pub(crate) excerpt: String,
    pub(crate) at: Timestamp,
}

/// Asks Daybook's recall at `now`.
pub(crate) async fn ask(
    store: &dyn Store,
    tenant: &Tenant,
    (text, now): (&str, Timestamp),
    options: &RecallOptions,
) -> Result<RetrievalResult, StoreError> {
    let question = RecallQuestion {
        text,
        reach: daybook_domain::Reach::Everything,
        layers: options.layers.clone(),
        tools: false,
        limit: options.limit,
        rare: false,
        embedder: options.vectors.embedder(),
        until: None,
        now,
    };
    let mut recalled = recall(store, tenant, &question).await?;
    if let Some(MemoryFiles { root, person, zone }) = &options.files {
        let files = PersonsFiles { root, person, zone };
        use_files(store, files, &question, &mut recalled).await?;
    }
    Ok(RetrievalResult {
        confidence: recalled.confidence.score,
        is_likely: recalled.confidence.label == Likelihood::Likely,
        signals: Some(recalled.confidence.signals),
        results: recalled.answers.into_iter().map(hit).collect(),
    })
}

/// What is shown of a text that begins so.
pub(crate) fn start_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(EXCERPT)]
}

fn hit(answer: RankedAnswer) -> RetrievedText {
    let excerpt = start_of(&from_best_passage(&answer, EXCERPT)).to_owned();
    let session = answer.session;
    let event = |seq| {
        let session = session.clone()?;
        Some(EventRef { session, seq })
    };
    let text = match answer.context {
        Some(context) => format!("{context}\n{}", answer.text),
        None => answer.text,
    };
    let events: Vec<EventRef> = answer.events.into_iter().filter_map(event).collect();
    RetrievedText {
        session: session.clone().filter(|_| events.is_empty()),
        events,
        text,
        excerpt,
        at: answer.time,
    }
}
