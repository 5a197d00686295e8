use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::bounded::FileRefusal;
use crate::files::folder::{FileDurability, FilesConfig, Folder};
use crate::files::folder_test_support::{TestFolder, as_changes, git, lock, save, stamp};
use crate::files::steps::StepObserver;

fn written(outcome: Result<WriteOutcome, FilesError>) -> FinishedWrite {
    match outcome.unwrap() {
        WriteOutcome::Written(written) => written,
        other => panic!("{other:?}"),
    }
}

/// Calls `act` the first time that `step` is reached.
fn once_at(step: WriteStep, act: impl Fn() + Send + Sync + 'static) -> StepObserver {
    let reached = AtomicUsize::new(0);
    StepObserver::observing(move |at| {
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
fn a_write_is_one_commit_and_leaves_git_status_clean() {
    for durability in [FileDurability::Process, FileDurability::Power] {
        let memory = TestFolder::with(FilesConfig {
            durability,
            ..FilesConfig::default()
        });
        let outcome =
            written(memory.write(&[("MEMORY.md", Some("m\r\n")), ("daily/a.md", Some("a"))]));
        assert_eq!(memory.folder.head().unwrap(), Some(outcome.commit));
        assert_eq!((outcome.kept, outcome.edits), (vec![], None));
        assert_eq!(memory.log(), [by_engine("Write memory")]);
        assert_eq!(memory.read("MEMORY.md").unwrap(), "m\r\n");
        memory.assert_settled();
        let _ = written(memory.write(&[("MEMORY.md", Some("two\n")), ("daily/a.md", None)]));
        assert!(!memory.at("daily").exists());
        memory.assert_settled();
    }
}

/// A write does not scan again what a call under the same lock has just settled.
#[test]
fn an_edit_between_settling_and_writing_is_kept_and_found() {
    let memory = TestFolder::new();
    let before = [
        ("a.md", Some("a one\n")),
        ("b.md", Some("b one\n")),
        ("c.md", Some("c one\n")),
    ];
    let _ = written(memory.write(&before));
    let held = lock(&memory.folder);
    let head = held.settle(&stamp()).unwrap().head;
    // Of the same size, in a file that is written, in one that is not, and one that is new.
    memory.save("a.md", "a mine\n");
    memory.save("b.md", "b mine\n");
    memory.save("new.md", "mine\n");
    let wanted = [
        ("a.md", Some("a two\n")),
        ("c.md", Some("c two\n")),
        ("new.md", Some("new\n")),
    ];
    let outcome = held.write(&stamp(), "Write memory", &|| true, |snapshot| {
        assert_eq!(snapshot.commit(), head, "nothing was committed before");
        Ok(as_changes(&wanted))
    });
    let outcome = written(outcome);
    drop(held);
    assert_eq!(memory.tree(outcome.commit)["a.md"], b"a two\n");
    memory.settle().unwrap();
    for (path, text) in [
        ("a.md", "a mine\n"),
        ("b.md", "b mine\n"),
        ("c.md", "c two\n"),
        ("new.md", "mine\n"),
    ] {
        assert_eq!(memory.read(path).as_deref(), Some(text), "{path}");
    }
    memory.assert_settled();
}

/// What was settled under a lock is of no use once a person's git has moved the branch.
#[test]
fn a_commit_between_settling_and_writing_is_written_on() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[("a.md", Some("one\n"))]));
    let held = lock(&memory.folder);
    held.settle(&stamp()).unwrap();
    memory.save("a.md", "mine\n");
    if memory
        .git(&["-c", "commit.gpgsign=false", "commit", "-qam", "Mine"])
        .is_none()
    {
        return;
    }
    let outcome = held.write(&stamp(), "Write memory", &|| true, |snapshot| {
        assert_eq!(snapshot.commit(), memory.folder.head().unwrap());
        Ok(as_changes(&[("b.md", Some("b\n"))]))
    });
    let _ = written(outcome);
    drop(held);
    assert_eq!(memory.read("a.md").unwrap(), "mine\n");
    memory.assert_settled();
}

#[test]
fn what_changes_nothing_makes_no_commit() {
    let memory = TestFolder::new();
    assert!(matches!(
        memory.write(&[]).unwrap(),
        WriteOutcome::Unchanged(_)
    ));
    assert!(matches!(
        memory.write(&[("gone.md", None)]).unwrap(),
        WriteOutcome::Unchanged(_)
    ));
    assert_eq!(memory.folder.head().unwrap(), None);
    let _ = written(memory.write(&[("a.md", Some("a"))]));
    assert!(matches!(
        memory
            .write(&[("a.md", Some("a")), ("b.md", None)])
            .unwrap(),
        WriteOutcome::Unchanged(_)
    ));
    assert_eq!(memory.log().len(), 1);
    memory.assert_settled();
}

#[test]
fn a_persons_edits_are_committed_as_theirs_before_ours() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[
        ("a.md", Some("a")),
        ("b.md", Some("b")),
        ("c.md", Some("c")),
    ]));
    memory.save("a.md", [0xff, 0x00, b'\r', b'\n']);
    memory.remove("b.md");
    memory.save("topics/new.md", "");
    let outcome = written(memory.write(&[("c.md", Some("cc"))]));
    assert_eq!(
        memory.log()[1..],
        [by_person("Edit 3 files"), by_engine("Write memory")]
    );
    let theirs = memory.tree(outcome.settled.edits.unwrap());
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
    memory.assert_settled();
}

#[test]
fn a_plan_sees_the_persons_edits() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[("a.md", Some("ours"))]));
    memory.save("a.md", "theirs");
    let plan = |snapshot: &FolderSnapshot<'_>| {
        let path = FilePath::new("a.md").unwrap();
        let mut text = snapshot.read(&path)?.unwrap();
        text.extend_from_slice(b" and ours");
        assert_eq!(snapshot.files().count(), 1);
        let mut changes = FileChanges::none();
        changes.write(path, text);
        Ok(changes)
    };
    let _ = lock(&memory.folder)
        .write(&stamp(), "Merge", &|| true, plan)
        .unwrap();
    assert_eq!(memory.read("a.md").unwrap(), "theirs and ours");
}

#[test]
fn a_saved_file_of_the_same_length_is_noticed_however_soon_it_is_saved() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[("a.md", Some("0000"))]));
    for round in 1..200 {
        memory.save("a.md", format!("{round:04}"));
        assert!(memory.settle().unwrap().edits.is_some(), "round {round}");
    }
}

#[test]
fn only_regular_visible_files_within_the_size_limit_are_committed() {
    let memory = TestFolder::with(FilesConfig {
        max_file_bytes: 10,
        ..FilesConfig::default()
    });
    let _ = written(memory.write(&[("big.md", Some("small"))]));
    memory.save("big.md", "much too large");
    memory.save(".hidden", "x");
    memory.save(".obsidian/app.json", "x");
    memory.save("clone/.git/HEAD", "x");
    memory.save("clone/file.md", "x");
    #[cfg(unix)]
    std::os::unix::fs::symlink(memory.beside("gitconfig"), memory.at("link.md")).unwrap();
    let settled = memory.settle().unwrap();
    let skipped = |path: &str, why| SkippedPath {
        path: path.into(),
        why,
    };
    let expected = [
        skipped(
            "big.md",
            SkipReason::Refused(FileRefusal::TooLarge { limit: 10 }),
        ),
        skipped("clone", SkipReason::OwnRepository),
        #[cfg(unix)]
        skipped("link.md", SkipReason::Refused(FileRefusal::Link)),
    ];
    let mut found = settled.skipped;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert_eq!(found, expected);
    assert_eq!(settled.edits, None);
    let kept = written(memory.write(&[("big.md", Some("ours"))])).kept;
    assert_eq!(kept, [FilePath::new("big.md").unwrap()]);
    assert_eq!(memory.read("big.md").unwrap(), "much too large");
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_text_is_left_alone_and_shown() {
    use std::os::unix::ffi::OsStrExt;
    let memory = TestFolder::new();
    let name = std::ffi::OsStr::from_bytes(b"a\xff.md");
    fs::write(memory.folder.root().join(name), "x").unwrap();
    let _ = written(memory.write(&[("b.md", Some("b"))]));
    assert_eq!(
        memory.settle().unwrap().skipped,
        [SkippedPath {
            path: name.into(),
            why: SkipReason::BadName
        }]
    );
    memory.assert_sound();
}

#[test]
fn an_edit_during_a_write_stays_and_the_engines_version_is_in_the_history() {
    for (step, can_exchange) in [
        (WriteStep::ReplaceFile, true),
        (WriteStep::ReplaceFile, false),
        (WriteStep::ExchangeFiles, true),
    ] {
        let mut memory = TestFolder::new();
        memory.folder.may_exchange = can_exchange;
        let _ = written(memory.write(&[("a.md", Some("one")), ("b.md", Some("b"))]));
        let place = memory.at("a.md");
        let steps = once_at(step, move || save(&place, b"theirs"));
        let outcome =
            written(memory.write_observed(steps, &[("a.md", Some("two")), ("b.md", Some("bb"))]));
        assert_eq!(outcome.kept, [FilePath::new("a.md").unwrap()]);
        assert_eq!(memory.read("a.md").unwrap(), "theirs");
        assert_eq!(memory.read("b.md").unwrap(), "bb");
        assert_eq!(
            memory.versions("a.md"),
            [b"theirs".to_vec(), b"two".to_vec(), b"one".to_vec()]
        );
        assert_eq!(memory.folder.head().unwrap(), outcome.edits);
        memory.assert_settled();
    }
}

#[test]
fn a_file_that_we_delete_goes_back_if_it_was_edited_even_into_a_folder_that_is_gone() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[("daily/a.md", Some("one"))]));
    let place = memory.at("daily/a.md");
    let steps = StepObserver::observing(move |step| match step {
        WriteStep::ExchangeFiles => fs::write(&place, "theirs"),
        WriteStep::InspectDisplaced => fs::remove_dir(place.parent().unwrap()),
        WriteStep::SyncToDisk
        | WriteStep::PublishObject
        | WriteStep::PrepareFile
        | WriteStep::RecordIntent
        | WriteStep::ReplaceFile
        | WriteStep::AcquireGitLock
        | WriteStep::CommitGitLock
        | WriteStep::CommitConflictingEdits
        | WriteStep::ClearIntent
        | WriteStep::RecordReplaced
        | WriteStep::DeleteReplaced
        | WriteStep::ClearReplaced => Ok(()),
    });
    let outcome = written(memory.write_observed(steps, &[("daily/a.md", None)]));
    assert_eq!(outcome.kept.len(), 1);
    assert_eq!(memory.read("daily/a.md").unwrap(), "theirs");
    memory.assert_settled();
}

#[test]
fn a_lost_lease_changes_nothing() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[("a.md", Some("a"))]));
    for answers in [0, 1] {
        let asked = AtomicUsize::new(0);
        let holds = || asked.fetch_add(1, Ordering::SeqCst) < answers;
        let outcome = lock(&memory.folder).write(&stamp(), "No", &holds, |_| {
            Ok(as_changes(&[("a.md", Some("b"))]))
        });
        assert_eq!(outcome.unwrap(), WriteOutcome::LeaseLost);
        assert_eq!(memory.read("a.md").unwrap(), "a");
        assert_eq!(memory.log().len(), 1);
    }
    let _ = memory.settle().unwrap();
    memory.assert_settled();
}

#[test]
fn what_a_person_committed_beside_our_files_is_carried_on() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[("a.md", Some("a"))]));
    memory.save(".gitignore", "*.tmp\n");
    memory.save("x.sh", "#!/bin/sh\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("a.md", memory.at("link")).unwrap();
    if memory.git(&["add", "-A"]).is_none() {
        return;
    }
    memory.git(&["update-index", "--chmod=+x", "x.sh"]);
    memory.git(&["-c", "commit.gpgsign=false", "commit", "-qm", "Mine"]);
    memory.save(".staged", "not committed yet");
    memory.git(&["add", ".staged"]);
    let _ = written(memory.write(&[("a.md", Some("aa")), ("x.sh", Some("#!/bin/bash\n"))]));
    let listed = memory.git(&["ls-tree", "-r", "HEAD"]).unwrap();
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
    assert_eq!(
        memory.git(&["status", "--porcelain"]).unwrap(),
        "A  .staged\n"
    );
    memory.assert_sound();
}

#[test]
fn a_persons_staged_edit_is_committed_like_any_other() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[("a.md", Some("a")), ("b.md", Some("b"))]));
    memory.save("a.md", "staged");
    if memory.git(&["add", "a.md"]).is_none() {
        return;
    }
    memory.git(&["rm", "-q", "b.md"]);
    let _ = written(memory.write(&[("c.md", Some("c"))]));
    assert_eq!(
        memory.log()[1..],
        [by_person("Edit 2 files"), by_engine("Write memory")]
    );
    memory.assert_settled();
}

#[test]
fn git_diff_shows_only_the_persons_edit() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[("a.md", Some("a\n")), ("b.md", Some("b\n"))]));
    let _ = written(memory.write(&[("a.md", Some("aa\n"))]));
    memory.save("b.md", "mine\n");
    let Some(diff) = memory.git(&["diff", "--stat"]) else {
        return;
    };
    assert!(diff.contains("b.md") && !diff.contains("a.md"), "{diff}");
}

#[test]
fn a_commit_that_a_person_makes_while_we_write_comes_first() {
    for step in [WriteStep::ReplaceFile, WriteStep::AcquireGitLock] {
        let memory = TestFolder::new();
        let _ = written(memory.write(&[("a.md", Some("a")), ("b.md", Some("b"))]));
        if memory.git(&["status"]).is_none() {
            return;
        }
        let (root, config) = (memory.folder.root().to_owned(), memory.gitconfig());
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
        let outcome = written(memory.write_observed(steps, &[("a.md", Some("aa"))]));
        assert_eq!(
            memory.log()[1..],
            [
                ("Ada".to_owned(), "Mine".to_owned()),
                by_engine("Write memory")
            ]
        );
        assert_eq!(memory.tree(outcome.commit), memory.work_tree());
        assert_eq!(
            (memory.read("a.md").unwrap(), memory.read("b.md").unwrap()),
            ("aa".to_owned(), "mine".to_owned())
        );
        memory.assert_settled();
    }
}

#[test]
fn while_git_holds_the_index_we_write_and_set_it_right_later() {
    let memory = TestFolder::with(FilesConfig {
        git_lock_wait: Duration::ZERO,
        ..FilesConfig::default()
    });
    let _ = written(memory.write(&[("a.md", Some("a"))]));
    memory.save(".git/index.lock", "");
    let _ = written(memory.write(&[("a.md", Some("aa"))]));
    assert_eq!(memory.read(".git/index.lock").unwrap(), "");
    memory.remove(".git/index.lock");
    let _ = memory.settle().unwrap();
    memory.assert_settled();
}

#[test]
fn while_git_holds_the_branch_a_write_waits_for_the_next_writer() {
    let memory = TestFolder::with(FilesConfig {
        git_lock_wait: Duration::ZERO,
        ..FilesConfig::default()
    });
    let _ = written(memory.write(&[("a.md", Some("a"))]));
    memory.save(".git/refs/heads/main.lock", "");
    assert!(matches!(
        memory.write(&[("a.md", Some("aa"))]),
        Err(FilesError::GitLocked { .. })
    ));
    memory.remove(".git/refs/heads/main.lock");
    assert!(matches!(
        memory.settle().unwrap().recovery,
        Recovery::Finished(_)
    ));
    assert_eq!(memory.versions("a.md"), [b"aa".to_vec(), b"a".to_vec()]);
    memory.assert_settled();
}

#[test]
fn nothing_is_written_while_a_person_is_amid_a_git_operation() {
    let memory = TestFolder::new();
    let commit = written(memory.write(&[("a.md", Some("a"))])).commit;
    memory.save(".git/MERGE_HEAD", format!("{commit}\n"));
    assert!(matches!(
        memory.write(&[("a.md", Some("b"))]),
        Err(FilesError::PersonAtWork {
            doing: "a merge",
            ..
        })
    ));
    memory.remove(".git/MERGE_HEAD");
    memory.save(".git/HEAD", format!("{commit}\n"));
    assert!(matches!(
        memory.settle(),
        Err(FilesError::PersonAtWork { .. })
    ));
    assert_eq!(memory.log().len(), 1);
}

#[test]
fn a_branch_that_a_person_switched_to_is_written() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[("a.md", Some("a"))]));
    if memory.git(&["switch", "-qc", "try/this"]).is_none() {
        return;
    }
    let commit = written(memory.write(&[("a.md", Some("b"))])).commit;
    assert_eq!(
        memory.git(&["rev-parse", "try/this"]).unwrap().trim(),
        commit.to_string()
    );
    assert_ne!(
        memory.git(&["rev-parse", "main"]).unwrap().trim(),
        commit.to_string()
    );
    memory.assert_settled();
}

#[test]
fn changes_that_cannot_be_are_refused_whole() {
    let config = FilesConfig {
        max_file_bytes: 10,
        max_files: 4,
        ..FilesConfig::default()
    };
    let memory = TestFolder::with(config);
    let _ = written(memory.write(&[("a", Some("a")), ("d/x", Some("x"))]));
    let ok = ("b", Some("b"));
    assert!(matches!(
        memory.write(&[("b", Some("12345678901"))]),
        Err(FilesError::TooLarge { .. })
    ));
    assert!(matches!(
        memory.write(&[ok, ("a/b", Some("b"))]),
        Err(FilesError::PathConflict { .. })
    ));
    assert!(matches!(
        memory.write(&[ok, ("d", Some("b"))]),
        Err(FilesError::PathConflict { .. })
    ));
    assert!(matches!(
        memory.write(&[ok, ("c", Some("c")), ("e", Some("e"))]),
        Err(FilesError::TooManyFiles { .. })
    ));
    assert_eq!(memory.log().len(), 1);
    let _ = written(memory.write(&[
        ("a", None),
        ("a/b", Some("b")),
        ("d/x", None),
        ("d", Some("d")),
    ]));
    memory.assert_settled();
    for name in ["1", "2", "3"] {
        memory.save(name, "");
    }
    assert!(matches!(
        memory.settle(),
        Err(FilesError::TooManyFiles { .. })
    ));
}

#[cfg(unix)]
#[test]
fn a_link_cannot_lead_a_write_out_of_the_folder() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[("notes/a.md", Some("a"))]));
    fs::create_dir(memory.beside("outside")).unwrap();
    fs::remove_dir_all(memory.at("notes")).unwrap();
    std::os::unix::fs::symlink(memory.beside("outside"), memory.at("notes")).unwrap();
    let outcome = written(memory.write(&[("notes/a.md", Some("b")), ("notes/b.md", Some("b"))]));
    assert_eq!(outcome.kept.len(), 2);
    assert!(
        fs::read_dir(memory.beside("outside"))
            .unwrap()
            .next()
            .is_none()
    );
    assert!(memory.at("notes").is_symlink());
    memory.assert_sound();
}

#[test]
fn a_folder_that_takes_a_files_name_is_an_edit() {
    let memory = TestFolder::new();
    let _ = written(memory.write(&[("a", Some("a"))]));
    memory.remove("a");
    memory.save("a/b.md", "b");
    let _ = memory.settle().unwrap();
    memory.assert_settled();
    fs::remove_dir_all(memory.at("a")).unwrap();
    memory.save("a", "again");
    let _ = memory.settle().unwrap();
    memory.assert_settled();
}

#[test]
fn files_that_a_folder_already_holds_are_committed() {
    let memory = TestFolder::new();
    let root = memory.beside("existing");
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
    let memory = TestFolder::new();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(memory.folder.root()), 0o700);
    assert_eq!(mode(memory.folder.root().parent().unwrap()), 0o700);
}

#[test]
fn a_repository_of_a_kind_that_we_cannot_write_is_refused() {
    let memory = TestFolder::new();
    for setting in [
        "[extensions]\n refStorage = reftable\n",
        "[core]\n bare = true\n",
    ] {
        memory.save(
            ".git/config",
            format!("[core]\n repositoryformatversion = 1\n{setting}"),
        );
        let refused = Folder::open(memory.folder.root(), FilesConfig::default());
        assert!(
            matches!(refused, Err(FilesError::NotARepository { .. })),
            "{setting}: {refused:?}"
        );
    }
}

#[test]
fn a_git_folder_that_cannot_be_used_is_left_alone() {
    let memory = TestFolder::new();
    let root = memory.beside("other");
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
    let memory = TestFolder::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let memory = &memory;
            scope.spawn(move || {
                for round in 0..5 {
                    let (path, text) = (format!("{writer}.md"), format!("{round}"));
                    let _ =
                        written(memory.write(&[(&path, Some(&text)), ("last.md", Some(&path))]));
                }
            });
        }
    });
    assert!(memory.log().len() >= 20);
    for writer in 0..4 {
        assert_eq!(
            memory.versions(&format!("{writer}.md")).first().unwrap(),
            b"4"
        );
    }
    memory.assert_settled();
}
