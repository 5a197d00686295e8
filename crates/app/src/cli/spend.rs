//! `daybook spend`: calls of models, their cost, and what is left under caps.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use daybook_domain::Money;
use daybook_domain::calendar::Day;
use daybook_domain::limits::SPEND_SUMS;
use daybook_domain::spend::{Cap, Payer, SpendBy, SpendSum};
use jiff::tz::TimeZone;

use super::CommonArgs;
use super::import::since;
use crate::process::block_on;
use crate::service::spending::{CapUsage, SpendReport};
use crate::terminal::output::{bold, count, dim, grouped, json as print_json, print_line, warn};
use crate::wiring::Daybook;

/// Show calls of models, their cost, and what is left under caps.
#[derive(Args)]
pub(crate) struct SpendCommand {
    /// What to group the sums by
    #[arg(long, value_enum, default_value_t = GroupBy::Model)]
    by: GroupBy,
    /// Only calls since then: a date, or an age such as 7d [default: the first of this month, UTC]
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum GroupBy {
    Model,
    Stage,
    User,
    Scope,
    Session,
    Day,
    Month,
}

impl GroupBy {
    fn spend_by(self) -> SpendBy {
        match self {
            Self::Model => SpendBy::Model,
            Self::Stage => SpendBy::Stage,
            Self::User => SpendBy::User,
            Self::Scope => SpendBy::Scope,
            Self::Session => SpendBy::Session,
            Self::Day => SpendBy::Day,
            Self::Month => SpendBy::Month,
        }
    }
}

impl SpendCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let now = daybook.clock.now();
        let from = self.since.as_deref();
        let from = from
            .map(|text| since(text, now, TimeZone::UTC))
            .transpose()?;
        let report = block_on(SpendReport::load(&daybook, self.by.spend_by(), from))?;
        match common.json {
            true => print_json(&report.answer(&daybook))?,
            false => print_report(&report, &daybook),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_report(report: &SpendReport, daybook: &Daybook) {
    let from = Day::of(report.from);
    if report.sums.is_empty() {
        print_line!("No model was called since {from}.");
    } else {
        let heading = format!("Spent since {from}, by {}", report.by.as_str());
        print_line!("{}", bold(&heading));
        print_sums(report, daybook);
    }
    if report.sums.len() == SPEND_SUMS {
        let what = format!("These are the first {SPEND_SUMS}; there may be more.");
        print_line!("{}", warn(&what));
    }
    let currency = &daybook.settings.currency;
    if report.all.open > 0 {
        print_line!(
            "\n{} open: under way, or cut off before its cost was known. A call that is cut off counts for good with \
             the most that it can have cost; now that is {} tokens and {} {currency}.",
            count(report.all.open, "call"),
            grouped(report.all.reserved.tokens),
            report.all.reserved.money,
        );
    }
    if !report.caps.is_empty() {
        print_line!("\n{}", bold("Caps"));
    }
    for left in &report.caps {
        print_cap(left, daybook);
    }
}

fn print_sums(report: &SpendReport, daybook: &Daybook) {
    let currency = daybook.settings.currency.as_str();
    let head = ["", "calls", "in", "cached", "out", currency].map(str::to_owned);
    let mut rows = vec![(head, String::new())];
    rows.extend(report.sums.iter().map(|sum| {
        let name = if sum.name.is_empty() {
            "none"
        } else {
            &sum.name
        };
        (cells(name, sum), remarks(report.by, sum, daybook))
    }));
    if report.sums.len() > 1 {
        rows.push((cells("in all", &report.all), String::new()));
    }
    let width = |column: usize| {
        let cells = rows.iter().map(|(cells, _)| cells[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let [name, calls, input, cached, output, money] = [0, 1, 2, 3, 4, 5].map(width);
    for ([a, b, c, d, e, f], remarks) in &rows {
        let remarks = match remarks.as_str() {
            "" => String::new(),
            remarks => format!("  {}", dim(remarks)),
        };
        print_line!(
            "  {a:<name$}  {b:>calls$}  {c:>input$}  {d:>cached$}  {e:>output$}  {f:>money$}{remarks}"
        );
    }
}

fn cells(name: &str, sum: &SpendSum) -> [String; 6] {
    [
        name.to_owned(),
        grouped(sum.calls),
        grouped(sum.usage.input),
        grouped(sum.usage.cached),
        grouped(sum.usage.output),
        sum.money.to_string(),
    ]
}

/// Remarks that the numbers of a row do not show.
fn remarks(by: SpendBy, sum: &SpendSum, daybook: &Daybook) -> String {
    let mut remarks = Vec::new();
    if sum.open > 0 {
        remarks.push(format!("{} open", grouped(sum.open)));
    }
    if sum.exceeded > 0 {
        remarks.push(format!(
            "{} beyond what was reserved",
            grouped(sum.exceeded)
        ));
    }
    if sum.unpriced > 0 {
        let lacks_one = by == SpendBy::Model && daybook.settings.prices.price(&sum.name).is_none();
        let add = if lacks_one {
            "; add one to [prices]"
        } else {
            ""
        };
        remarks.push(format!("{} without a price{add}", grouped(sum.unpriced)));
    }
    remarks.join(", ")
}

fn print_cap(left: &CapUsage, daybook: &Daybook) {
    let Cap {
        period,
        of,
        tokens,
        money,
    } = left.cap;
    let whose = match of {
        Payer::Tenant => format!("each {}", period.as_str()),
        Payer::User => format!("each {}, each user", period.as_str()),
    };
    let until = left.until.map(|until| Day::of(until).to_string());
    let until = until.map_or_else(String::new, |until| format!(", until {until}"));
    let line = |used: Option<String>, rest: String, cap: String, unit: &str| match used {
        Some(used) => print_line!("  {whose}: {used} of {cap} {unit}, {rest} left{until}"),
        None => print_line!("  {whose}: {cap} {unit}"),
    };
    if let Some(cap) = tokens {
        let used = left.used.map(|used| used.tokens);
        let rest = cap.saturating_sub(used.unwrap_or_default());
        line(used.map(grouped), grouped(rest), grouped(cap), "tokens");
    }
    if let Some(cap) = money {
        let used = left.used.map(|used| used.money);
        let rest = Money(cap.0.saturating_sub(used.unwrap_or_default().0));
        let used = used.map(|used| used.to_string());
        line(
            used,
            rest.to_string(),
            cap.to_string(),
            &daybook.settings.currency,
        );
    }
}
