use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::files::folder_test_support::{TestFolder, git, lock, stamp};

/// A folder whose baseline holds these files.
fn folder_with(files: &[(&str, &str)]) -> (TestFolder, CommitHash) {
    let test = TestFolder::new();
    for (path, text) in files {
        test.save(path, text);
    }
    let settled = lock(&test.folder).settle(&stamp()).unwrap();
    (test, settled.head.expect("it has files"))
}

fn statuses(diff: &WorkspaceDiff) -> Vec<String> {
    let status = |change: &WorkspaceChange| format!("{} {}", change.status().letter(), change.path);
    diff.changes.iter().map(status).collect()
}

/// The fenced diff alone.
fn fenced(text: &str) -> String {
    let (_, diff) = text.split_once("\n## Diff\n").expect("it has a diff");
    let (opening, rest) = diff.split_once('\n').expect("it has a fence");
    let fence = opening.strip_suffix("diff").expect("it is a diff");
    rest.strip_suffix(&format!("{fence}\n"))
        .expect("it is closed")
        .to_owned()
}

#[test]
fn c93_new_changed_and_deleted_files_are_listed_with_their_changes() {
    let (test, baseline) = folder_with(&[
        (
            "MEMORY.md",
            "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n",
        ),
        ("notes/old.md", "gone\nfor good"),
        ("tool.md", "run me\n"),
    ]);
    test.save(
        "MEMORY.md",
        "one\ntwo\nthree\nfour\nfünf\nsix\nseven\neight\n",
    );
    test.save("topics/new.md", "neu\n");
    test.remove("notes/old.md");
    set_executable(&test.at("tool.md"));
    let diff = WorkspaceDiff::since(&test.folder, Some(baseline)).unwrap();
    let expected = [
        "M MEMORY.md",
        "D notes/old.md",
        "M tool.md",
        "A topics/new.md",
    ];
    assert_eq!(statuses(&diff), expected);
    insta::assert_snapshot!(diff.render());
    if let Some(applied) = applied(&test, baseline, &diff) {
        assert_eq!(applied, files_of(test.folder.root()));
    }
}

#[cfg(unix)]
fn set_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The files of the baseline in another folder, after `git apply` of the diff. `None` without git.
fn applied(
    test: &TestFolder,
    baseline: CommitHash,
    diff: &WorkspaceDiff,
) -> Option<Vec<(String, Vec<u8>)>> {
    let place = tempfile::tempdir().unwrap();
    for path in test.folder.files_at(baseline).unwrap().keys() {
        let target = place.path().join(path.as_str());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(
            target,
            test.folder.read_at(baseline, path).unwrap().unwrap(),
        )
        .unwrap();
    }
    fs::write(place.path().join(".patch"), fenced(&diff.render())).unwrap();
    let apply = ["apply", "--allow-empty", "--whitespace=nowarn", ".patch"];
    git(place.path(), Path::new("/dev/null"), &apply)?;
    Some(files_of(place.path()))
}

/// The visible files below a folder, with their contents.
fn files_of(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let name = path
                        .strip_prefix(folder)
                        .unwrap()
                        .to_string_lossy()
                        .into_owned();
                    files.push((name, fs::read(&path).unwrap()));
                }
            }
        }
    }
    files.sort();
    files
}

#[test]
fn c94_without_a_change_the_status_is_none() {
    let (test, baseline) = folder_with(&[("MEMORY.md", "one\n")]);
    let diff = WorkspaceDiff::since(&test.folder, Some(baseline)).unwrap();
    assert_eq!(diff, WorkspaceDiff::default());
    let text = diff.render();
    assert!(
        text.contains("## Status\n- none\n\n## Diff\n```diff\n```\n"),
        "{text}"
    );
}

#[test]
fn c95_a_difference_of_more_than_4_mib_is_cut_between_characters_and_closed() {
    let line = "größer als alles zuvor\n";
    let added = |bytes: usize| WorkspaceDiff {
        changes: vec![WorkspaceChange {
            path: "topics/huge.md".to_owned(),
            before: None,
            after: Some(FileVersion {
                mode: REGULAR,
                bytes: line.repeat(bytes / line.len() + 1).into_bytes(),
            }),
        }],
        unread: Vec::new(),
    };
    let small = added(1_000).render();
    assert!(!small.contains("truncated"), "{small}");
    for more in 0..line.len() {
        let text = added(WORKSPACE_DIFF_BYTES + 128 + more * 2).render();
        assert!(text.len() <= WORKSPACE_DIFF_BYTES);
        assert!(text.len() > WORKSPACE_DIFF_BYTES - 200, "{}", text.len());
        assert!(text.ends_with("\n[workspace diff truncated at 4194304 bytes]\n```\n"));
    }
    let two = [added(WORKSPACE_DIFF_BYTES), added(10)].map(|diff| diff.changes);
    let both = WorkspaceDiff {
        changes: two.concat(),
        unread: Vec::new(),
    };
    assert!(both.render().len() <= WORKSPACE_DIFF_BYTES);
}

#[test]
fn c96_a_new_baseline_leaves_nothing_to_show() {
    let (test, baseline) = folder_with(&[("MEMORY.md", "one\n")]);
    test.save("MEMORY.md", "two\n");
    let since = |baseline| WorkspaceDiff::since(&test.folder, Some(baseline)).unwrap();
    assert_eq!(statuses(&since(baseline)), ["M MEMORY.md"]);
    let next = lock(&test.folder).settle(&stamp()).unwrap().head;
    assert_eq!(since(next.expect("it has files")), WorkspaceDiff::default());
}

#[test]
fn c97_the_file_of_the_difference_is_no_part_of_it() {
    let (test, baseline) = folder_with(&[("MEMORY.md", "one\n")]);
    test.save(WORKSPACE_DIFF, "# Memory Workspace Diff\n");
    test.save(".hidden", "a person's tools");
    let diff = WorkspaceDiff::since(&test.folder, Some(baseline)).unwrap();
    assert_eq!(statuses(&diff), [""; 0]);
}

#[test]
fn without_a_baseline_every_file_is_new() {
    let (test, _) = folder_with(&[("MEMORY.md", "one\n"), ("notes/a.md", "two\n")]);
    let diff = WorkspaceDiff::since(&test.folder, None).unwrap();
    assert_eq!(statuses(&diff), ["A MEMORY.md", "A notes/a.md"]);
}

#[test]
fn looking_for_changes_writes_nothing() {
    let (test, baseline) = folder_with(&[("MEMORY.md", "one\n")]);
    test.save("MEMORY.md", "two\n");
    test.save("new.md", "new\n");
    let before = test.loose_objects();
    let _ = WorkspaceDiff::since(&test.folder, Some(baseline)).unwrap();
    assert_eq!(test.loose_objects(), before);
}

/// A link is shown as what it is, and never followed; what cannot be read counts as unchanged, and is named.
#[cfg(unix)]
#[test]
fn links_are_not_followed_and_unreadable_files_are_named() {
    let (test, baseline) = folder_with(&[("MEMORY.md", "one\n"), ("topics/a.md", "two\n")]);
    fs::write(test.beside("secret"), "hunter2").unwrap();
    std::os::unix::fs::symlink(test.beside("secret"), test.at("link.md")).unwrap();
    test.remove("topics/a.md");
    let huge = fs::File::create(test.at("topics/a.md")).unwrap();
    huge.set_len(FILE_BYTES + 1).unwrap();
    let diff = WorkspaceDiff::since(&test.folder, Some(baseline)).unwrap();
    assert_eq!(statuses(&diff), ["A link.md"]);
    assert_eq!(diff.changes[0].after.as_ref().map(|it| it.mode), Some(LINK));
    assert_eq!(diff.unread, [PathBuf::from("topics/a.md")]);
    let text = diff.render();
    assert!(
        text.contains("- not read: topics/a.md\n") && !text.contains("hunter2"),
        "{text}"
    );
}

#[test]
fn a_text_with_fences_and_bytes_that_are_no_text_keep_the_frame() {
    let (test, baseline) = folder_with(&[("MEMORY.md", "one\n")]);
    test.save("MEMORY.md", "one\n```\n````md\n");
    test.save("picture.md", [0xff, 0, 1]);
    let text = WorkspaceDiff::since(&test.folder, Some(baseline))
        .unwrap()
        .render();
    assert!(
        text.contains("\n`````diff\n") && text.ends_with("\n`````\n"),
        "{text}"
    );
    assert!(
        text.contains("Binary files /dev/null and b/picture.md differ"),
        "{text}"
    );
}

fn lines() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["a\n", "b\n", "c\n", "ä\n", "\n", "- d\n"]);
    let end = prop::sample::select(vec!["", "end"]);
    (prop::collection::vec(line, 0..30), end).prop_map(|(lines, end)| lines.concat() + end)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// git itself makes the new files of the old ones and the difference.
    #[test]
    fn git_applies_every_difference(before in lines(), after in lines(), other in lines()) {
        let (test, baseline) = folder_with(&[("a.md", &before), ("kept.md", "kept\n")]);
        test.save("a.md", &after);
        test.save("b.md", format!("{other}x"));
        let diff = WorkspaceDiff::since(&test.folder, Some(baseline)).unwrap();
        if let Some(applied) = applied(&test, baseline, &diff) {
            prop_assert_eq!(applied, files_of(test.folder.root()));
        }
    }
}
