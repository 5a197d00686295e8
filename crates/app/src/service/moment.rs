//! Parses the times that people name: `2026-02-04`, `2026-02`, `yesterday`, RFC 3339.

use anyhow::Result;
use daybook_domain::Timestamp;
use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use super::RequestError;
use crate::settings::parse_duration;
use crate::wiring::Daybook;

/// Parses a time in the person's zone. A day or a month means its end, so that `2026-02-04` is memory as that day left
/// it.
///
/// # Errors
/// [`RequestError::Invalid`] for anything else.
pub(crate) fn parse_moment(daybook: &Daybook, text: &str) -> Result<Timestamp> {
    let zone = &daybook.settings.zone;
    let now = jiff::Timestamp::from_millisecond(daybook.clock.now().0)?;
    moment(text.trim(), now, zone).ok_or_else(|| {
        let message = format!(
            "{text} is no time: write a day such as 2026-02-04, a month such as 2026-02, yesterday, or 2026-02-04T15:00:00Z"
        );
        RequestError::Invalid(message).into()
    })
}

fn moment(text: &str, now: jiff::Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let before = |day: Date| {
        let begins = day.to_zoned(zone.clone()).ok()?.timestamp();
        Some(Timestamp(begins.as_millisecond() - 1))
    };
    let today = now.to_zoned(zone.clone()).date();
    match text.len() {
        _ if text == "now" => Some(Timestamp(now.as_millisecond())),
        _ if text == "yesterday" => before(today),
        7 => {
            let first: Date = format!("{text}-01").parse().ok()?;
            before(first.checked_add(1.month()).ok()?)
        }
        10 => before(text.parse::<Date>().ok()?.checked_add(1.day()).ok()?),
        _ => {
            let instant = text.parse::<jiff::Timestamp>().ok();
            let local = || {
                let civil = text.parse::<DateTime>().ok()?;
                Some(civil.to_zoned(zone.clone()).ok()?.timestamp())
            };
            Some(Timestamp(instant.or_else(local)?.as_millisecond()))
        }
    }
}

/// The time from which a list or a sum begins: a date, whose beginning is meant, or an age such as `30d`. `None` for anything
/// else.
pub(crate) fn beginning(text: &str, now: Timestamp, zone: TimeZone) -> Option<Timestamp> {
    if let Some(age) = parse_duration(text) {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        return Some(Timestamp(now.0.saturating_sub(age)));
    }
    let date: Date = text.parse().ok()?;
    Some(Timestamp(
        date.to_zoned(zone).ok()?.timestamp().as_millisecond(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_or_a_month_means_its_end() {
        let now: jiff::Timestamp = "2026-05-12T10:00:00Z".parse().unwrap();
        let of = |text: &str| {
            let at = moment(text, now, &TimeZone::UTC)?;
            Some(jiff::Timestamp::from_millisecond(at.0).unwrap().to_string())
        };
        for (text, expected) in [
            ("2026-02-04", Some("2026-02-04T23:59:59.999Z")),
            ("2026-02", Some("2026-02-28T23:59:59.999Z")),
            ("yesterday", Some("2026-05-11T23:59:59.999Z")),
            ("2026-02-04T15:00:00Z", Some("2026-02-04T15:00:00Z")),
            ("2026-02-04T15:00", Some("2026-02-04T15:00:00Z")),
            ("2026-13", None),
            ("in May", None),
        ] {
            assert_eq!(of(text).as_deref(), expected, "{text}");
        }
    }
}
