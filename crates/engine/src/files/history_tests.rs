use super::*;
use crate::files::folder_test_support::TestFolder;

fn path(text: &str) -> FilePath {
    FilePath::new(text).unwrap()
}

#[test]
fn a_new_folder_has_no_history_and_no_files() {
    let memory = TestFolder::new();
    assert_eq!(memory.folder.head().unwrap(), None);
    assert_eq!(memory.folder.log(10).unwrap(), []);
    assert!(memory.folder.head_files().unwrap().is_empty());
    memory.assert_settled();
}

#[test]
fn every_version_can_be_read_again() {
    let memory = TestFolder::new();
    for text in ["one", "two"] {
        let _ = memory.write(&[("daily/a.md", Some(text))]).unwrap();
    }
    let _ = memory
        .write(&[("daily/a.md", None), ("b.md", Some("b"))])
        .unwrap();
    let log = memory.folder.log(10).unwrap();
    let read = |commit: &Commit| {
        memory
            .folder
            .read_at(commit.id, &path("daily/a.md"))
            .unwrap()
    };
    let versions: Vec<_> = log.iter().map(read).collect();
    assert_eq!(
        versions,
        [None, Some(b"two".to_vec()), Some(b"one".to_vec())]
    );
    assert_eq!(
        memory
            .folder
            .head_files()
            .unwrap()
            .into_keys()
            .collect::<Vec<_>>(),
        [path("b.md")]
    );
    assert_eq!(
        memory
            .folder
            .files_at(log[1].id)
            .unwrap()
            .into_keys()
            .collect::<Vec<_>>(),
        [path("daily/a.md")]
    );
}

#[test]
fn the_log_says_who_when_and_what_newest_first() {
    let memory = TestFolder::new();
    let _ = memory.write(&[("a.md", Some("one"))]).unwrap();
    memory.save("a.md", "mine");
    let settled = memory.settle().unwrap();
    let log = memory.folder.log(10).unwrap();
    let newest = Commit {
        id: settled.edits.unwrap(),
        time_ms: 1_700_000_000_000,
        author: "you".to_owned(),
        subject: "Edit a.md".to_owned(),
        parents: vec![log[1].id],
    };
    assert_eq!(log[0], newest);
    assert_eq!(
        (log[1].author.as_str(), log[1].subject.as_str()),
        ("Daybook", "Write memory")
    );
    assert_eq!(memory.folder.log(1).unwrap(), [newest]);
}

#[test]
fn an_unknown_commit_is_an_error() {
    let memory = TestFolder::new();
    let unknown: CommitHash = "0123456789012345678901234567890123456789".parse().unwrap();
    assert!(matches!(
        memory.folder.files_at(unknown),
        Err(FilesError::NoSuchCommit { .. })
    ));
    assert!(matches!(
        memory.folder.read_at(unknown, &path("a")),
        Err(FilesError::NoSuchCommit { .. })
    ));
    assert!("HEAD".parse::<CommitHash>().is_err());
}

#[test]
fn git_log_shows_what_we_show() {
    let memory = TestFolder::new();
    memory.save("notes/n.md", "mine");
    let _ = memory.write(&[("a.md", Some("one"))]).unwrap();
    let Some(shown) = memory.git(&["log", "--format=%H %an <%ae> %cn %ct %s"]) else {
        return;
    };
    let log = memory.folder.log(10).unwrap();
    let expected = format!(
        "{} Daybook <daybook@localhost> Daybook 1700000000 Write memory\n\
         {} you <you@localhost> you 1700000000 Add notes/n.md\n",
        log[0].id, log[1].id
    );
    assert_eq!(shown, expected);
    let reflog = memory.git(&["reflog", "--format=%H %gs"]).unwrap();
    assert_eq!(
        reflog,
        format!("{} Write memory\n{} Add notes/n.md\n", log[0].id, log[1].id)
    );
}

#[test]
fn history_stays_readable_after_git_has_packed_it() {
    let memory = TestFolder::new();
    let _ = memory.write(&[("a.md", Some("one"))]).unwrap();
    if memory.git(&["gc", "--quiet"]).is_none() {
        return;
    }
    let _ = memory
        .write(&[("a.md", Some("two")), ("b.md", Some("one"))])
        .unwrap();
    assert_eq!(memory.versions("a.md"), [b"two".to_vec(), b"one".to_vec()]);
    memory.assert_settled();
}
