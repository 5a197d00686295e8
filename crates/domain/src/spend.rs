//! Whom calls of a model are charged to, and when a cap is reached.
//!
//! Before a call its worst case is reserved; what the provider reports takes its place. So what counts
//! against a cap is never less than what was spent, and a cap that a reservation would pass refuses it
//! ([`at_cap`]). Stores keep the totals; these rules interpret them.
//!
//! Not here: prices, and where caps come from.

use std::cmp::Ordering;
use std::fmt;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::calendar::{Day, Month};
use crate::ids::{Scope, SessionId, Tenant};
use crate::limits::{CALL_MONEY, CALL_TOKENS};
use crate::model::Usage;
use crate::price::{Money, clamp_usage};
use crate::time::Timestamp;

/// How long a cap counts.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum Period {
    /// One run, as its caller names it.
    Run,
    /// A day in UTC.
    Day,
    /// A month in UTC.
    Month,
}

impl Period {
    /// The variant's name in columns and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// When the one at `at` ends. A run ends when its caller begins another.
    #[must_use]
    pub fn ends(self, at: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Run => None,
            Self::Day => Some(Day::of(at).next().begins()),
            Self::Month => Some(Month::of(at).next().begins()),
        }
    }

    fn key(self, run: &str, at: Timestamp) -> String {
        match self {
            Self::Run => run.to_owned(),
            Self::Day => Day::of(at).to_string(),
            Self::Month => Month::of(at).to_string(),
        }
    }
}

/// Whose calls are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Payer {
    /// Those of the tenant.
    Tenant,
    /// Those for one user of the tenant.
    User,
}

impl Payer {
    /// The variant's name in columns and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The most that may be spent in a period. What it does not name is without a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap {
    /// In which time.
    pub period: Period,
    /// Whose calls it bounds; of [`Payer::User`], each user has all of it.
    pub of: Payer,
    /// Tokens, read and written together.
    pub tokens: Option<u64>,
    /// Money.
    pub money: Option<Money>,
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amount {
    /// Read and written.
    pub tokens: u64,
    /// What they cost; nothing where no price is known.
    pub money: Money,
}

impl Amount {
    /// Both together, as far as a column can hold it.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let most = i64::MAX.unsigned_abs();
        let sum = |one: u64, other| one.saturating_add(other).min(most);
        Self {
            tokens: sum(self.tokens, other.tokens),
            money: Money(sum(self.money.0, other.money.0)),
        }
    }

    /// This without `other`.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            money: Money(self.money.0.saturating_sub(other.money.0)),
        }
    }
}

/// One payer and one period, whose calls are counted in one sum.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BudgetPeriod {
    /// Whose calls.
    pub of: Payer,
    /// Which user; empty for the tenant.
    pub user: String,
    /// In which sort of period.
    pub period: Period,
    /// Which one: a run's name, a day, a month.
    pub key: String,
}

impl BudgetPeriod {
    /// All budget periods of a user's call in a run at a time, capped or not: a cap that
    /// is set later counts what was spent before.
    #[must_use]
    pub fn all(user: &str, run: &str, at: Timestamp) -> Vec<Self> {
        let of = |&of: &Payer| {
            let periods = Period::VARIANTS.iter();
            periods.map(move |&period| Self::at(of, user, period, run, at))
        };
        Payer::VARIANTS.iter().flat_map(of).collect()
    }

    /// The budget period of `user` and `run` at a time.
    #[must_use]
    pub fn at(of: Payer, user: &str, period: Period, run: &str, at: Timestamp) -> Self {
        let user = match of {
            Payer::Tenant => String::new(),
            Payer::User => user.to_owned(),
        };
        Self {
            of,
            user,
            period,
            key: period.key(run, at),
        }
    }
}

/// A call that is about to be made: its payer, and the most that it can cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The tenant it belongs to.
    pub tenant: Tenant,
    /// For which user.
    pub user: String,
    /// In which run; a name that no other run has.
    pub run: String,
    /// About which session.
    pub session: Option<SessionId>,
    /// The stage of the pipeline that makes the call.
    pub stage: String,
    /// For whose memory.
    pub scope: Option<Scope>,
    /// The model that is called: `provider/model`.
    pub model: String,
    /// Most tokens, read and written, of all its tries.
    pub tokens: u64,
    /// The most that they can cost; nothing where no price is known.
    pub money: Option<Money>,
}

impl Charge {
    /// The most that it can cost, within what can be true.
    #[must_use]
    pub fn worst(&self) -> WorstCase {
        WorstCase {
            tokens: self.tokens.min(CALL_TOKENS),
            money: self.money.map(|money| Money(money.0.min(CALL_MONEY))),
        }
    }
}

/// What is reserved for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorstCase {
    /// Read and written.
    pub tokens: u64,
    /// What they can cost; nothing where no price is known.
    pub money: Option<Money>,
}

impl WorstCase {
    /// The amount that counts in budget periods until the call is settled.
    #[must_use]
    pub fn amount(self) -> Amount {
        Amount {
            tokens: self.tokens,
            money: self.money.unwrap_or_default(),
        }
    }

    /// The settlement that replaces it once usage is reported. An unknown cost stays at the worst case.
    #[must_use]
    pub fn settled(self, usage: Usage, cost: Option<Money>) -> Settlement {
        let usage = clamp_usage(usage);
        let cost = cost.map(|cost| Money(cost.0.min(CALL_MONEY)));
        let money = cost.or(self.money);
        let exceeds = usage.input + usage.output > self.tokens
            || self.money.is_some_and(|most| money > Some(most));
        Settlement {
            usage,
            money,
            outcome: match exceeds {
                true => SettleOutcome::Exceeded,
                false => SettleOutcome::Settled,
            },
        }
    }
}

/// The usage and cost of a settled call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settlement {
    /// What the provider reported, within what can be true.
    pub usage: Usage,
    /// What it cost; nothing where no price is known.
    pub money: Option<Money>,
    /// How it compares with what was reserved.
    pub outcome: SettleOutcome,
}

impl Settlement {
    /// The amount that counts in budget periods from now on.
    #[must_use]
    pub fn amount(&self) -> Amount {
        Amount {
            tokens: self.usage.input + self.usage.output,
            money: self.money.unwrap_or_default(),
        }
    }
}

/// A reservation that a store has made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReservationId {
    /// The tenant it belongs to.
    pub tenant: Tenant,
    /// Which one; never given twice.
    pub no: u64,
}

/// The result of a reservation.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReserveOutcome {
    /// It counts from now on.
    Reserved(ReservationId),
    /// There is no room for it, and nothing changed.
    AtCap(Box<CapReached>),
}

/// The result of settling a call.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettleOutcome {
    /// What was reported takes the place of what was reserved.
    Settled,
    /// The same, and it is more than was reserved.
    Exceeded,
    /// It was settled or released before, or never made; nothing changed.
    Unknown,
}

/// A call must wait: with it, a cap could be passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapReached {
    /// Which cap.
    pub cap: Cap,
    /// What is spent or reserved of it.
    pub used: Amount,
    /// What the call may need.
    pub wanted: Amount,
    /// When the period ends, and there is room again; a run has no such time.
    pub until: Option<Timestamp>,
}

impl CapReached {
    /// Whether there will be room when the period has ended: not for a call that alone passes the cap.
    #[must_use]
    pub fn is_cured_by_waiting(&self) -> bool {
        self.until.is_some() && !exceeds(&self.cap, self.wanted)
    }
}

impl std::error::Error for CapReached {}

impl fmt::Display for CapReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.used.plus(self.wanted);
        let of = format!(
            "a {} per {}",
            self.cap.of.as_str(),
            self.cap.period.as_str()
        );
        match (self.cap.tokens, self.cap.money) {
            (Some(cap), _) if all.tokens > cap => write!(
                f,
                "at the cap of {cap} tokens for {of}: {} are spent or reserved, and this call may need {}",
                self.used.tokens, self.wanted.tokens
            )?,
            (_, cap) => write!(
                f,
                "at the cap of {} for {of}: {} is spent or reserved, and this call may cost {}",
                cap.unwrap_or_default(),
                self.used.money,
                self.wanted.money
            )?,
        }
        match self.until {
            _ if exceeds(&self.cap, self.wanted) => {
                f.write_str("; it never fits: raise the cap, or ask a model for less at once")
            }
            Some(until) => write!(f, "; there is room again on {}, UTC", Day::of(until)),
            None => f.write_str("; the next run begins anew"),
        }
    }
}

/// The cap that a charge would pass at `now`, where `used` gives what counts in a budget period already. Of
/// several the one that ends last: until then waiting is in vain.
#[must_use]
pub fn at_cap(
    charge: &Charge,
    caps: &[Cap],
    now: Timestamp,
    used: impl Fn(&BudgetPeriod) -> Amount,
) -> Option<CapReached> {
    let wanted = charge.worst().amount();
    let passed = caps.iter().filter_map(|cap| {
        let budget = BudgetPeriod::at(cap.of, &charge.user, cap.period, &charge.run, now);
        let used = used(&budget);
        exceeds(cap, used.plus(wanted)).then(|| CapReached {
            cap: *cap,
            used,
            wanted,
            until: cap.period.ends(now),
        })
    });
    passed.max_by_key(|at| at.until.unwrap_or(Timestamp::MAX))
}

fn exceeds(cap: &Cap, amount: Amount) -> bool {
    cap.tokens.is_some_and(|most| amount.tokens > most)
        || cap.money.is_some_and(|most| amount.money > most)
}

/// What sums are made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum SpendBy {
    /// The day of the call, in UTC.
    Day,
    /// Its month.
    Month,
    /// The model.
    Model,
    /// The stage.
    Stage,
    /// The user.
    User,
    /// The scope.
    Scope,
    /// The session.
    Session,
}

impl SpendBy {
    /// The variant's name on a command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The order in which sums are listed: see [`crate::seams::SpendStore::spent`].
    #[must_use]
    pub fn order(self, one: &SpendSum, other: &SpendSum) -> Ordering {
        let by_name = one.name.cmp(&other.name);
        match self {
            Self::Day | Self::Month => by_name.reverse(),
            Self::Model | Self::Stage | Self::User | Self::Scope | Self::Session => {
                let rank = |sum: &SpendSum| (sum.counts().money, sum.counts().tokens);
                rank(other).cmp(&rank(one)).then(by_name)
            }
        }
    }
}

/// The sum of the calls of one group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpendSum {
    /// Of which day, model, …; empty for calls without one.
    pub name: String,
    /// Calls, those that were not settled included.
    pub calls: u64,
    /// What providers reported.
    pub usage: Usage,
    /// What that cost.
    pub money: Money,
    /// Unsettled calls: under way, or cut off. They count with their worst case.
    pub open: u64,
    /// That worst case.
    pub reserved: Amount,
    /// Settled calls that used more than was reserved.
    pub exceeded: u64,
    /// Calls of models whose price was not known: their money is not in these sums.
    pub unpriced: u64,
}

impl SpendSum {
    /// What counts: what was reported, and the worst case of the rest.
    #[must_use]
    pub fn counts(&self) -> Amount {
        let reported = Amount {
            tokens: self.usage.input.saturating_add(self.usage.output),
            money: self.money,
        };
        reported.plus(self.reserved)
    }
}

#[cfg(test)]
#[path = "spend_tests.rs"]
mod tests;
