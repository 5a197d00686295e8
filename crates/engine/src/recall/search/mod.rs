//! Searches memory for a question, and returns ranked answers with their sources.
//!
//! The store fetches bounded candidates: texts with the question's words, rarest first, and those nearest to its vector.
//! The engine ranks them, so answers do not depend on the database. The nearest answers are always returned; a label
//! beside them says whether the question was probably discussed at all.
//!
//! Not here: the index's upkeep, and how answers are shown.

pub(super) mod answers;
mod asked_for;
mod asked_forms;
mod candidates;
mod cause_first;
mod deduplicate;
mod echoes;
pub mod excerpt;
mod left_off;
mod newest_first;
mod outdated;
mod question_vector;
mod replies;
mod rule_first;
mod value_first;

use std::collections::HashMap;

use asked_for::place_asked_for_first;
use candidates::CandidateFetcher;
use daybook_domain::index::{MemoryLayer, SearchFilter};
use daybook_domain::seams::{Embedder, RecallStore};
use daybook_domain::vector::Direction;
use daybook_domain::{
    EventSeq, ObservationId, ObservationKind, ObservationOrigin, Origin, Reach, Scope, SessionId,
    StoreError, Tenant, Timestamp,
};
use daybook_ranking::akin::AkinWords;
use daybook_ranking::confidence::{Likelihood, RecallConfidence};
use daybook_ranking::dates::Dates;
use daybook_ranking::lexical::LexicalQuery;
use daybook_ranking::plan::{plan, plan_rare};
use daybook_ranking::query::Query;
use daybook_ranking::question_kind::asks_what_holds;
use daybook_ranking::rank::{RankingQuery, RecallCandidate, ScoreParts};
use daybook_ranking::relevance::{QueryWeights, RELEVANT_SHARE};
use daybook_ranking::selection::{best_first, confidence};
use echoes::place_echoes_last;
pub use outdated::Replacement;
pub(super) use outdated::rests_on;
use question_vector::{QuestionVector, question_vector};

use tracing::field::Empty;
use tracing::{Span, debug_span};

use crate::consolidate::PersonsStatement;
use crate::stage::within;

/// Most answers to one question.
pub const ANSWERS: usize = 100;

/// A question to memory.
#[derive(Clone)]
pub struct RecallQuestion<'a> {
    /// The question's words.
    pub text: &'a str,
    /// What may be answered.
    pub reach: Reach,
    /// Only these layers; empty for all.
    pub layers: Vec<MemoryLayer>,
    /// Whether results of tools and text of the harness are outcome too, besides messages and calls of tools.
    pub tools: bool,
    /// Most answers, at most [`ANSWERS`].
    pub limit: usize,
    /// Search by rare words alone, for questions of many words that need no loosely matching answers.
    pub rare: bool,
    /// Embeds the question; `None` to search by words alone. A timer bounds the wait for an embedder that is not
    /// instant, so the runtime must have tokio's time enabled.
    pub embedder: Option<&'a dyn Embedder>,
    /// Only what was stated by then, as it held then; `None` for the present.
    pub until: Option<Timestamp>,
    /// When the question is asked, to resolve `yesterday` and the like; [`Timestamp::ZERO`] ignores those.
    pub now: Timestamp,
}

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedAnswer {
    /// The remembered text.
    pub text: String,
    /// Where in a long text the passage begins that answers, in bytes.
    pub begins: usize,
    /// Context that makes the text understandable.
    pub context: Option<String>,
    /// From 0 to 1; comparable within one question only.
    pub score: f64,
    /// The parts of the score.
    pub parts: ScoreParts,
    /// The scope of the memory that holds it.
    pub scope: Option<Scope>,
    /// The layer that holds it.
    pub layer: MemoryLayer,
    /// The origin, for events.
    pub origin: Option<Origin>,
    /// What sort of thing it is, for observations.
    pub kind: Option<ObservationKind>,
    /// Where it was learned from, for observations; trust follows from it.
    pub learned_from: Option<ObservationOrigin>,
    /// The observation that it is, for observations.
    pub observation: Option<ObservationId>,
    /// The file that holds it, for entries.
    pub file: Option<String>,
    /// The citation, which `show` takes.
    pub citation: Option<String>,
    /// The session of the events it rests on.
    pub session: Option<SessionId>,
    /// The events that it rests on.
    pub events: Vec<EventSeq>,
    /// The time of its first event; [`Timestamp::ZERO`] if unknown.
    pub time: Timestamp,
    /// What took its place, if it no longer holds. That comes before it.
    pub replaced: Option<Replacement>,
}

impl RankedAnswer {
    /// An answer of which nothing but its text and its layer is known.
    #[must_use]
    pub fn of_text(text: String, layer: MemoryLayer) -> Self {
        Self {
            text,
            begins: 0,
            context: None,
            score: 0.0,
            parts: ScoreParts::default(),
            scope: None,
            layer,
            origin: None,
            kind: None,
            learned_from: None,
            observation: None,
            file: None,
            citation: None,
            session: None,
            events: Vec::new(),
            time: Timestamp::ZERO,
            replaced: None,
        }
    }
}

/// The outcome of one question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallResult {
    /// How confident recall is that the question was discussed at all.
    pub confidence: RecallConfidence,
    /// The nearest answers, best first, whatever the confidence.
    pub answers: Vec<RankedAnswer>,
    /// Why the search used words alone although the question has an embedder.
    pub without_vectors: Option<String>,
    /// Parts of memory that were to be searched and did not answer, each with the reason. The search itself leaves none
    /// out: its caller adds those of other servers.
    pub unanswered: Vec<String>,
}

impl RecallResult {
    /// Drops all answers unless the confidence is `likely`.
    #[must_use]
    pub fn strict(mut self) -> Self {
        if self.confidence.label < Likelihood::Likely {
            self.answers.clear();
        }
        self
    }
}

/// Reads the patterns that nearly every question and its answers are compared with, which takes half as long as the first
/// answer of a process: for a thread that nothing waits for yet.
pub fn prepare() {
    place_asked_for_first(Vec::new(), "", &Dates::of("", Timestamp::ZERO));
    for asks in [
        asks_what_holds,
        cause_first::asks_for_cause,
        left_off::asks_where_left_off,
        newest_first::asks_for_past,
        rule_first::asks_for_rule,
    ] {
        asks("");
    }
    PersonsStatement::parse(".");
}

/// Searches memory for a question. Answers are returned best first.
///
/// # Errors
/// When the store fails.
pub async fn recall(
    store: &dyn RecallStore,
    tenant: &Tenant,
    question: &RecallQuestion<'_>,
) -> Result<RecallResult, StoreError> {
    recall_filtered(store, tenant, question, filter(question)).await
}

/// As [`recall`], without calls of tools: only messages of people and agents, and what was made of them. For prompts,
/// whose hook has little time.
///
/// # Errors
/// When the store fails.
pub async fn recall_conversation(
    store: &dyn RecallStore,
    tenant: &Tenant,
    question: &RecallQuestion<'_>,
) -> Result<RecallResult, StoreError> {
    let filter = SearchFilter {
        origins: vec![Origin::Human, Origin::Assistant],
        ..filter(question)
    };
    recall_filtered(store, tenant, question, filter).await
}

async fn recall_filtered(
    store: &dyn RecallStore,
    tenant: &Tenant,
    question: &RecallQuestion<'_>,
    filter: SearchFilter,
) -> Result<RecallResult, StoreError> {
    let span = debug_span!(
        "recall",
        candidates = Empty,
        answers = Empty,
        confidence = Empty,
        outcome = Empty
    );
    let outcome = within(span, search(store, tenant, question, filter), record_fields).await?;
    Ok(outcome.recalled)
}

/// A search's result, with what the log records of it.
#[derive(Default)]
struct SearchOutcome {
    /// Documents that were ranked.
    candidates: usize,
    recalled: RecallResult,
}

fn record_fields(span: &Span, search: &SearchOutcome) {
    let RecallResult {
        confidence,
        answers,
        without_vectors: _,
        unanswered: _,
    } = &search.recalled;
    span.record("candidates", search.candidates);
    span.record("answers", answers.len());
    span.record("confidence", confidence.label.as_str());
    let outcome = if answers.is_empty() {
        "nothing"
    } else {
        "found"
    };
    span.record("outcome", outcome);
}

async fn search(
    store: &dyn RecallStore,
    tenant: &Tenant,
    question: &RecallQuestion<'_>,
    filter: SearchFilter,
) -> Result<SearchOutcome, StoreError> {
    let query = Query::parse(question.text);
    if query.is_empty() {
        return Ok(SearchOutcome::default());
    }
    let search = Search {
        store,
        tenant,
        question,
        filter,
        vector: question_vector(question).await,
    };
    let exact = search.find(&query).await?;
    if !exact.recalled.answers.is_empty() || query.phrases().is_empty() || question.rare {
        return Ok(exact);
    }
    // No text holds the quotation. The nearest texts may still answer.
    let mut nearest = search.find(&query.without_phrases()).await?;
    let confidence = &mut nearest.recalled.confidence;
    confidence.label = confidence.label.min(Likelihood::Weak);
    Ok(nearest)
}

/// A question with its filter and vector, for searches with and without its phrases.
#[derive(Clone)]
struct Search<'a> {
    store: &'a dyn RecallStore,
    tenant: &'a Tenant,
    question: &'a RecallQuestion<'a>,
    filter: SearchFilter,
    vector: QuestionVector,
}

impl Search<'_> {
    /// What lines of memory files alone answer, the best ones.
    async fn lines_of_files(&self, query: &Query) -> Result<Vec<RankedAnswer>, StoreError> {
        let mut search = Search {
            question: &RecallQuestion {
                limit: left_off::COMPARED_LINES,
                ..self.question.clone()
            },
            ..self.clone()
        };
        search.filter.layers = vec![MemoryLayer::Entry];
        Ok(Box::pin(search.find(query)).await?.recalled.answers)
    }

    /// Whether lines of memory files are to be asked for besides, which those alone are not asked again.
    fn may_add_lines(&self) -> bool {
        let layers = &self.filter.layers;
        layers.is_empty() || layers.contains(&MemoryLayer::Entry) && layers.len() > 1
    }

    async fn find(&self, query: &Query) -> Result<SearchOutcome, StoreError> {
        let (store, question, vector) = (self.store, self.question, &self.vector);
        let stats = store.term_stats(self.tenant, query.terms()).await?;
        let terms = query.terms().iter().cloned();
        let frequencies: HashMap<String, u64> = terms.zip(stats.frequencies).collect();
        let plan = if question.rare { plan_rare } else { plan };
        let steps = plan(query, &frequencies);
        let weights = QueryWeights::of(query, stats.documents, &frequencies);
        let dates = Dates::of(question.text, question.now);
        let lexical = LexicalQuery::new(query, &weights);
        let ranking = RankingQuery {
            lexical: match question.embedder {
                Some(embedder) => lexical.with_akin(AkinWords::of(query, embedder)),
                None => lexical,
            },
            vector: Direction::of(&vector.codes),
            dates: &dates,
            asks_what_holds: asks_what_holds(question.text),
        };
        let fetcher = CandidateFetcher {
            store,
            tenant: self.tenant,
            filter: self.filter.clone(),
            reach: &question.reach,
            model: question
                .embedder
                .filter(|_| !vector.codes.is_empty())
                .map(Embedder::id),
            ranking: &ranking,
            until: question.until,
        };
        let mut candidates = fetcher.candidates(&steps).await?;
        if question.rare {
            let is_relevant = |c: &RecallCandidate| {
                ranking.lexical.share(&c.stats.whole, |_| false) >= RELEVANT_SHARE
            };
            candidates.retain(is_relevant);
        } else {
            fetcher.expand_and_score(&mut candidates).await?;
        }
        if let Some(until) = question.until {
            candidates.retain(|candidate| candidate.outline.at <= until);
        }
        let confidence = confidence(&ranking, &candidates);
        let ranked = best_first(&candidates);
        let limit = question.limit.min(ANSWERS);
        let compared = match ranking.asks_what_holds {
            true => value_first::COMPARED,
            false => newest_first::COMPARED,
        };
        let compared = compared.max(asked_for::COMPARED);
        let found = fetcher.answers(&ranked, question.limit.max(compared));
        let found = place_asked_for_first(found.await?, question.text, &dates);
        let found = place_echoes_last(found, question.text);
        let mut answers = self.place(query, &fetcher, &ranked, found).await?;
        answers.truncate(limit);
        Ok(SearchOutcome {
            candidates: ranked.len(),
            recalled: RecallResult {
                confidence,
                answers,
                without_vectors: vector.missing.clone(),
                unanswered: Vec::new(),
            },
        })
    }

    /// Places what holds before what it replaced, and what is made for such a question before other answers.
    async fn place(
        &self,
        query: &Query,
        fetcher: &CandidateFetcher<'_>,
        ranked: &[&RecallCandidate],
        mut answers: Vec<RankedAnswer>,
    ) -> Result<Vec<RankedAnswer>, StoreError> {
        let (ranking, text) = (fetcher.ranking, self.question.text);
        if !newest_first::asks_for_past(text) {
            answers = newest_first::place_newest_first(answers, &ranking.lexical);
        }
        let mut answers = self.place_current_first(answers).await?;
        if ranking.asks_what_holds {
            let names_all = value_first::names_every_word;
            let lines = fetcher.lines_that_name_all(ranked, names_all).await?;
            answers = value_first::place_value_first(answers, lines, &ranking.lexical);
        }
        let asks_for_rule = rule_first::asks_for_rule(text);
        if ranking.asks_what_holds || asks_for_rule {
            let names_all = rule_first::names_all_but_unsaid;
            let lines = fetcher.lines_that_name_all(ranked, names_all).await?;
            answers = rule_first::place_rule_first(answers, lines, &ranking.lexical);
        }
        // "Why can't I amend?" is answered by the rule.
        if !asks_for_rule && cause_first::asks_for_cause(text) {
            let names_all = cause_first::names_all_but_unsaid;
            let lines = fetcher.lines_that_name_all(ranked, names_all).await?;
            answers = cause_first::place_cause_first(answers, lines, &ranking.lexical);
        }
        if left_off::asks_where_left_off(text) {
            let lines = match self.may_add_lines() {
                true => self.lines_of_files(query).await?,
                false => Vec::new(),
            };
            answers = left_off::place_left_off_first(answers, lines, text, &ranking.lexical);
        }
        Ok(answers)
    }
}

/// Moves the first wanted one of so many answers to the front, where it has this share of the first answer's score.
fn place_first(
    mut answers: Vec<RankedAnswer>,
    (compared, least_share): (usize, f64),
    is_wanted: impl Fn(&RankedAnswer) -> bool,
) -> Vec<RankedAnswer> {
    let best = answers.first().map_or(0.0, |first| first.parts.total());
    let found = answers
        .iter()
        .take(compared)
        .position(|answer| answer.parts.total() >= least_share * best && is_wanted(answer));
    if let Some(at) = found {
        answers[..=at].rotate_right(1);
    }
    answers
}

/// Puts a line of memory before all answers, of which it may have been one.
fn put_first(answers: &mut Vec<RankedAnswer>, line: RankedAnswer) {
    answers.retain(|answer| (answer.layer, &answer.text) != (line.layer, &line.text));
    answers.insert(0, line);
}

/// The filter of a question. Without `tools`, results of tools are excluded, which are mostly noise; calls are kept,
/// because agents write their plans in them.
fn filter(question: &RecallQuestion<'_>) -> SearchFilter {
    let origins = match question.tools {
        true => Vec::new(),
        false => vec![Origin::Human, Origin::Assistant, Origin::ToolCall],
    };
    let (scopes, except) = match &question.reach {
        Reach::Everything => (None, Vec::new()),
        Reach::Scopes(scopes) => (Some(scopes.clone()), Vec::new()),
        Reach::Unnamed { except, .. } => (None, except.clone()),
    };
    SearchFilter {
        scopes,
        except,
        layers: question.layers.clone(),
        origins,
    }
}

#[cfg(test)]
#[path = "placed_tests.rs"]
mod placed_tests;
#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
