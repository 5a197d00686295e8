//! Crash tests: a writer is stopped at each of its steps, and a person edits at each of them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::files::folder::{FileDurability, FilesConfig};
use crate::files::folder_test_support::{TestFolder, as_changes, save};
use crate::files::history::CommitHash;
use crate::files::steps::StepObserver;
use crate::files::write::{FinishedWrite, Recovery, WriteOutcome};

/// An edit by hand before a step of the writer: `None` deletes.
#[derive(Clone)]
struct PersonEdit {
    step: usize,
    place: PathBuf,
    bytes: Option<Vec<u8>>,
}

impl PersonEdit {
    /// Makes the edit; `false` if there was nothing to delete.
    fn make(&self) -> bool {
        match &self.bytes {
            Some(bytes) => {
                save(&self.place, bytes);
                true
            }
            None => std::fs::remove_file(&self.place).is_ok(),
        }
    }
}

/// Stops a writer before the step with a given number, and lets a person act before others.
#[derive(Clone, Default)]
struct StepScript {
    stop_at: Option<usize>,
    edits: Vec<PersonEdit>,
    seen: Arc<Mutex<Vec<WriteStep>>>,
    made: Arc<Mutex<Vec<PersonEdit>>>,
}

impl StepScript {
    fn stopped_at(step: usize) -> Self {
        Self {
            stop_at: Some(step),
            ..Self::default()
        }
    }

    fn with_edit(mut self, step: usize, place: PathBuf, bytes: Option<&[u8]>) -> Self {
        self.edits.push(PersonEdit {
            step,
            place,
            bytes: bytes.map(<[u8]>::to_vec),
        });
        self
    }

    fn steps(&self) -> StepObserver {
        let script = self.clone();
        StepObserver::observing(move |step| {
            let number = script.reached();
            script.seen.lock().unwrap().push(step);
            for edit in script.edits.iter().filter(|edit| edit.step == number) {
                if edit.make() {
                    script.made.lock().unwrap().push(edit.clone());
                }
            }
            if script.stop_at == Some(number) {
                Err(io::Error::other("killed"))
            } else {
                Ok(())
            }
        })
    }

    fn reached(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

type Texts<'a> = &'a [(&'a str, Option<&'a str>)];

const BEFORE: Texts<'_> = &[
    ("daily/old.md", Some("old")),
    ("MEMORY.md", Some("one")),
    ("still.md", Some("still")),
];
const CHANGES: Texts<'_> = &[
    ("daily/old.md", None),
    ("MEMORY.md", Some("two")),
    ("new/file.md", Some("new")),
];

fn memory_with_history() -> TestFolder {
    let memory = TestFolder::new();
    let _ = memory.write(BEFORE).unwrap();
    memory.save("person.md", "pending");
    memory
}

/// The steps of writing `CHANGES` when nothing goes wrong.
fn steps_of_a_whole_write(memory: &TestFolder) -> Vec<WriteStep> {
    let script = StepScript::default();
    let _ = memory
        .copied()
        .write_observed(script.steps(), CHANGES)
        .unwrap();
    let seen = script.seen.lock().unwrap();
    seen.clone()
}

fn expected(changes: Texts<'_>) -> BTreeMap<String, Vec<u8>> {
    let all = BEFORE
        .iter()
        .chain(&[("person.md", Some("pending"))])
        .chain(changes);
    let mut files = BTreeMap::new();
    for (path, bytes) in all {
        match bytes {
            Some(bytes) => files.insert((*path).to_owned(), bytes.as_bytes().to_vec()),
            None => files.remove(*path),
        };
    }
    files
}

#[test]
fn a_writer_killed_at_any_step_leaves_the_old_state_or_the_new() {
    let (old, new) = (expected(&[]), expected(CHANGES));
    for can_exchange in [true, false] {
        let mut origin = memory_with_history();
        origin.folder.may_exchange = can_exchange;
        let steps = steps_of_a_whole_write(&origin);
        assert!(steps.len() > 25, "{steps:?}");
        for step in 0..steps.len() {
            let memory = origin.copied();
            assert!(
                memory
                    .write_observed(StepScript::stopped_at(step).steps(), CHANGES)
                    .is_err(),
                "step {step}"
            );
            // Nothing is torn even before a recovery: each file is whole, old or new.
            for (path, bytes) in memory.work_tree() {
                assert!(
                    [old.get(&path), new.get(&path)].contains(&Some(&bytes)),
                    "{path} at {step}"
                );
            }
            let has_promised = memory.at(".git/daybook/intent").exists();
            let settled = memory.settle().unwrap();
            assert_eq!(
                matches!(settled.recovery, Recovery::Finished(_)),
                has_promised,
                "step {step}"
            );
            let wrote = memory.work_tree() == new;
            assert!(
                wrote || (!has_promised && memory.work_tree() == old),
                "step {step}"
            );
            memory.assert_is_head();
            // The next worker repeats the job and ends where the first would have.
            let _ = memory.write(CHANGES).unwrap();
            assert_eq!(memory.work_tree(), new);
            assert_eq!(memory.log().len(), 3, "step {step}: {:?}", memory.log());
            memory.assert_settled();
        }
    }
}

#[test]
fn a_recovery_killed_at_any_step_is_recovered_in_turn() {
    let origin = memory_with_history();
    let steps = steps_of_a_whole_write(&origin);
    let promised = steps
        .iter()
        .position(|step| *step == WriteStep::RecordIntent)
        .unwrap()
        + 1;
    for first in promised..steps.len() {
        for second in 0.. {
            let memory = origin.copied();
            assert!(
                memory
                    .write_observed(StepScript::stopped_at(first).steps(), CHANGES)
                    .is_err()
            );
            let is_intact = memory
                .settle_observed(StepScript::stopped_at(second).steps())
                .is_ok();
            let _ = memory.settle().unwrap();
            assert_eq!(
                memory.work_tree(),
                expected(CHANGES),
                "steps {first} and {second}"
            );
            assert_eq!(memory.log().len(), 3, "steps {first} and {second}");
            memory.assert_is_head();
            if is_intact {
                break;
            }
        }
    }
}

/// A person acts at one step and the writer is killed at the same or a later one: in the end the work tree
/// has their version, whatever it is, and the engine's is not lost either.
#[test]
fn an_edit_before_any_step_survives_a_kill_at_any_later_one() {
    let mut origin = memory_with_history();
    let (changed, deleted_markers, added) = ("MEMORY.md", "daily/old.md", "new/file.md");
    for (can_exchange, edit, paths) in [
        (
            true,
            Some(&b"theirs"[..]),
            &[changed, deleted_markers, added][..],
        ),
        (true, None, &[changed, added]),
        (false, Some(b"theirs"), &[changed]),
    ] {
        origin.folder.may_exchange = can_exchange;
        let steps = steps_of_a_whole_write(&origin);
        let planned = steps
            .iter()
            .position(|step| *step == WriteStep::PrepareFile)
            .unwrap();
        for &path in paths {
            for edited in planned..steps.len() {
                // Where files cannot be exchanged, an edit saved between the last check and the rename is
                // lost; see `replace_file`.
                if !can_exchange && steps[edited] == WriteStep::ExchangeFiles {
                    continue;
                }
                for stopped in [edited, edited + 1, steps.len()] {
                    let memory = origin.copied();
                    let script =
                        StepScript::stopped_at(stopped).with_edit(edited, memory.at(path), edit);
                    let _ = memory.write_observed(script.steps(), CHANGES);
                    let has_promised = memory.at(".git/daybook/intent").exists();
                    let _ = memory.settle().unwrap();
                    let case = format!("{path}: {edit:?} at {edited}, stopped at {stopped}");
                    if !script.made.lock().unwrap().is_empty() {
                        assert_eq!(
                            memory.read(path).map(String::into_bytes).as_deref(),
                            edit,
                            "{case}"
                        );
                    }
                    if has_promised && path == changed {
                        assert!(memory.versions(path).contains(&b"two".to_vec()), "{case}");
                    }
                    memory.assert_is_head();
                }
            }
        }
    }
}

/// Saved during one replacement, then a kill, then saved again from the engine's version: the newer edit
/// stays, and the older one, which the person did not see again, is in the history.
#[test]
fn a_displaced_edit_survives_a_kill_and_a_newer_edit() {
    let origin = memory_with_history();
    let steps = steps_of_a_whole_write(&origin);
    for path in ["MEMORY.md", "daily/old.md"] {
        let mut displaced_edits = 0;
        for edited in (0..steps.len()).filter(|step| steps[*step] == WriteStep::ExchangeFiles) {
            for stopped in edited + 1..edited + 4 {
                let memory = origin.copied();
                let script = StepScript::stopped_at(stopped).with_edit(
                    edited,
                    memory.at(path),
                    Some(b"first"),
                );
                assert!(memory.write_observed(script.steps(), CHANGES).is_err());
                let was_displaced = memory.read(path).as_deref() != Some("first");
                memory.save(path, "second");
                let _ = memory.settle().unwrap();
                assert_eq!(memory.read(path).unwrap(), "second");
                if was_displaced {
                    displaced_edits += 1;
                    assert!(
                        memory.versions(path).contains(&b"first".to_vec()),
                        "{path}: {edited}, {stopped}"
                    );
                }
                memory.assert_settled();
            }
        }
        assert!(displaced_edits > 0, "no kill hit the window at {path}");
    }
}

/// Two edits while the engine writes, the second of what the engine may just have put in place of the
/// first: the second stays, and no first one that was replaced is lost.
#[test]
fn the_second_of_two_edits_during_a_write_stays_and_the_first_is_in_the_history() {
    let origin = memory_with_history();
    let steps = steps_of_a_whole_write(&origin);
    let planned = steps
        .iter()
        .position(|step| *step == WriteStep::PrepareFile)
        .unwrap();
    for second in [None, Some(&b"second"[..])] {
        let mut kept = 0;
        for one in planned..steps.len() {
            for two in one + 1..steps.len() {
                let memory = origin.copied();
                let place = memory.at("MEMORY.md");
                let script = StepScript::default()
                    .with_edit(one, place.clone(), Some(b"first"))
                    .with_edit(two, place, second);
                let _ = memory.write_observed(script.steps(), CHANGES).unwrap();
                let _ = memory.settle().unwrap();
                let case = format!("{second:?} at {two}, after {one}");
                assert_eq!(
                    memory.read("MEMORY.md").map(String::into_bytes).as_deref(),
                    second,
                    "{case}"
                );
                memory.assert_settled();
                kept += usize::from(memory.versions("MEMORY.md").contains(&b"first".to_vec()));
            }
        }
        assert!(kept > 0, "no first edit was replaced by the engine");
    }
}

#[test]
fn a_branch_moved_between_a_kill_and_the_recovery_is_built_upon() {
    let origin = memory_with_history();
    if origin.git(&["--version"]).is_none() {
        return;
    }
    for step in 0..steps_of_a_whole_write(&origin).len() {
        let memory = origin.copied();
        assert!(
            memory
                .write_observed(StepScript::stopped_at(step).steps(), CHANGES)
                .is_err()
        );
        for lock in ["index.lock", "refs/heads/main.lock"] {
            // A person would have to remove these; the next writer does it for them.
            let _ = std::fs::remove_file(memory.at(".git").join(lock));
        }
        let has_promised = memory.at(".git/daybook/intent").exists();
        memory.save("still.md", "moved");
        memory.git(&["-c", "commit.gpgsign=false", "commit", "-qam", "Mine"]);
        let _ = memory.settle().unwrap();
        let mut wanted = [expected(&[]), expected(CHANGES)];
        wanted
            .iter_mut()
            .for_each(|files| drop(files.insert("still.md".to_owned(), b"moved".to_vec())));
        let found = memory.work_tree();
        assert!(
            found == wanted[1] || (!has_promised && found == wanted[0]),
            "step {step}: {found:?}"
        );
        memory.assert_settled();
        assert_eq!(memory.settle().unwrap().edits, None);
    }
}

#[test]
fn an_intent_that_comes_back_after_it_was_carried_out_changes_nothing() {
    let memory = memory_with_history();
    let intent = Arc::new(Mutex::new(Vec::new()));
    let (kept, place) = (intent.clone(), memory.at(".git/daybook/intent"));
    let watched = StepObserver::observing(move |step| {
        if step == WriteStep::ClearIntent {
            *kept.lock().unwrap() = std::fs::read(&place)?;
        }
        Ok(())
    });
    let _ = memory.write_observed(watched, CHANGES).unwrap();
    memory.save("MEMORY.md", "one");
    let _ = memory.write(&[("new/file.md", Some("newer"))]).unwrap();
    memory.save(".git/daybook/intent", &*intent.lock().unwrap());
    let _ = memory.settle().unwrap();
    assert_eq!(memory.read("MEMORY.md").unwrap(), "one");
    assert_eq!(memory.read("new/file.md").unwrap(), "newer");
    memory.assert_settled();
}

#[test]
fn an_intent_that_cannot_be_read_is_set_aside_and_nothing_is_lost() {
    for text in [
        "garbage",
        "daybook-intent 1\nbase none\nnew 0123456789012345678901234567890123456789\nend\n",
    ] {
        let memory = memory_with_history();
        memory.save(".git/daybook/intent", text);
        memory.save(".git/daybook/new/0", "waiting");
        assert_eq!(memory.settle().unwrap().recovery, Recovery::SetAside);
        assert_eq!(memory.read(".git/daybook/aside/0/intent").unwrap(), text);
        assert_eq!(
            memory.read(".git/daybook/aside/0/new/0").unwrap(),
            "waiting"
        );
        memory.assert_settled();
    }
}

/// What may happen to a folder. Small numbers pick paths and steps, so that they collide.
#[derive(Debug, Clone)]
enum FolderEvent {
    Save(usize, u8),
    Remove(usize),
    Write {
        changes: Vec<(usize, Option<u8>)>,
        stop_at: Option<usize>,
        edits: Vec<(usize, usize, Option<u8>)>,
    },
    Settle,
}

const PATHS: [&str; 5] = ["a.md", "b.md", "d/c.md", "d/e/f.md", "g"];

fn event() -> impl Strategy<Value = FolderEvent> {
    let path = 0..PATHS.len();
    let bytes = prop::option::weighted(0.8, any::<u8>());
    let edit = (0usize..40, path.clone(), bytes.clone());
    let write = (
        prop::collection::vec((path.clone(), bytes), 1..4),
        prop::option::weighted(0.5, 0usize..45),
        prop::collection::vec(edit, 0..3),
    );
    prop_oneof![
        3 => (path.clone(), any::<u8>()).prop_map(|(path, bytes)| FolderEvent::Save(path, bytes)),
        1 => path.prop_map(FolderEvent::Remove),
        5 => write.prop_map(|(changes, stop_at, edits)| FolderEvent::Write { changes, stop_at, edits }),
        1 => Just(FolderEvent::Settle),
    ]
}

/// The folder, and what must be true of it.
struct FolderModel {
    memory: TestFolder,
    saves: usize,
    /// The person's last version at each path, until the engine is known to have written after it.
    theirs: BTreeMap<usize, Option<Vec<u8>>>,
    /// Contents that the history must always have.
    forever: BTreeSet<(usize, Vec<u8>)>,
    heads: Vec<CommitHash>,
}

impl FolderModel {
    fn new(durability: FileDurability) -> Self {
        let memory = TestFolder::with(FilesConfig {
            durability,
            ..FilesConfig::default()
        });
        Self {
            memory,
            saves: 0,
            theirs: BTreeMap::new(),
            forever: BTreeSet::new(),
            heads: Vec::new(),
        }
    }

    fn happen(&mut self, event: &FolderEvent) {
        match event {
            FolderEvent::Save(path, byte) => {
                let bytes = self.unique(*byte);
                self.memory.save(PATHS[*path], &bytes);
                self.theirs.insert(*path, Some(bytes));
            }
            FolderEvent::Remove(path) => {
                if std::fs::remove_file(self.memory.at(PATHS[*path])).is_ok() {
                    self.theirs.insert(*path, None);
                }
            }
            FolderEvent::Write {
                changes,
                stop_at,
                edits,
            } => self.write(changes, *stop_at, edits),
            FolderEvent::Settle => self.settle(),
        }
    }

    /// No two versions are equal, so that each can be searched for.
    fn unique(&mut self, byte: u8) -> Vec<u8> {
        self.saves += 1;
        format!("{:04} {}", self.saves, char::from(byte)).into_bytes()
    }

    fn write(
        &mut self,
        changes: &[(usize, Option<u8>)],
        stop_at: Option<usize>,
        edits: &[(usize, usize, Option<u8>)],
    ) {
        let mut wanted = BTreeMap::new();
        for (path, byte) in changes {
            let bytes = byte.map(|byte| String::from_utf8(self.unique(byte)).unwrap());
            wanted.insert(PATHS[*path], bytes);
        }
        let mut script = StepScript {
            stop_at,
            ..StepScript::default()
        };
        for (step, path, byte) in edits {
            let bytes = byte.map(|byte| self.unique(byte));
            script = script.with_edit(*step, self.memory.at(PATHS[*path]), bytes.as_deref());
        }
        let asked: Vec<_> = wanted
            .iter()
            .map(|(path, bytes)| (*path, bytes.as_deref()))
            .collect();
        let planned_at = Cell::new(None);
        let base = RefCell::new(BTreeMap::new());
        let outcome = self.memory.write_planned(script.steps(), || {
            planned_at.set(Some(script.reached()));
            *base.borrow_mut() = self.memory.work_tree();
            as_changes(&asked)
        });
        let has_seen = |step| planned_at.get().is_some_and(|planned| step < planned);
        if planned_at.get().is_some() {
            self.engine_has_seen();
        }
        for edit in &*script.made.lock().unwrap() {
            let path = PATHS
                .iter()
                .position(|path| self.memory.at(path) == edit.place)
                .unwrap();
            self.theirs.insert(path, edit.bytes.clone());
            // The engine may have seen this one, and then may have replaced it. And a file that was
            // made and deleted again, all while the engine wrote, is as the engine found it.
            let is_replaced = std::fs::read(&edit.place).ok() != edit.bytes;
            let is_base = base.borrow().get(PATHS[path]) == edit.bytes.as_ref();
            if (has_seen(edit.step) && is_replaced) || is_base {
                self.theirs.remove(&path);
            }
        }
        match outcome {
            Ok(WriteOutcome::Written(written)) => self.check_written(&wanted, &written),
            Ok(WriteOutcome::Unchanged(_)) => {}
            Ok(WriteOutcome::LeaseLost) => panic!("nobody took it"),
            Err(_) => assert!(stop_at.is_some(), "only a kill stops a writer"),
        }
        self.settle();
    }

    /// The person's versions at the time of the engine's scan are in the history by now, and may be
    /// replaced.
    fn engine_has_seen(&mut self) {
        for (path, bytes) in std::mem::take(&mut self.theirs) {
            self.forever.extend(bytes.map(|bytes| (path, bytes)));
        }
    }

    fn check_written(&mut self, wanted: &BTreeMap<&str, Option<String>>, written: &FinishedWrite) {
        let tree = self.memory.tree(written.commit);
        for (path, bytes) in wanted {
            assert_eq!(
                tree.get(*path),
                bytes.as_ref().map(|text| text.as_bytes().to_vec()).as_ref()
            );
            let number = PATHS.iter().position(|known| known == path).unwrap();
            self.forever.extend(
                bytes
                    .as_ref()
                    .map(|text| (number, text.as_bytes().to_vec())),
            );
        }
    }

    fn settle(&mut self) {
        let settled = self.memory.settle().unwrap();
        self.heads.extend(settled.head);
        self.memory.assert_is_head();
        self.check_history();
    }

    fn check_history(&self) {
        let log: Vec<_> = self
            .memory
            .folder
            .log(1000)
            .unwrap()
            .into_iter()
            .map(|commit| commit.id)
            .collect();
        for head in &self.heads {
            assert!(log.contains(head), "history only grows");
        }
        for (path, bytes) in &self.forever {
            assert!(
                self.memory.versions(PATHS[*path]).contains(bytes),
                "{}: {bytes:?} is lost",
                PATHS[*path]
            );
        }
        let repo = self.memory.folder.repository().unwrap();
        for id in log {
            assert!(
                repo.find_commit(id.0).unwrap().parent_ids().count() <= 1,
                "history is linear"
            );
        }
        for (path, bytes) in &self.theirs {
            let found = std::fs::read(self.memory.at(PATHS[*path])).ok();
            assert_eq!(&found, bytes, "theirs wins at {}", PATHS[*path]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_no_version_is_lost_and_theirs_wins(
        events in prop::collection::vec(event(), 1..10),
        is_power_safe in any::<bool>(),
    ) {
        let durability = if is_power_safe { FileDurability::Power } else { FileDurability::Process };
        let mut model = FolderModel::new(durability);
        events.iter().for_each(|event| model.happen(event));
        model.settle();
        model.memory.assert_settled();
    }
}
