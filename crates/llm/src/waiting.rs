//! How long to wait before a request is sent again.

use std::time::Duration;

use async_trait::async_trait;
use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use daybook_domain::limits::WAIT_MOST;
use reqwest::header::{DATE, HeaderMap, HeaderValue, RETRY_AFTER};

use crate::config::RetryConfig;

/// What waits between tries. Tests bring one that does not.
#[async_trait]
pub trait Waiter: Send + Sync {
    /// Returns when `wait` has passed.
    async fn wait(&self, wait: Duration);
}

/// Waits by tokio's clock.
#[derive(Debug, Default)]
pub struct TokioWaiter;

#[async_trait]
impl Waiter for TokioWaiter {
    async fn wait(&self, wait: Duration) {
        tokio::time::sleep(wait).await;
    }
}

/// The tries and waits that are left to one `ask`.
#[derive(Debug)]
pub(crate) struct Schedule {
    steps: ExponentialBackoff,
    left: Duration,
}

impl Schedule {
    pub(crate) fn new(config: &RetryConfig) -> Self {
        let tries = usize::try_from(config.tries.get()).unwrap_or(usize::MAX);
        let steps = ExponentialBuilder::new()
            .with_min_delay(config.first_wait)
            .with_max_delay(config.longest_wait)
            .with_max_times(tries - 1)
            .with_jitter();
        Self {
            steps: steps.build(),
            left: config.total_wait,
        }
    }

    /// How long to wait before the next try, or nothing if there is to be none.
    ///
    /// A provider gives all callers that it turns away the same time; a step of the schedule on top of it keeps
    /// them from coming back together.
    pub(crate) fn next(&mut self, retry_after: Option<Duration>) -> Option<Duration> {
        let step = self.steps.next()?;
        let wait = retry_after.unwrap_or_default().saturating_add(step);
        self.left = self.left.checked_sub(wait)?;
        Some(wait)
    }
}

/// How long the provider asks callers to wait: `retry-after-ms`, or `Retry-After` in seconds or as a
/// date, which is read against the provider's own clock. At most [`WAIT_MOST`]; nothing where the
/// header makes no sense, such as a negative number.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |value: &HeaderValue| {
        let number = value.to_str().ok()?.trim().parse::<f64>().ok()?;
        (number >= 0.0).then_some(number)
    };
    if let Some(ms) = headers.get("retry-after-ms").and_then(number) {
        return Some(bounded(ms / 1000.0));
    }
    let after = headers.get(RETRY_AFTER)?;
    if let Some(seconds) = number(after) {
        return Some(bounded(seconds));
    }
    let date = |value: &HeaderValue| httpdate::parse_http_date(value.to_str().ok()?.trim()).ok();
    let (until, now) = (date(after)?, date(headers.get(DATE)?)?);
    let wait = until.duration_since(now).unwrap_or_default();
    Some(wait.min(WAIT_MOST))
}

/// A number of seconds that is not negative, at most [`WAIT_MOST`]: also one that no duration can hold.
fn bounded(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).map_or(WAIT_MOST, |wait| wait.min(WAIT_MOST))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], expected: Option<u64>) {
        let headers = headers.iter().map(|(name, value)| {
            let name = reqwest::header::HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        });
        let found = retry_after(&headers.collect());
        assert_eq!(found, expected.map(Duration::from_millis));
    }

    #[test]
    fn a_provider_may_say_when_in_any_of_its_ways() {
        check(&[("retry-after", "7")], Some(7000));
        check(&[("retry-after", "0.5")], Some(500));
        check(
            &[("retry-after-ms", "120"), ("retry-after", "7")],
            Some(120),
        );
        let (now, then) = (
            "Fri, 20 Nov 2026 09:00:00 GMT",
            "Fri, 20 Nov 2026 09:01:30 GMT",
        );
        check(&[("date", now), ("retry-after", then)], Some(90_000));
        check(&[("date", then), ("retry-after", now)], Some(0));
        check(&[("retry-after", then)], None);
        check(&[("retry-after", "-1")], None);
        check(&[("retry-after", "-inf")], None);
        check(&[("retry-after", "nan")], None);
        check(
            &[("retry-after-ms", "-5"), ("retry-after", "7")],
            Some(7000),
        );
        let most = u64::try_from(WAIT_MOST.as_millis()).ok();
        for far in ["99999999999", "1e300", "inf", "18446744073709551616"] {
            check(&[("retry-after", far)], most);
            check(&[("retry-after-ms", far)], most);
        }
        let far = "Fri, 31 Dec 9999 23:59:59 GMT";
        check(&[("date", now), ("retry-after", far)], most);
        check(&[("retry-after", "soon")], None);
        check(&[], None);
    }

    #[test]
    fn waits_double_vary_and_end() {
        let config = RetryConfig {
            tries: NonZeroU32::new(4).expect("it is not zero"),
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(2),
            total_wait: Duration::from_secs(60),
        };
        let mut schedule = Schedule::new(&config);
        let mut within = |asked: Option<u64>, from: u64, to: u64| {
            let wait = schedule
                .next(asked.map(Duration::from_secs))
                .expect("a wait");
            assert!((from..=to).contains(&wait.as_secs()), "{wait:?}");
        };
        within(None, 1, 2);
        within(Some(10), 12, 14);
        within(None, 2, 4);
        assert_eq!(schedule.next(None), None);
    }

    #[test]
    fn waits_end_when_they_would_take_too_long() {
        let config = RetryConfig {
            total_wait: Duration::from_secs(5),
            ..RetryConfig::default()
        };
        assert_eq!(
            Schedule::new(&config).next(Some(Duration::from_secs(5))),
            None
        );
    }
}
