//! `daybook spend`: what models were asked for, what that cost, and how much is left.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use daybook_domain::calendar::{Day, Month};
use daybook_domain::limits::SPEND_SUMS;
use daybook_domain::spend::{Amount, Cap, Payer, Period, Purse, SpendBy, SpendSum};
use daybook_domain::{Money, Timestamp};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::Common;
use super::import::since;
use crate::output::{bold, count, dim, grouped, json as print_json, rfc3339, warn};
use crate::wiring::{Daybook, block_on};

/// What models were asked for, what that cost, and how much is left.
#[derive(Args)]
pub(crate) struct Spend {
    /// What to add up by
    #[arg(long, value_enum, default_value_t = By::Model)]
    by: By,
    /// Only calls since then: a date, or an age such as 7d [default: the first of this month, UTC]
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum By {
    Model,
    Stage,
    User,
    Scope,
    Session,
    Day,
    Month,
}

impl By {
    fn sums(self) -> SpendBy {
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

/// A cap, and what counts against it now.
struct Left {
    cap: Cap,
    /// Nothing for a run: each begins anew.
    used: Option<Amount>,
    until: Option<Timestamp>,
}

/// All that is told.
struct Bill {
    by: SpendBy,
    from: Timestamp,
    now: Timestamp,
    sums: Vec<SpendSum>,
    all: SpendSum,
    caps: Vec<Left>,
}

impl Spend {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let bill = block_on(self.bill(&daybook))?;
        match common.json {
            true => print_json(&as_json(&bill, &daybook))?,
            false => say(&bill, &daybook),
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn bill(&self, daybook: &Daybook) -> Result<Bill> {
        let now = daybook.clock.now();
        let from = match &self.since {
            Some(text) => since(text, now, TimeZone::UTC)?,
            None => Month::of(now).begins(),
        };
        let (store, tenant) = (&daybook.spending, &daybook.tenant);
        let times = (from, Timestamp::MAX);
        let by = self.by.sums();
        let sums = store.spent(tenant, times, by, SPEND_SUMS).await?;
        let months = store.spent(tenant, times, SpendBy::Month, SPEND_SUMS);
        let mut caps = Vec::new();
        for cap in &daybook.settings.caps {
            caps.push(left(daybook, *cap, now).await?);
        }
        Ok(Bill {
            by,
            from,
            now,
            sums,
            all: added_up(&months.await?),
            caps,
        })
    }
}

async fn left(daybook: &Daybook, cap: Cap, now: Timestamp) -> Result<Left> {
    let until = cap.period.ends(now);
    let used = match cap.period {
        Period::Run => None,
        Period::Day | Period::Month => {
            let person = &daybook.settings.person;
            let purse = Purse::at(cap.of, person, cap.period, "", now);
            let used = daybook.spending.used(&daybook.tenant, &[purse]).await?;
            used.first().copied()
        }
    };
    Ok(Left { cap, used, until })
}

fn added_up(sums: &[SpendSum]) -> SpendSum {
    let mut all = SpendSum::default();
    for sum in sums {
        all.calls += sum.calls;
        all.usage += sum.usage;
        all.money.0 += sum.money.0;
        all.open += sum.open;
        all.reserved = all.reserved.plus(sum.reserved);
        all.exceeded += sum.exceeded;
        all.unpriced += sum.unpriced;
    }
    all
}

fn say(bill: &Bill, daybook: &Daybook) {
    let from = Day::of(bill.from);
    if bill.sums.is_empty() {
        anstream::println!("No model was asked since {from}.");
    } else {
        let heading = format!("Spent since {from}, by {}", bill.by.word());
        anstream::println!("{}", bold(&heading));
        say_sums(bill, daybook);
    }
    if bill.sums.len() == SPEND_SUMS {
        let what = format!("These are the first {SPEND_SUMS}; there may be more.");
        anstream::println!("{}", warn(&what));
    }
    let currency = &daybook.settings.currency;
    if bill.all.open > 0 {
        anstream::println!(
            "\n{} open: under way, or cut off before the bill came. What is cut off counts for good with \
             the most that it can have cost; now that is {} tokens and {} {currency}.",
            count(bill.all.open, "call"),
            grouped(bill.all.reserved.tokens),
            bill.all.reserved.money,
        );
    }
    if !bill.caps.is_empty() {
        anstream::println!("\n{}", bold("Caps"));
    }
    for left in &bill.caps {
        say_cap(left, daybook);
    }
}

fn say_sums(bill: &Bill, daybook: &Daybook) {
    let currency = daybook.settings.currency.as_str();
    let head = ["", "calls", "in", "cached", "out", currency].map(str::to_owned);
    let mut rows = vec![(head, String::new())];
    rows.extend(bill.sums.iter().map(|sum| {
        let name = if sum.name.is_empty() {
            "none"
        } else {
            &sum.name
        };
        (cells(name, sum), remarks(bill.by, sum, daybook))
    }));
    if bill.sums.len() > 1 {
        rows.push((cells("in all", &bill.all), String::new()));
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
        anstream::println!(
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

/// What its numbers do not say.
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

fn say_cap(left: &Left, daybook: &Daybook) {
    let Cap {
        period,
        of,
        tokens,
        money,
    } = left.cap;
    let whose = match of {
        Payer::Tenant => format!("each {}", period.word()),
        Payer::User => format!("each {}, each user", period.word()),
    };
    let until = left.until.map(|until| Day::of(until).to_string());
    let until = until.map_or_else(String::new, |until| format!(", until {until}"));
    let line = |used: Option<String>, rest: String, cap: String, unit: &str| match used {
        Some(used) => anstream::println!("  {whose}: {used} of {cap} {unit}, {rest} left{until}"),
        None => anstream::println!("  {whose}: {cap} {unit}"),
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

fn as_json(bill: &Bill, daybook: &Daybook) -> Value {
    let sums = bill.sums.iter().map(sum_as_json);
    let caps = bill.caps.iter().map(|left| {
        let used = left.used;
        let tokens = left.cap.tokens.map(|cap| {
            let left = used.map(|used| cap.saturating_sub(used.tokens));
            json!({"cap": cap, "used": used.map(|used| used.tokens), "left": left})
        });
        let money = left.cap.money.map(|cap| {
            let left = used.map(|used| Money(cap.0.saturating_sub(used.money.0)).to_string());
            let used = used.map(|used| used.money.to_string());
            json!({"cap": cap.to_string(), "used": used, "left": left})
        });
        json!({
            "of": left.cap.of.word(),
            "period": left.cap.period.word(),
            "until": left.until.and_then(rfc3339),
            "tokens": tokens,
            "money": money,
        })
    });
    json!({
        "since": rfc3339(bill.from),
        "now": rfc3339(bill.now),
        "by": bill.by.word(),
        "currency": daybook.settings.currency,
        "spent": sums.collect::<Vec<_>>(),
        "all": sum_as_json(&bill.all),
        "caps": caps.collect::<Vec<_>>(),
    })
}

/// Money is text: a number with decimals would not say exactly what it is.
fn sum_as_json(sum: &SpendSum) -> Value {
    json!({
        "name": sum.name,
        "calls": sum.calls,
        "input": sum.usage.input,
        "cached": sum.usage.cached,
        "output": sum.usage.output,
        "money": sum.money.to_string(),
        "open": sum.open,
        "reserved": {"tokens": sum.reserved.tokens, "money": sum.reserved.money.to_string()},
        "exceeded": sum.exceeded,
        "unpriced": sum.unpriced,
    })
}
