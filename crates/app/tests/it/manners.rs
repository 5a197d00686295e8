//! How the program behaves towards people and their shells: help, manual pages, errors, limits, widths, completions.

use serde_json::Value;

use crate::fixture::{TestPlace, teaching_session};

fn imported_place() -> TestPlace {
    let place = TestPlace::new();
    for number in 1..=3 {
        place.write(&format!("{number}.jsonl"), &teaching_session(number).text());
    }
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    place
}

/// Standard output, standard error and the exit code of a run that must fail.
#[track_caller]
fn failure(place: &TestPlace, arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = place.run(arguments);
    assert!(!output.status.success(), "{arguments:?} did not fail");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    (
        text(output.stdout),
        text(output.stderr),
        output.status.code(),
    )
}

#[test]
fn help_shows_a_commands_own_options_before_those_of_every_command() {
    let place = TestPlace::new();
    for command in ["recall", "import", "sessions", "setup"] {
        let help = place.stdout(&[command, "--help"]);
        let (own, every) = help
            .split_once("Options of every command:")
            .expect("two groups of options");
        assert!(
            !own.contains("--root") && every.contains("--root"),
            "{help}"
        );
        assert!(
            own.contains("--help") && !every.contains("--limit"),
            "{help}"
        );
    }
    let help = place.stdout(&["--help"]);
    let groups = help.split("Options").next().unwrap_or_default();
    assert!(
        groups.lines().all(|line| line.chars().count() <= 80),
        "{help}"
    );
}

#[test]
fn manual_pages_name_commands_that_print_pages() {
    let place = TestPlace::new();
    let mut pages = vec![String::new()];
    let mut seen = 0;
    while let Some(words) = pages.pop() {
        let mut arguments = vec!["man"];
        arguments.extend(words.split_whitespace());
        let page = place.stdout(&arguments);
        assert!(!page.contains("(1)\n"), "{words}: {page}");
        seen += 1;
        let (_, named) = page.split_once(".SH COMMANDS").unwrap_or_default();
        for line in named
            .lines()
            .filter(|line| line.starts_with("\\fBdaybook "))
        {
            let name = line
                .trim_start_matches("\\fBdaybook ")
                .trim_end_matches("\\fR");
            pages.push(name.replace("\\-", "-"));
        }
    }
    assert!(seen > 50, "{seen} pages");
    let (_, error, _) = failure(&place, &["man", "recal"]);
    assert!(error.contains("there is no command recal"), "{error}");
}

#[test]
fn an_error_under_json_is_json() {
    let place = imported_place();
    for (arguments, says, code) in [
        (&["show", "zzz"][..], "zzz", 1),
        (&["recall", ""], "the question is empty", 1),
        (&["recall", "tides", "--limit", "0"], "at least 1", 2),
        (&["recall"], "<QUESTION>", 2),
        (&["config", "idel"], "did you mean idle?", 1),
    ] {
        let mut all = arguments.to_vec();
        all.push("--json");
        let (said, error, exit) = failure(&place, &all);
        let parsed: Value = serde_json::from_str(&said).expect("JSON alone");
        let message = parsed["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(says), "{arguments:?}: {said}");
        assert!(error.contains(says), "{arguments:?}: {error}");
        assert_eq!(exit, Some(code), "{arguments:?}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_do() {
    let place = imported_place();
    for (arguments, says) in [
        (&["recall", "  "][..], "recall 'what did we decide'"),
        (&["sessions", "--limit", "0"], "at least 1"),
        (&["list", "--limit", "0"], "at least 1"),
        (&["history", "--limit", "0"], "at least 1"),
        (&["jobs", "list", "--limit", "none"], "write a number"),
        (&["recall", "x", "--set", "idel=1"], "did you mean idle?"),
        (&["config", "set", "idel", "5m"], "did you mean idle?"),
        (&["import", "nowhere"], "nowhere cannot be read"),
    ] {
        let (said, error, _) = failure(&place, arguments);
        assert!(
            error.contains(says) && said.is_empty(),
            "{arguments:?}: {error}"
        );
    }
}

#[test]
fn a_setting_is_set_and_unset_and_other_lines_stay() {
    let place = imported_place();
    let path = place.root().join("daybook.toml");
    let text = "# mine\nidle = \"9m\" # long\n\n[agents.codex]\nmemory = true\n";
    std::fs::write(&path, text).expect("a file");
    let said = place.stdout(&["config", "set", "idle", "5m"]);
    assert!(said.starts_with("idle = \"5m\" in "), "{said}");
    let read = || std::fs::read_to_string(&path).expect("a file");
    assert_eq!(read(), text.replace("9m", "5m"));
    place.stdout(&["config", "set", "batch", "7"]);
    assert!(read().contains("batch = 7\n"), "{}", read());
    let (_, error, _) = failure(&place, &["config", "set", "batch", "none"]);
    assert!(error.contains("batch"), "{error}");
    assert!(read().contains("batch = 7\n"), "{}", read());
    place.stdout(&["config", "unset", "batch"]);
    let said = place.stdout(&["config", "unset", "idle"]);
    assert!(said.contains("its default"), "{said}");
    assert!(
        !read().contains("idle") && read().contains("[agents.codex]"),
        "{}",
        read()
    );
    let (_, error, _) = failure(&place, &["config", "unset", "idle"]);
    assert!(error.contains("does not set idle"), "{error}");
    let named = place
        .daybook(&["config", "set", "idle", "4m"])
        .env("DAYBOOK_IDLE", "1m")
        .output();
    let said = String::from_utf8(named.expect("daybook starts").stdout).expect("text");
    assert!(
        said.contains("from DAYBOOK_IDLE, which comes before"),
        "{said}"
    );
}

#[test]
fn lists_fit_into_a_narrow_terminal() {
    let place = imported_place();
    for arguments in [
        &["sessions"][..],
        &["recall", "tide", "table", "cache"],
        &["list"],
        &["list", "--project", "tidepool"],
    ] {
        let run = |columns: &str| {
            let output = place.daybook(arguments).env("COLUMNS", columns).output();
            String::from_utf8(output.expect("daybook starts").stdout).expect("text")
        };
        let (narrow, wide) = (run("44"), run("400"));
        let too_long = |line: &&str| line.chars().count() > 44 && line.trim().contains(' ');
        let is_quoted = |line: &&str| line.contains('`');
        let long: Vec<&str> = narrow
            .lines()
            .filter(too_long)
            .filter(|line| !is_quoted(line))
            .collect();
        assert!(long.is_empty(), "{arguments:?}: {long:?}");
        assert!(narrow.lines().count() > wide.lines().count() || arguments[0] != "recall");
    }
}

#[test]
fn one_thing_is_not_counted_as_several() {
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    let texts = [
        place.stdout(&["import", &place.transcripts().display().to_string()]),
        place.stdout(&["history", "--project", "tidepool"]),
        place.stdout(&["sessions"]),
        place.stdout(&["status"]),
    ];
    for text in texts {
        for several in [
            " 1 sessions",
            " 1 files",
            " 1 events",
            " 1 memories",
            " 1 entries",
        ] {
            assert!(!text.contains(several), "{several}: {text}");
        }
    }
}

#[test]
fn a_list_of_sessions_says_that_there_are_older_ones() {
    let place = imported_place();
    let said = place.stdout(&["sessions", "--limit", "2"]);
    assert!(
        said.contains("There are older ones: `") && said.contains("sessions --limit 4`"),
        "{said}"
    );
    assert!(!place.stdout(&["sessions"]).contains("older"));
    assert_eq!(
        place.json(&["sessions", "--limit", "2"])["sessions"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
}

#[test]
fn shells_complete_the_labels_of_sessions() {
    let place = imported_place();
    let labels = place.stdout(&["completions", "labels"]);
    let sessions = place.json(&["sessions"]);
    let known: Vec<&str> = sessions["sessions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|session| session["label"].as_str())
        .collect();
    assert_eq!(labels.lines().collect::<Vec<_>>(), known);
    for shell in ["bash", "zsh", "fish"] {
        let script = place.stdout(&["completions", shell]);
        assert!(script.contains("daybook completions labels"), "{shell}");
    }
    assert_eq!(TestPlace::new().stdout(&["completions", "labels"]), "");
}

#[cfg(unix)]
#[test]
fn bash_offers_labels_where_a_session_is_named_and_words_elsewhere() {
    let place = imported_place();
    let Ok(script) = std::process::Command::new("bash").arg("--version").output() else {
        return;
    };
    assert!(script.status.success());
    let program = env!("CARGO_BIN_EXE_daybook");
    let folder = std::path::Path::new(program).parent().expect("a folder");
    let ask = |words: &str, current: usize| {
        let line = format!(
            "source <(daybook completions bash); COMP_WORDS=({words}); COMP_CWORD={current}; COMP_LINE='{words}'; \
             _daybook_or_label daybook \"${{COMP_WORDS[{current}]}}\" \"${{COMP_WORDS[{current}-1]}}\"; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut command = std::process::Command::new("bash");
        let output = command
            .args(["-c", &line])
            .env_clear()
            .env("HOME", place.home())
            .env("DAYBOOK_HOME", place.root())
            .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
            .output();
        String::from_utf8(output.expect("bash starts").stdout).expect("text")
    };
    let label = place.stdout(&["completions", "labels"]);
    let label = label.lines().next().expect("a label");
    assert!(ask("daybook show ''", 2).lines().any(|line| line == label));
    assert!(
        ask("daybook sessions --off ''", 3)
            .lines()
            .any(|line| line == label)
    );
    assert!(ask("daybook ses", 1).lines().any(|line| line == "sessions"));
}

/// Waits until a process has a handler for Ctrl-C.
#[cfg(target_os = "linux")]
fn wait_for_handler(process: u32) {
    loop {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // SIGINT is signal 2, the second bit.
        if caught.is_some_and(|mask| mask & 0b10 != 0) {
            return;
        }
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_says_what_is_done_and_left_and_exits_with_130() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let place = imported_place();
    let mut command = place.daybook(&["import", "-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("daybook starts");
    wait_for_handler(child.id());
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("kill starts").success());
    let mut input = child.stdin.take().expect("its input");
    // It may have ended already.
    let _ = input.write_all(teaching_session(4).text().as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("Stopped") || said.contains("stopped"),
        "{said}"
    );
    assert!(said.contains("nothing is lost"), "{said}");
    place.stdout(&["import", &place.transcripts().display().to_string()]);
}
