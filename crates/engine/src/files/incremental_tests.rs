//! What is kept between consolidations changes nothing: whatever happens, the files are those of a build from nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use daybook_domain::extraction::CitedText;
use daybook_domain::{
    Digest, EventSeq, ExtractionRecord, Observation, Outcome, Provenance, SessionId,
};
use daybook_testkit::fixtures::{at, evidence, observation, project_scope, session};
use jiff::tz::TimeZone;
use proptest::collection::vec;
use proptest::prelude::*;

use super::error::FilesError;
use super::folder_test_support::{TestFolder, lock, stamp};
use super::page::Orphans;
use super::persons_changes::{keep_returned, persons_changes};
use super::persons_lines::PersonsLines;
use super::steps::StepObserver;
use super::write_pages::write_pages;
use crate::consolidate::{FileLayout, MemoryInput, ParsedTexts, consolidate, consolidate_parsed};

const SUBJECTS: [&str; 3] = ["ledger", "harbour", "tide table"];
const STATEMENTS: [&str; 7] = [
    "let's use postgres for the SUBJECT",
    "let's use sqlite for the SUBJECT instead of postgres",
    "never deploy the SUBJECT on fridays",
    "please deploy the SUBJECT on fridays again",
    "always run the SUBJECT tests before the 3 linters",
    "run the SUBJECT tests before the 3 linters, always",
    "we don't need the SUBJECT any more",
];

/// The session that is older than all others.
const OLD_SESSION: u8 = 6;

/// What happens before a consolidation.
#[derive(Debug, Clone)]
enum MemoryEvent {
    /// A session states something.
    State {
        session: u8,
        statement: usize,
        subject: usize,
    },
    /// A session that is older than all others states something.
    StateEarlier { statement: usize, subject: usize },
    /// The statement is gone from the store, by its place.
    Remove(usize),
    /// A person withdraws the statement: its events are not quoted either.
    Forget(usize),
    /// A session goes on, and its digest changes: it ends in another way, with the same number of letters.
    GoOn(u8),
    /// The project gets another name of the same length.
    Rename,
    /// The person is in another time zone.
    Travel,
    /// A person changes a file in place, without a change of its size.
    Overwrite { file: usize, line: usize },
    /// A person deletes a line of a file.
    DeleteLine { file: usize, line: usize },
    /// A person adds a line to a file.
    AddLine { file: usize },
    /// A person deletes a file.
    DeleteFile(usize),
    /// Settings ask for another layout.
    SwitchLayout(FileLayout),
    /// The process ends, and the next one reads what it stored.
    Restart,
    /// The next consolidation is killed before one of its steps, and then repeated.
    Kill(usize),
}

fn event() -> impl Strategy<Value = MemoryEvent> {
    use MemoryEvent as Event;
    let (file, line) = (0_usize..12, 0_usize..12);
    prop_oneof![
        6 => (0_u8..6, 0..STATEMENTS.len(), 0..SUBJECTS.len()).prop_map(
            |(session, statement, subject)| Event::State { session, statement, subject }
        ),
        1 => (0..STATEMENTS.len(), 0..SUBJECTS.len()).prop_map(
            |(statement, subject)| Event::StateEarlier { statement, subject }
        ),
        1 => (0_usize..12).prop_map(Event::Remove),
        1 => (0_usize..12).prop_map(Event::Forget),
        2 => (0_u8..6).prop_map(Event::GoOn),
        1 => Just(Event::Rename),
        1 => Just(Event::Travel),
        1 => (file.clone(), line.clone()).prop_map(|(file, line)| Event::Overwrite { file, line }),
        1 => (file.clone(), line).prop_map(|(file, line)| Event::DeleteLine { file, line }),
        1 => file.clone().prop_map(|file| Event::AddLine { file }),
        1 => file.prop_map(Event::DeleteFile),
        1 => prop::sample::select(vec![FileLayout::Daybook, FileLayout::Daycare, FileLayout::Mindroom])
            .prop_map(Event::SwitchLayout),
        1 => Just(Event::Restart),
        1 => (0_usize..40).prop_map(Event::Kill),
    ]
}

/// A folder whose consolidations keep what they can, and one whose consolidations begin with nothing.
struct TwoMemories {
    keeping: TestFolder,
    anew: TestFolder,
    texts: ParsedTexts,
    stored: Vec<u8>,
    stated: Vec<(u8, Observation)>,
    /// All that was ever stated, by session and time.
    said: Vec<(u8, u64)>,
    forgotten: BTreeSet<(SessionId, EventSeq)>,
    /// How often each session went on.
    course: BTreeMap<u8, usize>,
    is_renamed: bool,
    zone: TimeZone,
    layout: FileLayout,
    now: u64,
    earliest: u64,
    kill_at: Option<usize>,
}

impl TwoMemories {
    fn new() -> Self {
        Self {
            keeping: TestFolder::new(),
            anew: TestFolder::new(),
            texts: ParsedTexts::default(),
            stored: Vec::new(),
            stated: Vec::new(),
            said: Vec::new(),
            forgotten: BTreeSet::new(),
            course: BTreeMap::new(),
            is_renamed: false,
            zone: TimeZone::UTC,
            layout: FileLayout::Daybook,
            now: 100_000,
            earliest: 100_000,
            kill_at: None,
        }
    }

    fn happen(&mut self, event: &MemoryEvent) {
        match *event {
            MemoryEvent::State {
                session,
                statement,
                subject,
            } => {
                self.now += 60;
                self.state(session, self.now, (statement, subject));
            }
            MemoryEvent::StateEarlier { statement, subject } => {
                self.earliest -= 60;
                self.state(OLD_SESSION, self.earliest, (statement, subject));
            }
            MemoryEvent::Remove(place) if !self.stated.is_empty() => {
                self.stated.remove(place % self.stated.len());
            }
            MemoryEvent::Forget(place) if !self.stated.is_empty() => {
                let (_, gone) = self.stated.remove(place % self.stated.len());
                for piece in gone.evidence {
                    let events = piece.events.into_iter();
                    let events = events.map(|event| (piece.session.clone(), event));
                    self.forgotten.extend(events);
                }
            }
            MemoryEvent::Remove(_) | MemoryEvent::Forget(_) => {}
            MemoryEvent::GoOn(session) => *self.course.entry(session).or_default() += 1,
            MemoryEvent::Rename => self.is_renamed = !self.is_renamed,
            MemoryEvent::Travel => {
                let hours = if self.zone == TimeZone::UTC { 9 } else { 0 };
                self.zone = TimeZone::fixed(jiff::tz::offset(hours));
            }
            MemoryEvent::Overwrite { file, line } => self.edit(file, |text| {
                changed_line(text, line, |line| line.replace(['e', 'E'], "_"))
            }),
            MemoryEvent::DeleteLine { file, line } => {
                self.edit(file, |text| changed_line(text, line, |_| String::new()));
            }
            MemoryEvent::AddLine { file } => self.edit(file, |text| format!("{text}my own line\n")),
            MemoryEvent::DeleteFile(file) => {
                if let Some(path) = self.path_of(file) {
                    self.keeping.remove(&path);
                    self.anew.remove(&path);
                }
            }
            MemoryEvent::SwitchLayout(layout) => self.layout = layout,
            MemoryEvent::Restart => self.texts = ParsedTexts::decode(&self.stored),
            MemoryEvent::Kill(step) => self.kill_at = Some(step),
        }
    }

    fn state(&mut self, host_id: u8, at: u64, (statement, subject): (usize, usize)) {
        self.said.push((host_id, at));
        let text = STATEMENTS[statement].replace("SUBJECT", SUBJECTS[subject]);
        let piece = evidence(&session(&format!("s{host_id}")), &[at]);
        let scope = project_scope("tidepool");
        let new = observation(&scope, &text, vec![piece.clone()]);
        match self.stated.iter_mut().find(|(_, known)| known.id == new.id) {
            Some((_, known)) => {
                known.evidence.push(piece);
                known.evidence.sort_by_key(|piece| piece.at);
            }
            None => self.stated.push((host_id, new)),
        }
    }

    fn path_of(&self, file: usize) -> Option<String> {
        let files: Vec<String> = self.keeping.work_tree().into_keys().collect();
        files.get(file % files.len().max(1)).cloned()
    }

    fn edit(&self, file: usize, change: impl Fn(&str) -> String) {
        if let Some(path) = self.path_of(file) {
            let text = self.keeping.read(&path).unwrap();
            self.keeping.save(&path, change(&text));
            self.anew.save(&path, change(&text));
        }
    }

    fn input(&self, memory: &TestFolder) -> MemoryInput {
        let observations: Vec<Observation> =
            self.stated.iter().map(|(_, one)| one.clone()).collect();
        let sessions: BTreeSet<u8> = self.stated.iter().map(|(session, _)| *session).collect();
        let persons = PersonsLines::load(&memory.folder).unwrap();
        let mut persons = persons.about(&observations);
        persons.forgotten.clone_from(&self.forgotten);
        let title = if self.is_renamed {
            "rockpool"
        } else {
            "tidepool"
        };
        let sessions = sessions.into_iter();
        MemoryInput {
            scope: project_scope("tidepool"),
            title: title.to_owned(),
            person: "ada".to_owned(),
            persons,
            observations,
            extractions: sessions.map(|session| self.record(session)).collect(),
            uses: Vec::new(),
            proposals: Vec::new(),
            zone: self.zone.clone(),
            layout: self.layout,
        }
    }

    /// A session quotes all that was stated in it; its page shows the quotes that no statement repeats.
    fn record(&self, host_id: u8) -> ExtractionRecord {
        let host_id_text = format!("s{host_id}");
        let course = self.course.get(&host_id).copied().unwrap_or_default();
        let quoted = |text: String, event: u64| CitedText {
            text,
            events: vec![EventSeq(event)],
            lines: vec![1],
        };
        let said = self.said.iter().filter(|(by, _)| *by == host_id);
        let outcomes = [Outcome::Success, Outcome::Partial];
        ExtractionRecord {
            session: session(&host_id_text),
            label: host_id_text,
            from: EventSeq(1),
            to: EventSeq(9),
            digest: Some(Digest {
                task: Some(quoted(format!("look into part {host_id}"), 1)),
                outcome: Some(outcomes[course % 2]),
                last_words: Some(quoted(format!("part {} is next", course % 10), 2)),
                highlights: said
                    .map(|(_, event)| quoted(format!("it was said at {event}"), *event))
                    .collect(),
                from_at: at(u64::from(host_id) * 50_000),
                to_at: at(u64::from(host_id) * 50_000 + 60),
                ..Digest::default()
            }),
            provenance: Provenance::of("extractive/1"),
            at: at(1),
        }
    }

    fn consolidate(&mut self) {
        if let Some(step) = self.kill_at.take() {
            // It may end before the step is reached.
            let _ = self.consolidate_keeping(stopping_before(step));
        }
        self.consolidate_keeping(StepObserver::default()).unwrap();
        self.stored = self.texts.encode_changed().unwrap_or(self.stored.clone());

        let _ = fs::remove_file(self.anew.at(".git/daybook/settled"));
        let lock = lock(&self.anew.folder);
        let changes = persons_changes(&lock, &stamp()).unwrap();
        let memory = consolidate(&self.input(&self.anew));
        keep_returned(&lock, &changes, &memory).unwrap();
        let rule = Orphans::Remove;
        let _ = write_pages(&lock, &memory, rule, &stamp(), "Post", &|| true).unwrap();
    }

    fn consolidate_keeping(&mut self, steps: StepObserver) -> Result<(), FilesError> {
        let folder = self.keeping.folder.clone().with_step_observer(steps);
        let lock = lock(&folder);
        let changes = persons_changes(&lock, &stamp())?;
        let input = self.input(&self.keeping);
        let memory = consolidate_parsed(input.clone(), &mut self.texts);
        assert_eq!(memory, consolidate(&input));
        keep_returned(&lock, &changes, &memory)?;
        let rule = Orphans::Remove;
        let _ = write_pages(&lock, &memory, rule, &stamp(), "Post", &|| true)?;
        Ok(())
    }
}

fn changed_line(text: &str, line: usize, change: impl Fn(&str) -> String) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = line % lines.len().max(1);
    let changed = lines.iter().enumerate().map(|(n, line)| match n == at {
        true => change(line),
        false => (*line).to_owned(),
    });
    changed.collect()
}

fn stopping_before(step: usize) -> StepObserver {
    let reached = AtomicUsize::new(0);
    StepObserver::observing(
        move |_| match reached.fetch_add(1, Ordering::SeqCst) >= step {
            true => Err(io::Error::other("killed")),
            false => Ok(()),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn what_is_kept_between_consolidations_changes_no_file(
        rounds in vec(vec(event(), 1..4), 1..9),
    ) {
        let mut memories = TwoMemories::new();
        for events in &rounds {
            for event in events {
                memories.happen(event);
            }
            memories.consolidate();
            let (kept, anew) = (memories.keeping.work_tree(), memories.anew.work_tree());
            prop_assert_eq!(texts(kept), texts(anew));
            memories.keeping.assert_is_head();
        }
    }
}

fn texts(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, String> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let files = files.into_iter();
    files.map(|(path, bytes)| (path, text(bytes))).collect()
}

#[test]
fn pages_that_did_not_change_are_known_as_settled() {
    let mut memories = TwoMemories::new();
    for session in 0..6 {
        memories.happen(&MemoryEvent::State {
            session,
            statement: usize::from(session),
            subject: 0,
        });
    }
    memories.consolidate();
    let list = memories.keeping.at(".git/daybook/settled");
    let pages = memories.keeping.work_tree().len();
    let first = fs::read(&list).unwrap();
    assert_eq!(first.len(), pages * 16);
    memories.consolidate();
    assert_eq!(fs::read(&list).unwrap(), first);
    memories.edit(pages - 1, |text| format!("{text}my own line\n"));
    memories.consolidate();
    let edited = fs::read(&list).unwrap();
    let numbers =
        |bytes: &[u8]| -> BTreeSet<Vec<u8>> { bytes.chunks(16).map(<[u8]>::to_vec).collect() };
    assert_eq!(numbers(&edited).difference(&numbers(&first)).count(), 1);
}
