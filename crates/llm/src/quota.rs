//! How much of an account's rate limits is left, as a provider reports with each answer, and whether that is
//! enough for work that can wait.
//!
//! Not here: what is spent (`usage_tally`), what a provider asks for when it turns a request away (`waiting`).

use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;

/// How long a reported limit counts if the provider gives no time of its reset.
const DEFAULT_RESET: Duration = Duration::from_secs(60);
/// The longest that a reported limit counts.
const LONGEST_RESET: Duration = Duration::from_secs(24 * 3_600);

/// The families of headers: what comes before and behind what is limited.
const FAMILIES: [(&str, &[&str]); 2] = [
    ("x-ratelimit", &["requests", "tokens"]),
    (
        "anthropic-ratelimit",
        &["requests", "tokens", "input-tokens", "output-tokens"],
    ),
];

/// The rate limits that a provider reported.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quota {
    limits: Vec<RateLimit>,
    received_at: Instant,
}

/// One limit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RateLimit {
    /// 0 to 100.
    used_percent: f64,
    /// After so long it is whole again.
    whole_in: Duration,
}

impl Quota {
    /// The limits in headers; `None` if they hold none.
    pub(crate) fn of(headers: &HeaderMap, received_at: Instant) -> Option<Self> {
        let limits = FAMILIES.iter().flat_map(|(family, kinds)| {
            kinds.iter().filter_map(move |kind| {
                // `x-ratelimit-limit-tokens`, but `anthropic-ratelimit-tokens-limit`.
                let header = |what: &str| {
                    let names = [
                        format!("{family}-{what}-{kind}"),
                        format!("{family}-{kind}-{what}"),
                    ];
                    names
                        .iter()
                        .find_map(|name| headers.get(name)?.to_str().ok())
                };
                let number = |what| header(what)?.trim().parse::<f64>().ok();
                let limit = number("limit").filter(|limit| *limit > 0.0)?;
                let remaining = number("remaining")?.clamp(0.0, limit);
                Some(RateLimit {
                    used_percent: 100.0 - remaining / limit * 100.0,
                    whole_in: header("reset")
                        .and_then(duration)
                        .unwrap_or(DEFAULT_RESET)
                        .min(LONGEST_RESET),
                })
            })
        });
        let limits: Vec<RateLimit> = limits.collect();
        (!limits.is_empty()).then_some(Self {
            limits,
            received_at,
        })
    }

    /// How long to send nothing so that at least `least_percent` of each limit stays for others; `None` if so
    /// much is left (C68 to C71). With 0 nothing is ever left to others.
    pub(crate) fn rate_limited_for(&self, least_percent: u8, now: Instant) -> Option<Duration> {
        if least_percent == 0 {
            return None;
        }
        let passed = now.saturating_duration_since(self.received_at);
        let most_used = 100.0 - f64::from(least_percent.min(100));
        let short = self.limits.iter().filter(|limit| {
            let is_reached = limit.used_percent >= 100.0;
            is_reached || limit.used_percent > most_used
        });
        short
            .map(|limit| limit.whole_in.saturating_sub(passed))
            .filter(|wait| !wait.is_zero())
            .max()
    }
}

/// `20ms`, `1s`, `6m0s`, `1h2m3.5s`, or seconds alone.
fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    if let Ok(seconds) = rest.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let mut whole = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at(digits);
        let end = behind
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let seconds = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        whole += number.parse::<f64>().ok()? * seconds;
        rest = behind;
    }
    Duration::try_from_secs_f64(whole).ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn quota(used: &[f64]) -> Quota {
        let limits = used.iter().map(|used| RateLimit {
            used_percent: *used,
            whole_in: Duration::from_secs(30),
        });
        Quota {
            limits: limits.collect(),
            received_at: Instant::now(),
        }
    }

    #[track_caller]
    fn check(used: &[f64], least: u8, is_left_alone: bool) {
        let quota = quota(used);
        let wait = quota.rate_limited_for(least, quota.received_at);
        assert_eq!(
            wait,
            is_left_alone.then_some(Duration::from_secs(30)),
            "{used:?} {least}"
        );
    }

    #[test]
    fn c68_each_limit_counts() {
        check(&[89.9, 50.0], 10, false);
        check(&[89.9, 50.0], 11, true);
    }

    #[test]
    fn c69_whichever_is_short() {
        check(&[75.1, 10.0], 25, true);
        check(&[10.0, 75.1], 25, true);
        check(&[74.9, 74.9], 25, false);
    }

    #[test]
    fn c70_a_limit_that_is_reached_is_short_of_any_share() {
        check(&[100.0], 1, true);
        check(&[100.0, 0.0], 100, true);
    }

    #[test]
    fn c71_a_provider_that_says_nothing_is_asked() {
        assert_eq!(Quota::of(&HeaderMap::new(), Instant::now()), None);
        check(&[], 100, false);
        check(&[100.0], 0, false);
    }

    #[test]
    fn a_limit_is_whole_again_after_its_time() {
        let quota = quota(&[99.0]);
        let after =
            |seconds| quota.rate_limited_for(10, quota.received_at + Duration::from_secs(seconds));
        assert_eq!(after(29), Some(Duration::from_secs(1)));
        assert_eq!(after(30), None);
    }

    #[test]
    fn limits_are_read_in_either_vendors_words() {
        let read = |headers: &[(&'static str, &'static str)]| {
            let headers = headers.iter().map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            });
            let quota = Quota::of(&headers.collect(), Instant::now())?;
            let limits = quota.limits.iter();
            Some(
                limits
                    .map(|it| (it.used_percent, it.whole_in.as_millis()))
                    .collect::<Vec<_>>(),
            )
        };
        let of_openai = [
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-remaining-requests", "45"),
            ("x-ratelimit-reset-requests", "1m30.5s"),
            ("x-ratelimit-limit-tokens", "150000"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "20ms"),
        ];
        assert_eq!(read(&of_openai), Some(vec![(25.0, 90_500), (100.0, 20)]));
        let of_anthropic = [
            ("anthropic-ratelimit-input-tokens-limit", "1000"),
            ("anthropic-ratelimit-input-tokens-remaining", "900"),
            (
                "anthropic-ratelimit-input-tokens-reset",
                "2026-11-21T09:00:00Z",
            ),
        ];
        assert_eq!(read(&of_anthropic), Some(vec![(10.0, 60_000)]));
        assert_eq!(
            read(&[
                ("x-ratelimit-limit-tokens", "0"),
                ("x-ratelimit-remaining-tokens", "0")
            ]),
            None
        );
    }
}
