//! Charts, drawn here as SVG: bars over time, parts of a whole, and how far something is. Each says in words what it shows.

use maud::{Markup, html};

use super::frame::table;

/// How far something is.
pub(super) struct Bar<'a> {
    /// What it is.
    pub(super) name: &'a str,
    /// How far.
    pub(super) value: u64,
    /// The whole.
    pub(super) of: u64,
}

/// One part of a whole.
pub(super) struct Share {
    /// What it is.
    pub(super) name: String,
    /// How much.
    pub(super) value: u64,
    /// How it is drawn: the name of a class of the style sheet.
    pub(super) tone: &'static str,
}

/// Width of a bar and of a chart, and height of a chart without its labels.
const BAR: u64 = 160;
pub(super) const WIDTH: usize = 600;
pub(super) const HEIGHT: usize = 120;
/// Height of a bar of parts.
const SHARES: usize = 26;

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

/// A whole with its parts beside each other, and each part in words below it. Parts of nothing are left out.
pub(super) fn shares(caption: &str, parts: &[Share], unit: &str) -> Markup {
    let parts: Vec<&Share> = parts.iter().filter(|part| part.value > 0).collect();
    let whole: u64 = parts.iter().map(|part| part.value).sum();
    let width = |value: u64| value as f64 / whole.max(1) as f64 * WIDTH as f64;
    let begins = parts.iter().scan(0, |sum, part| {
        let begins = *sum;
        *sum += part.value;
        Some(begins)
    });
    let placed: Vec<(u64, &&Share)> = begins.zip(&parts).collect();
    let spoken = parts
        .iter()
        .map(|part| format!("{} {}", part.value, part.name));
    let spoken = spoken.collect::<Vec<_>>().join(", ");
    html! {
        figure {
            figcaption.quiet { (caption) }
            svg.chart viewBox=(format!("0 0 {WIDTH} {SHARES}")) role="img" aria-label=(format!("{caption}, in {unit}: {spoken}")) {
                @for (begins, part) in &placed {
                    rect class=(part.tone) x=(format!("{:.1}", width(*begins))) width=(format!("{:.1}", width(part.value))) height=(SHARES) {
                        title { (part.value) " " (part.name) }
                    }
                }
            }
            ul.legend {
                @for part in &parts {
                    li {
                        svg.swatch viewBox="0 0 12 12" aria-hidden="true" { rect class=(part.tone) width="12" height="12" rx="2" {} }
                        " " b { (part.value) } " " (part.name)
                    }
                }
            }
        }
    }
}

/// A bar for each of some consecutive times, with the first, the last and the largest named, and all in a table.
pub(super) fn bars(caption: &str, times: &[(String, f64)], unit: &str) -> Markup {
    let most = times.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let step = WIDTH as f64 / times.len().max(1) as f64;
    let height = |value: f64| match most > 0.0 {
        true => value / most * HEIGHT as f64,
        false => 0.0,
    };
    let rows = times.iter().filter(|(_, value)| *value > 0.0);
    let rows = rows.map(|(name, value)| vec![name.clone(), figure(*value)]);
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
            (numbers(caption, &["When", unit], rows))
        }
    }
}

/// The numbers of a chart, for who would rather read them.
pub(super) fn numbers(
    caption: &str,
    columns: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> Markup {
    let cells = |row: Vec<String>| row.into_iter().map(|cell| html! { (cell) }).collect();
    let rows: Vec<Vec<Markup>> = rows.map(cells).collect();
    html! { details { summary { "In numbers" } (table(caption, columns, &rows)) } }
}

/// A chart in words, for who does not see it.
fn spoken(caption: &str, times: &[(String, f64)], unit: &str) -> String {
    let values = times.iter().filter(|(_, value)| *value > 0.0);
    let values = values.map(|(name, value)| format!("{name} {} {unit}", figure(*value)));
    format!("{caption}: {}", values.collect::<Vec<_>>().join(", "))
}

pub(super) fn figure(value: f64) -> String {
    match value.fract() == 0.0 {
        true => format!("{value:.0}"),
        false => format!("{value:.2}"),
    }
}
