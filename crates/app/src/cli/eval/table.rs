//! An evaluation's figures as tables for people.

use std::collections::BTreeSet;

use daybook_domain::model::Usage;
use daybook_eval::{
    Calibration, ConfidenceReport, EvalReport, RetrievalMetrics, SystemReport, Unanswerable,
};

use crate::terminal::output::{bold, count, dim, grouped, print_line, warn};

/// The columns of figures, after the name.
const COLUMNS: [&str; 15] = [
    "questions",
    "R@5",
    "R@10",
    "R@20",
    "hit@1",
    "hit@3",
    "hit@10",
    "all@10",
    "MRR",
    "nDCG@10",
    "shown",
    "tokens",
    "p50 ms",
    "p95 ms",
    "empty",
];

/// Prints the figures: Daybook by class, baselines in all, confidence, and what was left out.
pub(super) fn show(report: &EvalReport) {
    let (conversations, turns) = (report.conversations as u64, report.turns as u64);
    print_line!(
        "{}  {}\n",
        bold(report.benchmark),
        dim(&format!(
            "{}, {}",
            count(conversations, "conversation"),
            count(turns, "turn")
        ))
    );
    show_systems(&report.systems);
    if let Some(confidence) = &report.confidence {
        show_confidence(confidence);
    }
    show_abstention(report);
    show_answers(report);
    show_left_out(report);
    print_line!(
        "\n{}",
        dim(
            "R@k: share of the evidence among the first k results. hit@k: questions with any of \
             their evidence there. shown: share of the expected answer's words in the first lines \
             of the first result with evidence, if it is among three. tokens: median of ten \
             results, estimated at three bytes each. \
             empty: questions without a result."
        )
    );
}

fn show_systems(systems: &[SystemReport]) {
    let mut rows = vec![TableRow::head()];
    let mut systems = systems.iter();
    if let Some(daybook) = systems.next() {
        let classes = daybook.classes.iter();
        rows.extend(classes.map(|(class, figures)| TableRow::of(class, figures)));
        rows.push(TableRow::of("total", &daybook.total).stressed());
        let apart = daybook.apart.iter();
        rows.extend(
            apart.map(|(class, figures)| TableRow::of(&format!("{class}, apart"), figures)),
        );
    }
    rows.extend(systems.map(|system| TableRow::of(&system.system, &system.total)));
    let name = rows.iter().map(|row| row.name.chars().count()).max();
    let name = name.unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row.cells[column].len());
        cells.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    for row in &rows {
        let cells = row.cells.iter().zip(&widths);
        let cells: String = cells
            .map(|(cell, width)| format!("  {cell:>width$}"))
            .collect();
        let line = format!("{:<name$}{cells}", row.name);
        match row.is_stressed {
            true => print_line!("{}", bold(&line)),
            false => print_line!("{line}"),
        }
    }
}

/// One line of the table.
struct TableRow {
    name: String,
    cells: [String; COLUMNS.len()],
    is_stressed: bool,
}

impl TableRow {
    fn head() -> Self {
        Self {
            name: String::new(),
            cells: COLUMNS.map(str::to_owned),
            is_stressed: false,
        }
    }

    fn of(name: &str, figures: &RetrievalMetrics) -> Self {
        let share = |share: f64| format!("{share:.3}");
        Self {
            name: name.to_owned(),
            cells: [
                figures.questions.to_string(),
                share(figures.recall_5),
                share(figures.recall_10),
                share(figures.recall_20),
                share(figures.hit_1),
                share(figures.hit_3),
                share(figures.hit_10),
                share(figures.all_10),
                share(figures.mrr),
                share(figures.ndcg_10),
                share(figures.shown),
                figures.tokens.to_string(),
                format!("{:.1}", figures.p50_ms),
                format!("{:.1}", figures.p95_ms),
                figures.empty.to_string(),
            ],
            is_stressed: false,
        }
    }

    fn stressed(self) -> Self {
        Self {
            is_stressed: true,
            ..self
        }
    }
}

/// Prints the fitted weights, and their figures on the part that they were not fitted to.
pub(super) fn show_calibration(calibration: &Calibration) {
    let [share, score, angle, concepts] = calibration.weights;
    print_line!(
        "\n{}  share {share:.2} · score {score:.2} · angle {angle:.2} · concepts {concepts:.3} · \
         likely from {:.2} · weak from {:.2}",
        bold("Fitted"),
        calibration.likely,
        calibration.weak
    );
    if let Some(report) = &calibration.report {
        print_line!("   on the part that it was not fitted to:");
        show_confidence(report);
    }
}

fn show_confidence(confidence: &ConfidenceReport) {
    print_line!(
        "\n{}  AUC {:.3} over {} rightly answered and {} {}",
        bold("Confidence"),
        confidence.auc,
        count(confidence.right as u64, "question"),
        confidence.foreign,
        match confidence.kind {
            Unanswerable::OtherConversation => "of another conversation",
            Unanswerable::NeverDiscussed => "never discussed",
        },
    );
    print_line!(
        "   presented as likely: {} of the right ones, {} of the others",
        percent(confidence.right_likely),
        percent(1.0 - confidence.foreign_below_likely),
    );
    print_line!(
        "   a threshold that keeps 95 % of the right ones rejects {} of the others",
        percent(confidence.foreign_rejected_at_95),
    );
}

fn show_abstention(report: &EvalReport) {
    if let Some(abstention) = &report.abstention {
        print_line!(
            "\n{}  {} that nothing was said about: {} not presented as likely, {} without a result",
            bold("Abstention"),
            count(abstention.questions as u64, "question"),
            abstention.below_likely,
            abstention.empty,
        );
    }
}

fn show_answers(report: &EvalReport) {
    let Some(answers) = &report.end_to_end else {
        return;
    };
    let shares = [
        ("right", answers.answers),
        ("rightly not known", answers.abstention),
    ];
    let shares = shares.iter().filter(|(_, share)| share.of > 0);
    let shares: Vec<String> = shares
        .map(|(name, share)| {
            let (low, high) = (percent(share.low), percent(share.high));
            let right = percent(share.right as f64 / share.of as f64);
            format!("{right} of {} {name} (95 %: {low} to {high})", share.of)
        })
        .collect();
    print_line!("\n{}  {}", bold("Answers"), shares.join("; "));
    let tokens = |usage: Usage| format!("{} + {}", grouped(usage.input), grouped(usage.output));
    print_line!(
        "   {} answers: {} tokens; {} judges: {} tokens; cost {}",
        answers.answer_model,
        tokens(answers.answer_usage),
        answers.judge_model,
        tokens(answers.judge_usage),
        answers
            .cost
            .as_deref()
            .unwrap_or("not known: a price or a count of tokens is missing"),
    );
    if answers.failed > 0 {
        let failed = count(answers.failed as u64, "question");
        print_line!("   {failed} without an answer, because a model failed");
    }
    if let Some(why) = &answers.stopped {
        print_line!("   {} {why}", warn("stopped early:"));
    }
}

fn show_left_out(report: &EvalReport) {
    if report.left_out.is_empty() {
        return;
    }
    let whole = report
        .left_out
        .iter()
        .filter(|left| left.evidence.is_none());
    let pieces = report
        .left_out
        .iter()
        .filter_map(|left| left.evidence.as_ref());
    let reasons: BTreeSet<&str> = report.left_out.iter().map(|left| left.reason).collect();
    let reasons: Vec<&str> = reasons.into_iter().collect();
    print_line!(
        "\n{}  {} and {} of evidence: {}",
        bold("Left out"),
        count(whole.count() as u64, "question"),
        count(pieces.count() as u64, "piece"),
        reasons.join("; "),
    );
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
