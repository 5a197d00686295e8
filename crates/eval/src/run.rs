//! Runs an evaluation: fills one memory for each conversation, and asks every system every question.

use std::time::Instant;

use daybook_domain::seams::Store;
use daybook_domain::{BoxError, StoreError, Tenant};
use daybook_engine::append::IngestContext;
use daybook_working::compact::estimate;
use strum::VariantArray;

use crate::ask::{RecallOptions, RetrievalResult, ask, prepare};
use crate::baseline::{Baseline, BaselineCorpus};
use crate::confidence::exchange_names;
use crate::dataset::{BenchmarkConversation, BenchmarkQuestion, Counting, Dataset};
use crate::end_to_end::{EndToEndModels, QuestionAnswerer};
use crate::error::EvalError;
use crate::ingest;
use crate::metrics::{RetrievalOutcome, SHOWN, SharedWords, ranks, shown_share};
use crate::report::{
    DAYBOOK, EvalReport, ForeignRecord, QuestionRecord, SystemOutcome, abstention_report,
    confidence_report, system_report,
};

/// Creates an empty memory. The caller drops each memory before it creates the next.
pub type FreshMemory<'a> = dyn Fn() -> Result<IngestContext, BoxError> + 'a;

/// Runs `dataset`: appends each conversation to a memory of its own, and asks its questions and those of the next
/// conversation. With `models`, also answers questions from the results.
///
/// # Errors
/// When a memory cannot be created, or a store fails.
pub async fn run(
    dataset: &Dataset,
    fresh: &FreshMemory<'_>,
    options: &RecallOptions,
    models: Option<&EndToEndModels>,
) -> Result<EvalReport, EvalError> {
    let mut run = EvalRun::new(dataset, options, models);
    for (n, conversation) in dataset.conversations.iter().enumerate() {
        let intake = fresh().map_err(EvalError::NoMemory)?;
        ingest::append(&intake, conversation).await?;
        let (store, tenant) = (&*intake.store, &intake.tenant);
        prepare(store, tenant, options).await?;
        run.ask_own(store, tenant, conversation).await?;
        let next = &dataset.conversations[(n + 1) % dataset.conversations.len()];
        if next.id != conversation.id {
            run.ask_foreign(store, tenant, conversation, next).await?;
        }
    }
    Ok(run.report())
}

/// Asks the questions of `dataset`, whose evidence [`WrittenQuestions::resolve`] resolved, in the memory that they are
/// about. Does not change the memory.
///
/// # Errors
/// When the store fails.
///
/// [`WrittenQuestions::resolve`]: crate::load::WrittenQuestions::resolve
pub async fn run_stored(
    dataset: &Dataset,
    store: &dyn Store,
    tenant: &Tenant,
    options: &RecallOptions,
    models: Option<&EndToEndModels>,
) -> Result<EvalReport, EvalError> {
    let mut run = EvalRun::new(dataset, options, models);
    prepare(store, tenant, options).await?;
    for conversation in &dataset.conversations {
        run.ask_own(store, tenant, conversation).await?;
    }
    Ok(run.report())
}

/// An evaluation under way.
struct EvalRun<'a> {
    dataset: &'a Dataset,
    options: &'a RecallOptions,
    answering: Option<QuestionAnswerer<'a>>,
    turns: usize,
    questions: Vec<QuestionRecord>,
    foreign: Vec<ForeignRecord>,
}

impl<'a> EvalRun<'a> {
    fn new(
        dataset: &'a Dataset,
        options: &'a RecallOptions,
        models: Option<&'a EndToEndModels>,
    ) -> Self {
        let questions = dataset.conversations.iter().flat_map(|c| &c.questions);
        let judged = questions.filter(|question| QuestionAnswerer::is_judged(question));
        Self {
            dataset,
            options,
            answering: models.map(|models| QuestionAnswerer::new(models, judged.count())),
            turns: 0,
            questions: Vec::new(),
            foreign: Vec::new(),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "measures how long a question takes"
    )]
    async fn ask_own(
        &mut self,
        store: &dyn Store,
        tenant: &Tenant,
        conversation: &BenchmarkConversation,
    ) -> Result<(), StoreError> {
        let corpus = BaselineCorpus::read(store, tenant).await?;
        self.turns += corpus.len();
        for question in &conversation.questions {
            let began = Instant::now();
            let retrieved = ask(
                store,
                tenant,
                (&question.text, question.asked),
                self.options,
            )
            .await?;
            let own = outcome(question, &retrieved, began);
            let mut systems = vec![SystemOutcome {
                system: DAYBOOK,
                outcome: own,
            }];
            for &baseline in Baseline::VARIANTS {
                let began = Instant::now();
                let retrieved = corpus.ask(baseline, &question.text, self.options.limit);
                systems.push(SystemOutcome {
                    system: baseline.as_str(),
                    outcome: outcome(question, &retrieved, began),
                });
            }
            let words = corpus.shared_words(question);
            let mut record = record(conversation, (question, words), &retrieved, systems);
            if let Some(answering) = &mut self.answering {
                record.answered = answering.answer(question, &retrieved.results).await;
            }
            self.questions.push(record);
        }
        Ok(())
    }

    async fn ask_foreign(
        &mut self,
        store: &dyn Store,
        tenant: &Tenant,
        own: &BenchmarkConversation,
        other: &BenchmarkConversation,
    ) -> Result<(), StoreError> {
        let is_answerable = |question: &&BenchmarkQuestion| {
            question.counting == Counting::Counted && !shares_evidence(own, question)
        };
        for question in other.questions.iter().filter(is_answerable) {
            let text = exchange_names(&question.text, &other.participants, &own.participants);
            let retrieved = ask(store, tenant, (&text, question.asked), self.options).await?;
            self.foreign.push(ForeignRecord {
                asked_of: own.id.clone(),
                conversation: other.id.clone(),
                id: question.id.clone(),
                question: text,
                results: retrieved.results.len(),
                confidence: retrieved.confidence,
                is_likely: retrieved.is_likely,
                signals: retrieved.signals,
            });
        }
        Ok(())
    }

    fn report(self) -> EvalReport {
        let dataset = self.dataset;
        let answered = self
            .questions
            .iter()
            .filter_map(|record| record.answered.as_ref());
        let end_to_end = self.answering.map(|answering| answering.report(answered));
        let baselines = Baseline::VARIANTS.iter().map(|baseline| baseline.as_str());
        let systems = std::iter::once(DAYBOOK).chain(baselines);
        EvalReport {
            benchmark: dataset.name,
            options: self.options.clone(),
            conversations: dataset.conversations.len(),
            turns: self.turns,
            systems: systems
                .map(|system| system_report(system, &self.questions))
                .collect(),
            confidence: confidence_report(&self.questions, &self.foreign),
            abstention: abstention_report(&self.questions),
            end_to_end,
            left_out: dataset.left_out.clone(),
            questions: self.questions,
            foreign: self.foreign,
        }
    }
}

/// Whether a conversation holds evidence of another conversation's question: benchmarks reuse sessions.
fn shares_evidence(conversation: &BenchmarkConversation, question: &BenchmarkQuestion) -> bool {
    let events = question.evidence.iter().flat_map(|piece| &piece.events);
    let mut sessions = events.map(|event| &event.session);
    sessions.any(|session| conversation.sessions.iter().any(|own| own.id == *session))
}

fn outcome(
    question: &BenchmarkQuestion,
    retrieved: &RetrievalResult,
    began: Instant,
) -> RetrievalOutcome {
    let milliseconds = began.elapsed().as_secs_f64() * 1e3;
    let shown = retrieved.results.iter().take(SHOWN);
    let ranks = ranks(&question.evidence, &retrieved.results);
    RetrievalOutcome {
        shown: shown_share(&question.answer, &ranks, &retrieved.results),
        ranks,
        results: retrieved.results.len(),
        tokens: shown.map(|hit| u64::from(estimate(&hit.text))).sum(),
        milliseconds,
    }
}

fn record(
    conversation: &BenchmarkConversation,
    (question, words): (&BenchmarkQuestion, SharedWords),
    retrieved: &RetrievalResult,
    systems: Vec<SystemOutcome>,
) -> QuestionRecord {
    let labels = question.evidence.iter().map(|piece| piece.label.clone());
    QuestionRecord {
        conversation: conversation.id.clone(),
        id: question.id.clone(),
        class: question.class.clone(),
        question: question.text.clone(),
        answer: question.answer.clone(),
        counting: question.counting,
        split: question.split,
        first: retrieved
            .results
            .first()
            .map_or_else(String::new, |first| first.text.clone()),
        evidence: labels.collect(),
        words,
        confidence: retrieved.confidence,
        is_likely: retrieved.is_likely,
        signals: retrieved.signals,
        systems,
        answered: None,
    }
}
