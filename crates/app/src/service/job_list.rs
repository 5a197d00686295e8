//! Background work as it is listed for programs.

use anyhow::Result;
use daybook_domain::page::read_first;
use daybook_domain::{Gap, Job, JobKey, JobKind, JobStatus, PageRequest, Priority, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// Some jobs, what was given up, and where the list goes on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JobList {
    /// The jobs of this page, by kind and key.
    pub(crate) jobs: Vec<ListedJob>,
    /// Events that were given up after failures; on the first page alone.
    pub(crate) gaps: Vec<ListedGap>,
    /// The value of `after` for the next page; `null` on the last.
    pub(crate) next: Option<String>,
}

/// One job.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedJob {
    /// Its name.
    #[schema(example = "extract/harbour-bot:2026-03-02-tides")]
    pub(crate) job: String,
    /// `extract`, `consolidate` or `redact`.
    pub(crate) kind: &'static str,
    /// `done`, `due`, `running`, `waiting` after a failure, `resting`, or `set_aside`.
    #[schema(example = "due")]
    pub(crate) state: &'static str,
    /// Until when it runs, waits or rests; RFC 3339.
    #[schema(format = DateTime)]
    pub(crate) until: Option<String>,
    /// How far it is.
    pub(crate) done: u64,
    /// How far there is input.
    pub(crate) input: u64,
    /// How soon among others: `low`, `normal`, `raised` or `high`.
    pub(crate) priority: &'static str,
    /// Tries so far on what it works on now.
    pub(crate) tries: u32,
    /// Why the last try failed.
    pub(crate) failure: Option<String>,
}

/// Events that were given up.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedGap {
    /// The job.
    pub(crate) job: String,
    /// The first one.
    pub(crate) from: u64,
    /// The last one.
    pub(crate) to: u64,
    /// Why.
    pub(crate) why: String,
    /// When, RFC 3339.
    #[schema(format = DateTime)]
    pub(crate) at: Option<String>,
}

/// The kinds in the order of their names, which is that of the list.
const KINDS: [JobKind; 3] = [JobKind::Consolidate, JobKind::Extract, JobKind::Redact];

/// Lists jobs by kind and key; those that are done only with `all`. Reads no more jobs than it lists.
pub(crate) async fn list_jobs(
    daybook: &Daybook,
    all: bool,
    after: Option<&str>,
    limit: usize,
) -> Result<JobList> {
    let mut jobs = jobs_after(daybook, all, after, limit + 1).await?;
    let has_more = jobs.len() > limit;
    jobs.truncate(limit);
    let gaps = match after {
        None => daybook.gaps().await?,
        Some(_) => Vec::new(),
    };
    let now = daybook.clock.now();
    let next = jobs.last().filter(|_| has_more);
    Ok(JobList {
        next: next.map(|job| job.key.to_string()),
        jobs: jobs.iter().map(|job| listed(job, now)).collect(),
        gaps: gaps.iter().map(listed_gap).collect(),
    })
}

/// The first jobs behind the one that `after` names; from the start where it names none.
async fn jobs_after(
    daybook: &Daybook,
    all: bool,
    after: Option<&str>,
    most: usize,
) -> Result<Vec<Job>> {
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let after = after.and_then(|name| JobKey::parse(tenant, name));
    let first = after.as_ref().map(JobKey::kind);
    let kinds = KINDS.into_iter();
    let kinds = kinds.skip_while(|kind| first.is_some_and(|first| first != *kind));
    let mut jobs = Vec::new();
    for kind in kinds {
        let begin = after.clone().filter(|key| key.kind() == kind);
        let read = |page: PageRequest<JobKey>| {
            let after = page.after.or_else(|| begin.clone());
            let page = PageRequest { after, ..page };
            match all {
                true => store.jobs(tenant, kind, page),
                false => store.open_jobs(tenant, kind, page),
            }
        };
        jobs.extend(read_first(most - jobs.len(), read).await?);
    }
    Ok(jobs)
}

fn listed(job: &Job, now: Timestamp) -> ListedJob {
    let (state, until) = match job.status(now) {
        JobStatus::Done => ("done", None),
        JobStatus::SetAside => ("set_aside", None),
        JobStatus::Running { until, .. } => ("running", Some(until)),
        JobStatus::Waiting { until, .. } => ("waiting", Some(until)),
        JobStatus::Resting { until } => ("resting", Some(until)),
        JobStatus::Due { .. } => ("due", None),
    };
    ListedJob {
        job: job.key.to_string(),
        kind: job.key.kind().as_str(),
        state,
        until: until.and_then(rfc3339),
        done: job.done,
        input: job.input,
        priority: match job.priority {
            Priority::Low => "low",
            Priority::Normal => "normal",
            Priority::Raised => "raised",
            Priority::High => "high",
        },
        tries: job.tries,
        failure: job.last_failure.as_ref().map(|it| it.message.clone()),
    }
}

fn listed_gap(gap: &Gap) -> ListedGap {
    ListedGap {
        job: gap.job.to_string(),
        from: gap.from,
        to: gap.to,
        why: gap.failure.message.clone(),
        at: rfc3339(gap.at),
    }
}
