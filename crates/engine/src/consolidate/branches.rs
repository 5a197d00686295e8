//! Builds `branches.md`: the state of each branch, however old. `MEMORY.md` has room for a few only.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use daybook_domain::ObservationKind;

use super::left_off::{BranchState, branch_entry, open_end_entry};
use super::merge::MergedObservation;
use super::sections::decision_entry;
use super::session_account::SessionAccount;
use super::{MemoryEntry, MemoryInput, MemoryPage, MemorySection};

/// Prefix of a decision in `branches.md`, where `MEMORY.md` has a heading instead.
pub const DECIDED: &str = "decided: ";
/// Most branches; of more, those with the latest work.
const BRANCHES: usize = 100;
/// Most open ends, and most decisions, of one branch.
const OF_EACH: usize = 4;

pub(super) fn branches_page(
    input: &MemoryInput,
    accounts: &[SessionAccount],
    observations: &[MergedObservation],
) -> MemoryPage {
    let mut by_branch: BTreeMap<&str, Vec<&SessionAccount>> = BTreeMap::new();
    for account in accounts {
        if let Some(branch) = &account.branch {
            by_branch.entry(branch).or_default().push(account);
        }
    }
    let mut states: Vec<(&str, BranchState<'_>)> = by_branch
        .into_iter()
        .filter_map(|(branch, on_branch)| Some((branch, BranchState::of(&on_branch)?)))
        .collect();
    states.sort_by_key(|(branch, state)| (Reverse(state.last.to_at), *branch));
    states.truncate(BRANCHES);
    let by_branch = observations_by_branch(observations);
    let sections = states.into_iter().map(|(branch, state)| {
        let mut entries = vec![branch_entry(input, &state)];
        let on_branch = by_branch.get(branch).map_or(&[][..], Vec::as_slice);
        entries.extend(entries_of_branch(input, on_branch));
        MemorySection {
            title: branch.to_owned(),
            entries,
        }
    });
    MemoryPage {
        heading: format!("{} — where each branch stands", input.title),
        sections: sections.collect(),
    }
}

/// A decision with its prefix, for a list of several kinds.
fn labelled_decision(input: &MemoryInput, merged: &MergedObservation) -> MemoryEntry {
    let mut entry = decision_entry(input, merged);
    if let Some(line) = entry.lines.first_mut() {
        line.insert_str(0, DECIDED);
    }
    entry
}

/// Open ends and decisions that hold, by each branch of their evidence.
fn observations_by_branch(
    observations: &[MergedObservation],
) -> HashMap<&str, Vec<&MergedObservation>> {
    let mut by_branch: HashMap<&str, Vec<&MergedObservation>> = HashMap::new();
    let is_shown = |merged: &&MergedObservation| {
        let kinds = [ObservationKind::OpenEnd, ObservationKind::Decision];
        kinds.contains(&merged.kind) && merged.validity.holds()
    };
    for merged in observations.iter().filter(is_shown) {
        for branch in merged.branches() {
            by_branch.entry(branch).or_default().push(merged);
        }
    }
    by_branch
}

/// A branch's open ends, then its decisions, each newest first.
fn entries_of_branch(input: &MemoryInput, observations: &[&MergedObservation]) -> Vec<MemoryEntry> {
    let mut entries = Vec::new();
    for (kind, phrase) in [
        (
            ObservationKind::OpenEnd,
            open_end_entry as fn(&MemoryInput, &MergedObservation) -> MemoryEntry,
        ),
        (ObservationKind::Decision, labelled_decision),
    ] {
        let mut found: Vec<&MergedObservation> = observations
            .iter()
            .copied()
            .filter(|merged| merged.kind == kind)
            .collect();
        found.sort_by_key(|merged| (Reverse(merged.last_at()), merged.text.clone()));
        found.truncate(OF_EACH);
        entries.extend(found.into_iter().map(|merged| phrase(input, merged)));
    }
    entries
}
