mod at_once;
mod healing;

use std::sync::Arc;

use daybook_domain::{ObjectName, ScopeKind, Tenant, TreeObject};
use daybook_store::MemoryStore;

use super::*;
use crate::files::steps::{Step, Steps};
use crate::files::testbed::{Testbed, lock, stamp};

fn scope() -> Scope {
    Scope {
        tenant: Tenant::local(),
        kind: ScopeKind::Project,
        name: "tidepool".to_owned(),
    }
}

/// What several machines share.
#[derive(Default)]
struct Hub(MemoryStore);

impl Hub {
    fn try_meet(&self, bed: &Testbed) -> Result<Together, SharedError> {
        self.meet_watched(bed, Steps::default())
    }

    fn meet_watched(&self, bed: &Testbed, steps: Steps) -> Result<Together, SharedError> {
        let folder = bed.folder.clone().with_steps(steps);
        let shared = Shared {
            trees: &self.0,
            scope: &scope(),
        };
        daybook_testkit::run(shared.bring_together(&lock(&folder), &stamp()))
    }

    fn meet(&self, bed: &Testbed) -> Together {
        self.try_meet(bed).unwrap()
    }

    fn check(&self, bed: &Testbed) -> super::health::SharedCheck {
        let (trees, scope) = (&self.0, &scope());
        daybook_testkit::run(Shared { trees, scope }.check(&bed.folder)).unwrap()
    }

    fn heal(&self, bed: &Testbed) -> super::health::Healed {
        let (trees, scope) = (&self.0, &scope());
        let shared = Shared { trees, scope };
        daybook_testkit::run(shared.heal(&lock(&bed.folder), &stamp())).unwrap()
    }

    fn head(&self) -> Option<TreeHead> {
        daybook_testkit::run(self.0.tree_head(&scope())).unwrap()
    }
}

fn lines(bed: &Testbed, path: &str) -> Vec<String> {
    let text = bed.read(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn assert_same(one: &Testbed, other: &Testbed) {
    assert_eq!(one.work_tree(), other.work_tree());
    assert_eq!(one.folder.head().unwrap(), other.folder.head().unwrap());
    one.assert_settled();
    other.assert_settled();
}

#[test]
fn what_one_machine_wrote_is_in_the_folders_of_all() {
    let (hub, here, there) = (Hub::default(), Testbed::new(), Testbed::new());
    assert_eq!(hub.meet(&here), Together::default());
    let _ = here.write(&[("MEMORY.md", Some("one\n")), ("daily/1.md", Some("day\n"))]);
    here.save("topics/mine.md", "my own\n");
    let given = hub.meet(&here);
    assert!(given.given > 0 && given.taken == 0 && !given.merged);
    let taken = hub.meet(&there);
    assert_eq!((taken.taken, taken.given), (given.given, 0));
    assert_same(&here, &there);
    assert_eq!(here.log(), there.log());

    let _ = there.write(&[("MEMORY.md", Some("two\n")), ("daily/1.md", None)]);
    hub.meet(&there);
    let third = hub.meet(&here);
    assert_same(&here, &there);
    assert_eq!(hub.meet(&here).taken, 0, "after {third:?}");
}

#[test]
fn an_edit_made_on_one_machine_while_another_wrote_stands_in_both() {
    let (hub, here, there) = (Hub::default(), Testbed::new(), Testbed::new());
    let _ = here.write(&[("MEMORY.md", Some("a\nb\nc\nd\ne\n"))]);
    hub.meet(&here);
    hub.meet(&there);
    let _ = here.write(&[
        ("MEMORY.md", Some("a\nb\nc\nd\nnew\n")),
        ("x.md", Some("x\n")),
    ]);
    hub.meet(&here);
    there.save("MEMORY.md", "mine\nb\nc\nd\ne\n");
    there.save("topics/own.md", "own\n");
    let met = hub.meet(&there);
    assert!(met.merged && met.kept.is_empty());
    assert_eq!(lines(&there, "MEMORY.md"), ["mine", "b", "c", "d", "new"]);
    hub.meet(&here);
    assert_same(&here, &there);
    assert_eq!(here.read("topics/own.md").as_deref(), Some("own\n"));
    // The line of what is shared goes through the merge to what was shared before.
    let authors: Vec<String> = here.log().into_iter().map(|(author, _)| author).collect();
    assert_eq!(authors, ["Daybook", "Daybook", "you"]);
}

#[test]
fn a_name_that_the_other_side_gave_to_a_folder_takes_no_files_place() {
    let (hub, here, there) = (Hub::default(), Testbed::new(), Testbed::new());
    let _ = here.write(&[("a.md", Some("a\n"))]);
    hub.meet(&here);
    hub.meet(&there);
    here.save("x.md/inside.md", "theirs\n");
    hub.meet(&here);
    there.save("x.md", "ours\n");
    hub.meet(&there);
    assert_eq!(there.read("x.md/inside.md").as_deref(), Some("theirs\n"));
    assert_eq!(there.read("kept-x.md").as_deref(), Some("ours\n"));
    hub.meet(&here);
    assert_same(&here, &there);
}

#[test]
fn of_what_is_no_text_ours_stands_and_theirs_is_in_the_history() {
    let (hub, here, there) = (Hub::default(), Testbed::new(), Testbed::new());
    let _ = here.write(&[("a.md", Some("a\n"))]);
    hub.meet(&here);
    hub.meet(&there);
    here.save("picture.md", [0xff, 1]);
    hub.meet(&here);
    there.save("picture.md", [0xfe, 2]);
    hub.meet(&there);
    hub.meet(&here);
    assert_same(&here, &there);
    assert_eq!(here.work_tree()["picture.md"], [0xfe, 2]);
    assert!(here.versions("picture.md").contains(&vec![0xff, 1]));
}

#[test]
fn what_is_withheld_on_one_machine_is_withheld_on_all() {
    let (hub, here, there) = (Hub::default(), Testbed::new(), Testbed::new());
    let _ = here.write(&[("a.md", Some("a\n"))]);
    let _ = there.write(&[("b.md", Some("b\n"))]);
    for (bed, marker) in [(&here, "abcdefghij"), (&there, "bcdefghijk")] {
        let text = format!("{marker} MEMORY.md\n");
        withheld::save(&lock(&bed.folder), &withheld::parse(&text)).unwrap();
    }
    hub.meet(&here);
    hub.meet(&there);
    hub.meet(&here);
    let both = withheld::parse("abcdefghij MEMORY.md\nbcdefghijk MEMORY.md\n");
    for bed in [&here, &there] {
        assert_eq!(withheld::load(&lock(&bed.folder)).unwrap(), both);
    }
    assert_same(&here, &there);
}

#[test]
fn a_branch_of_the_persons_own_is_not_shared() {
    let (hub, here) = (Hub::default(), Testbed::new());
    let _ = here.write(&[("a.md", Some("a\n"))]);
    hub.meet(&here);
    if here.git(&["switch", "-qc", "mine"]).is_none() {
        return;
    }
    let _ = here.write(&[("a.md", Some("b\n"))]);
    let refused = hub.try_meet(&here).unwrap_err();
    assert!(refused.to_string().contains("branch"), "{refused}");
    here.git(&["switch", "-q", "main"]);
    assert_eq!(hub.meet(&here).given, 0);
}

#[test]
fn a_store_that_was_restored_from_an_older_backup_gets_what_it_lost() {
    let (old, new) = (Hub::default(), Hub::default());
    let (here, there) = (Testbed::new(), Testbed::new());
    let _ = here.write(&[("a.md", Some("a\n"))]);
    old.meet(&here);
    new.meet(&here);
    let _ = here.write(&[("a.md", Some("b\n"))]);
    new.meet(&here);
    old.meet(&here);
    old.meet(&there);
    assert_same(&here, &there);
    assert_eq!(old.head().unwrap().commit, new.head().unwrap().commit);
}

#[test]
fn an_object_that_is_not_what_its_name_says_is_refused() {
    let (hub, here) = (Hub::default(), Testbed::new());
    let forged = TreeObject {
        name: ObjectName([7; 20]),
        kind: daybook_domain::ObjectKind::Commit,
        bytes: b"nothing".to_vec(),
    };
    daybook_testkit::run(async {
        hub.0.put_tree_objects(&scope(), &[forged]).await.unwrap();
        hub.0
            .advance_tree(&scope(), 0, ObjectName([7; 20]), "")
            .await
            .unwrap();
    });
    assert!(hub.try_meet(&here).is_err());
    assert!(here.work_tree().is_empty());
}

/// Stops the writer at its `n`th step.
fn stopping_at(n: usize) -> Steps {
    let left = Arc::new(std::sync::atomic::AtomicUsize::new(n));
    Steps::watched(move |_: Step| {
        let left = left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        match left {
            0 => Err(std::io::Error::other("stopped")),
            _ => Ok(()),
        }
    })
}

#[test]
fn stopped_at_any_step_it_ends_like_an_undisturbed_meeting() {
    for n in 0.. {
        let (hub, here, there) = (Hub::default(), Testbed::new(), Testbed::new());
        let _ = here.write(&[
            ("MEMORY.md", Some("a\nb\nc\nd\n")),
            ("gone.md", Some("g\n")),
        ]);
        hub.meet(&here);
        hub.meet(&there);
        let _ = here.write(&[("MEMORY.md", Some("a\nb\nc\nnew\n")), ("gone.md", None)]);
        hub.meet(&here);
        there.save("MEMORY.md", "mine\nb\nc\nd\n");
        let was_stopped = hub.meet_watched(&there, stopping_at(n)).is_err();
        hub.meet(&there);
        hub.meet(&here);
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
