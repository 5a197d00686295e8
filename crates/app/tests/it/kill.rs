//! Promise 1: killing the process at any instant loses no acknowledged event, repeats no
//! observation, tears no file.
//!
//! Each round starts from an empty data folder, kills `daybook import` at random instants (while
//! it reads, extracts and writes files), lets a last run end, and compares everything that a
//! person can ask with an undisturbed run. The instants come from a fixed seed, and are spread over
//! the time that an undisturbed run takes on this machine.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fixture::{TestPlace, TestSession, daybook, teaching_session};

/// Kills in all; see the project's acceptance numbers.
const KILLS: u32 = 300;
/// Kills in one round, at most; then the round ends undisturbed.
const KILLS_IN_ROUND: u32 = 10;
/// Sessions that are imported.
const SESSIONS: u32 = 6;

pub(crate) struct RandomShares(pub(crate) u64);

impl RandomShares {
    pub(crate) fn share(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Everything that must be the same.
#[derive(Debug, PartialEq)]
pub(crate) struct MemoryAnswers {
    pub(crate) sessions: Vec<(String, u64, u64)>,
    memory: Vec<(String, String)>,
    recalled: Vec<Value>,
}

pub(crate) fn answers(place: &TestPlace) -> MemoryAnswers {
    let sessions = place.json(&["sessions"]);
    let rows = sessions["sessions"].as_array().expect("a list");
    let number = |value: &Value| value.as_u64().expect("a number");
    let mut sessions: Vec<(String, u64, u64)> = rows
        .iter()
        .map(|row| {
            (
                row["id"].to_string(),
                number(&row["events"]),
                number(&row["extracted"]),
            )
        })
        .collect();
    sessions.sort();
    let questions = [
        "write the test first",
        "cache of past days",
        "evicts oldest",
        "table of station 7",
    ];
    let recalled = questions
        .iter()
        .map(|question| {
            let mut found = place.json(&["recall", question]);
            for result in found["results"].as_array_mut().into_iter().flatten() {
                // An entry that no single event is behind is of the time at which its file was read.
                if result["session"].is_null() {
                    result["time"].take();
                }
            }
            found
        })
        .collect();
    MemoryAnswers {
        sessions,
        memory: place.memory(),
        recalled,
    }
}

/// Kills while checkouts are separated; each is followed by an update of what was read until then.
const SPLITS: u32 = 24;

/// Sessions in three checkouts that are gone. The shortest, which is read last, shows their remote.
fn write_checkouts(place: &TestPlace) {
    for (n, folder) in ["ada", "old", "build"].iter().enumerate() {
        let folder = format!("/nowhere/{folder}/tidepool");
        let n = u32::try_from(n).expect("a few");
        let session = match n {
            2 => TestSession::new(n)
                .human("we decided to serve the charts from a second host, please never cache them")
                .command(
                    "git push",
                    "To github.com:ada/tidepool.git\n   1..2 main -> main",
                    false,
                )
                .human("always name the harbour in the log line"),
            _ => teaching_session(n),
        };
        let session = session.in_folder(Path::new(&folder), "main");
        place.write(&format!("{n}.jsonl"), &session.text());
    }
}

#[test]
fn killed_before_the_remote_is_shown_it_ends_with_one_project() {
    let undisturbed = TestPlace::new();
    write_checkouts(&undisturbed);
    let transcripts = undisturbed.transcripts();
    let import = ["import", &transcripts.display().to_string()];
    let began = Instant::now();
    undisturbed.stdout(&import);
    let whole = began.elapsed();
    let expected = (answers(&undisturbed), undisturbed.json(&["projects"]));
    assert_eq!(
        expected.1["projects"].as_object().map(|all| all.len()),
        Some(1)
    );
    let mut numbers = RandomShares(20_261_122);
    for round in 0..SPLITS / 4 {
        let place = TestPlace::new();
        for _ in 0..4 {
            let at = whole.mul_f64(numbers.share() * 0.9);
            killed(&mut daybook(&place.root(), &transcripts, &import), at);
            if place.root().join("daybook.db").exists() {
                place.run(&["update", "--all"]);
            }
        }
        place.stdout(&import);
        let found = (answers(&place), place.json(&["projects"]));
        assert_eq!(found, expected, "round {round}");
    }
}

#[test]
fn killed_at_any_instant_it_ends_like_an_undisturbed_run() {
    let undisturbed = TestPlace::new();
    for n in 0..SESSIONS {
        undisturbed.write(&format!("{n}.jsonl"), &teaching_session(n).text());
    }
    let transcripts = undisturbed.transcripts();
    let began = Instant::now();
    undisturbed.stdout(&["import", &transcripts.display().to_string()]);
    let mut whole = began.elapsed();
    let expected = answers(&undisturbed);
    assert!(
        expected
            .memory
            .iter()
            .any(|(name, _)| name.ends_with("MEMORY.md")),
        "{expected:?}"
    );
    assert_eq!(expected.sessions.len(), SESSIONS as usize);

    let mut numbers = RandomShares(20_260_302);
    let mut kills = 0;
    let mut round = 0;
    while kills < KILLS {
        round += 1;
        let place = TestPlace::new();
        for _ in 0..KILLS_IN_ROUND {
            let at = whole.mul_f64(numbers.share() * 0.9);
            let import = ["import", &transcripts.display().to_string()];
            let mut import = daybook(&place.root(), &undisturbed.transcripts(), &import);
            let began = Instant::now();
            if !killed(&mut import, at) {
                // The first import was slower, beside other work: later ones would end before they are killed.
                whole = whole.min(began.elapsed());
                break;
            }
            kills += 1;
        }
        place.stdout(&["import", &transcripts.display().to_string()]);
        let found = answers(&place);
        assert_eq!(found, expected, "round {round}, after {kills} kills");
        assert_no_litter(&place.root());
        assert_history_is_whole(&place.root());
    }
}

/// Starts `command` and kills it after `at`; false when it had ended before.
pub(crate) fn killed(command: &mut Command, at: Duration) -> bool {
    command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("daybook starts");
    // A kill at a random instant has to wait for that instant; nothing depends on how long.
    std::thread::sleep(at);
    let running = child.try_wait().expect("a process").is_none();
    child.kill().expect("a process of ours");
    child.wait().expect("a process of ours");
    running
}

/// Files that stay beside the marks of workers: what hooks read, the rules by which all folders were redacted, and what
/// is locked and never held.
const LASTING: [&str; 4] = ["places.json", "redacted", "sweep", "updating"];

pub(crate) fn assert_no_litter(root: &Path) {
    let left: Vec<_> = std::fs::read_dir(root.join("run"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| !LASTING.iter().any(|lasting| name == lasting))
        .collect();
    assert!(left.is_empty(), "marks of workers that are gone: {left:?}");
}

/// Checks each memory folder with git itself, where it is installed.
pub(crate) fn assert_history_is_whole(root: &Path) {
    for project in std::fs::read_dir(root.join("projects"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let memory = project.path().join("memory");
        let git = |arguments: &[&str]| {
            Command::new("git")
                .arg("-C")
                .arg(&memory)
                .args(arguments)
                .output()
        };
        let Ok(fsck) = git(&["fsck", "--strict"]) else {
            return;
        };
        assert!(
            fsck.status.success(),
            "{}",
            String::from_utf8_lossy(&fsck.stderr)
        );
        let status = git(&["status", "--porcelain"]).expect("git was there a moment ago");
        assert_eq!(String::from_utf8_lossy(&status.stdout), "");
    }
}
