//! Entries of one merged observation each, and what follows its words in a line.
//!
//! Not here: which observations a section shows (`sections`).

use daybook_text::fence::without_citations;

use super::merge::MergedObservation;
use super::phrase::{citations, day};
use super::{MemoryEntry, MemoryInput};

pub(super) fn context_suffix(merged: &MergedObservation) -> String {
    merged
        .context
        .as_ref()
        .map(|context| format!(" ({context})"))
        .unwrap_or_default()
}

pub(super) fn time_and_branch_suffix(input: &MemoryInput, merged: &MergedObservation) -> String {
    let day = day(merged.last_at(), &input.zone);
    match merged.branches().as_slice() {
        [] => format!(" · {day}"),
        [branch] => format!(" · {}, {day}", without_citations(branch)),
        branches => format!(" · {} branches, {day}", branches.len()),
    }
}

pub(super) fn observation_entry(merged: &MergedObservation, line: String) -> MemoryEntry {
    let past = &merged.validity.past;
    let cited = merged.evidence.iter();
    let cited = cited.chain(past.iter().flat_map(|past| &*past.evidence));
    // Deleting the line takes back what it replaced, too: otherwise that would hold again.
    let observations = merged.observations.iter();
    let observations = observations.chain(past.iter().flat_map(|past| &past.observations));
    MemoryEntry {
        key: merged
            .observations
            .first()
            .map(ToString::to_string)
            .unwrap_or_default(),
        lines: vec![format!("{line} {}", citations(cited))],
        observations: observations.copied().collect(),
    }
}
