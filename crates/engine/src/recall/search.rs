//! Answers with their sources.
//!
//! The store fetches bounded candidates, rarest words first; the engine ranks them. So answers do
//! not depend on the database. A question about what was never discussed has no answers.
//!
//! Not here: the index's upkeep, and how answers are shown.

use std::collections::{BTreeSet, HashMap};

use daybook_domain::index::{Document, Filter, Found, Layer};
use daybook_domain::seams::Store;
use daybook_domain::{
    Citation, EventSeq, ObservationId, Origin, Scope, SessionId, StoreError, Tenant, Timestamp,
};

use tracing::field::Empty;
use tracing::{Span, debug_span};

use super::plan::{plan, plan_rare};
use super::query::Query;
use super::rank::{Candidate, LayerWeight, rank};
use super::relevance::Corpus;
use crate::stage::within;

/// Most answers to one question.
pub const ANSWERS: usize = 100;
/// Length of an average document in tokens, for ranking. A constant, so that the same text scores
/// the same in every store and at every size.
const AVERAGE_LENGTH: f64 = 40.0;

/// A question.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The words.
    pub text: &'a str,
    /// Only these scopes; `None` for all.
    pub scopes: Option<Vec<Scope>>,
    /// Only these layers; empty for all.
    pub layers: Vec<Layer>,
    /// What tools were told and answered counts too, not only what was said.
    pub tools: bool,
    /// Most answers, at most [`ANSWERS`].
    pub limit: usize,
    /// Only what rare words lead to: for whoever asks about many words, and does without what is merely alike.
    pub rare: bool,
}

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What is remembered.
    pub text: String,
    /// What makes it understandable.
    pub context: Option<String>,
    /// From 0 to 1; comparable within one question only.
    pub score: f64,
    /// Whose memory it is from.
    pub scope: Option<Scope>,
    /// Which layer it was found in.
    pub layer: Layer,
    /// Who said it, for events.
    pub origin: Option<Origin>,
    /// The file that it stands in, for entries.
    pub file: Option<String>,
    /// What to hand to `show`.
    pub citation: Option<String>,
    /// The session that it is from.
    pub session: Option<SessionId>,
    /// The events that it rests on.
    pub events: Vec<EventSeq>,
    /// When it was said; unknown is [`Timestamp::ZERO`].
    pub time: Timestamp,
}

/// The answers to a question, best first.
///
/// # Errors
/// When the store fails.
pub async fn recall(
    store: &dyn Store,
    tenant: &Tenant,
    question: &Question<'_>,
) -> Result<Vec<Answer>, StoreError> {
    let span = debug_span!(
        "recall",
        candidates = Empty,
        answers = Empty,
        outcome = Empty
    );
    let searched = within(span, search(store, tenant, question), note).await?;
    Ok(searched.answers)
}

/// What a search came to.
#[derive(Default)]
struct Searched {
    /// Documents that were ranked.
    candidates: usize,
    answers: Vec<Answer>,
}

fn note(span: &Span, searched: &Searched) {
    let known = !searched.answers.is_empty();
    span.record("candidates", searched.candidates);
    span.record("answers", searched.answers.len());
    span.record("outcome", if known { "found" } else { "nothing" });
}

async fn search(
    store: &dyn Store,
    tenant: &Tenant,
    question: &Question<'_>,
) -> Result<Searched, StoreError> {
    let query = Query::parse(question.text);
    if query.is_empty() {
        return Ok(Searched::default());
    }
    let stats = store.term_stats(tenant, query.terms()).await?;
    let frequencies: HashMap<String, u64> = query
        .terms()
        .iter()
        .cloned()
        .zip(stats.frequencies)
        .collect();
    let plan = if question.rare { plan_rare } else { plan };
    let steps = plan(&query, &frequencies, stats.documents);
    let origins = if question.tools {
        Vec::new()
    } else {
        vec![Origin::Human, Origin::Assistant]
    };
    let filter = Filter {
        scopes: question.scopes.clone(),
        layers: question.layers.clone(),
        origins,
    };
    let docs = store.matches(tenant, &steps, &filter).await?;
    let documents = store.documents(tenant, &docs).await?;
    let corpus = Corpus {
        total: stats.documents,
        average_length: AVERAGE_LENGTH,
        document_frequency: &frequencies,
    };
    let ids: Vec<String> = documents.iter().map(identity).collect();
    let candidates: Vec<Candidate<'_>> = documents
        .iter()
        .zip(&ids)
        .map(|(document, id)| candidate(document, id))
        .collect();
    let ranked = rank(&query, &corpus, &candidates);
    let mut answers = Vec::new();
    let mut told = Told::default();
    for found in ranked {
        let document = &documents[found.candidate];
        if answers.len() == question.limit.min(ANSWERS) {
            break;
        }
        let answer = answer(store, tenant, document, found.score).await?;
        if told.is_new(document, &answer) {
            answers.push(answer);
        }
    }
    Ok(Searched {
        candidates: candidates.len(),
        answers,
    })
}

fn candidate<'a>(document: &'a Document, id: &'a str) -> Candidate<'a> {
    Candidate {
        id,
        text: &document.text,
        context: document.context.as_deref(),
        title: None,
        layer: preference(&document.what),
        time: document.at.0,
    }
}

/// How much a layer is preferred: what was digested before what was merely said, and a person's
/// words before an agent's.
fn preference(found: &Found) -> LayerWeight {
    LayerWeight::percent(match found {
        Found::Entry { .. } => 100,
        Found::Observation { .. } => 97,
        Found::Event { origin } => match origin {
            Origin::Human => 90,
            Origin::Assistant => 80,
            Origin::ToolCall | Origin::ToolResult => 60,
            Origin::Harness | Origin::Synthetic | Origin::Recalled | Origin::Retraction => 30,
        },
    })
}

/// A name that orders equals the same way in every store.
fn identity(document: &Document) -> String {
    let place = match &document.what {
        Found::Entry { file, line, .. } => format!("1/{file}/{line:08}"),
        Found::Observation { id, .. } => format!("2/{id}"),
        Found::Event { .. } => {
            let seq = document.events.first().copied().unwrap_or_default();
            format!("3/{:012}", seq.0)
        }
    };
    let session = document
        .session
        .as_ref()
        .map(|(id, _)| id.to_string())
        .unwrap_or_default();
    let scope = document
        .scope
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    format!("{place}/{session}/{scope}")
}

async fn answer(
    store: &dyn Store,
    tenant: &Tenant,
    document: &Document,
    score: f64,
) -> Result<Answer, StoreError> {
    let mut answer = Answer {
        text: document.text.clone(),
        context: document.context.clone(),
        score,
        scope: document.scope.clone(),
        layer: Layer::Event,
        origin: None,
        file: None,
        citation: cited(document),
        session: document.session.as_ref().map(|(id, _)| id.clone()),
        events: document.events.clone(),
        time: document.at,
    };
    match &document.what {
        Found::Event { origin } => answer.origin = Some(*origin),
        Found::Observation { .. } => answer.layer = Layer::Observation,
        Found::Entry { file, citation, .. } => {
            answer.layer = Layer::Entry;
            answer.file = Some(file.clone());
            answer.citation.clone_from(citation);
            if let Some(cited) = citation.as_deref().and_then(Citation::parse) {
                resolve(store, tenant, &cited, &mut answer).await?;
            }
        }
    }
    Ok(answer)
}

fn cited(document: &Document) -> Option<String> {
    let (_, label) = document.session.as_ref()?;
    let mut lines: Vec<(u32, u32)> = Vec::new();
    for line in &document.lines {
        match lines.last_mut() {
            Some((_, to)) if *to == *line || *to + 1 == *line => *to = *line,
            _ => lines.push((*line, *line)),
        }
    }
    Some(
        Citation {
            session: label.clone(),
            lines,
        }
        .to_string(),
    )
}

/// What an entry's citation points at: its session, events and time.
async fn resolve(
    store: &dyn Store,
    tenant: &Tenant,
    cited: &Citation,
    answer: &mut Answer,
) -> Result<(), StoreError> {
    let found = store.find_sessions(tenant, &cited.session).await?;
    let [session] = found.as_slice() else {
        return Ok(());
    };
    answer.session = Some(session.id.clone());
    answer.time = session.last_at;
    for (n, lines) in cited.lines.iter().take(EVENTS_SHOWN).enumerate() {
        let events = store.events_at(&session.id, *lines, EVENTS_SHOWN).await?;
        if let (0, Some(first)) = (n, events.first()) {
            answer.time = first.at;
        }
        answer.events.extend(events.iter().map(|event| event.seq));
    }
    answer.events.dedup();
    Ok(())
}

/// Most stretches, and events of a stretch, that an entry's answer names.
const EVENTS_SHOWN: usize = 50;

/// What the answers so far have told: the same thing is not told again by a lesser layer.
#[derive(Default)]
struct Told {
    observations: BTreeSet<ObservationId>,
    events: BTreeSet<(SessionId, EventSeq)>,
    texts: BTreeSet<String>,
}

impl Told {
    fn is_new(&mut self, document: &Document, answer: &Answer) -> bool {
        let observation = match &document.what {
            Found::Entry { observation, .. } => *observation,
            Found::Observation { id, .. } => Some(*id),
            Found::Event { .. } => None,
        };
        let known = observation.is_some_and(|id| !self.observations.insert(id));
        let same_text = !self.texts.insert(answer.text.to_lowercase());
        let events: Vec<(SessionId, EventSeq)> = answer
            .session
            .iter()
            .flat_map(|session| answer.events.iter().map(|seq| (session.clone(), *seq)))
            .collect();
        let told_already = answer.layer != Layer::Entry
            && !events.is_empty()
            && events.iter().all(|event| self.events.contains(event));
        self.events.extend(events);
        !known && !same_text && !told_already
    }
}
