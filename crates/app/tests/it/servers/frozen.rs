//! A frozen server, and a connection to it that swallows everything: each caller that waits for an answer gets
//! one after a few seconds. It names the server, but for callers over HTTP, who learn nothing of what is behind it.

use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use daybook_testkit::postgres::{PostgresServer, Relay};
use serde_json::json;

use crate::fixture::{TestPlace, teaching_session};
use crate::mcp::McpClient;
use crate::serve;

/// Longest time of an interface: three seconds, and what a busy machine adds.
const ANSWER: Duration = Duration::from_secs(8);
/// Part of each answer.
const NAMED: &str = "database daybook";
/// The same over HTTP.
const UNNAMED: &str = "the database does not answer";

/// Does something that has to be over in time.
#[track_caller]
fn in_time<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    let took = began.elapsed();
    assert!(took < ANSWER, "{what} took {took:?}");
    done
}

fn output_text(output: &Output) -> String {
    let said = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(said).expect("output is UTF-8")
}

/// Every interface of a memory, open before its server freezes.
struct OpenInterfaces {
    http: serve::DaybookServer,
    mcp: McpClient,
}

impl OpenInterfaces {
    fn open(address: &str) -> Self {
        let place = TestPlace::sharing(address);
        let path = place.write("1.jsonl", &teaching_session(1).text());
        place.stdout(&["import", &path.display().to_string()]);
        let mut mcp = McpClient::connect(&place, &[]);
        mcp.call_ok("recall", json!({"question": "cache"}));
        let http = serve::DaybookServer::start_in(place, &["--no-follow"], Stdio::null());
        Self { http, mcp }
    }

    /// Sends requests to all interfaces at once.
    fn check(self) {
        let Self { http, mut mcp } = self;
        let place = &http.place;
        thread::scope(|scope| {
            for command in COMMANDS {
                scope.spawn(move || {
                    let output = in_time(&format!("{command:?}"), || place.run(command));
                    let said = output_text(&output);
                    assert!(!output.status.success(), "{command:?}: {said}");
                    assert!(said.contains(NAMED), "{command:?}: {said}");
                });
            }
            for (what, body) in REQUESTS {
                let http = &http;
                scope.spawn(move || {
                    let answer = in_time(what, || http.send_request(what, body));
                    assert_eq!(answer.code(), (503, "unavailable"), "{what}: {answer:?}");
                    let said = answer.body.to_string();
                    assert!(said.contains(UNNAMED), "{what}: {said}");
                    assert!(!said.contains(NAMED), "{what}: {said}");
                });
            }
            scope.spawn(|| {
                let start = r#"{"session_id": "7f78", "hook_event_name": "SessionStart",
                    "source": "startup", "cwd": "/home/ada/tidepool"}"#;
                in_time("a hook", || place.hook("claude-code", start));
            });
            for (tool, arguments) in [
                ("recall", json!({"question": "cache"})),
                ("context", json!({})),
                ("read", json!({"target": "7f78:L1"})),
                ("remember", json!({"words": "Deploys happen on Tuesdays."})),
            ] {
                let said = in_time(tool, || mcp.call_error(tool, arguments));
                assert!(said.contains(NAMED), "{tool}: {said}");
            }
        });
    }
}

const COMMANDS: [&[&str]; 7] = [
    &["recall", "cache"],
    &["context"],
    &["show", "7f78:L1"],
    &["status"],
    &["sessions"],
    &["remember", "Deploys happen on Tuesdays."],
    &["threads", "list"],
];

const REQUESTS: [(&str, &str); 8] = [
    ("POST /v1/recall", r#"{"question": "cache"}"#),
    (
        "POST /v1/append",
        r#"{"agent": "harbour-bot", "session": "1", "events": [{"role": "user", "text": "hello"}]}"#,
    ),
    (
        "POST /v1/remember",
        r#"{"text": "Deploys happen on Tuesdays."}"#,
    ),
    ("GET /v1/context?folder=/home/ada/tidepool", ""),
    ("GET /v1/status", ""),
    ("GET /v1/show?citation=7f78:L1", ""),
    ("GET /metrics", ""),
    ("GET /v1/threads", ""),
];

#[test]
fn a_server_that_stands_still_keeps_no_door_waiting() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let interfaces = OpenInterfaces::open(&server.address());
    server.while_paused(|| interfaces.check());
}

#[test]
fn a_way_that_swallows_everything_keeps_no_door_waiting() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let relay = Relay::to(&server);
    let interfaces = OpenInterfaces::open(&relay.address(&server));
    relay.swallow();
    interfaces.check();
}

#[test]
fn an_import_that_waits_for_a_lock_says_who_holds_it() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let place = TestPlace::sharing(&server.address());
    let import = |n: u32| {
        let path = place.write(&format!("{n}.jsonl"), &teaching_session(n).text());
        place.daybook(&["import", "--no-process", &path.display().to_string()])
    };
    assert!(import(1).output().expect("daybook starts").status.success());
    let holder = server.session(
        "SET daybook.tenants = 'all'; BEGIN; UPDATE sessions SET label = label;
         LOCK TABLE sessions IN SHARE MODE",
    );
    let locked = "SELECT count(*) FROM pg_locks WHERE granted AND mode = 'ShareLock'
        AND relation = 'sessions'::regclass";
    while server.ask(locked) == "0" {
        thread::yield_now();
    }
    let mut waiting = import(2);
    let mut waiting = waiting
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("daybook starts");
    let mut lines = BufReader::new(waiting.stderr.take().expect("a pipe")).lines();
    let line = in_time("a word about the lock", || {
        lines.find(|line| {
            line.as_ref()
                .is_ok_and(|line| line.contains("another session holds a lock"))
        })
    });
    let line = line.expect("it waits and says so").expect("text");
    assert!(line.contains("psql") && line.contains(NAMED), "{line}");
    drop(holder);
    // Its other words, until it ends.
    lines.for_each(drop);
    assert!(waiting.wait().expect("a process of ours").success());
}
