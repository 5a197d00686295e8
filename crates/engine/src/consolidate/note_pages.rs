//! Builds the pages of notes.

use std::collections::BTreeMap;

use daybook_domain::ObservationKind;

use super::merge::MergedObservation;
use super::phrase::{citations, date};
use super::{MemoryEntry, MemoryInput, MemoryPage};

/// `notes/<date>.md`: a person's notes, by day.
pub(super) fn note_pages(
    input: &MemoryInput,
    observations: &[MergedObservation],
) -> BTreeMap<String, MemoryPage> {
    let mut days: BTreeMap<String, Vec<MemoryEntry>> = BTreeMap::new();
    for note in observations
        .iter()
        .filter(|merged| merged.kind == ObservationKind::Note)
    {
        let entry = MemoryEntry {
            key: note
                .observations
                .first()
                .map(ToString::to_string)
                .unwrap_or_default(),
            lines: vec![format!("{} {}", note.text, citations(&*note.evidence))],
            observations: note.observations.clone(),
        };
        days.entry(date(note.first_at(), &input.zone))
            .or_default()
            .push(entry);
    }
    days.into_iter()
        .map(|(day, entries)| {
            (
                day.clone(),
                MemoryPage::without_titles(format!("Notes · {day}"), entries),
            )
        })
        .collect()
}
