//! Promise 1 beside other work: a process that is killed while a second one works on the same data folder leaves
//! nothing that the next run does not mend.
//!
//! In each round a server works in the background, and `import`, `update`, a second server and `threads dispatch`
//! are killed at random instants, in turn. At the end of a round the first server is killed, too; then everything is
//! done once more undisturbed, and all that a person can ask must be as in a data folder that was never disturbed:
//! sessions, projects, memory files, answers and the thread. `KILLS=1000` plays more.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::{TestPlace, teaching_session};
use crate::kill::{
    MemoryAnswers, RandomShares, answers, assert_history_is_whole, assert_no_litter, killed,
};

/// Kills in all, unless `KILLS` says otherwise.
const KILLS: u32 = 80;
/// Kills in one round.
const KILLS_IN_ROUND: u32 = 8;
/// Sessions that are imported.
const SESSIONS: u32 = 4;
/// Events that are dispatched, fewer than begin a compaction.
const EVENTS: usize = 12;

/// The process that is killed.
#[derive(Debug, Clone, Copy)]
enum KilledProcess {
    Import,
    Update,
    Serve,
    Dispatch,
}

const KILLED_PROCESSES: [KilledProcess; 4] = [
    KilledProcess::Import,
    KilledProcess::Update,
    KilledProcess::Serve,
    KilledProcess::Dispatch,
];

impl KilledProcess {
    fn command(self, place: &TestPlace, transcripts: &str) -> Command {
        match self {
            Self::Import => place.daybook(&["import", transcripts]),
            Self::Update => place.daybook(&["update", "--all"]),
            Self::Serve => place.daybook(&SERVE),
            Self::Dispatch => {
                let events = place.home().join("events.jsonl").display().to_string();
                place.daybook(&["threads", "dispatch", "tides", &events])
            }
        }
    }
}

const SERVE: [&str; 4] = ["serve", "--listen", "127.0.0.1:0", "--no-follow"];

/// A place with a thread, and a file with its events.
fn place_with_thread() -> TestPlace {
    let place = TestPlace::new();
    let mut file = std::fs::File::create(place.home().join("events.jsonl")).expect("a file");
    for n in 0..EVENTS {
        let event = json!({"type": "USER_MESSAGE", "metadata": {"eventId": format!("e{n}")}, "timestamp": 1_772_438_400_000_u64 + n as u64 * 1000,
            "content": format!("please check berth {n} of the harbour before nine")});
        writeln!(file, "{event}").expect("a line");
    }
    place.stdout(&["threads", "create", "tides", "--agent", "harbour-bot"]);
    place
}

/// Everything that must be the same.
#[derive(Debug, PartialEq)]
struct FolderState {
    answers: MemoryAnswers,
    projects: Value,
    thread: Vec<String>,
}

/// Completes all work, and reads the resulting state.
fn finish(place: &TestPlace, transcripts: &str) -> FolderState {
    place.stdout(&["import", transcripts]);
    let dispatch = KilledProcess::Dispatch.command(place, transcripts).output();
    assert!(dispatch.expect("daybook starts").status.success());
    place.stdout(&["update", "--all"]);
    let state = place.json(&["threads", "state", "tides"]);
    let ids = state["chunkIds"].as_array().expect("a list of chunks");
    let thread = ids.iter().map(|id| {
        let chunk = &state["chunks"][id.as_str().expect("an id")];
        chunk["content"].to_string()
    });
    FolderState {
        answers: answers(place),
        projects: place.json(&["projects"]),
        thread: thread.collect(),
    }
}

fn start(mut command: Command) -> Child {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.spawn().expect("daybook starts")
}

#[test]
fn killed_beside_others_it_ends_like_an_undisturbed_run() {
    let undisturbed = place_with_thread();
    for n in 0..SESSIONS {
        undisturbed.write(&format!("{n}.jsonl"), &teaching_session(n).text());
    }
    let transcripts = undisturbed.transcripts().display().to_string();
    let began = Instant::now();
    let expected = finish(&undisturbed, &transcripts);
    let whole = began.elapsed() / 4;
    assert_eq!(expected.answers.sessions.len(), SESSIONS as usize + 1);
    assert_eq!(expected.thread.len(), EVENTS);

    let wanted = std::env::var("KILLS").map_or(KILLS, |kills| kills.parse().expect("a number"));
    let mut numbers = RandomShares(20_261_123);
    let mut kills = 0;
    while kills < wanted {
        let place = place_with_thread();
        let mut beside = start(place.daybook(&SERVE));
        for n in 0..KILLS_IN_ROUND {
            let victim = KILLED_PROCESSES[n as usize % KILLED_PROCESSES.len()];
            let at: Duration = whole.mul_f64(numbers.share());
            if killed(&mut victim.command(&place, &transcripts), at) {
                kills += 1;
            }
        }
        beside.kill().expect("a process of ours");
        beside.wait().expect("a process of ours");
        kills += 1;
        let found = finish(&place, &transcripts);
        assert_eq!(found, expected, "after {kills} kills");
        assert_no_litter(&place.root());
        assert_history_is_whole(&place.root());
    }
}
