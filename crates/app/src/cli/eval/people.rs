//! `daybook eval people`: what memory shows of whole histories.

use std::process::ExitCode;

use anyhow::Result;
use daybook_eval::people::{PeopleReport, PersonReport, PersonScore, load_people, run_people};

use super::EvalCommand;
use super::memory::MemoryFactory;
use crate::process::block_on;
use crate::terminal::common_args::CommonArgs;
use crate::terminal::output::{json as print_json, print_line};

impl EvalCommand {
    pub(super) fn run_people(&self, common: &CommonArgs) -> Result<ExitCode> {
        let people = load_people(&self.path)?;
        let options = self.recall_options()?;
        let memories = MemoryFactory::start(common, people.len() as u64);
        let fresh = || memories.make_with_worker();
        let report =
            block_on(async { Ok(run_people(&people, self.split(), &fresh, &options).await?) });
        memories.end();
        let report: PeopleReport = report?;
        if common.json {
            print_json(&serde_json::to_value(&report)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        show(&report);
        report
            .people
            .iter()
            .filter(|_| self.misses)
            .for_each(show_misses);
        Ok(ExitCode::SUCCESS)
    }
}

fn show(report: &PeopleReport) {
    print_line!(
        "{:<10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "",
        "first",
        "in three",
        "in ten",
        "outdated",
        "unknown",
        "learned",
        "kept",
        "useful",
        "misleads"
    );
    let people = report.people.iter();
    for person in people {
        show_score(&person.name, &person.score);
    }
    show_score("all", &report.total());
}

fn show_score(name: &str, score: &PersonScore) {
    let answers = score.questions;
    let columns = [
        (score.first, answers),
        (score.in_three, answers),
        (score.in_ten, answers),
        (score.outdated, answers),
        (score.never - score.likely, score.never),
        (score.learned as usize, score.wanted as usize),
        (score.found as usize, score.wanted as usize),
        (score.useful, score.lines),
        (score.misleading, score.lines),
    ];
    let columns = columns.map(|(n, of)| format!("{:>9}", format!("{n}/{of}")));
    print_line!("{name:<10} {}", columns.join(" "));
}

fn show_misses(person: &PersonReport) {
    print_line!("\n{}", person.name);
    for wrong in &person.wrong {
        let rank = match wrong.rank {
            Some(rank) => format!("at rank {rank}"),
            None => "not among ten".to_owned(),
        };
        print_line!("\n{} ({}, {rank})", wrong.question, wrong.class);
        print_line!("  shown: {}", wrong.shown.replace('\n', " "));
    }
    print_line!();
    let misleading = person.misleading.iter();
    misleading.for_each(|(line, says)| print_line!("misleads ({says}): {line}"));
    let missing = person.missing.iter();
    missing.for_each(|line| {
        let what = if line.is_learned {
            "not shown"
        } else {
            "missing"
        };
        print_line!("{what}: {}", line.says);
    });
    let unnamed = person.unnamed.iter();
    unnamed.for_each(|line| print_line!("not in the key: {line}"));
}
