//! How long recall took, as the server counts it for its metrics.

use maud::{Markup, html};

use super::chart::bars;

/// Answers of the server since it began, by how long they took.
#[derive(Debug, Default)]
pub(crate) struct AnswerTimes {
    /// The longest time of each bucket in seconds, with the answers that took no longer, and longer than the bucket before.
    pub(crate) buckets: Vec<(f64, u64)>,
    /// Answers that took longer than all of these.
    pub(crate) longer: u64,
}

impl AnswerTimes {
    /// A bar for each bucket, and the middle in words. Nothing where nothing was asked.
    pub(super) fn chart(&self) -> Markup {
        let Some(median) = self.quantile(0.5) else {
            return html! {};
        };
        let mut times: Vec<(String, f64)> = self
            .buckets
            .iter()
            .map(|(bound, n)| (within(*bound), *n as f64))
            .collect();
        times.push(("longer".to_owned(), self.longer as f64));
        let slowest = self.quantile(0.99).unwrap_or_default();
        html! {
            h2 { "How long recall takes" }
            p { "Since this server began, half of the answers took at most " (median) ", and 99 of 100 at most " (slowest) "." }
            (bars("Answers by their time", &times, "answers"))
        }
    }

    /// The bucket within which this part of the answers lies.
    fn quantile(&self, part: f64) -> Option<String> {
        let all = self.buckets.iter().map(|(_, n)| n).sum::<u64>() + self.longer;
        let wanted = (all as f64 * part).ceil() as u64;
        let mut seen = 0;
        let within_bucket = self.buckets.iter().find(|(_, n)| {
            seen += n;
            seen >= wanted
        });
        (all > 0).then(|| match within_bucket {
            Some((bound, _)) => within(*bound),
            None => "longer than all bounds".to_owned(),
        })
    }
}

/// `2.5 ms`, or `1 s`
fn within(seconds: f64) -> String {
    match seconds < 1.0 {
        true => format!("{} ms", seconds * 1e3),
        false => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_slowest_are_named_by_their_buckets() {
        let times = AnswerTimes {
            buckets: vec![(0.001, 2), (0.0025, 60), (1.0, 38)],
            longer: 0,
        };
        assert_eq!(times.quantile(0.5).as_deref(), Some("2.5 ms"));
        assert_eq!(times.quantile(0.99).as_deref(), Some("1 s"));
        let slow = AnswerTimes {
            buckets: vec![(0.001, 1)],
            longer: 9,
        };
        assert_eq!(
            slow.quantile(0.5).as_deref(),
            Some("longer than all bounds")
        );
        assert_eq!(AnswerTimes::default().quantile(0.5), None);
        assert_eq!(AnswerTimes::default().chart().into_string(), "");
    }
}
