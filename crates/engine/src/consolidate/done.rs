//! "What was done": the commits of finished work, by branch.
//!
//! Not here: work that is open (`left_off`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::extraction::CitedText;

use super::phrase::{cite, day, quoted};
use super::session_account::SessionAccount;
use super::{MemoryEntry, MemoryInput, MemorySection, SECTION_ENTRIES};

/// Most subjects of commits in one line.
const SUBJECTS: usize = 2;
/// What was committed, by branch, or by session where there is none or it is the main one; the newest first. Work that
/// "Where we left off" shows is left out.
pub(super) fn done_section(
    input: &MemoryInput,
    accounts: &[SessionAccount],
    left_off: &MemorySection,
) -> MemorySection {
    let mut groups: BTreeMap<(&str, &str), Vec<&SessionAccount>> = BTreeMap::new();
    for account in accounts.iter().filter(|a| !a.committed.is_empty()) {
        let branch = account.branch.as_deref().unwrap_or_default();
        let session = match is_shared_branch(branch) {
            true => account.label.as_str(),
            false => "",
        };
        groups.entry((branch, session)).or_default().push(account);
    }
    let shown: BTreeSet<&str> = left_off.entries.iter().map(|e| e.key.as_str()).collect();
    let mut groups: Vec<Vec<&SessionAccount>> = groups
        .into_iter()
        .filter(|((branch, _), _)| !shown.contains(format!("left-off/{branch}").as_str()))
        .map(|(_, group)| group)
        .collect();
    groups.sort_by_key(|group| {
        let last = group.iter().map(|account| account.to_at).max();
        (Reverse(last), group[0].label.clone())
    });
    groups.truncate(SECTION_ENTRIES);
    MemorySection {
        title: "What was done".to_owned(),
        entries: groups
            .iter()
            .map(|group| done_entry(input, group))
            .collect(),
    }
}

/// Whether sessions on a branch, or on none, have nothing to do with each other.
pub(super) fn is_shared_branch(branch: &str) -> bool {
    matches!(branch, "" | "main" | "master" | "develop" | "trunk")
}

fn done_entry(input: &MemoryInput, group: &[&SessionAccount]) -> MemoryEntry {
    let last = group[group.len() - 1];
    let mut seen = BTreeSet::new();
    let mut subjects: Vec<(&SessionAccount, &CitedText)> = group
        .iter()
        .flat_map(|account| account.committed.iter().map(|subject| (*account, subject)))
        .filter(|(_, subject)| seen.insert(subject.text.as_str()))
        .collect();
    let more = subjects.len().saturating_sub(SUBJECTS);
    // The last ones hold what the earlier ones came to.
    subjects.drain(..more);
    let named: Vec<String> = subjects
        .iter()
        .map(|(_, subject)| quoted(&subject.text))
        .collect();
    let more = match more {
        0 => String::new(),
        more => format!(" · {more} more"),
    };
    let mut cited: Vec<(&str, Vec<u32>)> = Vec::new();
    for (account, subject) in &subjects {
        match cited.iter_mut().find(|(label, _)| *label == account.label) {
            Some((_, lines)) => lines.extend(&subject.lines),
            None => cited.push((&account.label, subject.lines.clone())),
        }
    }
    let cited: Vec<String> = cited
        .into_iter()
        .map(|(label, lines)| cite(label, lines))
        .collect();
    let branch = last.branch.as_deref();
    let on = branch.map_or(String::new(), |branch| format!("{branch} · "));
    MemoryEntry {
        key: format!("done/{}", last.label),
        lines: vec![format!(
            "{on}{} · {}{more} {}",
            day(last.to_at, &input.zone),
            named.join(", "),
            cited.join(" ")
        )],
        observations: Vec::new(),
    }
}
