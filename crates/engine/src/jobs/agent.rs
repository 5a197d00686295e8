//! Runs the consolidation agent about a scope, once its files are written by the rules.
//!
//! It runs where something is new to it: a statement, other words of one, a person's line. What it wrote is stored with
//! the finish of the job, which changes nothing when the lease was lost meanwhile, and the next consolidation puts it on
//! the pages. A run that fails leaves the memory as the rules made it and its inputs pending; the reason is stored, and
//! the same inputs are tried again a few times, later each time.
//!
//! Not here: what it is shown and what of its text is sound (`consolidate::agent`), the record beside it (`proposals`).

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::model::{Model, ModelReply, Tool, ToolCall};
use daybook_domain::{
    AgentFailure, AgentLine, AgentRecord, ClaimedJob, EventId, Failure, FailureClass,
    ProposalRecord, Scope, SelectedSession, SelectionDiff,
};
use daybook_text::redact::Redactor;
use daybook_working::tool_loop::{AnswerVerdict, LoopEnd, ToolLoop, ToolLoopLimits, ToolTask};
use tracing::field::Empty;
use tracing::{Span, info, info_span, warn};

use super::WorkerContext;
use super::selection::SelectionPlan;
use crate::consolidate::MemoryInput;
use crate::consolidate::agent::{AgentQuestion, AgentSession, AgentStatements, SelectionChange};
use crate::extract::ExtractError;
use crate::extract::model::model_failure_error;
use crate::files::agent_copy::{FolderCopy, changes_since};
use crate::files::entry::EntryId;
use crate::files::parsed_texts::FolderTexts;
use crate::files::{FilesError, Folder};
use crate::stage::within;

/// Most tokens of an answer, calls and thoughts included.
const ANSWER_TOKENS: u32 = 16_384;
/// How often the same inputs are tried where the agent itself fails.
const TRIES: u32 = 3;
/// Pause before the second try; the next one is twice as long.
const TRY_AGAIN: Duration = Duration::from_secs(1_800);
/// Most characters of a reason that is stored.
const REASON_CHARS: usize = 600;

/// Bounds of one run, as they are by default. So few tokens are kept that what is read is sent about once more at most;
/// the newest turn is kept whole, however long it is.
pub const AGENT_LIMITS: ToolLoopLimits = ToolLoopLimits {
    turns: 48,
    calls_per_turn: 16,
    corrections: 2,
    kept_tokens: 6_000,
    call_tokens: 400_000,
    sent_tokens: 800_000,
    outcome_bytes: 16 * 1024,
    bytes: 4 * 1024 * 1024,
    time: Duration::from_secs(1_800),
};

/// A run that is to be made.
pub(super) struct AgentPlan {
    model: Arc<dyn Model>,
    limits: ToolLoopLimits,
    question: AgentQuestion,
    /// What is stored after a success.
    success: AgentRecord,
    inputs: u64,
}

/// How a run ended.
#[derive(Debug)]
pub(super) enum AgentOutcome {
    /// It ended well; the record has its lines. They are other lines than before, or the same.
    Merged { lines: usize, is_changed: bool },
    /// Nothing of it is merged, and the record has the reason. It is tried again after this pause; `None`: once its inputs
    /// have changed.
    Refused(Failure, Option<Duration>),
    /// The model is unavailable, or a cap has no room.
    Unanswered(ExtractError),
    /// Another worker may have the job now.
    LeaseLost,
}

/// Plans a run about a scope whose files were written; `None` where the agent is off or nothing is new to it. Lines that
/// a person changed or deleted are taken out of the record: theirs is the last word.
///
/// # Errors
/// If the folder cannot be read.
pub(super) fn plan_agent(
    worker: &WorkerContext,
    (folder, texts): (&Folder, &FolderTexts),
    (input, selection): (&MemoryInput, Option<&SelectionPlan>),
    record: &mut ProposalRecord,
    model: Arc<dyn Model>,
) -> Result<Option<AgentPlan>, FilesError> {
    // A curated MEMORY.md has lines added in passes, and none in a section of its own.
    let limits = worker.limits.agent;
    let Some(limits) = limits.filter(|_| worker.limits.curation.is_none()) else {
        return Ok(None);
    };
    let entry = |line: &AgentLine| EntryId::of(&AgentSession::entry_key(line));
    let entries: BTreeSet<EntryId> = record.agent_lines().map(entry).collect();
    let copy = FolderCopy::read(folder, &entries)?;
    let lines: Vec<AgentLine> = record.agent_lines().cloned().collect();
    let lines = lines
        .into_iter()
        .filter(|line| copy.own.contains(&entry(line)));
    record.set_agent_lines(lines.collect());
    let statements = AgentStatements::of(input, &mut texts.lock());
    let success = AgentRecord {
        examined: statements.examined(),
        selected: selection
            .map(|plan| plan.record.sessions.clone())
            .unwrap_or_default(),
        persons: copy.persons,
        commit: copy.head.map(|head| head.to_string()),
        ..AgentRecord::default()
    };
    let known = &record.agent;
    let is_empty = known.examined.is_empty() && success.examined.is_empty();
    let is_read = known.examined == success.examined && known.persons == success.persons;
    if is_empty || is_read {
        record.agent = success;
        return Ok(None);
    }
    let inputs = inputs_digest(&success);
    let is_spent = |failed: &AgentFailure| failed.inputs == inputs && known.failures >= TRIES;
    if known.failed.as_ref().is_some_and(is_spent) {
        return Ok(None);
    }
    let baseline = known.commit.as_deref();
    let diff = baseline.map(|commit| changes_since(folder, commit));
    let diff = diff.transpose()?.flatten();
    let selection = selection_changes(&known.selected, &success.selected);
    let tokens = ANSWER_TOKENS.min((model.context_tokens() / 4).max(1));
    let question = AgentQuestion::new(record, statements, (copy.files, diff), &selection, tokens);
    Ok(Some(AgentPlan {
        limits: ToolLoopLimits {
            kept_tokens: limits.kept_tokens.min(model.context_tokens() / 3),
            ..limits
        },
        model,
        question,
        success,
        inputs,
    }))
}

fn inputs_digest(record: &AgentRecord) -> u64 {
    let examined = record.examined.iter();
    let examined = examined.map(|(id, digest)| format!("{id} {}\n", digest.0));
    let all: String = examined.collect();
    let id = EventId::of(&[all.as_bytes(), &record.persons.to_le_bytes()]);
    (id.0 & u128::from(u64::MAX)) as u64
}

/// How the selected sessions differ from those of the agent's last success.
fn selection_changes(last: &[SelectedSession], now: &[SelectedSession]) -> Vec<SelectionChange> {
    let diff = SelectionDiff::between(last, now);
    let all = [
        ("added", &diff.added),
        ("retained", &diff.retained),
        ("removed", &diff.removed),
    ];
    let changes = all.into_iter().flat_map(|(change, sessions)| {
        let sessions = sessions.iter();
        sessions.map(move |session| SelectionChange {
            change,
            thread_id: session.host_id.clone(),
        })
    });
    changes.collect()
}

/// Makes the run, and puts its lines, or why there are none, into `record`.
pub(super) async fn run_agent(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    scope: &Scope,
    plan: AgentPlan,
    record: &mut ProposalRecord,
) -> AgentOutcome {
    let span = info_span!(
        "agent",
        %scope,
        mode = plan.question.mode.as_str(),
        model = plan.model.name(),
        requests = Empty,
        calls = Empty,
        sent_tokens = Empty,
        outcome = Empty,
    );
    let running = async {
        let outcome = perform(worker, claimed, plan, (record, &span)).await;
        Ok::<_, Infallible>(outcome)
    };
    let outcome = within(span.clone(), running, |span, outcome| {
        span.record("outcome", outcome_name(outcome));
    });
    let Ok(outcome) = outcome.await;
    match &outcome {
        AgentOutcome::Merged { lines, .. } => info!(%scope, lines, "the agent's text is merged"),
        AgentOutcome::Refused(failure, _) => {
            warn!(%scope, why = failure.message, "nothing of the agent's run is merged");
        }
        AgentOutcome::Unanswered(_) | AgentOutcome::LeaseLost => {}
    }
    outcome
}

async fn perform(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    plan: AgentPlan,
    (record, span): (&mut ProposalRecord, &Span),
) -> AgentOutcome {
    let (inputs, success) = (plan.inputs, plan.success);
    let mut task = AgentTask {
        worker,
        claimed,
        session: plan.question.session,
    };
    let tools = ToolLoop::new(&*plan.model, &*worker.clock, plan.limits);
    let report = tools.run(plan.question.request, &mut task).await;
    let spent = report.spent;
    span.record("requests", spent.requests);
    span.record("calls", spent.calls);
    span.record("sent_tokens", spent.sent_tokens);
    let mut refuse = |reason: String| refused(worker, record, inputs, &reason);
    match report.end {
        LoopEnd::Answered(lines) => merged(record, success, lines),
        LoopEnd::Rejected(reason) => refuse(format!("its text was refused: {reason}")),
        LoopEnd::Stopped(bound) => refuse(format!("it reached its bound of {}", bound.as_str())),
        LoopEnd::Cancelled => AgentOutcome::LeaseLost,
        LoopEnd::Failed(failure) => {
            let error = model_failure_error(&failure);
            match error.class {
                FailureClass::Outage | FailureClass::AtCap => AgentOutcome::Unanswered(error),
                FailureClass::Content | FailureClass::Vanished | FailureClass::Cancelled => {
                    refuse(error.message)
                }
            }
        }
    }
}

fn outcome_name(outcome: &AgentOutcome) -> &'static str {
    match outcome {
        AgentOutcome::Merged { .. } => "merged",
        AgentOutcome::Refused(..) => "refused",
        AgentOutcome::Unanswered(_) => "unanswered",
        AgentOutcome::LeaseLost => "lost",
    }
}

fn merged(
    record: &mut ProposalRecord,
    success: AgentRecord,
    lines: Vec<AgentLine>,
) -> AgentOutcome {
    let is_changed = !record.agent_lines().eq(&lines);
    let count = lines.len();
    record.set_agent_lines(lines);
    record.agent = AgentRecord {
        is_due: is_changed,
        ..success
    };
    AgentOutcome::Merged {
        lines: count,
        is_changed,
    }
}

/// Stores why nothing is merged. What was read of the inputs stays as it was, so that they are pending.
fn refused(
    worker: &WorkerContext,
    record: &mut ProposalRecord,
    inputs: u64,
    reason: &str,
) -> AgentOutcome {
    let reason: String = reason.chars().take(REASON_CHARS).collect();
    let reason = Redactor::current().redact(&reason).text.into_owned();
    let agent = &mut record.agent;
    let is_same = agent
        .failed
        .as_ref()
        .is_some_and(|failed| failed.inputs == inputs);
    agent.failures = if is_same { agent.failures + 1 } else { 1 };
    agent.failed = Some(AgentFailure {
        at: worker.clock.now(),
        reason: reason.clone(),
        inputs,
    });
    let failure = Failure {
        class: FailureClass::Content,
        message: format!("the consolidation agent changed nothing, because {reason}"),
    };
    let left = agent.failures < TRIES;
    let pause = left.then(|| TRY_AGAIN * 2_u32.pow(agent.failures - 1));
    AgentOutcome::Refused(failure, pause)
}

/// The run as a task with tools. It goes on while its worker has the job.
struct AgentTask<'a> {
    worker: &'a WorkerContext,
    claimed: &'a ClaimedJob,
    session: AgentSession,
}

#[async_trait]
impl ToolTask for AgentTask<'_> {
    type Answer = Vec<AgentLine>;

    fn tools(&self) -> Vec<Tool> {
        self.session.tools()
    }

    async fn call(&mut self, call: &ToolCall) -> String {
        self.session.call(call)
    }

    fn answer(&mut self, reply: &ModelReply) -> AnswerVerdict<Self::Answer> {
        match self.session.lines(reply) {
            Ok(lines) => AnswerVerdict::Accepted(lines),
            Err(reason) => AnswerVerdict::Rejected(reason),
        }
    }

    /// Extends the lease. A store that is unavailable now may be back before the lease ends, and the finish decides.
    async fn may_continue(&mut self) -> bool {
        let (now, lease) = (self.worker.clock.now(), self.worker.limits.lease);
        let token = &self.claimed.token;
        let beat = self.worker.store.heartbeat(token, now, lease).await;
        beat.unwrap_or(true)
    }
}
