//! Writes metrics in the text exposition format of Prometheus (version 0.0.4), which every scraper reads.
//!
//! Not here: which metrics.

use std::fmt::Write;

/// The content type of this format.
pub(super) const CONTENT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A text under construction.
#[derive(Default)]
pub(super) struct Exposition(String);

/// The type of a family's samples.
#[derive(Clone, Copy)]
pub(super) enum MetricKind {
    /// They only rise while their source lives.
    Counter,
    /// They rise and fall.
    Gauge,
    /// They are counted in buckets.
    Histogram,
}

/// The samples of one metric, which are written together.
pub(super) struct MetricFamily<'a> {
    text: &'a mut String,
    name: &'static str,
}

/// Names and values that distinguish the samples of a family.
pub(super) type Labels<'a> = &'a [(&'a str, &'a str)];

impl Exposition {
    /// Begins a family; the one before has ended.
    pub(super) fn family(
        &mut self,
        name: &'static str,
        kind: MetricKind,
        help: &str,
    ) -> MetricFamily<'_> {
        let text = &mut self.0;
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        let help = help.replace('\\', r"\\").replace('\n', r"\n");
        line(text, format_args!("# HELP {name} {help}"));
        line(text, format_args!("# TYPE {name} {kind}"));
        MetricFamily { text, name }
    }

    pub(super) fn text(self) -> String {
        self.0
    }
}

impl MetricFamily<'_> {
    pub(super) fn sample(&mut self, labels: Labels<'_>, value: f64) {
        self.suffixed("", labels, value);
    }

    /// `buckets` are upper bounds, the least first, each with how many lay within it and not within
    /// the one before; `above` lay beyond all.
    pub(super) fn histogram(
        &mut self,
        labels: Labels<'_>,
        buckets: impl IntoIterator<Item = (f64, u64)>,
        above: u64,
        sum: f64,
    ) {
        let mut count = 0;
        for (bound, within) in buckets {
            count += within;
            self.bucket(labels, &bound.to_string(), count);
        }
        count += above;
        self.bucket(labels, "+Inf", count);
        self.suffixed("_sum", labels, sum);
        self.suffixed("_count", labels, count as f64);
    }

    fn bucket(&mut self, labels: Labels<'_>, bound: &str, count: u64) {
        let mut labels = labels.to_vec();
        labels.push(("le", bound));
        self.suffixed("_bucket", &labels, count as f64);
    }

    fn suffixed(&mut self, suffix: &str, labels: Labels<'_>, value: f64) {
        let name = self.name;
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
            .collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        line(self.text, format_args!("{name}{suffix}{labels} {value}"));
    }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_escapes_and_adds_up_its_samples() {
        let mut exposition = Exposition::default();
        let mut gaps = exposition.family("gaps", MetricKind::Gauge, "Ranges\nthat \\ failed.");
        gaps.sample(&[], 2.0);
        gaps.sample(&[("job", "a\"b\\c\nd"), ("kind", "extract")], 0.5);
        let mut waits = exposition.family("wait_seconds", MetricKind::Histogram, "Waits.");
        waits.histogram(&[("route", "/x")], [(0.1, 3), (1.0, 2)], 1, 4.25);
        assert_eq!(
            exposition.text(),
            r#"# HELP gaps Ranges\nthat \\ failed.
# TYPE gaps gauge
gaps 2
gaps{job="a\"b\\c\nd",kind="extract"} 0.5
# HELP wait_seconds Waits.
# TYPE wait_seconds histogram
wait_seconds_bucket{route="/x",le="0.1"} 3
wait_seconds_bucket{route="/x",le="1"} 5
wait_seconds_bucket{route="/x",le="+Inf"} 6
wait_seconds_sum{route="/x"} 4.25
wait_seconds_count{route="/x"} 6
"#
        );
    }
}
