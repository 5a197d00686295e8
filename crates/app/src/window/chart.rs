//! Charts, drawn here as SVG: bars over time, and how far something is.

use maud::{Markup, html};

/// How far something is.
pub(super) struct Bar<'a> {
    /// What it is.
    pub(super) name: &'a str,
    /// How far.
    pub(super) value: u64,
    /// The whole.
    pub(super) of: u64,
}

/// Width of a bar and of a chart, and height of a chart without its labels.
const BAR: u64 = 160;
const WIDTH: usize = 600;
const HEIGHT: usize = 120;

/// A bar that is filled as far as something is.
pub(super) fn progress(bar: &Bar<'_>) -> Markup {
    let part = bar.value.min(bar.of).checked_mul(BAR).unwrap_or(BAR);
    let filled = part.checked_div(bar.of).unwrap_or(BAR);
    let says = format!("{} of {}", bar.value, bar.of);
    html! {
        svg.chart.bar viewBox=(format!("0 0 {BAR} 14")) role="img" aria-label=(format!("{}: {says}", bar.name)) {
            rect.room width=(BAR) height="14" rx="3" {}
            rect width=(filled) height="14" rx="3" class=[(bar.value > bar.of).then_some("over")] {}
        }
        " " span.quiet { (says) }
    }
}

/// A bar for each of some consecutive times, with the first, the last and the largest named.
pub(super) fn bars(caption: &str, times: &[(String, f64)], unit: &str) -> Markup {
    let most = times.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let step = WIDTH as f64 / times.len().max(1) as f64;
    let height = |value: f64| match most > 0.0 {
        true => value / most * HEIGHT as f64,
        false => 0.0,
    };
    html! {
        figure {
            figcaption.quiet { (caption) }
            svg.chart viewBox=(format!("0 0 {WIDTH} {}", HEIGHT + 34)) role="img" aria-label=(spoken(caption, times, unit)) {
                @for (n, (name, value)) in times.iter().enumerate() {
                    rect x=(format!("{:.1}", n as f64 * step)) y=(format!("{:.1}", HEIGHT as f64 - height(*value) + 14.0))
                        width=(format!("{:.1}", (step * 0.8).max(1.0))) height=(format!("{:.1}", height(*value))) {
                        title { (name) ": " (figure(*value)) " " (unit) }
                    }
                }
                text x="0" y="10" { "most: " (figure(most)) " " (unit) }
                @if let (Some((first, _)), Some((last, _))) = (times.first(), times.last()) {
                    text x="0" y=(HEIGHT + 30) { (first) }
                    text x=(WIDTH) y=(HEIGHT + 30) text-anchor="end" { (last) }
                }
            }
        }
    }
}

/// A chart in words, for who does not see it.
fn spoken(caption: &str, times: &[(String, f64)], unit: &str) -> String {
    let values = times.iter().filter(|(_, value)| *value > 0.0);
    let values = values.map(|(name, value)| format!("{name} {} {unit}", figure(*value)));
    format!("{caption}: {}", values.collect::<Vec<_>>().join(", "))
}

fn figure(value: f64) -> String {
    match value.fract() == 0.0 {
        true => format!("{value:.0}"),
        false => format!("{value:.2}"),
    }
}
