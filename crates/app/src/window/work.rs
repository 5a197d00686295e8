//! *Work*: background jobs, their watermarks, leases, gaps and retries, as they move.

use anyhow::Result;
use maud::{Markup, html};

use super::chart::{Bar, progress};
use super::frame::{FormProof, Page, more, table};
use super::links;
use super::text::{plain, when};
use crate::service::damage::find_damage;
use crate::service::job_list::{ListedJob, list_jobs};
use crate::service::overview::{Coverage, failing_inputs};
use crate::service::spending::SpendReport;
use crate::service::waits::{load_waits, wait_lines};
use crate::wiring::Daybook;

/// Jobs on one page.
const JOBS: usize = 100;
/// Files and gaps that are named.
const NAMED: usize = 5;

/// What went wrong and waits, in one line each.
pub(super) async fn troubles(daybook: &Daybook) -> Result<Vec<String>> {
    let mut lines = find_damage(daybook).await?;
    lines.extend(wait_lines(daybook, &load_waits(daybook).await?));
    let gaps = daybook.gaps().await?;
    lines.extend(gaps.iter().take(NAMED).map(|gap| {
        format!(
            "{}: events {}–{} were given up: {}",
            gap.job, gap.from, gap.to, gap.failure.message
        )
    }));
    let failing = failing_inputs(daybook).await?;
    let failing = failing.iter().take(NAMED);
    lines.extend(failing.map(|input| format!("{} could not be read: {}", input.path, input.why)));
    let spent = SpendReport::load(daybook, daybook_domain::spend::SpendBy::Model, None).await?;
    lines.extend(spent.caps.iter().filter_map(super::spend::reached));
    Ok(lines)
}

/// The page.
pub(crate) async fn page(
    daybook: &Daybook,
    proof: &FormProof,
    after: Option<&str>,
) -> Result<Page> {
    let list = list_jobs(daybook, false, after, JOBS).await?;
    let (coverage, _) = Coverage::load(daybook).await?;
    let gaps = daybook.gaps().await?;
    let figures = [
        (coverage.all, "sessions"),
        (coverage.covered, "learned from"),
        (coverage.pending, "wait"),
        (coverage.failing, "failed, tried again"),
        (gaps.len() as u64, "gaps"),
    ];
    let rows: Vec<Vec<Markup>> = list
        .jobs
        .iter()
        .map(|job| row(daybook, job, proof))
        .collect();
    let next = list.next.as_deref();
    let body = html! {
        ul.figures { @for (n, name) in figures { li { b { (n) } (name) } } }
        @if !coverage.never.is_empty() {
            p.quiet { "Never learned from: " @for (reason, n) in &coverage.never { (n) " (" (reason) ") " } }
        }
        @if rows.is_empty() { p { "Nothing waits: everything was learned." } }
        @else { (table("Jobs that are not done", &["Job", "State", "Progress", "Tries", "Mend"], &rows)) }
        (more(next.map(|next| links::page("work", &[("after", next)]))))
        @if !list.gaps.is_empty() {
            h2 { "Gaps" }
            ul.entries { @for gap in &list.gaps { li { (plain(&format!("{}: events {}–{}: {}", gap.job, gap.from, gap.to, gap.why))) } } }
        }
    };
    Ok(Page::new("work", "Work", body).live())
}

fn row(daybook: &Daybook, job: &ListedJob, proof: &FormProof) -> Vec<Markup> {
    vec![
        html! { (plain(&job.job)) },
        html! {
            (job.state)
            @if let Some(until) = &job.until { " " span.quiet { "until " (when(daybook, until)) } }
            @if let Some(failure) = &job.failure { br; span.warn { (plain(failure)) } }
        },
        progress(&Bar {
            name: &job.job,
            value: job.done,
            of: job.input,
        }),
        html! { (job.tries) },
        html! {
            @if job.failure.is_some() {
                form method="post" action=(links::page("retry", &[])) {
                    (proof.field())
                    input type="hidden" name="job" value=(job.job);
                    button type="submit" { "Try now" }
                }
            }
        },
    ]
}
