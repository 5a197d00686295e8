//! What models cost.
//!
//! Amounts are whole numbers: tokens, and millionths of a currency that nothing here names.
//!
//! Not here: the models that exist and their prices, which settings hold.

use std::fmt;
use std::str::FromStr;

use crate::limits::{CALL_MONEY, CALL_TOKENS};
use crate::model::Usage;

/// Money in millionths of a currency's unit, shown in units: `0.25`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(pub u64);

impl Money {
    /// None.
    pub const ZERO: Self = Self(0);
    /// Millionths of one unit.
    pub const UNIT: u64 = 1_000_000;
}

/// In units, with two to six decimals.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (units, millionths) = (self.0 / Self::UNIT, self.0 % Self::UNIT);
        let decimals = format!("{millionths:06}");
        let kept = decimals.trim_end_matches('0').len().max(2);
        f.pad(&format!("{units}.{}", &decimals[..kept]))
    }
}

/// A text that is no amount of money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an amount of money is a number such as 3 or 0.25, with at most six decimals")]
pub struct ParseMoneyError;

impl FromStr for Money {
    type Err = ParseMoneyError;

    fn from_str(text: &str) -> Result<Self, ParseMoneyError> {
        let (units, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if units.is_empty() || decimals.len() > 6 || !digits(units) || !digits(decimals) {
            return Err(ParseMoneyError);
        }
        let units: u64 = units.parse().map_err(|_| ParseMoneyError)?;
        let millionths: u64 = format!("{decimals:0<6}")
            .parse()
            .map_err(|_| ParseMoneyError)?;
        let whole = units.checked_mul(Self::UNIT);
        let all = whole.and_then(|whole| whole.checked_add(millionths));
        all.map(Self).ok_or(ParseMoneyError)
    }
}

/// What a million tokens cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    /// Read by the model.
    pub input: Money,
    /// Read from the provider's cache.
    pub cached: Money,
    /// Written by the model, thoughts included.
    pub output: Money,
}

impl Price {
    /// The cost of `usage`, rounded up to a millionth; at most [`CALL_MONEY`].
    #[must_use]
    pub fn cost(&self, usage: Usage) -> Money {
        let usage = clamp_usage(usage);
        let fresh = usage.input.saturating_sub(usage.cached);
        let of = |tokens: u64, price: Money| u128::from(tokens) * u128::from(price.0);
        let all = of(fresh, self.input)
            .saturating_add(of(usage.cached, self.cached))
            .saturating_add(of(usage.output, self.output));
        let millionths = all.div_ceil(u128::from(Money::UNIT));
        Money(u64::try_from(millionths).map_or(CALL_MONEY, |money| money.min(CALL_MONEY)))
    }

    /// The most that so many tokens can cost, however much of them comes from a cache.
    #[must_use]
    pub fn worst(&self, usage: Usage) -> Money {
        let dearest = Self {
            input: self.input.max(self.cached),
            cached: self.input.max(self.cached),
            ..*self
        };
        dearest.cost(usage)
    }
}

/// Cuts reported usage to what can be true, so that no report makes sums overflow.
#[must_use]
pub fn clamp_usage(usage: Usage) -> Usage {
    let input = usage.input.min(CALL_TOKENS);
    Usage {
        input,
        cached: usage.cached.min(input),
        output: usage.output.min(CALL_TOKENS),
    }
}

/// Which models cost what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PriceTable {
    prices: Vec<(String, Price)>,
}

impl PriceTable {
    /// A table of patterns: names of models (`provider/model`), in which `*` matches any characters.
    #[must_use]
    pub fn new(prices: impl IntoIterator<Item = (String, Price)>) -> Self {
        let mut prices: Vec<(String, Price)> = prices.into_iter().collect();
        // The most specific first: a name before a pattern, then by what a pattern spells out.
        prices.sort_by(|(one, _), (other, _)| {
            let rank = |pattern: &str| (!pattern.contains('*'), pattern.replace('*', "").len());
            rank(other).cmp(&rank(one)).then_with(|| one.cmp(other))
        });
        Self { prices }
    }

    /// The price under the most specific pattern that fits; nothing if none does.
    #[must_use]
    pub fn price(&self, model: &str) -> Option<Price> {
        let mut all = self.prices.iter();
        let found = all.find(|(pattern, _)| fits(pattern, model));
        found.map(|(_, price)| *price)
    }

    /// Patterns with their prices, the most specific first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Price)> {
        let prices = self.prices.iter();
        prices.map(|(pattern, price)| (pattern.as_str(), *price))
    }
}

/// Whether a name matches a pattern, where each `*` matches any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    // Each part as early as it comes leaves the most to those behind it.
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

/// A price is needed and not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no price of {model} is known, and money is capped; add it to the settings, per million tokens: \
     [prices] \"{model}\" = {{ input = 1.25, cached = 0.125, output = 10 }}"
)]
pub struct UnknownPrice {
    /// Which model.
    pub model: String,
}

#[cfg(test)]
#[path = "price_tests.rs"]
mod tests;
