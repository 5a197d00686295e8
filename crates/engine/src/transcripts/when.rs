//! Parses points in time as transcripts write them.
//!
//! Nearly all are `2026-01-27T03:18:21.567Z`, which is read by hand; the rest goes to `jiff`.

use daybook_domain::Timestamp;

use daybook_text::lenient::When;

/// The time in a field, when it can be read.
pub(crate) fn parse_field(field: &When<'_>) -> Option<Timestamp> {
    match field {
        When::Unknown => None,
        When::Text(text) => read(text),
        When::Number(number) => epoch(*number),
    }
}

/// The time that `text` names. A date without an offset is taken as UTC.
pub(crate) fn read(text: &str) -> Option<Timestamp> {
    zulu(text.as_bytes())
        .or_else(|| Some(text.parse::<jiff::Timestamp>().ok()?.as_millisecond()))
        .or_else(|| {
            let civil: jiff::civil::DateTime = text.parse().ok()?;
            let zoned = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
            Some(zoned.timestamp().as_millisecond())
        })
        .map(Timestamp)
}

/// The time that a number names: seconds since 1970, or milliseconds where seconds would lie
/// thousands of years ahead.
pub(crate) fn epoch(number: f64) -> Option<Timestamp> {
    let millis = if number.abs() >= 1e11 {
        number
    } else {
        number * 1000.0
    };
    // The bound keeps the conversion exact; it lies beyond the year 9999.
    (millis.is_finite() && millis.abs() < 4e14).then_some(Timestamp(millis as i64))
}

/// `YYYY-MM-DDThh:mm:ss[.fraction]Z` and nothing else.
fn zulu(text: &[u8]) -> Option<i64> {
    let (stamp, rest) = text.split_at_checked(19)?;
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if separators
        .iter()
        .any(|&(at, separator)| stamp[at] != separator)
    {
        return None;
    }
    let (year, month, day) = (
        digits(&stamp[..4])?,
        digits(&stamp[5..7])?,
        digits(&stamp[8..10])?,
    );
    let (hour, minute, second) = (
        digits(&stamp[11..13])?,
        digits(&stamp[14..16])?,
        digits(&stamp[17..19])?,
    );
    let month_length = [31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let longest = *month_length.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    if day == 0 || day > longest || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let millis = fraction(rest)?;
    Some((((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000 + millis)
}

/// Milliseconds of `.fractionZ` or `Z`; further digits are cut off.
fn fraction(text: &[u8]) -> Option<i64> {
    let text = text.strip_suffix(b"Z")?;
    if text.is_empty() {
        return Some(0);
    }
    let text = text.strip_prefix(b".")?;
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut millis = [b'0'; 3];
    for (millis, digit) in millis.iter_mut().zip(text) {
        *millis = *digit;
    }
    digits(&millis)
}

fn digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |number, digit| {
        digit
            .is_ascii_digit()
            .then(|| number * 10 + i64::from(digit - b'0'))
    })
}

fn leap(year: i64) -> i64 {
    i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
}

/// Days since 1970-01-01, for years from 0 on.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is a year's last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: Option<i64>) {
        assert_eq!(read(text), expected.map(Timestamp), "{text}");
    }

    #[test]
    fn times_are_read_to_the_millisecond() {
        check("1970-01-01T00:00:00Z", Some(0));
        check("2026-01-27T03:18:21.567Z", Some(1_769_483_901_567));
        check("2026-01-27T03:18:21.567890123Z", Some(1_769_483_901_567));
        check("2024-02-29T23:59:59.9Z", Some(1_709_251_199_900));
    }

    #[test]
    fn offsets_and_missing_offsets_are_understood() {
        check("2026-01-27T04:18:21.567+01:00", Some(1_769_483_901_567));
        check("2026-01-27T03:18:21.567", Some(1_769_483_901_567));
    }

    #[test]
    fn what_is_no_time_names_none() {
        for text in [
            "",
            "[trimmed for fixture]",
            "2026-02-30T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "yesterday",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn numbers_are_seconds_or_milliseconds() {
        assert_eq!(epoch(1_769_483_901.0), Some(Timestamp(1_769_483_901_000)));
        assert_eq!(
            epoch(1_769_483_901_567.0),
            Some(Timestamp(1_769_483_901_567))
        );
        assert_eq!(epoch(f64::NAN), None);
        assert_eq!(epoch(1e30), None);
    }

    proptest! {
        #[test]
        fn the_fast_way_agrees_with_jiff(millis in -62_135_596_800_000_i64..253_402_300_799_000) {
            let text = jiff::Timestamp::from_millisecond(millis).unwrap().to_string();
            prop_assert_eq!(read(&text), Some(Timestamp(millis)));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC*") {
            let _ = read(&text);
        }
    }
}
