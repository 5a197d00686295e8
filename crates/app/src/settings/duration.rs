//! Durations, as people write them.

use std::time::Duration;

/// `90s`, `10m`, `2h`, `30d`, `500ms`.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let amount: u64 = text[..digits].parse().ok()?;
    let milliseconds = match text[digits..].trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return None,
    };
    Some(Duration::from_millis(amount.checked_mul(milliseconds)?))
}

/// A duration in the greatest unit that leaves nothing over.
pub(crate) fn spelled(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    let units = [
        ("d", 86_400_000),
        ("h", 3_600_000),
        ("m", 60_000),
        ("s", 1_000),
    ];
    let unit = units
        .into_iter()
        .find(|(_, size)| milliseconds >= *size && milliseconds.is_multiple_of(*size));
    match unit {
        Some((unit, size)) => format!("{}{unit}", milliseconds / size),
        None if milliseconds == 0 => "0s".to_owned(),
        None => format!("{milliseconds}ms"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_duration_reads_as_it_is_spelled(milliseconds in 0_u64..10_000_000_000) {
            let duration = Duration::from_millis(milliseconds);
            prop_assert_eq!(parse_duration(&spelled(duration)), Some(duration));
        }
    }

    #[test]
    fn a_duration_is_spelled_in_its_greatest_unit() {
        let spell = |seconds| spelled(Duration::from_secs(seconds));
        assert_eq!(
            [0, 90, 120, 43_200, 86_400].map(spell),
            ["0s", "90s", "2m", "12h", "1d"]
        );
    }
}
