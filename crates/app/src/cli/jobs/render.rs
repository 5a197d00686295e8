//! Describes jobs for people and programs.

use daybook_domain::eligibility::Ineligible;
use daybook_domain::{Gap, Job, JobKey, JobStatus, Priority, Timestamp};
use serde::Serialize;

use crate::terminal::output::{bold, dim, rfc3339, warn};
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// A job, for programs. It has Daycare's and MindRoom's names beside ours where they name the same thing.
#[derive(Serialize)]
pub(super) struct JobShown {
    job: String,
    kind: &'static str,
    #[serde(flatten)]
    status_text: JobStatus,
    due_at: Option<String>,
    done: u64,
    input: u64,
    /// `input` while it is ahead of `done`.
    invalidated_at: Option<u64>,
    /// `done`, once anything is.
    processed_until: Option<u64>,
    dirty: bool,
    in_flight: bool,
    priority: Priority,
    turns: u32,
    tries: u32,
    failure: Option<String>,
    class: Option<&'static str>,
}

impl JobShown {
    pub(super) fn of(job: &Job, now: Timestamp) -> Self {
        Self {
            job: job.key.to_string(),
            kind: job.key.kind().as_str(),
            status_text: job.status(now),
            due_at: job.due_at().and_then(rfc3339),
            done: job.done,
            input: job.input,
            invalidated_at: job.is_ahead().then_some(job.input),
            processed_until: (job.done > 0).then_some(job.done),
            dirty: job.is_ahead(),
            in_flight: job.is_leased(now),
            priority: job.priority,
            turns: job.turns,
            tries: job.tries,
            failure: job.last_failure.as_ref().map(|f| f.message.clone()),
            class: job.last_failure.as_ref().map(|f| f.class.as_str()),
        }
    }
}

/// One line of a list.
pub(super) fn line(daybook: &Daybook, job: &Job, now: Timestamp) -> String {
    let status_text = status_text(daybook, job, now);
    let urgent = match job.priority {
        Priority::Low | Priority::Normal => "",
        Priority::Raised => ", raised",
        Priority::High => ", first",
    };
    let failed = match &job.last_failure {
        Some(failure) => warn(&format!("  {}", failure.message)),
        None => String::new(),
    };
    format!(
        "{}  {status_text}{urgent}  {}{failed}",
        bold(&job.key.to_string()),
        dim(&format!("{} of {}", job.done, job.input)),
    )
}

fn status_text(daybook: &Daybook, job: &Job, now: Timestamp) -> String {
    let clock = |at| clock(daybook, at);
    match &job.status(now) {
        JobStatus::Done => "done".to_owned(),
        JobStatus::SetAside => "set aside".to_owned(),
        JobStatus::Due { since } => format!("due since {}", clock(*since)),
        JobStatus::Running { holder, until } => format!("held by {holder} until {}", clock(*until)),
        JobStatus::Waiting { until, .. } if job.is_at_cap() => {
            format!("at a cap, again at {}", clock(*until))
        }
        JobStatus::Waiting { until, .. } => format!("failed, again at {}", clock(*until)),
        JobStatus::Resting { until } => match &job.key {
            JobKey::Consolidate(_) => format!("written lately, rests until {}", clock(*until)),
            JobKey::Extract(_) | JobKey::Redact(_) => format!("rests until {}", clock(*until)),
        },
    }
}

fn clock(daybook: &Daybook, at: Timestamp) -> String {
    let shown = jiff::Timestamp::from_millisecond(at.0).map(|at| {
        let zoned = at.to_zoned(daybook.settings.zone.clone());
        zoned.strftime("%-d %b %H:%M:%S").to_string()
    });
    match shown {
        Ok(shown) if at != Timestamp::ZERO && at != Timestamp::MAX => shown,
        _ => "any time".to_owned(),
    }
}

/// One line about a gap.
pub(super) fn gap_line(gap: &Gap) -> String {
    format!(
        "{}  {}  {}",
        bold(&gap.job.to_string()),
        warn(&format!("gap {} to {}", gap.from, gap.to)),
        gap.failure.message,
    )
}

/// All fields of a job, by name.
pub(super) fn rows(daybook: &Daybook, job: &Job, now: Timestamp) -> Vec<(&'static str, String)> {
    let clock = |at| clock(daybook, at);
    let mut rows = vec![
        ("stands", status_text(daybook, job, now)),
        ("done", format!("{} of {}", job.done, job.input)),
        ("idle due", clock(job.idle_due)),
        ("deadline", clock(job.deadline)),
        ("priority", format!("{:?}", job.priority).to_lowercase()),
        ("turns", format!("{} wait", job.turns)),
        ("tries", format!("{} spent on this window", job.tries)),
        ("claims", job.claims.to_string()),
    ];
    if let Some(user) = &job.user {
        rows.push(("user", user.clone()));
    }
    if job.redo > 0 {
        rows.push(("generation", job.redo.to_string()));
    }
    if let Some(lease) = &job.lease {
        let held = format!("{} until {}", lease.holder, clock(lease.until));
        rows.push(("lease", held));
    }
    if let Some(failure) = &job.last_failure {
        let failed = format!("{}: {}", failure.class.as_str(), failure.message);
        rows.push(("failed", failed));
    }
    rows
}

/// The job's status with its reason, and what happens next, a sentence each.
pub(super) fn explanation(
    daybook: &Daybook,
    job: &Job,
    gaps: &[Gap],
    never: Option<Ineligible>,
) -> Vec<String> {
    let now = daybook.clock.now();
    let mut said = Vec::new();
    let what = match &job.key {
        JobKey::Extract(_) => "events",
        JobKey::Consolidate(_) => "changes",
        JobKey::Redact(_) => "positions",
    };
    said.push(match job.input.saturating_sub(job.done) {
        0 => format!("All {} {what} are done.", job.input),
        ahead => format!(
            "{ahead} of {} {what} wait, from {} on.",
            job.input,
            job.done + 1
        ),
    });
    if let Some(why) = never {
        said.push(format!("No memory is made from it: {}.", why.reason()));
    }
    said.extend(next_step(daybook, job, now));
    if let Some(failure) = job.last_failure.as_ref().filter(|_| job.is_at_cap()) {
        said.push(format!("No model was called: {}.", failure.message));
    } else if let Some(failure) = &job.last_failure {
        said.push(format!(
            "It failed {} in a row, last as {}: {}.",
            crate::terminal::output::count(u64::from(job.failures), "time"),
            failure.class.as_str(),
            failure.message
        ));
    }
    if let Some(span) = job.span {
        said.push(format!(
            "Its tries were spent, so at most {span} {what} are read at once until the failing one is found."
        ));
    }
    if job.redo_until.is_some() {
        said.push("It is redone from its beginning; until then the old results hold.".to_owned());
    }
    for gap in gaps {
        said.push(format!(
            "{what} {} to {} were given up ({}): {}. `{}` takes them up again.",
            gap.from,
            gap.to,
            gap.failure.class.as_str(),
            gap.failure.message,
            suggest::command_of(&["jobs", "retry", &gap.job.to_string()]),
        ));
    }
    said
}

fn next_step(daybook: &Daybook, job: &Job, now: Timestamp) -> Option<String> {
    let clock = |at| clock(daybook, at);
    if let (JobStatus::Resting { until }, JobKey::Consolidate(scope)) = (job.status(now), &job.key)
    {
        return Some(format!(
            "Its files were written a short while ago (setting `cooldown`). They are written again after {}, or now by \
             `{}`.",
            clock(until),
            suggest::command_of(&["consolidate", "--scope", &scope.to_string()]),
        ));
    }
    Some(match job.status(now) {
        JobStatus::Done => return None,
        JobStatus::SetAside => "It is set aside until its session gets more events.".to_owned(),
        JobStatus::Due { .. } => format!(
            "It is due: the next `{}` or worker takes it.",
            suggest::command("update")
        ),
        JobStatus::Running { holder, until } => format!(
            "{holder} works on it; if its lease is not renewed by {}, another worker takes over.",
            clock(until)
        ),
        JobStatus::Waiting { until, .. } if job.is_at_cap() => format!(
            "It waits for room under a cap. It is tried again at {}, or by the next `{}`.",
            clock(until),
            suggest::command("update"),
        ),
        JobStatus::Waiting {
            until,
            outage: true,
        } => format!(
            "A service that it needs was unavailable. It is tried again at {}, or by the next `{}`; newer input does not \
             shorten that.",
            clock(until),
            suggest::command("update"),
        ),
        JobStatus::Waiting { until, .. } => {
            format!(
                "It is tried again at {}, or sooner with newer input.",
                clock(until)
            )
        }
        JobStatus::Resting { until } if until == job.deadline => format!(
            "Its session is busy; it is due at {} all the same.",
            clock(until)
        ),
        JobStatus::Resting { until } => format!(
            "Its session may continue; it is due at {} if no more events arrive.",
            clock(until)
        ),
    })
}
