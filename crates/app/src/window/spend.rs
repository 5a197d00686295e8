//! *Spend*: calls of models against their caps, by model, stage, person and day.

use anyhow::Result;
use daybook_domain::calendar::Day;
use daybook_domain::spend::{Amount, Payer, Period, SpendBy, SpendSum};
use daybook_domain::spend_forecast::MonthForecast;
use daybook_domain::{Money, Timestamp};
use maud::{Markup, html};

use super::chart::{Bar, bars, progress};
use super::frame::{Page, table};
use super::links;
use super::month_chart::{Unit, month};
use super::text::plain;
use crate::service::spending::{CapUsage, SpendReport};
use crate::terminal::output::grouped;
use crate::wiring::Daybook;

/// What sums are made by: name in the address, label.
const BY: [(&str, SpendBy, &str); 5] = [
    ("model", SpendBy::Model, "Model"),
    ("stage", SpendBy::Stage, "Stage"),
    ("user", SpendBy::User, "Person"),
    ("scope", SpendBy::Scope, "Memory"),
    ("day", SpendBy::Day, "Day"),
];
/// Milliseconds of the days that the charts show: a month at least.
const CHART: i64 = 31 * 24 * 60 * 60 * 1000;

/// The page; `by` is one of the names above.
pub(crate) async fn page(daybook: &Daybook, by: &str) -> Result<Page> {
    let chosen = BY.iter().find(|(name, ..)| *name == by);
    let (_, by, label) = chosen.unwrap_or(&BY[0]);
    let report = SpendReport::load(daybook, *by, None).await?;
    let from = Timestamp(daybook.clock.now().0 - CHART);
    let days = SpendReport::load(daybook, SpendBy::Day, Some(from)).await?;
    let currency = daybook.settings.currency.as_str();
    let rows: Vec<Vec<Markup>> = report.sums.iter().map(row).collect();
    let body = html! {
        @if report.all.calls == 0 { p { "No model was called this month: it cost nothing, and nothing left this machine." } }
        @else {
            ul.figures {
                li { b { (report.all.money.to_string()) } (currency) " this month" }
                li { b { (grouped(report.all.calls)) } "calls" }
                li { b { (grouped(report.all.usage.input)) } "tokens sent" }
                li { b { (grouped(report.all.usage.output)) } "tokens answered" }
            }
            p.row { "By " @for (name, _, label) in BY { a href=(links::page("spend", &[("by", name)])) { (label) } " " } }
            (table(&format!("This month, in {currency}"), &[label, "Calls", "Sent", "Answered", "Cost", "Remarks"], &rows))
        }
        @if !days.sums.is_empty() {
            h2 { "This month" }
            (this_month(daybook, &days.sums, &report.caps))
            (bars("The last 31 days", &by_day(&days.sums, (days.from, days.now)), currency))
        }
        h2 { "Caps" }
        @if report.caps.is_empty() { p { "No cap is set. " code { "daybook config set" } " sets one." } }
        @for cap in &report.caps { (cap_markup(cap, currency)) }
    };
    Ok(Page::new("spend", "Spend", body).live())
}

fn row(sum: &SpendSum) -> Vec<Markup> {
    let name = if sum.name.is_empty() {
        "none"
    } else {
        sum.name.as_str()
    };
    vec![
        html! { (plain(name)) },
        html! { (grouped(sum.calls)) },
        html! { (grouped(sum.usage.input)) },
        html! { (grouped(sum.usage.output)) },
        html! { (sum.money.to_string()) },
        html! { @if sum.unpriced > 0 { span.warn { (sum.unpriced) " without a price" } } },
    ]
}

/// The cost of each day since `from`, also of those without a call.
fn by_day(sums: &[SpendSum], (from, now): (Timestamp, Timestamp)) -> Vec<(String, f64)> {
    let (mut day, today) = (Day::of(from), Day::of(now));
    let mut days = Vec::new();
    while day <= today {
        let name = day.to_string();
        let of_day = sums.iter().find(|sum| sum.name == name);
        days.push((name, of_day.map_or(0.0, |sum| money(sum.money))));
        day = day.next();
    }
    days
}

/// The forecast of this month in money, or in tokens where no call cost any.
fn this_month(daybook: &Daybook, days: &[SpendSum], caps: &[CapUsage]) -> Markup {
    let is_priced = days.iter().any(|day| day.money > Money::ZERO);
    let amount = |counts: Amount| match is_priced {
        true => counts.money.0,
        false => counts.tokens,
    };
    let cost = |day: Day| {
        let name = day.to_string();
        let of_day = days.iter().find(|sum| sum.name == name);
        of_day.map_or(0, |sum| amount(sum.counts()))
    };
    let forecast = MonthForecast::of(cost, daybook.clock.now());
    let monthly = caps.iter().map(|usage| &usage.cap);
    let monthly = monthly.filter(|cap| cap.period == Period::Month && cap.of == Payer::Tenant);
    let caps = monthly.filter_map(|cap| match is_priced {
        true => cap.money.map(|money| money.0),
        false => cap.tokens,
    });
    let unit = match is_priced {
        true => Unit {
            name: &daybook.settings.currency,
            size: Money::UNIT as f64,
        },
        false => Unit {
            name: "tokens",
            size: 1.0,
        },
    };
    month(&forecast, &caps.collect::<Vec<_>>(), &unit)
}

/// An amount as a height in a chart, where exactness is not needed.
fn money(amount: Money) -> f64 {
    amount.to_string().parse().unwrap_or_default()
}

fn cap_markup(cap: &CapUsage, currency: &str) -> Markup {
    let name = format!("{}, each {}", cap.cap.of.as_str(), cap.cap.period.as_str());
    html! {
        h3 { (name) }
        @if let Some(tokens) = cap.cap.tokens {
            (progress(&Bar { name: "Tokens", value: cap.used.map_or(0, |used| used.tokens), of: tokens })) " tokens"
        }
        @if let Some(most) = cap.cap.money {
            p { (cap.used.map_or_else(|| "0".to_owned(), |used| used.money.to_string())) " of " (most.to_string()) " " (currency) }
        }
    }
}
