//! `daybook sync`: machines with a memory each exchange their files through a bare repository.

use std::fs;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::fixture::{TestPlace, TestSession, teaching_session};

/// What the first machine learned.
const FIRST: &str = "always write the test first";
/// Another rule of the same session.
const RULE: &str = "don't push without asking me first";
/// What the second machine learned, and how it is found.
const SECOND: &str = "always name the harbour in the log line";
const QUESTION: &str = "what must the log line name?";

/// A repository, and the machines that exchange files through it.
struct Machines {
    repository: PathBuf,
    first: TestPlace,
    second: TestPlace,
}

fn path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

impl Machines {
    /// Two machines that learned something else in the same project.
    fn new() -> Self {
        let (first, second) = (TestPlace::new(), TestPlace::new());
        let repository = first.home().join("memory.git");
        let made = Command::new("git")
            .args(["init", "--quiet", "--bare"])
            .arg(&repository)
            .status();
        assert!(made.expect("git is on the PATH").success());
        let session = TestSession::new(2)
            .human("we decided to serve the harbour charts from a second host, please never cache them")
            .agent("Done: the charts come from the second host.")
            .human(SECOND);
        import(&first, &teaching_session(1));
        import(&second, &session);
        Self {
            repository,
            first,
            second,
        }
    }

    fn address(&self) -> String {
        self.repository.display().to_string()
    }

    /// Both machines named the repository, and have all that the other one has.
    fn connected() -> Self {
        let all = Self::new();
        for place in [&all.first, &all.second] {
            stdout(place, &["sync", &all.address(), "--yes"]);
        }
        stdout(&all.first, &["sync"]);
        all
    }
}

fn import(place: &TestPlace, session: &TestSession) {
    let file = place.write(&format!("{}.jsonl", session.id()), &session.text());
    place.stdout(&["import", &file.display().to_string()]);
}

fn sync(place: &TestPlace, arguments: &[&str]) -> Output {
    let mut command = place.daybook(arguments);
    command
        .env("PATH", path())
        .output()
        .expect("daybook starts")
}

#[track_caller]
fn stdout(place: &TestPlace, arguments: &[&str]) -> String {
    let output = sync(place, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "daybook {arguments:?} failed: {error}"
    );
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// What a failed run printed.
#[track_caller]
fn refusal(place: &TestPlace, arguments: &[&str]) -> String {
    let output = sync(place, arguments);
    assert!(!output.status.success(), "daybook {arguments:?} succeeded");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn curated(place: &TestPlace) -> String {
    let page = place.root().join("projects/tidepool/memory/MEMORY.md");
    fs::read_to_string(page).expect("a page")
}

#[cfg(unix)]
fn program(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).expect("a script");
    fs::set_permissions(path, PermissionsExt::from_mode(0o700)).expect("a program");
}

#[test]
fn each_machine_recalls_what_the_other_learned_and_keeps_it() {
    let all = Machines::connected();
    for place in [&all.first, &all.second] {
        place.stdout(&["update"]);
        place.stdout(&["consolidate"]);
        let page = curated(place);
        assert!(page.contains(FIRST) && page.contains(SECOND), "{page}");
    }
    let found = all.first.stdout(&["recall", QUESTION]);
    assert!(found.contains(SECOND), "{found}");
    for place in [&all.first, &all.second, &all.first] {
        stdout(place, &["sync"]);
    }
    for place in [&all.first, &all.second] {
        assert_eq!(stdout(place, &["sync"]), "Everything is up to date.\n");
    }
    let below_heading = |place: &TestPlace| {
        let page = curated(place);
        page.split_once('\n').map(|(_, below)| below.to_owned())
    };
    assert_eq!(below_heading(&all.first), below_heading(&all.second));
}

#[test]
fn a_fresh_machine_keeps_a_project_of_which_it_has_no_checkout() {
    let all = Machines::connected();
    let fresh = TestPlace::new();
    stdout(&fresh, &["sync", &all.address(), "--yes"]);
    fresh.stdout(&["update"]);
    let page = curated(&fresh);
    assert!(page.contains(FIRST) && page.contains(SECOND), "{page}");
    let found = fresh.stdout(&["recall", QUESTION, "--project", "tidepool"]);
    assert!(found.contains(SECOND), "{found}");
    // The heading, which counts what this machine learned, is its own, and is not sent.
    assert_ne!(page.lines().next(), curated(&all.first).lines().next());
    assert_eq!(stdout(&fresh, &["sync"]), "Everything is up to date.\n");
}

#[test]
fn nothing_leaves_before_the_person_agrees_to_what_would_leave() {
    let all = Machines::new();
    let (first, address) = (&all.first, all.address());
    let unnamed = refusal(first, &["sync"]);
    assert!(
        unnamed.contains("name the repository the first time"),
        "{unnamed}"
    );
    let asked = refusal(first, &["sync", &address]);
    assert!(asked.contains("memory would leave this machine"), "{asked}");
    let shown = stdout(first, &["sync", &address, "--dry-run"]);
    assert!(
        shown.contains("project/tidepool") && shown.contains("stays in its history"),
        "{shown}"
    );
    let json = stdout(first, &["sync", &address, "--dry-run", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert!(json["outgoing"][0]["files"].as_u64() > Some(0), "{json}");
    let empty = Command::new("git")
        .arg("--git-dir")
        .arg(&all.repository)
        .args(["rev-list", "--all"])
        .output();
    assert_eq!(empty.expect("git").stdout, b"");
    let done = stdout(first, &["sync", &address, "--yes", "--json"]);
    let done: Value = serde_json::from_str(&done).expect("JSON");
    assert_eq!(done["pushed"], true);
    assert_eq!(done["folders"][0]["state"], "merged", "{done}");
}

#[test]
fn what_is_forgotten_on_one_machine_is_forgotten_on_all() {
    let all = Machines::connected();
    import(&all.second, &teaching_session(1));
    stdout(&all.second, &["sync"]);
    let forget = ["forget", RULE, "--project", "tidepool", "--yes"];
    all.first.stdout(&forget);
    stdout(&all.first, &["sync"]);
    stdout(&all.second, &["sync"]);
    all.second.stdout(&["update"]);
    for place in [&all.first, &all.second] {
        assert!(!curated(place).contains(RULE), "{}", curated(place));
        let listed = place.stdout(&["list", "--project", "tidepool"]);
        assert!(
            listed.contains("a file survives a restart") && !listed.contains(RULE),
            "{listed}"
        );
    }
}

#[test]
fn an_address_that_git_would_run_a_program_for_is_refused_and_a_missing_git_is_named() {
    let all = Machines::new();
    for address in ["ext::sh -c true", "https://ada:pass@host.example/memory"] {
        let refused = refusal(&all.first, &["sync", "--yes", address]);
        assert!(
            refused.contains("cannot be the address of a repository"),
            "{refused}"
        );
    }
    let arguments = ["sync", &all.address(), "--yes", "--json"];
    let mut command = all.first.daybook(&arguments);
    let empty = command.env("PATH", all.first.transcripts());
    let without_git = empty.output().expect("daybook starts");
    let error = String::from_utf8_lossy(&without_git.stderr).into_owned()
        + &String::from_utf8_lossy(&without_git.stdout);
    assert!(
        !without_git.status.success() && error.contains("git is not on the PATH"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn a_push_that_fails_is_made_up_for_by_the_next_one() {
    let all = Machines::connected();
    let page = all.first.root().join("projects/tidepool/memory/MEMORY.md");
    let text = format!("{}A line of Ada.\n", curated(&all.first));
    fs::write(&page, text).expect("an edit");
    let hook = all.repository.join("hooks/pre-receive");
    program(&hook, "#!/bin/sh\necho closed for today >&2\nexit 1\n");
    let refused = refusal(&all.first, &["sync"]);
    assert!(refused.contains("closed for today"), "{refused}");
    fs::remove_file(hook).expect("a hook");
    for place in [&all.first, &all.second] {
        stdout(place, &["sync"]);
        assert_eq!(curated(place).matches("A line of Ada.").count(), 1);
    }
}

#[cfg(unix)]
#[test]
fn a_push_that_another_machine_forestalled_is_repeated_with_what_it_pushed() {
    let all = Machines::connected();
    for (place, name) in [(&all.first, "Ada"), (&all.second, "Bea")] {
        let page = place.root().join("projects/tidepool/memory/MEMORY.md");
        fs::write(page, format!("{}A line of {name}.\n", curated(place))).expect("an edit");
    }
    // A git that lets the second machine exchange its files just before the first push.
    let folder = all.first.home().join("bin");
    fs::create_dir_all(&folder).expect("a folder");
    let (once, daybook) = (folder.join("once"), env!("CARGO_BIN_EXE_daybook"));
    let (path, second) = (path(), &all.second);
    let (path, root, home) = (path.to_string_lossy(), second.root(), second.home());
    let script = format!(
        "#!/bin/sh\nPATH='{path}'\nexport PATH\n\
         case \" $* \" in *' push '*) if mkdir '{}' 2>/dev/null; then\n\
         DAYBOOK_HOME='{}' HOME='{}' '{daybook}' sync >&2 || exit 9\nfi;; esac\nexec git \"$@\"\n",
        once.display(),
        root.display(),
        home.display()
    );
    program(&folder.join("git"), &script);
    let mut command = all.first.daybook(&["sync"]);
    let output = command
        .env("PATH", &folder)
        .output()
        .expect("daybook starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(once.exists());
    stdout(&all.second, &["sync"]);
    for place in [&all.first, &all.second] {
        let page = curated(place);
        assert_eq!(page.matches("A line of").count(), 2, "{page}");
    }
}

#[test]
fn a_folder_that_was_removed_here_stays_away_until_it_is_asked_for() {
    let all = Machines::connected();
    fs::remove_dir_all(all.second.root().join("projects/tidepool/memory")).expect("a folder");
    let left_out = stdout(&all.second, &["sync"]);
    assert!(
        left_out.contains("bring it back with --restore"),
        "{left_out}"
    );
    assert_eq!(stdout(&all.first, &["sync"]), "Everything is up to date.\n");
    stdout(&all.second, &["sync", "--restore"]);
    let page = curated(&all.second);
    assert!(page.contains(FIRST) && page.contains(SECOND), "{page}");
}

#[test]
fn a_purge_removes_the_mirror_and_says_what_the_repository_has() {
    let all = Machines::connected();
    let mirror = all.first.root().join("sync/mirror.git");
    assert!(mirror.exists());
    let purged = stdout(&all.first, &["purge", "--project", "tidepool", "--yes"]);
    assert!(
        purged.contains("The repository still has what it was given"),
        "{purged}"
    );
    assert!(!mirror.exists());
    let unnamed = refusal(&all.first, &["sync"]);
    assert!(
        unnamed.contains("name the repository the first time"),
        "{unnamed}"
    );
}
