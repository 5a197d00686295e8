//! `daybook jobs`: shows background work and what it waits for, retries and cancels it.

mod find;
mod render;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use daybook_domain::{Gap, Job, JobKey, JobKind, JobStatus};
use daybook_engine::jobs::ENGINE;
use serde_json::{Value, json};
use strum::VariantArray;

use super::CommonArgs;
use crate::process::block_on;
use crate::terminal::common_args::at_least_one;
use crate::terminal::output::{bold, count, dim, json as print_json, print_line};
use crate::terminal::suggest;
use crate::wiring::Daybook;
use render::{JobShown, explanation, gap_line, line};

/// Most jobs that `list` shows to people by default.
const ROWS: usize = 50;

/// Show background work and what it waits for; retry and cancel it.
#[derive(Args)]
pub(crate) struct JobsCommand {
    #[command(subcommand)]
    what: Option<JobsSubcommand>,
}

#[derive(Subcommand)]
enum JobsSubcommand {
    /// List jobs that are not done, the next one first
    List(ListJobsCommand),
    /// Show all fields of a job
    Show {
        /// A session's label, `extract/<session>`, or `consolidate/<scope>`
        job: String,
    },
    /// Explain why a job is not done, and what happens next
    Explain {
        /// A session's label, `extract/<session>`, or `consolidate/<scope>`
        job: String,
    },
    /// Try again now, whatever failed before; gaps of the job are retried, too
    Retry {
        /// Sessions' labels, `extract/<session>`, or `consolidate/<scope>`
        #[arg(required_unless_present = "failed")]
        jobs: Vec<String>,
        /// All jobs that failed, and all gaps but those that were made by `cancel`
        #[arg(long, conflicts_with = "jobs")]
        failed: bool,
    },
    /// Give up the waiting events: they become a gap, which `retry` retries
    Cancel {
        /// Sessions' labels, `extract/<session>`, or `consolidate/<scope>`
        #[arg(required = true)]
        jobs: Vec<String>,
    },
}

/// Jobs that are not done, the next one first.
#[derive(Args, Default)]
struct ListJobsCommand {
    /// Include jobs that are done
    #[arg(long)]
    all: bool,
    /// Only jobs with this status
    #[arg(long, value_enum)]
    state: Option<StateFilter>,
    /// Most jobs to show [default: 50; with --json all]
    #[arg(long, value_parser = at_least_one)]
    limit: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StateFilter {
    Due,
    Running,
    Waiting,
    Resting,
    Aside,
    Done,
}

impl StateFilter {
    fn of(status: &JobStatus) -> Self {
        match status {
            JobStatus::Due { .. } => Self::Due,
            JobStatus::Running { .. } => Self::Running,
            JobStatus::Waiting { .. } => Self::Waiting,
            JobStatus::Resting { .. } => Self::Resting,
            JobStatus::SetAside => Self::Aside,
            JobStatus::Done => Self::Done,
        }
    }
}

impl JobsCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        block_on(async {
            match &self.what {
                None => list(common, &daybook, &ListJobsCommand::default()).await,
                Some(JobsSubcommand::List(command)) => list(common, &daybook, command).await,
                Some(JobsSubcommand::Show { job }) => show(common, &daybook, job).await,
                Some(JobsSubcommand::Explain { job }) => explain(common, &daybook, job).await,
                Some(JobsSubcommand::Retry { jobs, failed }) => {
                    retry(common, &daybook, jobs, *failed).await
                }
                Some(JobsSubcommand::Cancel { jobs }) => cancel(common, &daybook, jobs).await,
            }
        })
    }
}

async fn list(
    common: &CommonArgs,
    daybook: &Daybook,
    command: &ListJobsCommand,
) -> Result<ExitCode> {
    let now = daybook.clock.now();
    let mut jobs: Vec<Job> = Vec::new();
    for &kind in JobKind::VARIANTS {
        jobs.extend(daybook.jobs(kind).await?);
    }
    jobs.retain(|job| match command.state {
        Some(state) => StateFilter::of(&job.status(now)) == state,
        None => command.all || job.is_ahead(),
    });
    jobs.sort_by_key(|job| (job.due_at().is_none(), job.due_at(), job.key.to_string()));
    let gaps = daybook.gaps().await?;
    let most = command
        .limit
        .unwrap_or(if common.json { usize::MAX } else { ROWS });
    let hidden = jobs.len().saturating_sub(most);
    jobs.truncate(most);
    if common.json {
        let jobs: Vec<JobShown> = jobs.iter().map(|job| JobShown::of(job, now)).collect();
        print_json(&json!({ "jobs": jobs, "hidden": hidden, "gaps": gaps_json(&gaps) }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if jobs.is_empty() {
        print_line!("Nothing waits.");
    }
    for job in &jobs {
        print_line!("{}", line(daybook, job, now));
    }
    if hidden > 0 {
        print_line!(
            "{}",
            dim(&format!("… and {hidden} more; --limit shows them"))
        );
    }
    for gap in &gaps {
        print_line!("{}", gap_line(gap));
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(common: &CommonArgs, daybook: &Daybook, name: &str) -> Result<ExitCode> {
    let job = find::job(daybook, name).await?;
    let now = daybook.clock.now();
    let gaps = find::gaps(daybook, &job.key).await?;
    if common.json {
        let shown = JobShown::of(&job, now);
        print_json(&json!({ "job": shown, "row": job, "gaps": gaps_json(&gaps) }))?;
        return Ok(ExitCode::SUCCESS);
    }
    print_line!("{}", bold(&job.key.to_string()));
    for (name, value) in render::rows(daybook, &job, now) {
        print_line!("  {name:<10} {value}");
    }
    for gap in &gaps {
        print_line!("  {}", gap_line(gap));
    }
    Ok(ExitCode::SUCCESS)
}

async fn explain(common: &CommonArgs, daybook: &Daybook, name: &str) -> Result<ExitCode> {
    let job = find::job(daybook, name).await?;
    let gaps = find::gaps(daybook, &job.key).await?;
    let eligible = find::eligibility(daybook, &job.key).await?;
    let said = explanation(daybook, &job, &gaps, eligible);
    if common.json {
        let shown = JobShown::of(&job, daybook.clock.now());
        print_json(&json!({ "job": shown, "explanation": said }))?;
        return Ok(ExitCode::SUCCESS);
    }
    print_line!("{}", bold(&job.key.to_string()));
    for sentence in said {
        print_line!("  {sentence}");
    }
    Ok(ExitCode::SUCCESS)
}

async fn retry(
    common: &CommonArgs,
    daybook: &Daybook,
    names: &[String],
    failed: bool,
) -> Result<ExitCode> {
    let (store, now) = (&daybook.store, daybook.clock.now());
    let mut keys: Vec<JobKey> = Vec::new();
    if failed {
        let gaps = daybook.gaps().await?;
        let by_hand = |gap: &Gap| gap.failure.class == daybook_domain::FailureClass::Cancelled;
        keys.extend(
            gaps.into_iter()
                .filter(|gap| !by_hand(gap))
                .map(|gap| gap.job),
        );
        for &kind in JobKind::VARIANTS {
            let jobs = daybook.jobs(kind).await?.into_iter();
            keys.extend(
                jobs.filter(|job| job.last_failure.is_some())
                    .map(|job| job.key),
            );
        }
        keys.sort();
        keys.dedup();
    }
    for name in names {
        keys.push(find::job(daybook, name).await?.key);
    }
    let (mut jobs, mut gaps) = (0, 0);
    for key in &keys {
        let revived = store.revive_gaps(Some(key), ENGINE, now).await?;
        let waits = store.retry(key, now).await?;
        jobs += u64::from(waits);
        gaps += revived as u64;
    }
    if common.json {
        print_json(&json!({ "due": jobs, "gaps_taken_up": gaps }))?;
    } else if jobs == 0 {
        print_line!("Nothing to retry: no job waits, and there is no gap.");
    } else {
        print_line!(
            "{} due now, {} taken up again; `{}` does it.",
            count(jobs, "job"),
            count(gaps, "gap"),
            suggest::command("update"),
        );
    }
    Ok(ExitCode::SUCCESS)
}

async fn cancel(common: &CommonArgs, daybook: &Daybook, names: &[String]) -> Result<ExitCode> {
    let mut keys = Vec::new();
    for name in names {
        // All names are looked up before anything is given up.
        keys.push(find::job(daybook, name).await?.key);
    }
    let now = daybook.clock.now();
    let mut gaps = Vec::new();
    for key in &keys {
        gaps.extend(daybook.store.cancel(key, now, ENGINE).await?);
    }
    if common.json {
        print_json(&json!({ "gaps": gaps_json(&gaps) }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if gaps.is_empty() {
        bail!("nothing to cancel: all events of these jobs are done");
    }
    for gap in &gaps {
        print_line!("{}", gap_line(gap));
    }
    let mut words = vec!["jobs".to_owned(), "retry".to_owned()];
    words.extend(keys.iter().map(ToString::to_string));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let retry = suggest::command_of(&words);
    print_line!("Given up. `{retry}` takes it up again.");
    Ok(ExitCode::SUCCESS)
}

fn gaps_json(gaps: &[Gap]) -> Vec<Value> {
    let shown = gaps.iter().map(|gap| {
        json!({
            "job": gap.job.to_string(),
            "from": gap.from,
            "to": gap.to,
            "class": gap.failure.class.as_str(),
            "why": gap.failure.message,
            "at": crate::terminal::output::rfc3339(gap.at),
            "engine": gap.engine,
        })
    });
    shown.collect()
}
