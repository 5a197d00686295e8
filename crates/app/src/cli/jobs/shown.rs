//! A job in words.

use daybook_domain::eligibility::Ineligible;
use daybook_domain::{Gap, Job, JobKey, Priority, Standing, Timestamp};
use serde::Serialize;

use crate::output::{bold, dim, rfc3339, warn};
use crate::suggest;
use crate::wiring::Daybook;

/// A job, for programs. The seeds' words stand beside ours where they name the same thing.
#[derive(Serialize)]
pub(super) struct Shown {
    job: String,
    kind: &'static str,
    #[serde(flatten)]
    standing: Standing,
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

impl Shown {
    pub(super) fn of(job: &Job, now: Timestamp) -> Self {
        Self {
            job: job.key.to_string(),
            kind: job.key.kind().word(),
            standing: job.standing(now),
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
            class: job.last_failure.as_ref().map(|f| f.class.word()),
        }
    }
}

/// One line of a list.
pub(super) fn line(daybook: &Daybook, job: &Job, now: Timestamp) -> String {
    let standing = standing(daybook, job, now);
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
        "{}  {standing}{urgent}  {}{failed}",
        bold(&job.key.to_string()),
        dim(&format!("{} of {}", job.done, job.input)),
    )
}

fn standing(daybook: &Daybook, job: &Job, now: Timestamp) -> String {
    let clock = |at| clock(daybook, at);
    match &job.standing(now) {
        Standing::Done => "done".to_owned(),
        Standing::SetAside => "set aside".to_owned(),
        Standing::Due { since } => format!("due since {}", clock(*since)),
        Standing::Running { holder, until } => format!("held by {holder} until {}", clock(*until)),
        Standing::Waiting { until, .. } if job.is_at_cap() => {
            format!("at a cap, again at {}", clock(*until))
        }
        Standing::Waiting { until, .. } => format!("failed, again at {}", clock(*until)),
        Standing::Resting { until } => format!("rests until {}", clock(*until)),
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

/// All that is known, by name.
pub(super) fn rows(daybook: &Daybook, job: &Job, now: Timestamp) -> Vec<(&'static str, String)> {
    let clock = |at| clock(daybook, at);
    let mut rows = vec![
        ("stands", standing(daybook, job, now)),
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
        let failed = format!("{}: {}", failure.class.word(), failure.message);
        rows.push(("failed", failed));
    }
    rows
}

/// Why the job stands where it does, and what happens next, a sentence each.
pub(super) fn explained(
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
        said.push(format!("Memory is never made from it: {}.", why.reason()));
    }
    said.extend(next_step(daybook, job, now));
    if let Some(failure) = job.last_failure.as_ref().filter(|_| job.is_at_cap()) {
        said.push(format!("No model was asked: {}.", failure.message));
    } else if let Some(failure) = &job.last_failure {
        said.push(format!(
            "It failed {} in a row, last as {}: {}.",
            crate::output::count(u64::from(job.failures), "time"),
            failure.class.word(),
            failure.message
        ));
    }
    if let Some(span) = job.span {
        said.push(format!(
            "Its tries were spent, so at most {span} {what} are read at once until the failing one is found."
        ));
    }
    if job.redo_until.is_some() {
        said.push(
            "It is done anew from its beginning; until then the old results hold.".to_owned(),
        );
    }
    for gap in gaps {
        said.push(format!(
            "{what} {} to {} were given up ({}): {}. `{}` takes them up again.",
            gap.from,
            gap.to,
            gap.failure.class.word(),
            gap.failure.message,
            suggest::command_of(&["jobs", "retry", &gap.job.to_string()]),
        ));
    }
    said
}

fn next_step(daybook: &Daybook, job: &Job, now: Timestamp) -> Option<String> {
    let clock = |at| clock(daybook, at);
    Some(match job.standing(now) {
        Standing::Done => return None,
        Standing::SetAside => "It is set aside until something more is said there.".to_owned(),
        Standing::Due { .. } => format!(
            "It is due: the next `{}` or worker takes it.",
            suggest::command("update")
        ),
        Standing::Running { holder, until } => format!(
            "{holder} works on it; if it is not heard of by {}, another takes over.",
            clock(until)
        ),
        Standing::Waiting { until, .. } if job.is_at_cap() => format!(
            "It waits for room under a cap. It is tried again at {}, or by the next `{}`.",
            clock(until),
            suggest::command("update"),
        ),
        Standing::Waiting {
            until,
            outage: true,
        } => format!(
            "What it needs was out. It is tried again at {}, or by the next `{}`; newer input does not \
             shorten that.",
            clock(until),
            suggest::command("update"),
        ),
        Standing::Waiting { until, .. } => {
            format!(
                "It is tried again at {}, or sooner with newer input.",
                clock(until)
            )
        }
        Standing::Resting { until } if until == job.deadline => format!(
            "Its session is busy; at {} it is taken all the same.",
            clock(until)
        ),
        Standing::Resting { until } => format!(
            "Its session may go on; it is taken at {} when nothing more is said.",
            clock(until)
        ),
    })
}
