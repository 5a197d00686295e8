//! One fault at a time: nothing is lost, nothing is done twice, and messages name what to do.

use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use daybook_testkit::postgres::{Ending, PostgresServer, Relay};

use super::histories;
use crate::fixture::{TestPlace, teaching_session};

/// Longest wait for something that another process is about to do.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of a disk that holds an empty memory and little more.
const SMALL_DISK: u32 = 24 << 20;

#[track_caller]
fn until(what: &str, mut there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !there() {
        assert!(began.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::yield_now();
    }
}

/// Writes session `n`, and takes it in; it is learned from later.
fn import_session(place: &TestPlace, n: u32) -> Output {
    let path = place.write(&format!("{n}.jsonl"), &teaching_session(n).text());
    place.run(&["import", "--no-process", &path.display().to_string()])
}

/// Sessions, those learned from, and events, as `status` says.
fn session_counts(place: &TestPlace) -> (u64, u64) {
    let status = place.json(&["status"]);
    assert_eq!(status["gaps"], serde_json::json!([]), "{status}");
    let count = |name: &str| status["sessions"][name].as_u64().expect("a number");
    (count("all"), count("covered"))
}

/// Each event was read once, and each session taken in once.
fn assert_once(server: &PostgresServer, sessions: usize) {
    let twice = "SELECT events.event_no FROM events WHERE 1 <> (SELECT count(*) FROM extractions
        WHERE live AND extractions.session_no = events.session_no
            AND events.event_no & 4294967295 BETWEEN from_seq AND to_seq)";
    assert_eq!(server.ask(twice), "");
    let taken_in = server.ask("SELECT count(*) FROM sessions WHERE known");
    assert_eq!(taken_in, sessions.to_string());
    assert_eq!(server.ask("SELECT * FROM gaps"), "");
}

fn output_text(output: &Output) -> String {
    let said = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(said).expect("output is UTF-8")
}

#[track_caller]
fn assert_fails(output: &Output, because: &str) {
    let said = output_text(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(because), "{said}");
}

/// A worker that does not outlive its test.
struct ServerTestWorker(Child);

impl ServerTestWorker {
    fn of(place: &TestPlace) -> Self {
        let mut worker = place.daybook(&["worker", "--every", "1s"]);
        worker.stdout(Stdio::null()).stderr(Stdio::null());
        Self(worker.spawn().expect("a worker starts"))
    }

    fn is_running(&mut self) -> bool {
        self.0.try_wait().expect("a process of ours").is_none()
    }

    /// Asks it to end, which it does with its writes finished.
    fn end(mut self) {
        let id = self.0.id().to_string();
        let asked = std::process::Command::new("kill")
            .args(["-TERM", &id])
            .status();
        assert!(asked.is_ok_and(|status| status.success()));
        assert!(self.0.wait().expect("a process of ours").success());
    }
}

impl Drop for ServerTestWorker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_that_ends_is_told_of_and_a_worker_goes_on_when_it_is_back() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let place = TestPlace::sharing(&server.address());
    assert!(import_session(&place, 1).status.success());
    let mut worker = ServerTestWorker::of(&place);
    until("learning", || session_counts(&place) == (1, 1));

    server.stop(Ending::Immediate);
    let what_to_do = "see whether the server runs and can be reached";
    for command in [
        &["status"][..],
        &["doctor"],
        &["update"],
        &["recall", "cache"],
    ] {
        assert_fails(&place.run(command), what_to_do);
    }
    assert_fails(&import_session(&place, 2), what_to_do);
    assert!(worker.is_running(), "it waits");

    server.go_on();
    assert!(import_session(&place, 2).status.success());
    until("learning more", || session_counts(&place) == (2, 2));
    assert!(worker.is_running());
    assert_once(&server, 2);
    assert!(place.run(&["doctor"]).status.success());
}

#[test]
fn a_server_that_stands_still_delays_and_loses_nothing() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let place = TestPlace::sharing(&server.address());
    assert!(import_session(&place, 1).status.success());
    let worker = ServerTestWorker::of(&place);
    let path = place.write("2.jsonl", &teaching_session(2).text());
    let import = server.while_paused(|| {
        let mut import = place.daybook(&["import", "--no-process", &path.display().to_string()]);
        let mut import = import
            .stdout(Stdio::null())
            .spawn()
            .expect("daybook starts");
        // Whether it waits shows only with time.
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(import.try_wait().expect("a process of ours"), None);
        import
    });
    assert!({ import }.wait().expect("a process of ours").success());
    until("learning", || session_counts(&place) == (2, 2));
    drop(worker);
    assert_once(&server, 2);
}

#[test]
fn a_standby_that_takes_over_goes_on_where_the_server_was() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let relay = Relay::to(&server);
    let place = TestPlace::sharing(&relay.address(&server));
    assert!(import_session(&place, 1).status.success());
    let mut worker = ServerTestWorker::of(&place);
    until("learning", || session_counts(&place) == (1, 1));

    let standby = server.standby();
    let away = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) FROM pg_stat_replication";
    until("following", || server.ask(away) == "0");
    server.stop(Ending::Immediate);
    // It can be read already, and errors name why it cannot be written.
    relay.lead_to(&standby);
    until("reading", || place.run(&["status"]).status.success());
    assert_fails(&import_session(&place, 2), "it can only be read");
    assert_fails(&place.run(&["doctor"]), "it can only be read");
    standby.promote();
    assert!(import_session(&place, 2).status.success());
    until("learning more", || session_counts(&place) == (2, 2));
    assert!(worker.is_running());
    assert_once(&standby, 2);
    // A session is covered before its commit is complete: git is read once no process writes.
    worker.end();
    place.stdout(&["update", "--all"]);
    assert!(!histories(&place).is_empty());
}

#[test]
fn a_server_that_can_only_be_read_is_read_and_the_rest_waits() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let place = TestPlace::sharing(&server.address());
    assert!(import_session(&place, 1).status.success());
    place.stdout(&["update", "--all"]);
    assert!(import_session(&place, 2).status.success());
    server.ask("ALTER ROLE daybook SET default_transaction_read_only = on");

    assert_eq!(session_counts(&place), (2, 1));
    assert!(
        place
            .stdout(&["recall", "write the test first"])
            .contains("test first")
    );
    for command in [&["update"][..], &["doctor"], &["remember", "more"]] {
        assert_fails(&place.run(command), "it can only be read");
    }
    assert_fails(&import_session(&place, 3), "it can only be read");

    server.ask("ALTER ROLE daybook RESET default_transaction_read_only");
    assert!(import_session(&place, 3).status.success());
    place.stdout(&["update", "--all"]);
    assert_eq!(session_counts(&place), (3, 3));
    assert_once(&server, 3);
    assert!(place.run(&["doctor"]).status.success());
}

#[test]
fn a_full_disk_loses_nothing_and_work_goes_on_when_there_is_room() {
    let Some(server) = PostgresServer::on_small_disk(SMALL_DISK) else {
        return;
    };
    let place = TestPlace::sharing(&server.address());
    assert!(import_session(&place, 1).status.success());
    // Row by row, so that those that fit stay.
    server.ask(
        "CREATE TABLE ballast (bytes TEXT);
        ALTER TABLE ballast ALTER bytes SET STORAGE EXTERNAL;
        DO $$ BEGIN LOOP
            BEGIN INSERT INTO ballast SELECT repeat('x', 8000);
            EXCEPTION WHEN disk_full THEN EXIT; END;
        END LOOP; END $$",
    );
    let what_to_do = "free space on the server's disk";
    let mut n = 2;
    let refused = loop {
        let taken = import_session(&place, n);
        if !taken.status.success() {
            break taken;
        }
        n += 1;
    };
    assert_fails(&refused, what_to_do);
    assert!(place.run(&["status"]).status.success(), "it can be read");

    server.ask("DROP TABLE ballast");
    assert!(import_session(&place, n).status.success());
    place.stdout(&["update", "--all"]);
    assert_eq!(session_counts(&place), (n.into(), n.into()));
    assert_once(&server, n as usize);
}
