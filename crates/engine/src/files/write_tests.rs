use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::bounded::Refusal;
use crate::files::folder::{Durability, FilesConfig, Folder};
use crate::files::steps::Steps;
use crate::files::testbed::{Testbed, as_changes, git, lock, save, stamp};

fn written(outcome: Result<WriteOutcome, FilesError>) -> Written {
    match outcome.unwrap() {
        WriteOutcome::Written(written) => written,
        other => panic!("{other:?}"),
    }
}

/// Calls `act` the first time that `step` is reached.
fn once_at(step: Step, act: impl Fn() + Send + Sync + 'static) -> Steps {
    let reached = AtomicUsize::new(0);
    Steps::watched(move |at| {
        if at == step && reached.fetch_add(1, Ordering::SeqCst) == 0 {
            act();
        }
        Ok(())
    })
}

fn by_engine(subject: &str) -> (String, String) {
    ("Daybook".to_owned(), subject.to_owned())
}

fn by_person(subject: &str) -> (String, String) {
    ("you".to_owned(), subject.to_owned())
}

#[test]
fn a_write_is_one_commit_and_leaves_git_nothing_to_say() {
    for durability in [Durability::Process, Durability::Power] {
        let bed = Testbed::with(FilesConfig {
            durability,
            ..FilesConfig::default()
        });
        let outcome =
            written(bed.write(&[("MEMORY.md", Some("m\r\n")), ("daily/a.md", Some("a"))]));
        assert_eq!(bed.folder.head().unwrap(), Some(outcome.commit));
        assert_eq!((outcome.kept, outcome.edits), (vec![], None));
        assert_eq!(bed.log(), [by_engine("Write memory")]);
        assert_eq!(bed.read("MEMORY.md").unwrap(), "m\r\n");
        bed.assert_settled();
        let _ = written(bed.write(&[("MEMORY.md", Some("two\n")), ("daily/a.md", None)]));
        assert!(!bed.at("daily").exists());
        bed.assert_settled();
    }
}

#[test]
fn what_changes_nothing_makes_no_commit() {
    let bed = Testbed::new();
    assert!(matches!(
        bed.write(&[]).unwrap(),
        WriteOutcome::Unchanged(_)
    ));
    assert!(matches!(
        bed.write(&[("gone.md", None)]).unwrap(),
        WriteOutcome::Unchanged(_)
    ));
    assert_eq!(bed.folder.head().unwrap(), None);
    let _ = written(bed.write(&[("a.md", Some("a"))]));
    assert!(matches!(
        bed.write(&[("a.md", Some("a")), ("b.md", None)]).unwrap(),
        WriteOutcome::Unchanged(_)
    ));
    assert_eq!(bed.log().len(), 1);
    bed.assert_settled();
}

#[test]
fn a_persons_edits_are_committed_as_theirs_before_ours() {
    let bed = Testbed::new();
    let _ = written(bed.write(&[
        ("a.md", Some("a")),
        ("b.md", Some("b")),
        ("c.md", Some("c")),
    ]));
    bed.save("a.md", [0xff, 0x00, b'\r', b'\n']);
    bed.remove("b.md");
    bed.save("topics/new.md", "");
    let outcome = written(bed.write(&[("c.md", Some("cc"))]));
    assert_eq!(
        bed.log()[1..],
        [by_person("Edit 3 files"), by_engine("Write memory")]
    );
    let theirs = bed.tree(outcome.settled.edits.unwrap());
    let expected = [
        ("a.md", vec![0xff, 0, b'\r', b'\n']),
        ("c.md", b"c".to_vec()),
        ("topics/new.md", vec![]),
    ];
    assert_eq!(
        theirs,
        expected
            .map(|(path, bytes)| (path.to_owned(), bytes))
            .into()
    );
    bed.assert_settled();
}

#[test]
fn a_plan_sees_the_persons_edits() {
    let bed = Testbed::new();
    let _ = written(bed.write(&[("a.md", Some("ours"))]));
    bed.save("a.md", "theirs");
    let plan = |snapshot: &Snapshot<'_>| {
        let path = FilePath::new("a.md").unwrap();
        let mut text = snapshot.read(&path)?.unwrap();
        text.extend_from_slice(b" and ours");
        assert_eq!(snapshot.files().count(), 1);
        let mut changes = Changes::none();
        changes.write(path, text);
        Ok(changes)
    };
    let _ = lock(&bed.folder)
        .write(&stamp(), "Merge", &|| true, plan)
        .unwrap();
    assert_eq!(bed.read("a.md").unwrap(), "theirs and ours");
}

#[test]
fn a_saved_file_of_the_same_length_is_noticed_however_soon_it_is_saved() {
    let bed = Testbed::new();
    let _ = written(bed.write(&[("a.md", Some("0000"))]));
    for round in 1..200 {
        bed.save("a.md", format!("{round:04}"));
        assert!(bed.settle().unwrap().edits.is_some(), "round {round}");
    }
}

#[test]
fn only_regular_visible_files_of_bearable_size_are_taken_up() {
    let bed = Testbed::with(FilesConfig {
        max_file_bytes: 10,
        ..FilesConfig::default()
    });
    let _ = written(bed.write(&[("big.md", Some("small"))]));
    bed.save("big.md", "much too large");
    bed.save(".hidden", "x");
    bed.save(".obsidian/app.json", "x");
    bed.save("clone/.git/HEAD", "x");
    bed.save("clone/file.md", "x");
    #[cfg(unix)]
    std::os::unix::fs::symlink(bed.beside("gitconfig"), bed.at("link.md")).unwrap();
    let settled = bed.settle().unwrap();
    let skipped = |path: &str, why| Skipped {
        path: path.into(),
        why,
    };
    let expected = [
        skipped(
            "big.md",
            WhySkipped::Refused(Refusal::TooLarge { limit: 10 }),
        ),
        skipped("clone", WhySkipped::OwnRepository),
        #[cfg(unix)]
        skipped("link.md", WhySkipped::Refused(Refusal::Link)),
    ];
    let mut found = settled.skipped;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert_eq!(found, expected);
    assert_eq!(settled.edits, None);
    let kept = written(bed.write(&[("big.md", Some("ours"))])).kept;
    assert_eq!(kept, [FilePath::new("big.md").unwrap()]);
    assert_eq!(bed.read("big.md").unwrap(), "much too large");
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_text_is_left_alone_and_shown() {
    use std::os::unix::ffi::OsStrExt;
    let bed = Testbed::new();
    let name = std::ffi::OsStr::from_bytes(b"a\xff.md");
    fs::write(bed.folder.root().join(name), "x").unwrap();
    let _ = written(bed.write(&[("b.md", Some("b"))]));
    assert_eq!(
        bed.settle().unwrap().skipped,
        [Skipped {
            path: name.into(),
            why: WhySkipped::BadName
        }]
    );
    bed.assert_sound();
}

#[test]
fn an_edit_made_while_we_write_stands_and_our_version_is_in_the_history() {
    for (step, can_exchange) in [
        (Step::SwapFile, true),
        (Step::SwapFile, false),
        (Step::Trade, true),
    ] {
        let mut bed = Testbed::new();
        bed.folder.may_exchange = can_exchange;
        let _ = written(bed.write(&[("a.md", Some("one")), ("b.md", Some("b"))]));
        let place = bed.at("a.md");
        let steps = once_at(step, move || save(&place, b"theirs"));
        let outcome =
            written(bed.write_watched(steps, &[("a.md", Some("two")), ("b.md", Some("bb"))]));
        assert_eq!(outcome.kept, [FilePath::new("a.md").unwrap()]);
        assert_eq!(bed.read("a.md").unwrap(), "theirs");
        assert_eq!(bed.read("b.md").unwrap(), "bb");
        assert_eq!(
            bed.versions("a.md"),
            [b"theirs".to_vec(), b"two".to_vec(), b"one".to_vec()]
        );
        assert_eq!(bed.folder.head().unwrap(), outcome.edits);
        bed.assert_settled();
    }
}

#[test]
fn a_file_that_we_delete_goes_back_if_it_was_edited_even_into_a_folder_that_is_gone() {
    let bed = Testbed::new();
    let _ = written(bed.write(&[("daily/a.md", Some("one"))]));
    let place = bed.at("daily/a.md");
    let steps = Steps::watched(move |step| match step {
        Step::Trade => fs::write(&place, "theirs"),
        Step::Inspect => fs::remove_dir(place.parent().unwrap()),
        _ => Ok(()),
    });
    let outcome = written(bed.write_watched(steps, &[("daily/a.md", None)]));
    assert_eq!(outcome.kept.len(), 1);
    assert_eq!(bed.read("daily/a.md").unwrap(), "theirs");
    bed.assert_settled();
}

#[test]
fn a_lost_lease_changes_nothing() {
    let bed = Testbed::new();
    let _ = written(bed.write(&[("a.md", Some("a"))]));
    for answers in [0, 1] {
        let asked = AtomicUsize::new(0);
        let holds = || asked.fetch_add(1, Ordering::SeqCst) < answers;
        let outcome = lock(&bed.folder).write(&stamp(), "No", &holds, |_| {
            Ok(as_changes(&[("a.md", Some("b"))]))
        });
        assert_eq!(outcome.unwrap(), WriteOutcome::LeaseLost);
        assert_eq!(bed.read("a.md").unwrap(), "a");
        assert_eq!(bed.log().len(), 1);
    }
    let _ = bed.settle().unwrap();
    bed.assert_settled();
}

#[test]
fn what_a_person_committed_beside_our_files_is_carried_on() {
    let bed = Testbed::new();
    let _ = written(bed.write(&[("a.md", Some("a"))]));
    bed.save(".gitignore", "*.tmp\n");
    bed.save("x.sh", "#!/bin/sh\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("a.md", bed.at("link")).unwrap();
    if bed.git(&["add", "-A"]).is_none() {
        return;
    }
    bed.git(&["update-index", "--chmod=+x", "x.sh"]);
    bed.git(&["-c", "commit.gpgsign=false", "commit", "-qm", "Mine"]);
    bed.save(".staged", "not committed yet");
    bed.git(&["add", ".staged"]);
    let _ = written(bed.write(&[("a.md", Some("aa")), ("x.sh", Some("#!/bin/bash\n"))]));
    let listed = bed.git(&["ls-tree", "-r", "HEAD"]).unwrap();
    let modes: Vec<_> = listed
        .lines()
        .map(|line| (&line[..6], line.rsplit('\t').next().unwrap()))
        .collect();
    let mut expected = vec![
        ("100644", ".gitignore"),
        ("100644", "a.md"),
        ("100755", "x.sh"),
    ];
    if cfg!(unix) {
        expected.insert(2, ("120000", "link"));
    }
    assert_eq!(modes, expected);
    assert_eq!(bed.git(&["status", "--porcelain"]).unwrap(), "A  .staged\n");
    bed.assert_sound();
}

#[test]
fn a_persons_staged_edit_is_taken_up_like_any_other() {
    let bed = Testbed::new();
    let _ = written(bed.write(&[("a.md", Some("a")), ("b.md", Some("b"))]));
    bed.save("a.md", "staged");
    if bed.git(&["add", "a.md"]).is_none() {
        return;
    }
    bed.git(&["rm", "-q", "b.md"]);
    let _ = written(bed.write(&[("c.md", Some("c"))]));
    assert_eq!(
        bed.log()[1..],
        [by_person("Edit 2 files"), by_engine("Write memory")]
    );
    bed.assert_settled();
}

#[test]
fn git_diff_shows_only_the_persons_edit() {
    let bed = Testbed::new();
    let _ = written(bed.write(&[("a.md", Some("a\n")), ("b.md", Some("b\n"))]));
    let _ = written(bed.write(&[("a.md", Some("aa\n"))]));
    bed.save("b.md", "mine\n");
    let Some(diff) = bed.git(&["diff", "--stat"]) else {
        return;
    };
    assert!(diff.contains("b.md") && !diff.contains("a.md"), "{diff}");
}

#[test]
fn a_commit_that_a_person_makes_while_we_write_comes_first() {
    for step in [Step::SwapFile, Step::TakeGitLock] {
        let bed = Testbed::new();
        let _ = written(bed.write(&[("a.md", Some("a")), ("b.md", Some("b"))]));
        if bed.git(&["status"]).is_none() {
            return;
        }
        let (root, config) = (bed.folder.root().to_owned(), bed.gitconfig());
        let steps = once_at(step, move || {
            save(&root.join("b.md"), b"mine");
            git(
                &root,
                &config,
                &[
                    "-c",
                    "commit.gpgsign=false",
                    "commit",
                    "-qm",
                    "Mine",
                    "b.md",
                ],
            );
        });
        let outcome = written(bed.write_watched(steps, &[("a.md", Some("aa"))]));
        assert_eq!(
            bed.log()[1..],
            [
                ("Ada".to_owned(), "Mine".to_owned()),
                by_engine("Write memory")
            ]
        );
        assert_eq!(bed.tree(outcome.commit), bed.work_tree());
        assert_eq!(
            (bed.read("a.md").unwrap(), bed.read("b.md").unwrap()),
            ("aa".to_owned(), "mine".to_owned())
        );
        bed.assert_settled();
    }
}

#[test]
fn while_git_holds_the_index_we_write_and_set_it_right_later() {
    let bed = Testbed::with(FilesConfig {
        git_lock_wait: Duration::ZERO,
        ..FilesConfig::default()
    });
    let _ = written(bed.write(&[("a.md", Some("a"))]));
    bed.save(".git/index.lock", "");
    let _ = written(bed.write(&[("a.md", Some("aa"))]));
    assert_eq!(bed.read(".git/index.lock").unwrap(), "");
    bed.remove(".git/index.lock");
    let _ = bed.settle().unwrap();
    bed.assert_settled();
}

#[test]
fn while_git_holds_the_branch_a_write_waits_for_the_next_writer() {
    let bed = Testbed::with(FilesConfig {
        git_lock_wait: Duration::ZERO,
        ..FilesConfig::default()
    });
    let _ = written(bed.write(&[("a.md", Some("a"))]));
    bed.save(".git/refs/heads/main.lock", "");
    assert!(matches!(
        bed.write(&[("a.md", Some("aa"))]),
        Err(FilesError::GitLocked { .. })
    ));
    bed.remove(".git/refs/heads/main.lock");
    assert!(matches!(
        bed.settle().unwrap().recovery,
        Recovery::Finished(_)
    ));
    assert_eq!(bed.versions("a.md"), [b"aa".to_vec(), b"a".to_vec()]);
    bed.assert_settled();
}

#[test]
fn nothing_is_written_while_a_person_is_amid_a_git_operation() {
    let bed = Testbed::new();
    let commit = written(bed.write(&[("a.md", Some("a"))])).commit;
    bed.save(".git/MERGE_HEAD", format!("{commit}\n"));
    assert!(matches!(
        bed.write(&[("a.md", Some("b"))]),
        Err(FilesError::PersonAtWork {
            doing: "a merge",
            ..
        })
    ));
    bed.remove(".git/MERGE_HEAD");
    bed.save(".git/HEAD", format!("{commit}\n"));
    assert!(matches!(bed.settle(), Err(FilesError::PersonAtWork { .. })));
    assert_eq!(bed.log().len(), 1);
}

#[test]
fn a_branch_that_a_person_switched_to_is_written() {
    let bed = Testbed::new();
    let _ = written(bed.write(&[("a.md", Some("a"))]));
    if bed.git(&["switch", "-qc", "try/this"]).is_none() {
        return;
    }
    let commit = written(bed.write(&[("a.md", Some("b"))])).commit;
    assert_eq!(
        bed.git(&["rev-parse", "try/this"]).unwrap().trim(),
        commit.to_string()
    );
    assert_ne!(
        bed.git(&["rev-parse", "main"]).unwrap().trim(),
        commit.to_string()
    );
    bed.assert_settled();
}

#[test]
fn changes_that_cannot_be_are_refused_whole() {
    let config = FilesConfig {
        max_file_bytes: 10,
        max_files: 4,
        ..FilesConfig::default()
    };
    let bed = Testbed::with(config);
    let _ = written(bed.write(&[("a", Some("a")), ("d/x", Some("x"))]));
    let ok = ("b", Some("b"));
    assert!(matches!(
        bed.write(&[("b", Some("12345678901"))]),
        Err(FilesError::TooLarge { .. })
    ));
    assert!(matches!(
        bed.write(&[ok, ("a/b", Some("b"))]),
        Err(FilesError::Clash { .. })
    ));
    assert!(matches!(
        bed.write(&[ok, ("d", Some("b"))]),
        Err(FilesError::Clash { .. })
    ));
    assert!(matches!(
        bed.write(&[ok, ("c", Some("c")), ("e", Some("e"))]),
        Err(FilesError::TooManyFiles { .. })
    ));
    assert_eq!(bed.log().len(), 1);
    let _ = written(bed.write(&[
        ("a", None),
        ("a/b", Some("b")),
        ("d/x", None),
        ("d", Some("d")),
    ]));
    bed.assert_settled();
    for name in ["1", "2", "3"] {
        bed.save(name, "");
    }
    assert!(matches!(bed.settle(), Err(FilesError::TooManyFiles { .. })));
}

#[cfg(unix)]
#[test]
fn a_link_cannot_lead_a_write_out_of_the_folder() {
    let bed = Testbed::new();
    let _ = written(bed.write(&[("notes/a.md", Some("a"))]));
    fs::create_dir(bed.beside("outside")).unwrap();
    fs::remove_dir_all(bed.at("notes")).unwrap();
    std::os::unix::fs::symlink(bed.beside("outside"), bed.at("notes")).unwrap();
    let outcome = written(bed.write(&[("notes/a.md", Some("b")), ("notes/b.md", Some("b"))]));
    assert_eq!(outcome.kept.len(), 2);
    assert!(
        fs::read_dir(bed.beside("outside"))
            .unwrap()
            .next()
            .is_none()
    );
    assert!(bed.at("notes").is_symlink());
    bed.assert_sound();
}

#[test]
fn a_folder_that_takes_a_files_name_is_an_edit() {
    let bed = Testbed::new();
    let _ = written(bed.write(&[("a", Some("a"))]));
    bed.remove("a");
    bed.save("a/b.md", "b");
    let _ = bed.settle().unwrap();
    bed.assert_settled();
    fs::remove_dir_all(bed.at("a")).unwrap();
    bed.save("a", "again");
    let _ = bed.settle().unwrap();
    bed.assert_settled();
}

#[test]
fn files_that_lie_in_a_folder_before_us_are_taken_up() {
    let bed = Testbed::new();
    let root = bed.beside("existing");
    save(&root.join("topics/mine.md"), b"mine");
    let folder = Folder::open(&root, FilesConfig::default()).unwrap();
    let settled = lock(&folder).settle(&stamp()).unwrap();
    assert!(settled.edits.is_some());
    assert_eq!(folder.head_files().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_new_folder_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let bed = Testbed::new();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(bed.folder.root()), 0o700);
    assert_eq!(mode(bed.folder.root().parent().unwrap()), 0o700);
}

#[test]
fn a_repository_of_a_kind_that_we_cannot_write_is_refused() {
    let bed = Testbed::new();
    for setting in [
        "[extensions]\n refStorage = reftable\n",
        "[core]\n bare = true\n",
    ] {
        bed.save(
            ".git/config",
            format!("[core]\n repositoryformatversion = 1\n{setting}"),
        );
        let refused = Folder::open(bed.folder.root(), FilesConfig::default());
        assert!(
            matches!(refused, Err(FilesError::NotARepository { .. })),
            "{setting}: {refused:?}"
        );
    }
}

#[test]
fn a_git_folder_that_cannot_be_used_is_left_alone() {
    let bed = Testbed::new();
    let root = bed.beside("other");
    save(&root.join(".git"), b"gitdir: elsewhere");
    let refused = Folder::open(&root, FilesConfig::default());
    assert!(
        matches!(refused, Err(FilesError::NotARepository { .. })),
        "{refused:?}"
    );
    assert_eq!(fs::read(root.join(".git")).unwrap(), b"gitdir: elsewhere");
}

#[test]
fn writers_of_one_folder_take_turns() {
    let bed = Testbed::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let bed = &bed;
            scope.spawn(move || {
                for round in 0..5 {
                    let (path, text) = (format!("{writer}.md"), format!("{round}"));
                    let _ = written(bed.write(&[(&path, Some(&text)), ("last.md", Some(&path))]));
                }
            });
        }
    });
    assert!(bed.log().len() >= 20);
    for writer in 0..4 {
        assert_eq!(bed.versions(&format!("{writer}.md")).first().unwrap(), b"4");
    }
    bed.assert_settled();
}
