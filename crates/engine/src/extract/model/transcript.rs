//! A window as a model reads it: every event once, with the number that observations cite.
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
//! Only our own lines begin at the left margin. What anybody said stands behind its speaker's
//! bracket or, from its second line on, behind a blank; so nothing that is said can look like a
//! speaker or end the transcript.
//!
//! Not here: which words come first when not all fit (`tiers`), what the model is asked.

use std::fmt::Write;

use daybook_domain::{Event, Origin, Timestamp, ToolStatus};

use super::cut::{ends, printed, tidy};
use super::tiers::{Tier, chosen, tiers};

/// Counts the tokens of a text, or a little more than that.
pub(super) type Count<'a> = &'a dyn Fn(&str) -> u32;

/// Most characters of a tool's name.
const TOOL_NAME: usize = 40;
/// The longest gap line there can be.
const WIDEST_GAP: &str = "[9999 left out, about 9999999 tokens]\n";
/// A day line, for counting.
const ANY_DAY: &str = "[day 2026-12-28]\n";
/// Bytes of text that a token stands for, where only an estimate is shown.
const BYTES_PER_TOKEN: usize = 4;

/// A window as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rendered {
    /// What the model reads; every line ends with a line feed.
    pub(super) text: String,
    /// Which events of the window it shows, ascending, as places in the window; their numbers are one
    /// greater.
    pub(super) shown: Vec<usize>,
    /// Events with words that had no room.
    pub(super) left_out: u32,
}

/// Whether events can be cited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Each has its number.
    Shown,
    /// They are for understanding only.
    Hidden,
}

struct Row {
    at: usize,
    text: String,
    full: usize,
    day: Option<jiff::civil::Date>,
}

/// Renders `events` in at most `budget` tokens.
pub(super) fn render(
    events: &[Event],
    numbers: Numbers,
    budget: u32,
    count: Count<'_>,
) -> Rendered {
    let tiers = tiers(events);
    let mut rows = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if let Some(tier) = tiers[at] {
            rows.push((tier, row(at, event, tier, numbers)));
        }
    }
    // No token is less than a byte, and counting takes longer than all else: what surely fits is not counted.
    let bytes: usize = rows
        .iter()
        .map(|(_, row)| row.text.len() + ANY_DAY.len())
        .sum();
    let surely_fits = u32::try_from(bytes).is_ok_and(|bytes| bytes <= budget);
    let (tiers, rows): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    if surely_fits {
        return written(&rows, &vec![true; rows.len()]);
    }
    let costs = tiers.into_iter().zip(&rows);
    let costs: Vec<_> = costs
        .map(|(tier, row): (_, &Row)| (tier, count(&row.text)))
        .collect();
    let mut days: Vec<_> = rows.iter().filter_map(|row| row.day).collect();
    days.sort_unstable();
    days.dedup();
    let for_days = u32::try_from(days.len()).unwrap_or(u32::MAX);
    let budget = budget.saturating_sub(for_days.saturating_mul(count(ANY_DAY)));
    let shown = chosen(&costs, budget, count(WIDEST_GAP));
    written(&rows, &shown)
}

fn written(rows: &[Row], chosen: &[bool]) -> Rendered {
    let mut rendered = Rendered {
        text: String::new(),
        shown: Vec::new(),
        left_out: 0,
    };
    let (mut missing, mut bytes) = (0_u32, 0_usize);
    let mut today = None;
    for (row, shown) in rows.iter().zip(chosen) {
        if !shown {
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

fn gap(rendered: &mut Rendered, missing: &mut u32, bytes: &mut usize) {
    if *missing == 0 {
        return;
    }
    let tokens = bytes.div_ceil(BYTES_PER_TOKEN);
    let _ = writeln!(rendered.text, "[{missing} left out, about {tokens} tokens]");
    rendered.left_out += *missing;
    (*missing, *bytes) = (0, 0);
}

fn row(at: usize, event: &Event, tier: Tier, numbers: Numbers) -> Row {
    let number = match numbers {
        Numbers::Shown => (at + 1).to_string(),
        Numbers::Hidden => "-".to_owned(),
    };
    let said = said(event, tier).replace('\n', "\n ");
    Row {
        at,
        text: format!("[{number} {}] {said}\n", speaker(event)),
        full: event.text.len(),
        day: day(event.at),
    }
}

/// The day, in UTC, on which something was said.
pub(super) fn day(at: Timestamp) -> Option<jiff::civil::Date> {
    if at == Timestamp::ZERO {
        return None;
    }
    let at = jiff::Timestamp::from_millisecond(at.0).ok()?;
    Some(at.to_zoned(jiff::tz::TimeZone::UTC).date())
}

/// Who speaks, in words that cannot hold a bracket.
fn speaker(event: &Event) -> String {
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

/// What of an event is shown. Bytes of head and tail by how often each sort of words is worth reading.
fn said(event: &Event, tier: Tier) -> String {
    let text = event.text.as_str();
    let short = match tier {
        Tier::Human => ends(text, 4_500, 1_500),
        Tier::Final => ends(text, 1_200, 400),
        Tier::OtherAgent => ends(text, 300, 100),
        Tier::Commentary => ends(text, 300, 100),
        Tier::Context => ends(text, 160, 40),
        Tier::Tool if event.origin == Origin::ToolCall => ends(text, 160, 40),
        Tier::Tool => match event.status {
            Some(ToolStatus::Failed) => printed(text, 300, 300),
            Some(ToolStatus::Refused) => ends(text, 120, 40),
            Some(ToolStatus::Succeeded) | None => printed(text, 80, 60),
        },
    };
    tidy(&short)
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
