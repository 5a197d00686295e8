//! A month's spending so far, what the rest of it is expected to add, and the caps that it meets.

use daybook_domain::spend_forecast::MonthForecast;
use maud::{Markup, html};

use super::chart::{HEIGHT, WIDTH, figure, numbers};

/// What the amounts are, and how they are counted.
pub(super) struct Unit<'a> {
    /// Such as `EUR`, or `tokens`.
    pub(super) name: &'a str,
    /// How many of the amounts make one.
    pub(super) size: f64,
}

/// The forecast as a sentence and as a line: whole up to today, dashed from there on, with a line for each cap.
pub(super) fn month(forecast: &MonthForecast, caps: &[u64], unit: &Unit<'_>) -> Markup {
    let amount = |value: u64| format!("{} {}", figure(value as f64 / unit.size), unit.name);
    let summary = summary(forecast, caps, &amount);
    let highest = caps.iter().copied().chain([forecast.at_end(), 1]).max();
    let scale = Scale {
        days: forecast.days.len(),
        highest: highest.unwrap_or(1),
    };
    let today = forecast.spent.len();
    let so_far = scale.line(0, &forecast.spent);
    let ahead: Vec<u64> = forecast
        .spent
        .last()
        .into_iter()
        .chain(&forecast.expected)
        .copied()
        .collect();
    let expected = scale.line(today.saturating_sub(1), &ahead);
    let days = forecast.days.iter().map(ToString::to_string);
    let sums = forecast.spent.iter().chain(&forecast.expected);
    let rows = days.clone().zip(sums).enumerate().map(|(n, (day, sum))| {
        let how = if n < today { "spent" } else { "expected" };
        vec![day, how.to_owned(), amount(*sum)]
    });
    let (first, last) = (days.clone().next(), days.clone().next_back());
    html! {
        p { (summary) }
        figure {
            figcaption.quiet { "Since the month began" }
            svg.chart viewBox=(format!("0 0 {WIDTH} {}", HEIGHT + 34)) role="img" aria-label=(summary) {
                @for cap in caps {
                    line.cap x1="0" x2=(WIDTH) y1=(scale.y(*cap)) y2=(scale.y(*cap)) {}
                    text x=(WIDTH) y=(label_y(&scale, *cap)) text-anchor="end" { "cap: " (amount(*cap)) }
                }
                polyline.line points=(so_far) {}
                polyline.line.expected points=(expected) {}
                @if let Some(first) = first { text x="0" y=(HEIGHT + 30) { (first) } }
                @if let Some(last) = last { text x=(WIDTH) y=(HEIGHT + 30) text-anchor="end" { (last) } }
            }
            (numbers("Since the month began", &["Day", "What", "Amount"], rows))
        }
    }
}

/// `0.52 EUR so far this month; …`
fn summary(forecast: &MonthForecast, caps: &[u64], amount: &impl Fn(u64) -> String) -> String {
    let (so_far, end) = (amount(forecast.spent_so_far()), amount(forecast.at_end()));
    let mut summary = format!(
        "{so_far} so far this month; at the pace of the last seven days, {end} at its end."
    );
    for cap in caps {
        let cap_amount = amount(*cap);
        let reached = match forecast.reaches(*cap) {
            _ if forecast.spent_so_far() >= *cap => " is reached.".to_owned(),
            Some(day) => format!(" would be reached on {day}."),
            None => " is not reached.".to_owned(),
        };
        summary.push_str(&format!(" The cap of {cap_amount}{reached}"));
    }
    summary
}

/// Where days and amounts are in the drawing.
struct Scale {
    days: usize,
    highest: u64,
}

impl Scale {
    fn x(&self, day: usize) -> f64 {
        let last = self.days.saturating_sub(1).max(1);
        day as f64 / last as f64 * WIDTH as f64
    }

    fn y(&self, amount: u64) -> String {
        let height = amount as f64 / self.highest as f64 * HEIGHT as f64;
        format!("{:.1}", HEIGHT as f64 - height + 14.0)
    }

    /// The points of the amounts of consecutive days.
    fn line(&self, first: usize, amounts: &[u64]) -> String {
        let points = amounts.iter().enumerate();
        let points =
            points.map(|(n, amount)| format!("{:.1},{}", self.x(first + n), self.y(*amount)));
        points.collect::<Vec<_>>().join(" ")
    }
}

/// The name of a cap is above its line, and below it where there is no room.
fn label_y(scale: &Scale, cap: u64) -> String {
    let line: f64 = scale.y(cap).parse().unwrap_or_default();
    format!("{:.1}", if line < 16.0 { line + 12.0 } else { line - 4.0 })
}

#[cfg(test)]
mod tests {
    use daybook_domain::calendar::Day;

    use super::*;

    #[test]
    fn a_month_is_drawn_with_its_forecast_and_its_caps_and_told_in_a_sentence() {
        let first = Day::parse("2026-11-01").expect("a day");
        let tenth = Day::parse("2026-11-10").expect("a day");
        let cost = |day: Day| if day < tenth { 1_000_000 } else { 0 };
        let forecast = MonthForecast::of(cost, tenth.begins());
        let unit = Unit {
            name: "EUR",
            size: 1e6,
        };
        let chart = month(&forecast, &[5_000_000, 20_000_000, 90_000_000], &unit).into_string();
        let said = "9 EUR so far this month; at the pace of the last seven days, 30 EUR at its end. \
            The cap of 5 EUR is reached. The cap of 20 EUR would be reached on 2026-11-20. \
            The cap of 90 EUR is not reached.";
        assert!(chart.contains(&format!("<p>{said}</p>")), "{chart}");
        assert!(chart.contains(&format!("aria-label=\"{said}\"")), "{chart}");
        assert_eq!(chart.matches("<line class=\"cap\"").count(), 3);
        let points = |class: &str| {
            let line = chart.split("<polyline").find(|it| it.contains(class));
            line.map_or(0, |line| line.matches(',').count())
        };
        assert_eq!((points("class=\"line\""), points("expected")), (10, 21));
        assert!(chart.contains(&first.to_string()), "{chart}");
    }
}
