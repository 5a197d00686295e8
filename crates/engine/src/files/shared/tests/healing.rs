//! Histories that lack objects, here or in the store.

use std::fs;

use super::*;

/// A machine with three commits that are shared, and another that has fetched them.
fn machines(hub: &Hub) -> (Testbed, Testbed) {
    let (here, there) = (Testbed::new(), Testbed::new());
    for text in ["a\n", "b\n", "c\n"] {
        let _ = here.write(&[("MEMORY.md", Some(text))]);
        hub.meet(&here);
    }
    hub.meet(&there);
    (here, there)
}

/// A store that has everything of another but the object with one number.
fn without(hub: &Hub, number: usize) -> (Hub, TreeObject) {
    let head = hub.head().unwrap();
    let lacking = Hub::default();
    let lost = daybook_testkit::run(async {
        let scope = scope();
        let mut objects = hub.0.tree_objects(&scope, 0, usize::MAX).await.unwrap();
        let lost = objects.remove(number);
        let put = lacking.0.put_tree_objects(&scope, &objects).await;
        put.unwrap();
        let advanced = lacking.0.advance_tree(&scope, 0, head.commit, &head.beside);
        assert!(advanced.await.unwrap().is_some());
        lost
    });
    (lacking, lost)
}

#[test]
fn what_a_version_before_left_out_is_fetched_at_the_next_meeting() {
    let hub = Hub::default();
    let (_, whole) = machines(&hub);
    let objects = hub.head().unwrap().objects;
    for name in whole.loose_objects() {
        let there = whole.copied();
        if there.folder.head().unwrap().unwrap().to_string() == name {
            continue;
        }
        fs::remove_file(there.object(&name)).unwrap();
        // That version noted the count alone.
        fs::write(there.at(".git/daybook/shared"), format!("{objects}\n")).unwrap();
        assert!(!hub.check(&there).is_whole());
        let head = hub.head().unwrap();
        assert!(!is_level(&there.folder, &head).unwrap());
        // Where the newest files themselves are missing, the folder cannot be settled: `heal` does it.
        if hub.try_meet(&there).is_err() {
            hub.heal(&there);
            hub.meet(&there);
        }
        assert!(hub.check(&there).is_whole());
        assert!(is_level(&there.folder, &head).unwrap());
        there.git(&["log", "--oneline"]);
        there.assert_settled();
    }
}

#[test]
fn what_the_disk_lost_or_changed_is_fetched_by_healing() {
    let hub = Hub::default();
    let (_, whole) = machines(&hub);
    for name in whole.loose_objects() {
        for is_lost in [true, false] {
            let there = whole.copied();
            match is_lost {
                true => fs::remove_file(there.object(&name)).unwrap(),
                false => there.flip_byte(&name),
            }
            let found = hub.check(&there);
            assert_eq!(found.here.broken(), 1, "{found}");
            let healed = hub.heal(&there);
            assert!(healed.fetched > 0 && healed.restored == 0, "{healed:?}");
            assert!(hub.check(&there).is_whole());
            assert_eq!(hub.meet(&there).given, 0);
            there.assert_settled();
        }
    }
}

#[test]
fn what_the_store_lost_is_put_there_by_a_machine_that_has_it() {
    let full = Hub::default();
    let (here, _) = machines(&full);
    let objects = usize::try_from(full.head().unwrap().objects).unwrap();
    for number in 0..objects - 1 {
        let (hub, lost) = without(&full, number);
        let there = Testbed::new();
        let refused = hub.try_meet(&there).unwrap_err().to_string();
        let name = &lost.name.to_string()[..12];
        assert!(
            refused.contains(name) && refused.contains("checkin --repair"),
            "{refused}"
        );
        let found = hub.check(&here);
        assert_eq!((found.here.broken(), found.missing_there), (0, 1));
        assert!(!found.is_whole());
        assert_eq!(hub.heal(&here).restored, 1);
        assert!(hub.check(&here).is_whole());
        hub.meet(&there);
        assert_same(&here, &there);
    }
}

#[test]
fn what_neither_has_is_named_and_nothing_is_made_up() {
    let full = Hub::default();
    let (here, _) = machines(&full);
    let (hub, lost) = without(&full, 0);
    fs::remove_file(here.object(&lost.name.to_string())).unwrap();
    assert_eq!(hub.heal(&here), super::super::health::Healed::default());
    assert_eq!(hub.check(&here).here.broken(), 1);
}

#[test]
fn commits_that_were_not_fetched_yet_are_no_damage() {
    let hub = Hub::default();
    let (here, there) = machines(&hub);
    let _ = here.write(&[("MEMORY.md", Some("d\n"))]);
    hub.meet(&here);
    let found = hub.check(&there);
    assert!(found.is_whole() && found.is_behind, "{found}");
    assert!(!hub.check(&here).is_behind);
}
