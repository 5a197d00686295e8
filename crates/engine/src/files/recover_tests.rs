//! Crashes: a writer is stopped at each of its steps, and a person edits at each of them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::files::folder::{Durability, FilesConfig};
use crate::files::history::CommitId;
use crate::files::steps::Steps;
use crate::files::testbed::{Testbed, as_changes, save};
use crate::files::write::{Recovery, WriteOutcome, Written};

/// An edit by hand before a step of the writer: `None` deletes.
#[derive(Clone)]
struct Edit {
    step: usize,
    place: PathBuf,
    bytes: Option<Vec<u8>>,
}

impl Edit {
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
struct Fate {
    stop_at: Option<usize>,
    edits: Vec<Edit>,
    seen: Arc<Mutex<Vec<Step>>>,
    made: Arc<Mutex<Vec<Edit>>>,
}

impl Fate {
    fn stopped_at(step: usize) -> Self {
        Self {
            stop_at: Some(step),
            ..Self::default()
        }
    }

    fn with_edit(mut self, step: usize, place: PathBuf, bytes: Option<&[u8]>) -> Self {
        self.edits.push(Edit {
            step,
            place,
            bytes: bytes.map(<[u8]>::to_vec),
        });
        self
    }

    fn steps(&self) -> Steps {
        let fate = self.clone();
        Steps::watched(move |step| {
            let number = fate.reached();
            fate.seen.lock().unwrap().push(step);
            for edit in fate.edits.iter().filter(|edit| edit.step == number) {
                if edit.make() {
                    fate.made.lock().unwrap().push(edit.clone());
                }
            }
            if fate.stop_at == Some(number) {
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

fn bed_with_history() -> Testbed {
    let bed = Testbed::new();
    let _ = bed.write(BEFORE).unwrap();
    bed.save("person.md", "pending");
    bed
}

/// The steps of writing `CHANGES` when nothing goes wrong.
fn steps_of_a_whole_write(bed: &Testbed) -> Vec<Step> {
    let fate = Fate::default();
    let _ = bed.copied().write_watched(fate.steps(), CHANGES).unwrap();
    let seen = fate.seen.lock().unwrap();
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
        let mut origin = bed_with_history();
        origin.folder.may_exchange = can_exchange;
        let steps = steps_of_a_whole_write(&origin);
        assert!(steps.len() > 25, "{steps:?}");
        for step in 0..steps.len() {
            let bed = origin.copied();
            assert!(
                bed.write_watched(Fate::stopped_at(step).steps(), CHANGES)
                    .is_err(),
                "step {step}"
            );
            // Nothing is torn even before anybody recovers: each file is whole, old or new.
            for (path, bytes) in bed.work_tree() {
                assert!(
                    [old.get(&path), new.get(&path)].contains(&Some(&bytes)),
                    "{path} at {step}"
                );
            }
            let has_promised = bed.at(".git/daybook/intent").exists();
            let settled = bed.settle().unwrap();
            assert_eq!(
                matches!(settled.recovery, Recovery::Finished(_)),
                has_promised,
                "step {step}"
            );
            let wrote = bed.work_tree() == new;
            assert!(
                wrote || (!has_promised && bed.work_tree() == old),
                "step {step}"
            );
            bed.assert_is_head();
            // The next worker does the job again and ends where the first would have.
            let _ = bed.write(CHANGES).unwrap();
            assert_eq!(bed.work_tree(), new);
            assert_eq!(bed.log().len(), 3, "step {step}: {:?}", bed.log());
            bed.assert_settled();
        }
    }
}

#[test]
fn a_recovery_killed_at_any_step_is_recovered_in_turn() {
    let origin = bed_with_history();
    let steps = steps_of_a_whole_write(&origin);
    let promised = steps
        .iter()
        .position(|step| *step == Step::RecordIntent)
        .unwrap()
        + 1;
    for first in promised..steps.len() {
        for second in 0.. {
            let bed = origin.copied();
            assert!(
                bed.write_watched(Fate::stopped_at(first).steps(), CHANGES)
                    .is_err()
            );
            let is_whole = bed.settle_watched(Fate::stopped_at(second).steps()).is_ok();
            let _ = bed.settle().unwrap();
            assert_eq!(
                bed.work_tree(),
                expected(CHANGES),
                "steps {first} and {second}"
            );
            assert_eq!(bed.log().len(), 3, "steps {first} and {second}");
            bed.assert_is_head();
            if is_whole {
                break;
            }
        }
    }
}

/// A person acts at one step and the writer is killed at the same or a later one: their version
/// stands in the end, whatever it is, and the engine's is not lost either.
#[test]
fn an_edit_before_any_step_stands_after_a_kill_at_any_later_one() {
    let mut origin = bed_with_history();
    let (changed, deleted, added) = ("MEMORY.md", "daily/old.md", "new/file.md");
    for (can_exchange, edit, paths) in [
        (true, Some(&b"theirs"[..]), &[changed, deleted, added][..]),
        (true, None, &[changed, added]),
        (false, Some(b"theirs"), &[changed]),
    ] {
        origin.folder.may_exchange = can_exchange;
        let steps = steps_of_a_whole_write(&origin);
        let planned = steps
            .iter()
            .position(|step| *step == Step::PrepareFile)
            .unwrap();
        for &path in paths {
            for edited in planned..steps.len() {
                // Where places cannot be traded, what is saved between the last look and the rename
                // is lost; see `swap`.
                if !can_exchange && steps[edited] == Step::Trade {
                    continue;
                }
                for stopped in [edited, edited + 1, steps.len()] {
                    let bed = origin.copied();
                    let fate = Fate::stopped_at(stopped).with_edit(edited, bed.at(path), edit);
                    let _ = bed.write_watched(fate.steps(), CHANGES);
                    let has_promised = bed.at(".git/daybook/intent").exists();
                    let _ = bed.settle().unwrap();
                    let case = format!("{path}: {edit:?} at {edited}, stopped at {stopped}");
                    if !fate.made.lock().unwrap().is_empty() {
                        assert_eq!(
                            bed.read(path).map(String::into_bytes).as_deref(),
                            edit,
                            "{case}"
                        );
                    }
                    if has_promised && path == changed {
                        assert!(bed.versions(path).contains(&b"two".to_vec()), "{case}");
                    }
                    bed.assert_is_head();
                }
            }
        }
    }
}

/// Saved within the window of one swap, then a kill, then saved again from the engine's version: the
/// newer edit stands, and the older one, which the person did not see again, is in the history.
#[test]
fn an_edit_taken_out_of_its_place_survives_a_kill_and_a_newer_edit() {
    let origin = bed_with_history();
    let steps = steps_of_a_whole_write(&origin);
    for path in ["MEMORY.md", "daily/old.md"] {
        let mut strays = 0;
        for edited in (0..steps.len()).filter(|step| steps[*step] == Step::Trade) {
            for stopped in edited + 1..edited + 4 {
                let bed = origin.copied();
                let fate =
                    Fate::stopped_at(stopped).with_edit(edited, bed.at(path), Some(b"first"));
                assert!(bed.write_watched(fate.steps(), CHANGES).is_err());
                let was_displaced = bed.read(path).as_deref() != Some("first");
                bed.save(path, "second");
                let _ = bed.settle().unwrap();
                assert_eq!(bed.read(path).unwrap(), "second");
                if was_displaced {
                    strays += 1;
                    assert!(
                        bed.versions(path).contains(&b"first".to_vec()),
                        "{path}: {edited}, {stopped}"
                    );
                }
                bed.assert_settled();
            }
        }
        assert!(strays > 0, "no kill hit the window at {path}");
    }
}

/// Two edits while the engine writes, the second of what the engine may just have put in the place
/// of the first: the second stands, and no first one that was replaced is lost.
#[test]
fn the_second_of_two_edits_during_a_write_stands_and_the_first_is_kept() {
    let origin = bed_with_history();
    let steps = steps_of_a_whole_write(&origin);
    let planned = steps
        .iter()
        .position(|step| *step == Step::PrepareFile)
        .unwrap();
    for second in [None, Some(&b"second"[..])] {
        let mut kept = 0;
        for one in planned..steps.len() {
            for two in one + 1..steps.len() {
                let bed = origin.copied();
                let place = bed.at("MEMORY.md");
                let fate = Fate::default()
                    .with_edit(one, place.clone(), Some(b"first"))
                    .with_edit(two, place, second);
                let _ = bed.write_watched(fate.steps(), CHANGES).unwrap();
                let _ = bed.settle().unwrap();
                let case = format!("{second:?} at {two}, after {one}");
                assert_eq!(
                    bed.read("MEMORY.md").map(String::into_bytes).as_deref(),
                    second,
                    "{case}"
                );
                bed.assert_settled();
                kept += usize::from(bed.versions("MEMORY.md").contains(&b"first".to_vec()));
            }
        }
        assert!(kept > 0, "no first edit was replaced by the engine");
    }
}

#[test]
fn a_branch_moved_between_a_kill_and_the_recovery_is_built_upon() {
    let origin = bed_with_history();
    if origin.git(&["--version"]).is_none() {
        return;
    }
    for step in 0..steps_of_a_whole_write(&origin).len() {
        let bed = origin.copied();
        assert!(
            bed.write_watched(Fate::stopped_at(step).steps(), CHANGES)
                .is_err()
        );
        for lock in ["index.lock", "refs/heads/main.lock"] {
            // A person would have to remove these; the next writer does it for them.
            let _ = std::fs::remove_file(bed.at(".git").join(lock));
        }
        let has_promised = bed.at(".git/daybook/intent").exists();
        bed.save("still.md", "moved");
        bed.git(&["-c", "commit.gpgsign=false", "commit", "-qam", "Mine"]);
        let _ = bed.settle().unwrap();
        let mut wanted = [expected(&[]), expected(CHANGES)];
        wanted
            .iter_mut()
            .for_each(|files| drop(files.insert("still.md".to_owned(), b"moved".to_vec())));
        let found = bed.work_tree();
        assert!(
            found == wanted[1] || (!has_promised && found == wanted[0]),
            "step {step}: {found:?}"
        );
        bed.assert_settled();
        assert_eq!(bed.settle().unwrap().edits, None);
    }
}

#[test]
fn an_intent_that_comes_back_after_it_was_carried_out_changes_nothing() {
    let bed = bed_with_history();
    let intent = Arc::new(Mutex::new(Vec::new()));
    let (kept, place) = (intent.clone(), bed.at(".git/daybook/intent"));
    let watched = Steps::watched(move |step| {
        if step == Step::ClearIntent {
            *kept.lock().unwrap() = std::fs::read(&place)?;
        }
        Ok(())
    });
    let _ = bed.write_watched(watched, CHANGES).unwrap();
    bed.save("MEMORY.md", "one");
    let _ = bed.write(&[("new/file.md", Some("newer"))]).unwrap();
    bed.save(".git/daybook/intent", &*intent.lock().unwrap());
    let _ = bed.settle().unwrap();
    assert_eq!(bed.read("MEMORY.md").unwrap(), "one");
    assert_eq!(bed.read("new/file.md").unwrap(), "newer");
    bed.assert_settled();
}

#[test]
fn an_intent_that_cannot_be_read_is_set_aside_and_nothing_is_lost() {
    for text in [
        "garbage",
        "daybook-intent 1\nbase none\nnew 0123456789012345678901234567890123456789\nend\n",
    ] {
        let bed = bed_with_history();
        bed.save(".git/daybook/intent", text);
        bed.save(".git/daybook/new/0", "waiting");
        assert_eq!(bed.settle().unwrap().recovery, Recovery::SetAside);
        assert_eq!(bed.read(".git/daybook/aside/0/intent").unwrap(), text);
        assert_eq!(bed.read(".git/daybook/aside/0/new/0").unwrap(), "waiting");
        bed.assert_settled();
    }
}

/// What may happen to a folder. Small numbers pick paths and steps, so that they collide.
#[derive(Debug, Clone)]
enum Event {
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

fn event() -> impl Strategy<Value = Event> {
    let path = 0..PATHS.len();
    let bytes = prop::option::weighted(0.8, any::<u8>());
    let edit = (0usize..40, path.clone(), bytes.clone());
    let write = (
        prop::collection::vec((path.clone(), bytes), 1..4),
        prop::option::weighted(0.5, 0usize..45),
        prop::collection::vec(edit, 0..3),
    );
    prop_oneof![
        3 => (path.clone(), any::<u8>()).prop_map(|(path, bytes)| Event::Save(path, bytes)),
        1 => path.prop_map(Event::Remove),
        5 => write.prop_map(|(changes, stop_at, edits)| Event::Write { changes, stop_at, edits }),
        1 => Just(Event::Settle),
    ]
}

/// The folder beside what must be true of it.
struct Model {
    bed: Testbed,
    saves: usize,
    /// What the person last left at each path, until the engine is known to have come after.
    theirs: BTreeMap<usize, Option<Vec<u8>>>,
    /// Contents that the history must have for ever.
    forever: BTreeSet<(usize, Vec<u8>)>,
    heads: Vec<CommitId>,
}

impl Model {
    fn new(durability: Durability) -> Self {
        let bed = Testbed::with(FilesConfig {
            durability,
            ..FilesConfig::default()
        });
        Self {
            bed,
            saves: 0,
            theirs: BTreeMap::new(),
            forever: BTreeSet::new(),
            heads: Vec::new(),
        }
    }

    fn happen(&mut self, event: &Event) {
        match event {
            Event::Save(path, byte) => {
                let bytes = self.unique(*byte);
                self.bed.save(PATHS[*path], &bytes);
                self.theirs.insert(*path, Some(bytes));
            }
            Event::Remove(path) => {
                if std::fs::remove_file(self.bed.at(PATHS[*path])).is_ok() {
                    self.theirs.insert(*path, None);
                }
            }
            Event::Write {
                changes,
                stop_at,
                edits,
            } => self.write(changes, *stop_at, edits),
            Event::Settle => self.settle(),
        }
    }

    /// No two versions are alike, so that each can be looked for.
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
        let mut fate = Fate {
            stop_at,
            ..Fate::default()
        };
        for (step, path, byte) in edits {
            let bytes = byte.map(|byte| self.unique(byte));
            fate = fate.with_edit(*step, self.bed.at(PATHS[*path]), bytes.as_deref());
        }
        let asked: Vec<_> = wanted
            .iter()
            .map(|(path, bytes)| (*path, bytes.as_deref()))
            .collect();
        let planned_at = Cell::new(None);
        let base = RefCell::new(BTreeMap::new());
        let outcome = self.bed.write_planned(fate.steps(), || {
            planned_at.set(Some(fate.reached()));
            *base.borrow_mut() = self.bed.work_tree();
            as_changes(&asked)
        });
        let has_seen = |step| planned_at.get().is_some_and(|planned| step < planned);
        if planned_at.get().is_some() {
            self.engine_has_seen();
        }
        for edit in &*fate.made.lock().unwrap() {
            let path = PATHS
                .iter()
                .position(|path| self.bed.at(path) == edit.place)
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

    /// What the person had left when the engine looked is in the history by now, and may be replaced.
    fn engine_has_seen(&mut self) {
        for (path, bytes) in std::mem::take(&mut self.theirs) {
            self.forever.extend(bytes.map(|bytes| (path, bytes)));
        }
    }

    fn check_written(&mut self, wanted: &BTreeMap<&str, Option<String>>, written: &Written) {
        let tree = self.bed.tree(written.commit);
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
        let settled = self.bed.settle().unwrap();
        self.heads.extend(settled.head);
        self.bed.assert_is_head();
        self.check_history();
    }

    fn check_history(&self) {
        let log: Vec<_> = self
            .bed
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
                self.bed.versions(PATHS[*path]).contains(bytes),
                "{}: {bytes:?} is lost",
                PATHS[*path]
            );
        }
        let repo = self.bed.folder.repository().unwrap();
        for id in log {
            assert!(
                repo.find_commit(id.0).unwrap().parent_ids().count() <= 1,
                "history is linear"
            );
        }
        for (path, bytes) in &self.theirs {
            let found = std::fs::read(self.bed.at(PATHS[*path])).ok();
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
        let durability = if is_power_safe { Durability::Power } else { Durability::Process };
        let mut model = Model::new(durability);
        events.iter().for_each(|event| model.happen(event));
        model.settle();
        model.bed.assert_settled();
    }
}
