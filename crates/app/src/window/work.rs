//! *Work*: background jobs, their watermarks, leases, gaps and retries, as they move.

use anyhow::Result;
use maud::{Markup, html};

use super::chart::{Bar, Share, progress, shares};
use super::frame::{FormProof, Page, more, table};
use super::latency::AnswerTimes;
use super::links;
use super::text::{plain, when};
use crate::service::job_list::{ListedJob, list_jobs};
use crate::service::overview::Coverage;
use crate::wiring::Daybook;

/// Jobs on one page.
const JOBS: usize = 100;

/// The page.
pub(crate) async fn page(
    daybook: &Daybook,
    proof: &FormProof,
    after: Option<&str>,
    recall: &AnswerTimes,
) -> Result<Page> {
    let list = list_jobs(daybook, false, after, JOBS).await?;
    let (coverage, _) = Coverage::load(daybook).await?;
    let gaps = daybook.gaps().await?;
    let figures = [
        (coverage.all, "sessions"),
        (coverage.stale, "wait for long"),
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
        @if coverage.all > 0 { (shares("What was learned from", &read_so_far(&coverage), "sessions")) }
        @if rows.is_empty() { p { "Nothing waits: everything was learned." } }
        @else { (table("Jobs that are not done", &["Job", "State", "Progress", "Tries", "Mend"], &rows)) }
        (more(next.map(|next| links::page("work", &[("after", next)]))))
        @if !list.gaps.is_empty() {
            h2 { "Gaps" }
            ul.entries { @for gap in &list.gaps { li { (plain(&format!("{}: events {}–{}: {}", gap.job, gap.from, gap.to, gap.why))) } } }
        }
        (recall.chart())
    };
    Ok(Page::new("work", "Work", body).live())
}

/// The sessions by how far they were learned from, and why some never are.
fn read_so_far(coverage: &Coverage) -> Vec<Share> {
    let share = |name: &str, value, tone| Share {
        name: name.to_owned(),
        value,
        tone,
    };
    let mut parts = vec![
        share("learned from", coverage.covered, "good"),
        share("wait", coverage.pending, "wait"),
        share("failed, tried again", coverage.failing, "bad"),
    ];
    let never = coverage.never.iter();
    parts.extend(
        never.map(|(reason, n)| share(&format!("never learned from: {reason}"), *n, "left")),
    );
    parts
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
