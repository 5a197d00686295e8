//! Renders a window as a transcript: every event once, with the number that observations cite.
//!
//! ```text
//! [day 2026-01-27]
//! [1 human] stop using mocks,
//!  we have a test database
//! [2 call Bash] cargo test
//! [3 result failed] error[E0433] … 3 failed
//! [12 left out, about 3400 tokens]
//! [16 assistant] Done.
//! ```
//!
//! Only our own lines begin at the left margin. An event's text follows its speaker's
//! bracket or, from its second line on, a blank; so no text can look like a
//! speaker or end the transcript.
//!
//! Not here: which events are kept when not all fit (`tiers`), the rest of the prompt.

use std::fmt::Write;

use daybook_domain::{Event, Origin, Timestamp, ToolStatus};

use super::tiers::{Tier, select_rows, tiers_of};
use super::truncate::{keep_ends, keep_ends_and_errors};
use daybook_text::fence::normalize_lines;

/// Counts the tokens of a text. May overestimate a little.
pub(super) type TokenCounter<'a> = &'a dyn Fn(&str) -> u32;

/// Most characters of a tool's name.
const TOOL_NAME: usize = 40;
/// The longest possible gap line.
const WIDEST_GAP: &str = "[9999 left out, about 9999999 tokens]\n";
/// A day line, to count its tokens.
const ANY_DAY: &str = "[day 2026-12-28]\n";
/// Bytes per token, for the estimates in gap lines.
const BYTES_PER_TOKEN: usize = 4;

/// A window as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RenderedTranscript {
    /// The rendered text; every line ends with a line feed.
    pub(super) text: String,
    /// The indices of the shown events in the window, ascending; their numbers are one greater.
    pub(super) shown: Vec<usize>,
    /// Number of events with text that did not fit.
    pub(super) left_out: u32,
}

/// Whether events have numbers, so that they can be cited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventNumbers {
    /// Each event has its number.
    Shown,
    /// The events are context only.
    Hidden,
}

struct TranscriptRow {
    at: usize,
    text: String,
    full: usize,
    day: Option<jiff::civil::Date>,
}

/// Renders `events` in at most `budget` tokens.
pub(super) fn render(
    events: &[Event],
    numbers: EventNumbers,
    budget: u32,
    count: TokenCounter<'_>,
) -> RenderedTranscript {
    let tiers = tiers_of(events);
    let mut rows = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if let Some(tier) = tiers[at] {
            rows.push((tier, render_row(at, event, tier, numbers)));
        }
    }
    // A token has at least one byte, and counting tokens is the slowest part: what fits by bytes is not counted.
    let bytes: usize = rows
        .iter()
        .map(|(_, row)| row.text.len() + ANY_DAY.len())
        .sum();
    let surely_fits = u32::try_from(bytes).is_ok_and(|bytes| bytes <= budget);
    let (tiers, rows): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    if surely_fits {
        return write_rows(&rows, &vec![true; rows.len()]);
    }
    let costs = tiers.into_iter().zip(&rows);
    let costs: Vec<_> = costs
        .map(|(tier, row): (_, &TranscriptRow)| (tier, count(&row.text)))
        .collect();
    let mut days: Vec<_> = rows.iter().filter_map(|row| row.day).collect();
    days.sort_unstable();
    days.dedup();
    let for_days = u32::try_from(days.len()).unwrap_or(u32::MAX);
    let budget = budget.saturating_sub(for_days.saturating_mul(count(ANY_DAY)));
    let shown = select_rows(&costs, budget, count(WIDEST_GAP));
    write_rows(&rows, &shown)
}

fn write_rows(rows: &[TranscriptRow], chosen: &[bool]) -> RenderedTranscript {
    let mut rendered = RenderedTranscript {
        text: String::new(),
        shown: Vec::new(),
        left_out: 0,
    };
    let (mut missing, mut bytes) = (0_u32, 0_usize);
    let mut today = None;
    for (row, is_shown) in rows.iter().zip(chosen) {
        if !is_shown {
            missing += 1;
            bytes += row.full;
            continue;
        }
        gap(&mut rendered, &mut missing, &mut bytes);
        if row.day > today {
            today = row.day;
            if let Some(day) = today {
                let _ = writeln!(rendered.text, "[day {day}]");
            }
        }
        rendered.text.push_str(&row.text);
        rendered.shown.push(row.at);
    }
    gap(&mut rendered, &mut missing, &mut bytes);
    rendered
}

fn gap(rendered: &mut RenderedTranscript, missing: &mut u32, bytes: &mut usize) {
    if *missing == 0 {
        return;
    }
    let tokens = bytes.div_ceil(BYTES_PER_TOKEN);
    let _ = writeln!(rendered.text, "[{missing} left out, about {tokens} tokens]");
    rendered.left_out += *missing;
    (*missing, *bytes) = (0, 0);
}

fn render_row(at: usize, event: &Event, tier: Tier, numbers: EventNumbers) -> TranscriptRow {
    let number = match numbers {
        EventNumbers::Shown => (at + 1).to_string(),
        EventNumbers::Hidden => "-".to_owned(),
    };
    let text = shortened_text(event, tier).replace('\n', "\n ");
    TranscriptRow {
        at,
        text: format!("[{number} {}] {text}\n", speaker_label(event)),
        full: event.text.len(),
        day: day(event.at),
    }
}

/// The UTC day of a time; `None` for an unknown time.
pub(super) fn day(at: Timestamp) -> Option<jiff::civil::Date> {
    if at == Timestamp::ZERO {
        return None;
    }
    let at = jiff::Timestamp::from_millisecond(at.0).ok()?;
    Some(at.to_zoned(jiff::tz::TimeZone::UTC).date())
}

/// The speaker's label, which cannot contain a bracket.
fn speaker_label(event: &Event) -> String {
    match event.origin {
        Origin::Human if event.sidechain => "task".to_owned(),
        Origin::Assistant if event.sidechain => "agent".to_owned(),
        Origin::Human => "human".to_owned(),
        Origin::Assistant => "assistant".to_owned(),
        Origin::ToolCall => match tool_name(event).as_str() {
            "" => "call".to_owned(),
            name => format!("call {name}"),
        },
        Origin::ToolResult => match event.status {
            Some(ToolStatus::Failed) => "result failed".to_owned(),
            Some(ToolStatus::Refused) => "result refused".to_owned(),
            Some(ToolStatus::Succeeded) | None => "result".to_owned(),
        },
        Origin::Harness => "harness".to_owned(),
        Origin::Synthetic | Origin::Recalled | Origin::Retraction => "other".to_owned(),
    }
}

fn tool_name(event: &Event) -> String {
    let name = event.tool.as_deref().unwrap_or_default().chars();
    name.filter(|c| c.is_ascii_alphanumeric() || "_-.".contains(*c))
        .take(TOOL_NAME)
        .collect()
}

/// The shown part of an event's text: more bytes of head and tail for tiers that are more often worth reading.
fn shortened_text(event: &Event, tier: Tier) -> String {
    let text = event.text.as_str();
    let short = match tier {
        Tier::Human => keep_ends(text, 4_500, 1_500),
        Tier::Final => keep_ends(text, 1_200, 400),
        Tier::OtherAgent => keep_ends(text, 300, 100),
        Tier::Commentary => keep_ends(text, 300, 100),
        Tier::Context => keep_ends(text, 160, 40),
        Tier::Tool if event.origin == Origin::ToolCall => keep_ends(text, 160, 40),
        Tier::Tool => match event.status {
            Some(ToolStatus::Failed) => keep_ends_and_errors(text, 300, 300),
            Some(ToolStatus::Refused) => keep_ends(text, 120, 40),
            Some(ToolStatus::Succeeded) | None => keep_ends_and_errors(text, 80, 60),
        },
    };
    normalize_lines(&short)
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
