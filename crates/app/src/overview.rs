//! What is covered, pending, in gaps, and why: counted once for every door.
//!
//! Not here: how it is shown.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use daybook_domain::eligibility::{Switches, eligible};
use daybook_domain::seams::ScopeState;
use daybook_domain::source::{Import, Source};
use daybook_domain::{Gap, Job, JobKey, JobKind, Session, SessionId, Timestamp};
use daybook_engine::notices::aside::AsideNotice;
use daybook_engine::notices::spool::Spool;
use serde::Serialize;
use utoipa::ToSchema;

use crate::refusals::{RefusalShown, refused};
use crate::suggest;
use crate::waiting::{Wait, waits};
use crate::wiring::Daybook;

/// All that is known of the state of a data folder.
pub(crate) struct Facts {
    pub(crate) sessions: Vec<Session>,
    pub(crate) extract: Vec<Job>,
    pub(crate) consolidate: Vec<Job>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) sources: Vec<Source>,
    pub(crate) scopes: Vec<ScopeState>,
    pub(crate) imports: Vec<Import>,
    /// Notices of hooks that nobody has taken in yet.
    pub(crate) notices: usize,
    /// What could not be taken in.
    pub(crate) failing: Vec<Failing>,
    /// What waits after a failure.
    pub(crate) waits: Vec<Wait>,
    /// What memory folders hold that is not used.
    pub(crate) refused: Vec<RefusalShown>,
    switches: Switches,
    /// What has rested for longer and still waits is stale.
    pub(crate) stale_after: Duration,
    now: Timestamp,
}

/// How far sessions have been learned from.
#[derive(Default, Serialize, ToSchema)]
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
    /// Whose memory there is.
    scopes: Vec<ScopeShown>,
    /// Scopes whose memory files do not show everything yet.
    waiting_to_be_written: usize,
    /// Notices of hooks that nobody has taken in yet.
    notices: usize,
    /// Files and notices that could not be taken in, until they are mended.
    failing: Vec<Failing>,
    /// What waits after a failure: for whom, until when, and why.
    waits: Vec<Wait>,
    /// What memory folders hold that is not read, written or committed.
    refused: Vec<RefusalShown>,
}

/// A file or a notice that could not be taken in. It holds up no other.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Failing {
    /// The transcript, or the file of the notice.
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

impl Facts {
    /// Looks everything up; of past imports, the newest `imports`.
    pub(crate) async fn gather(daybook: &Daybook, imports: usize) -> Result<Self> {
        let store = &*daybook.store;
        let (sources, spool) = (store.sources(&daybook.tenant).await?, daybook.spool());
        let extract = daybook.jobs(JobKind::Extract).await?;
        let consolidate = daybook.jobs(JobKind::Consolidate).await?;
        let jobs = extract.iter().chain(&consolidate);
        let waits = waits(jobs, &daybook.settings, daybook.clock.now());
        Ok(Self {
            failing: failing(&sources, &spool),
            notices: spool.count(),
            sources,
            sessions: store.sessions(&daybook.tenant, usize::MAX).await?,
            extract,
            consolidate,
            waits,
            gaps: daybook.gaps().await?,
            scopes: store.scopes(&daybook.tenant).await?,
            imports: store.imports(&daybook.tenant, imports).await?,
            refused: refused(daybook).await?,
            switches: daybook.switches(),
            stale_after: daybook.settings.profile.work.stale_after,
            now: daybook.clock.now(),
        })
    }

    /// The jobs of a kind.
    pub(crate) fn jobs(&self, kind: JobKind) -> &[Job] {
        match kind {
            JobKind::Extract => &self.extract,
            JobKind::Consolidate => &self.consolidate,
        }
    }

    /// Events in all sessions.
    pub(crate) fn events(&self) -> u64 {
        self.sessions.iter().map(|session| session.events.0).sum()
    }

    /// Each session counted once.
    pub(crate) fn coverage(&self) -> Coverage {
        let jobs = by_session(self.extract.clone());
        let mut coverage = Coverage {
            all: self.sessions.len() as u64,
            ..Coverage::default()
        };
        for session in &self.sessions {
            let job = jobs.get(&session.id);
            let waits = job.is_some_and(Job::is_ahead) && eligible(session, &self.switches).is_ok();
            let rested = self.now.since(session.last_at);
            coverage.stale += u64::from(waits && rested > self.stale_after);
            match eligible(session, &self.switches) {
                Err(why) => *coverage.never.entry(why.reason()).or_default() += 1,
                Ok(()) => match job {
                    Some(job) if !job.is_ahead() => coverage.covered += 1,
                    Some(job) if job.last_failure.is_some() && !job.is_at_cap() => {
                        coverage.failing += 1;
                    }
                    Some(_) | None => coverage.pending += 1,
                },
            }
        }
        coverage
    }

    /// Jobs of scopes whose files do not show everything yet.
    pub(crate) fn unwritten(&self) -> Vec<&Job> {
        self.consolidate
            .iter()
            .filter(|job| job.is_ahead())
            .collect()
    }

    /// What every program is shown, whichever door it comes in by.
    pub(crate) fn overview(&self) -> Overview {
        Overview {
            sessions: self.coverage(),
            events: self.events(),
            gaps: self.gaps.iter().map(GapShown::from).collect(),
            scopes: self.scopes.iter().map(ScopeShown::from).collect(),
            waiting_to_be_written: self.unwritten().len(),
            notices: self.notices,
            failing: self.failing.clone(),
            waits: self.waits.clone(),
            refused: self.refused.clone(),
        }
    }
}

/// Files whose last import failed, and notices that were set aside for another reason than such a file.
pub(crate) fn failing(sources: &[Source], spool: &Spool) -> Vec<Failing> {
    let files = sources.iter().filter_map(|source| {
        Some(Failing {
            path: source.path.clone(),
            why: source.failure.clone()?,
        })
    });
    let notices = spool.list_aside().into_iter().filter_map(|aside| {
        let why = match aside.held {
            Ok(held) if held.failing.is_some() => return None,
            Ok(AsideNotice { notice, why, .. }) => format!(
                "what a hook told of {}/{}: {why}; `{}` tries it again",
                notice.agent,
                notice.session,
                suggest::command("update"),
            ),
            Err(why) => format!("no notice of a hook: {why}; delete it"),
        };
        Some(Failing {
            path: aside.path.display().to_string(),
            why,
        })
    });
    files.chain(notices).collect()
}

impl From<&Gap> for GapShown {
    fn from(gap: &Gap) -> Self {
        Self {
            job: gap.job.to_string(),
            from: gap.from,
            to: gap.to,
            class: gap.failure.class.word(),
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

/// Extraction jobs, by session.
pub(crate) fn by_session(jobs: Vec<Job>) -> BTreeMap<SessionId, Job> {
    let session = |job: Job| match job.key.clone() {
        JobKey::Extract(session) => Some((session, job)),
        JobKey::Consolidate(_) => None,
    };
    jobs.into_iter().filter_map(session).collect()
}
