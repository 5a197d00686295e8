//! What a month is expected to come to, by the days that it has had.
//!
//! Not here: sums and caps ([`crate::spend`]).

use crate::calendar::{Day, Month};
use crate::time::Timestamp;

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;
/// Days whose mean the rest of the month is expected to follow: work comes in weeks.
const PACE_DAYS: i64 = 7;

/// What was spent in a month, and what its other days are expected to add. Amounts are in any unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthForecast {
    /// The days of the month.
    pub days: Vec<Day>,
    /// Spent since the month began, at the end of each day so far; the last is what was spent up to now.
    pub spent: Vec<u64>,
    /// Expected at the end of each day behind these.
    pub expected: Vec<u64>,
}

impl MonthForecast {
    /// The forecast at `now`, from what each day cost. What is left of the month costs as much a day as the last seven
    /// days of it did; a month that began today is taken for a day old.
    #[must_use]
    pub fn of(cost: impl Fn(Day) -> u64, now: Timestamp) -> Self {
        let days = days_of(Month::of(now));
        let today = Day::of(now);
        let past = days.iter().copied().filter(|day| *day <= today);
        let mut spent: Vec<u64> = Vec::new();
        for day in past {
            let before = spent.last().copied().unwrap_or_default();
            spent.push(before.saturating_add(cost(day)));
        }
        let paced = spent.len().min(PACE_DAYS as usize);
        let in_pace = spent.iter().rev().nth(paced).copied().unwrap_or_default();
        let total = spent.last().copied().unwrap_or_default();
        let first = days[spent.len() - paced];
        let elapsed = (now.0 - first.begins().0).max(DAY);
        let expect = |day: &Day| {
            let ahead = i128::from(day.next().begins().0 - now.0);
            let more = i128::from(total - in_pace) * ahead / i128::from(elapsed);
            total.saturating_add(u64::try_from(more).unwrap_or(u64::MAX))
        };
        let expected = days.iter().skip(spent.len()).map(expect).collect();
        Self {
            days,
            spent,
            expected,
        }
    }

    /// What was spent up to now.
    #[must_use]
    pub fn spent_so_far(&self) -> u64 {
        self.spent.last().copied().unwrap_or_default()
    }

    /// What is expected at the end of the month. On its last day that is what was spent.
    #[must_use]
    pub fn at_end(&self) -> u64 {
        let last = self.expected.last().copied();
        last.unwrap_or_else(|| self.spent_so_far())
    }

    /// The day in which `cap` is reached; `None` where it is not expected to be.
    #[must_use]
    pub fn reaches(&self, cap: u64) -> Option<Day> {
        let at_ends = self.spent.iter().chain(&self.expected);
        let at = at_ends.zip(&self.days).find(|(amount, _)| **amount >= cap);
        at.map(|(_, day)| *day)
    }
}

fn days_of(month: Month) -> Vec<Day> {
    let mut days = vec![Day::of(month.begins())];
    let end = month.next().begins();
    while let Some(next) = days.last().map(|day| day.next()) {
        if next.begins() >= end {
            break;
        }
        days.push(next);
    }
    days
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, hours: i64) -> Timestamp {
        let day = Day::parse(text).expect("a day");
        Timestamp(day.begins().0 + hours * 3_600_000)
    }

    /// What is spent so far, what is expected at the end, and when 100 are reached.
    fn check(costs: &[(&str, u64)], now: Timestamp, expected: (u64, u64, Option<&str>)) {
        let cost = |day: Day| {
            let found = costs.iter().find(|(name, _)| *name == day.to_string());
            found.map_or(0, |(_, cost)| *cost)
        };
        let forecast = MonthForecast::of(cost, now);
        assert_eq!(
            forecast.spent.len() + forecast.expected.len(),
            forecast.days.len()
        );
        let reached = forecast.reaches(100).map(|day| day.to_string());
        assert_eq!(
            (
                forecast.spent_so_far(),
                forecast.at_end(),
                reached.as_deref()
            ),
            expected
        );
    }

    #[test]
    fn the_rest_of_a_month_goes_on_like_its_last_seven_days() {
        // 70 within six days and a half, and ten days and a half to go.
        let costs = [("2026-11-14", 30), ("2026-11-20", 40), ("2026-11-02", 900)];
        let now = at("2026-11-20", 12);
        check(&costs[..2], now, (70, 183, Some("2026-11-23")));
        check(&costs, now, (970, 1083, Some("2026-11-02")));
    }

    #[test]
    fn a_young_month_is_not_stretched_from_its_first_minutes() {
        check(&[("2026-11-01", 2)], at("2026-11-01", 0), (2, 62, None));
    }

    #[test]
    fn the_last_day_expects_no_more_and_nothing_costs_nothing() {
        check(&[("2026-11-30", 5)], at("2026-11-30", 12), (5, 5, None));
        check(&[], at("2026-11-10", 12), (0, 0, None));
    }
}
