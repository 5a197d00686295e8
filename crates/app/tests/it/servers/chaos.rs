//! Everything at once: workers of three machines are killed and started again while importers add
//! sessions, the server they share ends five times and freezes once, and connections are cut.
//! Afterwards nothing is missing, nothing is stored twice, and all machines have the same files.
//!
//! What happens, and in which order, comes from a seed; how it falls in with what the processes do
//! just then does not. For longer runs,
//!
//! - `CHAOS_SEEDS=2..5` plays these seeds, one after the other, on a new server each;
//! - `CHAOS_ROUNDS=10` lets everything happen so many times before what is left is worked off.
//!
//! A run takes about half a minute, and some five seconds more for each further round.

use std::ops::Range;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use daybook_testkit::postgres::{self, Ending, PostgresServer, Relay};
use daybook_testkit::simulation::SeededRandom;

use super::histories;
use crate::fixture::{TestPlace, TestSession, teaching_session};

const MACHINES: usize = 3;
const WORKERS: usize = 8;
/// Sessions that come in whole.
const SESSIONS: u32 = 12;
/// Sessions that grow while they are read, one for each machine.
const GROWING: u32 = 100;
/// Longest pause between two disturbances.
const PAUSE_MS: u64 = 250;
/// How long the server is frozen.
const STANDSTILL: Duration = Duration::from_secs(2);
/// Longest time that working off what is left may take.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, Copy)]
enum Disturbance {
    Kill,
    Cut,
    Import,
    Grow,
    Restart(Ending),
    Pause,
}

/// All that happens, before it is shuffled.
const DISTURBANCES: [(Disturbance, usize); 7] = [
    (Disturbance::Kill, 24),
    (Disturbance::Cut, 8),
    (Disturbance::Import, 9),
    (Disturbance::Grow, 9),
    (Disturbance::Restart(Ending::Fast), 3),
    (Disturbance::Restart(Ending::Immediate), 2),
    (Disturbance::Pause, 1),
];

#[test]
fn whatever_is_killed_every_session_is_processed_exactly_once() {
    let rounds = std::env::var("CHAOS_ROUNDS").map_or(1, |n| n.parse().expect("a number"));
    for seed in seeds() {
        let again = format!(
            "again with CHAOS_SEEDS={seed}..{} CHAOS_ROUNDS={rounds}\n",
            seed + 1
        );
        // Captured, and shown when it fails.
        std::io::Write::write_all(&mut std::io::stdout(), again.as_bytes())
            .expect("somebody reads");
        check(seed, rounds);
    }
}

/// The seeds to play: those that were asked for, else one.
fn seeds() -> Range<u64> {
    let Ok(asked) = std::env::var("CHAOS_SEEDS") else {
        return 1..2;
    };
    let read = || {
        let (from, to) = asked.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    };
    let seeds = read().filter(|seeds| !seeds.is_empty());
    seeds.unwrap_or_else(|| panic!("CHAOS_SEEDS={asked} is no range such as 2..5"))
}

fn check(seed: u64, rounds: usize) {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let mut machines = Machines::new(&server, SeededRandom::of(seed));
    for _ in 0..rounds {
        machines.run_disturbances();
    }
    machines.recover();

    let reference = ReferenceImport::new();
    assert_processed_once(&server);
    let (made, expected) = (server.ask(LEARNED), reference.database.ask(LEARNED));
    assert!(expected.lines().count() > SESSIONS as usize, "{expected}");
    assert_eq!(made, expected);
    for (machine, place) in machines.places.iter().enumerate() {
        assert_eq!(
            comparable_files(place),
            comparable_files(&reference.place),
            "machine {machine}"
        );
        assert_eq!(histories(place), histories(&machines.places[0]));
        assert_eq!(place.memory(), machines.places[0].memory());
    }
}

/// Machines that share a database.
struct Machines<'a> {
    server: &'a PostgresServer,
    relay: Relay,
    random: SeededRandom,
    places: Vec<TestPlace>,
    /// One after the other on each machine.
    workers: Vec<Child>,
    importers: Vec<Child>,
    /// Turns of the growing sessions.
    turns: [u32; MACHINES],
}

impl Drop for Machines<'_> {
    fn drop(&mut self) {
        for child in self.workers.iter_mut().chain(&mut self.importers) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl<'a> Machines<'a> {
    fn new(server: &'a PostgresServer, random: SeededRandom) -> Self {
        let relay = Relay::to(server);
        let address = relay.address(server);
        let places: Vec<TestPlace> = (0..MACHINES)
            .map(|_| TestPlace::sharing(&address))
            .collect();
        for n in 0..SESSIONS {
            let place = &places[n as usize % MACHINES];
            place.write(&format!("{n}.jsonl"), &teaching_session(n).text());
        }
        let workers = (0..WORKERS).map(|n| worker(&places[n % MACHINES]));
        Self {
            server,
            relay,
            random,
            workers: workers.collect(),
            importers: Vec::new(),
            turns: [0; MACHINES],
            places,
        }
    }

    fn run_disturbances(&mut self) {
        let disturbances = DISTURBANCES
            .iter()
            .flat_map(|(disturbance, n)| vec![*disturbance; *n]);
        let mut disturbances: Vec<Disturbance> = disturbances.collect();
        while !disturbances.is_empty() {
            let next = self.random.index(disturbances.len());
            self.disturb(disturbances.swap_remove(next));
            // A disturbance at a random instant has to wait for that instant; nothing depends on how long.
            let pause = self.random.below(PAUSE_MS);
            std::thread::sleep(Duration::from_millis(pause));
        }
    }

    fn disturb(&mut self, disturbance: Disturbance) {
        let machine = self.random.index(MACHINES);
        match disturbance {
            Disturbance::Kill => {
                let n = self.random.index(WORKERS);
                let fresh = worker(&self.places[n % MACHINES]);
                end(std::mem::replace(&mut self.workers[n], fresh));
                if self.random.below(3) == 0 {
                    self.importers.pop().into_iter().for_each(end);
                }
            }
            Disturbance::Cut => self.relay.cut(),
            Disturbance::Import => {
                let place = &self.places[machine];
                let folder = place.transcripts().display().to_string();
                let mut import = place.daybook(&["import", "--no-process", &folder]);
                import.stdout(Stdio::null()).stderr(Stdio::null());
                self.importers.push(import.spawn().expect("daybook starts"));
            }
            Disturbance::Grow => {
                self.turns[machine] += 1;
                grow(&self.places[machine], machine, self.turns[machine]);
            }
            Disturbance::Restart(ending) => self.server.restart(ending),
            Disturbance::Pause => self.server.while_paused(|| std::thread::sleep(STANDSTILL)),
        }
    }

    /// Ends the disturbances, and completes the remaining work.
    fn recover(&mut self) {
        self.workers.drain(..).for_each(end);
        self.importers.drain(..).for_each(end);
        for (machine, place) in self.places.iter().enumerate() {
            grow(place, machine, self.turns[machine]);
            place.stdout(&[
                "import",
                "--no-process",
                &place.transcripts().display().to_string(),
            ]);
        }
        let began = Instant::now();
        while !self.is_complete() {
            assert!(
                began.elapsed() < PATIENCE,
                "{}",
                self.places[0].stdout(&["status"])
            );
            for place in &self.places {
                place.stdout(&["update", "--all"]);
            }
        }
        // The first round brings everything to the shared histories, the second one back from there.
        for place in self.places.iter().chain(&self.places) {
            place.stdout(&["rebuild"]);
        }
    }

    fn is_complete(&self) -> bool {
        let status = self.places[0].json(&["status"]);
        let sessions = &status["sessions"];
        sessions["all"] == SESSIONS as usize + MACHINES
            && sessions["covered"] == sessions["all"]
            && status["waiting_to_be_written"] == 0
            && status["gaps"] == serde_json::json!([])
    }
}

fn worker(place: &TestPlace) -> Child {
    let mut worker = place.daybook(&["worker", "--every", "1s"]);
    worker.stdout(Stdio::null()).stderr(Stdio::null());
    worker.spawn().expect("a worker starts")
}

fn end(mut child: Child) {
    child.kill().expect("a process of ours");
    child.wait().expect("a process of ours");
}

/// A session that keeps growing in a project of its own, and teaches nothing that holds elsewhere.
fn grow(place: &TestPlace, machine: usize, turns: u32) {
    let mut session = TestSession::new(GROWING + machine as u32);
    for turn in 0..=turns {
        session = session
            .human(&format!(
                "show me the table of station {turn} at pier {machine}"
            ))
            .agent(&format!("Here is the table of station {turn}."));
    }
    let session = session.in_folder("/nowhere/ada/lagoon".as_ref(), "main");
    place.write("growing.jsonl", &session.text());
}

/// Memory files but those of the growing sessions, which differ with where they were cut.
fn comparable_files(place: &TestPlace) -> Vec<(String, String)> {
    let mut files = place.memory();
    files.retain(|(name, _)| !name.contains("lagoon"));
    files
}

/// What was learned from the sessions that came in whole, each with the events that it rests on.
const LEARNED: &str = "SELECT scopes.kind, scopes.name, observations.kind, observations.text,
        sessions.host_id, evidence.events
    FROM evidence JOIN observations USING (observation_no) JOIN scopes USING (scope_no)
        JOIN sessions ON sessions.session_no = evidence.session_no
    WHERE evidence.live AND scopes.name NOT LIKE '%lagoon%'
    ORDER BY 1, 2, 3, 4, 5, 6";

/// The result of an import without faults.
struct ReferenceImport {
    place: TestPlace,
    database: postgres::TestDatabase,
}

impl ReferenceImport {
    fn new() -> Self {
        let database = postgres::empty().expect("there was a server a moment ago");
        let place = TestPlace::sharing(&database.address());
        for n in 0..SESSIONS {
            place.write(&format!("{n}.jsonl"), &teaching_session(n).text());
        }
        place.stdout(&["import", &place.transcripts().display().to_string()]);
        Self { place, database }
    }
}

fn assert_processed_once(server: &PostgresServer) {
    // Nothing of what these select may be there.
    let broken = [
        (
            "events that no live extraction read, or more than one",
            "SELECT events.event_no FROM events WHERE 1 <> (SELECT count(*) FROM extractions
                WHERE live AND extractions.session_no = events.session_no
                    AND events.event_no & 4294967295 BETWEEN from_seq AND to_seq)",
        ),
        (
            "sessions whose events have holes",
            "SELECT session_no FROM sessions WHERE events <> (SELECT count(*) FROM events
                WHERE events.session_no = sessions.session_no)",
        ),
        (
            "watermarks that are not where their sessions end",
            "SELECT jobs.name, done, input, events FROM sessions JOIN jobs
                ON jobs.kind = 'extract' AND owner = agent AND name = host_id
                WHERE done <> events OR input <> events",
        ),
        (
            "jobs that wait, or that somebody holds",
            "SELECT kind, name, done, input FROM jobs WHERE done <> input OR lease_holder IS NOT NULL",
        ),
        ("gaps", "SELECT * FROM gaps"),
        (
            "observations that rest on the same events of a session",
            "SELECT session_no, evidence.events, text FROM evidence WHERE live
                GROUP BY session_no, observation_no, evidence.events, text HAVING count(*) > 1",
        ),
        (
            "histories with holes",
            "SELECT tree_no FROM trees WHERE objects <> (SELECT count(*) FROM tree_objects
                WHERE tree_objects.tree_no = trees.tree_no)",
        ),
    ];
    for (what, select) in broken {
        assert_eq!(server.ask(select), "", "{what}");
    }
    assert_ne!(server.ask("SELECT count(*) FROM events"), "0");
}
