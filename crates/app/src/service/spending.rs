//! Calls of models, their cost, and what is left under caps.

use anyhow::Result;
use daybook_domain::calendar::Month;
use daybook_domain::limits::SPEND_SUMS;
use daybook_domain::spend::{Amount, BudgetPeriod, Cap, Period, SpendBy, SpendSum};
use daybook_domain::{Money, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::terminal::output::{count, grouped, rfc3339};
use crate::wiring::Daybook;

/// A cap, and the amount that counts against it now.
pub(crate) struct CapUsage {
    pub(crate) cap: Cap,
    /// `None` for a run: each begins at zero.
    pub(crate) used: Option<Amount>,
    pub(crate) until: Option<Timestamp>,
}

/// The contents of the report.
pub(crate) struct SpendReport {
    pub(crate) by: SpendBy,
    pub(crate) from: Timestamp,
    pub(crate) now: Timestamp,
    pub(crate) sums: Vec<SpendSum>,
    pub(crate) all: SpendSum,
    pub(crate) caps: Vec<CapUsage>,
}

impl SpendReport {
    /// Sums the calls since `from`; without it, since the first of this month in UTC.
    pub(crate) async fn load(
        daybook: &Daybook,
        by: SpendBy,
        from: Option<Timestamp>,
    ) -> Result<Self> {
        let now = daybook.clock.now();
        let from = from.unwrap_or_else(|| Month::of(now).begins());
        let (store, tenant) = (&daybook.spending, &daybook.tenant);
        let times = (from, Timestamp::MAX);
        let sums = store.spent(tenant, times, by, SPEND_SUMS).await?;
        let months = store.spent(tenant, times, SpendBy::Month, SPEND_SUMS);
        let mut caps = Vec::new();
        for cap in &daybook.settings.caps {
            caps.push(cap_usage(daybook, *cap, now).await?);
        }
        Ok(Self {
            by,
            from,
            now,
            sums,
            all: sum_all(&months.await?),
            caps,
        })
    }

    /// The report for programs.
    pub(crate) fn answer(&self, daybook: &Daybook) -> SpendAnswer {
        SpendAnswer {
            since: rfc3339(self.from),
            now: rfc3339(self.now),
            by: self.by.as_str(),
            currency: daybook.settings.currency.clone(),
            spent: self.sums.iter().map(SpentShown::from).collect(),
            all: SpentShown::from(&self.all),
            caps: self.caps.iter().map(CapShown::from).collect(),
        }
    }
}

impl SpendAnswer {
    /// `0.52 EUR today · 3.10 this month, in 40 calls · 3.10 of 10.00 EUR a month`
    pub(crate) fn line(&self, today: &str) -> String {
        let currency = &self.currency;
        let (month, calls) = (&self.all.money, count(self.all.calls, "call"));
        let mut line = format!("{today} {currency} today · {month} this month, in {calls}");
        for cap in &self.caps {
            let money = cap.money.as_ref().and_then(|money| {
                let used = money.used.as_ref()?;
                Some(format!("{used} of {} {currency}", money.cap))
            });
            let tokens = cap.tokens.as_ref().and_then(|tokens| {
                let used = grouped(tokens.used?);
                Some(format!("{used} of {} tokens", grouped(tokens.cap)))
            });
            for used in money.into_iter().chain(tokens) {
                line.push_str(&format!(" · {used} a {}", cap.period));
            }
        }
        line
    }
}

async fn cap_usage(daybook: &Daybook, cap: Cap, now: Timestamp) -> Result<CapUsage> {
    let until = cap.period.ends(now);
    let used = match cap.period {
        Period::Run => None,
        Period::Day | Period::Month => {
            let person = &daybook.settings.person;
            let budget = BudgetPeriod::at(cap.of, person, cap.period, "", now);
            let used = daybook.spending.used(&daybook.tenant, &[budget]).await?;
            used.first().copied()
        }
    };
    Ok(CapUsage { cap, used, until })
}

fn sum_all(sums: &[SpendSum]) -> SpendSum {
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

/// Calls of models, their cost, and what is left under caps.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SpendAnswer {
    /// The first call that counts was made then or later, RFC 3339.
    #[schema(format = DateTime)]
    since: Option<String>,
    /// The present time, RFC 3339.
    #[schema(format = DateTime)]
    now: Option<String>,
    /// What the sums are made by.
    #[schema(example = "model")]
    by: &'static str,
    /// The currency of all amounts.
    #[schema(example = "USD")]
    currency: String,
    /// The sums.
    spent: Vec<SpentShown>,
    /// The sum of all calls.
    all: SpentShown,
    /// What settings allow, and what is left of it.
    caps: Vec<CapShown>,
}

/// The calls of one model, day, user or the like. Money is text, because JSON numbers with decimals are not exact.
#[derive(Debug, Serialize, ToSchema)]
struct SpentShown {
    /// Which one; empty for calls without one.
    name: String,
    /// Calls.
    calls: u64,
    /// Tokens that were sent.
    input: u64,
    /// Of these, tokens that the provider had kept.
    cached: u64,
    /// Tokens that were answered.
    output: u64,
    /// What they cost.
    #[schema(example = "0.25")]
    money: String,
    /// Calls under way, or cut off before their cost was known.
    open: u64,
    /// The most that these can cost.
    reserved: ReservedShown,
    /// Calls that used more than was reserved for them.
    exceeded: u64,
    /// Calls of models without a price, which the money does not include.
    unpriced: u64,
}

/// The most that open calls can cost.
#[derive(Debug, Serialize, ToSchema)]
struct ReservedShown {
    /// Tokens.
    tokens: u64,
    /// Money.
    money: String,
}

impl From<&SpendSum> for SpentShown {
    fn from(sum: &SpendSum) -> Self {
        Self {
            name: sum.name.clone(),
            calls: sum.calls,
            input: sum.usage.input,
            cached: sum.usage.cached,
            output: sum.usage.output,
            money: sum.money.to_string(),
            open: sum.open,
            reserved: ReservedShown {
                tokens: sum.reserved.tokens,
                money: sum.reserved.money.to_string(),
            },
            exceeded: sum.exceeded,
            unpriced: sum.unpriced,
        }
    }
}

/// A cap of the settings.
#[derive(Debug, Serialize, ToSchema)]
struct CapShown {
    /// Who is capped: `tenant`, or each `user`.
    of: &'static str,
    /// For how long: `run`, `day` or `month`.
    period: &'static str,
    /// When the period ends, RFC 3339; `null` for a run.
    #[schema(format = DateTime)]
    until: Option<String>,
    /// The cap in tokens, where there is one.
    tokens: Option<TokensLeft>,
    /// The cap in money, where there is one.
    money: Option<MoneyLeft>,
}

/// What is left of a cap in tokens. What was used is `null` for a run: each begins at zero.
#[derive(Debug, Serialize, ToSchema)]
struct TokensLeft {
    cap: u64,
    used: Option<u64>,
    left: Option<u64>,
}

/// What is left of a cap in money. What was used is `null` for a run: each begins at zero.
#[derive(Debug, Serialize, ToSchema)]
struct MoneyLeft {
    cap: String,
    used: Option<String>,
    left: Option<String>,
}

impl From<&CapUsage> for CapShown {
    fn from(usage: &CapUsage) -> Self {
        let (cap, used) = (&usage.cap, usage.used);
        let tokens = cap.tokens.map(|cap| TokensLeft {
            cap,
            used: used.map(|used| used.tokens),
            left: used.map(|used| cap.saturating_sub(used.tokens)),
        });
        let money = cap.money.map(|cap| {
            let left = |used: Amount| Money(cap.0.saturating_sub(used.money.0)).to_string();
            MoneyLeft {
                cap: cap.to_string(),
                used: used.map(|used| used.money.to_string()),
                left: used.map(left),
            }
        });
        Self {
            of: cap.of.as_str(),
            period: cap.period.as_str(),
            until: usage.until.and_then(rfc3339),
            tokens,
            money,
        }
    }
}
