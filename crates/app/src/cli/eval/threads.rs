//! `daybook eval threads`: what threads keep of what a person insisted on.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use daybook_eval::threads::{InsistedCount, ThreadsReport, load_insisted, run_threads};

use super::EvalCommand;
use super::memory::MemoryFactory;
use crate::process::block_on;
use crate::terminal::common_args::CommonArgs;
use crate::terminal::output::{json as print_json, print_line};

impl EvalCommand {
    pub(super) fn run_threads(&self, common: &CommonArgs) -> Result<ExitCode> {
        let cases = load_insisted(&self.path)?;
        let folder = self.transcripts.as_ref();
        let folder = folder.context("name the folder of the transcripts with --transcripts")?;
        let options = self.recall_options()?;
        // Each session is imported into one memory, and fed into a thread of another.
        let memories = MemoryFactory::start(common, 2 * cases.len() as u64);
        let fresh = || memories.make_with_threads();
        let running = run_threads(&cases, self.split(), folder, &fresh, &options);
        let report = block_on(async { Ok(running.await?) });
        memories.end();
        let report = report?;
        if common.json {
            print_json(&serde_json::to_value(&report)?)?;
        } else {
            show(&report, self.misses);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(report: &ThreadsReport, misses: bool) {
    print_line!(
        "{:<8} {:>9} {:>11} {:>15} {:>7}",
        "split",
        "insisted",
        "in context",
        "first 3 recall",
        "either"
    );
    for (split, count) in [("tune", report.tune), ("report", report.report)] {
        let InsistedCount {
            all,
            in_context,
            in_recall,
            kept,
        } = count;
        print_line!("{split:<8} {all:>9} {in_context:>11} {in_recall:>15} {kept:>7}");
    }
    for session in report.sessions.iter().filter(|_| misses) {
        for record in &session.insisted {
            if !record.in_context {
                let place = match record.in_recall {
                    true => "only in recall",
                    false => "lost",
                };
                print_line!(
                    "{place}: {}:{}: {}",
                    session.file,
                    record.line,
                    record.about
                );
            }
        }
    }
}
