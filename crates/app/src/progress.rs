//! Progress on a terminal: two bars, and silence where nobody looks.

use std::io::IsTerminal;

use daybook_domain::{Scope, SessionId};
use daybook_engine::ingest::import::{FileReport, ImportProgress};
use daybook_engine::jobs;
use daybook_engine::stop::Stop;
use daybook_store::transfer::{self, Table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::common::Common;
use crate::logging;
use crate::output::size;

fn bar(common: &Common, length: u64, label: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    if common.json || logging::is_on() || !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    // The template is ours and right; a plain bar is the worst that can come of it.
    if let Ok(style) = ProgressStyle::with_template("  {prefix:10} {bar:22} {msg}  {eta}") {
        bar.set_style(style.progress_chars("█▉░"));
    }
    bar.set_prefix(label.to_owned());
    bar
}

/// Files being read.
pub(crate) struct Reading {
    bar: ProgressBar,
    total: u64,
}

impl Reading {
    pub(crate) fn start(common: &Common, total: u64) -> Self {
        Self {
            bar: bar(common, total, "reading"),
            total,
        }
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl ImportProgress for Reading {
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

/// Conversations of a benchmark being asked.
pub(crate) struct Measuring(ProgressBar);

impl Measuring {
    pub(crate) fn start(common: &Common, conversations: u64) -> Self {
        Self(bar(common, conversations, "measuring"))
    }

    /// So many conversations are done.
    pub(crate) fn done(&self, conversations: u64) {
        self.0.set_position(conversations);
    }

    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// Files being read while nobody looks.
pub(crate) struct Unseen;

impl ImportProgress for Unseen {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}

/// Rows being copied or compared, until a stop is asked for.
pub(crate) struct Carrying {
    bar: ProgressBar,
    stop: Stop,
}

impl Carrying {
    pub(crate) fn start(common: &Common, label: &str, rows: u64, stop: &Stop) -> Self {
        Self {
            bar: bar(common, rows, label),
            stop: stop.clone(),
        }
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl transfer::Progress for Carrying {
    fn rows(&self, table: &Table, rows: u64) -> bool {
        self.bar.inc(rows);
        self.bar.set_message(table.name);
        !self.stop.asked()
    }
}

/// Sessions being learned from.
pub(crate) struct Learning {
    bar: ProgressBar,
}

impl Learning {
    pub(crate) fn start(common: &Common, sessions: u64) -> Self {
        Self {
            bar: bar(common, sessions, "learning"),
        }
    }

    pub(crate) fn quiet() -> Self {
        Self {
            bar: ProgressBar::hidden(),
        }
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl jobs::Progress for Learning {
    fn session_read(&self, _: &SessionId) {
        self.bar.inc(1);
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
        self.bar.set_message(format!("{done} of {all} sessions"));
    }

    fn scope_written(&self, scope: &Scope) {
        self.bar.set_message(format!("writing {scope}"));
    }
}
