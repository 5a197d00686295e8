//! What waits after a failure: for which model or cause, until when, how many sessions, and why.
//!
//! Jobs that wait for the same reason are one entry, however many they are: an outage of a provider
//! fails every session alike.
//!
//! Not here: how long a failure may have its job wait (`domain::Job::fail`).

use std::collections::BTreeMap;

use anyhow::Result;
use daybook_domain::{FailureClass, Job, JobKind, Standing, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::output::{count, rfc3339};
use crate::settings::Settings;
use crate::suggest;
use crate::wiring::Daybook;

/// Jobs that wait for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Wait {
    /// The model that could not be asked, as provider and model; `null` where something else failed,
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

/// What of `jobs` waits at `now`, the largest group first.
pub(crate) fn waits<'a>(
    jobs: impl Iterator<Item = &'a Job>,
    settings: &Settings,
    now: Timestamp,
) -> Vec<Wait> {
    let mut groups: BTreeMap<(FailureClass, &str), Wait> = BTreeMap::new();
    for job in jobs {
        let Standing::Waiting { until, .. } = job.standing(now) else {
            continue;
        };
        let Some(failure) = &job.last_failure else {
            continue;
        };
        let wait = groups
            .entry((failure.class, &failure.message))
            .or_insert_with(|| Wait {
                model: asked_model(settings, &failure.message),
                class: failure.class.word(),
                sessions: 0,
                scopes: 0,
                next: None,
                until: None,
                why: failure.message.clone(),
                span: (until, until),
            });
        match job.key.kind() {
            JobKind::Extract => wait.sessions += 1,
            JobKind::Consolidate => wait.scopes += 1,
        }
        wait.span = (wait.span.0.min(until), wait.span.1.max(until));
        (wait.next, wait.until) = (rfc3339(wait.span.0), rfc3339(wait.span.1));
    }
    let mut waits: Vec<Wait> = groups.into_values().collect();
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.sessions + wait.scopes));
    waits
}

/// What waits after a failure, and how each group is tried at once, a line each.
pub(crate) fn lines(daybook: &Daybook, waits: &[Wait]) -> Vec<String> {
    let line = |wait: &Wait| {
        let command = match wait.is_ended_by_update() {
            true => suggest::command("update"),
            false => suggest::command("jobs retry --failed"),
        };
        format!("{}; `{command}` tries it now", wait.line(daybook))
    };
    waits.iter().map(line).collect()
}

/// What waits after a failure now.
pub(crate) async fn waits_of(daybook: &Daybook) -> Result<Vec<Wait>> {
    let mut jobs = Vec::new();
    for kind in JobKind::ALL {
        jobs.extend(daybook.jobs(kind).await?);
    }
    Ok(waits(jobs.iter(), &daybook.settings, daybook.clock.now()))
}

/// The configured model that a failure's message begins with: the extractor names it there.
fn asked_model(settings: &Settings, message: &str) -> Option<String> {
    let name = settings.models.extract.as_ref()?.name();
    message.starts_with(&name).then_some(name)
}

impl Wait {
    /// In one line: `2 sessions wait for home/qwen3, until 9 Mar 14:03: …`.
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
        let (next, until) = (clock(daybook, self.span.0), clock(daybook, self.span.1));
        let when = match next == until {
            true => format!("until {until}"),
            false => format!("until {next} to {until}"),
        };
        format!("{} {verb}{whom}, {when}: {}", what.join(" and "), self.why)
    }

    /// Whether `daybook update` ends the wait: it tries at once what waits for an outage or at a cap.
    fn is_ended_by_update(&self) -> bool {
        self.class == FailureClass::Outage.word() || self.class == FailureClass::AtCap.word()
    }
}

/// A moment in the person's zone.
fn clock(daybook: &Daybook, at: Timestamp) -> String {
    crate::desk::day(daybook, at, "%-d %b %H:%M").unwrap_or_else(|| "any time".to_owned())
}
