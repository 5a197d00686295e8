//! `daybook update --dry-run`: estimates the cost of the due work.

use std::process::ExitCode;

use anyhow::Result;
use daybook_domain::spend::{Cap, Payer};
use daybook_engine::jobs::{
    ASSUMED_ANSWER_PERCENT, Forecast, ForecastSelection, ModelForecast, ReachedCap, forecast,
};
use serde_json::{Value, json};

use super::CommonArgs;
use crate::process::block_on;
use crate::terminal::output::{bold, count, grouped, json as print_json, print_line, warn};
use crate::wiring::Daybook;

/// Prints the forecast for due jobs, or for all that wait. Calls no model, and changes nothing.
pub(crate) fn dry_run(common: &CommonArgs, all: bool) -> Result<ExitCode> {
    let daybook = Daybook::open_existing(common)?;
    let which = match all {
        true => ForecastSelection::Waiting,
        false => ForecastSelection::Due,
    };
    let worker = daybook.worker_context("dry-run")?;
    let meter = daybook.models().meter("dry-run");
    let foreseen = block_on(async { Ok(forecast(&worker, &meter, which).await?) })?;
    let currency = &daybook.settings.currency;
    match common.json {
        true => print_json(&as_json(&foreseen, currency))?,
        false => lines(&foreseen, currency).iter().for_each(|line| {
            print_line!("{line}");
        }),
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(forecast: &Forecast, currency: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if forecast.sessions == 0 {
        lines.push("Nothing is due.".to_owned());
        return lines;
    }
    let sessions = count(forecast.sessions, "session");
    if forecast.models.is_empty() {
        let windows = count(forecast.unasked, "window");
        lines.push(format!(
            "{sessions} would be read in {windows}; no model would be called."
        ));
        return lines;
    }
    lines.push(bold(&format!("{sessions} would be read")));
    lines.extend(forecast.models.iter().map(|model| line(model, currency)));
    if forecast.unasked > 0 {
        let windows = count(forecast.unasked, "window");
        lines.push(format!("  no model: {windows}"));
    }
    lines.extend(forecast.caps.iter().map(|met| cap_line(met, currency)));
    lines.push("Nothing was sent, and nothing was changed.".to_owned());
    lines
}

fn line(model: &ModelForecast, currency: &str) -> String {
    let name = &model.model;
    let money = match model.money {
        Some(money) => format!("{money} {currency}"),
        None => "its price is not known".to_owned(),
    };
    let basis = match model.calls {
        0 => format!(
            "answers are taken to be {ASSUMED_ANSWER_PERCENT} % of the longest: none was billed yet"
        ),
        calls => format!("answers as in {} so far", count(calls, "call")),
    };
    format!(
        "  {name}: {}, {} tokens in, {} out, {money} ({basis})",
        count(model.windows, "window"),
        grouped(model.usage.input),
        grouped(model.usage.output),
    )
}

fn cap_line(met: &ReachedCap, currency: &str) -> String {
    let Cap {
        period,
        of,
        tokens,
        money,
    } = met.cap;
    let whose = match (of, &met.user) {
        (Payer::User, Some(user)) => format!("{} of {user}", period.as_str()),
        (Payer::User | Payer::Tenant, _) => period.as_str().to_owned(),
    };
    let tokens = tokens.map(|cap| {
        let (used, wanted) = (grouped(met.used.tokens), grouped(met.wanted.tokens));
        format!(
            "{used} of {} tokens are used, {wanted} more are needed",
            grouped(cap)
        )
    });
    let money = money.map(|cap| {
        let (used, wanted) = (met.used.money, met.wanted.money);
        format!("{used} of {cap} {currency} are used, {wanted} more are needed")
    });
    let room: Vec<String> = tokens.into_iter().chain(money).collect();
    let said = format!("the cap of the {whose} would be met: {}", room.join("; "));
    format!("  {}", warn(&said))
}

/// Money is text, because JSON numbers with decimals are not exact.
fn as_json(forecast: &Forecast, currency: &str) -> Value {
    let models = forecast.models.iter().map(|model| {
        json!({
            "model": model.model,
            "windows": model.windows,
            "input": model.usage.input,
            "cached": model.usage.cached,
            "output": model.usage.output,
            "money": model.money.map(|money| money.to_string()),
            "calls": model.calls,
        })
    });
    let caps = forecast.caps.iter().map(|met| {
        json!({
            "of": met.cap.of.as_str(),
            "period": met.cap.period.as_str(),
            "user": met.user,
            "tokens": met.cap.tokens.map(|cap| {
                json!({"cap": cap, "used": met.used.tokens, "wanted": met.wanted.tokens})
            }),
            "money": met.cap.money.map(|cap| json!({
                "cap": cap.to_string(),
                "used": met.used.money.to_string(),
                "wanted": met.wanted.money.to_string(),
            })),
        })
    });
    json!({
        "sessions": forecast.sessions,
        "unasked": forecast.unasked,
        "currency": currency,
        "models": models.collect::<Vec<_>>(),
        "caps": caps.collect::<Vec<_>>(),
        "sent": false,
    })
}

#[cfg(test)]
mod tests {
    use daybook_domain::Money;
    use daybook_domain::model::Usage;
    use daybook_domain::spend::{Amount, Period};

    use super::*;

    fn foreseen(calls: u64, money: Option<Money>) -> Forecast {
        Forecast {
            sessions: 2,
            unasked: 1,
            models: vec![ModelForecast {
                model: "ada/small".to_owned(),
                windows: 3,
                usage: Usage {
                    input: 12_000,
                    cached: 0,
                    output: 900,
                },
                money,
                calls,
            }],
            caps: vec![ReachedCap {
                cap: Cap {
                    period: Period::Day,
                    of: Payer::User,
                    tokens: Some(10_000),
                    money: None,
                },
                user: Some("ada".to_owned()),
                used: Amount {
                    tokens: 500,
                    money: Money::ZERO,
                },
                wanted: Amount {
                    tokens: 12_900,
                    money: Money::ZERO,
                },
            }],
        }
    }

    #[track_caller]
    fn check(forecast: &Forecast, expected: &[&str]) {
        let lines = lines(forecast, "EUR");
        let plain = lines
            .iter()
            .map(|line| anstream::adapter::strip_str(line).to_string());
        assert_eq!(plain.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_it_costs_is_told_with_what_that_rests_on() {
        check(&Forecast::default(), &["Nothing is due."]);
        check(
            &foreseen(0, None),
            &[
                "2 sessions would be read",
                "  ada/small: 3 windows, 12,000 tokens in, 900 out, its price is not known (answers are \
                 taken to be 10 % of the longest: none was billed yet)",
                "  no model: 1 window",
                "  the cap of the day of ada would be met: 500 of 10,000 tokens are used, 12,900 more are needed",
                "Nothing was sent, and nothing was changed.",
            ],
        );
        let told = lines(&foreseen(7, Some(Money(250_000))), "EUR");
        assert!(
            told[1].ends_with("900 out, 0.25 EUR (answers as in 7 calls so far)"),
            "{told:?}"
        );
    }

    #[test]
    fn without_a_model_it_says_so() {
        let forecast = Forecast {
            sessions: 1,
            unasked: 2,
            ..Forecast::default()
        };
        check(
            &forecast,
            &["1 session would be read in 2 windows; no model would be called."],
        );
    }
}
