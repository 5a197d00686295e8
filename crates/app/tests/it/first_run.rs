//! What the first commands print is true, and what they suggest works when it is pasted.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::fixture::{TestPlace, TestSession, teaching_session};

/// A shell of ada's, with nothing but `daybook` to call.
struct TestShell {
    home: tempfile::TempDir,
}

impl TestShell {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        let bin = home.path().join("bin");
        std::fs::create_dir(&bin).expect("a folder");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_daybook"), bin.join("daybook"))
            .expect("a link");
        Self { home }
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn run(&self, line: &str) -> Output {
        Command::new("/bin/sh")
            .args(["-c", line])
            .env_clear()
            .env("HOME", self.home())
            .env("USER", "ada")
            .env("PATH", self.home().join("bin"))
            .current_dir(self.home())
            .stdin(std::process::Stdio::null())
            .output()
            .expect("a shell")
    }

    /// What a line that must succeed prints.
    #[track_caller]
    fn stdout(&self, line: &str) -> String {
        let output = self.run(line);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {error}");
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }
}

/// The commands that a text suggests: between backticks, or at the end of a line behind two blanks.
fn suggested_commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for line in text.lines() {
        let quoted = line.split('`').skip(1).step_by(2);
        let behind = line.split("  ").map(str::trim);
        let all = quoted
            .chain(behind)
            .filter(|part| part.starts_with("daybook "));
        commands.extend(all.map(str::to_owned));
    }
    commands
}

/// Two folders of transcripts and a data folder whose name needs quotes.
fn import_two_folders(shell: &TestShell) -> (PathBuf, String) {
    let folder = shell.home().join("transcripts");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("a.jsonl"), teaching_session(1).text()).expect("a file");
    let flags = "--root 'my data' --set person=ada --store sqlite";
    let text = shell.stdout(&format!("daybook {flags} import transcripts"));
    (folder, text)
}

#[test]
fn every_suggested_command_works_when_it_is_pasted() {
    let shell = TestShell::new();
    let (folder, text) = import_two_folders(&shell);
    let flags = "--root 'my data' --set person=ada --store sqlite";
    let mut texts = vec![text];
    for command in [
        "status",
        "update",
        "sessions",
        "jobs",
        "import --no-process transcripts",
    ] {
        std::fs::write(folder.join("b.jsonl"), teaching_session(2).text()).expect("a file");
        texts.push(shell.stdout(&format!("daybook {flags} {command}")));
    }
    let all: Vec<String> = texts
        .iter()
        .flat_map(|text| suggested_commands(text))
        .collect();
    let (undo, others): (Vec<&String>, Vec<&String>) =
        all.iter().partition(|line| line.contains("--undo"));
    assert!(others.len() >= 3 && !undo.is_empty(), "{texts:?}");
    for line in others.iter().chain(&undo) {
        assert!(
            line.contains("--root") && line.contains("/my data'"),
            "{line}"
        );
        let output = shell.stdout(line);
        assert!(
            !output.contains("Nothing is remembered") && !output.contains("Nothing clearly"),
            "{line}: {output}"
        );
    }
}

#[test]
fn a_program_that_the_shell_does_not_find_is_named_by_its_path() {
    let shell = TestShell::new();
    let program = env!("CARGO_BIN_EXE_daybook");
    let text = shell.stdout(&format!("PATH=/nowhere {program} import --sample"));
    let from = text
        .find(&format!("{program} --root "))
        .expect("a suggestion");
    let line = text[from..].lines().next().expect("a line");
    shell.stdout(&format!("PATH=/nowhere {line}"));
}

#[test]
fn a_question_is_suggested_only_if_it_has_an_answer() {
    let shell = TestShell::new();
    let (_, text) = import_two_folders(&shell);
    let asks = suggested_commands(&text);
    let question = asks.iter().find(|line| line.contains(" recall "));
    let answer = shell.stdout(question.expect("a question"));
    assert!(
        answer.contains('[') && !answer.contains("Nothing "),
        "{answer}"
    );

    let place = TestPlace::new();
    let quiet = TestSession::new(7).human("hello").agent("Hello!");
    place.write("a.jsonl", &quiet.text());
    let text = place.stdout(&["import", &place.transcripts().display().to_string()]);
    for line in suggested_commands(&text)
        .iter()
        .filter(|line| line.contains(" recall "))
    {
        let question: Vec<&str> = line.split(" recall ").collect();
        let answer = place.stdout(&["recall", question[1].trim_matches('\'')]);
        assert!(!answer.contains("Nothing "), "{answer}: {text}");
    }
}

#[test]
fn a_memory_of_the_person_alone_is_not_called_nothing() {
    let place = TestPlace::new();
    let chat = "{\"timestamp\":\"2026-03-02T19:41:06Z\",\"role\":\"user\",\"content\":\"I always want answers in metric units.\"}\n\
                {\"timestamp\":\"2026-03-02T19:41:12Z\",\"role\":\"assistant\",\"content\":\"Noted.\"}\n";
    place.write("chat.jsonl", chat);
    let text = place.stdout(&["import", &place.transcripts().display().to_string()]);
    assert!(text.contains("1 memory"), "{text}");
    assert!(!text.contains("Nothing was"), "{text}");
    assert!(text.contains("Read it"), "{text}");
}

#[test]
fn a_session_that_still_rests_is_not_called_fruitless() {
    let place = TestPlace::new();
    place.write(
        "chat.json",
        r#"[{"role":"user","content":"I always want metric units."}]"#,
    );
    let text = place.stdout(&["import", &place.transcripts().display().to_string()]);
    assert!(text.contains("0 failed · 1 not read yet"), "{text}");
    assert!(text.contains("Nothing was learned yet"), "{text}");
}

#[test]
fn the_sample_stands_in_the_person_s_own_folder_and_shows_itself_again() {
    let shell = TestShell::new();
    let first = shell.stdout("daybook import --sample");
    let root = shell.home().join(".cache/daybook/sample");
    assert!(root.join("daybook.db").is_file(), "{first}");
    let second = shell.stdout("daybook import --sample");
    assert!(second.starts_with("Nothing new in 6 files."), "{second}");
    let shown = |text: &str| -> Vec<String> {
        let from = text.find(" project").expect("what is remembered");
        let lines = text[from..].lines().filter(|line| !line.contains("--undo"));
        let lines = lines.filter(|line| !line.contains("hidden before"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(shown(&first), shown(&second));
    for line in suggested_commands(&first)
        .iter()
        .filter(|line| !line.contains("--undo"))
    {
        shell.stdout(line);
    }
    let best = second
        .lines()
        .find(|line| line.trim_start().starts_with("1 "));
    assert!(
        second
            .lines()
            .any(|line| line.starts_with(" 1 ") && line.contains("100")),
        "{best:?}: {second}"
    );
    let other = TestShell::new();
    other.stdout("daybook import --sample");
    assert!(other.home().join(".cache/daybook/sample").is_dir());
}

#[test]
fn a_link_in_the_place_of_the_sample_s_files_is_not_written_through() {
    let shell = TestShell::new();
    let theirs = shell.home().join("theirs.jsonl");
    std::fs::write(&theirs, "mine\n").expect("a file");
    let chat = shell.home().join(".cache/daybook/sample/sample/chat");
    std::fs::create_dir_all(&chat).expect("a folder");
    std::os::unix::fs::symlink(&theirs, chat.join("spring-outing.jsonl")).expect("a link");
    let _ = shell.run("daybook import --sample");
    assert_eq!(std::fs::read_to_string(&theirs).expect("a file"), "mine\n");
}

/// As on a full disk: no file of the store may grow beyond 64 KiB for this one run.
#[test]
fn an_import_that_breaks_off_says_how_to_go_on() {
    let shell = TestShell::new();
    let flags = "--root 'my data' --set person=ada";
    shell.stdout(&format!("daybook {flags} remember tides"));
    let folder = shell.home().join("transcripts");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("a.jsonl"), teaching_session(1).text()).expect("a file");
    let broken = format!("trap '' XFSZ; ulimit -f 128; daybook {flags} import transcripts");
    let output = shell.run(&broken);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && error.contains("the import broke off"),
        "{error}"
    );
    let again = suggested_commands(&error).remove(0);
    assert!(shell.stdout(&again).contains("1 session from 1 of 1 file"));
}
