//! `/metrics`: the state of the data folder in numbers, for the work of all processes.
//!
//! Read from the store at each scrape, so that it is right for workers, hooks and commands too, and
//! survives a restart. Requests alone are counted in memory, as only the server answers them.

use std::sync::Arc;

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use daybook_domain::spend::{Amount, BudgetPeriod, Payer, Period};
use daybook_domain::{FailureClass, Job, JobKind, Money, Tally, TallyKind, Timestamp};
use strum::VariantArray;

use super::described_routes::described_routes;
use super::executor::RequestExecutor;
use super::exposition::{CONTENT, Exposition, MetricKind};
use super::fault::{ErrorBody, HttpFault};
use crate::service::overview::TenantMemoryState;
use crate::wiring::Daybook;

described_routes!(metrics);

/// Numbers for Prometheus
///
/// In its text format, version 0.0.4. docs/operating.md explains each.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "getMetrics",
    responses(
        (status = OK, description = "The numbers", body = String, content_type = "text/plain"),
        (status = "default", description = "They could not be read", body = ErrorBody),
    ),
)]
async fn metrics(executor: RequestExecutor) -> Result<impl IntoResponse, HttpFault> {
    let is_own = executor.is_own();
    let read = move |daybook: Arc<Daybook>| async move { expose_memory(&daybook, is_own).await };
    let mut exposition = executor.run(read).await?;
    if is_own {
        executor.traffic().expose(&mut exposition);
    }
    Ok(([(CONTENT_TYPE, CONTENT)], exposition.text()))
}

/// The numbers of a memory, without those of a server's requests.
pub(crate) async fn memory_metrics(daybook: &Daybook) -> anyhow::Result<String> {
    Ok(expose_memory(daybook, true).await?.text())
}

async fn expose_memory(daybook: &Daybook, is_own: bool) -> anyhow::Result<Exposition> {
    let facts = TenantMemoryState::load(daybook, 0).await?;
    let now = daybook.clock.now();
    let spent = load_spent(daybook, now).await?;
    // These counts are over all tenants, so only the server's own tenant may see them.
    let tallied = match is_own {
        true => daybook.store.tallies().await?,
        false => Vec::new(),
    };
    let mut exposition = Exposition::default();
    build_info(&mut exposition);
    job_gauges(&mut exposition, &facts, now);
    job_counters(&mut exposition, &tallied);
    memory_gauges(&mut exposition, &facts);
    spend_gauges(&mut exposition, &spent);
    Ok(exposition)
}

fn build_info(exposition: &mut Exposition) {
    let help = "Always 1; the version of this server is its label.";
    let mut info = exposition.family("daybook_build_info", MetricKind::Gauge, help);
    info.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
}

/// One number for each kind of job.
type OfJobs = fn(&[Job], Timestamp) -> f64;

fn job_gauges(exposition: &mut Exposition, facts: &TenantMemoryState, now: Timestamp) {
    let gauges: [(&'static str, &str, OfJobs); 4] = [
        (
            "daybook_jobs_waiting",
            "Jobs with something left to do, due or not, held or not.",
            |jobs, _| count(jobs, Job::is_ahead),
        ),
        (
            "daybook_jobs_due",
            "Jobs whose time has come and that no worker holds.",
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
        let mut family = exposition.family(name, MetricKind::Gauge, help);
        for &kind in JobKind::VARIANTS {
            family.sample(&[("kind", kind.as_str())], of(facts.jobs(kind), now));
        }
    }
    let help = "Ranges that were given up.";
    let mut gaps = exposition.family("daybook_gaps", MetricKind::Gauge, help);
    for &kind in JobKind::VARIANTS {
        let given_up = facts.gaps.iter().filter(|gap| gap.job.kind() == kind);
        gaps.sample(&[("kind", kind.as_str())], given_up.count() as f64);
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

/// Counts of how jobs ended. An outcome that never happened is exposed as 0, so that its first time shows as a rise.
fn job_counters(exposition: &mut Exposition, tallies: &[Tally]) {
    let count = |kind, what| {
        let tally = tallies.iter().find(|t| t.kind == kind && t.what == what);
        tally.map_or(0.0, |tally| tally.count as f64)
    };
    let help = "Claims granted since the data folder was made.";
    let mut claimed = exposition.family("daybook_jobs_claimed_total", MetricKind::Counter, help);
    for &kind in JobKind::VARIANTS {
        let labels = [("kind", kind.as_str())];
        claimed.sample(&labels, count(kind, TallyKind::Claimed));
    }
    let help = "How work ended since the data folder was made, failed tries apart.";
    let mut ended = exposition.family("daybook_jobs_ended_total", MetricKind::Counter, help);
    for &kind in JobKind::VARIANTS {
        for &what in TallyKind::VARIANTS.iter().filter(|what| is_end(**what)) {
            let labels = [("kind", kind.as_str()), ("outcome", what.as_str())];
            ended.sample(&labels, count(kind, what));
        }
    }
    let help = "Tries that failed since the data folder was made.";
    let mut failures = exposition.family("daybook_job_failures_total", MetricKind::Counter, help);
    for &kind in JobKind::VARIANTS {
        for &class in FailureClass::VARIANTS {
            let labels = [("kind", kind.as_str()), ("class", class.as_str())];
            failures.sample(&labels, count(kind, TallyKind::failed(class)));
        }
    }
}

fn is_end(what: TallyKind) -> bool {
    match what {
        TallyKind::Finished
        | TallyKind::Nothing
        | TallyKind::Partly
        | TallyKind::GaveUp
        | TallyKind::Cancelled
        | TallyKind::Lost => true,
        TallyKind::Claimed
        | TallyKind::FailedOutage
        | TallyKind::FailedContent
        | TallyKind::FailedVanished
        | TallyKind::FailedCancelled
        | TallyKind::FailedAtCap => false,
    }
}

fn memory_gauges(exposition: &mut Exposition, facts: &TenantMemoryState) {
    let coverage = &facts.coverage;
    let states = [
        ("covered", coverage.covered),
        ("pending", coverage.pending),
        ("failing", coverage.failing),
        ("never", coverage.never.values().sum()),
    ];
    let help =
        "Sessions, by how far they have been learned from; never: memory is not made from them.";
    let mut sessions = exposition.family("daybook_sessions", MetricKind::Gauge, help);
    for (state, count) in states {
        sessions.sample(&[("state", state)], count as f64);
    }
    let observations: u64 = facts.scopes.iter().map(|scope| scope.observations).sum();
    let gauges: [(&'static str, &str, u64); 3] = [
        ("daybook_events", "Events in all sessions.", facts.events),
        (
            "daybook_observations",
            "Observations that hold, in all scopes.",
            observations,
        ),
        (
            "daybook_notices_waiting",
            "Hook events that are not processed yet.",
            facts.waiting_hook_events as u64,
        ),
    ];
    for (name, help, value) in gauges {
        exposition
            .family(name, MetricKind::Gauge, help)
            .sample(&[], value as f64);
    }
}

/// The amounts that count in this day and this month.
type SpentAmounts = [(Period, Amount); 2];

async fn load_spent(daybook: &Daybook, now: Timestamp) -> anyhow::Result<SpentAmounts> {
    let periods = [Period::Day, Period::Month];
    let budgets = periods.map(|period| BudgetPeriod::at(Payer::Tenant, "", period, "", now));
    let used = daybook.spending.used(&daybook.tenant, &budgets).await?;
    let amount = |at: usize| used.get(at).copied().unwrap_or_default();
    Ok([(periods[0], amount(0)), (periods[1], amount(1))])
}

fn spend_gauges(exposition: &mut Exposition, spent: &SpentAmounts) {
    let help = "Tokens of models that count in this period of UTC, what is reserved included.";
    let mut tokens = exposition.family("daybook_spend_tokens", MetricKind::Gauge, help);
    for (period, amount) in spent {
        tokens.sample(&[("period", period.as_str())], amount.tokens as f64);
    }
    let help = "What they cost, in the currency of the prices.";
    let mut money = exposition.family("daybook_spend_money", MetricKind::Gauge, help);
    for (period, amount) in spent {
        let units = amount.money.0 as f64 / Money::UNIT as f64;
        money.sample(&[("period", period.as_str())], units);
    }
}
