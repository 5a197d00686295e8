//! What a scope's memory says, as values: sections of entries, each with its citations.
//!
//! [`consolidate`] merges, de-duplicates and ranks without a model. It is a pure function of the
//! brief: the same observations give the same memory, in whatever order they arrived. It quotes;
//! it never paraphrases, and the header says so.
//!
//! Not here: files, markers, what a person has edited. That is `files`.

mod account;
mod branches;
mod fold;
mod merge;
mod phrase;
mod rank;
mod sections;

use std::collections::BTreeMap;

use daybook_domain::{ExtractionRecord, Observation, ObservationId, Scope};
use jiff::tz::TimeZone;

pub use branches::DECIDED;
pub use fold::Account;
#[cfg(test)]
pub(crate) use fold::accounts;

/// All that a scope's memory is made from.
#[derive(Debug, Clone)]
pub struct Brief {
    /// Whose memory.
    pub scope: Scope,
    /// The name to put at the top: of a project, its short name.
    pub title: String,
    /// What the person is called.
    pub person: String,
    /// What holds in the scope.
    pub observations: Vec<Observation>,
    /// What sessions of the scope came to.
    pub extractions: Vec<ExtractionRecord>,
    /// Whose days and hours are shown.
    pub zone: TimeZone,
}

/// One entry: a line, with further lines under it, that stands for observations or a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it stands for; the same thing keeps its key when its words change.
    pub key: String,
    /// The line, and further lines under it. Plain text, no line breaks inside.
    pub lines: Vec<String>,
    /// What is withdrawn when a person deletes the entry.
    pub observations: Vec<ObservationId>,
}

/// Entries under one heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The heading, without its `##`.
    pub title: String,
    /// What stands there, best first.
    pub entries: Vec<Entry>,
}

/// A file's worth of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The first line, without its `#`; empty for a page without one.
    pub heading: String,
    /// What stands below; sections without entries are not shown. A section without a title
    /// stands directly below the heading.
    pub sections: Vec<Section>,
}

/// A scope's whole memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// `MEMORY.md`: curated, long-term.
    pub curated: Page,
    /// `memory_summary.md`: what is put in front of an agent.
    pub summary: Page,
    /// `branches.md`: where each branch stands.
    pub branches: Page,
    /// `daily/<date>.md`: a diary of outcomes, by date.
    pub daily: BTreeMap<String, Page>,
    /// `sessions/<date>-<slug>.md`: one account per session, by name.
    pub sessions: BTreeMap<String, Page>,
    /// `notes/<date>.md`: what a person asked to remember, in their words.
    pub notes: BTreeMap<String, Page>,
}

/// Most entries of each section of `MEMORY.md`; what does not fit stays in diary and recall.
pub const SECTION_ENTRIES: usize = 12;
/// Most branches that "Where we left off" shows.
pub const LEFT_OFF_ENTRIES: usize = 8;
/// Most rules that `memory_summary.md` shows.
pub const SUMMARY_RULES: usize = 5;

/// What `observations` of several scopes say in more than one of them: it is `person`'s own.
#[must_use]
pub fn promoted(observations: Vec<Observation>, person: &Scope) -> Vec<Observation> {
    merge::promoted(observations, person)
}

/// A scope's memory, from what was observed in it.
#[must_use]
pub fn consolidate(brief: &Brief) -> Memory {
    let accounts = fold::accounts(&brief.extractions);
    let beliefs = merge::beliefs(&brief.observations);
    let curated = sections::curated(brief, &accounts, &beliefs);
    let mut memory = Memory {
        summary: sections::summary(brief, &curated, &accounts),
        branches: branches::branches(brief, &accounts, &beliefs),
        daily: account::daily(brief, &accounts, &beliefs),
        sessions: account::sessions(brief, &accounts, &beliefs),
        notes: account::notes(brief, &beliefs),
        curated,
    };
    for page in memory.pages_mut() {
        keep_lines_whole(page);
    }
    memory
}

impl Memory {
    fn pages_mut(&mut self) -> impl Iterator<Item = &mut Page> {
        let dated = [&mut self.daily, &mut self.sessions, &mut self.notes];
        let single = [&mut self.curated, &mut self.summary, &mut self.branches];
        let dated = dated.into_iter().flat_map(BTreeMap::values_mut);
        single.into_iter().chain(dated)
    }
}

/// Puts a blank in the place of each character that ends a line or moves the cursor. Names of sessions
/// and branches are any text, and a line that falls in two is read back as two entries.
fn keep_lines_whole(page: &mut Page) {
    let lines = page.sections.iter_mut().flat_map(|section| {
        let lines = section
            .entries
            .iter_mut()
            .flat_map(|entry| &mut entry.lines);
        lines.chain([&mut section.title])
    });
    for line in lines.chain([&mut page.heading]) {
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        if line.contains(breaks) {
            *line = line.replace(breaks, " ");
        }
    }
}
