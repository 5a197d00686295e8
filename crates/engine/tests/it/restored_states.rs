//! Any past state of a memory folder is restored byte for byte, whatever happened to the memory before and since.
//!
//! A seed decides what happens: sessions are imported, some older than all others, and imports undone; a person writes
//! notes, edits files by hand, and forgets, rewords, pins, takes changes back and restores older states. Afterwards every
//! state is restored, in a random order, by its commit or by its time.
//!
//! `RESTORED_STATES=1000 cargo test --release -p daybook-engine --test it any_past_state` makes that many.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::page::read_all;
use daybook_domain::seams::{ImportStore, Store};
use daybook_domain::trigger::DueLimits;
use daybook_domain::{Origin, Place, Scope, Tenant, Timestamp};
use daybook_engine::append::IngestContext;
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::files::history::{Commit, CommitHash};
use daybook_engine::files::states::{FoundState, StateName};
use daybook_engine::files::{FilesConfig, Folder, LockOutcome, layout, stamp::Person};
use daybook_engine::import::{import, scan};
use daybook_engine::jobs::memories::{Memory, memories};
use daybook_engine::jobs::persons_word::{ChangeOutcome, PersonsChange, change};
use daybook_engine::jobs::{MemorySource, WorkLimits, WorkerContext, remember, work};
use daybook_engine::projects::settle::settle_new_roots;
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::project_scope;
use daybook_testkit::simulation::SeededRandom;
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use serde_json::json;
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores::{TestStore, in_memory};

/// States that a usual run makes.
const STATES: usize = 40;
/// Most steps for each state: some change nothing.
const STEPS_FOR_STATE: usize = 4;
/// Commits among which one is chosen to be taken back.
const RECENT: usize = 20;
/// First second of the sessions.
const BEGIN: u64 = 1_767_600_000;
/// Restores after which something new is learned.
const BETWEEN_NOTES: usize = 5;
/// The next state is at least this much later than the one before.
const BETWEEN: Duration = Duration::from_secs(60);

const SUBJECTS: [&str; 5] = ["ledger", "harbour", "tide table", "pilot boat", "größe"];
const STATEMENTS: [&str; 7] = [
    "let's use postgres for the SUBJECT",
    "let's use sqlite for the SUBJECT instead of postgres",
    "never deploy the SUBJECT on day N of the week",
    "please always run the SUBJECT checks N times before you push",
    "set the SUBJECT limit to N entries",
    "the SUBJECT server runs on port N",
    "we decided to keep the backups of the SUBJECT in box N and not in the cellar",
];

/// All files of a folder but those of git, by their paths.
type FileBytes = BTreeMap<PathBuf, Vec<u8>>;

/// A state as it was when it was the newest.
struct PastState {
    commit: CommitHash,
    at: Timestamp,
    files: FileBytes,
}

/// A project's memory, and the numbers that decide what happens to it.
struct ChangingMemory {
    random: SeededRandom,
    clock: Arc<ManualClock>,
    worker: WorkerContext,
    intake: IngestContext,
    scope: Scope,
    root: TempDir,
    sessions: u64,
    states: Vec<PastState>,
    _made: TestStore,
}

impl ChangingMemory {
    fn new(seed: u64, made: TestStore) -> Self {
        let root = TempDir::new().expect("a temporary folder can be made");
        let clock = Arc::new(ManualClock::at(Timestamp(
            (BEGIN as i64 + 40_000_000) * 1000,
        )));
        let worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: None,
            before_files: None,
            root: root.path().join("data"),
            clock: clock.clone(),
            extractor: Arc::new(Extractive),
            consolidation_model: None,
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Default::default(),
            redactor: Redactor::standard(),
            limits: WorkLimits::default(),
        };
        let intake = IngestContext {
            teams: Default::default(),
            store: Arc::clone(&made.store),
            clock: clock.clone(),
            tenant: Tenant::local(),
            patience: DueLimits::default(),
            switches: Default::default(),
            redactor: Arc::new(Redactor::standard()),
            readers: 1,
        };
        Self {
            random: SeededRandom::of(seed),
            clock,
            worker,
            intake,
            scope: project_scope("tidepool"),
            root,
            sessions: 0,
            states: Vec::new(),
            _made: made,
        }
    }

    fn store(&self) -> &dyn Store {
        &*self.worker.store
    }

    fn path(&self) -> PathBuf {
        layout::folder(&self.worker.root, &self.scope)
    }

    fn folder(&self) -> Folder {
        Folder::open(self.path(), FilesConfig::default()).expect("a folder can be opened")
    }

    fn files(&self) -> FileBytes {
        let mut files = FileBytes::new();
        read_files(&self.path(), &mut files);
        files
    }

    /// Makes one change at random, lets everything that is due be done, and keeps the state if it is a new one.
    async fn step(&mut self) {
        self.clock.advance(BETWEEN);
        match self.random.below(16) {
            _ if self.sessions == 0 => self.import_session().await,
            0..=3 => self.import_session().await,
            4 => self.undo_import().await,
            5 => self.note().await,
            6..=8 => self.edit_by_hand(),
            9 => self.forget().await,
            10 => self.reword().await,
            11 | 12 => self.pin().await,
            13 | 14 => self.take_back().await,
            _ => self.go_back().await,
        }
        self.work().await;
        self.keep_state();
    }

    async fn work(&self) {
        let report = work(&self.worker, &Stop::default(), &SilentProgress).await;
        assert_eq!(report.expect("the store works").failed, []);
        // What a person edited is committed by the next command that reads the folder.
        let folder = self.folder();
        let LockOutcome::Held(lock) = folder.try_lock(Duration::ZERO).expect("a lock") else {
            panic!("nothing else writes the folder");
        };
        lock.settle(&self.worker.stamp())
            .expect("it can be written");
    }

    fn keep_state(&mut self) {
        let Some(commit) = self.folder().head().expect("a sound history") else {
            return;
        };
        if self.states.last().is_some_and(|last| last.commit == commit) {
            return;
        }
        let at = Timestamp(self.worker.stamp().time_ms);
        let files = self.files();
        self.states.push(PastState { commit, at, files });
    }

    async fn import_session(&mut self) {
        self.sessions += 1;
        let number = self.sessions;
        // One of eight is older than all before.
        let day = match self.random.below(8) {
            0 => 1_000 - number.min(1_000),
            _ => 1_000 + number,
        };
        let logs = self.root.path().join("logs");
        fs::create_dir_all(&logs).expect("a folder can be made");
        let log = logs.join(format!("{number}.jsonl"));
        let text = self.transcript(number, BEGIN + day * 20_000);
        fs::write(&log, text).expect("a file can be written");
        let stop = Stop::default();
        let name = number.to_string();
        let importing = import(&self.intake, &name, scan(&[log]), &stop, &SilentProgress);
        importing.await.expect("it is imported");
        let now = self.worker.clock.now();
        let settled = settle_new_roots(self.store(), &self.worker.tenant, now).await;
        settled.expect("the store works");
    }

    /// A transcript in which a person states a few things.
    fn transcript(&mut self, number: u64, mut second: u64) -> String {
        let mut text = String::new();
        for n in 0..2 + self.random.below(3) {
            let words = self.statement();
            for (role, words) in [("user", words), ("assistant", "Done.".to_owned())] {
                second += 20;
                let at = jiff::Timestamp::from_second(second as i64).expect("a time of this age");
                let line = json!({
                    "type": role,
                    "message": {"role": role, "content": words},
                    "uuid": format!("{number}-{n}-{role}"),
                    "sessionId": format!("5ca1{number:04x}-0000-4000-8000-000000000000"),
                    "cwd": "/nowhere/ada/tidepool",
                    "gitBranch": format!("work-{}", number / 3),
                    "timestamp": at.to_string(),
                });
                text.push_str(&format!("{line}\n"));
            }
        }
        text
    }

    fn statement(&mut self) -> String {
        let subject = *self.random.one(&SUBJECTS);
        let number = self.random.below(7).to_string();
        let statement = self.random.one(&STATEMENTS);
        statement.replace("SUBJECT", subject).replace('N', &number)
    }

    async fn undo_import(&mut self) {
        let tenant = &self.worker.tenant;
        let imports = read_all(|page| ImportStore::imports(self.store(), tenant, page)).await;
        let imports = imports.expect("the store works");
        let import = self.random.one(&imports).no;
        let now = self.worker.clock.now();
        let undone = self.store().undo_import(&self.worker.tenant, import, now);
        undone.await.expect("the store works");
    }

    async fn note(&mut self) {
        let words = format!("{}, says the note", self.statement());
        let place = Place {
            root: "/nowhere/ada/tidepool".to_owned(),
            branch: None,
        };
        let redactor = Redactor::standard();
        let scope = self.scope.clone();
        let noted = remember(
            &self.worker,
            &redactor,
            &words,
            scope,
            Some(place),
            Origin::Human,
        );
        noted.await.expect("the store works");
    }

    /// A person edits, adds or removes one file.
    fn edit_by_hand(&mut self) {
        let files = self.files();
        let number = self.random.below(100);
        let own = self.path().join(format!("topics/own {}.md", number % 5));
        let present: Vec<PathBuf> = files.into_keys().chain([own]).collect();
        let path = self.path().join(self.random.one(&present));
        let bytes = fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let line = self.random.index(lines.len().max(1));
        let without = || {
            [&lines[..line], &lines[(line + 1).min(lines.len())..]]
                .concat()
                .concat()
        };
        let new = match self.random.below(6) {
            0 => without().into_bytes(),
            1 => format!("{text}my own line {number}\r\n").into_bytes(),
            2 => format!("my own line {number}\n{text}").into_bytes(),
            3 => text.replace('e', "é").into_bytes(),
            4 => [&bytes[..], &[0xff, 0x00, number as u8]].concat(),
            _ => {
                // It may not be there yet.
                let _ = fs::remove_file(&path);
                return;
            }
        };
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        fs::write(path, new).expect("it can be written");
    }

    async fn memories(&self, is_fit: impl Fn(&Memory) -> bool) -> Vec<Memory> {
        let source = MemorySource::from(&self.worker);
        let all = memories(source, &self.worker.root, &self.scope).await;
        let mut all = all.expect("the folder can be read");
        all.retain(is_fit);
        all
    }

    async fn forget(&mut self) {
        let all = self.memories(|_| true).await;
        if !all.is_empty() {
            let one = self.random.one(&all).clone();
            let _ = self.change(PersonsChange::Forget(vec![one])).await;
        }
    }

    async fn reword(&mut self) {
        let all = self.memories(|one| !one.lines.is_empty()).await;
        if !all.is_empty() {
            let words = format!("In other words: {}", self.statement());
            let line = self.random.one(&all).lines[0].clone();
            let _ = self.change(PersonsChange::Edit(line, words)).await;
        }
    }

    async fn pin(&mut self) {
        let all = self.memories(|one| one.entry.is_some() && !one.observations.is_empty());
        let all = all.await;
        if !all.is_empty() {
            let one = self.random.one(&all).clone();
            let wanted = match one.lines.iter().any(|line| line.is_pinned) {
                true => PersonsChange::Unpin(one),
                false => PersonsChange::Pin(one),
            };
            let _ = self.change(wanted).await;
        }
    }

    async fn take_back(&mut self) {
        let commits = self.folder().log(RECENT).expect("a sound history");
        if !commits.is_empty() {
            let commit = self.random.one(&commits).clone();
            let _ = self.change(PersonsChange::Undo(commit)).await;
        }
    }

    async fn go_back(&mut self) {
        if !self.states.is_empty() {
            let state = self.random.index(self.states.len());
            self.restore(state).await;
        }
    }

    async fn change(&self, wanted: PersonsChange) -> ChangeOutcome {
        let made = change(&self.worker, &self.scope, &wanted, &Person::named("ada")).await;
        let made = made.expect("the folder can be written");
        assert_ne!(made, ChangeOutcome::Busy);
        made
    }

    /// Restores a state by its commit or by its time, and compares every byte.
    async fn restore(&mut self, state: usize) {
        self.clock.advance(BETWEEN);
        let commit = self.find(state);
        let _ = self.change(PersonsChange::Restore(commit)).await;
        self.assert_is(state);
        // The next one begins where a person's memory is after a restore.
        self.work().await;
    }

    fn find(&mut self, state: usize) -> Commit {
        let PastState { commit, at, .. } = &self.states[state];
        let name = match self.random.below(2) {
            0 => StateName::At(*at),
            _ => StateName::of_commit(&commit.to_string()).expect("it is an id"),
        };
        match self.folder().find_state(&name).expect("a sound history") {
            FoundState::One(found) if found.id == *commit => found,
            other => panic!("{name:?} leads to {other:?}, and not to {commit}"),
        }
    }

    fn assert_is(&self, state: usize) {
        let (found, expected) = (self.files(), &self.states[state].files);
        let names = found.keys().eq(expected.keys());
        assert!(
            names,
            "state {state}: {:?} {:?}",
            found.keys(),
            expected.keys()
        );
        for (name, bytes) in expected {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (left, right) = (text(&found[name]), text(bytes));
            assert_eq!(left, right, "state {state}: {}", name.display());
            assert!(found[name] == *bytes, "state {state}: {}", name.display());
        }
    }

    /// The numbers of all states, each once.
    fn shuffled(&mut self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.states.len()).collect();
        for last in (1..all.len()).rev() {
            all.swap(last, self.random.index(last + 1));
        }
        all
    }
}

fn read_files(folder: &Path, files: &mut FileBytes) {
    let mut left = vec![folder.to_owned()];
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten() {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                left.extend((!path.ends_with(".git")).then_some(path));
                continue;
            }
            let name = path.strip_prefix(folder).expect("it is below").to_owned();
            files.insert(name, fs::read(&path).expect("it can be read"));
        }
    }
}

#[test]
fn any_past_state_is_restored_byte_for_byte_after_random_changes() {
    let wanted = std::env::var("RESTORED_STATES").map_or(STATES, |number| {
        number.parse().expect("RESTORED_STATES is a number")
    });
    run(async {
        let mut memory = ChangingMemory::new(2026, in_memory().expect("it needs nothing"));
        let mut steps = 0;
        while memory.states.len() < wanted {
            memory.step().await;
            steps += 1;
            let made = memory.states.len();
            assert!(
                steps <= wanted * STEPS_FOR_STATE,
                "{steps} steps made {made} states"
            );
        }
        let before = memory.folder().log(usize::MAX).expect("a sound history");
        for (restored, state) in memory.shuffled().into_iter().enumerate() {
            if restored % BETWEEN_NOTES == 0 {
                memory.clock.advance(BETWEEN);
                memory.note().await;
                memory.work().await;
            }
            memory.restore(state).await;
        }
        let after = memory.folder().log(usize::MAX).expect("a sound history");
        assert!(after.ends_with(&before), "history was rewritten");
    });
}
