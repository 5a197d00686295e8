//! Every command of the README works, in the order in which it stands there.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::{TestPlace, teaching_session};

/// What stands in for programs that a test does not run, and for a person who answers yes.
///
/// `cargo run` builds, and runs what is built already here; `cargo install` is checked for the package that it names.
const STAND_INS: &str = r#"
cargo() {
    case "$*" in
        "run --release -- "*) shift 3; command daybook "$@" ;;
        "test --workspace") ;;
        "install --path crates/app") grep -q 'name = "daybook"' "$REPOSITORY/crates/app/Cargo.toml" ;;
        "uninstall daybook-app") grep -q 'name = "daybook-app"' "$REPOSITORY/crates/app/Cargo.toml" ;;
        *) echo "cargo $* is not known here" >&2; return 1 ;;
    esac
}
opened() {
    mkfifo "$HOME/opened"
    exec 9<>"$HOME/opened"
    command daybook open --listen 127.0.0.1:0 --no-browser --no-follow >"$HOME/opened" &
    read -r first <&9
    echo "$first"
    kill -TERM $!
    wait $!
}
daybook() {
    case "$*" in
        import|setup|"setup --undo"|"setup claude-code") command daybook "$@" --yes ;;
        open) opened ;;
        *) command daybook "$@" ;;
    esac
}
"#;

fn repository() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folder.canonicalize().expect("the repository")
}

/// The lines of the blocks of shell commands.
fn commands(readme: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_inside = false;
    for line in readme.lines() {
        match line {
            "```sh" => is_inside = true,
            "```" => is_inside = false,
            line if is_inside => lines.push(line.to_owned()),
            _ => {}
        }
    }
    lines
}

/// A home with sessions of Claude Code in a checkout, and with a folder of programs.
fn place() -> (TestPlace, PathBuf) {
    let place = TestPlace::new();
    let checkout = place.checkout("tidepool", "tides");
    let projects = place.home().join(".claude/projects/tidepool");
    std::fs::create_dir_all(&projects).expect("a folder");
    for number in 1..=2 {
        let session = teaching_session(number).in_folder(&checkout, "tides");
        let file = projects.join(format!("{number}.jsonl"));
        std::fs::write(file, session.text()).expect("a file");
    }
    let bin = place.home().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_daybook"), bin.join("daybook")).expect("a link");
    (place, checkout)
}

#[test]
fn every_command_of_the_readme_works_in_its_order() {
    let readme = std::fs::read_to_string(repository().join("README.md")).expect("the README");
    let commands = commands(&readme);
    assert!(commands.len() > 12, "{commands:?}");
    assert_eq!(
        &commands[..2],
        [
            "cargo run --release -- import --sample   # imports a small sample, shows what it learned, and answers one question",
            "cargo test --workspace                   # runs all tests",
        ]
    );
    let (place, checkout) = place();
    let home = place.home();
    let script = format!("set -e\n{STAND_INS}\nset -x\n{}\n", commands.join("\n"));
    let output = Command::new("/bin/sh")
        .args(["-c", &script])
        .env_clear()
        .env("HOME", home)
        .env("USER", "ada")
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", home.join("bin").display()),
        )
        .env("REPOSITORY", repository())
        .current_dir(checkout)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}\n{said}");
    for nothing in ["Nothing is remembered", "Nothing clearly", "is not there"] {
        assert!(!said.contains(nothing), "{nothing}: {said}\n{error}");
    }
    assert!(said.contains("LIMIT in cache.rs: 100"), "{said}");
    assert!(
        !home.join(".daybook").exists(),
        "the last command removes it"
    );
}

#[test]
fn the_readme_begins_with_one_sentence_and_two_commands() {
    let readme = std::fs::read_to_string(repository().join("README.md")).expect("the README");
    let (sentence, rest) = readme.split_once("\n\n").expect("a paragraph");
    assert_eq!(sentence.matches(['.', '!', '?']).count(), 1, "{sentence}");
    assert!(
        rest.starts_with("```sh\ncargo run --release -- import --sample"),
        "{rest}"
    );
}

#[test]
fn links_of_the_readme_and_of_the_documents_lead_to_files() {
    let repository = repository();
    let documents = std::fs::read_dir(repository.join("docs"))
        .expect("a folder")
        .flatten();
    let mut pages: Vec<_> = documents
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.push(repository.join("README.md"));
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("a page");
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = link.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") || file.contains(' ') {
                continue;
            }
            let folder = page.parent().expect("a folder");
            assert!(
                folder.join(file).exists(),
                "{} links {link}",
                page.display()
            );
        }
    }
}
