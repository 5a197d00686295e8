//! `daybook eval changes`: how memory keeps up with statements that later ones end.

use std::process::ExitCode;

use anyhow::Result;
use daybook_eval::changes::{ChangesReport, ChangesScore, load_changes, run_changes};

use super::EvalCommand;
use super::memory::MemoryFactory;
use crate::process::block_on;
use crate::terminal::common_args::CommonArgs;
use crate::terminal::output::{json as print_json, print_line};

impl EvalCommand {
    pub(super) fn run_changes(&self, common: &CommonArgs) -> Result<ExitCode> {
        let cases = load_changes(&self.path)?;
        let options = self.recall_options()?;
        let memories = MemoryFactory::start(common, 0);
        let fresh = || memories.make_with_worker();
        let report =
            block_on(async { Ok(run_changes(&cases, self.split(), &fresh, &options).await?) });
        memories.end();
        let report: ChangesReport = report?;
        if common.json {
            print_json(&serde_json::to_value(&report)?)?;
        } else {
            show(&report, self.misses);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(report: &ChangesReport, misses: bool) {
    let lines: [(&str, &ChangesScore); 9] = [
        ("what holds is the first answer", &report.first_in_recall),
        ("the same, in one memory of all", &report.first_in_crowd),
        (
            "what holds stands alone in MEMORY.md",
            &report.alone_in_files,
        ),
        ("changes the right way round", &report.right_way_round),
        ("statements kept that both hold", &report.kept),
        (
            "merged statements that are the same",
            &report.merge_precision,
        ),
        ("the same statements that are merged", &report.merge_recall),
        ("statements that end by a later one", &report.end_recall),
        ("ended ones that no longer hold", &report.end_precision),
    ];
    for (what, score) in lines.into_iter().filter(|(_, score)| score.of > 0) {
        let (right, of, share) = (score.right, score.of, score.share());
        print_line!("{what:<38} {right:>4} of {of:<4} {share:.3}");
    }
    let failed = report.cases.iter().filter(|case| !case.failed.is_empty());
    for case in failed.filter(|_| misses) {
        print_line!();
        print_line!("{}: {}", case.name, case.failed.join(", "));
        if !case.answer.is_empty() {
            print_line!("  answer: {}", case.answer);
        }
        if !case.crowd_answer.is_empty() {
            print_line!("  among all: {}", case.crowd_answer);
        }
        for line in &case.lines {
            print_line!("  {line}");
        }
    }
}
