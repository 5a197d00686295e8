//! Groups jobs that wait after a failure by its reason: the model or cause, until when, and how many sessions.
//!
//! All jobs that wait for one reason are one entry: an outage of a provider fails every session alike.
//!
//! Not here: how long a failure makes its job wait (`domain::Job::fail`).

use std::collections::BTreeMap;

use anyhow::Result;
use daybook_domain::{FailureClass, Job, JobKind, JobStatus, Timestamp};
use serde::Serialize;
use strum::VariantArray;
use utoipa::ToSchema;

use crate::settings::Settings;
use crate::settings::chosen_model::ChosenModel;
use crate::terminal::output::{count, rfc3339};
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Jobs that wait for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct JobWait {
    /// The model that could not be called, as provider and model; `null` where something else failed,
    /// such as a disk.
    #[schema(example = "home/qwen3")]
    pub(crate) model: Option<String>,
    /// The kind of failure: `outage`, `content`, `vanished` or `at_cap`.
    pub(crate) class: &'static str,
    /// Sessions that wait to be read.
    pub(crate) sessions: u64,
    /// Scopes whose memory files wait to be written.
    pub(crate) scopes: u64,
    /// The first of them is tried again then.
    pub(crate) next: Option<String>,
    /// All of them are tried again by then.
    pub(crate) until: Option<String>,
    /// Why, for people.
    pub(crate) why: String,
    #[serde(skip)]
    span: (Timestamp, Timestamp),
}

/// Groups those of `jobs` that wait at `now`, the largest group first.
pub(crate) fn group_waits<'a>(
    jobs: impl Iterator<Item = &'a Job>,
    settings: &Settings,
    now: Timestamp,
) -> Vec<JobWait> {
    let mut groups: BTreeMap<(FailureClass, &str), JobWait> = BTreeMap::new();
    for job in jobs {
        let JobStatus::Waiting { until, .. } = job.status(now) else {
            continue;
        };
        let Some(failure) = &job.last_failure else {
            continue;
        };
        let wait = groups
            .entry((failure.class, &failure.message))
            .or_insert_with(|| JobWait {
                model: failed_model(settings, &failure.message),
                class: failure.class.as_str(),
                sessions: 0,
                scopes: 0,
                next: None,
                until: None,
                why: failure.message.clone(),
                span: (until, until),
            });
        match job.key.kind() {
            JobKind::Extract | JobKind::Redact => wait.sessions += 1,
            JobKind::Consolidate => wait.scopes += 1,
        }
        wait.span = (wait.span.0.min(until), wait.span.1.max(until));
        (wait.next, wait.until) = (rfc3339(wait.span.0), rfc3339(wait.span.1));
    }
    let mut waits: Vec<JobWait> = groups.into_values().collect();
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.sessions + wait.scopes));
    waits
}

/// One line for each group, with the command that retries it at once.
pub(crate) fn wait_lines(daybook: &Daybook, waits: &[JobWait]) -> Vec<String> {
    let line = |wait: &JobWait| {
        let command = match wait.is_ended_by_update() {
            true => suggest::command("update"),
            false => suggest::command("jobs retry --failed"),
        };
        format!("{}; `{command}` tries it now", wait.line(daybook))
    };
    waits.iter().map(line).collect()
}

/// Scopes whose files were written a short while ago: `2 scopes wait until 9 Mar 14:03, …`. `None` without any.
pub(crate) fn resting_files<'a>(
    daybook: &Daybook,
    consolidations: impl Iterator<Item = &'a Job>,
) -> Option<String> {
    let now = daybook.clock.now();
    let rests = consolidations.filter_map(|job| match job.status(now) {
        JobStatus::Resting { until } => Some(until),
        JobStatus::Done
        | JobStatus::SetAside
        | JobStatus::Running { .. }
        | JobStatus::Waiting { .. }
        | JobStatus::Due { .. } => None,
    });
    let until: Vec<Timestamp> = rests.collect();
    let (last, n) = (until.iter().max()?, until.len() as u64);
    Some(format!(
        "{} wait until {}, because they were written lately (setting `cooldown`){}; `{}` writes them now",
        count(n, "scope"),
        format_moment(daybook, *last),
        match daybook.settings.consolidation_model() {
            Some(_) => ", or their model gave no answer",
            None => "",
        },
        suggest::command("consolidate"),
    ))
}

/// Groups the tenant's jobs that wait now.
pub(crate) async fn load_waits(daybook: &Daybook) -> Result<Vec<JobWait>> {
    let mut jobs = Vec::new();
    for &kind in JobKind::VARIANTS {
        jobs.extend(daybook.open_jobs(kind).await?);
    }
    Ok(group_waits(
        jobs.iter(),
        &daybook.settings,
        daybook.clock.now(),
    ))
}

/// The configured extraction model that a failure's message begins with: the extractor puts its name there.
fn failed_model(settings: &Settings, message: &str) -> Option<String> {
    let models = &settings.models;
    let all = models
        .extract
        .iter()
        .chain(models.extract_for.values().flatten());
    let mut names = all.map(ChosenModel::name);
    names.find(|name| message.starts_with(name.as_str()))
}

impl JobWait {
    /// Renders one line, such as `2 sessions wait for home/qwen3, until 9 Mar 14:03: …`.
    fn line(&self, daybook: &Daybook) -> String {
        let sessions = (self.sessions > 0).then(|| count(self.sessions, "session"));
        let scopes =
            (self.scopes > 0).then(|| format!("the files of {}", count(self.scopes, "scope")));
        let what: Vec<String> = sessions.into_iter().chain(scopes).collect();
        let verb = match (self.sessions, self.scopes) {
            (1, 0) => "waits",
            (_, _) => "wait",
        };
        let whom = match &self.model {
            Some(model) => format!(" for {model}"),
            None => String::new(),
        };
        let (next, until) = (
            format_moment(daybook, self.span.0),
            format_moment(daybook, self.span.1),
        );
        let when = match next == until {
            true => format!("until {until}"),
            false => format!("until {next} to {until}"),
        };
        format!("{} {verb}{whom}, {when}: {}", what.join(" and "), self.why)
    }

    /// Whether `daybook update` ends the wait: it retries jobs that wait for an outage or at a cap.
    fn is_ended_by_update(&self) -> bool {
        self.class == FailureClass::Outage.as_str() || self.class == FailureClass::AtCap.as_str()
    }
}

/// Formats a time in the person's zone.
fn format_moment(daybook: &Daybook, at: Timestamp) -> String {
    super::format_time(daybook, at, "%-d %b %H:%M").unwrap_or_else(|| "any time".to_owned())
}
