//! Places the agent's lines on pages, with the citations of what they rest on.
//!
//! A line is shown while each of its statements holds, with the content that it was written about.

use std::collections::{BTreeMap, HashMap};

use daybook_domain::{AgentLine, AgentPage, ObservationId};
use daybook_text::fence::without_citations;

use crate::consolidate::merge::MergedObservation;
use crate::consolidate::phrase::citations;
use crate::consolidate::proposals::CurrentProposals;
use crate::consolidate::{MemoryEntry, MemoryPage};

use super::{HANDBOOK, HANDBOOK_LINES, SUMMARY_LINES};
use crate::consolidate::MemorySection;

/// The agent's part of a memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::consolidate) struct AgentPages {
    handbook: Vec<MemoryEntry>,
    summary: Vec<MemoryEntry>,
    /// The pages of skills, by name.
    pub(in crate::consolidate) skills: BTreeMap<String, MemoryPage>,
}

impl AgentPages {
    pub(in crate::consolidate) fn of(
        proposals: &CurrentProposals<'_>,
        merged: &[MergedObservation],
    ) -> Self {
        let mut pages = Self::default();
        let mut lines = proposals.agent_lines().peekable();
        if lines.peek().is_none() {
            return pages;
        }
        let places: HashMap<ObservationId, &MergedObservation> = merged
            .iter()
            .flat_map(|one| one.observations.iter().map(move |id| (*id, one)))
            .collect();
        for line in lines {
            let statements = line.statements.iter();
            let statements = statements.map(|it| places.get(&it.id).copied());
            let Some(statements) = statements.collect::<Option<Vec<_>>>() else {
                continue;
            };
            if statements.iter().all(|one| one.validity.holds()) {
                pages.add(line, entry(line, &statements));
            }
        }
        pages.handbook.truncate(HANDBOOK_LINES);
        pages.summary.truncate(SUMMARY_LINES);
        pages
    }

    fn add(&mut self, line: &AgentLine, entry: MemoryEntry) {
        match &line.page {
            AgentPage::Handbook => self.handbook.push(entry),
            AgentPage::Summary => self.summary.push(entry),
            AgentPage::Skill { name, title } => {
                let page = self.skills.entry(name.clone());
                let page =
                    page.or_insert_with(|| MemoryPage::without_titles(title.clone(), Vec::new()));
                page.sections[0].entries.push(entry);
            }
        }
    }

    /// Adds the agent's sections to the two pages that have one.
    pub(in crate::consolidate) fn add_sections(
        &mut self,
        curated: &mut MemoryPage,
        summary: &mut MemoryPage,
    ) {
        let own = [
            (curated, std::mem::take(&mut self.handbook)),
            (summary, std::mem::take(&mut self.summary)),
        ];
        for (page, entries) in own {
            if !entries.is_empty() {
                let title = HANDBOOK.to_owned();
                page.sections.push(MemorySection { title, entries });
            }
        }
    }
}

/// Identifies the entry of a line: other words are another entry.
pub(super) fn entry_key(line: &AgentLine) -> String {
    let page = match &line.page {
        AgentPage::Handbook => "handbook",
        AgentPage::Summary => "summary",
        AgentPage::Skill { name, .. } => name,
    };
    format!("agent/{page}/{}", line.text)
}

fn entry(line: &AgentLine, statements: &[&MergedObservation]) -> MemoryEntry {
    let evidence = statements.iter().flat_map(|one| &*one.evidence);
    MemoryEntry {
        key: entry_key(line),
        lines: vec![format!(
            "{} {}",
            without_citations(&line.text),
            citations(evidence)
        )],
        // A person who deletes the line takes back the line, and not what it rests on.
        observations: Vec::new(),
    }
}
