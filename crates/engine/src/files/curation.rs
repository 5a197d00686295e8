//! Lets `MEMORY.md` grow in passes: so many lines a pass, so many passes a day.
//!
//! Without curation every consolidation makes `MEMORY.md` anew. With it, the file changes in a pass alone: a pass takes
//! the best lines that the file does not have yet, from the same consolidation that keeps the diary in `daily/`. In an
//! append-only curation no line of the file changes or goes; otherwise a pass also brings its lines up to date.
//! "Where we left off" changes with every session, so an append-only file goes without it; `branches.md` has it.
//!
//! How many passes a day has had is kept in `.git/daybook`, and stored before a pass is written: a crash costs a pass
//! and never adds one.
//!
//! Not here: which lines are best (`consolidate`), when a scope is consolidated (`jobs`).

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use super::atomic;
use super::entry::{EntryId, Marker, PageBlock, parse_blocks};
use super::error::FilesError;
use super::layout::CURATED;
use super::lock::WriterLock;
use super::page::Orphans;
use super::path::FilePath;
use super::reader;
use super::withheld;
use crate::consolidate::{LEFT_OFF, MemoryEntry, MemoryPage, MemorySection};

/// The file's name in Daybook's part of the folder.
const STATE: &str = "curation";

/// Bounds of the curation of a scope's `MEMORY.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurationLimits {
    /// Most lines that one pass adds. More fills the file sooner.
    pub lines: usize,
    /// Most passes of one day, of this machine. More brings lines sooner.
    pub passes_per_day: usize,
    /// Whether the file's lines stay as they are; otherwise a pass updates and removes the engine's own.
    pub append_only: bool,
}

impl Default for CurationLimits {
    /// The values of MindRoom's plan.
    fn default() -> Self {
        Self {
            lines: 20,
            passes_per_day: 1,
            append_only: true,
        }
    }
}

/// A scope's `MEMORY.md` as a curation leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuratedPage {
    /// The entries to write.
    pub page: MemoryPage,
    /// What happens to the engine's entries of the file that the page does not have.
    pub orphans: Orphans,
}

/// Curates `page` into the file of the locked folder, on `day` (`2026-01-27`).
///
/// # Errors
/// When the disk cannot be read or written.
pub fn curate(
    lock: &WriterLock<'_>,
    page: &MemoryPage,
    limits: CurationLimits,
    day: &str,
) -> Result<CuratedPage, FilesError> {
    let choices = withheld::load(lock)?.remove(CURATED);
    let withheld = choices.unwrap_or_default().withheld;
    let path = FilePath::engine_file(CURATED);
    // A file that cannot be read is left alone when it comes to writing.
    let current = reader::text(lock.folder().root(), &path).ok().flatten();
    let before = CurationState::load(lock)?;
    let (curated, after) = plan(page, current.as_deref(), &withheld, limits, &before.on(day));
    if after != before {
        after.save(lock)?;
    }
    Ok(curated)
}

/// Whether lines of the memory folder at `memory` wait for a pass that `day` has room for.
#[must_use]
pub fn has_waiting_lines(memory: &Path, limits: CurationLimits, day: &str) -> bool {
    let place = memory.join(".git/daybook").join(STATE);
    let text = fs::read_to_string(place).unwrap_or_default();
    let state = CurationState::parse(&text);
    state.is_waiting && state.on(day).passes < limits.passes_per_day
}

fn plan(
    page: &MemoryPage,
    current: Option<&str>,
    withheld: &BTreeSet<Marker>,
    limits: CurationLimits,
    state: &CurationState,
) -> (CuratedPage, CurationState) {
    let known = current.map(own_entries).unwrap_or_default();
    let may_show = |section: &&MemorySection| !limits.append_only || section.title != LEFT_OFF;
    let is_new = |entry: &&MemoryEntry| {
        !known.contains(&EntryId::of(&entry.key)) && !withheld.contains(&Marker::of(entry))
    };
    let sections = || page.sections.iter().filter(may_show);
    let mut room = match state.passes < limits.passes_per_day {
        true => limits.lines,
        false => 0,
    };
    let mut added = BTreeSet::new();
    let mut left = 0;
    for entry in sections()
        .flat_map(|section| &section.entries)
        .filter(is_new)
    {
        match entry.lines.len() <= room {
            true => {
                room -= entry.lines.len();
                added.insert(entry.key.as_str());
            }
            false => left += 1,
        }
    }
    let is_pass = !added.is_empty();
    let keeps = limits.append_only || !is_pass;
    let is_wanted = |entry: &MemoryEntry| {
        let is_kept = !keeps && known.contains(&EntryId::of(&entry.key));
        is_kept || added.contains(entry.key.as_str())
    };
    let shown = sections().map(|section| MemorySection {
        title: section.title.clone(),
        entries: section
            .entries
            .iter()
            .filter(|it| is_wanted(it))
            .cloned()
            .collect(),
    });
    let heading = match current.is_some() && keeps {
        true => String::new(),
        false => page.heading.clone(),
    };
    let curated = CuratedPage {
        page: MemoryPage {
            heading,
            sections: shown
                .filter(|section| !section.entries.is_empty())
                .collect(),
        },
        orphans: if keeps {
            Orphans::Keep
        } else {
            Orphans::Remove
        },
    };
    let state = CurationState {
        passes: state.passes + usize::from(is_pass),
        is_waiting: left > 0,
        ..state.clone()
    };
    (curated, state)
}

/// The engine's entries in a file, changed by a person or not.
fn own_entries(text: &str) -> BTreeSet<EntryId> {
    let blocks = parse_blocks(text).into_iter();
    let ids = blocks.filter_map(|block| match block {
        PageBlock::Ours(marker, _)
        | PageBlock::Pinned(marker, _)
        | PageBlock::Altered(marker, _) => Some(marker.id()),
        PageBlock::Heading(..) | PageBlock::Other(_) => None,
    });
    ids.collect()
}

/// The passes of one day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct CurationState {
    day: String,
    passes: usize,
    /// Lines wait for another pass.
    is_waiting: bool,
}

impl CurationState {
    /// The state on `day`: another day has had no pass.
    fn on(&self, day: &str) -> Self {
        match self.day == day {
            true => self.clone(),
            false => Self {
                day: day.to_owned(),
                passes: 0,
                is_waiting: self.is_waiting,
            },
        }
    }

    /// A text that is no state is that of a folder without a pass.
    fn parse(text: &str) -> Self {
        let mut parts = text.split_whitespace();
        let (day, passes) = (parts.next(), parts.next().and_then(|n| n.parse().ok()));
        match (day, passes) {
            (Some(day), Some(passes)) => Self {
                day: day.to_owned(),
                passes,
                is_waiting: parts.next() == Some("waiting"),
            },
            _ => Self::default(),
        }
    }

    fn load(lock: &WriterLock<'_>) -> Result<Self, FilesError> {
        let path = lock.folder().private_path(STATE);
        let bytes = atomic::read(&path).map_err(FilesError::io("read", &path))?;
        Ok(Self::parse(&String::from_utf8_lossy(
            &bytes.unwrap_or_default(),
        )))
    }

    fn save(&self, lock: &WriterLock<'_>) -> Result<(), FilesError> {
        let path = lock.folder().private_path(STATE);
        let failed = |error| FilesError::io("write", &path)(error);
        let waiting = if self.is_waiting { " waiting" } else { "" };
        let text = format!("{} {}{waiting}\n", self.day, self.passes);
        let folder = path.parent().unwrap_or(&path);
        let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        temporary.write_all(text.as_bytes()).map_err(failed)?;
        temporary.as_file().sync_all().map_err(failed)?;
        let persisted = temporary.persist(&path);
        persisted.map_err(|error| failed(error.error)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::page::{PageChoices, merge_page, render_page};

    /// A page with one section of entries: a key and its words.
    fn page(entries: &[(&str, &str)]) -> MemoryPage {
        let entries = entries.iter().map(|(key, words)| MemoryEntry {
            key: (*key).to_owned(),
            lines: vec![(*words).to_owned()],
            observations: Vec::new(),
        });
        MemoryPage {
            heading: "tidepool".to_owned(),
            sections: vec![MemorySection {
                title: "Decisions".to_owned(),
                entries: entries.collect(),
            }],
        }
    }

    /// The file after a curation of each page on its day, from no file on.
    fn curated(
        limits: CurationLimits,
        days: &[(&str, &[(&str, &str)])],
    ) -> (String, CurationState) {
        let (mut file, mut state) = (None::<String>, CurationState::default());
        let none = BTreeSet::new();
        for (day, entries) in days {
            let page = page(entries);
            let (curated, after) = plan(&page, file.as_deref(), &none, limits, &state.on(day));
            let text = match &file {
                None => render_page(&curated.page, &none),
                Some(file) => merge_page(
                    &curated.page,
                    file,
                    &PageChoices::default(),
                    curated.orphans,
                ),
            };
            file = text.contains("- ").then_some(text).or(file);
            state = after;
        }
        (file.unwrap_or_default(), state)
    }

    #[track_caller]
    fn check(
        limits: CurationLimits,
        days: &[(&str, &[(&str, &str)])],
        expected: &[&str],
        waits: bool,
    ) {
        let (file, state) = curated(limits, days);
        let lines = file.lines().filter_map(|line| line.strip_prefix("- "));
        let words: Vec<&str> = lines
            .map(|line| line.split(" ^").next().unwrap_or(line))
            .collect();
        assert_eq!(
            (words.as_slice(), state.is_waiting),
            (expected, waits),
            "{file}"
        );
    }

    const ABC: [(&str, &str); 3] = [("a", "one"), ("b", "two"), ("c", "three")];

    fn limits(lines: usize, passes_per_day: usize, append_only: bool) -> CurationLimits {
        CurationLimits {
            lines,
            passes_per_day,
            append_only,
        }
    }

    #[test]
    fn a_pass_adds_at_most_so_many_lines_and_the_best_first() {
        check(limits(2, 1, true), &[("1", &ABC)], &["one", "two"], true);
        check(
            limits(20, 1, true),
            &[("1", &ABC)],
            &["one", "two", "three"],
            false,
        );
    }

    #[test]
    fn a_day_has_at_most_so_many_passes() {
        let same_day: [(&str, &[(&str, &str)]); 2] = [("1", &ABC), ("1", &ABC)];
        check(limits(1, 1, true), &same_day, &["one"], true);
        check(limits(1, 2, true), &same_day, &["one", "two"], true);
        check(
            limits(1, 1, true),
            &[("1", &ABC), ("2", &ABC)],
            &["one", "two"],
            true,
        );
        check(limits(9, 0, true), &[("1", &ABC)], &[], true);
        // What brings nothing new is no pass.
        check(
            limits(1, 1, true),
            &[("1", &ABC[..1]), ("2", &ABC[..1]), ("2", &ABC)],
            &["one", "two"],
            true,
        );
    }

    #[test]
    fn an_append_only_curation_changes_and_removes_no_line() {
        let changed = [("a", "one, or so"), ("d", "four")];
        let days: [(&str, &[(&str, &str)]); 2] = [("1", &ABC), ("2", &changed)];
        check(
            limits(9, 1, true),
            &days,
            &["one", "two", "three", "four"],
            false,
        );
        check(limits(9, 1, false), &days, &["one, or so", "four"], false);
        // Between passes nothing changes, append-only or not.
        let days: [(&str, &[(&str, &str)]); 2] = [("1", &ABC), ("1", &changed)];
        check(limits(9, 1, false), &days, &["one", "two", "three"], true);
    }

    #[test]
    fn a_state_is_read_back_and_a_damaged_one_is_none() {
        let state = CurationState {
            day: "2026-01-27".to_owned(),
            passes: 1,
            is_waiting: true,
        };
        assert_eq!(CurationState::parse("2026-01-27 1 waiting\n"), state);
        assert_eq!(
            CurationState::parse("\u{0}garbage"),
            CurationState::default()
        );
    }
}
