mod concurrent;
mod repair;
mod rewrite;

use std::sync::Arc;

use daybook_domain::{ObjectName, ScopeKind, Tenant, TreeObject};
use daybook_store::MemoryStore;

use super::*;
use crate::files::folder_test_support::{TestFolder, lock, stamp};
use crate::files::steps::{StepObserver, WriteStep};

fn scope() -> Scope {
    Scope {
        tenant: Tenant::local(),
        kind: ScopeKind::Project,
        name: "tidepool".to_owned(),
    }
}

/// A store that several machines share.
#[derive(Default)]
struct SharedStore(MemoryStore);

impl SharedStore {
    fn try_sync(&self, memory: &TestFolder) -> Result<SyncReport, SharedError> {
        self.sync_observed(memory, StepObserver::default())
    }

    fn sync_observed(
        &self,
        memory: &TestFolder,
        steps: StepObserver,
    ) -> Result<SyncReport, SharedError> {
        let folder = memory.folder.clone().with_step_observer(steps);
        let shared = SharedHistory {
            trees: &self.0,
            scope: &scope(),
        };
        daybook_testkit::run(shared.sync(&lock(&folder), &stamp()))
    }

    fn sync(&self, memory: &TestFolder) -> SyncReport {
        self.try_sync(memory).unwrap()
    }

    fn check(&self, memory: &TestFolder) -> super::repair::SharedHistoryReport {
        let (trees, scope) = (&self.0, &scope());
        daybook_testkit::run(SharedHistory { trees, scope }.check(&memory.folder)).unwrap()
    }

    fn repair(&self, memory: &TestFolder) -> super::repair::RepairReport {
        let (trees, scope) = (&self.0, &scope());
        let shared = SharedHistory { trees, scope };
        daybook_testkit::run(shared.repair(&lock(&memory.folder), &stamp())).unwrap()
    }

    fn head(&self) -> Option<TreeHead> {
        daybook_testkit::run(self.0.tree_head(&scope())).unwrap()
    }
}

fn lines(memory: &TestFolder, path: &str) -> Vec<String> {
    let text = memory.read(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn assert_same(one: &TestFolder, other: &TestFolder) {
    assert_eq!(one.work_tree(), other.work_tree());
    assert_eq!(one.folder.head().unwrap(), other.folder.head().unwrap());
    one.assert_settled();
    other.assert_settled();
}

#[test]
fn what_one_machine_wrote_is_in_the_folders_of_all() {
    let (store, here, there) = (SharedStore::default(), TestFolder::new(), TestFolder::new());
    assert_eq!(store.sync(&here), SyncReport::default());
    let _ = here.write(&[("MEMORY.md", Some("one\n")), ("daily/1.md", Some("day\n"))]);
    here.save("topics/mine.md", "my own\n");
    let given = store.sync(&here);
    assert!(given.pushed > 0 && given.fetched == 0 && !given.merged);
    let taken = store.sync(&there);
    assert_eq!((taken.fetched, taken.pushed), (given.pushed, 0));
    assert_same(&here, &there);
    assert_eq!(here.log(), there.log());

    let _ = there.write(&[("MEMORY.md", Some("two\n")), ("daily/1.md", None)]);
    store.sync(&there);
    let third = store.sync(&here);
    assert_same(&here, &there);
    assert_eq!(store.sync(&here).fetched, 0, "after {third:?}");
}

#[test]
fn an_edit_made_on_one_machine_while_another_wrote_is_kept_in_both() {
    let (store, here, there) = (SharedStore::default(), TestFolder::new(), TestFolder::new());
    let _ = here.write(&[("MEMORY.md", Some("a\nb\nc\nd\ne\n"))]);
    store.sync(&here);
    store.sync(&there);
    let _ = here.write(&[
        ("MEMORY.md", Some("a\nb\nc\nd\nnew\n")),
        ("x.md", Some("x\n")),
    ]);
    store.sync(&here);
    there.save("MEMORY.md", "mine\nb\nc\nd\ne\n");
    there.save("topics/own.md", "own\n");
    let met = store.sync(&there);
    assert!(met.merged && met.kept.is_empty());
    assert_eq!(lines(&there, "MEMORY.md"), ["mine", "b", "c", "d", "new"]);
    store.sync(&here);
    assert_same(&here, &there);
    assert_eq!(here.read("topics/own.md").as_deref(), Some("own\n"));
    // The first parents lead through the merge to the previous shared commit.
    let authors: Vec<String> = here.log().into_iter().map(|(author, _)| author).collect();
    assert_eq!(authors, ["Daybook", "Daybook", "you"]);
}

#[test]
fn a_name_that_the_other_side_gave_to_a_folder_takes_no_files_place() {
    let (store, here, there) = (SharedStore::default(), TestFolder::new(), TestFolder::new());
    let _ = here.write(&[("a.md", Some("a\n"))]);
    store.sync(&here);
    store.sync(&there);
    here.save("x.md/inside.md", "theirs\n");
    store.sync(&here);
    there.save("x.md", "ours\n");
    store.sync(&there);
    assert_eq!(there.read("x.md/inside.md").as_deref(), Some("theirs\n"));
    assert_eq!(there.read("kept-x.md").as_deref(), Some("ours\n"));
    store.sync(&here);
    assert_same(&here, &there);
}

#[test]
fn of_binary_files_ours_stays_and_theirs_is_in_the_history() {
    let (store, here, there) = (SharedStore::default(), TestFolder::new(), TestFolder::new());
    let _ = here.write(&[("a.md", Some("a\n"))]);
    store.sync(&here);
    store.sync(&there);
    here.save("picture.md", [0xff, 1]);
    store.sync(&here);
    there.save("picture.md", [0xfe, 2]);
    store.sync(&there);
    store.sync(&here);
    assert_same(&here, &there);
    assert_eq!(here.work_tree()["picture.md"], [0xfe, 2]);
    assert!(here.versions("picture.md").contains(&vec![0xff, 1]));
}

#[test]
fn what_is_withheld_on_one_machine_is_withheld_on_all() {
    let (store, here, there) = (SharedStore::default(), TestFolder::new(), TestFolder::new());
    let _ = here.write(&[("a.md", Some("a\n"))]);
    let _ = there.write(&[("b.md", Some("b\n"))]);
    for (memory, marker) in [(&here, "abcdefghij"), (&there, "bcdefghijk")] {
        let text = format!("{marker} MEMORY.md\n");
        withheld::save(&lock(&memory.folder), &withheld::parse(&text)).unwrap();
    }
    store.sync(&here);
    store.sync(&there);
    store.sync(&here);
    let both = withheld::parse("abcdefghij MEMORY.md\nbcdefghijk MEMORY.md\n");
    for memory in [&here, &there] {
        assert_eq!(withheld::load(&lock(&memory.folder)).unwrap(), both);
    }
    assert_same(&here, &there);
}

#[test]
fn a_branch_of_the_persons_own_is_not_shared() {
    let (store, here) = (SharedStore::default(), TestFolder::new());
    let _ = here.write(&[("a.md", Some("a\n"))]);
    store.sync(&here);
    if here.git(&["switch", "-qc", "mine"]).is_none() {
        return;
    }
    let _ = here.write(&[("a.md", Some("b\n"))]);
    let refused = store.try_sync(&here).unwrap_err();
    assert!(refused.to_string().contains("branch"), "{refused}");
    here.git(&["switch", "-q", "main"]);
    assert_eq!(store.sync(&here).pushed, 0);
}

#[test]
fn a_store_that_was_restored_from_an_older_backup_gets_what_it_lost() {
    let (old, new) = (SharedStore::default(), SharedStore::default());
    let (here, there) = (TestFolder::new(), TestFolder::new());
    let _ = here.write(&[("a.md", Some("a\n"))]);
    old.sync(&here);
    new.sync(&here);
    let _ = here.write(&[("a.md", Some("b\n"))]);
    new.sync(&here);
    old.sync(&here);
    old.sync(&there);
    assert_same(&here, &there);
    assert_eq!(old.head().unwrap().commit, new.head().unwrap().commit);
}

#[test]
fn an_object_that_is_not_what_its_name_says_is_refused() {
    let (store, here) = (SharedStore::default(), TestFolder::new());
    let forged = TreeObject {
        name: ObjectName([7; 20]),
        kind: daybook_domain::ObjectKind::Commit,
        bytes: b"nothing".to_vec(),
    };
    daybook_testkit::run(async {
        let (scope, forged) = (scope(), [forged]);
        let put = store.0.put_tree_objects(&scope, 0, &forged);
        assert!(put.await.unwrap());
        store
            .0
            .advance_tree(&scope, 0, ObjectName([7; 20]), "")
            .await
            .unwrap();
    });
    assert!(store.try_sync(&here).is_err());
    assert!(here.work_tree().is_empty());
}

/// Stops the writer at its `n`th step.
fn stopping_at(n: usize) -> StepObserver {
    let left = Arc::new(std::sync::atomic::AtomicUsize::new(n));
    StepObserver::observing(move |_: WriteStep| {
        let left = left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        match left {
            0 => Err(std::io::Error::other("stopped")),
            _ => Ok(()),
        }
    })
}

#[test]
fn a_sync_stopped_at_any_step_ends_like_an_undisturbed_one() {
    for n in 0.. {
        let (store, here, there) = (SharedStore::default(), TestFolder::new(), TestFolder::new());
        let _ = here.write(&[
            ("MEMORY.md", Some("a\nb\nc\nd\n")),
            ("gone.md", Some("g\n")),
        ]);
        store.sync(&here);
        store.sync(&there);
        let _ = here.write(&[("MEMORY.md", Some("a\nb\nc\nnew\n")), ("gone.md", None)]);
        store.sync(&here);
        there.save("MEMORY.md", "mine\nb\nc\nd\n");
        let was_stopped = store.sync_observed(&there, stopping_at(n)).is_err();
        store.sync(&there);
        store.sync(&here);
        assert_same(&here, &there);
        assert_eq!(
            lines(&here, "MEMORY.md"),
            ["mine", "b", "c", "new"],
            "step {n}"
        );
        assert_eq!(here.read("gone.md"), None);
        if !was_stopped {
            assert!(n > 10, "only {n} steps");
            return;
        }
    }
}
