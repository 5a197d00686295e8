//! `branches.md`: where each branch stands, so that whoever comes back to one, however old, is told
//! about that one. `MEMORY.md` has room for a few only.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use daybook_domain::ObservationKind;

use super::fold::Account;
use super::merge::Belief;
use super::sections::{decided, last_on, left_open};
use super::{Brief, Entry, Page, Section};

/// What stands before a decision where `MEMORY.md` has it under a heading.
pub const DECIDED: &str = "decided: ";
/// Most branches that are kept; of more, those that were worked on last.
const BRANCHES: usize = 100;
/// Most open ends, and most decisions, that are shown for one branch.
const OF_EACH: usize = 4;

pub(super) fn branches(brief: &Brief, accounts: &[Account], beliefs: &[Belief]) -> Page {
    let mut by_branch: BTreeMap<&str, Vec<&Account>> = BTreeMap::new();
    for account in accounts {
        if let Some(branch) = &account.branch {
            by_branch.entry(branch).or_default().push(account);
        }
    }
    let mut lasts: Vec<(&str, &Account, usize)> = by_branch
        .into_iter()
        .filter_map(|(branch, on_branch)| {
            let last = on_branch
                .iter()
                .max_by_key(|account| (account.to_at, account.label.clone()))?;
            Some((branch, *last, on_branch.len()))
        })
        .collect();
    lasts.sort_by_key(|(branch, last, _)| (Reverse(last.to_at), *branch));
    lasts.truncate(BRANCHES);
    let sections = lasts.into_iter().map(|(branch, last, sessions)| {
        let mut entries = vec![last_on(brief, last, sessions)];
        entries.extend(of_branch(brief, branch, beliefs));
        Section {
            title: branch.to_owned(),
            entries,
        }
    });
    Page {
        heading: format!("{} — where each branch stands", brief.title),
        sections: sections.collect(),
    }
}

/// A decision, among lines of other kinds.
fn told_apart(brief: &Brief, belief: &Belief) -> Entry {
    let mut entry = decided(brief, belief);
    if let Some(line) = entry.lines.first_mut() {
        line.insert_str(0, DECIDED);
    }
    entry
}

/// What was left open and what was decided on a branch, the newest first.
fn of_branch(brief: &Brief, branch: &str, beliefs: &[Belief]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (kind, phrase) in [
        (
            ObservationKind::OpenEnd,
            left_open as fn(&Brief, &Belief) -> Entry,
        ),
        (ObservationKind::Decision, told_apart),
    ] {
        let mut found: Vec<&Belief> = beliefs
            .iter()
            .filter(|belief| belief.kind == kind && belief.branches().contains(&branch))
            .collect();
        found.sort_by_key(|belief| (Reverse(belief.last_at()), belief.text.clone()));
        found.truncate(OF_EACH);
        entries.extend(found.into_iter().map(|belief| phrase(brief, belief)));
    }
    entries
}
