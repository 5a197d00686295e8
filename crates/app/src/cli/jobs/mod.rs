//! `daybook jobs`: background work, what each piece of it waits for, and how to move it on.

mod find;
mod shown;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use daybook_domain::{Gap, Job, JobKey, JobKind, Standing};
use daybook_engine::jobs::ENGINE;
use serde_json::{Value, json};

use super::Common;
use crate::output::{bold, count, dim, json as print_json};
use crate::suggest;
use crate::wiring::{Daybook, block_on};
use shown::{Shown, explained, gap_line, line};

/// Most jobs that `list` shows to people unless it is asked for more.
const ROWS: usize = 50;

/// Background work, and what each piece of it waits for.
#[derive(Args)]
pub(crate) struct Jobs {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    /// Jobs that are not done, the next one first
    List(List),
    /// All that is known of a job
    Show {
        /// A session's label, `extract/<session>`, or `consolidate/<scope>`
        job: String,
    },
    /// Why a job is not done, and what happens next
    Explain {
        /// A session's label, `extract/<session>`, or `consolidate/<scope>`
        job: String,
    },
    /// Try again now, whatever failed before; gaps of the job are taken up again
    Retry {
        /// Sessions' labels, `extract/<session>`, or `consolidate/<scope>`
        #[arg(required_unless_present = "failed")]
        jobs: Vec<String>,
        /// All jobs that failed, and all gaps that nobody gave up by hand
        #[arg(long, conflicts_with = "jobs")]
        failed: bool,
    },
    /// Give up what waits: it becomes a gap, which `retry` takes up again
    Cancel {
        /// Sessions' labels, `extract/<session>`, or `consolidate/<scope>`
        #[arg(required = true)]
        jobs: Vec<String>,
    },
}

/// Jobs that are not done, the next one first.
#[derive(Args, Default)]
struct List {
    /// Done ones, too
    #[arg(long)]
    all: bool,
    /// Only those that stand so
    #[arg(long, value_enum)]
    state: Option<State>,
    /// Most jobs to show [default: 50; with --json all]
    #[arg(long)]
    limit: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum State {
    Due,
    Running,
    Waiting,
    Resting,
    Aside,
    Done,
}

impl State {
    fn of(standing: &Standing) -> Self {
        match standing {
            Standing::Due { .. } => Self::Due,
            Standing::Running { .. } => Self::Running,
            Standing::Waiting { .. } => Self::Waiting,
            Standing::Resting { .. } => Self::Resting,
            Standing::SetAside => Self::Aside,
            Standing::Done => Self::Done,
        }
    }
}

impl Jobs {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        block_on(async {
            match &self.what {
                None => list(common, &daybook, &List::default()).await,
                Some(What::List(asked)) => list(common, &daybook, asked).await,
                Some(What::Show { job }) => show(common, &daybook, job).await,
                Some(What::Explain { job }) => explain(common, &daybook, job).await,
                Some(What::Retry { jobs, failed }) => retry(common, &daybook, jobs, *failed).await,
                Some(What::Cancel { jobs }) => cancel(common, &daybook, jobs).await,
            }
        })
    }
}

async fn list(common: &Common, daybook: &Daybook, asked: &List) -> Result<ExitCode> {
    let now = daybook.clock.now();
    let mut jobs: Vec<Job> = Vec::new();
    for kind in JobKind::ALL {
        jobs.extend(daybook.jobs(kind).await?);
    }
    jobs.retain(|job| match asked.state {
        Some(state) => State::of(&job.standing(now)) == state,
        None => asked.all || job.is_ahead(),
    });
    jobs.sort_by_key(|job| (job.due_at().is_none(), job.due_at(), job.key.to_string()));
    let gaps = daybook.gaps().await?;
    let most = asked
        .limit
        .unwrap_or(if common.json { usize::MAX } else { ROWS });
    let hidden = jobs.len().saturating_sub(most);
    jobs.truncate(most);
    if common.json {
        let jobs: Vec<Shown> = jobs.iter().map(|job| Shown::of(job, now)).collect();
        print_json(&json!({ "jobs": jobs, "hidden": hidden, "gaps": gaps_json(&gaps) }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if jobs.is_empty() {
        anstream::println!("Nothing waits.");
    }
    for job in &jobs {
        anstream::println!("{}", line(daybook, job, now));
    }
    if hidden > 0 {
        anstream::println!(
            "{}",
            dim(&format!("… and {hidden} more; --limit shows them"))
        );
    }
    for gap in &gaps {
        anstream::println!("{}", gap_line(gap));
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(common: &Common, daybook: &Daybook, name: &str) -> Result<ExitCode> {
    let job = find::job(daybook, name).await?;
    let now = daybook.clock.now();
    let gaps = find::gaps(daybook, &job.key).await?;
    if common.json {
        let shown = Shown::of(&job, now);
        print_json(&json!({ "job": shown, "row": job, "gaps": gaps_json(&gaps) }))?;
        return Ok(ExitCode::SUCCESS);
    }
    anstream::println!("{}", bold(&job.key.to_string()));
    for (name, value) in shown::rows(daybook, &job, now) {
        anstream::println!("  {name:<10} {value}");
    }
    for gap in &gaps {
        anstream::println!("  {}", gap_line(gap));
    }
    Ok(ExitCode::SUCCESS)
}

async fn explain(common: &Common, daybook: &Daybook, name: &str) -> Result<ExitCode> {
    let job = find::job(daybook, name).await?;
    let gaps = find::gaps(daybook, &job.key).await?;
    let eligible = find::eligibility(daybook, &job.key).await?;
    let said = explained(daybook, &job, &gaps, eligible);
    if common.json {
        let shown = Shown::of(&job, daybook.clock.now());
        print_json(&json!({ "job": shown, "explanation": said }))?;
        return Ok(ExitCode::SUCCESS);
    }
    anstream::println!("{}", bold(&job.key.to_string()));
    for sentence in said {
        anstream::println!("  {sentence}");
    }
    Ok(ExitCode::SUCCESS)
}

async fn retry(
    common: &Common,
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
        for kind in JobKind::ALL {
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
        anstream::println!("Nothing waits, and there is no gap: there is nothing to try again.");
    } else {
        anstream::println!(
            "{} due now, {} taken up again; `{}` does it.",
            count(jobs, "job"),
            count(gaps, "gap"),
            suggest::command("update"),
        );
    }
    Ok(ExitCode::SUCCESS)
}

async fn cancel(common: &Common, daybook: &Daybook, names: &[String]) -> Result<ExitCode> {
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
        bail!("nothing waits there: everything is done already");
    }
    for gap in &gaps {
        anstream::println!("{}", gap_line(gap));
    }
    let mut words = vec!["jobs".to_owned(), "retry".to_owned()];
    words.extend(keys.iter().map(ToString::to_string));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let retry = suggest::command_of(&words);
    anstream::println!("Given up. `{retry}` takes it up again.");
    Ok(ExitCode::SUCCESS)
}

fn gaps_json(gaps: &[Gap]) -> Vec<Value> {
    let shown = gaps.iter().map(|gap| {
        json!({
            "job": gap.job.to_string(),
            "from": gap.from,
            "to": gap.to,
            "class": gap.failure.class.word(),
            "why": gap.failure.message,
            "at": crate::output::rfc3339(gap.at),
            "engine": gap.engine,
        })
    });
    shown.collect()
}
