//! What a server of HTTP does on two cores that it shares with its clients, at 10,000 memories.
//!
//! Each client has one connection, and sends its next request after the last answer. Questions and events are generated
//! with fixed seeds; no question is asked twice.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;

use crate::http_appends::body;
use crate::process::{ms, resident, watched};
use crate::scale_sessions::{question, write_sessions};
use crate::serving::{KeptConnection, ServeProcess};
use crate::transcripts::SeededNumbers;

/// Sessions of the memory; each teaches about three things.
const SESSIONS: usize = 3_400;
/// Clients that ask at once.
const CLIENTS: [u64; 3] = [1, 4, 16];
/// Clients that append at once, and the events of one append.
const APPENDERS: u64 = 4;
const BATCH: u64 = 200;
/// Duration of each measurement.
const MEASURED: Duration = Duration::from_secs(8);
/// Time before it for the first requests, which do not count.
const FIRST: Duration = Duration::from_secs(1);

pub(crate) fn rates() -> Result<()> {
    rates_with(&[])
}

/// `http [SESSIONS]`
pub(crate) fn rates_with(arguments: &[String]) -> Result<()> {
    let sessions = arguments.first().map(|n| n.parse());
    let sessions = sessions.transpose().context("a number of sessions")?;
    let made = tempfile::tempdir()?;
    let root = made.path().join("root");
    fill(made.path(), &root, sessions.unwrap_or(SESSIONS))?;
    let mut serving = ServeProcess::start(&root, &[])?;
    println!(
        "  idle        {:.1} MiB   (wanted: under 40)",
        mebibytes(&serving)?
    );
    for clients in CLIENTS {
        let times = beside_each_other(&serving, clients, ask)?;
        let rate = times.len() as f64 / MEASURED.as_secs_f64();
        println!(
            "  {clients:>2} clients  {rate:>6.0} recalls/s, p50 {:.2} ms, p99 {:.2} ms   (wanted: 2,000/s, p99 under 20 ms)",
            ms(share(&times, 0.5)),
            ms(share(&times, 0.99)),
        );
    }
    println!("  after it    {:.1} MiB", mebibytes(&serving)?);
    let times = beside_each_other(&serving, APPENDERS, append)?;
    let events = (times.len() as u64 * BATCH) as f64 / MEASURED.as_secs_f64();
    println!(
        "  {APPENDERS:>2} clients  {events:>6.0} events/s in appends of {BATCH}, p50 {:.1} ms, p99 {:.1} ms   (wanted: 20,000/s)",
        ms(share(&times, 0.5)),
        ms(share(&times, 0.99)),
    );
    serving.end()
}

/// Fills the data folder `root` with about three memories of each session.
pub(crate) fn fill(made: &Path, root: &Path, sessions: usize) -> Result<()> {
    let transcripts = made.join("transcripts");
    write_sessions(&transcripts, 0..sessions)?;
    let (folder, root) = (
        transcripts.display().to_string(),
        root.display().to_string(),
    );
    let (took, _) = watched(&["import", &folder, "--yes", "--root", &root])?;
    println!(
        "  {sessions} sessions, imported in {:.1} s",
        took.as_secs_f64()
    );
    Ok(())
}

fn mebibytes(serving: &ServeProcess) -> Result<f64> {
    let bytes = resident(serving.child.id()).context("its memory is not known")?;
    Ok(bytes as f64 / f64::from(1 << 20))
}

fn share(times: &[Duration], share: f64) -> Duration {
    let last = times.len().saturating_sub(1) as f64;
    times
        .get((last * share) as usize)
        .copied()
        .unwrap_or_default()
}

/// One request of a client.
type Request = fn(&mut KeptConnection, &mut SeededNumbers, client: u64, number: u64) -> Result<()>;

/// The times of all requests that `clients` make until the time is over, shortest first.
fn beside_each_other(
    serving: &ServeProcess,
    clients: u64,
    request: Request,
) -> Result<Vec<Duration>> {
    let began = Instant::now();
    let clients = (0..clients).map(|client| {
        let mut connection = KeptConnection::open(&serving.address, &serving.token)?;
        Ok(std::thread::spawn(move || {
            let (mut numbers, mut times) = (SeededNumbers(7_000 + client), Vec::new());
            for number in 0.. {
                if began.elapsed() > FIRST + MEASURED {
                    break;
                }
                let sent = Instant::now();
                request(&mut connection, &mut numbers, client, number)?;
                if began.elapsed() > FIRST {
                    times.push(sent.elapsed());
                }
            }
            anyhow::Ok(times)
        }))
    });
    let clients: Vec<_> = clients.collect::<Result<_>>()?;
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.join().ok().context("a client panicked")??);
    }
    times.sort();
    Ok(times)
}

fn ask(connection: &mut KeptConnection, numbers: &mut SeededNumbers, _: u64, _: u64) -> Result<()> {
    let body = json!({"question": question(numbers), "limit": 10}).to_string();
    connection.post("/v1/recall", &body)?;
    Ok(())
}

fn append(
    connection: &mut KeptConnection,
    numbers: &mut SeededNumbers,
    client: u64,
    number: u64,
) -> Result<()> {
    // A session of 50 appends, as long ones are.
    let (session, first) = (format!("{client}-{}", number / 50), number % 50 * BATCH);
    let body = body(numbers, &session, first, BATCH).to_string();
    connection.post("/v1/append", &body)?;
    Ok(())
}
