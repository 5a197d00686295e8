//! `daybook eval statements`: what extraction without a model keeps of messages.

use std::process::ExitCode;

use anyhow::Result;
use daybook_eval::load::load_noted_turns;
use daybook_eval::statements::{
    NotesReport, StatementsReport, load_statements, run_notes, run_statements,
};

use super::EvalCommand;
use crate::terminal::common_args::CommonArgs;
use crate::terminal::output::{json as print_json, print_line};

impl EvalCommand {
    pub(super) fn run_statements(&self, common: &CommonArgs) -> Result<ExitCode> {
        let cases = load_statements(&self.path)?;
        let report = run_statements(&cases, self.split());
        if common.json {
            print_json(&serde_json::to_value(&report)?)?;
        } else {
            show(&report, self.misses);
        }
        Ok(ExitCode::SUCCESS)
    }

    pub(super) fn run_notes(&self, common: &CommonArgs) -> Result<ExitCode> {
        let report = run_notes(&load_noted_turns(&self.path)?, self.split());
        if common.json {
            print_json(&serde_json::to_value(&report)?)?;
        } else {
            show_notes(&report, self.misses);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show_notes(report: &NotesReport, misses: bool) {
    let (precision, recall) = (report.precision(), report.recall());
    print_line!(
        "turns with something noted  {} of {}",
        report.noted,
        report.turns
    );
    print_line!("of these kept               {}  {recall:.3}", report.both);
    print_line!(
        "of what is kept, noted      {} of {}  {precision:.3}",
        report.both,
        report.kept
    );
    if misses {
        report
            .missed
            .iter()
            .for_each(|text| print_line!("\nmissed: {text}"));
        report
            .unnoted
            .iter()
            .for_each(|line| print_line!("\nnot noted: {line}"));
    }
}

fn show(report: &StatementsReport, misses: bool) {
    print_line!(
        "{:<10} {:>14} {:>14} {:>14}",
        "language",
        "kept",
        "right lines",
        "left out"
    );
    for (language, score) in &report.languages {
        let [kept, right, out] = [
            (score.kept, score.worth_keeping),
            (score.right_lines, score.lines),
            (score.left_out, score.passing),
        ]
        .map(|(n, of)| format!("{n} of {of}"));
        print_line!("{language:<10} {kept:>14} {right:>14} {out:>14}");
    }
    for record in report.wrong.iter().filter(|_| misses) {
        print_line!();
        print_line!("{}", record.text);
        for words in &record.missed {
            print_line!("  missed: {words}");
        }
        for line in &record.noise {
            print_line!("  not worth keeping: {line}");
        }
    }
}
