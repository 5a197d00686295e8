//! Asks a model about what is new in a scope's memory: one window for each consolidation, after its files are written.
//!
//! What is accepted is stored with the finish of the job, and the scope is then due again: the next consolidation writes
//! files with it, and asks about the next window. So no memory waits for a model, a worker that vanishes leaves at most
//! one window to ask about again, and a window that was answered is not sent twice. While the model is unavailable or at
//! a cap, the files are those of the rules, and the scope is due again later.
//!
//! Where nothing is left to ask about, the consolidation agent runs, where it is on (`agent`): it reads statements in their
//! final words.
//!
//! Not here: what is asked and what is accepted (`consolidate`), and what a call costs (`spend`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::limits::{ACCEPTED_PROPOSALS, BACKOFF_MOST};
use daybook_domain::model::{Model, ModelFailure};
use daybook_domain::seams::ObservationStore;
use daybook_domain::{
    ClaimedJob, Failure, FailureClass, ObservationId, ProposalRecord, Scope, SessionId,
    StatementDigest, Timestamp,
};
use tracing::field::Empty;
use tracing::{info, info_span, warn};

use super::agent::{AgentOutcome, AgentPlan, plan_agent, run_agent};
use super::proposal_record::proposal_record;
use super::scope_memory::memory_input;
use super::selection::SelectionPlan;
use super::{WorkError, WorkerContext};
use crate::consolidate::{
    AnswerBounds, MemoryInput, ProposalDropReason, ProposalWindow, ValidatedProposals, WindowLimits,
};
use crate::extract::ExtractError;
use crate::extract::model::model_failure_error;
use crate::files::Folder;
use crate::files::parsed_texts::FolderTexts;
use crate::files::persons_lines::PersonsLines;
use crate::stage::within;

/// Most tokens of the statements of one question.
const WINDOW_TOKENS: u32 = 6_000;
/// Most tokens of an answer, thoughts included.
const ANSWER_TOKENS: u32 = 8_192;
/// Shortest wait for a model that is unavailable or at a cap.
const ASK_AGAIN: Duration = Duration::from_secs(600);
/// How much later a window is asked about where the caller of a consolidation waits for it.
const ASK_LATER: Duration = Duration::from_secs(60);

/// Chooses the model that is asked about a scope's memory, with the calls charged to it; `None` where none may be asked.
pub type ModelForScope = dyn Fn(&Scope) -> Option<Arc<dyn Model>> + Send + Sync;

/// What is to be asked about a scope, and its record so far.
pub(super) struct ProposalPlan {
    record: ProposalRecord,
    /// The record differs from the stored one: something in it has become void.
    is_changed: bool,
    question: Option<(Arc<dyn Model>, ProposalWindow)>,
    /// What the consolidation agent is to do, once nothing else is asked.
    agent: Option<AgentPlan>,
}

/// What became of a model's proposals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProposalReport {
    /// Number of those that were accepted.
    pub accepted: usize,
    /// Numbers of those that were dropped, by reason.
    pub dropped: BTreeMap<ProposalDropReason, usize>,
    /// Numbers of lines that the consolidation agent wrote, by scope, where it ran and they were accepted.
    pub agent_lines: BTreeMap<Scope, usize>,
    /// Scopes about which the model gave no answer, and why. Their files are written without it, and it is asked again.
    pub unanswered: BTreeMap<Scope, Failure>,
}

impl ProposalReport {
    /// Forgets that the model gave no answer about a scope: it was asked again.
    pub(super) fn clear(&mut self, scope: &Scope) {
        self.unanswered.remove(scope);
    }

    /// Adds a later report.
    pub(super) fn add(&mut self, later: Self) {
        self.accepted += later.accepted;
        for (reason, count) in later.dropped {
            *self.dropped.entry(reason).or_default() += count;
        }
        self.agent_lines.extend(later.agent_lines);
        self.unanswered.extend(later.unanswered);
    }
}

/// What a consolidation stores of its proposals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ProposalResults {
    /// The record, if it differs from the stored one.
    pub(super) record: Option<ProposalRecord>,
    /// When the scope is due again.
    pub(super) again_at: Option<Timestamp>,
    /// What became of the answer.
    pub(super) report: ProposalReport,
}

/// Plans the next window of a scope whose files were written, of the sessions that `selection` selects. `None` where there is no
/// model and nothing was ever proposed.
pub(super) async fn plan_proposals(
    worker: &WorkerContext,
    scope: &Scope,
    folder: &Folder,
    selection: Option<&SelectionPlan>,
) -> Result<Option<ProposalPlan>, WorkError> {
    let mut record = proposal_record(&*worker.store, scope).await?;
    let model = worker.consolidation_model.as_ref();
    let model = model.and_then(|model_for| model_for(scope));
    if model.is_none() && record == ProposalRecord::default() {
        return Ok(None);
    }
    let persons = PersonsLines::load(folder)?;
    let observations = ObservationStore::observations(&*worker.store, scope).await?;
    let texts = FolderTexts::of(folder.root());
    let input = memory_input(&worker.into(), scope, observations, (&persons, &texts)).await?;
    let stored = record.clone();
    record.retain_current(&current_statements(&input));
    let (mut question, mut agent) = (None, None);
    if let Some(model) = model {
        let window = next_window(&input, &record, &*model, (selection, &texts));
        // A machine without a model leaves that to others that share the memory.
        record.unfinished &= window.is_some();
        record.agent.is_due = false;
        match window {
            Some(window) => question = Some((model, window)),
            None => {
                let built = (&input, selection);
                agent = plan_agent(worker, (folder, &texts), built, &mut record, model)?;
            }
        }
    }
    Ok(Some(ProposalPlan {
        is_changed: record != stored,
        record,
        question,
        agent,
    }))
}

fn current_statements(input: &MemoryInput) -> BTreeMap<ObservationId, StatementDigest> {
    let observations = input.observations.iter();
    observations
        .map(|one| (one.id, StatementDigest::of(one)))
        .collect()
}

fn next_window(
    input: &MemoryInput,
    record: &ProposalRecord,
    model: &dyn Model,
    (selection, texts): (Option<&SelectionPlan>, &FolderTexts),
) -> Option<ProposalWindow> {
    let sessions = selection.map(|plan| -> BTreeSet<SessionId> {
        let selected = plan.record.sessions.iter();
        selected.map(|one| one.session.clone()).collect()
    });
    if record.accepted.len() >= ACCEPTED_PROPOSALS {
        return None;
    }
    let limits = WindowLimits {
        tokens: WINDOW_TOKENS.min(model.context_tokens() / 4),
        count: &|text| model.count_tokens(text),
        sessions: sessions.as_ref(),
    };
    ProposalWindow::next(input, record, limits, &mut texts.lock())
}

/// Asks about the planned window, or has the agent run, and returns what is stored with the finish of the job.
pub(super) async fn ask_for_proposals(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    scope: &Scope,
    plan: Option<ProposalPlan>,
) -> ProposalResults {
    let Some(plan) = plan else {
        return ProposalResults::default();
    };
    let ProposalPlan {
        mut record,
        is_changed,
        question,
        agent,
    } = plan;
    let is_idle = question.is_none() && agent.is_none();
    if is_idle {
        return ProposalResults {
            record: is_changed.then_some(record),
            ..ProposalResults::default()
        };
    }
    if !worker.limits.proposals {
        return ProposalResults {
            record: is_changed.then_some(record),
            again_at: Some(worker.clock.now().plus(ASK_LATER)),
            ..ProposalResults::default()
        };
    }
    if let Some(agent) = agent {
        return agent_results(worker, (claimed, scope), agent, record, is_changed).await;
    }
    let Some((model, window)) = question else {
        return ProposalResults::default();
    };
    match ask(&*model, scope, &window).await {
        Ok(validated) => {
            window.record(&mut record);
            record.agent.is_due = worker.limits.agent.is_some();
            accepted_results(record, validated, worker.clock.now())
        }
        Err(error) => ProposalResults {
            record: is_changed.then_some(record),
            ..unanswered_results(scope, error, worker.clock.now())
        },
    }
}

/// Has the agent run. Its lines are written by the next consolidation, which is due at once.
async fn agent_results(
    worker: &WorkerContext,
    (claimed, scope): (&ClaimedJob, &Scope),
    plan: AgentPlan,
    mut record: ProposalRecord,
    is_changed: bool,
) -> ProposalResults {
    let outcome = run_agent(worker, claimed, scope, plan, &mut record).await;
    let now = worker.clock.now();
    match outcome {
        AgentOutcome::Merged { lines, is_changed } => ProposalResults {
            record: Some(record),
            again_at: is_changed.then_some(now),
            report: ProposalReport {
                agent_lines: [(scope.clone(), lines)].into(),
                ..ProposalReport::default()
            },
        },
        AgentOutcome::Refused(failure, pause) => ProposalResults {
            record: Some(record),
            again_at: pause.map(|pause| now.plus(pause)),
            report: ProposalReport {
                unanswered: [(scope.clone(), failure)].into(),
                ..ProposalReport::default()
            },
        },
        AgentOutcome::Unanswered(error) => ProposalResults {
            record: is_changed.then_some(record),
            ..unanswered_results(scope, error, now)
        },
        // The finish, which is refused, reports it.
        AgentOutcome::LeaseLost => ProposalResults::default(),
    }
}

/// What is stored after an answer. The scope is due again at once where files change, or further windows wait.
fn accepted_results(
    mut record: ProposalRecord,
    validated: ValidatedProposals,
    now: Timestamp,
) -> ProposalResults {
    let ValidatedProposals { accepted, dropped } = validated;
    let has_more = record.unfinished || record.agent.is_due || !accepted.is_empty();
    let report = ProposalReport {
        accepted: accepted.len(),
        dropped,
        ..ProposalReport::default()
    };
    let room = ACCEPTED_PROPOSALS.saturating_sub(record.accepted.len());
    record.accepted.extend(accepted.into_iter().take(room));
    ProposalResults {
        record: Some(record),
        again_at: has_more.then_some(now),
        report,
    }
}

/// What is stored without an answer: when the model is asked again.
fn unanswered_results(scope: &Scope, error: ExtractError, now: Timestamp) -> ProposalResults {
    let ExtractError {
        class,
        message,
        wait,
    } = error;
    let report = ProposalReport {
        unanswered: [(scope.clone(), Failure { class, message })].into(),
        ..ProposalReport::default()
    };
    ProposalResults {
        record: None,
        again_at: Some(wait.over(now, BACKOFF_MOST).max(now.plus(ASK_AGAIN))),
        report,
    }
}

/// Asks about a window. An answer that is none, or that the model refuses, proposes nothing: asking the same again would
/// not help.
///
/// # Errors
/// While the model is unavailable or a cap has no room.
async fn ask(
    model: &dyn Model,
    scope: &Scope,
    window: &ProposalWindow,
) -> Result<ValidatedProposals, ExtractError> {
    let span = info_span!(
        "propose",
        %scope,
        model = model.name(),
        accepted = Empty,
        dropped = Empty,
        outcome = Empty,
    );
    let request = window.question(AnswerBounds {
        tokens: ANSWER_TOKENS.min((model.context_tokens() / 4).max(1)),
    });
    let answered = async {
        match model.ask(&request).await {
            Ok(reply) => Ok(window.validate(&reply)),
            Err(failure) => without_answer(scope, &failure),
        }
    };
    within(span, answered, |span, validated| {
        span.record("accepted", validated.accepted.len());
        span.record("dropped", validated.dropped.values().sum::<usize>());
        span.record("outcome", "answered");
        for (reason, count) in &validated.dropped {
            info!(%scope, reason = reason.as_str(), count, "proposals were dropped");
        }
    })
    .await
}

fn without_answer(
    scope: &Scope,
    failure: &ModelFailure,
) -> Result<ValidatedProposals, ExtractError> {
    let error = model_failure_error(failure);
    let class = error.class.as_str();
    warn!(%scope, class, "a model proposed nothing");
    match error.class {
        FailureClass::Outage | FailureClass::AtCap => Err(error),
        FailureClass::Content | FailureClass::Vanished | FailureClass::Cancelled => {
            Ok(ValidatedProposals::default())
        }
    }
}
