use super::*;

fn no_git(_: &Path) -> Option<PathBuf> {
    None
}

fn check(cwd: &str, branch: Option<&str>, expected: &str) {
    assert_eq!(fold_root(cwd, branch, &no_git), expected, "{cwd}");
}

#[test]
fn a_folder_is_its_own_root() {
    check("/home/ada/engine", None, "/home/ada/engine");
    check("/home/ada/engine/", None, "/home/ada/engine");
    check("/", None, "/");
    check(r"C:\home\ada\engine\", None, "C:/home/ada/engine");
}

#[test]
fn worktrees_are_folded_by_their_path() {
    check("/home/ada/engine/.worktrees/2", None, "/home/ada/engine");
    check(
        "/home/ada/engine/.worktrees/ada/fix-1/src",
        None,
        "/home/ada/engine",
    );
    check(
        "/home/ada/engine/.claude/worktrees/calm-fox",
        None,
        "/home/ada/engine",
    );
    check(
        "/home/ada/engine/.git/worktrees/x",
        None,
        "/home/ada/engine",
    );
    check(
        r"C:\home\ada\engine\.worktrees\2",
        None,
        "C:/home/ada/engine",
    );
}

#[test]
fn a_folder_that_is_only_called_worktrees_needs_the_branch_to_agree() {
    check(
        "/home/ada/engine/worktrees/fix-1",
        Some("fix-1"),
        "/home/ada/engine",
    );
    check(
        "/home/ada/engine/worktrees/fix-1/src",
        Some("ada/fix-1"),
        "/home/ada/engine/worktrees/fix-1/src",
    );
    check(
        "/home/ada/engine/worktrees/fix-1",
        Some("ada/fix-1"),
        "/home/ada/engine",
    );
    check(
        "/home/ada/engine/worktrees/ada/fix-1",
        Some("ada/fix-1"),
        "/home/ada/engine",
    );
    check(
        "/home/ada/engine/worktrees/fix-1",
        Some("main"),
        "/home/ada/engine/worktrees/fix-1",
    );
    check(
        "/home/ada/engine/worktrees/fix-1",
        None,
        "/home/ada/engine/worktrees/fix-1",
    );
}

#[test]
fn worktrees_that_an_agent_keeps_at_home_belong_to_no_folder_above() {
    check(
        "/home/ada/.codex/worktrees/fix-1",
        Some("fix-1"),
        "/home/ada/.codex/worktrees/fix-1",
    );
}

#[test]
fn git_knows_better_while_the_folder_exists() {
    let git = |folder: &Path| {
        folder
            .starts_with("/tmp/trees/x")
            .then(|| PathBuf::from("/home/ada/engine/.git"))
    };
    assert_eq!(
        fold_root("/tmp/trees/x/src", None, &git),
        "/home/ada/engine"
    );
    let bare = |_: &Path| Some(PathBuf::from("/srv/engine.git"));
    assert_eq!(fold_root("/tmp/trees/x", None, &bare), "/srv/engine.git");
}

fn roots(cwds: &[&str], git: GitCommonDir<'_>) -> Vec<String> {
    let mut places = PlaceTracker::default();
    cwds.iter()
        .map(|cwd| {
            places.set_folder(cwd, Some("main"), git);
            places.place().unwrap().root.clone()
        })
        .collect()
}

#[test]
fn a_session_that_steps_into_a_subfolder_stays_where_it_began() {
    assert_eq!(
        roots(
            &[
                "/home/ada/engine",
                "/home/ada/engine/src",
                "/home/ada/engine-2",
                "/home/ada/engine"
            ],
            &no_git
        ),
        [
            "/home/ada/engine",
            "/home/ada/engine",
            "/home/ada/engine-2",
            "/home/ada/engine"
        ]
    );
    assert_eq!(
        roots(
            &[
                "/home/ada/engine/.worktrees/2",
                "/home/ada/engine/.worktrees/2/src"
            ],
            &no_git
        ),
        ["/home/ada/engine", "/home/ada/engine"]
    );
}

#[test]
fn a_repository_within_the_repository_is_a_place_of_its_own() {
    let git = |folder: &Path| folder.ends_with("inner").then(|| folder.join(".git"));
    assert_eq!(
        roots(&["/home/ada/engine", "/home/ada/engine/inner"], &git),
        ["/home/ada/engine", "/home/ada/engine/inner"]
    );
}

#[test]
fn an_unknown_folder_leaves_the_place_as_it_was() {
    let mut places = PlaceTracker::default();
    places.set_folder("", Some("main"), &no_git);
    assert_eq!(places.place(), None);
    places.set_folder("/home/ada/engine", Some("HEAD"), &no_git);
    places.set_folder("", None, &no_git);
    let expected = Place {
        root: "/home/ada/engine".to_owned(),
        branch: None,
    };
    assert_eq!(places.place(), Some(&expected));
}

#[test]
fn remotes_of_one_repository_have_one_name() {
    for address in [
        "git@github.com:ada/engine.git",
        "https://github.com/ada/engine",
        "https://ada:secret@GitHub.com/ada/engine.git/",
        "ssh://git@github.com:22/ada/engine.git",
    ] {
        assert_eq!(
            normalised_remote(address).as_deref(),
            Some("github.com/ada/engine"),
            "{address}"
        );
    }
    for address in [
        "",
        "/srv/engine.git",
        "../engine",
        r"C:\home\ada\engine",
        "file:///srv/engine",
        "https://github.com/",
    ] {
        assert_eq!(normalised_remote(address), None, "{address}");
    }
}
