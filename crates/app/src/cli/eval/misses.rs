//! Questions whose evidence was not among the first results, for people.

use std::collections::BTreeMap;

use daybook_eval::{EvalReport, Miss, MissReason, misses};
use strum::VariantArray;

use crate::terminal::output::{bold, count, dim, print_line};

/// Prints how many questions of each class were missed for which reason, and then each of them.
pub(super) fn show(report: &EvalReport) {
    let misses = misses(report);
    let questions = count(misses.len() as u64, "question");
    print_line!(
        "\n{}  {questions} without evidence among the first ten results",
        bold("Misses")
    );
    for &reason in MissReason::VARIANTS {
        let of_reason: Vec<&Miss<'_>> = misses.iter().filter(|m| m.reason == reason).collect();
        if of_reason.is_empty() {
            continue;
        }
        print_line!(
            "\n{}: {}  {}",
            bold(why(reason)),
            of_reason.len(),
            dim(&classes(&of_reason))
        );
        for miss in of_reason {
            print_line!("   {}", described(miss));
        }
    }
}

fn why(reason: MissReason) -> &'static str {
    match reason {
        MissReason::RankedLow => "The evidence is further down",
        MissReason::OtherWords => "The evidence has at most one word of the question",
        MissReason::OthersFit => "The evidence has words of the question, and so have many others",
    }
}

/// `cause 4 · value 2`: how many there are of each class.
fn classes(misses: &[&Miss<'_>]) -> String {
    let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
    for miss in misses {
        *classes.entry(&miss.record.class).or_default() += 1;
    }
    let classes = classes
        .iter()
        .map(|(class, misses)| format!("{class} {misses}"));
    classes.collect::<Vec<_>>().join(" · ")
}

fn described(miss: &Miss<'_>) -> String {
    let record = miss.record;
    let words = format!("{} of {} words", record.words.shared, record.words.of);
    let place = miss
        .rank
        .map_or_else(String::new, |rank| format!(", first at {rank}"));
    let evidence = record.evidence.first().map_or("", String::as_str);
    let facts = format!("({words}{place}; {evidence})");
    format!("{}  {}", record.question, dim(&facts))
}
