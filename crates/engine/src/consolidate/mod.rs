//! Consolidation: builds a scope's memory pages, sections of entries with citations.
//!
//! [`consolidate`] merges, de-duplicates and ranks without a model. It is a pure function of its
//! input: the same observations give the same memory, in whatever order they arrived. It quotes and
//! never paraphrases; clearer words, and merges that words do not show, come from accepted proposals of a model.
//!
//! Not here: files, markers, a person's edits (`files`).

pub mod agent;
mod branches;
mod by_session;
mod candidates;
mod content;
mod content_words;
mod contrasts;
mod dated_pages;
mod done;
mod entries;
mod habits;
mod kept_searches;
mod left_off;
mod merge;
mod name_mentions;
mod names;
mod note_changes;
mod note_pages;
mod number;
mod observation_log;
mod parsed_texts;
mod persons_words;
mod phrase;
mod plain;
mod proposals;
mod rank;
mod rollouts;
mod rules;
mod sections;
mod session_account;
mod session_page;
mod statement;
mod supersede;
mod usage;
mod validity;
mod value_lines;
mod word_lists;

use std::collections::BTreeMap;

use daybook_domain::{
    ExtractionRecord, Observation, ObservationId, Proposal, Scope, Supersession, Use,
};
use daybook_text::fence::{is_hidden, is_line_break, visible, without_citations};
use jiff::tz::TimeZone;

use agent::AgentPages;
use proposals::CurrentProposals;

pub use branches::DECIDED;
pub use candidates::selection_candidates;
pub use dated_pages::{DatedPage, DatedPages, PlannedPage};
pub use left_off::{LEFT_OFF, names_open_end};
pub use observation_log::ObservationLog;
pub use parsed_texts::ParsedTexts;
pub use persons_words::PersonsWords;
pub use proposals::{
    AnswerBounds, ProposalDropReason, ProposalWindow, ValidatedProposals, WindowLimits,
};
pub use rollouts::{Rollout, rollouts};
pub use rules::{ConsolidationRules, FileLayout};
pub use sections::{FAILED, VALUES, holds_rules};
pub use session_account::SessionAccount;
#[cfg(test)]
pub(crate) use session_account::accounts;
pub use statement::prepare_parser;
pub(crate) use supersede::PersonsStatement;
pub use supersede::{ends, says_change};

/// The input from which a scope's memory is built.
#[derive(Debug, Clone)]
pub struct MemoryInput {
    /// The scope.
    pub scope: Scope,
    /// The name in headings; for a project its short name.
    pub title: String,
    /// The person's name.
    pub person: String,
    /// The observations that hold in the scope.
    pub observations: Vec<Observation>,
    /// The extractions of the scope's sessions.
    pub extractions: Vec<ExtractionRecord>,
    /// Uses of events. Only uses of the observations' evidence matter.
    pub uses: Vec<Use>,
    /// The words of a person in place of observations' own, and what they pinned.
    pub persons: PersonsWords,
    /// What a model proposed and was accepted. Those that rest on other content than the observations have are void.
    pub proposals: Vec<Proposal>,
    /// The time zone of dates and hours.
    pub zone: TimeZone,
    /// Which files the memory has.
    pub layout: FileLayout,
}

/// One entry: a line, with further lines under it, for observations or a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemoryEntry {
    /// Identifies the observation or session; it stays the same when the words change.
    pub key: String,
    /// The line, and further lines under it. Plain text, no line breaks inside.
    pub lines: Vec<String>,
    /// The observations to withdraw when a person deletes the entry.
    pub observations: Vec<ObservationId>,
}

/// Entries under one heading.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemorySection {
    /// The heading, without its `##`.
    pub title: String,
    /// The entries, best first.
    pub entries: Vec<MemoryEntry>,
}

/// The content of one memory file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemoryPage {
    /// The first line, without its `#`; empty for a page without one.
    pub heading: String,
    /// The sections; those without entries are not shown. A section without a title
    /// comes directly after the heading.
    pub sections: Vec<MemorySection>,
}

/// A scope's whole memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeMemory {
    /// `MEMORY.md`: curated, long-term.
    pub curated: MemoryPage,
    /// `memory_summary.md`: shown to agents when a session starts.
    pub summary: MemoryPage,
    /// `branches.md`: the state of each branch.
    pub branches: MemoryPage,
    /// `names.md`: people, projects, repositories and tools that recur.
    pub names: MemoryPage,
    /// `daily/<date>.md`, a diary of outcomes by date, and `sessions/<date>-<slug>.md`, one account per session.
    pub dated: DatedPages,
    /// `notes/<date>.md`: notes that a person asked to keep, in their words.
    pub notes: BTreeMap<String, MemoryPage>,
    /// `skills/<name>/SKILL.md`: procedures that worked more than once, in the consolidation agent's words.
    pub skills: BTreeMap<String, MemoryPage>,
    /// The observations that no longer hold, and those that ended their validity.
    pub supersessions: Vec<Supersession>,
    /// The selected sessions, the latest first, which then have files of their own in place of pages; `None` where
    /// no selection is made.
    pub rollouts: Option<Vec<Rollout>>,
    /// The log of all observations, in the layouts that have one; it takes the place of the dated pages.
    pub log: Option<ObservationLog>,
    /// The observations that are shown in a person's words, with these words.
    pub reworded: BTreeMap<ObservationId, String>,
    /// All observations, those with the same content together, by time of first evidence.
    pub merged: Vec<Vec<ObservationId>>,
}

/// Most entries of each section of `MEMORY.md`; the others remain in the diary and in recall.
pub const SECTION_ENTRIES: usize = 12;
/// Most branches that "Where we left off" shows.
pub const LEFT_OFF_ENTRIES: usize = 8;
/// Most rules that `memory_summary.md` shows.
pub const SUMMARY_RULES: usize = 5;
/// Most habits that `memory_summary.md` shows.
const SUMMARY_HABITS: usize = 3;

/// Observations that occur in more than one scope, as observations of `person`'s own scope.
#[must_use]
pub fn promoted(
    observations: Vec<Observation>,
    person: &Scope,
    texts: &mut ParsedTexts,
) -> Vec<Observation> {
    merge::promoted(observations, person, texts)
}

/// Builds a scope's memory.
#[must_use]
pub fn consolidate(input: &MemoryInput) -> ScopeMemory {
    consolidate_parsed(input.clone(), &mut ParsedTexts::default())
}

/// [`consolidate`] with the parsed texts of the last time: the memory is the same, and made sooner. Afterwards `texts`
/// are those of this memory.
#[must_use]
pub fn consolidate_parsed(mut input: MemoryInput, texts: &mut ParsedTexts) -> ScopeMemory {
    // Proposals alone need the observations once more beside what they are merged into.
    let observations = match input.proposals.is_empty() {
        true => std::mem::take(&mut input.observations),
        false => input.observations.clone(),
    };
    let accounts = session_account::take_accounts(&mut input.extractions);
    let input = &input;
    let proposals = CurrentProposals::of(input);
    let mut merged = merge::merge_observations(observations, &input.uses, texts);
    proposals.merge(&mut merged);
    let mut changes = supersede::statement_changes(&merged, texts);
    proposals.supersede(&merged, &mut changes);
    texts.drop_unused();
    let supersessions = note_changes::note_validity(&mut merged, &changes);
    proposals.reword(&mut merged);
    value_lines::drop_outdated_words(&mut merged);
    let reworded = persons_words::apply(&input.persons, &mut merged);
    let mut curated = sections::curated_page(input, &accounts, &merged);
    let mut summary = sections::summary_page(input, &curated, &accounts);
    let mut agent = AgentPages::of(&proposals, &merged);
    agent.add_sections(&mut curated, &mut summary);
    if input.layout == FileLayout::Mindroom {
        observation_log::with_mindroom_ids(&mut curated, &merged);
    }
    let mut memory = ScopeMemory {
        summary,
        branches: branches::branches_page(input, &accounts, &merged),
        names: names::names_page(input, &accounts, &merged),
        notes: note_pages::note_pages(input, &merged),
        skills: agent.skills,
        rollouts: None,
        log: ObservationLog::new(input, &merged),
        curated,
        supersessions,
        reworded,
        merged: merged.iter().map(|one| one.observations.clone()).collect(),
        dated: DatedPages::new(input, accounts, merged),
    };
    for page in memory.made_pages_mut() {
        keep_lines_whole(page);
    }
    memory
}

impl ScopeMemory {
    /// Drops the entries that `is_kept` does not select. Those of sessions and days stay: they stand for no observation.
    pub fn retain_entries(&mut self, is_kept: impl Fn(&MemoryEntry) -> bool) {
        for section in self.made_pages_mut().flat_map(|page| &mut page.sections) {
            section.entries.retain(&is_kept);
        }
    }

    /// Whether no page has an entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let single = [&self.curated, &self.summary, &self.branches, &self.names];
        let named = self.notes.values().chain(self.skills.values());
        let log: Vec<&MemoryPage> = match &self.log {
            Some(ObservationLog::Whole(page)) => vec![page],
            Some(ObservationLog::Daily(days)) => days.values().collect(),
            None => Vec::new(),
        };
        let mut made = single.into_iter().chain(named).chain(log);
        self.dated.is_empty() && made.all(MemoryPage::is_empty)
    }

    /// The layout that its files have.
    #[must_use]
    pub fn layout(&self) -> FileLayout {
        match (&self.log, &self.rollouts) {
            (Some(ObservationLog::Whole(_)), _) => FileLayout::Daycare,
            (Some(ObservationLog::Daily(_)), _) => FileLayout::Mindroom,
            (None, Some(_)) => FileLayout::Codex,
            (None, None) => FileLayout::Daybook,
        }
    }

    /// All pages but those of sessions and days.
    fn made_pages_mut(&mut self) -> impl Iterator<Item = &mut MemoryPage> {
        let single = [
            &mut self.curated,
            &mut self.summary,
            &mut self.branches,
            &mut self.names,
        ];
        let logs = self.log.iter_mut().flat_map(ObservationLog::pages_mut);
        single
            .into_iter()
            .chain(self.notes.values_mut())
            .chain(self.skills.values_mut())
            .chain(logs)
    }
}

impl MemoryPage {
    fn without_titles(heading: String, entries: Vec<MemoryEntry>) -> Self {
        let title = String::new();
        let sections = vec![MemorySection { title, entries }];
        Self { heading, sections }
    }

    /// Whether it has no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let mut sections = self.sections.iter();
        sections.all(|section| section.entries.is_empty())
    }
}

/// Makes each line one line of visible characters. Names of sessions and branches may contain any, and a broken line
/// would be read back as two entries.
fn keep_lines_whole(page: &mut MemoryPage) {
    let lines = page.sections.iter_mut().flat_map(|section| {
        let lines = section
            .entries
            .iter_mut()
            .flat_map(|entry| &mut entry.lines);
        lines.chain([&mut section.title])
    });
    // All bytes are looked at, without an end before the last: so the processor takes many at once.
    let is_visible_ascii = |line: &String| {
        let visible = |so_far, byte| so_far & matches!(byte, b' '..=b'~');
        line.bytes().fold(true, visible)
    };
    for line in lines.chain([&mut page.heading]) {
        if is_visible_ascii(line) {
            continue;
        }
        if line.contains(|c| is_hidden(c) || is_line_break(c)) {
            *line = visible(&line.replace(is_line_break, " ")).into_owned();
        }
    }
    // They name projects and branches, and cite nothing.
    let titles = page.sections.iter_mut().map(|section| &mut section.title);
    for title in titles.chain([&mut page.heading]) {
        *title = without_citations(title).into_owned();
    }
}
