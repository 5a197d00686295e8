//! `daybook top`: printed once into a pipe, and in a terminal until it is ended, which is then as it was.

use crate::fixture::{TestPlace, teaching_session};

fn imported_place() -> TestPlace {
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    place
}

#[test]
fn a_pipe_gets_one_look_within_80_columns_and_programs_get_json() {
    let place = imported_place();
    let shown = place.stdout(&["top"]);
    let first = shown.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("1 session · 1 learned from · 0 wait"),
        "{shown}"
    );
    assert!(
        shown.contains("Nothing waits: everything was learned."),
        "{shown}"
    );
    assert!(shown.contains("Learned last"), "{shown}");
    for line in shown.lines() {
        assert!(
            line.chars().count() <= 80 && !line.contains('\u{1b}'),
            "{line:?}"
        );
    }
    let json = place.json(&["top"]);
    assert_eq!(json["sessions"]["covered"], 1, "{json}");
    assert_eq!(json["jobs"].as_array().map(Vec::len), Some(0), "{json}");
    assert!(
        json["learned"][0]["taught"]
            .as_array()
            .is_some_and(|it| !it.is_empty())
    );
}

#[test]
fn work_that_waits_is_listed_with_its_state() {
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder, "--no-process"]);
    let shown = place.stdout(&["top"]);
    assert!(
        shown.contains("1 session · 0 learned from · 1 wait"),
        "{shown}"
    );
    let job = shown
        .lines()
        .find(|line| line.starts_with("extract/claude-code:"));
    let job = job.unwrap_or_else(|| panic!("no job: {shown}"));
    assert!(job.contains(" due ") || job.contains(" resting "), "{job}");
    assert!(job.contains("0 of ") && job.chars().count() <= 80, "{job}");
}

#[cfg(target_os = "linux")]
mod in_a_terminal {
    use std::fs;
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use super::*;

    /// Runs the view in a terminal until `keys` end it, and checks that the terminal is as it was.
    #[track_caller]
    fn check_end(keys: &[u8]) {
        let place = imported_place();
        // The shell of the terminal outlives an interrupt, to look at the terminal afterwards.
        let command = format!(
            "trap : INT; stty -a >before; {} top --every 1; echo ended with $?; stty -a >after",
            env!("CARGO_BIN_EXE_daybook")
        );
        let mut terminal = Command::new("script")
            .args(["--quiet", "--return", "--command", &command, "/dev/null"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("SHELL", "/bin/sh")
            .env("HOME", place.home())
            .env("DAYBOOK_HOME", place.root())
            .env("DAYBOOK_PERSON", "ada")
            .current_dir(place.home())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a terminal");
        let mut output = terminal.stdout.take().expect("its output");
        let mut until = |words: &str| {
            let (mut text, mut bytes) = (String::new(), [0; 4096]);
            while !text.contains(words) {
                let read = output.read(&mut bytes).expect("it is read");
                assert!(read > 0, "{words} was never shown: {text}");
                text += &String::from_utf8_lossy(&bytes[..read]);
            }
            text
        };
        let shown = until("arrows scroll");
        assert!(
            shown.contains("\u{1b}[?1049h") && shown.contains("1 session"),
            "{shown}"
        );
        let mut keyboard = terminal.stdin.take().expect("its keyboard");
        keyboard.write_all(keys).expect("keys");
        let end = until("ended with 0");
        assert!(end.contains("\u{1b}[?25h\u{1b}[?1049l"), "{end}");
        drop(keyboard);
        terminal.wait().expect("it ends");
        let modes = |name: &str| fs::read_to_string(place.home().join(name)).expect("modes");
        assert_eq!(modes("before"), modes("after"));
    }

    #[test]
    fn a_key_ends_the_view_and_the_terminal_is_as_it_was() {
        check_end(b"\x1b[Bxq");
    }

    #[test]
    fn ctrl_c_ends_the_view_and_the_terminal_is_as_it_was() {
        check_end(b"\x03");
    }
}
