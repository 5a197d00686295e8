//! Counts what of the memory is covered, pending or in gaps, and why. Every interface shows these numbers.
//!
//! Not here: rendering.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use daybook_domain::eligibility::{Switches, eligible};
use daybook_domain::page::{read_all, read_first, visit_all};
use daybook_domain::seams::ScopeState;
use daybook_domain::source::{ImportRun, TranscriptSource};
use daybook_domain::{
    Gap, Job, JobKey, JobKind, LearnedState, Session, SessionGroup, SessionId, StoreError,
    Timestamp,
};
use daybook_engine::hook_events::failed::FailedHookEvent;
use daybook_engine::jobs::quarantine;
use serde::Serialize;
use utoipa::ToSchema;

use crate::service::agent_failures::{FailedAgentRun, failed_agent_runs};
use crate::service::refusals::{RefusedFile, refused_files};
use crate::service::waits::{JobWait, group_waits};
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// The state of a tenant's memory, read from store, spool and memory folders.
pub(crate) struct TenantMemoryState {
    /// How far sessions have been learned from.
    pub(crate) coverage: Coverage,
    /// Events in all sessions.
    pub(crate) events: u64,
    pub(crate) extract: Vec<Job>,
    pub(crate) consolidate: Vec<Job>,
    pub(crate) redact: Vec<Job>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) scopes: Vec<ScopeState>,
    pub(crate) imports: Vec<ImportRun>,
    /// Hook events in the spool that no process has applied yet.
    pub(crate) waiting_hook_events: usize,
    /// Files and hook events that could not be imported.
    pub(crate) failing: Vec<FailingInput>,
    /// Jobs that wait after a failure, grouped by reason.
    pub(crate) waits: Vec<JobWait>,
    /// Scopes in which the consolidation agent's last run failed.
    pub(crate) agent_failures: Vec<FailedAgentRun>,
    /// Observations that wait for a person's decision.
    pub(crate) quarantined: usize,
    /// Files in memory folders that are not used as memory.
    pub(crate) refused: Vec<RefusedFile>,
    /// Sessions that wait although they have rested for longer than this are stale.
    pub(crate) stale_after: Duration,
}

/// How far sessions have been learned from.
#[derive(Clone, Default, Serialize, ToSchema)]
pub(crate) struct Coverage {
    /// All sessions.
    pub(crate) all: u64,
    /// Sessions of which every event was extracted, or lies in a shown gap.
    pub(crate) covered: u64,
    /// Sessions with events that wait.
    pub(crate) pending: u64,
    /// Sessions whose last extraction failed, and is tried again.
    pub(crate) failing: u64,
    /// Sessions of the two before that have rested for longer than the setting `stale_after`: kept,
    /// however old they are.
    pub(crate) stale: u64,
    /// Sessions that memory is never made from, by reason.
    pub(crate) never: BTreeMap<&'static str, u64>,
}

/// The state of the memory, for programs.
#[derive(Serialize, ToSchema)]
pub(crate) struct Overview {
    /// How far sessions have been learned from.
    sessions: Coverage,
    /// Events in all sessions.
    events: u64,
    /// Ranges that were given up.
    gaps: Vec<GapShown>,
    /// The scopes with memory.
    scopes: Vec<ScopeShown>,
    /// Scopes whose memory files do not show everything yet.
    waiting_to_be_written: usize,
    /// Hook events in the spool that are not processed yet.
    notices: usize,
    /// Files and hook events that could not be imported, until an import succeeds.
    failing: Vec<FailingInput>,
    /// Jobs that wait after a failure: for which model, until when, and why.
    waits: Vec<JobWait>,
    /// The last run of the consolidation agent in each scope, where it failed.
    agent_failures: Vec<FailedAgentRun>,
    /// Observations that wait for the person's decision.
    quarantined: usize,
    /// Files in memory folders that are not read, written or committed.
    refused: Vec<RefusedFile>,
}

/// A file or a hook event that could not be imported. The others are imported all the same.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct FailingInput {
    /// The transcript, or the file of the hook event.
    #[schema(example = "/home/ada/.claude/projects/tidepool/7f78.jsonl")]
    pub(crate) path: String,
    /// Why.
    #[schema(example = "the line ends within a frame")]
    pub(crate) why: String,
}

/// A range that could not be processed.
#[derive(Serialize, ToSchema)]
struct GapShown {
    /// The job that it is a gap of.
    #[schema(example = "extract/harbour-bot:2026-03-02")]
    job: String,
    /// First position inside.
    from: u64,
    /// Last position inside.
    to: u64,
    /// Why, as a word: `outage`, `content` or `vanished`.
    class: &'static str,
    /// Why, for people.
    why: String,
}

/// One scope.
#[derive(Serialize, ToSchema)]
struct ScopeShown {
    /// Its name.
    #[schema(example = "project/tidepool")]
    scope: String,
    /// Observations that hold.
    observations: u64,
    /// How often something has changed that its files must show.
    revision: u64,
}

impl TenantMemoryState {
    /// Reads the state; of past imports, the newest `imports`.
    pub(crate) async fn load(daybook: &Daybook, imports: usize) -> Result<Self> {
        let store = &*daybook.store;
        let extract = daybook.jobs(JobKind::Extract).await?;
        let consolidate = daybook.jobs(JobKind::Consolidate).await?;
        let redact = daybook.jobs(JobKind::Redact).await?;
        let jobs = extract.iter().chain(&consolidate).chain(&redact);
        let (coverage, events) = Coverage::load_one_by_one(daybook, &extract).await?;
        let waits = group_waits(jobs, &daybook.settings, daybook.clock.now());
        Ok(Self {
            failing: failing_inputs(daybook).await?,
            waiting_hook_events: daybook.spool().count(),
            coverage,
            events,
            extract,
            consolidate,
            redact,
            waits,
            agent_failures: failed_agent_runs(daybook).await?,
            gaps: daybook.gaps().await?,
            scopes: read_all(|page| store.scopes(&daybook.tenant, page)).await?,
            imports: read_first(imports, |page| store.imports(&daybook.tenant, page)).await?,
            quarantined: quarantine::waiting(store, &daybook.tenant).await?.len(),
            refused: refused_files(daybook).await?,
            stale_after: daybook.settings.profile.work.stale_after,
        })
    }

    /// The jobs of a kind.
    pub(crate) fn jobs(&self, kind: JobKind) -> &[Job] {
        match kind {
            JobKind::Extract => &self.extract,
            JobKind::Consolidate => &self.consolidate,
            JobKind::Redact => &self.redact,
        }
    }

    /// Jobs of scopes whose files do not show everything yet.
    pub(crate) fn unwritten(&self) -> Vec<&Job> {
        self.consolidate
            .iter()
            .filter(|job| job.is_ahead())
            .collect()
    }

    /// The state as every interface shows it to programs.
    pub(crate) fn overview(&self) -> Overview {
        Overview {
            sessions: self.coverage.clone(),
            events: self.events,
            gaps: self.gaps.iter().map(GapShown::from).collect(),
            scopes: self.scopes.iter().map(ScopeShown::from).collect(),
            waiting_to_be_written: self.unwritten().len(),
            notices: self.waiting_hook_events,
            failing: self.failing.clone(),
            waits: self.waits.clone(),
            agent_failures: self.agent_failures.clone(),
            quarantined: self.quarantined,
            refused: self.refused.clone(),
        }
    }
}

/// Sessions that wait are stale where their last activity was before then.
fn rested_before(daybook: &Daybook) -> Timestamp {
    let stale_after = daybook.settings.profile.work.stale_after;
    daybook.clock.now().minus(stale_after)
}

impl Coverage {
    /// Counts a tenant's sessions, and their events, without reading them one by one.
    pub(crate) async fn load(daybook: &Daybook) -> Result<(Self, u64)> {
        let rested_before = rested_before(daybook);
        let groups = daybook.store.session_groups(&daybook.tenant, rested_before);
        let groups = match groups.await {
            // A damaged row costs its own session alone: the listing leaves it out.
            Err(StoreError::Corrupt(_)) => {
                let extract = daybook.jobs(JobKind::Extract).await?;
                return Self::load_one_by_one(daybook, &extract).await;
            }
            groups => groups?,
        };
        let switches = daybook.switches();
        let (mut coverage, mut events) = (Self::default(), 0);
        for group in groups {
            coverage.count(&group, &switches);
            events += group.events;
        }
        Ok((coverage, events))
    }

    /// The same from the listing of sessions, which reports damaged rows and holds no more than a page of them.
    async fn load_one_by_one(daybook: &Daybook, extract: &[Job]) -> Result<(Self, u64)> {
        let jobs: BTreeMap<&JobKey, &Job> = extract.iter().map(|job| (&job.key, job)).collect();
        let (rested_before, switches) = (rested_before(daybook), daybook.switches());
        let (mut coverage, mut events) = (Self::default(), 0);
        let count = |sample: Session| {
            let job = jobs.get(&JobKey::Extract(sample.id.clone())).copied();
            let learned = LearnedState::of(job);
            let has_rested = learned.is_waiting() && sample.last_at < rested_before;
            events += sample.events.0;
            let one = SessionGroup {
                learned,
                sessions: 1,
                events: sample.events.0,
                rested: u64::from(has_rested),
                sample,
            };
            coverage.count(&one, &switches);
        };
        let (store, tenant) = (&daybook.store, &daybook.tenant);
        visit_all(|page| store.sessions(tenant, page), count).await?;
        Ok((coverage, events))
    }

    /// Counts each session once, by how far it was extracted.
    fn count(&mut self, group: &SessionGroup, switches: &Switches) {
        self.all += group.sessions;
        match eligible(&group.sample, switches) {
            Err(why) => *self.never.entry(why.reason()).or_default() += group.sessions,
            Ok(()) => {
                self.stale += group.rested;
                let counted = match group.learned {
                    LearnedState::Learned => &mut self.covered,
                    LearnedState::Failing => &mut self.failing,
                    LearnedState::Waiting | LearnedState::Unmarked => &mut self.pending,
                };
                *counted += group.sessions;
            }
        }
    }
}

/// Lists files whose last import failed, and hook events that were set aside for another reason than such a file.
pub(crate) async fn failing_inputs(daybook: &Daybook) -> Result<Vec<FailingInput>> {
    let mut failing: Vec<FailingInput> = Vec::new();
    let add = |source: TranscriptSource| {
        failing.extend(source.failure.map(|why| FailingInput {
            path: source.path,
            why,
        }));
    };
    visit_all(
        |page| daybook.store.failing_sources(&daybook.tenant, page),
        add,
    )
    .await?;
    let hook_events = daybook.spool().failed().into_iter().filter_map(|file| {
        let why = match file.content {
            Ok(failed) if failed.failed_transcript.is_some() => return None,
            Ok(FailedHookEvent { event, reason, .. }) => format!(
                "a hook event of {}/{}: {reason}; `{}` tries it again",
                event.agent,
                event.session,
                suggest::command("update"),
            ),
            Err(why) => format!("not a hook event: {why}; delete it"),
        };
        Some(FailingInput {
            path: file.path.display().to_string(),
            why,
        })
    });
    failing.extend(hook_events);
    Ok(failing)
}

impl From<&Gap> for GapShown {
    fn from(gap: &Gap) -> Self {
        Self {
            job: gap.job.to_string(),
            from: gap.from,
            to: gap.to,
            class: gap.failure.class.as_str(),
            why: gap.failure.message.clone(),
        }
    }
}

impl From<&ScopeState> for ScopeShown {
    fn from(state: &ScopeState) -> Self {
        Self {
            scope: state.scope.to_string(),
            observations: state.observations,
            revision: state.revision,
        }
    }
}

/// Indexes extraction jobs by their session.
pub(crate) fn by_session(jobs: Vec<Job>) -> BTreeMap<SessionId, Job> {
    let session = |job: Job| match job.key.clone() {
        JobKey::Extract(session) => Some((session, job)),
        JobKey::Consolidate(_) | JobKey::Redact(_) => None,
    };
    jobs.into_iter().filter_map(session).collect()
}
