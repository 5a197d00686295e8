//! Builds the logs of observations that Daycare and MindRoom keep: an entry for each observation, in the order in which
//! they were first stated.
//!
//! An entry shows the first statement alone. What is stated again, or no longer holds, changes no entry: a log is
//! appended to, and what holds now stands in `MEMORY.md`.
//!
//! Not here: how an entry is known as the engine's (`files::entry`), where they are placed (`files::page`).

use std::collections::BTreeMap;

use daybook_domain::{Evidence, ObservationKind, Timestamp};
use jiff::tz::TimeZone;

use super::branches::DECIDED;
use super::entries::context_suffix;
use super::merge::MergedObservation;
use super::phrase::{cite, date};
use super::{FileLayout, MemoryEntry, MemoryInput, MemoryPage};

/// Most bytes of one log, 4 MiB. Of a longer one the newest entries are shown; recall finds the others.
const LOG_BYTES: usize = 4 * 1024 * 1024;
/// What stands before an open end.
const OPEN: &str = "open: ";

/// The observations of a scope as a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservationLog {
    /// Daycare's: one page of blocks.
    Whole(MemoryPage),
    /// MindRoom's: a page of lines for each day, by name.
    Daily(BTreeMap<String, MemoryPage>),
}

impl ObservationLog {
    /// The log of these observations, which are in the order of their first evidence; `None` in layouts without one.
    pub(super) fn new(input: &MemoryInput, observations: &[MergedObservation]) -> Option<Self> {
        match input.layout {
            FileLayout::Daybook | FileLayout::Codex => None,
            FileLayout::Daycare => {
                let blocks = observations.iter().filter_map(block);
                Some(Self::Whole(page(blocks.collect())))
            }
            FileLayout::Mindroom => Some(Self::Daily(daily(observations, &input.zone))),
        }
    }

    /// Its pages.
    pub(super) fn pages_mut(&mut self) -> impl Iterator<Item = &mut MemoryPage> {
        let (whole, daily) = match self {
            Self::Whole(page) => (Some(page), None),
            Self::Daily(pages) => (None, Some(pages.values_mut())),
        };
        whole.into_iter().chain(daily.into_iter().flatten())
    }
}

fn daily(observations: &[MergedObservation], zone: &TimeZone) -> BTreeMap<String, MemoryPage> {
    let mut days: BTreeMap<String, Vec<MemoryEntry>> = BTreeMap::new();
    for merged in observations {
        if let Some(entry) = line(merged) {
            let day = date(merged.first_at(), zone);
            days.entry(day).or_default().push(entry);
        }
    }
    let days = days.into_iter();
    days.map(|(day, entries)| (day, page(entries))).collect()
}

/// A log's page: without headings, as the programs that it is made for have it.
fn page(mut entries: Vec<MemoryEntry>) -> MemoryPage {
    let size = |entry: &MemoryEntry| {
        entry
            .lines
            .iter()
            .map(|line| line.len() + 16)
            .sum::<usize>()
    };
    let mut room = LOG_BYTES;
    let newest = entries.iter().rev().take_while(|entry| {
        let fits = size(entry) <= room;
        room = room.saturating_sub(size(entry));
        fits
    });
    entries.drain(..entries.len() - newest.count());
    MemoryPage::without_titles(String::new(), entries)
}

/// `## 2026-01-27 13:56`, and the observation with its context.
fn block(merged: &MergedObservation) -> Option<MemoryEntry> {
    let first = first_evidence(merged)?;
    let context = match &merged.context {
        Some(context) => context.clone(),
        None => {
            let kind = merged.kind.as_str().replace('_', " ");
            format!("{kind} ({})", merged.origin.as_str())
        }
    };
    let cited = cite(&first.label, first.lines.clone());
    let lines = vec![
        format!("## {}", utc(first.at, "%Y-%m-%d %H:%M")),
        format!("- **Text**: {}", words(merged)),
        format!("- **Context**: {context} {cited}"),
    ];
    Some(entry(merged, lines))
}

/// `[id=m_20260127135600] [auto_flush:7f78:382]`, and the observation in a line: the session, and the last line that it
/// rests on there.
fn line(merged: &MergedObservation) -> Option<MemoryEntry> {
    let first = first_evidence(merged)?;
    let id = mindroom_id(first);
    let upto = first.lines.iter().max().copied().unwrap_or_default();
    let line = format!(
        "{id} [auto_flush:{}:{upto}] {}{}",
        first.label,
        words(merged),
        context_suffix(merged)
    );
    Some(entry(merged, vec![line]))
}

/// Gives each line of `MEMORY.md` that states an observation the id that MindRoom's lines have. A line without one is prose
/// to MindRoom, which lists and changes ids alone.
pub(super) fn with_mindroom_ids(page: &mut MemoryPage, observations: &[MergedObservation]) {
    let mut ids = BTreeMap::new();
    for merged in observations {
        if let Some(first) = first_evidence(merged) {
            let id = mindroom_id(first);
            ids.extend(merged.observations.iter().map(|one| (*one, id.clone())));
        }
    }
    for entry in page
        .sections
        .iter_mut()
        .flat_map(|section| &mut section.entries)
    {
        let id = entry.observations.first().and_then(|one| ids.get(one));
        if let (Some(id), Some(line)) = (id, entry.lines.first_mut()) {
            line.insert_str(0, &format!("{id} "));
        }
    }
}

/// `[id=m_20260127135600]`, to which the writer of files adds the digits that prove the line.
fn mindroom_id(first: &Evidence) -> String {
    format!("[id=m_{}]", utc(first.at, "%Y%m%d%H%M%S"))
}

fn entry(merged: &MergedObservation, lines: Vec<String>) -> MemoryEntry {
    let key = merged.observations.first().map(ToString::to_string);
    MemoryEntry {
        key: key.unwrap_or_default(),
        lines,
        observations: merged.observations.clone(),
    }
}

fn first_evidence(merged: &MergedObservation) -> Option<&Evidence> {
    merged.evidence.iter().min_by_key(|evidence| evidence.at)
}

fn words(merged: &MergedObservation) -> String {
    let words = merged.words();
    match (merged.kind, &merged.subject) {
        (ObservationKind::Value, Some(subject)) => format!("{subject}: {words}"),
        (ObservationKind::Decision, _) => format!("{DECIDED}{words}"),
        (ObservationKind::OpenEnd, _) => format!("{OPEN}{words}"),
        (
            ObservationKind::Correction
            | ObservationKind::Preference
            | ObservationKind::Fact
            | ObservationKind::Value
            | ObservationKind::Fix
            | ObservationKind::Note,
            _,
        ) => words,
    }
}

fn utc(at: Timestamp, format: &str) -> String {
    let time = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    time.to_zoned(TimeZone::UTC).strftime(format).to_string()
}
