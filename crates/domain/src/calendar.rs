//! Days and months in UTC, which bills go by: where they begin and end, and how they are written.
//!
//! Not here: a person's own days, which depend on where they live; memory files show those.

use std::fmt;

use crate::time::Timestamp;

/// Milliseconds of a day; UTC as it is counted here has no leap seconds.
const DAY: i64 = 86_400_000;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;
/// Days of 400 years, after which the calendar repeats.
const ERA: i64 = 146_097;

/// A day in UTC, shown as `2026-11-01`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day {
    /// Since 1970-01-01.
    number: i64,
}

impl Day {
    /// The day of a time.
    #[must_use]
    pub fn of(at: Timestamp) -> Self {
        Self {
            number: at.0.div_euclid(DAY),
        }
    }

    /// Parses a day as it is shown; `None` if the text is no day of the calendar.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (month, day) = text.rsplit_once('-')?;
        let (year, month) = month.split_once('-')?;
        let (year, month): (u16, u8) = (year.parse().ok()?, month.parse().ok()?);
        let month = Month {
            number: i64::from(year) * 12 + i64::from(month) - 1,
        };
        let first = Self::of(month.begins());
        let parsed = Self {
            number: first.number + i64::from(day.parse::<u8>().ok()?) - 1,
        };
        (parsed.to_string() == text).then_some(parsed)
    }

    /// Its first moment.
    #[must_use]
    pub fn begins(self) -> Timestamp {
        Timestamp(self.number.saturating_mul(DAY))
    }

    /// The day after it.
    #[must_use]
    pub fn next(self) -> Self {
        Self {
            number: self.number + 1,
        }
    }

    /// Its month.
    #[must_use]
    pub fn month(self) -> Month {
        self.civil().0
    }

    /// The month, and the day in it from 1. Years are counted from March, so that a leap day ends one.
    fn civil(self) -> (Month, i64) {
        let days = self.number + EPOCH;
        let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let first = (153 * month + 2) / 5;
        let number = (era * 400 + year) * 12 + month + 2;
        (Month { number }, day - first + 1)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (month, day) = self.civil();
        write!(f, "{month}-{day:02}")
    }
}

/// A month in UTC, shown as `2026-11`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    /// Since January of the year 0.
    number: i64,
}

impl Month {
    /// The month of a time.
    #[must_use]
    pub fn of(at: Timestamp) -> Self {
        Day::of(at).month()
    }

    /// Its first moment.
    #[must_use]
    pub fn begins(self) -> Timestamp {
        // Counted from March, as in `Day::civil`.
        let since_march = self.number - 2;
        let (years, month) = (since_march.div_euclid(12), since_march.rem_euclid(12));
        let (era, year) = (years.div_euclid(400), years.rem_euclid(400));
        let days = 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5;
        let number = era * ERA + days - EPOCH;
        Day { number }.begins()
    }

    /// The month after it.
    #[must_use]
    pub fn next(self) -> Self {
        Self {
            number: self.number + 1,
        }
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month) = (self.number.div_euclid(12), self.number.rem_euclid(12) + 1);
        write!(f, "{year:04}-{month:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The day that holds a time, the one after it, and where its month begins and ends.
    fn check(milliseconds: i64, expected: &str) {
        let at = Timestamp(milliseconds);
        let (day, month) = (Day::of(at), Month::of(at));
        let (begins, ends) = (month.begins(), month.next().begins());
        let said = format!(
            "{day} {} {month} {} {}",
            day.next(),
            Day::of(begins),
            Day::of(ends)
        );
        assert_eq!(said, expected);
        assert!(day.begins() <= at && at < day.next().begins());
        assert_eq!(Day::parse(&day.to_string()), Some(day));
        assert!(begins <= at && at < ends && month.begins().0 % DAY == 0);
    }

    #[test]
    fn days_and_months_are_those_of_the_calendar() {
        check(0, "1970-01-01 1970-01-02 1970-01 1970-01-01 1970-02-01");
        check(-1, "1969-12-31 1970-01-01 1969-12 1969-12-01 1970-01-01");
        check(
            1_793_491_200_000,
            "2026-11-01 2026-11-02 2026-11 2026-11-01 2026-12-01",
        );
        check(
            1_793_491_199_999,
            "2026-10-31 2026-11-01 2026-10 2026-10-01 2026-11-01",
        );
        check(
            1_798_761_599_999,
            "2026-12-31 2027-01-01 2026-12 2026-12-01 2027-01-01",
        );
    }

    #[test]
    fn what_is_no_day_of_the_calendar_is_none() {
        for text in [
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-1-01",
            "2026-01",
            "soon",
            "",
        ] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }

    #[test]
    fn leap_days_come_every_fourth_year_but_not_every_hundredth() {
        // 2024-02-28, 2024-02-29, 2025-02-28, 2000-02-29, 2100-02-28.
        for (milliseconds, day, next) in [
            (1_709_078_400_000, "2024-02-28", "2024-02-29"),
            (1_709_164_800_000, "2024-02-29", "2024-03-01"),
            (1_740_700_800_000, "2025-02-28", "2025-03-01"),
            (951_782_400_000, "2000-02-29", "2000-03-01"),
            (4_107_456_000_000, "2100-02-28", "2100-03-01"),
        ] {
            let found = Day::of(Timestamp(milliseconds));
            assert_eq!(
                (found.to_string(), found.next().to_string()),
                (day.into(), next.into())
            );
            assert_eq!(found.begins(), Timestamp(milliseconds));
        }
    }

    #[test]
    fn every_month_of_four_centuries_begins_where_the_one_before_it_ended() {
        let mut month = Month::of(Timestamp(0));
        for _ in 0..4_800 {
            let last = Day::of(Timestamp(month.next().begins().0 - 1));
            assert_eq!(Day::of(month.begins()).civil(), (month, 1));
            assert_eq!(last.month(), month);
            assert!((28..=31).contains(&last.civil().1), "{last}");
            month = month.next();
        }
        assert_eq!(month.to_string(), "2370-01");
    }
}
