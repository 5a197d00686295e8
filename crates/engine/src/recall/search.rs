//! Answers with their sources.
//!
//! The store fetches bounded candidates: what the question's words lead to, rarest first, and what lies nearest
//! to its vector. The engine ranks them, so answers do not depend on the database. The nearest answers
//! always come; whether the question was discussed at all is a label beside them.
//!
//! Not here: the index's upkeep, and how answers are shown.

use std::collections::{HashMap, HashSet};

use daybook_domain::index::{Document, DocumentNo, Filter, Found, Layer};
use daybook_domain::seams::{Embedder, Store};
use daybook_domain::{
    Citation, EventSeq, Origin, Scope, SessionId, StoreError, Tenant, Timestamp, vector,
};

use tracing::field::Empty;
use tracing::{Span, debug_span};

use super::confidence::{Confidence, Likelihood, Signs};
use super::dates::Dates;
use super::found::has_phrases;
use super::lexical::{Akin, Asked};
use super::plan::{plan, plan_rare};
use super::query::Query;
use super::rank::{Asking, Candidate, Parts, REACH, score, speakers};
use super::relevance::{RELEVANT_SHARE, Weights};
use super::told::{Told, digested_first};
use crate::stage::within;

/// Most answers to one question.
pub const ANSWERS: usize = 100;
/// Documents whose vectors lie nearest to the question's that are looked at.
const NEAREST: usize = 200;
/// The best candidates of those that were said, around which others are looked at.
const SURROUNDED: usize = 64;
/// Things asked for that tell anything about whether they were discussed: more only make a question longer.
const CONCEPTS: usize = 8;
/// Scores are multiples of this. What differs by less is equally good, and the newer comes first.
const SCORE_STEP: f64 = 0.0001;

/// A question.
#[derive(Clone)]
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
    /// What turns the question into a vector; `None` to go by words alone.
    pub embedder: Option<&'a dyn Embedder>,
    /// When it is asked, for `yesterday` and the like; [`Timestamp::ZERO`] leaves those out.
    pub now: Timestamp,
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
    /// What the score is made of.
    pub parts: Parts,
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

/// What was found for a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recalled {
    /// How sure it is that the question was discussed at all.
    pub confidence: Confidence,
    /// The nearest answers, best first, however sure it is.
    pub answers: Vec<Answer>,
}

impl Recalled {
    /// The same, or nothing where the question was hardly discussed.
    #[must_use]
    pub fn strict(mut self) -> Self {
        if self.confidence.label < Likelihood::Likely {
            self.answers.clear();
        }
        self
    }
}

/// The answers to a question, best first.
///
/// # Errors
/// When the store fails.
pub async fn recall(
    store: &dyn Store,
    tenant: &Tenant,
    question: &Question<'_>,
) -> Result<Recalled, StoreError> {
    let span = debug_span!(
        "recall",
        candidates = Empty,
        answers = Empty,
        confidence = Empty,
        outcome = Empty
    );
    let searched = within(span, search(store, tenant, question), note).await?;
    Ok(searched.recalled)
}

/// What a search came to.
#[derive(Default)]
struct Searched {
    /// Documents that were ranked.
    candidates: usize,
    recalled: Recalled,
}

fn note(span: &Span, searched: &Searched) {
    let Recalled {
        confidence,
        answers,
    } = &searched.recalled;
    span.record("candidates", searched.candidates);
    span.record("answers", answers.len());
    span.record("confidence", confidence.label.word());
    let outcome = if answers.is_empty() {
        "nothing"
    } else {
        "found"
    };
    span.record("outcome", outcome);
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
    let terms = query.terms().iter().cloned();
    let frequencies: HashMap<String, u64> = terms.zip(stats.frequencies).collect();
    let plan = if question.rare { plan_rare } else { plan };
    let steps = plan(&query, &frequencies);
    let weights = Weights::of(&query, stats.documents, &frequencies);
    let vector = embedded(question).await;
    let dates = Dates::of(question.text, question.now);
    let asked = Asked::new(&query, &weights);
    let asking = Asking {
        asked: match question.embedder {
            Some(embedder) => asked.with_akin(Akin::of(&query, embedder)),
            None => asked,
        },
        vector: &vector,
        dates: &dates,
    };
    let scouts = Scouts {
        store,
        tenant,
        filter: filter(question),
        model: question
            .embedder
            .filter(|_| !vector.is_empty())
            .map(Embedder::id),
        asking: &asking,
    };
    let mut candidates = scouts.candidates(&steps).await?;
    if question.rare {
        let is_relevant =
            |c: &Candidate| asking.asked.share(&c.read.whole, |_| false) >= RELEVANT_SHARE;
        candidates.retain(is_relevant);
    } else {
        scouts.look_around(&mut candidates).await?;
    }
    let confidence = confidence(&asking, &candidates);
    let mut ranked: Vec<&Candidate> = candidates.iter().filter(|c| c.is_ranked).collect();
    ranked.sort_by(|a, b| {
        let newest = || b.outline.doc.age().cmp(&a.outline.doc.age());
        stepped(b).total_cmp(&stepped(a)).then_with(newest)
    });
    let answers = scouts.answers(&ranked, question).await?;
    Ok(Searched {
        candidates: ranked.len(),
        recalled: Recalled {
            confidence,
            answers,
        },
    })
}

fn stepped(candidate: &Candidate) -> f64 {
    (candidate.parts.total() / SCORE_STEP).floor() * SCORE_STEP
}

/// What a search may see. What tools answered is mostly noise, what they were asked seldom is: plans are
/// among it.
fn filter(question: &Question<'_>) -> Filter {
    let origins = match question.tools {
        true => Vec::new(),
        false => vec![Origin::Human, Origin::Assistant, Origin::ToolCall],
    };
    Filter {
        scopes: question.scopes.clone(),
        layers: question.layers.clone(),
        origins,
    }
}

/// The codes of the question's vector; empty where there is none. Only words are left then.
async fn embedded(question: &Question<'_>) -> Vec<i8> {
    let Some(embedder) = question.embedder else {
        return Vec::new();
    };
    match embedder.embed(&[question.text]).await {
        Ok(vectors) => vectors
            .first()
            .map(|v| vector::quantise(v))
            .unwrap_or_default(),
        Err(error) => {
            tracing::warn!(model = embedder.id(), %error, outcome = "without_vectors");
            Vec::new()
        }
    }
}

/// How sure it is that the question was discussed, from what was found.
fn confidence(asking: &Asking<'_>, candidates: &[Candidate]) -> Confidence {
    let asked = &asking.asked;
    let names = speakers(candidates);
    let is_name = |concept: &_| names.iter().any(|name| asked.is_term(concept, *name));
    let ranked = || candidates.iter().filter(|candidate| candidate.is_ranked);
    let most = |scores: &mut dyn Iterator<Item = f64>| scores.fold(0.0, f64::max);
    Confidence::of(Signs {
        share: most(&mut ranked().map(|c| asked.share(&c.place, is_name))),
        score: most(&mut ranked().map(|c| c.parts.total() / c.parts.layer)),
        angle: (!asking.vector.is_empty()).then(|| most(&mut ranked().map(Candidate::angle))),
        concepts: asked.query().concepts().len().min(CONCEPTS),
    })
}

/// Where answers are looked for.
struct Scouts<'a> {
    store: &'a dyn Store,
    tenant: &'a Tenant,
    filter: Filter,
    /// The model of the question's vector.
    model: Option<&'a str>,
    asking: &'a Asking<'a>,
}

impl Scouts<'_> {
    /// What the question's words lead to, and what its vector lies nearest to.
    async fn candidates(
        &self,
        steps: &[daybook_domain::index::Step],
    ) -> Result<Vec<Candidate>, StoreError> {
        let mut docs = self.store.matches(self.tenant, steps, &self.filter).await?;
        if let Some(model) = self.model {
            let signs = vector::signs(self.asking.vector);
            let near = (model, signs.as_slice());
            docs.extend(
                self.store
                    .nearest(self.tenant, near, &self.filter, NEAREST)
                    .await?,
            );
        }
        docs.sort_unstable();
        docs.dedup();
        self.read(&docs).await
    }

    async fn read(&self, docs: &[DocumentNo]) -> Result<Vec<Candidate>, StoreError> {
        let outlines = self.store.outlines(self.tenant, docs, self.model).await?;
        let read = outlines
            .into_iter()
            .map(|outline| Candidate::new(self.asking, outline));
        Ok(read.collect())
    }

    /// Adds what was said around the best, and scores all.
    async fn look_around(&self, candidates: &mut Vec<Candidate>) -> Result<(), StoreError> {
        let mut best: Vec<&Candidate> = candidates
            .iter()
            .filter(|c| c.outline.doc.is_said())
            .collect();
        best.sort_by(|a, b| {
            b.alone()
                .total_cmp(&a.alone())
                .then(b.outline.doc.cmp(&a.outline.doc))
        });
        best.truncate(SURROUNDED);
        let best: HashSet<DocumentNo> = best.into_iter().map(|c| c.outline.doc).collect();
        let mut asked: Vec<DocumentNo> = best.iter().copied().collect();
        asked.sort_unstable();
        let around = self
            .store
            .surroundings(self.tenant, &asked, 2 * REACH)
            .await?;
        let known: HashSet<DocumentNo> = candidates.iter().map(|c| c.outline.doc).collect();
        let new: Vec<DocumentNo> = around
            .iter()
            .copied()
            .filter(|doc| !known.contains(doc))
            .collect();
        let placed = placed(&around, &best);
        let mut read = self.read(&new).await?;
        for candidate in &mut read {
            candidate.is_ranked = placed.contains(&candidate.outline.doc)
                && (self.filter.layers.is_empty() || self.filter.layers.contains(&Layer::Event));
        }
        candidates.extend(read);
        candidates.sort_unstable_by_key(|candidate| candidate.outline.doc);
        score(self.asking, candidates, |doc| placed.contains(&doc));
        Ok(())
    }

    /// The best of what was ranked, told once each. `ranked` are the best first.
    async fn answers(
        &self,
        ranked: &[&Candidate],
        question: &Question<'_>,
    ) -> Result<Vec<Answer>, StoreError> {
        let limit = question.limit.min(ANSWERS);
        let mut answers = Vec::new();
        let mut told = Told::default();
        for group in groups(ranked, limit + limit / 2 + 8) {
            if answers.len() >= limit {
                break;
            }
            let mut found = Vec::with_capacity(group.len());
            for (document, candidate) in self.load(group).await? {
                let answer = answer(self.store, self.tenant, &document, candidate).await?;
                found.push((document, answer));
            }
            digested_first(&mut found);
            let new = found
                .into_iter()
                .filter(|(d, answer)| told.is_new(d, answer));
            answers.extend(new.map(|(_, answer)| answer));
        }
        answers.truncate(limit);
        Ok(answers)
    }

    /// Documents of candidates that may be seen and have what was asked for word by word, in their order.
    async fn load<'c>(
        &self,
        group: &[&'c Candidate],
    ) -> Result<Vec<(Document, &'c Candidate)>, StoreError> {
        let mut loaded = self.documents(group).await?;
        loaded.retain(|(document, _)| {
            self.may_see(document) && has_phrases(self.asking.asked.query(), document)
        });
        loaded.sort_by(|(first, a), (second, b)| {
            let newest = || second.at.cmp(&first.at);
            let by_name = || identity(first).cmp(&identity(second));
            stepped(b)
                .total_cmp(&stepped(a))
                .then_with(newest)
                .then_with(by_name)
        });
        Ok(loaded)
    }

    /// The documents of candidates, with their candidates.
    async fn documents<'c>(
        &self,
        group: &[&'c Candidate],
    ) -> Result<Vec<(Document, &'c Candidate)>, StoreError> {
        let docs: Vec<DocumentNo> = group.iter().map(|c| c.outline.doc).collect();
        let documents = self.store.documents(self.tenant, &docs).await?;
        if documents.len() == group.len() {
            return Ok(documents.into_iter().zip(group.iter().copied()).collect());
        }
        // Some are gone, and what is left does not say by its number which it is.
        let mut loaded = Vec::with_capacity(group.len());
        for (doc, candidate) in docs.chunks(1).zip(group) {
            let document = self.store.documents(self.tenant, doc).await?;
            loaded.extend(document.into_iter().map(|document| (document, *candidate)));
        }
        Ok(loaded)
    }

    fn may_see(&self, document: &Document) -> bool {
        self.filter.scopes.as_ref().is_none_or(|scopes| {
            document
                .scope
                .as_ref()
                .is_some_and(|scope| scopes.contains(scope))
        })
    }
}

/// Those whose neighbours as far as [`REACH`] are all in `around`, which has those as far as twice that of the
/// `best`.
fn placed(around: &[DocumentNo], best: &HashSet<DocumentNo>) -> HashSet<DocumentNo> {
    let mut placed = HashSet::new();
    for (at, doc) in around.iter().enumerate() {
        if best.contains(doc) {
            let from = at.saturating_sub(REACH);
            let to = (at + REACH + 1).min(around.len());
            let own = around[from..to]
                .iter()
                .filter(|beside| beside.session() == doc.session());
            placed.extend(own.copied());
        }
    }
    placed
}

/// Candidates in groups of about a size, which end where scores differ: what is equal is put in order together.
fn groups<'a, 'c>(
    ranked: &'a [&'c Candidate],
    size: usize,
) -> impl Iterator<Item = &'a [&'c Candidate]> {
    let mut rest = ranked;
    std::iter::from_fn(move || {
        let last = rest.len().checked_sub(1)?.min(size);
        let equal = |c: &&&Candidate| stepped(c) == stepped(rest[last]);
        let end = last + rest[last..].iter().take_while(equal).count();
        let (group, left) = rest.split_at(end);
        rest = left;
        Some(group)
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
    candidate: &Candidate,
) -> Result<Answer, StoreError> {
    let total = stepped(candidate);
    let mut answer = Answer {
        text: document.text.clone(),
        context: document.context.clone(),
        score: total / (1.0 + total),
        parts: candidate.parts,
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

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
