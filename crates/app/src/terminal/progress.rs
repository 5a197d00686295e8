//! Progress bars on a terminal; hidden with `--json`, with logs and where standard error is no terminal.

use std::io::IsTerminal;

use daybook_domain::{Scope, SessionId};
use daybook_engine::import::{FileReport, ImportProgress};
use daybook_engine::jobs;
use daybook_engine::stop::Stop;
use daybook_store::transfer::{self, Table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::common_args::CommonArgs;
use super::logging;
use super::output::size;

fn bar(common: &CommonArgs, length: u64, label: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    if common.json || logging::is_on() || !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    // The template is a valid constant; without it the bar would be plain.
    if let Ok(style) = ProgressStyle::with_template("  {prefix:10} {bar:22} {msg}  {eta}") {
        bar.set_style(style.progress_chars("█▉░"));
    }
    bar.set_prefix(label.to_owned());
    bar
}

/// Progress of an import.
pub(crate) struct ImportBar {
    bar: ProgressBar,
    total: u64,
}

impl ImportBar {
    pub(crate) fn start(common: &CommonArgs, total: u64) -> Self {
        Self {
            bar: bar(common, total, "reading"),
            total,
        }
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl ImportProgress for ImportBar {
    fn bytes(&self, done: u64) {
        self.bar.set_position(done.min(self.total));
        self.bar.set_message(format!(
            "{} of {}",
            size(done.min(self.total)),
            size(self.total)
        ));
    }

    fn file(&self, _: &FileReport) {}
}

/// Progress of an evaluation.
pub(crate) struct EvalBar(ProgressBar);

impl EvalBar {
    pub(crate) fn start(common: &CommonArgs, conversations: u64) -> Self {
        Self(bar(common, conversations, "measuring"))
    }

    /// Sets how many conversations are done.
    pub(crate) fn set_done(&self, conversations: u64) {
        self.0.set_position(conversations);
    }

    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// Progress of copying or comparing rows, until a stop is requested.
pub(crate) struct CopyBar {
    bar: ProgressBar,
    stop: Stop,
}

impl CopyBar {
    pub(crate) fn start(common: &CommonArgs, label: &str, rows: u64, stop: &Stop) -> Self {
        Self {
            bar: bar(common, rows, label),
            stop: stop.clone(),
        }
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl transfer::Progress for CopyBar {
    fn rows(&self, table: &Table, rows: u64) -> bool {
        self.bar.inc(rows);
        self.bar.set_message(table.name);
        !self.stop.is_requested()
    }
}

/// Progress of a purge.
pub(crate) struct PurgeBar {
    bar: ProgressBar,
}

impl PurgeBar {
    pub(crate) fn start(common: &CommonArgs) -> Self {
        Self {
            bar: bar(common, 0, "purging"),
        }
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl jobs::purge::PurgeProgress for PurgeBar {
    fn step(&self, step: jobs::purge::PurgeStep, done: usize, of: usize) {
        let what = match step {
            jobs::purge::PurgeStep::Sessions => "sessions",
            jobs::purge::PurgeStep::Folders => "memory folders",
        };
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(format!("{done} of {of} {what}"));
    }
}

/// Progress of an update.
pub(crate) struct UpdateBar {
    bar: ProgressBar,
}

impl UpdateBar {
    pub(crate) fn start(common: &CommonArgs, sessions: u64) -> Self {
        Self {
            bar: bar(common, sessions, "learning"),
        }
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl jobs::WorkProgress for UpdateBar {
    fn session_read(&self, _: &SessionId) {
        self.bar.inc(1);
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
        self.bar.set_message(format!("{done} of {all} sessions"));
    }

    fn scope_written(&self, scope: &Scope) {
        self.bar.set_message(format!("writing {scope}"));
    }
}
