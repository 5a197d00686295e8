//! Runs an evaluation: one memory for each conversation, every question to every system.

use std::time::Instant;

use daybook_domain::seams::Store;
use daybook_domain::{BoxError, StoreError, Tenant};
use daybook_engine::ingest::import::Intake;
use daybook_engine::working::compact::estimate;

use crate::ask::{Asking, Retrieved, ask, prepare};
use crate::baseline::{Baseline, Corpus};
use crate::confidence::exchange_names;
use crate::dataset::{BenchmarkQuestion, Conversation, Counting, Dataset};
use crate::end_to_end::{Answering, EndToEnd};
use crate::error::EvalError;
use crate::ingest;
use crate::metrics::{Outcome, SHOWN, ranks};
use crate::report::{
    DAYBOOK, ForeignRecord, QuestionRecord, Report, SystemOutcome, abstention_report,
    confidence_report, system_report,
};

/// Makes an empty memory. What it returns may be dropped before the next one is made.
pub type FreshMemory<'a> = dyn Fn() -> Result<Intake, BoxError> + 'a;

/// Runs `dataset`: each conversation is appended to a memory of its own, and asked its own questions and
/// those of the next conversation. With `models`, questions are answered from the results, too.
///
/// # Errors
/// When a memory cannot be made, or a store fails.
pub async fn run(
    dataset: &Dataset,
    fresh: &FreshMemory<'_>,
    asking: &Asking,
    models: Option<&EndToEnd>,
) -> Result<Report, EvalError> {
    let mut run = Run::new(dataset, asking, models);
    for (n, conversation) in dataset.conversations.iter().enumerate() {
        let intake = fresh().map_err(EvalError::NoMemory)?;
        ingest::append(&intake, conversation).await?;
        let (store, tenant) = (&*intake.store, &intake.tenant);
        prepare(store, tenant, asking).await?;
        run.ask_own(store, tenant, conversation).await?;
        let next = &dataset.conversations[(n + 1) % dataset.conversations.len()];
        if next.id != conversation.id {
            run.ask_foreign(store, tenant, conversation, next).await?;
        }
    }
    Ok(run.report())
}

/// Asks the questions of `dataset`, which [`WrittenQuestions::resolve`] found evidence for, in the memory
/// that they are about. The memory is not changed.
///
/// # Errors
/// When the store fails.
///
/// [`WrittenQuestions::resolve`]: crate::load::WrittenQuestions::resolve
pub async fn run_stored(
    dataset: &Dataset,
    store: &dyn Store,
    tenant: &Tenant,
    asking: &Asking,
    models: Option<&EndToEnd>,
) -> Result<Report, EvalError> {
    let mut run = Run::new(dataset, asking, models);
    prepare(store, tenant, asking).await?;
    for conversation in &dataset.conversations {
        run.ask_own(store, tenant, conversation).await?;
    }
    Ok(run.report())
}

/// What was found so far.
struct Run<'a> {
    dataset: &'a Dataset,
    asking: &'a Asking,
    answering: Option<Answering<'a>>,
    turns: usize,
    questions: Vec<QuestionRecord>,
    foreign: Vec<ForeignRecord>,
}

impl<'a> Run<'a> {
    fn new(dataset: &'a Dataset, asking: &'a Asking, models: Option<&'a EndToEnd>) -> Self {
        let questions = dataset.conversations.iter().flat_map(|c| &c.questions);
        let judged = questions.filter(|question| Answering::is_judged(question));
        Self {
            dataset,
            asking,
            answering: models.map(|models| Answering::new(models, judged.count())),
            turns: 0,
            questions: Vec::new(),
            foreign: Vec::new(),
        }
    }

    async fn ask_own(
        &mut self,
        store: &dyn Store,
        tenant: &Tenant,
        conversation: &Conversation,
    ) -> Result<(), StoreError> {
        let corpus = Corpus::read(store, tenant).await?;
        self.turns += corpus.len();
        for question in &conversation.questions {
            let began = Instant::now();
            let retrieved = ask(store, tenant, &question.text, self.asking).await?;
            let own = outcome(question, &retrieved, began);
            let mut systems = vec![SystemOutcome {
                system: DAYBOOK,
                outcome: own,
            }];
            for baseline in Baseline::ALL {
                let began = Instant::now();
                let retrieved = corpus.ask(baseline, &question.text, self.asking.limit);
                systems.push(SystemOutcome {
                    system: baseline.name(),
                    outcome: outcome(question, &retrieved, began),
                });
            }
            let mut record = record(conversation, question, &retrieved, systems);
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
        own: &Conversation,
        other: &Conversation,
    ) -> Result<(), StoreError> {
        let is_answerable = |question: &&BenchmarkQuestion| {
            question.counting == Counting::Counted && !shares_evidence(own, question)
        };
        for question in other.questions.iter().filter(is_answerable) {
            let text = exchange_names(&question.text, &other.participants, &own.participants);
            let retrieved = ask(store, tenant, &text, self.asking).await?;
            self.foreign.push(ForeignRecord {
                asked_of: own.id.clone(),
                conversation: other.id.clone(),
                id: question.id.clone(),
                question: text,
                results: retrieved.results.len(),
                confidence: retrieved.confidence,
                is_likely: retrieved.is_likely,
                signs: retrieved.signs,
            });
        }
        Ok(())
    }

    fn report(self) -> Report {
        let dataset = self.dataset;
        let answered = self
            .questions
            .iter()
            .filter_map(|record| record.answered.as_ref());
        let end_to_end = self.answering.map(|answering| answering.report(answered));
        let baselines = Baseline::ALL.map(Baseline::name);
        let systems = std::iter::once(DAYBOOK).chain(baselines);
        Report {
            benchmark: dataset.name,
            asking: self.asking.clone(),
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

/// Whether a conversation holds a session that answers another one's question: benchmarks reuse sessions.
fn shares_evidence(conversation: &Conversation, question: &BenchmarkQuestion) -> bool {
    let events = question.evidence.iter().flat_map(|piece| &piece.events);
    let mut sessions = events.map(|event| &event.session);
    sessions.any(|session| conversation.sessions.iter().any(|own| own.id == *session))
}

fn outcome(question: &BenchmarkQuestion, retrieved: &Retrieved, began: Instant) -> Outcome {
    let milliseconds = began.elapsed().as_secs_f64() * 1e3;
    let shown = retrieved.results.iter().take(SHOWN);
    Outcome {
        ranks: ranks(&question.evidence, &retrieved.results),
        results: retrieved.results.len(),
        tokens: shown.map(|hit| u64::from(estimate(&hit.text))).sum(),
        milliseconds,
    }
}

fn record(
    conversation: &Conversation,
    question: &BenchmarkQuestion,
    retrieved: &Retrieved,
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
        evidence: labels.collect(),
        confidence: retrieved.confidence,
        is_likely: retrieved.is_likely,
        signs: retrieved.signs,
        systems,
        answered: None,
    }
}
