//! `daybook top`: *Work* and *Today* in a terminal, as they move.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use daybook_text::fence::visible;

use super::CommonArgs;
use crate::process::block_on;
use crate::service::activity::Activity;
use crate::service::job_list::ListedJob;
use crate::terminal::output::{bold, count, dim, grouped, json as print_json, print_line, warn};
use crate::terminal::wrap::columns;
use crate::wiring::Daybook;

/// Columns of output that no terminal shows.
const COLUMNS: usize = 80;
/// Fewest columns that are drawn.
const NARROWEST: usize = 40;
/// Columns of a job's state, progress and tries.
const STATE: usize = 9;
const PROGRESS: usize = 15;
const TRIES: usize = 5;
/// Longest wait for a key before signals are looked at.
#[cfg(unix)]
const KEY_WAIT: Duration = Duration::from_millis(200);

/// Show work, spending and what was learned last, as they move
///
/// In a terminal the view is refreshed until `q` or Ctrl-C ends it; the arrows scroll. Into a pipe it is printed once.
#[derive(Args)]
pub(crate) struct TopCommand {
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
}

impl TopCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        if common.json {
            print_json(&block_on(Activity::load(&daybook))?)?;
        } else if cfg!(unix) && std::io::stdout().is_terminal() && std::io::stdin().is_terminal() {
            self.follow(&daybook)?;
        } else {
            let activity = block_on(Activity::load(&daybook))?;
            for line in lines(&activity, columns().unwrap_or(COLUMNS)) {
                print_line!("{line}");
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Draws until a key or a signal ends it.
    #[cfg(unix)]
    fn follow(&self, daybook: &Daybook) -> Result<()> {
        use std::time::Instant;

        use crate::process::stop_on_interrupt;
        use crate::terminal::screen::{Key, Screen};

        let stop = stop_on_interrupt()?;
        let mut activity = block_on(Activity::load(daybook))?;
        let screen = Screen::open()?;
        let (mut looked, mut from) = (Instant::now(), 0);
        while !stop.is_requested() {
            let (columns, rows) = Screen::size();
            let all = lines(&activity, columns);
            let last = all.len().saturating_sub(rows.saturating_sub(1));
            from = last.min(from);
            let mut shown: Vec<String> = all
                .into_iter()
                .skip(from)
                .take(rows.saturating_sub(1))
                .collect();
            shown.push(dim(&fitted("q ends · arrows scroll", columns)));
            screen.draw(&shown)?;
            for key in screen.keys(KEY_WAIT)? {
                match key {
                    Key::Quit => return Ok(()),
                    Key::Up => from = from.saturating_sub(1),
                    Key::Down => from += 1,
                    Key::Other => {}
                }
            }
            if looked.elapsed() >= Duration::from_secs(self.every) {
                activity = block_on(Activity::load(daybook))?;
                looked = Instant::now();
            }
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn follow(&self, _: &Daybook) -> Result<()> {
        Ok(())
    }
}

/// The view, each line within `columns`.
fn lines(activity: &Activity, columns: usize) -> Vec<String> {
    let columns = columns.max(NARROWEST);
    let fit = |text: &str| fitted(text, columns);
    let mut lines = vec![
        bold(&fit(&sessions_line(activity))),
        fit(&spend_line(activity)),
    ];
    lines.extend(
        activity
            .troubles
            .iter()
            .map(|trouble| warn(&fit(&format!("! {trouble}")))),
    );
    lines.push(String::new());
    lines.extend(job_lines(activity, columns));
    let gaps = activity.work.gaps.iter();
    lines.extend(gaps.map(|gap| {
        let text = format!(
            "gap {}: events {}–{}: {}",
            gap.job, gap.from, gap.to, gap.why
        );
        fit(&text)
    }));
    if !activity.learned.is_empty() {
        lines.push(String::new());
        lines.push(bold(&fit("Learned last")));
    }
    for session in &activity.learned {
        let last = session.last.as_deref().unwrap_or("");
        lines.push(dim(&fit(&format!("{last} {}", session.session))));
        lines.extend(
            session
                .taught
                .iter()
                .map(|words| fit(&format!("  - {words}"))),
        );
    }
    lines
}

/// `33,000 sessions · 32,990 learned from · 8 wait · 2 failing · 1 running · 0 gaps`
fn sessions_line(activity: &Activity) -> String {
    let sessions = &activity.sessions;
    let never: u64 = sessions.never.values().sum();
    let running = activity
        .work
        .jobs
        .iter()
        .filter(|job| job.state == "running");
    let figures = [
        (sessions.covered, "learned from"),
        (sessions.pending, "wait"),
        (sessions.failing, "failing"),
        (never, "left out"),
        (running.count() as u64, "running"),
    ];
    let mut line = count(sessions.all, "session");
    for (n, name) in figures {
        line.push_str(&format!(" · {} {name}", grouped(n)));
    }
    line.push_str(&format!(
        " · {}",
        count(activity.work.gaps.len() as u64, "gap")
    ));
    line
}

fn spend_line(activity: &Activity) -> String {
    activity.spend.line(&activity.spent_today)
}

fn job_lines(activity: &Activity, columns: usize) -> Vec<String> {
    let jobs = &activity.work.jobs;
    if jobs.is_empty() {
        return vec![fitted("Nothing waits: everything was learned.", columns)];
    }
    let name = columns.saturating_sub(STATE + PROGRESS + TRIES + 3);
    let row = |job: &str, state: &str, progress: &str, tries: &str| {
        let job = fitted(job, name);
        format!("{job:<name$} {state:<STATE$} {progress:>PROGRESS$} {tries:>TRIES$}")
    };
    let mut lines = vec![bold(&row("Job", "State", "Progress", "Tries"))];
    for job in jobs {
        let progress = format!("{} of {}", job.done, job.input);
        lines.push(row(&job.job, job.state, &progress, &job.tries.to_string()));
        lines.extend(
            job_details(job).map(|details| warn(&fitted(&format!("  {details}"), columns))),
        );
    }
    if activity.work.next.is_some() {
        lines.push(dim(&fitted(
            "  and more: `daybook jobs` lists them",
            columns,
        )));
    }
    lines
}

/// Until when the job waits, and why.
fn job_details(job: &ListedJob) -> Option<String> {
    let failure = job.failure.as_deref()?;
    Some(match &job.until {
        Some(until) => format!("until {until}: {failure}"),
        None => failure.to_owned(),
    })
}

/// One line of at most `columns` characters, with nothing in it that a terminal would obey.
fn fitted(text: &str, columns: usize) -> String {
    let text = visible(text).replace(['\n', '\r', '\t'], " ");
    if text.chars().count() <= columns {
        return text;
    }
    let cut: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{cut}…")
}
