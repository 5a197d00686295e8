//! Each layout is written, read back and converted into every other one, with a person's words in it.

use std::collections::BTreeMap;

use daybook_domain::extraction::CitedText;
use daybook_domain::{
    Digest, EventSeq, Evidence, ExtractionRecord, ExtractionSnapshot, Observation, ObservationKind,
    Outcome, Provenance, SelectedSession, Timestamp,
};
use daybook_testkit::fixtures::{at, evidence, observation, project_scope, session};
use jiff::tz::TimeZone;

use super::folder_test_support::{TestFolder, lock, stamp};
use super::layout::{LOG, MARKS};
use super::layout_record::{differs, recorded};
use super::log_marks::page_text;
use super::page::Orphans;
use super::path::FilePath;
use super::persons_changes::{PersonsChanges, keep_returned, persons_changes};
use super::persons_lines::PersonsLines;
use super::write_pages::write_pages;
use crate::consolidate::{FileLayout, MemoryInput, ScopeMemory, consolidate, rollouts};
use crate::jobs::memories::{lines_of, main_line};

const LAYOUTS: [FileLayout; 4] = [
    FileLayout::Daybook,
    FileLayout::Daycare,
    FileLayout::Codex,
    FileLayout::Mindroom,
];
/// 2026-02-21 14:30 in UTC, in seconds.
const START: i64 = 1_771_684_200;
const DAY: i64 = 86_400;

/// A memory folder, and what is to be shown in it.
struct Memory {
    folder: TestFolder,
    stated: Vec<Observation>,
}

impl Memory {
    fn new() -> Self {
        let statements = [
            (ObservationKind::Preference, "tests first", 0),
            (ObservationKind::Decision, "postgres for the ledger", 60),
            (ObservationKind::Fact, "the harbour is in Bergen", DAY),
            (
                ObservationKind::Fix,
                "the build needs a clean cache",
                2 * DAY,
            ),
        ];
        let stated = statements.map(|(kind, text, after)| {
            let piece = Evidence {
                at: Timestamp((START + after) * 1000),
                ..evidence(&session("s1"), &[3])
            };
            let scope = project_scope("tidepool");
            Observation {
                kind,
                context: None,
                quoted: false,
                ..observation(&scope, text, vec![piece])
            }
        });
        Self {
            folder: TestFolder::new(),
            stated: stated.into(),
        }
    }

    /// Consolidates in a layout, and returns what a person changed before.
    fn consolidate(&self, layout: FileLayout) -> (PersonsChanges, ScopeMemory) {
        let lock = lock(&self.folder.folder);
        let changes = persons_changes(&lock, &stamp()).unwrap();
        let input = self.input(layout);
        let mut memory = consolidate(&input);
        if layout == FileLayout::Codex {
            let selected = [SelectedSession {
                session: session("s1"),
                snapshot: ExtractionSnapshot {
                    upto: EventSeq(9),
                    generated_at: at(1),
                },
            }];
            memory.rollouts = Some(rollouts(&input, &selected, &BTreeMap::new()));
            memory.dated.drop_session_pages();
        }
        keep_returned(&lock, &changes, &memory).unwrap();
        let rule = Orphans::Remove;
        let written = write_pages(&lock, &memory, rule, &stamp(), "Post", &|| true).unwrap();
        assert_eq!(written.unwritten, []);
        drop(lock);
        assert_eq!(recorded(self.folder.folder.root()).last(), Some(&layout));
        (changes, memory)
    }

    fn input(&self, layout: FileLayout) -> MemoryInput {
        let persons = PersonsLines::load(&self.folder.folder).unwrap();
        let quoted = |text: &str| CitedText {
            text: text.to_owned(),
            events: vec![EventSeq(1)],
            lines: vec![1],
        };
        MemoryInput {
            scope: project_scope("tidepool"),
            title: "tidepool".to_owned(),
            person: "ada".to_owned(),
            persons: persons.about(&self.stated),
            observations: self.stated.clone(),
            extractions: vec![ExtractionRecord {
                session: session("s1"),
                label: "s1".to_owned(),
                from: EventSeq(1),
                to: EventSeq(9),
                digest: Some(Digest {
                    task: Some(quoted("look into the harbour")),
                    outcome: Some(Outcome::Success),
                    from_at: Timestamp(START * 1000),
                    to_at: Timestamp((START + 60) * 1000),
                    ..Digest::default()
                }),
                provenance: Provenance::of("extractive/1"),
                at: at(1),
            }],
            uses: Vec::new(),
            proposals: Vec::new(),
            zone: TimeZone::UTC,
            layout,
        }
    }

    fn read(&self, path: &str) -> String {
        self.folder.read(path).unwrap_or_default()
    }

    fn edit(&self, path: &str, change: impl Fn(&str) -> String) {
        let text = self.read(path);
        let changed = change(&text);
        assert_ne!(text, changed, "{path}");
        self.folder.save(path, changed);
    }

    fn files(&self) -> BTreeMap<String, String> {
        let files = self.folder.work_tree().into_iter();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        files.map(|(path, bytes)| (path, text(bytes))).collect()
    }

    fn has(&self, path: &str) -> bool {
        self.files().keys().any(|file| file.starts_with(path))
    }
}

#[test]
fn d47_to_d51_observations_are_logged_in_the_exact_blocks_of_daycare() {
    let mut memory = Memory::new();
    let all = std::mem::take(&mut memory.stated);
    // D49: none makes no file.
    memory.consolidate(FileLayout::Daycare);
    assert!(!memory.has(LOG) && !memory.has(MARKS));
    // D47, D51: one, into a folder that has none. D48: two more of one call.
    memory.stated = all[..1].to_vec();
    memory.consolidate(FileLayout::Daycare);
    let first = "## 2026-02-21 14:30\n- **Text**: tests first\n- **Context**: preference (typed) ";
    let text = memory.read(LOG);
    assert!(text.starts_with(first) && text.ends_with("]\n\n"), "{text}");
    assert_eq!(text.lines().count(), 4, "{text}");
    // D50: a header that is there stays.
    memory.folder.save(LOG, format!("# Observations\n\n{text}"));
    memory.stated = all;
    memory.consolidate(FileLayout::Daycare);
    let more = memory.read(LOG);
    assert!(
        more.starts_with(&format!("# Observations\n\n{text}## 2026-02-21 14:31\n")),
        "{more}"
    );
    assert_eq!(more.matches("- **Text**: ").count(), 4, "{more}");
    assert!(!more.contains('^'), "{more}");
    let before = memory.files();
    memory.consolidate(FileLayout::Daycare);
    assert_eq!(memory.files(), before);
    memory.folder.assert_is_head();
}

#[test]
fn m7_each_memory_is_a_line_of_mindroom_in_the_file_of_its_day() {
    let memory = Memory::new();
    memory.consolidate(FileLayout::Mindroom);
    let day = memory.read("daily/2026-02-21.md");
    let lines: Vec<&str> = day.lines().collect();
    assert_eq!(lines.len(), 2, "{day}");
    assert!(lines[0].starts_with("- [id=m_20260221143000_"), "{day}");
    assert!(
        lines[0].ends_with("] tests first") && lines[0].contains("] [auto_flush:"),
        "{day}"
    );
    assert!(
        lines[1].ends_with("] decided: postgres for the ledger"),
        "{day}"
    );
    assert!(memory.has("daily/2026-02-22.md") && memory.has("daily/2026-02-23.md"));
    assert!(!memory.has("sessions/") && !memory.has(LOG));
}

#[test]
fn a_late_observation_stands_where_its_time_is_beside_a_persons_words() {
    for (layout, file) in [
        (FileLayout::Daycare, LOG),
        (FileLayout::Mindroom, "daily/2026-02-21.md"),
    ] {
        let mut memory = Memory::new();
        let late = memory.stated.remove(0);
        memory.consolidate(layout);
        memory.edit(file, |text| format!("My log.\n\n{text}"));
        memory.stated.insert(0, late);
        memory.consolidate(layout);
        let text = memory.read(file);
        assert!(text.starts_with("My log.\n\n"), "{text}");
        let place = |words: &str| text.find(words).expect("it is logged");
        assert!(place("tests first") < place("postgres"), "{text}");
    }
}

#[test]
fn a_log_stays_though_no_other_page_has_a_line() {
    for layout in [FileLayout::Daycare, FileLayout::Mindroom] {
        let memory = Memory::new();
        let (_, mut shown) = memory.consolidate(layout);
        let before = memory.read(file_of(layout));
        for page in [
            &mut shown.curated,
            &mut shown.summary,
            &mut shown.branches,
            &mut shown.names,
        ] {
            page.sections.clear();
        }
        let (lock, rule) = (lock(&memory.folder.folder), Orphans::Remove);
        let written = write_pages(&lock, &shown, rule, &stamp(), "Post", &|| true).unwrap();
        assert_eq!(written.unwritten, []);
        assert!(!before.is_empty());
        assert_eq!(memory.read(file_of(layout)), before, "{layout:?}");
    }
}

/// The file of a layout that shows the first statement as a whole, in a line of its own.
fn file_of(layout: FileLayout) -> &'static str {
    match layout {
        FileLayout::Daycare => LOG,
        FileLayout::Mindroom => "daily/2026-02-21.md",
        FileLayout::Daybook | FileLayout::Codex => "MEMORY.md",
    }
}

#[test]
fn a_persons_edit_of_a_layouts_line_is_theirs_everywhere_and_stays() {
    for layout in LAYOUTS {
        let memory = Memory::new();
        memory.consolidate(layout);
        let file = file_of(layout);
        memory.edit(file, |text| text.replacen("tests first", "tests last", 1));
        memory.consolidate(layout);
        memory.consolidate(layout);
        assert!(memory.read(file).contains("tests last"), "{layout:?}");
        let curated = memory.read("MEMORY.md");
        assert!(
            curated.contains("tests last") && !curated.contains("tests first"),
            "{curated}"
        );
        assert_eq!(memory.read(file).matches("tests").count(), 1, "{layout:?}");
    }
}

#[test]
fn a_line_that_a_person_deletes_is_gone_and_is_not_written_again() {
    for layout in [FileLayout::Daycare, FileLayout::Mindroom] {
        let memory = Memory::new();
        memory.consolidate(layout);
        let file = file_of(layout);
        let is_first =
            |line: &str| line.contains("tests first") || line.contains("preference (typed)");
        let before = memory.read(file);
        let whole = match layout {
            FileLayout::Daycare => before.split_once("\n\n").map(|(_, rest)| rest.to_owned()),
            _ => None,
        };
        let left = before
            .lines()
            .filter(|line| !is_first(line))
            .map(|line| format!("{line}\n"));
        memory
            .folder
            .save(file, whole.unwrap_or_else(|| left.collect()));
        let (changes, _) = memory.consolidate(layout);
        let gone = &changes.gone[&FilePath::new(file).unwrap()];
        assert_eq!(gone.len(), 1, "{layout:?}");
        assert!(!memory.read(file).contains("tests first"), "{layout:?}");
    }
}

#[test]
fn a_person_who_loses_the_list_beside_the_log_loses_nothing() {
    let memory = Memory::new();
    memory.consolidate(FileLayout::Daycare);
    let before = memory.files();
    memory.folder.remove(MARKS);
    let (changes, _) = memory.consolidate(FileLayout::Daycare);
    assert_eq!(changes.gone, BTreeMap::new());
    assert_eq!(memory.files(), before);
    memory.edit(MARKS, |marks| marks.replacen(' ', " f", 1));
    let (changes, _) = memory.consolidate(FileLayout::Daycare);
    assert_eq!(changes.gone, BTreeMap::new());
    assert_eq!(memory.read(LOG), before[LOG]);
}

#[test]
fn blocks_and_lines_are_found_by_their_place() {
    let memory = Memory::new();
    memory.consolidate(FileLayout::Daycare);
    let path = FilePath::engine_file(LOG);
    let text = page_text(memory.folder.folder.root(), &path).unwrap();
    let lines = lines_of(&path, &text);
    let shown: Vec<(usize, &str)> = lines
        .iter()
        .map(|one| (one.line, one.text.as_str()))
        .collect();
    assert_eq!(
        shown[..2],
        [(2, "tests first"), (6, "decided: postgres for the ledger")]
    );
    let named: Vec<usize> = (1..=8).map(|line| main_line(&text, line)).collect();
    assert_eq!(named, [2, 2, 2, 2, 6, 6, 6, 6]);
}

/// Words of a person in a folder: a topic, a note of their own, a section, a changed line, a line of their own.
fn add_persons_words(memory: &Memory, layout: FileLayout) {
    memory
        .folder
        .save("topics/tides.md", "# Tides\n\nThey come twice a day.\n");
    memory.edit("MEMORY.md", |text| {
        format!("{text}\n## My own\n\nNever on Fridays.\n")
    });
    let file = file_of(layout);
    memory.edit(file, |text| text.replacen("tests first", "tests last", 1));
    if file != "MEMORY.md" {
        memory.edit(file, |text| format!("{text}\nMine, by hand.\n"));
    }
}

#[test]
fn every_layout_is_converted_into_every_other_one_and_back_with_a_persons_words() {
    for from in LAYOUTS {
        for to in LAYOUTS.into_iter().filter(|to| *to != from) {
            let memory = Memory::new();
            memory.consolidate(from);
            add_persons_words(&memory, from);
            memory.consolidate(from);
            let before = memory.files();
            let root = memory.folder.folder.root();
            assert!(differs(root, to) && !differs(root, from));

            memory.consolidate(to);
            let pair = format!("{from:?} to {to:?}");
            let all: String = memory.files().into_values().collect();
            for words in [
                "They come twice a day.",
                "## My own\n\nNever on Fridays.\n",
                "tests last",
            ] {
                assert!(all.contains(words), "{pair}: {words}");
            }
            assert!(!all.contains("tests first"), "{pair}: {all}");
            assert_eq!(
                all.contains("Mine, by hand."),
                file_of(from) != "MEMORY.md",
                "{pair}"
            );
            assert!(memory.read("MEMORY.md").contains("tests last"), "{pair}");
            let logged = "the harbour is in Bergen";
            let of_layout = match to {
                FileLayout::Daycare => memory.read(LOG).contains(logged),
                FileLayout::Mindroom => memory.read("daily/2026-02-22.md").contains(logged),
                FileLayout::Codex => memory.read("raw_memories.md").contains(logged),
                FileLayout::Daybook => memory.has("sessions/"),
            };
            assert!(of_layout, "{pair}: {:#?}", memory.files());

            memory.consolidate(from);
            assert_eq!(memory.files(), before, "{pair} and back");
            memory.folder.assert_is_head();
        }
    }
}

#[test]
fn files_of_an_earlier_layout_that_no_person_touched_go() {
    for from in LAYOUTS {
        for to in LAYOUTS.into_iter().filter(|to| *to != from) {
            let memory = Memory::new();
            memory.consolidate(from);
            let before = memory.files();
            memory.consolidate(to);
            let fresh = Memory::new();
            fresh.consolidate(to);
            assert_eq!(memory.files(), fresh.files(), "{from:?} to {to:?}");
            memory.consolidate(from);
            assert_eq!(memory.files(), before, "{from:?} to {to:?} and back");
        }
    }
}
