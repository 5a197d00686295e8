//! Pipes, links, devices and huge files in the place of a regular file hang no command, are never shown, and are
//! named.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use crate::fixture::{TestPlace, teaching_session};

/// Longest that a command may take; on a busy machine, and with a database to open.
const IN_TIME: Duration = Duration::from_secs(60);
/// The content of a file outside memory.
const SECRET: &str = "the harbour's secret password";

/// Runs a command to its end on another thread, and fails when it takes too long.
fn in_time(mut command: Command) -> Output {
    let (done, result) = mpsc::channel();
    let name = format!("{command:?}");
    std::thread::spawn(move || done.send(command.output().expect("daybook starts")));
    match result.recv_timeout(IN_TIME) {
        Ok(output) => output,
        Err(_) => panic!("{name} does not end"),
    }
}

fn output_text(output: &Output) -> String {
    let parts = [&output.stdout, &output.stderr];
    parts
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .concat()
}

fn make_pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
}

/// A memory of one project, whose `MEMORY.md` is not there any more, and its place.
fn learned_project() -> (TestPlace, PathBuf) {
    let place = TestPlace::new();
    let checkout = place.checkout("tidepool", "main");
    let session = teaching_session(1).in_folder(&checkout, "main");
    place.write("one.jsonl", &session.text());
    place.stdout(&["import", place.transcripts().to_str().unwrap()]);
    let projects = place.root().join("projects");
    let project = fs::read_dir(projects).expect("projects").flatten().next();
    let curated = project.expect("a project").path().join("memory/MEMORY.md");
    fs::remove_file(&curated).expect("a page");
    (place, curated)
}

type Obstacle = fn(&TestPlace, &Path);

const OBSTACLES: [(&str, Obstacle); 5] = [
    ("it is a pipe", |_, at| make_pipe(at)),
    ("it is a symbolic link", |place, at| {
        let secret = place.home().join("secret.md");
        fs::write(&secret, format!("- {SECRET}\n")).unwrap();
        symlink(secret, at).unwrap();
    }),
    ("it is a symbolic link", |_, at| {
        symlink("/dev/zero", at).unwrap();
    }),
    ("it is a folder", |_, at| fs::create_dir(at).unwrap()),
    ("it is longer than 8388608 bytes", |_, at| {
        File::create(at).unwrap().set_len(1 << 40).unwrap();
    }),
];

fn start_payload(folder: &Path) -> String {
    json!({
        "hook_event_name": "SessionStart",
        "session_id": "99999999-0000-4000-8000-000000000009",
        "cwd": folder,
        "source": "startup",
    })
    .to_string()
}

fn hook(place: &TestPlace, folder: &Path) -> Output {
    in_time(place.daybook(&["hook", "claude-code", &start_payload(folder)]))
}

#[test]
fn no_door_hangs_at_shows_or_hides_what_stands_in_the_place_of_a_memory_file() {
    for (why, obstacle) in OBSTACLES {
        let (place, curated) = learned_project();
        obstacle(&place, &curated);
        let folder = place.home().join("tidepool");
        let hook = hook(&place, &folder);
        assert!(hook.status.success());
        let mut interfaces = vec![("hook", output_text(&hook))];
        for interface in [
            &["context", "--folder", folder.to_str().unwrap()][..],
            &["recall", "harbour", "password"],
            &["update"],
            &["rebuild"],
            &["status"],
            &["status", "--json"],
            &["doctor"],
        ] {
            let output = in_time(place.daybook(interface));
            let is_sound = output.status.success();
            assert_eq!(
                is_sound,
                interface != ["doctor"],
                "{interface:?}: {}",
                output_text(&output)
            );
            interfaces.push((interface[0], output_text(&output)));
        }
        for (interface, said) in interfaces {
            assert!(said.contains(why), "{interface} names it: {said}");
            assert!(!said.contains(SECRET), "{interface}: {said}");
        }
        assert!(fs::symlink_metadata(&curated).is_ok());
        // Sound pages are there, and the page returns when its place is free.
        let summary = curated.with_file_name("memory_summary.md");
        assert!(summary.is_file());
        match fs::symlink_metadata(&curated).unwrap().is_dir() {
            true => fs::remove_dir(&curated).unwrap(),
            false => fs::remove_file(&curated).unwrap(),
        }
        place.stdout(&["update"]);
        let text = fs::read_to_string(&curated).expect("the page");
        assert!(text.contains("without asking me first"), "{text}");
        let status = place.json(&["status"]);
        assert_eq!(status["refused"], json!([]), "{why}");
    }
}

#[test]
fn a_linked_memory_folder_is_neither_read_nor_written() {
    let (place, curated) = learned_project();
    let memory = curated.parent().unwrap();
    fs::remove_dir_all(memory).unwrap();
    let elsewhere = place.home().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("MEMORY.md"), format!("- {SECRET}\n")).unwrap();
    symlink(&elsewhere, memory).unwrap();
    let folder = place.home().join("tidepool");
    let context = in_time(place.daybook(&["context", "--folder", folder.to_str().unwrap()]));
    let recall = in_time(place.daybook(&["recall", "harbour", "password"]));
    in_time(place.daybook(&["rebuild"]));
    for output in [&context, &recall, &hook(&place, &folder)] {
        assert!(
            !output_text(output).contains(SECRET),
            "{}",
            output_text(output)
        );
        assert!(
            output_text(output).contains("it is a symbolic link"),
            "{}",
            output_text(output)
        );
    }
    assert!(!elsewhere.join(".git").exists());
}

#[test]
fn files_of_hosts_and_settings_are_regular_files_or_nothing() {
    let (place, _) = learned_project();
    place.stdout(&["rebuild"]);
    let folder = place.home().join("tidepool");
    make_pipe(&folder.join("CLAUDE.md"));
    symlink("/dev/zero", folder.join("AGENTS.md")).unwrap();
    let context = &["context", "--folder", folder.to_str().unwrap()];
    let told = in_time(place.daybook(context));
    assert!(told.status.success(), "{}", output_text(&told));
    assert!(
        output_text(&told).contains("without asking me first"),
        "{}",
        output_text(&told)
    );
    assert!(output_text(&hook(&place, &folder)).contains("without asking me first"));
    // A link to a regular file is read: the host has its text, so the context leaves it out.
    fs::remove_file(folder.join("CLAUDE.md")).unwrap();
    fs::remove_file(folder.join("AGENTS.md")).unwrap();
    fs::write(
        folder.join("AGENTS.md"),
        "no, don't push without asking me first",
    )
    .unwrap();
    symlink("AGENTS.md", folder.join("CLAUDE.md")).unwrap();
    assert!(in_time(place.daybook(context)).status.success());
    make_pipe(&place.root().join("daybook.toml"));
    let refused = in_time(place.daybook(context));
    assert!(
        output_text(&refused).contains("it is a pipe"),
        "{}",
        output_text(&refused)
    );
    fs::remove_file(place.root().join("daybook.toml")).unwrap();
    fs::remove_file(folder.join(".git/HEAD")).unwrap();
    make_pipe(&folder.join(".git/HEAD"));
    assert!(in_time(place.daybook(context)).status.success());
}

#[test]
fn mcp_reads_no_file_that_is_none() {
    let (place, curated) = learned_project();
    make_pipe(&curated);
    let named = curated
        .strip_prefix(place.root())
        .unwrap()
        .display()
        .to_string();
    let ask = |id: u64, method: &str, params: serde_json::Value| {
        format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        )
    };
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let lines = [
        ask(1, "initialize", hello),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".to_owned(),
        ask(
            2,
            "tools/call",
            json!({"name": "show", "arguments": {"target": named}}),
        ),
    ]
    .concat();
    let mut command = place.daybook(&["mcp"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("daybook starts");
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, lines.as_bytes()).expect("a pipe");
    let output = child.stdout.take().expect("a pipe");
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = std::io::BufRead::lines(std::io::BufReader::new(output));
        let answer = lines
            .map_while(Result::ok)
            .find(|line| line.contains("\"id\":2"));
        done.send(answer)
    });
    let answer = result.recv_timeout(IN_TIME);
    let _ = child.kill();
    let _ = child.wait();
    let answer = answer.expect("it answers in time").expect("an answer");
    assert!(answer.contains("it is a pipe"), "{answer}");
}
