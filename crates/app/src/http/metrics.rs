//! `/metrics`: the state of the data folder in numbers, whichever process did the work.
//!
//! Read from the store at each scrape, so that it is right for workers, hooks and commands too, and
//! survives a restart. Only requests are counted here, as nobody else answers them.

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use daybook_domain::spend::{Amount, Payer, Period, Purse};
use daybook_domain::{FailureClass, Job, JobKind, Money, Tallied, Tally, Timestamp};

use super::counter::Counter;
use super::exposition::{CONTENT, Exposition, Kind};
use super::fault::{ErrorBody, Fault};
use crate::overview::Facts;
use crate::wiring::Daybook;

/// Numbers for Prometheus
///
/// In its text format, version 0.0.4. docs/operating.md says what each means.
#[utoipa::path(
    get,
    path = "/metrics",
    responses(
        (status = OK, description = "The numbers", body = String, content_type = "text/plain"),
        (status = "default", description = "They could not be told", body = ErrorBody),
    ),
)]
pub(super) async fn metrics(counter: Counter) -> Result<impl IntoResponse, Fault> {
    let is_own = counter.is_own();
    let (facts, tallied, spent, now) = counter
        .serve(move |daybook| async move {
            let facts = Facts::gather(&daybook, 0).await?;
            let now = daybook.clock.now();
            let spent = spent(&daybook, now).await?;
            // Counted over all tenants, so not for each of them to see.
            let tallied = match is_own {
                true => daybook.store.tallies().await?,
                false => Vec::new(),
            };
            Ok((facts, tallied, spent, now))
        })
        .await?;
    let mut exposition = Exposition::default();
    about(&mut exposition);
    jobs(&mut exposition, &facts, now);
    tallies(&mut exposition, &tallied);
    memory(&mut exposition, &facts);
    spending(&mut exposition, &spent);
    if is_own {
        counter.traffic().expose(&mut exposition);
    }
    Ok(([(CONTENT_TYPE, CONTENT)], exposition.text()))
}

fn about(exposition: &mut Exposition) {
    let help = "Always 1; the version of this server is its label.";
    let mut info = exposition.family("daybook_build_info", Kind::Gauge, help);
    info.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
}

/// One number for each kind of job.
type OfJobs = fn(&[Job], Timestamp) -> f64;

fn jobs(exposition: &mut Exposition, facts: &Facts, now: Timestamp) {
    let gauges: [(&'static str, &str, OfJobs); 4] = [
        (
            "daybook_jobs_waiting",
            "Jobs with something left to do, due or not, held or not.",
            |jobs, _| count(jobs, Job::is_ahead),
        ),
        (
            "daybook_jobs_due",
            "Jobs whose time has come and that nobody holds.",
            |jobs, now| count(jobs, |job| job.due_at().is_some_and(|due| due <= now)),
        ),
        (
            "daybook_jobs_due_age_seconds",
            "How long the job that has been due longest has been due; 0 when none is.",
            longest_due,
        ),
        (
            "daybook_leases",
            "Jobs that a worker holds.",
            |jobs, now| count(jobs, |job| job.is_leased(now)),
        ),
    ];
    for (name, help, of) in gauges {
        let mut family = exposition.family(name, Kind::Gauge, help);
        for kind in JobKind::ALL {
            family.sample(&[("kind", kind.word())], of(facts.jobs(kind), now));
        }
    }
    let help = "Ranges that were given up.";
    let mut gaps = exposition.family("daybook_gaps", Kind::Gauge, help);
    for kind in JobKind::ALL {
        let given_up = facts.gaps.iter().filter(|gap| gap.job.kind() == kind);
        gaps.sample(&[("kind", kind.word())], given_up.count() as f64);
    }
}

fn count(jobs: &[Job], is: impl Fn(&Job) -> bool) -> f64 {
    jobs.iter().filter(|job| is(job)).count() as f64
}

fn longest_due(jobs: &[Job], now: Timestamp) -> f64 {
    let due = jobs.iter().filter_map(Job::due_at).min();
    let millis = due.map_or(0, |due| now.0.saturating_sub(due.0));
    millis.max(0) as f64 / 1e3
}

/// What has become of jobs. What never happened is told as 0, so that its first time is seen to rise.
fn tallies(exposition: &mut Exposition, tallies: &[Tally]) {
    let count = |kind, what| {
        let tally = tallies.iter().find(|t| t.kind == kind && t.what == what);
        tally.map_or(0.0, |tally| tally.count as f64)
    };
    let help = "Claims granted since the data folder was made.";
    let mut claimed = exposition.family("daybook_jobs_claimed_total", Kind::Counter, help);
    for kind in JobKind::ALL {
        let labels = [("kind", kind.word())];
        claimed.sample(&labels, count(kind, Tallied::Claimed));
    }
    let help = "How work ended since the data folder was made, failed tries apart.";
    let mut ended = exposition.family("daybook_jobs_ended_total", Kind::Counter, help);
    for kind in JobKind::ALL {
        for what in Tallied::ALL.into_iter().filter(|what| is_end(*what)) {
            let labels = [("kind", kind.word()), ("outcome", what.word())];
            ended.sample(&labels, count(kind, what));
        }
    }
    let help = "Tries that failed since the data folder was made.";
    let mut failures = exposition.family("daybook_job_failures_total", Kind::Counter, help);
    for kind in JobKind::ALL {
        for class in FailureClass::ALL {
            let labels = [("kind", kind.word()), ("class", class.word())];
            failures.sample(&labels, count(kind, Tallied::Failed(class)));
        }
    }
}

fn is_end(what: Tallied) -> bool {
    match what {
        Tallied::Finished
        | Tallied::Nothing
        | Tallied::Partly
        | Tallied::GaveUp
        | Tallied::Cancelled
        | Tallied::Lost => true,
        Tallied::Claimed | Tallied::Failed(_) => false,
    }
}

fn memory(exposition: &mut Exposition, facts: &Facts) {
    let coverage = facts.coverage();
    let states = [
        ("covered", coverage.covered),
        ("pending", coverage.pending),
        ("failing", coverage.failing),
        ("never", coverage.never.values().sum()),
    ];
    let help =
        "Sessions, by how far they have been learned from; never: memory is not made from them.";
    let mut sessions = exposition.family("daybook_sessions", Kind::Gauge, help);
    for (state, count) in states {
        sessions.sample(&[("state", state)], count as f64);
    }
    let observations: u64 = facts.scopes.iter().map(|scope| scope.observations).sum();
    let gauges: [(&'static str, &str, u64); 3] = [
        ("daybook_events", "Events in all sessions.", facts.events()),
        (
            "daybook_observations",
            "Observations that hold, in all scopes.",
            observations,
        ),
        (
            "daybook_notices_waiting",
            "Notices of hooks that nobody has taken in yet.",
            facts.notices as u64,
        ),
    ];
    for (name, help, value) in gauges {
        exposition
            .family(name, Kind::Gauge, help)
            .sample(&[], value as f64);
    }
}

/// What counts in this day and this month.
type Spent = [(Period, Amount); 2];

async fn spent(daybook: &Daybook, now: Timestamp) -> anyhow::Result<Spent> {
    let periods = [Period::Day, Period::Month];
    let purses = periods.map(|period| Purse::at(Payer::Tenant, "", period, "", now));
    let used = daybook.spending.used(&daybook.tenant, &purses).await?;
    let amount = |at: usize| used.get(at).copied().unwrap_or_default();
    Ok([(periods[0], amount(0)), (periods[1], amount(1))])
}

fn spending(exposition: &mut Exposition, spent: &Spent) {
    let help = "Tokens of models that count in this period of UTC, what is reserved included.";
    let mut tokens = exposition.family("daybook_spend_tokens", Kind::Gauge, help);
    for (period, amount) in spent {
        tokens.sample(&[("period", period.word())], amount.tokens as f64);
    }
    let help = "What they cost, in the currency of the prices.";
    let mut money = exposition.family("daybook_spend_money", Kind::Gauge, help);
    for (period, amount) in spent {
        let units = amount.money.0 as f64 / Money::UNIT as f64;
        money.sample(&[("period", period.word())], units);
    }
}
