//! Histories that lack objects, here or in the store.

use std::fs;

use super::*;

/// A machine with three commits that are shared, and another that has fetched them.
fn machines(store: &SharedStore) -> (TestFolder, TestFolder) {
    let (here, there) = (TestFolder::new(), TestFolder::new());
    for text in ["a\n", "b\n", "c\n"] {
        let _ = here.write(&[("MEMORY.md", Some(text))]);
        store.sync(&here);
    }
    store.sync(&there);
    (here, there)
}

/// A store that has all objects of another except the one with this number.
fn without(store: &SharedStore, number: usize) -> (SharedStore, TreeObject) {
    let head = store.head().unwrap();
    let lacking = SharedStore::default();
    let lost = daybook_testkit::run(async {
        let scope = scope();
        let mut objects = store.0.tree_objects(&scope, 0, usize::MAX).await.unwrap();
        let lost = objects.remove(number);
        let put = lacking.0.put_tree_objects(&scope, 0, &objects).await;
        put.unwrap();
        let commit = head.commit.unwrap();
        let advanced = lacking.0.advance_tree(&scope, 0, commit, &head.beside);
        assert!(advanced.await.unwrap().is_some());
        lost
    });
    (lacking, lost)
}

#[test]
fn objects_that_an_earlier_version_left_out_are_fetched_at_the_next_sync() {
    let store = SharedStore::default();
    let (_, whole) = machines(&store);
    let objects = store.head().unwrap().objects;
    for name in whole.loose_objects() {
        let there = whole.copied();
        if there.folder.head().unwrap().unwrap().to_string() == name {
            continue;
        }
        fs::remove_file(there.object(&name)).unwrap();
        // That version stored the count alone.
        fs::write(there.at(".git/daybook/shared"), format!("{objects}\n")).unwrap();
        assert!(!store.check(&there).is_intact());
        let head = store.head().unwrap();
        assert!(!is_in_sync(&there.folder, &head).unwrap());
        // Where the newest files themselves are missing, the folder cannot be settled: `repair` fetches
        // them.
        if store.try_sync(&there).is_err() {
            store.repair(&there);
            store.sync(&there);
        }
        assert!(store.check(&there).is_intact());
        assert!(is_in_sync(&there.folder, &head).unwrap());
        there.git(&["log", "--oneline"]);
        there.assert_settled();
    }
}

#[test]
fn objects_that_the_disk_lost_or_changed_are_fetched_by_a_repair() {
    let store = SharedStore::default();
    let (_, whole) = machines(&store);
    for name in whole.loose_objects() {
        for is_lost in [true, false] {
            let there = whole.copied();
            match is_lost {
                true => fs::remove_file(there.object(&name)).unwrap(),
                false => there.flip_byte(&name),
            }
            let found = store.check(&there);
            assert_eq!(found.here.broken(), 1, "{found}");
            let healed = store.repair(&there);
            assert!(healed.fetched > 0 && healed.restored == 0, "{healed:?}");
            assert!(store.check(&there).is_intact());
            assert_eq!(store.sync(&there).pushed, 0);
            there.assert_settled();
        }
    }
}

#[test]
fn objects_that_the_store_lost_are_pushed_by_a_machine_that_has_them() {
    let full = SharedStore::default();
    let (here, _) = machines(&full);
    let objects = usize::try_from(full.head().unwrap().objects).unwrap();
    for number in 0..objects - 1 {
        let (store, lost) = without(&full, number);
        let there = TestFolder::new();
        let refused = store.try_sync(&there).unwrap_err().to_string();
        let name = &lost.name.to_string()[..12];
        assert!(
            refused.contains(name) && refused.contains("checkin --repair"),
            "{refused}"
        );
        let found = store.check(&here);
        assert_eq!((found.here.broken(), found.missing_in_store), (0, 1));
        assert!(!found.is_intact());
        assert_eq!(store.repair(&here).restored, 1);
        assert!(store.check(&here).is_intact());
        store.sync(&there);
        assert_same(&here, &there);
    }
}

#[test]
fn objects_that_neither_side_has_are_reported() {
    let full = SharedStore::default();
    let (here, _) = machines(&full);
    let (store, lost) = without(&full, 0);
    fs::remove_file(here.object(&lost.name.to_string())).unwrap();
    assert_eq!(
        store.repair(&here),
        super::super::repair::RepairReport::default()
    );
    assert_eq!(store.check(&here).here.broken(), 1);
}

#[test]
fn commits_that_were_not_fetched_yet_are_no_damage() {
    let store = SharedStore::default();
    let (here, there) = machines(&store);
    let _ = here.write(&[("MEMORY.md", Some("d\n"))]);
    store.sync(&here);
    let found = store.check(&there);
    assert!(found.is_intact() && found.is_behind, "{found}");
    assert!(!store.check(&here).is_behind);
}
